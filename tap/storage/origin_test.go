package storage_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// ownKeys are the origin's configured keys; vended is what its catalog hands
// out.
var (
	ownKeys = sigv4.Credentials{AccessKeyID: "AKIAORIGINOWN", SecretAccessKey: "origin-own-secret"}
	vended  = sigv4.Credentials{AccessKeyID: "ASIAVENDED", SecretAccessKey: "vended-secret", SessionToken: "vended-token"}
)

// An origin is a small strict object store and the Sender that reaches it. It
// verifies every signature and body, and keeps an object only when all of it
// was right.
type origin struct {
	server    *httptest.Server
	transport *http.Transport

	mu sync.Mutex
	// instead answers a request before the store does, if it returns true.
	instead  func(w http.ResponseWriter, r *http.Request) bool
	objects  map[string]object // by "bucket/key"
	uploads  map[string]map[string][]byte
	requests []seen
	sends    int
	guests   []guest
}

// A guest has keys that the store knows and that open less than everything.
type guest struct {
	keys   sigv4.Credentials
	allows func(write bool, name string) bool // name is "bucket/key"
}

type object struct {
	data   []byte
	header http.Header
}

// seen is a request as it arrived at the origin.
type seen struct {
	Method, URI string
	Header      http.Header
	KeyID       string
	Mode        sigv4.Mode
	Trailer     []laketap.Field
	Err         string
}

func newOrigin(t *testing.T) *origin {
	t.Helper()
	o := &origin{objects: map[string]object{}, uploads: map[string]map[string][]byte{}}
	o.server = httptest.NewServer(http.HandlerFunc(o.serve))
	o.transport = &http.Transport{DisableCompression: true, WriteBufferSize: 32 << 10}
	t.Cleanup(func() {
		o.transport.CloseIdleConnections()
		o.server.CloseClientConnections()
		o.server.Close()
	})
	return o
}

// Send signs and sends, once.
func (o *origin) Send(ctx context.Context, name string, req *http.Request, keys sigv4.Credentials, p sigv4.Payload, trailer func() []laketap.Field) (*http.Response, error) {
	if err := o.begin(name, req); err != nil {
		return nil, err
	}
	if keys == (sigv4.Credentials{}) {
		return o.transport.RoundTrip(req.WithContext(ctx))
	}
	if err := sigv4.Sign(req, keys, p, "us-east-1", time.Now(), trailer); err != nil {
		return nil, err
	}
	return o.transport.RoundTrip(req.WithContext(ctx))
}

// SendSigned has somebody else sign and sends, once.
func (o *origin) SendSigned(ctx context.Context, name string, req *http.Request, sign func(*http.Request) error, p sigv4.Payload) (*http.Response, error) {
	if err := o.begin(name, req); err != nil {
		return nil, err
	}
	req = req.WithContext(ctx)
	sigv4.Prepare(req, p)
	if err := sign(req); err != nil {
		return nil, err
	}
	return o.transport.RoundTrip(req)
}

// begin counts a request and points it at the server.
func (o *origin) begin(name string, req *http.Request) error {
	o.mu.Lock()
	o.sends++
	o.mu.Unlock()
	if name != "main" {
		return fmt.Errorf("no origin %q", name)
	}
	u, err := url.Parse(o.server.URL)
	if err != nil {
		return err
	}
	req.URL.Scheme, req.URL.Host, req.Host = u.Scheme, u.Host, u.Host
	return nil
}

// OwnKeys returns the configured keys.
func (o *origin) OwnKeys(context.Context, string) (sigv4.Credentials, error) { return ownKeys, nil }

// intercept lets f answer requests before the store does, if it returns true.
func (o *origin) intercept(f func(w http.ResponseWriter, r *http.Request) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.instead = f
}

// sent returns how often Send was called since it was last asked.
func (o *origin) sent() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.sends
	o.sends = 0
	return n
}

func (o *origin) put(name, data string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.objects[name] = object{data: []byte(data), header: http.Header{"Content-Type": {"application/octet-stream"}}}
}

