package catalog

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

const (
	delegationHeader = "X-Iceberg-Access-Delegation"
	vendedKeys       = "vended-credentials"
	keysOrSigning    = vendedKeys + ",remote-signing" // either will do
	// refusalKept is how long an upstream is not asked again for what it
	// refused or does not have.
	refusalKept = 5 * time.Minute
	// askTimeout bounds requests of our own within another.
	askTimeout = 10 * time.Second
)

// load carries a LoadTable: the request by which an engine learns where a table
// lies and with which keys it is read, and so the one by which we lead it.
//
//  1. The upstream is asked to vend keys, since Spark never asks.
//  2. An ETag of ours in If-None-Match becomes the upstream's. One that is not
//     ours goes only where this load is known to pass; see [exchange.ask304].
//  3. If the upstream refuses a header that the client did not send, or sends
//     nothing that can be led through us, the load is repeated as the client
//     sent it, and that answer passes byte for byte.
//  4. Else the answer is edited, and its ETag sealed.
func (x *exchange) load(req *http.Request) (*http.Response, error) {
	acceptGzip(req.Header)
	added := x.askForKeys(req)
	cond := translate(req.Header, x.h.opts.Keys, x.claim, x.variant(req), x.access.At)
	x.ask304(req.Header, cond)
	resp, err := x.send(req)
	if err != nil {
		return nil, err
	}
	if added && refusesHeader(resp.StatusCode) {
		var repeated bool
		if resp, req, repeated = x.plainly(req, resp, condition{}); repeated {
			added = false
		}
	}
	switch resp.StatusCode {
	case http.StatusNotModified:
		cond.answer(resp.Header)
		return resp, nil
	case http.StatusOK:
	default:
		return resp, nil
	}
	why, err := x.editTable(resp, req, nil)
	if err != nil {
		return nil, err
	}
	if why == denied {
		return resp, nil
	}
	x.notePass(why != "")
	if why != "" && added {
		// With our header the upstream may have left out what the client
		// would have got without (remote signing), so that is what it gets.
		x.up.remember(x.loadMemo(), x.access.At.Add(refusalKept), x.access.At)
		resp, _, _ = x.plainly(req, resp, cond)
	}
	return resp, nil
}

// askForKeys adds the header that asks the upstream to vend credentials, if
// the client has none of its own and the upstream did not refuse it lately. Where
// the catalog's signatures will do, it is us who need to know of them, whatever
// the client can do with them itself.
func (x *exchange) askForKeys(req *http.Request) (added bool) {
	now := x.access.At
	signer := x.h.opts.Authority.Mode == ModeSigner
	if len(req.Header.Values(delegationHeader)) > 0 && !signer ||
		x.up.remembers(delegationHeader, now) || x.up.remembers(x.loadMemo(), now) {
		return false
	}
	req.Header.Set(delegationHeader, vendedKeys)
	if signer {
		req.Header.Set(delegationHeader, keysOrSigning)
	}
	return true
}

// loadMemo names a load that is not worth a second request: of this table, by
// this caller, since another may be vended what this one is not.
func (x *exchange) loadMemo() string { return "load " + x.path + " " + x.claim }

// refusesHeader reports whether a status may mean that the upstream does not
// like a header of ours; 401 and 404 and the like never do.
func refusesHeader(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
		http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return false
}

// plainly repeats a load without the header that we had added. If that brings
// no answer, the first one stands.
func (x *exchange) plainly(req *http.Request, first *http.Response, cond condition) (*http.Response, *http.Request, bool) {
	again := req.Clone(req.Context())
	again.Header.Del(delegationHeader)
	for _, own := range x.in.Header.Values(delegationHeader) {
		again.Header.Add(delegationHeader, own)
	}
	cond.foreign().set(again.Header)
	x.h.metrics.repeated.Inc()
	second, err := x.send(again)
	if err != nil {
		return first, req, false
	}
	discard(first) // only now: until then it may have to be forwarded
	if first.StatusCode != http.StatusOK && second.StatusCode < http.StatusBadRequest {
		x.refusedDelegation(first.StatusCode)
	}
	return second, again, true
}

// refusedDelegation notes that a load failed for our header alone.
func (x *exchange) refusedDelegation(status int) {
	x.up.note(func(s *UpstreamStatus) { s.DelegationRefused = x.access.At })
	until := x.access.At.Add(refusalKept)
	switch status {
	case http.StatusInternalServerError: // perhaps only this once
	case http.StatusForbidden:
		x.up.remember(x.loadMemo(), until, x.access.At)
	default:
		x.up.remember(delegationHeader, until, x.access.At)
	}
}

