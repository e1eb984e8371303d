package block_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/reuse/block"
)

// A machine drives a cache before an origin through everything that can
// happen to it, and holds every answer against what the origin has at that
// moment. Half of the keys are immutable by contract: they change only through
// us. The others change behind our back.
type machine struct {
	t       *rapid.T
	s       *origin
	d       *drive
	c       *block.Cache
	keys    []string
	faulty  bool // the origin breaks bodies off
	strange bool // the origin answers wrongly
	ends    []func()
}

// even keys are immutable by contract.
type evenKeys struct{ s *origin }

func (c evenKeys) Version(_ laketap.TableID, name laketap.ObjectName) (laketap.Object, bool) {
	if name.Key[len(name.Key)-1]%2 == 1 {
		return laketap.Object{}, false
	}
	return everything(c).Version(laketap.TableID{}, name)
}

func (m *machine) open() {
	c, err := block.OpenPieces(block.Options{
		Dir: "memory", Files: m.d, Contract: evenKeys{m.s}, MaxDisk: 256 << 10, MaxRAM: 64 << 10, MaxObjects: 6, MaxExtents: 40,
	}, 4<<10)
	if err != nil {
		m.t.Fatal(err)
	}
	m.c = c
}

func (m *machine) key() string { return rapid.SampledFrom(m.keys).Draw(m.t, "key") }

func (m *machine) put(key string) {
	m.s.put(key, bytesOf(rapid.IntRange(0, 255).Draw(m.t, "seed"), rapid.SampledFrom([]int{0, 1, 4095, 4096, 4097, 30_000}).Draw(m.t, "size")))
}

// get draws a read.
func (m *machine) get() laketap.Get {
	get := proven(m.key())
	get.Proven = rapid.IntRange(0, 4).Draw(m.t, "proven") > 0
	get.Head = rapid.IntRange(0, 7).Draw(m.t, "head") == 0
	from := int64(rapid.IntRange(0, 31_000).Draw(m.t, "from"))
	switch rapid.IntRange(0, 3).Draw(m.t, "range") {
	case 0:
		get.Range = laketap.Range{Set: true, From: from, To: from + int64(rapid.IntRange(0, 9000).Draw(m.t, "n"))}
	case 1:
		get.Range = laketap.Range{Set: true, From: from, To: -1}
	case 2:
		get.Range = laketap.Range{Set: true, Suffix: from + 1}
	}
	return get
}

// check holds an answer against what the origin itself would say.
func (m *machine) check(get laketap.Get, got outcome) {
	m.s.mu.Lock()
	truth := m.s.reply(get)
	m.s.mu.Unlock()
	var data []byte
	if b, ok := truth.Body.Stream.(*body); ok {
		data, _ = io.ReadAll(b.Reader) // without the faults
	}
	switch {
	case got.err != nil && (m.faulty || m.strange):
	case got.err != nil:
		m.t.Fatalf("%+v: %v", get, got.err)
	case got.status != truth.Status && m.strange:
	case got.status != truth.Status:
		m.t.Fatalf("%+v: status %d, want %d", get, got.status, truth.Status)
	case got.reply.Length != truth.Length && !m.strange:
		m.t.Fatalf("%+v: length %d, want %d", get, got.reply.Length, truth.Length)
	case got.status/100 == 2 && !m.strange && field(got.reply, "ETag") != field(truth, "ETag"):
		m.t.Fatalf("%+v: ETag %s, want %s", get, field(got.reply, "ETag"), field(truth, "ETag"))
	case got.status == http.StatusPartialContent && !m.strange && field(got.reply, "Content-Range") != field(truth, "Content-Range"):
		m.t.Fatalf("%+v: %s, want %s", get, field(got.reply, "Content-Range"), field(truth, "Content-Range"))
	case !get.Head && got.status/100 == 2 && got.status == truth.Status && !bytes.Equal(got.data, data):
		at := 0
		for at < min(len(data), len(got.data)) && data[at] == got.data[at] {
			at++
		}
		m.t.Fatalf("%+v: wrong byte %d of %d, want %d bytes", get, at, len(got.data), len(data))
	}
}

func field(reply *laketap.Reply, name string) string {
	for _, f := range reply.Header {
		if http.CanonicalHeaderKey(f.Name) == http.CanonicalHeaderKey(name) {
			return f.Value
		}
	}
	return ""
}