func (o *origin) object(name string) (object, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	obj, ok := o.objects[name]
	return obj, ok
}

// seen returns the requests that arrived, and forgets them.
func (o *origin) seen() []seen {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.requests
	o.requests = nil
	return s
}

func (o *origin) note(s seen) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, s)
}

func (o *origin) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	instead := o.instead
	o.mu.Unlock()
	if instead != nil && instead(w, r) {
		return
	}
	s := seen{Method: r.Method, URI: r.RequestURI, Header: r.Header.Clone()}
	body, auth, err := o.verify(r)
	if auth != nil {
		s.KeyID, s.Mode = auth.AccessKeyID, auth.Payload.Mode
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(body)
	}
	if err != nil {
		s.Err = err.Error()
		o.note(s)
		status := http.StatusForbidden
		if e, ok := errors.AsType[*sigv4.Error](err); ok {
			status = e.Status
		}
		http.Error(w, "<Error><Code>OriginRefused</Code></Error>", status)
		return
	}
	s.Trailer = body.Trailer()
	o.note(s)
	if !o.allowed(s.KeyID, r, data) {
		w.WriteHeader(http.StatusForbidden)
		if r.Method != http.MethodHead {
			fmt.Fprint(w, "<Error><Code>AccessDenied</Code></Error>")
		}
		return
	}
	o.store(w, r, data)
}

// admit makes the store know a guest's keys, or know them otherwise.
func (o *origin) admit(g guest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.guests = slices.DeleteFunc(o.guests, func(old guest) bool { return old.keys == g.keys })
	o.guests = append(o.guests, g)
}

// known returns the keys that the store knows.
func (o *origin) known() []sigv4.Credentials {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make([]sigv4.Credentials, 0, 2+len(o.guests))
	all = append(all, ownKeys, vended)
	for _, g := range o.guests {
		all = append(all, g.keys)
	}
	return all
}

// allowed asks a guest's rights for all that a request names; who is no guest
// may do everything.
func (o *origin) allowed(keyID string, r *http.Request, data []byte) bool {
	o.mu.Lock()
	guests := slices.Clone(o.guests)
	o.mu.Unlock()
	for _, g := range guests {
		if g.keys.AccessKeyID != keyID {
			continue
		}
		bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		write := r.Method != http.MethodGet && r.Method != http.MethodHead
		if source := strings.TrimPrefix(r.Header.Get("X-Amz-Copy-Source"), "/"); source != "" && !g.allows(false, source) {
			return false
		}
		if !r.URL.Query().Has("delete") {
			return g.allows(write, bucket+"/"+cmp.Or(key, r.URL.Query().Get("prefix")))
		}
		var in struct{ Object []struct{ Key string } }
		if xml.Unmarshal(data, &in) != nil {
			return false
		}
		for _, obj := range in.Object {
			if !g.allows(true, bucket+"/"+obj.Key) {
				return false
			}
		}
	}
	return true
}

// verify checks a request as strictly as a store does.
func (o *origin) verify(r *http.Request) (*sigv4.Reader, *sigv4.Auth, error) {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	sr := &sigv4.Request{Method: r.Method, Path: path, Query: query, Host: r.Host}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, v := range r.Header[name] {
			sr.Header = append(sr.Header, laketap.Field{Name: name, Value: v})
		}
	}
	if r.Header.Get("Content-Length") == "" && r.ContentLength >= 0 {
		sr.Header = append(sr.Header, laketap.Field{Name: "Content-Length", Value: strconv.FormatInt(r.ContentLength, 10)})
	}
	auth, err := sigv4.Parse(sr)
	if err != nil {
		return nil, nil, err
	}
	for _, k := range o.known() {
		if auth.AccessKeyID == k.AccessKeyID && auth.SessionToken == k.SessionToken {
			if err := auth.Verify(sr, k.SecretAccessKey, "us-east-1", time.Now()); err != nil {
				return nil, auth, err
			}
			return auth.Body(r.Body, k.SecretAccessKey), auth, nil
		}
	}
	return nil, auth, errors.New("unknown key " + auth.AccessKeyID)
}

