package observe_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
)

// through reads a range of an object past glimpses, in steps, and stops after
// so many bytes.
func through(t rapid.TB, g *observe.Glimpses, object laketap.Object, all []byte, r laketap.Range, stop int64, step int) []byte {
	t.Helper()
	got := r.Resolve(object.Size)
	reply := &laketap.Reply{Status: 206, Object: object, Length: got.Len}
	if !r.Set {
		reply.Status = 200
	}
	reply.Body.Stream = io.NopCloser(bytes.NewReader(all[got.Off : got.Off+got.Len]))
	g.Watch(laketap.Get{Name: object.ObjectName, Range: r}, reply)
	var out bytes.Buffer
	buf := make([]byte, step)
	for int64(out.Len()) < stop {
		n, err := reply.Body.Stream.Read(buf)
		out.Write(buf[:n])
		if err != nil {
			break
		}
	}
	if err := reply.Body.Stream.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Who reads past glimpses gets the bytes of the store, and what glimpses hold
// are those bytes too.
func TestGlimpsesHoldWhatPassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(1, 3000).Draw(t, "size")
		all := make([]byte, size)
		random := rand.New(rand.NewPCG(1, uint64(size))) //nolint:gosec // a test's
		for i := range all {
			all[i] = byte(random.Uint32())
		}
		g := observe.NewGlimpses()
		key := rapid.SampledFrom([]string{"a.parquet", "a.avro"}).Draw(t, "key")
		object := laketap.Object{ObjectName: laketap.ObjectName{Origin: "main", Bucket: "b", Key: key}, ETag: `"1"`, Size: size}
		for range rapid.IntRange(1, 8).Draw(t, "reads") {
			from := rapid.Int64Range(0, size-1).Draw(t, "from")
			r := rapid.SampledFrom([]laketap.Range{
				{}, {Set: true, From: from, To: -1}, {Set: true, Suffix: size - from}, {Set: true, From: from, To: min(size-1, from+300)},
			}).Draw(t, "range")
			got := r.Resolve(size)
			stop := rapid.OneOf(rapid.Just(got.Len), rapid.Int64Range(0, got.Len)).Draw(t, "stop")
			read := through(t, g, object, all, r, stop, rapid.IntRange(1, 700).Draw(t, "step"))
			if !bytes.Equal(read, all[got.Off:got.Off+int64(len(read))]) {
				t.Fatal("the reader got other bytes")
			}
			if tail := got.Off+got.Len == size; tail && int64(len(read)) == got.Len && key == "a.parquet" {
				if b, o, ok := g.Held(object.ObjectName, got.Off, got.Len); !ok || o != object || !bytes.Equal(b, all[got.Off:]) {
					t.Fatalf("what has just passed is not held: %d bytes at %d", got.Len, got.Off)
				}
			}
		}
		off := rapid.Int64Range(0, size).Draw(t, "held from")
		n := rapid.Int64Range(-1, size-off).Draw(t, "held")
		if b, _, ok := g.Held(object.ObjectName, off, n); ok {
			if n < 0 {
				n = size - off
			}
			if !bytes.Equal(b, all[off:off+n]) {
				t.Fatalf("holds other bytes at %d", off)
			}
		}
	})
}

// A new version leaves nothing of the old one, and memory is bounded.
func TestGlimpsesForget(t *testing.T) {
	g := observe.NewGlimpses()
	name := laketap.ObjectName{Origin: "main", Bucket: "b", Key: "a.parquet"}
	old, fresh := []byte("old bytes"), []byte("new bytes")
	through(t, g, laketap.Object{ObjectName: name, ETag: `"1"`, Size: 9}, old, laketap.Range{}, 9, 4)
	through(t, g, laketap.Object{ObjectName: name, ETag: `"2"`, Size: 9}, fresh, laketap.Range{Set: true, Suffix: 5}, 5, 4)
	if _, _, ok := g.Held(name, 0, 9); ok {
		t.Error("holds what is of two versions")
	}
	if b, o, ok := g.Held(name, 4, 5); !ok || o.ETag != `"2"` || string(b) != "bytes" {
		t.Errorf("holds %q of %s, %v", b, o.ETag, ok)
	}
	big := make([]byte, 1<<20)
	first := name
	for i := range 100 {
		name.Key = string(rune('a'+i%26)) + string(rune('a'+i/26)) + ".parquet"
		through(t, g, laketap.Object{ObjectName: name, Size: 1 << 20}, big, laketap.Range{}, 1<<20, 1<<16)
	}
	if _, _, ok := g.Held(first, 4, 5); ok {
		t.Error("nothing is forgotten")
	}
	if _, _, ok := g.Held(name, 0, -1); !ok {
		t.Error("the latest is forgotten")
	}
}

// What does not tell of other bytes is left alone.
func TestGlimpsesLeaveAlone(t *testing.T) {
	g := observe.NewGlimpses()
	name := laketap.ObjectName{Bucket: "b", Key: "a.parquet"}
	body := laketap.Body{Stream: io.NopCloser(bytes.NewReader([]byte("0123456789")))}
	for what, c := range map[string]struct {
		get   laketap.Get
		reply laketap.Reply
	}{
		"an error":          {laketap.Get{}, laketap.Reply{Status: 404, Length: 10, Object: laketap.Object{Size: 10}}},
		"a head":            {laketap.Get{Head: true}, laketap.Reply{Status: 200, Length: 10, Object: laketap.Object{Size: 10}}},
		"an unknown size":   {laketap.Get{}, laketap.Reply{Status: 200, Length: 10, Object: laketap.Object{Size: -1}}},
		"the middle":        {laketap.Get{Range: laketap.Range{Set: true, From: 2, To: 11}}, laketap.Reply{Status: 206, Length: 10, Object: laketap.Object{Size: 100}}},
		"an unlikely reply": {laketap.Get{Range: laketap.Range{Set: true, From: 2, To: 5}}, laketap.Reply{Status: 206, Length: 10, Object: laketap.Object{Size: 6}}},
	} {
		c.get.Name, c.reply.Body = name, body
		g.Watch(c.get, &c.reply)
		if c.reply.Body.Stream != body.Stream {
			t.Errorf("%s is watched", what)
		}
	}
	nothing := laketap.Reply{Status: 200, Object: laketap.Object{Size: 3}}
	g.Watch(laketap.Get{Name: name}, &nothing)
	if nothing.Body.Stream != nil {
		t.Error("a reply without a stream got one")
	}
}

// However many replies are read at once, so much of them is copied and no more;
// replies that broke off give their room back.
func TestGlimpsesOfManyAtOnce(t *testing.T) {
	g := observe.NewGlimpses()
	const size = 1 << 20
	var open []io.ReadCloser
	watch := func(n int) (watched int) {
		for i := range n {
			body := io.NopCloser(bytes.NewReader(make([]byte, size)))
			reply := &laketap.Reply{Status: 200, Length: size, Object: laketap.Object{Size: size}, Body: laketap.Body{Stream: body}}
			g.Watch(laketap.Get{Name: laketap.ObjectName{Key: string(rune('a'+i)) + ".parquet"}}, reply)
			if reply.Body.Stream != body {
				watched++
				open = append(open, reply.Body.Stream)
			}
		}
		return watched
	}
	if n := watch(100); n != 64 {
		t.Errorf("%d of 1 MiB are watched at once, want 64", n)
	}
	for _, stream := range open {
		if err := stream.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := watch(10); n != 10 {
		t.Errorf("%d are watched when the others have ended, want 10", n)
	}
}

// sampleFile reads one of the files that engines wrote for lake/parquet.
func sampleFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../lake/parquet/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