// create carries a CreateTable or Register. Only the client's own delegation
// header goes; if the answer has no credentials, the upstream is asked for
// them by a request that changes nothing.
func (x *exchange) create(req *http.Request) (*http.Response, error) {
	acceptGzip(req.Header)
	if x.h.opts.Authority.Mode == ModeSigner && len(req.Header.Values(delegationHeader)) > 0 {
		req.Header.Set(delegationHeader, keysOrSigning)
	}
	resp, err := x.send(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	staged := false
	if body, ok := x.sent.body(x.in.ContentLength); ok {
		if o, ok := parseObject(body); ok {
			if name, ok := o.text("name"); ok {
				x.setName(name)
			}
			value, _ := o.get("stage-create")
			staged = string(value) == "true"
		}
	}
	ask := x.askCredentials
	if staged || x.route.table == "" {
		ask = nil
	}
	if _, err := x.editTable(resp, req, ask); err != nil {
		return nil, err
	}
	return resp, nil
}

// editTable leads an answer with a table in it to the storage tap. why is
// empty if it did; else resp is as it came. ask may get credentials that the
// answer lacks.
func (x *exchange) editTable(resp *http.Response, req *http.Request, ask func(*http.Request) []credential) (reason, error) {
	body, why, err := x.read(resp)
	if err != nil {
		return "", err
	}
	var l loaded
	if why == "" {
		var ok bool
		if l, ok = readLoaded(body); !ok {
			why = notATable
		}
	}
	if why == "" && x.deniedLater(x.h.tableID(x.up, x.route, l)) {
		x.deny(resp)
		return denied, nil
	}
	var g grant
	if why == "" {
		_, storage := x.up.told()
		x.findSigner(&l)
		g, why = x.h.judge(l, storage)
		if (why == noAuthority || why == signsItself) && ask != nil {
			if more := ask(req); more != nil {
				l.credentials = more
				g, why = x.h.judge(l, storage)
			}
		}
	}
	var edited [][]byte
	if why == "" {
		g.refresh = x.refreshOf(l, g)
		id := x.h.tableID(x.up, x.route, l)
		var values []pair
		if values, why = x.vend(g, id, ""); why == "" {
			edited = leadTable(l, g, values)
			x.access.Table = id
		}
	}
	x.count(why)
	if why != "" {
		x.learnLater(body, l)
		return why, nil
	}
	// Learned before the answer is sent: the engine's first S3 request follows.
	x.h.see(x.up, x.route, x.access.TableName, l, &g, x.access.At)
	etag := resp.Header.Get("ETag") // replace drops it: it is not that of the edited body
	replace(resp, edited...)
	x.keepPrivate(resp)
	x.sealTag(resp, etag, x.variant(req), g.expires)
	return "", nil
}

// refreshOf says where engines renew keys: only where the upstream lets them,
// and only if there are keys of the upstream's to renew.
func (x *exchange) refreshOf(l loaded, g grant) string {
	if len(g.upstream) == 0 {
		return ""
	}
	for _, c := range append([]credential{{config: l.config}}, l.credentials...) {
		if refresh := refreshIn(c.config, x.up.url(), x.ours()); refresh != "" {
			return refresh
		}
	}
	return ""
}

// tokenMaxBytes is how long a session token may be, in bytes: the storage tap takes
// 32 KiB of request head, and the token is sent in it with every request.
const tokenMaxBytes = 20 << 10

// vend makes the session for a table and what leads an engine to it.
func (x *exchange) vend(g grant, id laketap.TableID, plan string) ([]pair, reason) {
	endpoint := x.endpoint()
	if endpoint == "" {
		return nil, trouble
	}
	keys, err := x.h.opts.Keys.Vend(tap.Session{
		Catalog: x.up.name, Table: id, TableName: x.access.TableName,
		Engine: x.access.Engine, Principal: x.claim, Plan: plan,
		Origin: g.origin.Name, Scope: g.scope, Upstream: g.upstream, Signer: g.signer, Write: g.write,
		Issued: x.access.At, Expires: g.expires,
	}, x.h.opts.Rand)
	if err != nil {
		x.h.log.ErrorContext(x.in.Context(), "session key could not be made", "request_id", x.access.RequestID, "err", err)
		return nil, trouble
	}
	if len(keys.SessionToken) > tokenMaxBytes {
		return nil, tooManyKeys
	}
	return storageConfig(endpoint, x.h.opts.Region, keys, rowOf(x.access.Engine)), ""
}

// variant names what an edited answer depends on beside table and principal.
func (x *exchange) variant(req *http.Request) string {
	a := x.h.opts.Authority
	parts := []string{
		x.query, rowOf(x.access.Engine).engine, strings.Join(req.Header.Values(delegationHeader), ","),
		x.endpoint(), x.h.opts.Region, a.Mode,
	}
	if a.Write {
		parts = append(parts, "write")
	}
	return variantOf(append(parts, a.Roots...)...)
}

// sealTag gives an edited answer an ETag of ours, if the upstream gave it one.
func (x *exchange) sealTag(resp *http.Response, etag, variant string, expires time.Time) {
	if etag == "" {
		return
	}
	t := tag{ETag: etag, Variant: variant, Principal: x.claim}
	if !expires.IsZero() {
		t.Expires = expires.Unix()
	}
	if sealed, err := t.seal(x.h.opts.Keys, x.h.opts.Rand); err == nil {
		resp.Header.Set("ETag", sealed)
	}
}

// keepPrivate keeps intermediaries from storing an answer with keys in it.
func (x *exchange) keepPrivate(resp *http.Response) {
	if resp.Header.Get("Cache-Control") == "" {
		resp.Header.Set("Cache-Control", "no-store")
	}
}

// count notes what became of an answer with a table in it.
func (x *exchange) count(why reason) {
	outcome := string(why)
	if why == "" {
		outcome = "edited"
	}
	x.h.metrics.answers.WithLabelValues(x.up.name, outcome).Inc()
	x.up.note(func(s *UpstreamStatus) {
		if why == "" {
			s.Edited++
			return
		}
		s.Passed++
		s.LastReason, s.LastFix = string(why), reasons[why]
		s.LastTable, s.LastPassed = x.access.TableName, x.access.At
	})
}

// ask makes a GET of our own, with what the client showed.
func (x *exchange) ask(ctx context.Context, path, query string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.up.url(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.URL = x.up.at(path, query, query != "")
	req.Header = x.in.Header.Clone()
	for _, name := range []string{
		"Content-Type", "Content-Length", "Content-Encoding", "Idempotency-Key", "X-Idempotency-Key", "Expect",
		"If-None-Match", "If-Match", "If-Modified-Since", "If-Unmodified-Since", "Range", "Accept-Encoding",
		"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", delegationHeader,
	} {
		req.Header.Del(name)
	}
	return x.send(req)
}
