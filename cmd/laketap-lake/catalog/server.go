package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxBody bounds what a client may send in one request.
const maxBody = 64 << 20

// request is a request with what its path named.
type request struct {
	*http.Request
	namespace namespace
	table     string // or view
}

// id is the table or the view the path named.
func (r *request) id() identifier { return identifier{Namespace: r.namespace, Name: r.table} }

// decode reads the JSON body into v.
func (r *request) decode(v any) error {
	var tooLarge *http.MaxBytesError
	err := json.NewDecoder(r.Body).Decode(v)
	switch {
	case errors.As(err, &tooLarge):
		return badRequest("request body is larger than %d bytes", tooLarge.Limit)
	case err != nil:
		return badRequest("read request body: %v", err)
	}
	return nil
}

// reply is an answer: a status and, unless body is nil, JSON.
type reply struct {
	status int
	etag   string
	body   any
}

// handler serves one route.
type handler func(*Catalog, *request) (reply, error)

// ServeHTTP answers one request of the REST protocol.
func (c *Catalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	answer, err := c.route(r)
	if err != nil {
		answer = c.failure(r, err)
	}
	if err := send(w, r, answer); err != nil {
		c.options.Log.WarnContext(r.Context(), "answer not sent", "path", r.URL.EscapedPath(), "error", err)
	}
}

// failure turns an error into the protocol's error form.
func (c *Catalog) failure(r *http.Request, err error) reply {
	known, ok := errors.AsType[*apiError](err)
	if !ok {
		c.options.Log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.EscapedPath(), "error", err)
		known = &apiError{http.StatusInternalServerError, "InternalServerError", err.Error()}
	}
	return reply{status: known.status, body: errorBody{errorModel{known.message, known.kind, known.status}}}
}

// send writes the answer. The body is encoded first, so that a failure is
// never half an answer and the length is always stated.
func send(w http.ResponseWriter, r *http.Request, answer reply) error {
	var body bytes.Buffer
	if answer.body != nil && r.Method != http.MethodHead {
		encoder := json.NewEncoder(&body)
		// Metadata is passed on as it is; escaping would change its bytes.
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(answer.body); err != nil {
			http.Error(w, "encode answer", http.StatusInternalServerError)
			return err
		}
	}
	header := w.Header()
	if answer.etag != "" {
		header.Set("ETag", answer.etag)
	}
	if body.Len() > 0 {
		header.Set("Content-Type", "application/json")
		header.Set("Content-Length", strconv.Itoa(body.Len()))
	}
	// Without a body there is no length to state: a 204 and a 304 may have none.
	w.WriteHeader(answer.status)
	_, err := w.Write(body.Bytes())
	if errors.Is(err, http.ErrBodyNotAllowed) {
		return nil
	}
	return err
}

// route finds the handler of a request by its escaped path. The standard mux
// would clean paths, and so could not carry a table name with two slashes.
func (c *Catalog) route(r *http.Request) (reply, error) {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	found := false
	for _, candidate := range routes() {
		values, ok := match(candidate.pattern(), parts)
		if !ok {
			continue
		}
		found = true
		if candidate.method != r.Method {
			continue
		}
		req := &request{Request: r}
		if err := req.bind(values); err != nil {
			return reply{}, err
		}
		return candidate.handle(c, req)
	}
	if found {
		return reply{}, &apiError{http.StatusMethodNotAllowed, "BadRequestException", r.Method + " is not served here"}
	}
	return reply{}, &apiError{http.StatusNotFound, "NotFoundException", "no such endpoint: " + r.Method + " " + r.URL.EscapedPath()}
}

// match compares path parts with a pattern and returns the values of its
// {variables}, still escaped.
func match(pattern, parts []string) (map[string]string, bool) {
	if len(pattern) != len(parts) {
		return nil, false
	}
	values := map[string]string{}
	for i, want := range pattern {
		switch {
		case strings.HasPrefix(want, "{"):
			values[want] = parts[i]
		case want != parts[i]:
			return nil, false
		}
	}
	return values, true
}

// bind unescapes the values of the path. A plus is a space: Iceberg's Java
// client encodes path segments as forms, and the others write %2B for a plus.
func (r *request) bind(values map[string]string) error {
	if raw, ok := values["{namespace}"]; ok {
		text, err := url.QueryUnescape(raw)
		if err != nil {
			return badRequest("namespace %q: %v", raw, err)
		}
		if r.namespace, err = parseNamespace(text); err != nil {
			return err
		}
	}
	for _, kind := range []string{"table", "view"} {
		raw, ok := values["{"+kind+"}"]
		if !ok {
			continue
		}
		text, err := url.QueryUnescape(raw)
		if err != nil || text == "" {
			return badRequest("%s name %q cannot be read", kind, raw)
		}
		r.table = text
	}
	return nil
}
