package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// credentialsEndpoint is how /v1/config lists the endpoint for credentials.
const credentialsEndpoint = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"

// credentials carries GET …/credentials and the results of scan planning,
// both of which may vend keys: they are sealed anew, for the place that the
// catalog itself says the table has.
func (x *exchange) credentials(req *http.Request) (*http.Response, error) {
	acceptGzip(req.Header)
	resp, err := x.send(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	body, why, err := x.read(resp)
	if err != nil {
		return nil, err
	}
	top, ok := parseObject(body)
	value, times := top.get("storage-credentials")
	vended, readable := readCredentials(value)
	planned := x.route.op != opCredentials
	switch {
	case why != "":
		x.count(why)
		return resp, nil
	case !ok || times > 1 || times == 0 && !planned || !readable:
		x.count(notATable)
		return resp, nil
	case planned && len(vended) == 0:
		return resp, nil // engines use the table's own then
	}
	l, err := x.lookUp(req.Context())
	if err != nil {
		if planned { // a plan that was made stands
			x.count(trouble)
			return resp, nil
		}
		return nil, err
	}
	if x.deniedLater(x.h.tableID(x.up, x.route, l)) {
		x.deny(resp)
		return resp, nil
	}
	edited, why := x.editCredentials(top, l, vended)
	x.count(why)
	if why == "" {
		replace(resp, edited)
		x.keepPrivate(resp)
	}
	return resp, nil
}

// editCredentials replaces the keys in an answer by a session's.
func (x *exchange) editCredentials(top object, l loaded, vended []credential) ([]byte, reason) {
	_, endpoint := x.up.told()
	if e, ok := l.config.text("s3.endpoint"); ok {
		endpoint = e
	}
	l.config, _ = cut([]byte("{}"))
	l.credentials = vended
	g, why := x.h.judge(l, endpoint)
	if why != "" {
		return nil, why
	}
	g.refresh = x.refreshOf(l, g)
	id := x.h.tableID(x.up, x.route, l)
	plan := x.route.plan
	if p, ok := top.text("plan-id"); ok {
		plan = p
	}
	values, why := x.vend(g, id, plan)
	if why != "" {
		return nil, why
	}
	x.access.Table = id
	x.h.see(x.up, x.route, x.access.TableName, l, &g, x.access.At)
	return top.edit([]pair{{"storage-credentials", oneCredential(l, g, values)}}, nil), ""
}

// lookUp loads the table that a request is about.
func (x *exchange) lookUp(ctx context.Context) (loaded, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	path := x.path
	for _, tail := range []string{"/credentials", "/plan"} {
		if i := strings.LastIndex(path, tail); i >= 0 {
			path = path[:i]
			break
		}
	}
	body, err := x.askJSON(ctx, path, "snapshots=refs")
	if err != nil {
		return loaded{}, fmt.Errorf("look up the table: %w", err)
	}
	l, ok := readLoaded(body)
	if !ok {
		return loaded{}, errors.New("look up the table: the answer has no table in it")
	}
	return l, nil
}

// askCredentials gets the keys for a table that was just created, where the
// upstream lists an endpoint for that; nil if there are none.
func (x *exchange) askCredentials(req *http.Request) []credential {
	if yes, _ := x.up.offers(credentialsEndpoint); !yes || x.route.tables == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(req.Context(), askTimeout)
	defer cancel()
	name := strings.ReplaceAll(url.QueryEscape(x.route.table), "+", "%20")
	body, err := x.askJSON(ctx, x.route.tables+"/"+name+"/credentials", "")
	if err != nil {
		x.h.log.DebugContext(ctx, "no credentials for a new table", "request_id", x.access.RequestID, "err", err)
		return nil
	}
	top, ok := parseObject(body)
	if !ok {
		return nil
	}
	value, _ := top.get("storage-credentials")
	vended, _ := readCredentials(value)
	return vended
}

// askJSON makes a GET of our own and returns the body of its 200.
func (x *exchange) askJSON(ctx context.Context, path, query string) ([]byte, error) {
	resp, err := x.ask(ctx, path, query)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("upstream answers %s", resp.Status)
	}
	body, why, err := x.read(resp)
	switch {
	case err != nil:
		return nil, err
	case why != "":
		return nil, fmt.Errorf("answer cannot be read: %s", reasons[why])
	}
	return body, nil
}
