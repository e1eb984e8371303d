package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// kill -9 while clients fill and read the cache, 50 times: no byte is ever wrong,
// and what is found at each start reads as it was written.
func TestKilledWhileItKeeps(t *testing.T) {
	const times = 50
	l := lake.Start(t)
	config := laketap.InFrontOf(t, l)
	config.Mode = "accelerate"
	config.Cache = map[string]any{"memory": "16MiB", "disk": "64MiB"} // the disk has to serve
	server := laketap.Start(t, config)
	k := keeper{table: catalog.Client{URI: server.Catalog}.Create(t, "k", "t", ""), texts: map[string]string{}}
	for i := range 32 {
		target := fmt.Sprintf("%s/data/%d", k.table.Path(), i)
		line := fmt.Sprintf("object %d, ", i)
		k.texts[target] = strings.Repeat(line, 1+i*i*900/len(line))
		l.Put(t, target, k.texts[target])
	}
	for n := range times {
		server.Run(t, "cache", "verify")
		load, stop := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		for i := range 6 {
			clients.Go(func() { k.read(load, t, uint64(n*100+i)) })
		}
		// Some kills come as soon as something is kept, some late.
		began := k.done.Load()
		server.Process.Eventually(t, 20*time.Second, func() error {
			if done := k.done.Load() - began; done < int64(20+n*37%200) {
				return fmt.Errorf("%d reads done", done)
			}
			return nil
		})
		server.Process.Kill(t)
		stop()
		clients.Wait()
		server.Restart(t)
	}
	server.Run(t, "cache", "verify")
	served := map[string]int64{}
	for _, a := range server.Accesses(t) {
		served[a.Served] += a.BytesOut
	}
	load, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	k.read(load, t, 1)
	for _, a := range server.Accesses(t) {
		served[a.Served] += a.BytesOut
	}
	if served["disk"] == 0 {
		t.Errorf("nothing was served from disk: %v", served)
	}
	t.Logf("%d reads over %d kills; in the last life by source: %v", k.done.Load(), times, served)
}

// A keeper reads objects whose bytes it knows.
type keeper struct {
	table catalog.Table
	texts map[string]string // by target
	done  atomic.Int64
}

// read reads parts of objects until the context ends. A request may fail, as the
// server is killed under it; an answer may not be wrong.
func (k *keeper) read(ctx context.Context, t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same each time
	client := k.table.Client()
	targets := make([]string, 0, len(k.texts))
	for target := range k.texts {
		targets = append(targets, target)
	}
	for ctx.Err() == nil {
		target := targets[r.IntN(len(targets))]
		text := k.texts[target]
		from := r.IntN(len(text))
		to := from + 1 + r.IntN(len(text)-from)
		got, err := client.Do(ctx, s3.Request{Target: target, Header: map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", from, to-1)}})
		switch {
		case err != nil:
		case got.Status == 206 && string(got.Body) == text[from:to]:
			k.done.Add(1)
		default:
			t.Errorf("%s %d-%d: %v, %d bytes of which some are wrong", target, from, to, got, len(got.Body))
			return
		}
	}
}
