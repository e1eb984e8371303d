package e2e_test

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/s3"
)

const (
	gib       = 1 << 30
	maxGrowth = 64 << 20 // bytes of resident memory that a body of any size may cost
)

// noise is an endless body that compresses badly and can be made again.
type noise struct{ source *rand.ChaCha8 }

func newNoise() *noise { return &noise{rand.NewChaCha8([32]byte{1})} }

func (n *noise) Read(p []byte) (int, error) { return n.source.Read(p) }

// chunked frames a body as the AWS SDKs do that cannot know its checksum
// before they have sent it: in chunks, with the checksum behind them.
func chunked(body io.Reader, size int64) (framed io.Reader, length int64) {
	const chunk = 1 << 20
	r, w := io.Pipe()
	go func() {
		sum := crc32.NewIEEE()
		buf := make([]byte, chunk)
		for left := size; left > 0; left -= chunk {
			part := buf[:min(chunk, left)]
			if _, err := io.ReadFull(body, part); err != nil {
				w.CloseWithError(err)
				return
			}
			sum.Write(part)
			if _, err := fmt.Fprintf(w, "%x\r\n%s\r\n", len(part), part); err != nil {
				return // the reader has gone
			}
		}
		checksum := binary.BigEndian.AppendUint32(nil, sum.Sum32())
		_, err := fmt.Fprintf(w, "0\r\nx-amz-checksum-crc32:%s\r\n\r\n", base64.StdEncoding.EncodeToString(checksum))
		w.CloseWithError(err)
	}()
	for left := size; left > 0; left -= chunk {
		length += int64(len(fmt.Sprintf("%x", min(chunk, left)))) + 4 + min(chunk, left)
	}
	return r, length + int64(len("0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"))
}

// watch samples the memory of a process until stop is called, which returns
// by how many bytes it has grown at most.
func watch(t *testing.T, p *process.Process) (stop func() int64) {
	t.Helper()
	before, err := p.RSS()
	if err != nil {
		t.Fatal(err)
	}
	ended, most := make(chan struct{}), make(chan int64)
	go func() {
		top := before
		tick := time.NewTicker(25 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				most <- top - before
				return
			case <-tick.C:
				if rss, err := p.RSS(); err == nil {
					top = max(top, rss)
				}
			}
		}
	}()
	return func() int64 {
		close(ended)
		return <-most
	}
}

// Bodies stream both ways: a gibibyte costs no more memory than a megabyte.
func TestGibibyteInBoundedMemory(t *testing.T) {
	l := lake.Start(t)
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	catalog.Client{URI: l.Catalog}.Create(t, "g", "t", "")
	table := catalog.Client{URI: server.Catalog}.Load(t, "g", "t")
	client, target := table.Client(), table.Path()+"/data/large"
	if got, err := client.Do(t.Context(), s3.Request{Method: http.MethodPut, Target: target, Text: "warm"}); err != nil || got.Status != http.StatusOK {
		t.Fatalf("put: %v %v", got, err)
	}

	body, length := chunked(newNoise(), gib)
	stop := watch(t, server.Process)
	got, err := client.Do(t.Context(), s3.Request{
		Method: http.MethodPut, Target: target, Body: body, Length: length, Hash: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
		Header: map[string]string{
			"Content-Encoding": "aws-chunked", "X-Amz-Decoded-Content-Length": strconv.Itoa(gib), "X-Amz-Trailer": "x-amz-checksum-crc32",
		},
	})
	grown := stop()
	if err != nil || got.Status != http.StatusOK {
		t.Fatalf("upload: %v %v", got, err)
	}
	t.Logf("upload: %d MiB more", grown>>20)
	if grown > maxGrowth {
		t.Errorf("upload: memory grew by %d MiB, at most %d", grown>>20, maxGrowth>>20)
	}

	stop = watch(t, server.Process)
	resp, err := client.Open(t.Context(), s3.Request{Target: target})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	err = same(resp.Body, newNoise(), gib)
	grown = stop()
	if err != nil || resp.StatusCode != http.StatusOK || resp.ContentLength != gib {
		t.Fatalf("download: %s, %d bytes announced: %v", resp.Status, resp.ContentLength, err)
	}
	t.Logf("download: %d MiB more", grown>>20)
	if grown > maxGrowth {
		t.Errorf("download: memory grew by %d MiB, at most %d", grown>>20, maxGrowth>>20)
	}
}

// same reads a body to its end and compares it with what it should be.
func same(got, want io.Reader, size int64) error {
	a, b := make([]byte, 1<<20), make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(a)) {
		if _, err := io.ReadFull(got, a); err != nil {
			return fmt.Errorf("body ends after %d bytes: %w", at, err)
		}
		if _, err := io.ReadFull(want, b); err != nil {
			return err
		}
		if string(a) != string(b) {
			return fmt.Errorf("body differs within the mebibyte at %d", at)
		}
	}
	if n, err := io.Copy(io.Discard, got); n != 0 || err != nil {
		return fmt.Errorf("%d bytes too many: %w", n, err)
	}
	return nil
}