// C8 and C9 are among what happens to it: reads that lose their extents, torn
// writes, flipped bits.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{t: t, s: newOrigin(), d: newDrive(rapid.Uint64().Draw(t, "drive"))}
		for i := range 8 {
			m.keys = append(m.keys, fmt.Sprint("k", i))
			m.s.put(m.keys[i], bytesOf(i, 20_000))
		}
		m.open()
		defer func() {
			m.d.crash()
			m.c.Close()
			for _, end := range m.ends {
				end()
			}
		}()
		t.Repeat(map[string]func(*rapid.T){
			"read": func(t *rapid.T) {
				m.t = t
				get := m.get()
				m.check(get, read(m.c, m.s, get))
			},
			"read by many": func(t *rapid.T) {
				m.t = t
				gets := []laketap.Get{m.get(), m.get(), m.get()}
				outs := make([]outcome, 12)
				var wg sync.WaitGroup
				for i := range outs {
					wg.Go(func() { outs[i] = read(m.c, m.s, gets[i%3]) })
				}
				wg.Wait()
				for i, out := range outs {
					m.check(gets[i%3], out)
				}
			},
			"read a little": func(t *rapid.T) {
				m.t = t
				reply, err := m.c.Get(context.Background(), m.get(), m.s.fetch)
				if err == nil && reply.Body.Stream != nil {
					_, _ = io.ReadFull(reply.Body.Stream, make([]byte, rapid.IntRange(0, 5000).Draw(t, "little")))
					reply.Body.Close()
				}
			},
			"write": func(t *rapid.T) {
				m.t = t
				key := m.key()
				m.c.Forget(name(key))
				m.put(key)
				m.c.Forget(name(key))
			},
			"write behind": func(t *rapid.T) {
				m.t = t
				if key := m.key(); key[1]%2 == 1 {
					m.put(key)
				}
			},
			"pin": func(t *rapid.T) {
				m.t = t
				m.c.Pin(name(m.key()), rapid.Bool().Draw(t, "pin"))
			},
			"verify": func(t *rapid.T) {
				if _, err := m.c.Verify(context.Background(), nil); err != nil {
					t.Fatal(err)
				}
			},
			"close and reopen": func(*rapid.T) {
				_ = m.c.Close() // the drive may fail it
				m.d.mu.Lock()
				m.d.locked = false
				m.d.mu.Unlock()
				m.open()
			},
			"crash and reopen": func(*rapid.T) {
				m.d.crash()
				_ = m.c.Close()
				m.open()
			},
			"flip a bit": func(t *rapid.T) { m.d.flip(rapid.SampledFrom([]string{"segment", "index"}).Draw(t, "file")) },
			"disk": func(t *rapid.T) {
				m.d.mu.Lock()
				defer m.d.mu.Unlock()
				m.d.full = rapid.IntRange(0, 3).Draw(t, "full") == 0
				m.d.readErrors = rapid.SampledFrom([]float64{0, 0, 0.1}).Draw(t, "read errors")
				m.d.writeErrors = rapid.SampledFrom([]float64{0, 0, 0.1}).Draw(t, "write errors")
			},
			"origin": func(t *rapid.T) {
				m.t = t
				m.faulty = rapid.IntRange(0, 3).Draw(t, "broken") == 0
				m.strange = rapid.IntRange(0, 4).Draw(t, "strange") == 0
				m.s.mu.Lock()
				defer m.s.mu.Unlock()
				m.s.broken, m.s.answer = 0, nil
				if m.faulty {
					m.s.broken = 3000
				}
				if m.strange {
					m.s.answer = m.s.strange(rapid.IntRange(0, 3).Draw(t, "how"))
				}
			},
			"": func(t *rapid.T) {
				if s := m.c.Stats(); s.Disk > 256<<10 || s.Objects > 6 || s.Extents > 40 {
					t.Fatalf("out of bounds: %+v", s)
				}
			},
		})
	})
}

// strange returns wrong answers that origins have been seen to give.
func (s *origin) strange(how int) func(laketap.Get) *laketap.Reply {
	return func(get laketap.Get) *laketap.Reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch how {
		case 0: // ignores Range
			get.Range = laketap.Range{}
			return s.reply(get)
		case 1: // lies about which part it is
			r := s.reply(get)
			for i := range r.Header {
				if r.Header[i].Name == "Content-Range" {
					r.Header[i].Value = "bytes 1000000-1000000/1000001"
				}
			}
			return r
		case 2: // a part, though the whole was asked for
			if get.Range.Set || len(s.objects[get.Name.Key].data) < 2 {
				return nil
			}
			get.Range = laketap.Range{Set: true, To: 0}
			return s.reply(get)
		}
		return failure(http.StatusServiceUnavailable)
	}
}
