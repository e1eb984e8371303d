package e2e_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// Kill -9 and restart: nobody is forgotten. An engine that holds a table goes
// on with the keys it was given before, and so does a plain client.
func TestEnginesOutliveARestart(t *testing.T) {
	l := lake.Start(t)
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	on := map[string]*engines.Engine{}
	for _, name := range []string{engines.PyIceberg, engines.DuckDB} {
		on[name] = engines.Start(t, name, server.Catalog)
	}
	do := func(name, text string) engines.Answer {
		t.Helper()
		answer := on[name].Do(engines.Step{Run: text})
		if answer.Error != "" {
			t.Fatalf("%s: %s\n%s", name, answer.Error, text)
		}
		return answer
	}
	do(engines.PyIceberg, `catalog.create_namespace("k")
  held = catalog.create_table("k.t", schema=pa.schema([("id", pa.int64())]))
  held.append(pa.table({"id": pa.array(range(1000), pa.int64())}))
  held = catalog.load_table("k.t")`)
	count := func(name string) string {
		t.Helper()
		answer := do(name, map[string]string{
			engines.PyIceberg: `answer = pa.table({"n": [held.scan().to_arrow().num_rows]})`,
			engines.DuckDB:    `select count(id)::bigint n from lk.k.t`,
		}[name])
		return string(answer.Rows[0])
	}
	for name := range on {
		if got := count(name); got != "[1000]" {
			t.Fatalf("%s counts %s before the restart", name, got)
		}
	}
	table := catalog.Client{URI: server.Catalog}.Load(t, "k", "t")
	l.Put(t, table.Path()+"/data/x", "mine")

	server.Process.Kill(t)
	if answer := on[engines.PyIceberg].Do(engines.Step{Run: `answer = held.scan().to_arrow()`}); answer.Error == "" {
		t.Error("the engine reads while Laketap is gone: it reads around it")
	}
	server.Restart(t)

	for name := range on {
		if got := count(name); got != "[1000]" {
			t.Errorf("%s counts %s after the restart", name, got)
		}
	}
	got, err := table.Client().Do(t.Context(), s3.Request{Target: table.Path() + "/data/x"})
	if err != nil || string(got.Body) != "mine" {
		t.Errorf("get with keys from before: %v %q %v", got, got.Body, err)
	}
	do(engines.DuckDB, `insert into lk.k.t values (1000)`)
	do(engines.PyIceberg, `held.refresh()`)
	if got := count(engines.PyIceberg); got != "[1001]" {
		t.Errorf("pyiceberg counts %s after an insert, want 1001", got)
	}
}

// Shutdown drains: a download that runs goes on to its end, new clients are
// turned away, and the server says by its exit code that all is well.
func TestShutdownDrains(t *testing.T) {
	const size = 256 << 20
	l := lake.Start(t)
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	catalog.Client{URI: l.Catalog}.Create(t, "d", "t", "")
	table := catalog.Client{URI: server.Catalog}.Load(t, "d", "t")
	target := table.Path() + "/data/large"
	stored, err := l.Owner().Do(t.Context(), s3.Request{
		Method: http.MethodPut, Target: target, Body: io.LimitReader(newNoise(), size), Length: size, Hash: s3.Unsigned,
	})
	if err != nil || stored.Status != http.StatusOK {
		t.Fatalf("put: %v %v", stored, err)
	}

	resp, err := table.Client().Open(t.Context(), s3.Request{Target: target})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	want := newNoise()
	if err := same(io.LimitReader(resp.Body, 1<<20), want, 1<<20); err != nil {
		t.Fatal(err)
	}
	server.Process.Signal(t, syscall.SIGTERM)
	server.Process.Eventually(t, 10*time.Second, func() error {
		for _, endpoint := range []string{server.Catalog, server.Storage} {
			if err := refuses(t, endpoint); err != nil {
				return err
			}
		}
		return nil
	})
	if err := same(resp.Body, want, size-1<<20); err != nil {
		t.Errorf("download over the shutdown: %v", err)
	}
	if code := server.Process.Wait(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// refuses returns an error if somebody still accepts at the endpoint.
func refuses(t *testing.T, endpoint string) error {
	t.Helper()
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(endpoint, "http://"))
	if err != nil {
		return nil //nolint:nilerr // nobody there is what is wanted
	}
	_ = conn.Close()
	return &net.AddrError{Err: "still accepts", Addr: endpoint}
}

// Trouble behind Laketap does not keep it from starting, and it says what it is.
func TestStartsWithNothingBehindIt(t *testing.T) {
	l := lake.Start(t)
	config := laketap.InFrontOf(t, l)
	l.Process.Close()
	server := laketap.Start(t, config)
	status, body := server.Ready(t)
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "lake") {
		t.Errorf("readyz: %d %s, want 503 and what is missing", status, body)
	}
	through := catalog.Client{URI: server.Catalog}
	read, err := through.Do(t.Context(), http.MethodGet, "/v1/namespaces", "", nil)
	if err != nil || read.Status != http.StatusServiceUnavailable || read.Header.Get("Retry-After") == "" {
		t.Errorf("read: %d %v %v, want 503 with Retry-After", read.Status, read.Header, err)
	}
	commit, err := through.Do(t.Context(), http.MethodPost, "/v1/namespaces/n/tables/t", "{}", nil)
	if err != nil || commit.Status != http.StatusBadGateway {
		t.Errorf("commit: %d %v, want 502", commit.Status, err)
	}
	for _, answer := range []catalog.Answer{read, commit} {
		var failure struct {
			Error struct {
				Message string
				Type    string
				Code    int
			}
		}
		if err := json.Unmarshal(answer.Body, &failure); err != nil || failure.Error.Code != answer.Status || failure.Error.Message == "" {
			t.Errorf("answer %s is not an Iceberg REST error: %v", answer.Body, err)
		}
	}
}
