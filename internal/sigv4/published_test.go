package sigv4_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// The examples that AWS publishes for S3: one key pair, one moment.
const (
	exampleID     = "AKIAIOSFODNN7EXAMPLE"
	exampleSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	exampleScope  = exampleID + "/20130524/us-east-1/s3/aws4_request"
	exampleDate   = "20130524T000000Z"
	noBytes       = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

func exampleTime() time.Time { return time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC) }

func fields(pairs ...string) []laketap.Field {
	var out []laketap.Field
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, laketap.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func authorization(scope, names, signature string) laketap.Field {
	return laketap.Field{
		Name:  "Authorization",
		Value: "AWS4-HMAC-SHA256 Credential=" + scope + ",SignedHeaders=" + names + ",Signature=" + signature,
	}
}

func TestPublishedHeaders(t *testing.T) {
	tests := []struct {
		name      string
		req       sigv4.Request
		signed    string
		signature string
	}{
		{
			"get object",
			sigv4.Request{Method: "GET", Path: "/test.txt", Host: "examplebucket.s3.amazonaws.com", Header: fields(
				"Range", "bytes=0-9", "x-amz-content-sha256", noBytes, "x-amz-date", exampleDate)},
			"host;range;x-amz-content-sha256;x-amz-date", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
		},
		{
			"put object",
			sigv4.Request{Method: "PUT", Path: "/test%24file.text", Host: "examplebucket.s3.amazonaws.com", Header: fields(
				"Date", "Fri, 24 May 2013 00:00:00 GMT", "x-amz-date", exampleDate, "x-amz-storage-class", "REDUCED_REDUNDANCY",
				"x-amz-content-sha256", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")},
			"date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
		},
		{
			"get lifecycle",
			sigv4.Request{Method: "GET", Path: "/", Query: "lifecycle", Host: "examplebucket.s3.amazonaws.com", Header: fields(
				"x-amz-date", exampleDate, "x-amz-content-sha256", noBytes)},
			"host;x-amz-content-sha256;x-amz-date", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
		},
		{
			"list",
			sigv4.Request{Method: "GET", Path: "/", Query: "prefix=J&max-keys=2", Host: "examplebucket.s3.amazonaws.com", Header: fields(
				"x-amz-date", exampleDate, "x-amz-content-sha256", noBytes)},
			"host;x-amz-content-sha256;x-amz-date", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Header = append(tt.req.Header, authorization(exampleScope, tt.signed, tt.signature))
			a, err := sigv4.Parse(&tt.req)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Verify(&tt.req, exampleSecret, "us-east-1", exampleTime()); err != nil {
				t.Error(err)
			}
			if err := a.Verify(&tt.req, exampleSecret+"x", "us-east-1", exampleTime()); code(err) != "SignatureDoesNotMatch" {
				t.Errorf("another secret: got %v", err)
			}
		})
	}
}

func TestPublishedPresigned(t *testing.T) {
	r := sigv4.Request{
		Method: "GET", Path: "/test.txt", Host: "examplebucket.s3.amazonaws.com",
		Query: "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + strings.ReplaceAll(exampleScope, "/", "%2F") +
			"&X-Amz-Date=" + exampleDate + "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host" +
			"&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
	}
	a, err := sigv4.Parse(&r)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{{0, ""}, {24 * time.Hour, ""}, {24*time.Hour + time.Second, "AccessDenied"}, {-14 * time.Minute, ""}, {-16 * time.Minute, "AccessDenied"}} {
		if err := a.Verify(&r, exampleSecret, "us-east-1", exampleTime().Add(tt.after)); code(err) != tt.want {
			t.Errorf("%v after: got %v, want %q", tt.after, err, tt.want)
		}
	}
}

// chunkedExample is the published upload of 66560 times 'a' in three chunks.
func chunkedExample() (sigv4.Request, string) {
	r := sigv4.Request{Method: "PUT", Path: "/examplebucket/chunkObject.txt", Host: "s3.amazonaws.com", Header: fields(
		"x-amz-date", exampleDate, "x-amz-storage-class", "REDUCED_REDUNDANCY",
		"x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "Content-Encoding", "aws-chunked",
		"x-amz-decoded-content-length", "66560", "Content-Length", "66824")}
	r.Header = append(r.Header, authorization(exampleScope,
		"content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class",
		"4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"))
	body := "10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n" + strings.Repeat("a", 65536) + "\r\n" +
		"400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n" + strings.Repeat("a", 1024) + "\r\n" +
		"0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n"
	return r, body
}

// trailerExample is the same with a trailing checksum.
func trailerExample() (sigv4.Request, string) {
	r := sigv4.Request{Method: "PUT", Path: "/examplebucket/chunkObject.txt", Host: "s3.amazonaws.com", Header: fields(
		"x-amz-date", exampleDate, "x-amz-storage-class", "REDUCED_REDUNDANCY",
		"x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", "Content-Encoding", "aws-chunked",
		"x-amz-decoded-content-length", "66560", "x-amz-trailer", "x-amz-checksum-crc32c", "Content-Length", "66946")}
	r.Header = append(r.Header, authorization(exampleScope,
		"content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class;x-amz-trailer",
		"106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"))
	body := "10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n" + strings.Repeat("a", 65536) + "\r\n" +
		"400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n" + strings.Repeat("a", 1024) + "\r\n" +
		"0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n" +
		"x-amz-checksum-crc32c:sOO8/Q==\n\r\n" +
		"x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n"
	return r, body
}

func TestPublishedChunks(t *testing.T) {
	for name, example := range map[string]func() (sigv4.Request, string){"signed": chunkedExample, "trailer": trailerExample} {
		t.Run(name, func(t *testing.T) {
			r, body := example()
			a, err := sigv4.Parse(&r)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Verify(&r, exampleSecret, "us-east-1", exampleTime()); err != nil {
				t.Fatal(err)
			}
			reader := a.Body(strings.NewReader(body), exampleSecret)
			got, err := io.ReadAll(reader)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, bytes.Repeat([]byte("a"), 66560)) {
				t.Errorf("got %d other bytes", len(got))
			}
			want := 0
			if name == "trailer" {
				want = 1
			}
			if trailer := reader.Trailer(); len(trailer) != want {
				t.Errorf("trailer: got %v", trailer)
			}
		})
	}
}
