package side

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
)

// A Request is what a client asks for again and again.
type Request struct {
	Address string // host and port
	Path    string
	Range   string // as in "bytes=-8192"; "": the whole
	Length  int    // of the answer's body
	Keys    aws.Credentials
}

// Static are the keys that every server knows.
func Static() aws.Credentials {
	return aws.Credentials{AccessKeyID: KeyID, SecretAccessKey: Secret}
}

// A Client asks for one thing again and again on one connection. It does as
// little as it can, so that the ways it is compared on are all that differs.
type Client struct {
	Request

	// Check says that the sums of bodies are to be taken, which takes time.
	Check bool
	Sum   uint32 // CRC-32C of the last body

	conn    net.Conn
	request []byte
	buffer  []byte
}

// Dial connects and signs the request once, if it has keys: a signature is good
// for many.
func Dial(ctx context.Context, r Request) (*Client, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Address+r.Path, http.NoBody)
	if err != nil {
		return nil, err
	}
	if r.Range != "" {
		req.Header.Set("Range", r.Range)
	}
	if r.Keys.AccessKeyID != "" {
		const unsigned = "UNSIGNED-PAYLOAD"
		req.Header.Set("X-Amz-Content-Sha256", unsigned)
		signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
		if err := signer.SignHTTP(ctx, r.Keys, req, unsigned, "s3", "us-east-1", time.Now()); err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
	}
	var b bytes.Buffer
	if err := req.Write(&b); err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.Address)
	if err != nil {
		return nil, err
	}
	return &Client{Request: r, conn: conn, request: b.Bytes(), buffer: make([]byte, 256<<10)}, nil
}

// Close ends the connection.
func (c *Client) Close() { _ = c.conn.Close() }

// Use has the client ask on the connection of another one.
func (c *Client) Use(other *Client) {
	c.Close()
	c.conn, c.buffer = other.conn, other.buffer
}

// MedianOf asks n times and returns the median of the times it took.
func (c *Client) MedianOf(n int) (time.Duration, error) {
	all := make([]time.Duration, 0, n)
	for range n {
		began := time.Now()
		if err := c.Get(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(began))
	}
	return Median(all), nil
}

// Get asks once and reads all of the answer.
func (c *Client) Get() error {
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
	if length, ok := lengthIn(c.buffer[:head]); !ok || length != c.Length {
		return fmt.Errorf("%s%s: answer is not the %d bytes: %.300s", c.Address, c.Path, c.Length, c.buffer[:n])
	}
	part := c.buffer[head+4 : n]
	c.Sum = 0
	c.add(part)
	for left := c.Length - len(part); left > 0; left -= len(part) {
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
func (c *Client) add(part []byte) {
	if c.Check {
		c.Sum = crc32.Update(c.Sum, crc32.MakeTable(crc32.Castagnoli), part)
	}
}

// lengthIn returns the length of the body of a 200 or 206 answer.
func lengthIn(head []byte) (int, bool) {
	lines := bytes.Split(head, []byte("\r\n"))
	if !bytes.HasPrefix(lines[0], []byte("HTTP/1.1 200")) && !bytes.HasPrefix(lines[0], []byte("HTTP/1.1 206")) {
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
