package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/laketap/laketap/test/bench/side"
)

// A client sends one request again and again on one connection, as an engine
// does that loads a table before each query.
type client struct {
	cell

	url       string
	transport *http.Transport
	buffer    []byte
}

func newClient(c cell, address string) *client {
	return &client{
		cell:      c,
		url:       fmt.Sprintf("http://%s/v1/namespaces/bench/tables/t%d_%d", address, c.metadata, c.think.Milliseconds()),
		transport: &http.Transport{DisableCompression: true, MaxConnsPerHost: 1, ReadBufferSize: 256 << 10},
		buffer:    make([]byte, 256<<10),
	}
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// begin sends the request a few times, so that what is made at the first one is
// made, and looks at the answer: wrong ones would be quick, too.
func (c *client) begin(through bool) error {
	for range 3 {
		if err := c.ask(); err != nil {
			return err
		}
	}
	var whole bytes.Buffer
	if err := c.send(&whole); err != nil {
		return err
	}
	text := whole.String()
	if !strings.Contains(text, `"last-column-id":2`) || whole.Len() < c.metadata {
		return errors.New("answer is not the table")
	}
	// A commit's answer has no config, so there is nothing to lead.
	if led := strings.Contains(text, `"s3.access-key-id":"LT`); led != (through && !c.commit) {
		return fmt.Errorf("answer leads to the storage tap: %v", led)
	}
	return nil
}

// medianOf asks n times and returns the median of the times it took.
func (c *client) medianOf(n int) (time.Duration, error) {
	all := make([]time.Duration, 0, n)
	for range n {
		began := time.Now()
		if err := c.ask(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(began))
	}
	return side.Median(all), nil
}

func (c *client) ask() error { return c.send(io.Discard) }

// send sends the request once and reads all of the answer.
func (c *client) send(to io.Writer) error {
	method, body := http.MethodGet, ""
	if c.commit {
		method, body = http.MethodPost, `{"requirements":[],"updates":[{"action":"set-properties","updates":{"a":"b"}}]}`
	}
	req, err := http.NewRequest(method, c.url, strings.NewReader(body)) //nolint:noctx // it ends with the upstream
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer bench")
	if c.commit {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("%s: %w", c.url, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", resp.Status)
	}
	if n, err := io.CopyBuffer(struct{ io.Writer }{to}, resp.Body, c.buffer); err != nil {
		return fmt.Errorf("%s: read body: after %d of %d bytes: %w", c.url, n, resp.ContentLength, err)
	}
	return nil
}
