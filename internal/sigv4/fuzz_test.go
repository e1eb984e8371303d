package sigv4_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/laketap/laketap/internal/sigv4"
)

// checkParse holds what is true of any request: no panic, errors in the words
// of S3, and a claim that nobody can pass off without the secret.
func checkParse(t *testing.T, r *sigv4.Request) {
	t.Helper()
	a, err := sigv4.Parse(r)
	if err != nil {
		checkError(t, err)
		return
	}
	if a.AccessKeyID == "" || a.Service != "s3" || a.Time.IsZero() || len(a.SignedHeaders) == 0 {
		t.Errorf("got %+v", a)
	}
	err = a.Verify(r, "a secret that no seed was signed with", a.Region, a.Time)
	if err == nil {
		t.Fatal("verified with another secret")
	}
	checkError(t, err)
}

func checkError(t *testing.T, err error) {
	t.Helper()
	e, ok := errors.AsType[*sigv4.Error](err)
	if !ok || e.Status < 400 || e.Code == "" || e.Message == "" {
		t.Errorf("got %#v", err)
	}
}

func FuzzParseHeader(f *testing.F) {
	r := signedPut(f)
	f.Add(get(&r, "Authorization"), exampleDate, noBytes, r.Path, r.Query, "X-Amz-Meta-A", "1")
	f.Add("AWS4-HMAC-SHA256 Credential=a/20130524/us-east-1/s3/aws4_request,SignedHeaders=;,Signature=", exampleDate, "UNSIGNED-PAYLOAD", "/%", "a=%2", "", "")
	f.Add("AWS a:b", "Fri, 24 May 2013 00:00:00 GMT", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "/b//../k", "a&a&&=", "x-amz-trailer", ",")
	f.Add("AWS4-HMAC-SHA256 ,,", "", strings.Repeat("0", 64), "", "X-Amz-Expires=9", "x-amz-decoded-content-length", "99999999999999999999")
	f.Fuzz(func(t *testing.T, auth, date, hash, path, query, name, value string) {
		checkParse(t, &sigv4.Request{Method: "PUT", Path: path, Query: query, Host: "s3.test", Header: fields(
			"Authorization", auth, "x-amz-date", date, "x-amz-content-sha256", hash, name, value)})
	})
}

func FuzzParseQuery(f *testing.F) {
	r := presigned(func(map[string]string) {})
	f.Add(r.Path, r.Query)
	f.Add("/", "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a/b/c/s3/aws4_request")
	f.Add("/", strings.ReplaceAll(r.Query, "86400", "%2B1"))
	f.Add("/a", r.Query+"&X-Amz-Content-Sha256=STREAMING-AWS4-HMAC-SHA256-PAYLOAD&X-Amz-Security-Token=+")
	f.Add("/a", "Signature=&AWSAccessKeyId&%58-Amz-Date")
	f.Fuzz(func(t *testing.T, path, query string) {
		checkParse(t, &sigv4.Request{Method: "GET", Path: path, Query: query, Host: "s3.test"})
	})
}

// checkBody reads a body twice, in large and in small pieces: both ways end
// alike, and a body that ends well has the declared length.
func checkBody(t *testing.T, r *sigv4.Request, secret string, length int64, body []byte) {
	t.Helper()
	a := parse(t, r)
	got, err := io.ReadAll(a.Body(bytes.NewReader(body), secret))
	again, errAgain := readBy(a.Body(bytes.NewReader(body), secret), 3)
	if (err == nil) != (errAgain == nil) || err == nil && !bytes.Equal(got, again) {
		t.Fatalf("got %d bytes, %v and then %d, %v", len(got), err, len(again), errAgain)
	}
	if err != nil {
		checkError(t, err)
		if length > 0 && int64(len(got)) >= length {
			t.Errorf("gave out %d of %d bytes before %v", len(got), length, err)
		}
		return
	}
	if int64(len(got)) != length {
		t.Errorf("got %d bytes, declared %d", len(got), length)
	}
}

func FuzzBodyUnsignedTrailer(f *testing.F) {
	f.Add(int64(5), true, []byte("5\r\nhello\r\n0\r\nx-amz-checksum-crc64nvme:M3eFcAZSQlc=\r\n\r\n"))
	f.Add(int64(5), true, []byte("5\r\nhello\r\n0\r\nx-amz-checksum-crc64nvme:M3eFcAZSQlc=\n\r\n\r\n"))
	f.Add(int64(0), false, []byte("0\r\n\r\n"))
	f.Add(int64(1), false, []byte("7fffffffffffffff\r\nx"))
	f.Add(int64(9000), false, append([]byte("2000\r\n"), make([]byte, 8192)...))
	f.Fuzz(func(t *testing.T, length int64, trailer bool, body []byte) {
		if length < 0 {
			return
		}
		name := ""
		if trailer {
			name = "x-amz-checksum-crc64nvme"
		}
		r := unsignedRequest(strconv.FormatInt(length, 10), name)
		checkBody(t, &r, "secret", length, body)
	})
}

func fuzzSigned(f *testing.F, mode sigv4.Mode) {
	object := []byte("hello, lake")
	p := sigv4.Payload{Mode: mode, Length: int64(len(object))}
	if mode == sigv4.StreamingSignedTrailer {
		p.Trailers = []string{"x-amz-checksum-crc32"}
	}
	r, wire := upload(f, object, p, crc32Trailer(object))
	f.Add(wire)
	f.Add(wire[:len(wire)-2])
	f.Add(bytes.ReplaceAll(wire, []byte("\r\n"), []byte("\n")))
	f.Add(bytes.Replace(wire, []byte(";"), []byte(";;"), 1))
	f.Add(append(slices.Clip(wire), wire...))
	f.Fuzz(func(t *testing.T, body []byte) {
		checkBody(t, &r, keys().SecretAccessKey, int64(len(object)), body)
	})
}

func FuzzBodySigned(f *testing.F) { fuzzSigned(f, sigv4.StreamingSigned) }

func FuzzBodySignedTrailer(f *testing.F) { fuzzSigned(f, sigv4.StreamingSignedTrailer) }
