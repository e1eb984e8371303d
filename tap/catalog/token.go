package catalog

import "net/http"

// tokenMax bounds what is read of an exchange at the token endpoint.
const tokenMax = 1 << 20

// token carries a request to the upstream's token endpoint, form, Basic
// authorization and answer as they are, and remembers which client got which
// token.
func (x *exchange) token(req *http.Request) (*http.Response, error) {
	acceptGzip(req.Header)
	resp, err := x.send(req)
	if err != nil || resp.StatusCode != http.StatusOK || resp.ContentLength > tokenMax {
		return resp, err
	}
	answer, why, err := x.readUpTo(resp, tokenMax)
	if err != nil {
		return nil, err
	}
	form, whole := x.sent.body(x.in.ContentLength)
	if whole && why == "" {
		x.h.learnToken(x.up.name, x.in.Header, form, answer)
	}
	return resp, nil
}
