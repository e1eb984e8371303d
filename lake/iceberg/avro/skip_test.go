package avro_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/laketap/laketap/lake/iceberg/avro"
)

// passOver is what passing over n numbers means, a byte at a time: how many
// bytes they take, and whether they are all there and of 64 bits at most.
func passOver(b []byte, n int) (int, bool) {
	length := 0
	for i, c := range b {
		if n == 0 {
			return i, true
		}
		if length++; c >= 0x80 && length == 10 {
			return 0, false
		}
		if c < 0x80 {
			n, length = n-1, 0
		}
	}
	return len(b), n == 0
}

// numbers returns bytes of which one in so many ends a number.
func numbers(r *rand.Rand, length, oneIn int) []byte {
	b := make([]byte, length)
	for i := range b {
		b[i] = byte(r.UintN(128))
		if r.IntN(oneIn) > 0 {
			b[i] |= 0x80
		}
	}
	return b
}

// Numbers are passed over eight bytes at a time; where they end, and that one
// has no end, must come out as if they were looked at one by one.
func TestSkipNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for _, n := range []int{1, 2, 7, 8, 9, 15, 16, 17, 40} {
		schema, err := avro.ParseSchema([]byte(`{"type":"record","name":"r","fields":[` + fields(n) + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		wrong, right := 0, 0
		for i := range 3000 {
			b := numbers(r, r.IntN(12*n), 1+i%6)
			want, ok := passOver(b, n)
			c := avro.NewCursor(b)
			c.Skip(schema)
			if (c.Err() == nil) != ok || ok && len(b)-c.Left() != want {
				t.Fatalf("%d numbers in %x: %d bytes, %v; want %d, %v", n, b, len(b)-c.Left(), c.Err(), want, ok)
			}
			if ok {
				right++
			} else {
				wrong++
			}
		}
		if right < 100 || wrong < 100 {
			t.Errorf("%d numbers: %d in order, %d not: one of them is hardly tried", n, right, wrong)
		}
	}
}

// fields declares so many longs.
func fields(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name":"f%d","type":"long"}`, i)
	}
	return strings.Join(list, ",")
}

// A run of continued bytes is too long wherever it lies in the words of eight.
func TestSkipTooLong(t *testing.T) {
	schema, err := avro.ParseSchema([]byte(`{"type":"record","name":"r","fields":[` + fields(40) + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	for before := range 20 {
		for run := 7; run < 19; run++ {
			b := append(make([]byte, before), []byte(strings.Repeat("\xff", run))...)
			b = append(b, make([]byte, 60)...)
			c := avro.NewCursor(b)
			if c.Skip(schema); (c.Err() == nil) != (run < 10) {
				t.Errorf("%d bytes continued behind %d: %v", run, before, c.Err())
			}
		}
	}
}
