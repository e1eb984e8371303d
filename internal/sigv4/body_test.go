package sigv4_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

func crc32Trailer(object []byte) []laketap.Field {
	sum := crc32.ChecksumIEEE(object)
	return fields("x-amz-checksum-crc32", base64.StdEncoding.EncodeToString([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}))
}

// modes returns a payload of each mode for an object.
func modes(object []byte) map[string]sigv4.Payload {
	sum := sha256.Sum256(object)
	n := int64(len(object))
	crc := []string{"x-amz-checksum-crc32"}
	return map[string]sigv4.Payload{
		"signed":                   {Mode: sigv4.Signed, Hash: hex.EncodeToString(sum[:]), Length: n},
		"unsigned":                 {Mode: sigv4.Unsigned, Length: n},
		"streaming signed":         {Mode: sigv4.StreamingSigned, Length: n},
		"streaming signed trailer": {Mode: sigv4.StreamingSignedTrailer, Length: n, Trailers: crc},
		"streaming unsigned trailer": {
			Mode: sigv4.StreamingUnsignedTrailer, Length: n, Trailers: crc,
		},
		"streaming signed without a trailer":   {Mode: sigv4.StreamingSignedTrailer, Length: n},
		"streaming unsigned without a trailer": {Mode: sigv4.StreamingUnsignedTrailer, Length: n},
	}
}

func randomBytes(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(out)
	return out
}

// What Sign frames, Body unframes: any mode, any size, any way of reading.
func TestRoundTrip(t *testing.T) {
	const frame = 64 << 10
	for _, size := range []int{0, 1, 2, 4095, 4096, 4097, frame - 1, frame, frame + 1, 2*frame + 5000, 5 * frame} {
		object := randomBytes(size)
		for name, p := range modes(object) {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				r, wire := upload(t, object, p, crc32Trailer(object))
				a, err := verify(&r, keys().SecretAccessKey, exampleTime())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(p, a.Payload); size > 0 && diff != "" { // a GET-like request has no length
					t.Errorf("payload (-want +got)\n%s", diff)
				}
				for way, wrap := range ways {
					reader := a.Body(wrap(bytes.NewReader(wire)), keys().SecretAccessKey)
					got, err := io.ReadAll(reader)
					if err != nil || !bytes.Equal(got, object) {
						t.Fatalf("%s: got %d bytes, %v", way, len(got), err)
					}
					var want []laketap.Field
					if p.Trailers != nil {
						want = crc32Trailer(object)
					}
					if diff := cmp.Diff(want, reader.Trailer()); diff != "" {
						t.Errorf("trailer (-want +got)\n%s", diff)
					}
				}
			})
		}
	}
}

// ways to hand a body over; readers may do all of these.
var ways = map[string]func(io.Reader) io.Reader{
	"at once":        func(r io.Reader) io.Reader { return r },
	"data with end":  iotest.DataErrReader,
	"half":           iotest.HalfReader,
	"in odd amounts": func(r io.Reader) io.Reader { return &oddReader{r, rand.New(rand.NewPCG(1, 2))} },
}

type oddReader struct {
	r    io.Reader
	rand *rand.Rand
}

func (o *oddReader) Read(p []byte) (int, error) {
	return o.r.Read(p[:min(len(p), 1+o.rand.IntN(9000))])
}

// However small the buffer, the bytes are the same.
func TestSmallReads(t *testing.T) {
	object := randomBytes(300)
	for name, p := range modes(object) {
		r, wire := upload(t, object, p, crc32Trailer(object))
		for _, size := range []int{1, 2, 3, 299, 300, 301} {
			for _, wrap := range ways {
				a := parse(t, &r)
				got, err := readBy(a.Body(wrap(bytes.NewReader(wire)), keys().SecretAccessKey), size)
				if err != nil || !bytes.Equal(got, object) {
					t.Errorf("%s by %d: got %d bytes, %v", name, size, len(got), err)
				}
			}
		}
	}
}

