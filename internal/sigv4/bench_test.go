package sigv4_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

func BenchmarkParseVerify(b *testing.B) {
	run := func(r sigv4.Request) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a, err := sigv4.Parse(&r)
				if err == nil {
					err = a.Verify(&r, keys().SecretAccessKey, "us-east-1", exampleTime())
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	signed := func(url string, token int) sigv4.Request {
		req := newRequest(b, http.MethodGet, url, nil)
		req.Header.Set("Range", "bytes=4-131071")
		req.Header.Set("User-Agent", "aws-sdk-cpp/1.11 os/Linux")
		c := keys()
		c.SessionToken = strings.Repeat("t", token)
		if err := sigv4.Sign(req, c, sigv4.Payload{}, "us-east-1", exampleTime(), nil); err != nil {
			b.Fatal(err)
		}
		return received(req)
	}
	const key = "http://s3.test:9191/lake/warehouse/tpch/lineitem/data/l_shipdate_month%3D1995-03/00000-0-4a6a1c70-8f43-4b5e.parquet"
	b.Run("get", run(signed(key, 0)))
	b.Run("get with a token of 1 KiB", run(signed(key, 1<<10)))
	b.Run("get with a token of 4 KiB", run(signed(key, 4<<10)))
	b.Run("list", run(signed("http://s3.test:9191/lake?list-type=2&prefix=warehouse%2Ftpch%2F&delimiter=%2F&max-keys=1000", 0)))
}

func BenchmarkBody(b *testing.B) {
	object := randomBytes(1 << 20)
	for name, p := range modes(object) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			r, wire := upload(b, object, p, crc32Trailer(object))
			a := parse(b, &r)
			buf := make([]byte, 64<<10)
			b.SetBytes(int64(len(object)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, a.Body(bytes.NewReader(wire), keys().SecretAccessKey), buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSign(b *testing.B) {
	req := newRequest(b, http.MethodGet, "http://s3.test/lake/warehouse/a.parquet", nil)
	b.ReportAllocs()
	for b.Loop() {
		if err := sigv4.Sign(req, keys(), sigv4.Payload{}, "us-east-1", exampleTime(), func() []laketap.Field { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
