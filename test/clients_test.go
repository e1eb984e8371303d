package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/workload"
)

// Every engine that `laketap connect` knows is run with the very lines that
// it prints: each writes once, each reads what all have written, and the
// answers are those that it gives without Laketap. Without Laketap it has the
// same lines with the lake's own addresses in them.
func TestEveryClient(t *testing.T) {
	text := readClients(t)
	bare, behind := lake.Start(t), lake.Start(t)
	server := laketap.Start(t, laketap.InFrontOf(t, behind))
	through := printedBy(t, server)
	direct := map[string]string{}
	for name, printed := range through {
		direct[name] = addressed(t, printed, server, bare)
	}
	trino := engines.StartTrino(t, map[string]string{
		"through": through[engines.Trino],
		"direct":  direct[engines.Trino] + ownKeysOfTrino(bare),
	})

	want, _ := runClients(t, text, func(c engines.Client) *engines.Engine {
		return startClient(t, c, direct[c.Name], trino, "direct")
	}, func() uint64 { return 0 })
	got, turns := runClients(t, text, func(c engines.Client) *engines.Engine {
		return startClient(t, c, through[c.Name], trino, "through")
	}, func() uint64 { return settled(t, behind, server) })

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-direct +through Laketap):\n%s", diff)
	}
	checkReadsAgree(t, got)
	accesses := server.Accesses(t)
	checkArrived(t, behind, accesses)
	checkTurns(t, turns, accesses)
	checkLeavesNothing(t, behind, server, accesses)
}

// readClients reads the text that all engines know a part of.
func readClients(t *testing.T) []workload.Paragraph {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(process.Root(t), "test", "testdata", "clients.txt"))
	if err != nil {
		t.Fatal(err)
	}
	paragraphs, err := workload.ParseFor(string(text), engines.Names(engines.Clients()))
	if err != nil {
		t.Fatalf("clients.txt: %v", err)
	}
	return paragraphs
}

// printedBy returns what `laketap connect` prints for each engine.
func printedBy(t *testing.T, s *laketap.Server) map[string]string {
	t.Helper()
	printed := map[string]string{}
	for _, c := range engines.Clients() {
		printed[c.Name] = s.Connect(t, c.Connect...)
	}
	return printed
}

// addressed returns printed lines with the addresses of a lake in the places of
// Laketap's: how an engine is connected without Laketap.
func addressed(t *testing.T, printed string, s *laketap.Server, l *lake.Lake) string {
	t.Helper()
	text := strings.NewReplacer(s.Catalog, l.Catalog, s.Storage, l.S3.Endpoint).Replace(printed)
	if !strings.Contains(text, l.Catalog) {
		t.Fatalf("the printed lines do not name the catalog %s:\n%s", s.Catalog, printed)
	}
	return text
}

// ownKeysOfTrino are the settings that Trino needs for a bare lake: it minds
// vended keys only if a session token comes with them, and the lake has none.
// Through Laketap it gets none of these.
func ownKeysOfTrino(l *lake.Lake) string {
	return fmt.Sprintf("\ns3.aws-access-key=%s\ns3.aws-secret-key=%s\n", l.Keys.ID, l.Keys.Secret)
}

// startClient starts an engine with its lines; Trino's are with its server.
func startClient(t *testing.T, c engines.Client, printed string, trino *engines.TrinoServer, catalog string) *engines.Engine {
	t.Helper()
	if c.Name == engines.Trino {
		trino.Ready(t)
	}
	return c.Start(t, printed, trino.Env(catalog)...)
}

// A turn is the time in which one engine alone was at work.
type turn struct {
	client      engines.Client
	reads       bool
	first, last uint64 // accesses from the one after first to last
}

// runClients has each engine write and then each read, one at a time. mark
// returns the number of the newest access.
func runClients(t *testing.T, text []workload.Paragraph, start func(engines.Client) *engines.Engine, mark func() uint64) ([]workload.Entry, []turn) {
	t.Helper()
	began := time.Now()
	on := map[string]*engines.Engine{}
	entries := make([]workload.Entry, 0, len(text)*len(engines.Clients()))
	turns := make([]turn, 0, 2*len(engines.Clients()))
	for _, reads := range []bool{false, true} {
		for _, c := range engines.Clients() {
			now := turn{client: c, reads: reads, first: mark()}
			if on[c.Name] == nil {
				on[c.Name] = start(c)
			}
			mine := slices.Clone(text)
			mine = slices.DeleteFunc(mine, func(p workload.Paragraph) bool { return p.Read != reads })
			entries = append(entries, workload.Run(t, mine, map[string]*engines.Engine{c.Name: on[c.Name]}, nil)...)
			now.last = mark()
			turns = append(turns, now)
		}
	}
	for _, engine := range on {
		engine.Close()
	}
	t.Logf("%d answers in %v", len(entries), time.Since(began).Round(time.Second))
	return entries, turns
}

// settled waits until the storage tap has recorded everything that reached the
// store, and returns the number of the newest access.
func settled(t *testing.T, l *lake.Lake, s *laketap.Server) uint64 {
	t.Helper()
	newest := uint64(0)
	s.Process.Eventually(t, time.Minute, func() error {
		recorded := 0
		for _, a := range s.Accesses(t) {
			if newest = a.Seq; a.Tap == "storage" && a.Object != nil {
				recorded++
			}
		}
		if arrived := l.Arrived(t); arrived != recorded {
			return fmt.Errorf("%d requests reached the store, the storage tap recorded %d", arrived, recorded)
		}
		return nil
	})
	return newest
}

// checkReadsAgree checks that all engines read the same from each table.
func checkReadsAgree(t *testing.T, entries []workload.Entry) {
	t.Helper()
	first := map[int]workload.Entry{}
	readers := map[string]bool{}
	for _, e := range entries {
		if len(e.Columns) < 3 { // a write, or what a write says
			continue
		}
		readers[e.Engine] = true
		if one, ok := first[e.Line]; !ok {
			first[e.Line] = e
		} else if diff := cmp.Diff(one.Rows, e.Rows); diff != "" {
			t.Errorf("line %d: %s and %s read differently (-%[2]s +%[3]s):\n%s", e.Line, one.Engine, e.Engine, diff)
		}
	}
	if want := len(engines.Clients()); len(readers) != want || len(first) == 0 {
		t.Errorf("%d tables were read by %d engines, want all %d", len(first), len(readers), want)
	}
}

// checkTurns checks that each access names the engine whose turn it was, at
// both taps, and that its table is known.
func checkTurns(t *testing.T, turns []turn, accesses []laketap.Access) {
	t.Helper()
	for _, now := range turns {
		names := map[string]int{}
		for _, a := range accesses {
			if a.Seq <= now.first || a.Seq > now.last {
				continue
			}
			checkAccess(t, a)
			names[a.Tap+" "+a.Engine]++
			if a.Tap == "catalog" && a.Engine != now.client.AtCatalog || a.Tap == "storage" && !slices.Contains(now.client.AtStore, a.Engine) {
				t.Errorf("access %d (%s %s) names %s; it was the turn of %s", a.Seq, a.Tap, a.Op, a.Engine, now.client.Name)
			}
		}
		if now.reads && (names["catalog "+now.client.AtCatalog] == 0 || names["storage "+now.client.AtStore[0]] == 0) {
			t.Errorf("the reads of %s are accesses of %v", now.client.Name, names)
		}
	}
}
