package catalog

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

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
	raw, err := io.ReadAll(io.LimitReader(resp.Body, tokenMax+1))
	if err != nil {
		resp.Body.Close()
		return nil, fmt.Errorf("read answer: %w", err)
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(raw), resp.Body), resp.Body}
	form, whole := x.sent.body(x.in.ContentLength)
	answer, ok := inflate(raw, resp.Header.Get("Content-Encoding"), tokenMax)
	if whole && ok {
		x.h.learnToken(x.up.name, x.in.Header, form, answer)
	}
	return resp, nil
}
