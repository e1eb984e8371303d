package block_test

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/reuse/block"
)

// Whatever clients ask for, however often they leave in the middle, and whatever
// breaks: what they were given is what came from memory, disk, the origin and
// around the cache, to the byte.
func TestTrafficReconciles(t *testing.T) {
	s := newOrigin()
	reg := prometheus.NewRegistry()
	opts := block.Options{Dir: t.TempDir(), MaxRAM: 64 << 10, Contract: evenKeys{s}, Registerer: reg}
	c, err := block.OpenPieces(opts, 16<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 8 {
		s.put(string(rune('0'+i)), bytesOf(i, 50_000))
	}
	s.put("kms2", bytesOf(9, 50_000), laketap.Field{Name: "X-Amz-Server-Side-Encryption", Value: "aws:kms"})
	random := rand.New(rand.NewPCG(7, 7))
	keys := []string{"0", "1", "2", "3", "4", "5", "6", "7", "kms2"}
	var taken int64
	for step := range 3000 {
		from := random.Int64N(49_000)
		get := part(keys[random.IntN(len(keys))], from, from+random.Int64N(20_000))
		if random.IntN(4) == 0 {
			get.Range = laketap.Range{}
		}
		get.Head = random.IntN(10) == 0
		s.mu.Lock()
		s.broken = 0
		if random.IntN(20) == 0 {
			s.broken = random.Int64N(20_000) + 1
		}
		s.mu.Unlock()
		switch random.IntN(20) {
		case 0:
			c.Forget(get.Name)
		case 1:
			s.put(get.Name.Key, bytesOf(step, 50_000)) // by others, behind our back
			if get.Name.Key[0]%2 == 0 {
				c.Forget(get.Name)
			}
		case 2:
			_, _ = c.Warm(t.Context(), get, s.fetch)
		default:
			taken += take(t, c, s, get, random)
		}
	}
	got := c.Stats().Traffic
	if got.Asked != taken {
		t.Errorf("clients took %d bytes, and %d are counted", taken, got.Asked)
	}
	if sum := got.Memory + got.Disk + got.Origin + got.Around; sum != got.Asked {
		t.Errorf("%+v: the sum is %d, want %d", got, sum, got.Asked)
	}
	for what, n := range map[string]int64{"memory": got.Memory, "disk": got.Disk, "origin": got.Origin, "around": got.Around, "warmed": got.Warmed} {
		if n == 0 {
			t.Errorf("nothing came from %s: the test tests nothing", what)
		}
	}
	if asked := counted(t, reg, "laketap_block_asked_bytes_total"); asked != float64(taken) {
		t.Errorf("metric is %v, want %d", asked, taken)
	}
	if sum := counted(t, reg, "laketap_block_bytes_total"); sum != float64(taken) {
		t.Errorf("sum of the metric is %v, want %d", sum, taken)
	}
}

// take reads some or all of an answer, and returns how much.
func take(t *testing.T, c *block.Cache, s *origin, get laketap.Get, random *rand.Rand) int64 {
	t.Helper()
	reply, err := c.Get(context.Background(), get, s.fetch)
	if err != nil {
		return 0
	}
	defer reply.Body.Close()
	if reply.Status/100 != 2 || get.Head {
		return 0
	}
	if reply.Body.Stream == nil {
		return int64(len(reply.Body.Bytes))
	}
	if random.IntN(3) == 0 {
		n, _ := io.CopyN(io.Discard, reply.Body.Stream, random.Int64N(10_000))
		return n
	}
	n, _ := io.Copy(io.Discard, reply.Body.Stream)
	return n
}
