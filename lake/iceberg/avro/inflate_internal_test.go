package avro

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
)

// texts are things to pack: nothing, little, repetition near and far, noise.
func texts() [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 70_000)
	skewed := make([]byte, 200_000) // codes of many lengths
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for i := range skewed {
		skewed[i] = byte(r.ExpFloat64() * 12)
	}
	far := append(append(bytes.Clone(noise[:32768]), noise[:300]...), noise[100:400]...)
	list := append(make([][]byte, 0, 27), nil, []byte("a"), noise, skewed, far, bytes.Repeat([]byte{0}, 100_000))
	list = append(list, echoes(r))
	for i := range 20 {
		list = append(list, []byte(strings.Repeat(fmt.Sprintf("s3://bucket/table/data/%d.parquet", i*i), i*17)))
	}
	return list
}

// echoes is bytes that repeat others from one to forty bytes before, of each
// length: what is copied eight at a time, and what overlaps itself.
func echoes(r *rand.Rand) []byte {
	b := []byte("0123456789012345678901234567890123456789")
	for back := 1; back <= 40; back++ {
		for length := 3; length <= 258; length += 1 + length/16 {
			b = append(b, byte(r.Uint32()), byte(r.Uint32()))
			for range length {
				b = append(b, b[len(b)-back])
			}
		}
	}
	return b
}

// packed packs a text at a level.
func packed(tb testing.TB, text []byte, level int) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil || w.Close() != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestInflate(t *testing.T) {
	f := new(inflater)
	for i, text := range texts() {
		for level := -2; level <= 9; level++ {
			in := packed(t, text, level)
			got, left, err := f.run(context.Background(), f.out, append(in, "tail"...), 1<<20)
			if err != nil || left != 4 || !bytes.Equal(got, text) {
				t.Fatalf("text %d at level %d: %d bytes of %d, %d left, %v", i, level, len(got), len(text), left, err)
			}
			for n := range min(len(in), 24) {
				if _, _, err := f.run(context.Background(), f.out, in[:len(in)-1-n], 1<<20); err == nil {
					t.Fatalf("text %d at level %d cut by %d: no error", i, level, n+1)
				}
			}
		}
	}
}

func TestInflateLimit(t *testing.T) {
	f := new(inflater)
	if out, _, err := f.run(context.Background(), nil, packed(t, make([]byte, 1<<20), 9), 1<<16); err == nil || cap(out) > 1<<18 {
		t.Errorf("%d bytes of room, %v", cap(out), err)
	}
}

// FuzzInflate holds the inflater to another's verdict and bytes.
func FuzzInflate(f *testing.F) {
	for _, text := range texts() {
		if len(text) < 5000 {
			for _, level := range []int{-2, 0, 1, 9} {
				f.Add(packed(f, text, level))
			}
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const most = 1 << 18
		got, left, err := new(inflater).run(context.Background(), nil, in, most)
		if err == nil && int64(len(got)) > most {
			return
		}
		r := bytes.NewReader(in)
		want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(r), most+1))
		if len(want) > most {
			return
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("ours %v, theirs %v", err, wantErr)
		}
		if err == nil && (!bytes.Equal(got, want) || left != r.Len()) {
			t.Errorf("%d bytes and %d left, theirs %d and %d", len(got), left, len(want), r.Len())
		}
	})
}

// A countdown is a context that ends when it has been looked at so often.
type countdown struct {
	context.Context

	looks int
}

func (c *countdown) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// Blocks that hold nothing, ten bits each, may be any number. They cost little
// each, and the context ends them.
func TestManyEmptyBlocks(t *testing.T) {
	four := []byte{0x02, 0x08, 0x20, 0x80, 0x00} // blocks of nothing by the fixed codes
	in := append(bytes.Repeat(four, 1<<20), 0x03, 0x00)
	f := new(inflater)
	if out, left, err := f.run(t.Context(), nil, in, 1<<20); err != nil || left != 0 || len(out) > 0 {
		t.Errorf("%d bytes, %d left, %v", len(out), left, err)
	}
	ctx := &countdown{t.Context(), 100}
	if _, _, err := f.run(ctx, nil, in, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if read := f.pos; read > 101*blocksBetween*10/8 {
		t.Errorf("went on to byte %d", read)
	}
}
