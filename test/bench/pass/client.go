package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/laketap/laketap/test/bench/side"
)

// A client asks for one object again and again on one connection. It does as
// little as it can, so that the ways it is compared on are all that differs.
type client struct {
	conn    net.Conn
	request []byte
	size    int
	buffer  []byte
	check   bool   // whether sum is to be taken, which takes time
	sum     uint32 // CRC-32C of the last body
}

// dial connects and signs the request once: a signature is good for many.
func dial(ctx context.Context, address string, c cell) (*client, error) {
	path := fmt.Sprintf("/bench/%d/%d", c.delay.Milliseconds(), c.size)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	const unsigned = "UNSIGNED-PAYLOAD"
	req.Header.Set("X-Amz-Content-Sha256", unsigned)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(ctx, aws.Credentials{AccessKeyID: side.KeyID, SecretAccessKey: side.Secret}, req, unsigned, "s3", "us-east-1", time.Now()); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	var b bytes.Buffer
	if err := req.Write(&b); err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, request: b.Bytes(), size: c.size, buffer: make([]byte, 256<<10)}, nil
}

func (c *client) close() { _ = c.conn.Close() }

// medianOf asks n times and returns the median of the times it took.
func (c *client) medianOf(n int) (time.Duration, error) {
	all := make([]time.Duration, 0, n)
	for range n {
		began := time.Now()
		if err := c.get(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(began))
	}
	return side.Median(all), nil
}

// get asks once and reads all of the answer.
func (c *client) get() error {
	// A stalled way ends the run; nothing here takes so long.
	if err := c.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	n, head := 0, -1
	for head < 0 {
		m, err := c.conn.Read(c.buffer[n:])
		if err != nil {
			return fmt.Errorf("read head: %w", err)
		}
		n += m
		head = bytes.Index(c.buffer[:n], []byte("\r\n\r\n"))
	}
	if length, ok := lengthIn(c.buffer[:head]); !ok || length != c.size {
		return fmt.Errorf("answer is not 200 with %d bytes: %.300s", c.size, c.buffer[:head])
	}
	part := c.buffer[head+4 : n]
	c.sum = 0
	c.add(part)
	for left := c.size - len(part); left > 0; left -= len(part) {
		m, err := c.conn.Read(c.buffer[:min(left, len(c.buffer))])
		if err != nil {
			return fmt.Errorf("read body with %d bytes left: %w", left, err)
		}
		part = c.buffer[:m]
		c.add(part)
	}
	return nil
}

// add takes a part of the body into the sum.
func (c *client) add(part []byte) {
	if c.check {
		c.sum = crc32.Update(c.sum, crc32.MakeTable(crc32.Castagnoli), part)
	}
}

// lengthIn returns the length of the body of a 200 answer.
func lengthIn(head []byte) (int, bool) {
	lines := bytes.Split(head, []byte("\r\n"))
	if !bytes.HasPrefix(lines[0], []byte("HTTP/1.1 200")) {
		return 0, false
	}
	for _, line := range lines[1:] {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			return n, err == nil
		}
	}
	return 0, false
}
