// Package s3 is a client that says exactly what a test wants said: any path,
// any header, any way to sign a body. It signs with the AWS SDK's signer, so
// that it shares nothing with the code under test. It never retries.
package s3

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Unsigned is the payload hash of a body that is not signed.
const Unsigned = "UNSIGNED-PAYLOAD"

// Keys sign requests.
type Keys struct{ ID, Secret, Token string }

// A Client sends requests to one endpoint.
type Client struct {
	Endpoint string // without a slash at its end
	Region   string
	Keys     Keys
	Now      func() time.Time // nil: time.Now
	// Transport carries the requests; nil: a connection for each.
	Transport http.RoundTripper
}

// A Request is what to send. The zero value of each field is the usual.
type Request struct {
	Method string // "": GET
	Target string // raw, as it goes over the wire: "/bucket/a%20b?list-type=2"
	Header map[string]string
	// Unsigned headers are added after the signature was made.
	Unsigned map[string]string
	Text     string // a small body, signed; or else:
	Body     io.Reader
	Length   int64
	Hash     string // of Body
}

// A Response is an answer of which the body was read.
type Response struct {
	Status int
	Code   string // of an S3 error; "" is none
	Header http.Header
	Body   []byte
}

// String is for messages of tests.
func (r Response) String() string { return fmt.Sprintf("%d %s", r.Status, r.Code) }

// Do sends the request and reads the answer to its end.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	resp, err := c.Open(ctx, r)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return Response{}, fmt.Errorf("read answer: %w", err)
	}
	answer := Response{Status: resp.StatusCode, Header: resp.Header, Body: body}
	var failure struct{ Code string }
	if resp.StatusCode >= 400 && xml.Unmarshal(body, &failure) == nil {
		answer.Code = failure.Code
	}
	return answer, nil
}

// Open sends the request; whoever calls it reads and closes the answer's body.
func (c *Client) Open(ctx context.Context, r Request) (*http.Response, error) {
	req, hash, err := c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	keys := aws.Credentials{AccessKeyID: c.Keys.ID, SecretAccessKey: c.Keys.Secret, SessionToken: c.Keys.Token}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(ctx, keys, req, hash, "s3", c.Region, c.now()); err != nil {
		return nil, fmt.Errorf("sign request: %w", err)
	}
	for name, value := range r.Unsigned {
		req.Header.Set(name, value)
	}
	// The signer wants the host in it; on the wire it would be a proxy's form.
	req.URL.Opaque = strings.TrimPrefix(req.URL.Opaque, "//"+req.URL.Host)
	carrier := c.Transport
	if carrier == nil {
		carrier = &fresh
	}
	resp, err := carrier.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("send request: %w", err)
	}
	return resp, nil
}

// Presign returns the URL of a request that carries its signature itself.
func (c *Client) Presign(ctx context.Context, r Request, valid time.Duration) (string, error) {
	if strings.Contains(r.Target, "?") {
		r.Target += "&"
	} else {
		r.Target += "?"
	}
	r.Target += fmt.Sprintf("X-Amz-Expires=%d", int(valid.Seconds()))
	req, _, err := c.request(ctx, r)
	if err != nil {
		return "", err
	}
	req.Header.Del("X-Amz-Content-Sha256")
	keys := aws.Credentials{AccessKeyID: c.Keys.ID, SecretAccessKey: c.Keys.Secret, SessionToken: c.Keys.Token}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	signed, _, err := signer.PresignHTTP(ctx, keys, req, Unsigned, "s3", c.Region, c.now())
	return signed, err
}

// request builds the request with its path as it was spelled.
func (c *Client) request(ctx context.Context, r Request) (*http.Request, string, error) {
	method, hash, body := r.Method, r.Hash, r.Body
	if method == "" {
		method = http.MethodGet
	}
	if body == nil {
		sum := sha256.Sum256([]byte(r.Text))
		body, hash, r.Length = strings.NewReader(r.Text), hex.EncodeToString(sum[:]), int64(len(r.Text))
	}
	if r.Length == 0 {
		body = http.NoBody
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Endpoint, body)
	if err != nil {
		return nil, "", fmt.Errorf("make request: %w", err)
	}
	path, query, _ := strings.Cut(r.Target, "?")
	// Opaque goes out as it is: no cleaning, no other escaping.
	req.URL = &url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Opaque: "//" + req.URL.Host + path, RawQuery: query}
	req.ContentLength = r.Length
	req.Header.Set("User-Agent", "laketap-test")
	req.Header.Set("X-Amz-Content-Sha256", hash)
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	return req, hash, nil
}

func (c *Client) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// fresh hands everything on as it comes, and keeps no connection: each request
// of a test stands for itself.
var fresh = http.Transport{DisableCompression: true, DisableKeepAlives: true}
