//go:build long

package e2e_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/workload"
)

// Every engine with the cache on, cold and then warm: it writes, and reads what all
// have written, and the answers are those that it gives without Laketap.
func TestLongEveryClientFromCache(t *testing.T) {
	text := readClients(t)
	bare, behind := lake.Start(t), lake.Start(t)
	config := laketap.InFrontOf(t, behind)
	config.Mode = "accelerate"
	server := laketap.Start(t, config)
	through := printedBy(t, server)
	direct := map[string]string{}
	for name, printed := range through {
		direct[name] = addressed(t, printed, server, bare)
	}
	trino := engines.StartTrino(t, map[string]string{
		"through": through[engines.Trino],
		"direct":  direct[engines.Trino] + ownKeysOfTrino(bare),
	})
	start := func(printed map[string]string, catalog string) func(engines.Client) *engines.Engine {
		return func(c engines.Client) *engines.Engine { return startClient(t, c, printed[c.Name], trino, catalog) }
	}
	never := func() uint64 { return 0 }

	want, _ := runClients(t, text, start(direct, "direct"), never)
	cold, _ := runClients(t, text, start(through, "through"), never)
	if diff := cmp.Diff(want, cold); diff != "" {
		t.Errorf("answers (-direct +through Laketap):\n%s", diff)
	}
	reads := slices.DeleteFunc(slices.Clone(text), func(p workload.Paragraph) bool { return !p.Read })
	isRead := map[int]bool{}
	for _, p := range reads {
		isRead[p.Line] = true
	}
	first := slices.DeleteFunc(cold, func(e workload.Entry) bool { return !isRead[e.Line] })
	before := bytesFrom(t, server)
	warm, _ := runClients(t, reads, start(through, "through"), never)
	if diff := cmp.Diff(first, warm); diff != "" || len(warm) == 0 {
		t.Errorf("%d answers read again (-first +second):\n%s", len(warm), diff)
	}
	after := bytesFrom(t, server)
	t.Logf("bytes served: %v, then %v", before, after)
	held, origin := after["memory"]+after["disk"]-before["memory"]-before["disk"], after["origin"]-before["origin"]
	if held < 10*origin {
		t.Errorf("read again, %d bytes came from what was held and %d from the store", held, origin)
	}
}

// bytesFrom sums up the bytes that reads of objects were answered with, by where
// they came from.
func bytesFrom(t *testing.T, s *laketap.Server) map[string]int64 {
	t.Helper()
	sum := map[string]int64{}
	for _, a := range s.Accesses(t) {
		if a.Tap == "storage" && a.Op == "GetObject" && a.Status/100 == 2 {
			sum[a.Served] += a.BytesOut
		}
	}
	return sum
}