// store does what the request asks for.
func (o *origin) store(w http.ResponseWriter, r *http.Request, data []byte) {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	name, err := url.PathUnescape(strings.TrimPrefix(path, "/"))
	if err != nil {
		http.Error(w, "bad path", http.StatusBadRequest)
		return
	}
	q := r.URL.Query()
	w.Header().Set("X-Amz-Request-Id", "ORIGIN1")
	switch {
	case r.Method == http.MethodPost && q.Has("uploads"):
		o.mu.Lock()
		id := fmt.Sprint("up", len(o.uploads))
		o.uploads[id] = map[string][]byte{}
		o.mu.Unlock()
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
	case r.Method == http.MethodPut && q.Has("uploadId"):
		o.mu.Lock()
		o.uploads[q.Get("uploadId")][q.Get("partNumber")] = data
		o.mu.Unlock()
		w.Header().Set("ETag", etag(data))
	case r.Method == http.MethodPost && q.Has("uploadId"):
		o.mu.Lock()
		var whole []byte
		for _, part := range slices.Sorted(maps.Keys(o.uploads[q.Get("uploadId")])) {
			whole = append(whole, o.uploads[q.Get("uploadId")][part]...)
		}
		o.objects[name] = object{whole, http.Header{}}
		o.mu.Unlock()
		fmt.Fprint(w, "<CompleteMultipartUploadResult/>")
	case r.Method == http.MethodPost && q.Has("delete"):
		o.deleteObjects(w, strings.TrimSuffix(name, "/"), data)
	case r.Method == http.MethodGet && !strings.Contains(strings.Trim(name, "/"), "/"):
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprintf(w, "<ListBucketResult><Query>%s</Query></ListBucketResult>", strings.ReplaceAll(r.URL.RawQuery, "&", "&amp;"))
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		o.get(w, r, name)
	case r.Method == http.MethodPut:
		o.write(w, r, name, data)
	case r.Method == http.MethodDelete:
		o.mu.Lock()
		delete(o.objects, name)
		o.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}
}

func (o *origin) write(w http.ResponseWriter, r *http.Request, name string, data []byte) {
	if src := r.Header.Get("X-Amz-Copy-Source"); src != "" {
		from, err := url.PathUnescape(strings.TrimPrefix(src, "/"))
		obj, ok := o.object(from)
		if err != nil || !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		o.mu.Lock()
		o.objects[name] = obj
		o.mu.Unlock()
		fmt.Fprint(w, "<CopyObjectResult/>")
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, exists := o.objects[name]; exists && r.Header.Get("If-None-Match") == "*" {
		w.WriteHeader(http.StatusPreconditionFailed)
		fmt.Fprint(w, "<Error><Code>PreconditionFailed</Code></Error>")
		return
	}
	o.objects[name] = object{data, r.Header.Clone()}
	w.Header().Set("ETag", etag(data))
}

func (o *origin) get(w http.ResponseWriter, r *http.Request, name string) {
	obj, ok := o.object(name)
	if !ok {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
		return
	}
	for _, n := range []string{"Content-Type", "Content-Encoding", "Cache-Control", "X-Amz-Meta-Mixed"} {
		if v := obj.header.Get(n); v != "" {
			w.Header().Set(n, v)
		}
	}
	w.Header().Set("ETag", etag(obj.data))
	w.Header().Set("X-Amz-Version-Id", "v1")
	// As S3: what is no range is no range.
	if rng := r.Header.Get("Range"); rng != "" && !strings.HasPrefix(rng, "bytes=") {
		r.Header.Del("Range")
	}
	http.ServeContent(w, r, "", time.Unix(1700000000, 0), bytes.NewReader(obj.data))
}

func (o *origin) deleteObjects(w http.ResponseWriter, bucket string, doc []byte) {
	var in struct{ Object []struct{ Key string } }
	if err := xml.Unmarshal(doc, &in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, obj := range in.Object {
		delete(o.objects, bucket+"/"+obj.Key)
	}
	fmt.Fprint(w, "<DeleteResult/>")
}

func etag(data []byte) string {
	sum := md5.Sum(data)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}