func parse(t testing.TB, r *sigv4.Request) *sigv4.Auth {
	t.Helper()
	a, err := sigv4.Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func readBy(r io.Reader, size int) (out []byte, err error) {
	buf := make([]byte, size)
	for {
		n, err := r.Read(buf)
		out = append(out, buf[:n]...)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

// A body that is cut, changed or prolonged at any byte never ends well and
// never gives out the whole object.
func TestDamagedAtEveryByte(t *testing.T) {
	object := []byte("the object's own bytes")
	for name, p := range modes(object) {
		t.Run(name, func(t *testing.T) {
			r, wire := upload(t, object, p, crc32Trailer(object))
			a := parse(t, &r)
			check := func(what string, at int, body []byte) {
				t.Helper()
				for _, size := range []int{1, 7, 512} {
					got, err := readBy(a.Body(bytes.NewReader(body), keys().SecretAccessKey), size)
					if _, ok := errors.AsType[*sigv4.Error](err); !ok {
						t.Errorf("%s at %d: got %v", what, at, err)
					}
					if len(got) >= len(object) {
						t.Errorf("%s at %d: gave out %d bytes", what, at, len(got))
					}
				}
			}
			for i := range wire {
				check("cut", i, wire[:i])
				if !bytes.HasSuffix(wire[:i+1], []byte("\r\n0")) { // a size may have zeros before it
					check("doubled", i, bytes.Join([][]byte{wire[:i+1], wire[i:]}, nil))
				}
				if p.Mode == sigv4.Unsigned {
					continue // nothing tells of a changed byte
				}
				if p.Mode == sigv4.StreamingUnsignedTrailer && p.Trailers == nil && isObject(wire, object, i) {
					continue
				}
				changed := bytes.Clone(wire)
				changed[i] ^= 1
				if !strings.EqualFold(string(changed), string(wire)) { // hex has two spellings
					check("changed", i, changed)
				}
			}
			check("prolonged", len(wire), append(bytes.Clone(wire), 'x'))
		})
	}
}

func isObject(wire, object []byte, i int) bool {
	at := bytes.Index(wire, object)
	return i >= at && i < at+len(object)
}

// A source that fails hands on its own error.
func TestSourceFails(t *testing.T) {
	object := randomBytes(10000)
	broken := errors.New("connection reset")
	for name, p := range modes(object) {
		r, wire := upload(t, object, p, crc32Trailer(object))
		for _, at := range []int{0, 1, 50, 5000, len(wire) - 1} {
			a := parse(t, &r)
			src := io.MultiReader(bytes.NewReader(wire[:at]), iotest.ErrReader(broken))
			got, err := io.ReadAll(a.Body(src, keys().SecretAccessKey))
			if !errors.Is(err, broken) || len(got) >= len(object) {
				t.Errorf("%s at %d: got %d bytes, %v", name, at, len(got), err)
			}
			src = io.MultiReader(bytes.NewReader(wire[:at]), iotest.ErrReader(io.ErrUnexpectedEOF))
			if _, err = io.ReadAll(a.Body(src, keys().SecretAccessKey)); code(err) != "IncompleteBody" {
				t.Errorf("%s cut at %d: got %v", name, at, err)
			}
		}
	}
}

func TestNoBody(t *testing.T) {
	r := signedPut(t)
	if got, err := io.ReadAll(parse(t, &r).Body(nil, keys().SecretAccessKey)); err != nil || len(got) != 0 {
		t.Errorf("got %q, %v", got, err)
	}
}

// unsignedRequest is an upload in unsigned chunks of an object of n bytes.
func unsignedRequest(n, trailer string) sigv4.Request {
	r := sigv4.Request{Method: "PUT", Path: "/b/k", Host: "s3.test", Header: fields(
		"x-amz-date", exampleDate, "x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-decoded-content-length", n)}
	if trailer != "" {
		r.Header = append(r.Header, laketap.Field{Name: "x-amz-trailer", Value: trailer})
	}
	r.Header = append(r.Header, authorization(exampleScope, "host", strings.Repeat("0", 64)))
	return r
}

func TestUnsignedChunks(t *testing.T) {
	const nvme = "x-amz-checksum-crc64nvme"
	const cut, wrongLength, tail = "The request body terminated", "You did not provide", "trailing data"
	chunks := func(sizes ...int) string {
		var b strings.Builder
		for _, n := range sizes {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", n, strings.Repeat("a", n))
		}
		return b.String() + "0\r\n\r\n"
	}
	tests := []struct {
		name, length, trailer, body, want string
	}{
		{"one chunk", "5", "", "5\r\nhello\r\n0\r\n\r\n", ""},
		{"with checksum", "5", nvme, "5\r\nhello\r\n0\r\nx-amz-checksum-crc64nvme:M3eFcAZSQlc=\r\n\r\n", ""},
		{"odd spelling of it", "5", nvme, "05\r\nhello\r\n000\r\nX-Amz-Checksum-CRC64NVME: M3eFcAZSQlc= \r\n\r\n", ""},
		{"ended as documented", "5", nvme, "5\r\nhello\r\n0\r\nx-amz-checksum-crc64nvme:M3eFcAZSQlc=\n\r\n\r\n", ""},
		{"crc32", "7", "x-amz-checksum-crc32", "7\r\nabcdefg\r\n0\r\nx-amz-checksum-crc32:MSpqpg==\r\n\r\n", ""},
		{"crc32c", "7", "x-amz-checksum-crc32c", "7\r\nabcdefg\r\n0\r\nx-amz-checksum-crc32c:5if0QQ==\r\n\r\n", ""},
		{"sha1", "7", "x-amz-checksum-sha1", "7\r\nabcdefg\r\n0\r\nx-amz-checksum-sha1:L7XhNBn8iSRoZeejJPR27GJOh0A=\r\n\r\n", ""},
		{"sha256", "7", "x-amz-checksum-sha256", "7\r\nabcdefg\r\n0\r\nx-amz-checksum-sha256:fRpUEnsiJQL1t5tfsIAwYRUqRPkrN+I8ZSe69mXU2po=\r\n\r\n", ""},
		{"md5", "7", "x-amz-checksum-md5", "7\r\nabcdefg\r\n0\r\nx-amz-checksum-md5:esZsDxSN6VGbi9JkMSxNZA==\r\n\r\n", ""},
		{"xxhash64 is the store's to check", "7", "x-amz-checksum-xxhash64", "7\r\nabcdefg\r\n0\r\nx-amz-checksum-xxhash64:GGCUDikCgi0=\r\n\r\n", ""},
		{"large chunks, then a small one", "10020", "", chunks(10000, 20), ""},
		{"upper-case size", "10", "", "A\r\ndummy data\r\n0\r\n\r\n", ""},

		{"checksum announced and missing", "5", nvme, "5\r\nhello\r\n0\r\n\r\n", tail},
		{"checksum not announced", "5", "", "5\r\nhello\r\n0\r\nx-amz-checksum-crc64nvme:M3eFcAZSQlc=\r\n\r\n", tail},
		{"another checksum", "5", nvme, "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n", tail},
		{"empty name", "5", nvme, "5\r\nhello\r\n0\r\n:M3eFcAZSQlc=\r\n\r\n", tail},
		{"two checksums", "5", nvme, "5\r\nhello\r\n0\r\nx-amz-checksum-crc64nvme:M3eFcAZSQlc=\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n", tail},
		{"malformed checksum", "5", nvme, "5\r\nhello\r\n0\r\nx-amz-checksum-crc64nvme:invalid\r\n\r\n", "Value for x-amz-checksum-crc64nvme trailing header is invalid."},
		{"checksum of another length", "5", nvme, "5\r\nhello\r\n0\r\nx-amz-checksum-crc64nvme:NhCmhg==\r\n\r\n", "Value for"},
		{"wrong checksum", "5", nvme, "5\r\nhello\r\n0\r\nx-amz-checksum-crc64nvme:QFRKMGE3tuw=\r\n\r\n", "The CRC64NVME you specified did not match"},

		{"bare line feed", "10", "", "A\ndummy data\r\n0\r\n\r\n", cut},
		{"bare carriage return", "10", "", "A\r\r\ndummy data\r\n0\r\n\r\n", cut},
		{"no end of chunk", "10", "", "A\r\ndummy data0\r\n\r\n", cut},
		{"size is no number", "10", "", "XYZ\r\ndummy data\r\n0\r\n\r\n", cut},
		{"size with a sign", "10", "", "+A\r\ndummy data\r\n0\r\n\r\n", cut},
		{"negative size", "10", "", "-A\r\ndummy data\r\n0\r\n\r\n", cut},
		{"size with a prefix", "10", "", "0xA\r\ndummy data\r\n0\r\n\r\n", cut},
		{"size with space", "10", "", "A \r\ndummy data\r\n0\r\n\r\n", cut},
		{"no size", "10", "", "\r\ndummy data\r\n0\r\n\r\n", cut},
		{"size beyond 63 bits", "10", "", "8000000000000000\r\ndummy data\r\n0\r\n\r\n", cut},
		{"size of 17 digits", "10", "", "0000000000000000A\r\ndummy data\r\n0\r\n\r\n", cut},
		{"extension", "10", "", "A;x=y\r\ndummy data\r\n0\r\n\r\n", cut},
		{"endless size line", "10", "", strings.Repeat("0", 100000), cut},
		{"longer than it is", "10", "", "B\r\ndummy data\r\n0\r\n\r\n", cut},
		{"no last chunk", "10", "", "A\r\ndummy data\r\n", cut},
		{"no end", "10", "", "A\r\ndummy data\r\n0\r\n", cut},
		{"more behind the end", "10", "", "A\r\ndummy data\r\n0\r\n\r\n\r\n", cut},
		{"nothing", "10", "", "", cut},
		{"huge chunk that never comes", "9223372036854775807", "", "7fffffffffffffff\r\ndummy data", cut},
		{"object longer than declared", "5", "", "b\r\nabcdefghijk\r\n0\r\n\r\n", wrongLength},
		{"object shorter than declared", "200", "", "b\r\nabcdefghijk\r\n0\r\n\r\n", wrongLength},
		{"chunk behind the declared length", "3", "", "3\r\nabc\r\n2000\r\n" + strings.Repeat("a", 8192) + "\r\n0\r\n\r\n", "Only the last chunk"},
		{"small chunk, then another", "8292", "", chunks(100, 8192), "Only the last chunk"},
		{"small chunk in the middle", "8302", "", chunks(8192, 10, 100), "Only the last chunk"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := unsignedRequest(tt.length, tt.trailer)
			_, err := io.ReadAll(parse(t, &r).Body(strings.NewReader(tt.body), "secret"))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSignedChunksTampered(t *testing.T) {
	tests := []struct {
		name     string
		old, new string
		want     string
	}{
		{"nothing", "", "", ""},
		{"bytes of the second chunk", "\r\naaaa", "\r\naaab", "SignatureDoesNotMatch"},
		{"signature of the first", "b474d8", "c474d8", "SignatureDoesNotMatch"},
		{"signature of the last", "2ca2ab", "3ca2ab", "SignatureDoesNotMatch"},
		{"signature of the trailer", "d81f82", "e81f82", "SignatureDoesNotMatch"},
		{"checksum", "sOO8/Q==", "sOO8/A==", "SignatureDoesNotMatch"},
		{"checksum malformed", "sOO8/Q==", "sOO8", "InvalidRequest"},
		{"no trailer signature", "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n", "", "IncompleteBody"},
		{"short trailer signature", "d81f82", "", "IncompleteBody"},
		{"no chunk signature", ";chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992", "", "IncompleteBody"},
		{"short chunk signature", "2ca2ab", "", "IncompleteBody"},
		{"chunk signature not hex", "2ca2ab", "zca2ab", "IncompleteBody"},
		{"second extension", "2ca2ab", "2ca2ab;x=y", "IncompleteBody"},
		{"checksum not announced", "x-amz-trailer-signature", "x-amz-checksum-crc32", "MalformedTrailerError"},
		{"another name", "x-amz-checksum-crc32c:", "x-amz-checksum-crc32:", "MalformedTrailerError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, body := trailerExample()
			body = strings.Replace(body, tt.old, tt.new, 1)
			got, err := io.ReadAll(parse(t, &r).Body(strings.NewReader(body), exampleSecret))
			if code(err) != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && len(got) >= 66560 {
				t.Error("gave out the whole object")
			}
		})
	}
	t.Run("chunks swapped for those of another request", func(t *testing.T) {
		r, _ := trailerExample()
		_, body := chunkedExample()
		if _, err := io.ReadAll(parse(t, &r).Body(strings.NewReader(body), exampleSecret)); code(err) != "SignatureDoesNotMatch" {
			t.Errorf("got %v", err)
		}
	})
}

// A claimed size costs nothing: memory does not follow it.
func TestHugeChunkIsStreamed(t *testing.T) {
	const size = 64 << 20
	r := unsignedRequest(strconv.Itoa(size), "")
	src := io.MultiReader(strings.NewReader(fmt.Sprintf("%x\r\n", size)), io.LimitReader(zeros{}, size), strings.NewReader("\r\n0\r\n\r\n"))
	body := parse(t, &r).Body(src, "secret")
	buf := make([]byte, 64<<10)
	allocated := testing.AllocsPerRun(1, func() {
		for range 100 {
			if _, err := body.Read(buf); err != nil {
				t.Fatal(err)
			}
		}
	})
	if allocated > 1 {
		t.Errorf("100 reads of a chunk: %v allocations", allocated)
	}
	if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{body}, buf); err != nil {
		t.Errorf("after %d bytes: %v", n, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
