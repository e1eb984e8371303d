package sigv4_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/laketap/laketap/internal/sigv4"
)

// targets are request targets as clients send them, escaped once.
var targets = []string{
	"/", "/b", "/b/", "/b/key", "/b/a%20b", "/b/a%25b", "/b/a%252Fb", "/b/a%2Bb", "/b/d%3D1/x", "/b/a//b", "/b//a", "/b/./a/../c",
	"/b/%C3%A9/%C3%BC", "/b/t%2012%3A30.1/x", "/b/x_%24folder%24", "/b/mac%402x", "/b/~tilde-_.", "/b/%00", "/b/%E2%82%AC",
	"/b?list-type=2&prefix=a%2Fb&delimiter=%2F", "/b?uploads", "/b?uploads=", "/b/k?partNumber=1&uploadId=a%2Fb%3D%3D",
	"/b?prefix=&marker=&max-keys=10", "/b?prefix=a%20b&continuation-token=1%2B%2F%3D", "/b?b=2&a=1&a=0&A=3", "/b?delete&versionId=x",
}

func oracleKeys() aws.Credentials {
	return aws.Credentials{AccessKeyID: keys().AccessKeyID, SecretAccessKey: keys().SecretAccessKey, SessionToken: "token/+="}
}

// oracleSign signs as the AWS SDK does for S3.
func oracleSign(t testing.TB, req *http.Request) {
	t.Helper()
	req.Header.Set("X-Amz-Content-Sha256", noBytes)
	err := v4.NewSigner().SignHTTP(req.Context(), oracleKeys(), req, noBytes, "s3", "us-east-1", exampleTime(),
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		t.Fatal(err)
	}
}

func TestVerifiesTheSDK(t *testing.T) {
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			req := newRequest(t, http.MethodGet, "http://s3.test:9191"+target, nil)
			req.Header.Set("X-Amz-Meta-Spaces", "  a   b  c ")
			req.Header.Add("X-Amz-Meta-Twice", "one")
			req.Header.Add("X-Amz-Meta-Twice", "two ")
			req.Header.Set("Range", "bytes=0-9")
			req.Header.Set("Accept-Encoding", "identity")
			req.Header.Set("Content-Type", "text/plain; charset=utf-8")
			oracleSign(t, req)
			r := received(req)
			a, err := verify(&r, keys().SecretAccessKey, exampleTime())
			if err != nil {
				t.Fatal(err)
			}
			if a.SessionToken != "token/+=" || a.AccessKeyID != "AKID" || a.Region != "us-east-1" || !a.Time.Equal(exampleTime()) {
				t.Errorf("got %+v", a)
			}
		})
	}
}

func TestVerifiesTheSDKPresigned(t *testing.T) {
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			req := newRequest(t, http.MethodGet, "http://s3.test:9191"+target, nil)
			q := req.URL.Query()
			q.Set("X-Amz-Expires", "900")
			req.URL.RawQuery = q.Encode()
			signed, _, err := v4.NewSigner().PresignHTTP(req.Context(), oracleKeys(), req, "UNSIGNED-PAYLOAD", "s3", "us-east-1", exampleTime(),
				func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(signed)
			if err != nil {
				t.Fatal(err)
			}
			r := sigv4.Request{Method: http.MethodGet, Path: u.EscapedPath(), Query: u.RawQuery, Host: u.Host}
			a, err := verify(&r, keys().SecretAccessKey, exampleTime().Add(15*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if !a.Presigned || a.Expires != 15*time.Minute || a.SessionToken != "token/+=" || a.Payload.Mode != sigv4.Unsigned {
				t.Errorf("got %+v", a)
			}
		})
	}
}

// A key has many spellings in a URL; a client signs S3's or the one it sends.
func TestSpellingsOfOneKey(t *testing.T) {
	tests := []struct{ signed, sent string }{
		{"/b/d%3D1/x", "/b/d=1/x"},
		{"/b/a%2Bb", "/b/a+b"},
		{"/b/mac%402x", "/b/mac@2x"},
		{"/b/t%2012%3A30", "/b/t%2012:30"},
		{"/b/%24x", "/b/$x"},
		{"/b/%C3%A9", "/b/%c3%a9"},
		{"/b/~a", "/b/%7Ea"},
		{"/b/a/b", "/b/a%2Fb"},
		{"/b/d=1/x", "/b/d=1/x"}, // the client signs what it sends
		{"/b/a%2fb", "/b/a%2fb"},
	}
	for _, tt := range tests {
		t.Run(tt.sent, func(t *testing.T) {
			req := newRequest(t, http.MethodGet, "http://s3.test"+tt.signed, nil)
			req.URL.Opaque = "//s3.test" + tt.signed // keeps the SDK from spelling it anew
			oracleSign(t, req)
			r := received(req)
			r.Path = tt.sent
			if _, err := verify(&r, keys().SecretAccessKey, exampleTime()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("other keys", func(t *testing.T) {
		for _, pair := range [][2]string{{"/b/a%252Fb", "/b/a%2Fb"}, {"/b/a%20b", "/b/a+b"}, {"/b/a", "/b/a/"}, {"/b/a/b", "/b/a//b"}, {"/b/A", "/b/a"}} {
			req := newRequest(t, http.MethodGet, "http://s3.test"+pair[0], nil)
			oracleSign(t, req)
			r := received(req)
			r.Path = pair[1]
			if _, err := verify(&r, keys().SecretAccessKey, exampleTime()); code(err) != "SignatureDoesNotMatch" {
				t.Errorf("%s sent as %s: got %v", pair[0], pair[1], err)
			}
		}
	})
}

// What Sign makes, the SDK's signer makes too.
func TestSignsAsTheSDK(t *testing.T) {
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			ours := newRequest(t, http.MethodGet, "http://s3.test:9191"+target, nil)
			ours.Header.Set("Range", "bytes=0-9")
			ours.Header.Set("X-Amz-Meta-Spaces", "  a   b  c ")
			theirs := ours.Clone(ours.Context())
			c := keys()
			c.SessionToken = "token/+="
			if err := sigv4.Sign(ours, c, sigv4.Payload{}, "us-east-1", exampleTime(), nil); err != nil {
				t.Fatal(err)
			}
			oracleSign(t, theirs)
			trim := func(s string) string { return strings.ReplaceAll(s, ", ", ",") }
			if got, want := trim(ours.Header.Get("Authorization")), trim(theirs.Header.Get("Authorization")); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
