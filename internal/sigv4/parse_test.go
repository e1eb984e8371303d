package sigv4_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// signedPut is a request with everything in it that a signature covers.
func signedPut(t testing.TB) sigv4.Request {
	req := newRequest(t, http.MethodPut, "http://s3.test/b/k?partNumber=1&uploadId=x", nil)
	req.Header.Set("X-Amz-Meta-A", "1")
	req.Header.Set("Content-Type", "text/plain")
	c := keys()
	c.SessionToken = "token"
	if err := sigv4.Sign(req, c, sigv4.Payload{}, "us-east-1", exampleTime(), nil); err != nil {
		t.Fatal(err)
	}
	return received(req)
}

// set changes the first line of a header, or adds one.
func set(r *sigv4.Request, name, value string) {
	for i := range r.Header {
		if strings.EqualFold(r.Header[i].Name, name) {
			r.Header[i].Value = value
			return
		}
	}
	r.Header = append(r.Header, laketap.Field{Name: name, Value: value})
}

func get(r *sigv4.Request, name string) string {
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

func remove(r *sigv4.Request, name string) {
	r.Header = slices.DeleteFunc(r.Header, func(f laketap.Field) bool { return strings.EqualFold(f.Name, name) })
}

// edit replaces text in the Authorization header.
func edit(old, text string) func(*sigv4.Request) {
	return func(r *sigv4.Request) {
		set(r, "Authorization", strings.Replace(get(r, "Authorization"), old, text, 1))
	}
}

func TestRefusals(t *testing.T) {
	const malformed = "400 AuthorizationHeaderMalformed"
	const mismatch = "403 SignatureDoesNotMatch"
	const unsigned = "403 AccessDenied"
	now := exampleTime()
	tests := []struct {
		name   string
		change func(*sigv4.Request)
		want   string
	}{
		{"nothing", func(*sigv4.Request) {}, ""},
		{"lower-case header names", func(r *sigv4.Request) {
			for i := range r.Header {
				r.Header[i].Name = strings.ToLower(r.Header[i].Name)
			}
		}, ""},
		{"header order", func(r *sigv4.Request) { slices.Reverse(r.Header) }, ""},
		{"query order", func(r *sigv4.Request) { r.Query = "uploadId=x&partNumber=1" }, ""},
		{"unsigned plain headers", func(r *sigv4.Request) { set(r, "X-Custom", "1"); set(r, "Cache-Control", "no-cache") }, ""},
		{"spaces between components", func(r *sigv4.Request) {
			set(r, "Authorization", strings.ReplaceAll(get(r, "Authorization"), ", ", " ,  "))
		}, ""},

		{"method", func(r *sigv4.Request) { r.Method = http.MethodDelete }, mismatch},
		{"path", func(r *sigv4.Request) { r.Path = "/b/kk" }, mismatch},
		{"path undecodable", func(r *sigv4.Request) { r.Path = "/b/%zz" }, "400 InvalidURI"},
		{"path cut in an escape", func(r *sigv4.Request) { r.Path = "/b/%2" }, "400 InvalidURI"},
		{"path with a line feed", func(r *sigv4.Request) { r.Path = "/b/k\n" }, mismatch},
		{"query value", func(r *sigv4.Request) { r.Query = "partNumber=2&uploadId=x" }, mismatch},
		{"query added", func(r *sigv4.Request) { r.Query += "&acl" }, mismatch},
		{"query dropped", func(r *sigv4.Request) { r.Query = "" }, mismatch},
		{"query undecodable", func(r *sigv4.Request) { r.Query = "a=%" }, "400 InvalidURI"},
		{"query name undecodable", func(r *sigv4.Request) { r.Query = "%q=1" }, "400 InvalidURI"},
		{"host", func(r *sigv4.Request) { r.Host = "other.test" }, mismatch},
		{"signed header changed", func(r *sigv4.Request) { set(r, "X-Amz-Meta-A", "2") }, mismatch},
		{"signed header repeated", func(r *sigv4.Request) {
			r.Header = append(r.Header, laketap.Field{Name: "x-amz-meta-a", Value: "2"})
		}, mismatch},
		{"signed header dropped", func(r *sigv4.Request) { remove(r, "Content-Type") }, mismatch},
		{"token changed", func(r *sigv4.Request) { set(r, "X-Amz-Security-Token", "other") }, mismatch},
		{"date changed", func(r *sigv4.Request) { set(r, "X-Amz-Date", "20130524T000001Z") }, mismatch},
		{"payload hash changed", func(r *sigv4.Request) { set(r, "X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") }, mismatch},
		{"signature changed", func(r *sigv4.Request) {
			v := get(r, "Authorization")
			last := "0"
			if strings.HasSuffix(v, "0") {
				last = "1"
			}
			set(r, "Authorization", v[:len(v)-1]+last)
		}, mismatch},
		{"signature cut", func(r *sigv4.Request) { v := get(r, "Authorization"); set(r, "Authorization", v[:len(v)-1]) }, mismatch},
		{"signed headers fewer", edit(";x-amz-date", ""), unsigned},
		{"signed headers more", edit("host;", "host;range;"), mismatch},
		{"another region", edit("us-east-1", "us-west-1"), malformed},
		{"another key", edit("AKID", "AKID2"), ""}, // the secret is the caller's to find

		{"x-amz header not signed", func(r *sigv4.Request) { set(r, "X-Amz-Copy-Source", "a/b") }, unsigned},
		{"odd case of it", func(r *sigv4.Request) { set(r, "x-AMZ-tagging", "a=b") }, unsigned},
		{"host not signed", edit("host;", ""), unsigned},

		{"no authorization", func(r *sigv4.Request) { remove(r, "Authorization") }, unsigned},
		{"empty authorization", func(r *sigv4.Request) { set(r, "Authorization", "") }, unsigned},
		{"two authorizations", func(r *sigv4.Request) {
			r.Header = append(r.Header, laketap.Field{Name: "authorization", Value: get(r, "Authorization")})
		}, "400 InvalidArgument"},
		{"one word", func(r *sigv4.Request) { set(r, "Authorization", "invalid_header") }, "400 InvalidArgument"},
		{"version 2", func(r *sigv4.Request) { set(r, "Authorization", "AWS AKID:abc=") }, "400 InvalidRequest"},
		{"bearer", func(r *sigv4.Request) { set(r, "Authorization", "Bearer abc") }, "400 InvalidArgument"},
		{"version 4a", edit("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"), "400 InvalidArgument"},
		{"version 2 query", func(r *sigv4.Request) {
			remove(r, "Authorization")
			r.Query = "AWSAccessKeyId=A&Expires=1&Signature=x"
		}, "400 InvalidRequest"},
		{"both kinds", func(r *sigv4.Request) { r.Query += "&X-Amz-Signature=abc" }, "400 InvalidArgument"},
		{"both kinds, hidden", func(r *sigv4.Request) { r.Query += "&X%2DAmz-Algorithm=abc" }, "400 InvalidArgument"},

		{"two components", edit(", SignedHeaders=", "SignedHeaders:"), malformed},
		{"malformed component", edit("SignedHeaders=", "SignedHeaders-"), malformed},
		{"no credential", edit("Credential=", "Cred="), malformed},
		{"no signed headers", edit("SignedHeaders=", "Signed="), malformed},
		{"no signature", edit("Signature=", "Sig="), malformed},
		{"credential of four", edit("/us-east-1", ""), malformed},
		{"credential of six", edit("/s3/", "/s3/s3/"), malformed},
		{"credential without id", edit("AKID/", "/"), malformed},
		{"another service", edit("/s3/", "/sts/"), malformed},
		{"another terminal", edit("aws4_request", "aws_request"), malformed},
		{"scope date malformed", edit("20130524", "201305240"), malformed},
		{"scope date of another day", edit("20130524", "20130523"), malformed},
		{"empty name in signed headers", edit("host;", "host;;"), malformed},
		{"very many signed headers", edit("host;", "host;"+strings.Repeat("a;", 130)), malformed},

		{"no date", func(r *sigv4.Request) { remove(r, "X-Amz-Date") }, unsigned},
		{"bad date", func(r *sigv4.Request) { set(r, "X-Amz-Date", "03032006") }, unsigned},
		{"no payload hash", func(r *sigv4.Request) { remove(r, "X-Amz-Content-Sha256") }, "400 InvalidRequest"},
		{"bad payload hash", func(r *sigv4.Request) { set(r, "X-Amz-Content-Sha256", "invalid_sha256") }, "400 InvalidArgument"},
		{"payload hash not hex", func(r *sigv4.Request) { set(r, "X-Amz-Content-Sha256", strings.Repeat("g", 64)) }, "400 InvalidArgument"},
		{"payload of version 4a", func(r *sigv4.Request) {
			set(r, "X-Amz-Content-Sha256", "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD")
		}, "501 NotImplemented"},
		{"streaming without length", func(r *sigv4.Request) {
			set(r, "X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
		}, "411 MissingContentLength"},
		{"streaming with bad length", func(r *sigv4.Request) {
			set(r, "X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
			set(r, "X-Amz-Decoded-Content-Length", "-1")
		}, "411 MissingContentLength"},
		{"trailer that is no checksum", func(r *sigv4.Request) {
			set(r, "X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
			set(r, "X-Amz-Trailer", "x-amz-meta-a")
		}, "400 InvalidRequest"},
		{"trailer twice", func(r *sigv4.Request) {
			set(r, "X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
			set(r, "X-Amz-Trailer", "x-amz-checksum-crc32, X-Amz-Checksum-Crc32")
		}, "400 InvalidRequest"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := signedPut(t)
			tt.change(&r)
			_, err := verify(&r, keys().SecretAccessKey, now)
			if got := statusAndCode(err); got != tt.want {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func TestSkew(t *testing.T) {
	for _, tt := range []struct {
		by   time.Duration
		want string
	}{
		{0, ""},
		{15 * time.Minute, ""},
		{-15 * time.Minute, ""},
		{15*time.Minute + time.Second, "403 RequestTimeTooSkewed"},
		{-15*time.Minute - time.Second, "403 RequestTimeTooSkewed"},
	} {
		r := signedPut(t)
		if _, err := verify(&r, keys().SecretAccessKey, exampleTime().Add(tt.by)); statusAndCode(err) != tt.want {
			t.Errorf("%v: got %v, want %q", tt.by, err, tt.want)
		}
	}
}

func presigned(change func(q map[string]string)) sigv4.Request {
	q := map[string]string{
		"X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": strings.ReplaceAll(exampleScope, "/", "%2F"),
		"X-Amz-Date": exampleDate, "X-Amz-Expires": "86400", "X-Amz-SignedHeaders": "host",
		"X-Amz-Signature": "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
	}
	change(q)
	parts := make([]string, 0, len(q))
	for name, value := range q {
		parts = append(parts, name+"="+value)
	}
	slices.Sort(parts)
	return sigv4.Request{Method: "GET", Path: "/test.txt", Host: "examplebucket.s3.amazonaws.com", Query: strings.Join(parts, "&")}
}

func TestPresignedRefusals(t *testing.T) {
	const params = "400 AuthorizationQueryParametersError"
	scope := func(old, text string) func(map[string]string) {
		return func(q map[string]string) {
			q["X-Amz-Credential"] = strings.Replace(q["X-Amz-Credential"], old, text, 1)
		}
	}
	value := func(name, value string) func(map[string]string) {
		return func(q map[string]string) { q[name] = value }
	}
	without := func(name string) func(map[string]string) {
		return func(q map[string]string) { delete(q, name) }
	}
	tests := []struct {
		name   string
		change func(map[string]string)
		want   string
	}{
		{"nothing", func(map[string]string) {}, ""},
		{"no algorithm", without("X-Amz-Algorithm"), params},
		{"no credential", without("X-Amz-Credential"), params},
		{"no date", without("X-Amz-Date"), params},
		{"no expires", without("X-Amz-Expires"), params},
		{"no signed headers", without("X-Amz-SignedHeaders"), params},
		{"no signature", without("X-Amz-Signature"), params},
		{"another algorithm", value("X-Amz-Algorithm", "AWS4-SHA256"), params},
		{"version 4a", value("X-Amz-Algorithm", "AWS4-ECDSA-P256-SHA256"), params},
		{"date twice", value("X-Amz-Date=20130524T000000Z&X-Amz-Date", exampleDate), params},
		{"short credential", value("X-Amz-Credential", "access%2Fhello%2Fworld"), params},
		{"another terminal", scope("aws4_request", "aws5_request"), params},
		{"another service", scope("%2Fs3", "%2Fsns"), params},
		{"another region", scope("us-east-1", "us-west-1"), params},
		{"scope date malformed", scope("20130524", "32234Z34"), params},
		{"scope of another day", scope("20130524", "20130523"), params},
		{"bad date", value("X-Amz-Date", "20130524"), params},
		{"expires not a number", value("X-Amz-Expires", "abc"), params},
		{"expires negative", value("X-Amz-Expires", "-3"), params},
		{"expires in a week and a second", value("X-Amz-Expires", "604801"), params},
		{"expires changed", value("X-Amz-Expires", "604800"), "403 SignatureDoesNotMatch"},
		{"token added", value("X-Amz-Security-Token", "x"), "403 SignatureDoesNotMatch"},
		{"parameter added", value("acl", ""), "403 SignatureDoesNotMatch"},
		{"host not signed", value("X-Amz-SignedHeaders", "range"), "403 AccessDenied"},
		{"undecodable", value("X-Amz-Date", "%2"), "400 InvalidURI"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := presigned(tt.change)
			_, err := verify(&r, exampleSecret, exampleTime())
			if got := statusAndCode(err); got != tt.want {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
		})
	}
	t.Run("x-amz header not signed", func(t *testing.T) {
		r := presigned(func(map[string]string) {})
		r.Header = fields("X-Amz-Tagging", "a=b")
		if _, err := verify(&r, exampleSecret, exampleTime()); statusAndCode(err) != "403 AccessDenied" {
			t.Errorf("got %v", err)
		}
	})
}

// handSign signs a request over the names given, line by line as the
// specification has it and without a call into the package.
func handSign(r *sigv4.Request, names []string, hash string) {
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	mac := func(key []byte, s string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(s))
		return h.Sum(nil)
	}
	set(r, "x-amz-date", exampleDate)
	set(r, "x-amz-content-sha256", hash)
	names = append(names, "host", "x-amz-content-sha256", "x-amz-date")
	slices.Sort(names)
	var canonical strings.Builder
	canonical.WriteString(r.Method + "\n" + r.Path + "\n" + r.Query + "\n")
	for _, name := range names {
		value := get(r, name)
		if name == "host" {
			value = r.Host
		}
		canonical.WriteString(name + ":" + value + "\n")
	}
	canonical.WriteString("\n" + strings.Join(names, ";") + "\n" + hash)
	scope := "20130524/us-east-1/s3/aws4_request"
	key := []byte("AWS4" + keys().SecretAccessKey)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	signature := hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+exampleDate+"\n"+scope+"\n"+sum(canonical.String())))
	r.Header = append(r.Header, authorization("AKID/"+scope, strings.Join(names, ";"), signature))
}

// Clients sign what proxies like to touch; it verifies as received.
//
// Field case G16.
func TestVerifiesWhateverIsSigned(t *testing.T) {
	touched := []string{"accept-encoding", "amz-sdk-request", "connection", "expect", "if-none-match", "range", "user-agent", "x-forwarded-for"}
	fresh := func() sigv4.Request {
		r := sigv4.Request{Method: http.MethodPut, Path: "/b/k", Query: "a=&b=1", Host: "s3.test:9191"}
		for _, name := range touched {
			r.Header = append(r.Header, laketap.Field{Name: name, Value: "value of " + name})
		}
		handSign(&r, touched, "UNSIGNED-PAYLOAD")
		return r
	}
	r := fresh()
	if _, err := verify(&r, keys().SecretAccessKey, exampleTime()); err != nil {
		t.Fatal(err)
	}
	for _, name := range touched {
		r := fresh()
		set(&r, name, "another value")
		if _, err := verify(&r, keys().SecretAccessKey, exampleTime()); code(err) != "SignatureDoesNotMatch" {
			t.Errorf("%s changed: got %v", name, err)
		}
	}
	t.Run("content-length that is not sent", func(t *testing.T) {
		r := sigv4.Request{Method: http.MethodGet, Path: "/b/k", Host: "s3.test", Header: fields("content-length", "0")}
		handSign(&r, []string{"content-length"}, noBytes)
		remove(&r, "content-length")
		if _, err := verify(&r, keys().SecretAccessKey, exampleTime()); err != nil {
			t.Error(err)
		}
	})
	t.Run("a header that is not there", func(t *testing.T) {
		r := sigv4.Request{Method: http.MethodGet, Path: "/b/k", Host: "s3.test"}
		handSign(&r, []string{"content-type"}, noBytes)
		if _, err := verify(&r, keys().SecretAccessKey, exampleTime()); err != nil {
			t.Error(err)
		}
	})
}

func TestPayload(t *testing.T) {
	tests := []struct {
		name   string
		header []laketap.Field
		want   sigv4.Payload
	}{
		{"empty", fields("x-amz-content-sha256", noBytes), sigv4.Payload{Hash: noBytes, Length: -1}},
		{"upper case", fields("x-amz-content-sha256", strings.ToUpper(noBytes), "content-length", "0"), sigv4.Payload{Hash: noBytes}},
		{"unsigned", fields("x-amz-content-sha256", "UNSIGNED-PAYLOAD", "content-length", "7"), sigv4.Payload{Mode: sigv4.Unsigned, Length: 7}},
		{
			"streaming", fields("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "content-length", "300", "X-Amz-Decoded-Content-Length", "7"),
			sigv4.Payload{Mode: sigv4.StreamingSigned, Length: 7},
		},
		{
			"signed trailer", fields("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", "X-Amz-Decoded-Content-Length", "7",
				"x-amz-trailer", "X-Amz-Checksum-Crc32"),
			sigv4.Payload{Mode: sigv4.StreamingSignedTrailer, Length: 7, Trailers: []string{"x-amz-checksum-crc32"}},
		},
		{
			"unsigned trailer", fields("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "X-Amz-Decoded-Content-Length", "7",
				"x-amz-trailer", "x-amz-checksum-crc64nvme , x-amz-checksum-sha1"),
			sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Length: 7, Trailers: []string{"x-amz-checksum-crc64nvme", "x-amz-checksum-sha1"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := sigv4.Request{Method: "PUT", Path: "/b/k", Header: append(tt.header, laketap.Field{Name: "x-amz-date", Value: exampleDate},
				authorization(exampleScope, "host", strings.Repeat("0", 64)))}
			a, err := sigv4.Parse(&r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, a.Payload); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A caller that found no secret lets nobody in.
func TestNoSecretVerifiesNothing(t *testing.T) {
	r := signedPut(t)
	if _, err := verify(&r, "", exampleTime()); code(err) != "SignatureDoesNotMatch" {
		t.Errorf("got %v", err)
	}
}

// S3 tells more than a code where a client can use it.
func TestRefusalsTellDetails(t *testing.T) {
	tests := []struct {
		name   string
		change func(*sigv4.Request)
		now    time.Time
		want   []laketap.Field
	}{
		{"region", edit("us-east-1", "us-west-1"), exampleTime(), fields("Region", "us-east-1")},
		{
			"headers", func(r *sigv4.Request) { set(r, "X-Amz-Copy-Source", "a/b"); set(r, "x-amz-tagging", "c") }, exampleTime(),
			fields("HeadersNotSigned", "x-amz-copy-source, x-amz-tagging"),
		},
		{
			"mechanism", func(r *sigv4.Request) { set(r, "Authorization", "Bearer token") }, exampleTime(),
			fields("ArgumentName", "Authorization", "ArgumentValue", "Bearer"),
		},
		{
			"hash", func(r *sigv4.Request) { set(r, "X-Amz-Content-Sha256", "x") }, exampleTime(),
			fields("ArgumentName", "x-amz-content-sha256", "ArgumentValue", "x"),
		},
		{
			"clock", func(*sigv4.Request) {}, exampleTime().Add(time.Hour),
			fields("RequestTime", exampleDate, "ServerTime", "2013-05-24T01:00:00Z", "MaxAllowedSkewMilliseconds", "900000"),
		},
		{"signature", func(r *sigv4.Request) { r.Path = "/x" }, exampleTime(), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := signedPut(t)
			tt.change(&r)
			_, err := verify(&r, keys().SecretAccessKey, tt.now)
			e, ok := errors.AsType[*sigv4.Error](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(tt.want, e.Detail); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
