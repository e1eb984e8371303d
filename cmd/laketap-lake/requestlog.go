package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v3"
)

// requestLog writes a JSON line for every request either server answers. Tests
// use it to prove which requests arrived here. A line is written before the
// client sees the end of the answer.
type requestLog struct {
	mu   sync.Mutex
	file *os.File // nil: no log
}

// entry is a line of the log.
type entry struct {
	At        time.Time `json:"at"`
	Kind      string    `json:"kind"` // s3 or catalog
	Method    string    `json:"method"`
	Path      string    `json:"path"` // as received, escaped
	Query     string    `json:"query"`
	Range     string    `json:"range"`
	UserAgent string    `json:"user_agent"`
	AccessKey string    `json:"access_key"`
	Status    int       `json:"status"`
	Bytes     int64     `json:"bytes"`    // of the answer's body
	Received  int64     `json:"received"` // of the request's body; 0 if not stated
}

// openLog appends to a file; an empty path logs nothing.
func openLog(path string) (*requestLog, error) {
	if path == "" {
		return &requestLog{}, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open request log: %w", err)
	}
	return &requestLog{file: file}, nil
}

// write adds a line. A log that cannot be written does not fail requests. One
// write call a line, into a file opened for appending: lines of two requests
// never mix, and a reader never sees half of one.
func (l *requestLog) write(e entry) {
	e.Query = redact(e.Query)
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.file.Write(append(line, '\n'))
}

// close ends the log.
func (l *requestLog) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// fiber is the log as the S3 server's middleware. It stands before
// authentication, so refused requests are logged too. Strings are copied: the
// server reuses their memory.
func (l *requestLog) fiber(c fiber.Ctx) error {
	if l.file == nil {
		return c.Next()
	}
	at := time.Now()
	header := &c.Request().Header
	path, query, _ := strings.Cut(string(header.RequestURI()), "?")
	e := entry{
		At: at, Kind: "s3", Method: strings.Clone(c.Method()), Path: path, Query: query,
		Range:     string(header.Peek("Range")),
		UserAgent: string(header.UserAgent()),
		AccessKey: accessKey(string(header.Peek("Authorization")), query),
		Received:  max(0, int64(header.ContentLength())),
	}
	err := c.Next()
	e.Status = c.Response().StatusCode()
	if failed, ok := errors.AsType[*fiber.Error](err); ok {
		e.Status = failed.Code
	}
	if e.Method != http.MethodHead {
		if c.Response().IsBodyStream() {
			e.Bytes = max(0, int64(c.Response().Header.ContentLength()))
		} else {
			e.Bytes = int64(len(c.Response().Body()))
		}
	}
	l.write(e)
	return err
}

// wrap is the log around the catalog.
func (l *requestLog) wrap(next http.Handler) http.Handler {
	if l.file == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		noted := &notedWriter{ResponseWriter: w}
		noted.note = func(status int) {
			path, query, _ := strings.Cut(r.RequestURI, "?")
			length, _ := strconv.ParseInt(w.Header().Get("Content-Length"), 10, 64)
			l.write(entry{
				At: time.Now(), Kind: "catalog", Method: r.Method, Path: path, Query: query,
				Range: r.Header.Get("Range"), UserAgent: r.UserAgent(),
				Status: status, Bytes: length, Received: max(0, r.ContentLength),
			})
		}
		next.ServeHTTP(noted, r)
	})
}

// notedWriter notes an answer when its status is known, which is before the
// client can see it. The catalog always states the length.
type notedWriter struct {
	http.ResponseWriter
	note func(status int)
}

// WriteHeader notes and passes on.
func (w *notedWriter) WriteHeader(status int) {
	w.note(status)
	w.ResponseWriter.WriteHeader(status)
}

// accessKey is the key id of a signed request, by header or by query. It is
// what the request claims: the log is written for refused requests, too, so an
// id in it is no proof of who asked.
func accessKey(authorization, query string) string {
	if _, rest, ok := strings.Cut(authorization, "Credential="); ok {
		id, _, _ := strings.Cut(rest, "/")
		return id
	}
	if values, err := url.ParseQuery(query); err == nil {
		id, _, _ := strings.Cut(values.Get("X-Amz-Credential"), "/")
		return id
	}
	return ""
}

// redact takes from a query what would let a reader of the log in: presigned
// URLs carry their signature there, and are good until they expire.
func redact(query string) string {
	if !strings.Contains(query, "X-Amz-") {
		return query
	}
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, _, _ := strings.Cut(part, "=")
		if name == "X-Amz-Signature" || name == "X-Amz-Security-Token" {
			parts[i] = name + "=redacted"
		}
	}
	return strings.Join(parts, "&")
}
