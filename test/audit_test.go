package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// A record that is required: what was served is in it even after kill -9, a
// rotation loses nothing, and no secret gets in.
func TestAudit(t *testing.T) {
	l := lake.Start(t)
	config := laketap.InFrontOf(t, l)
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	config.Audit = map[string]any{"file": file, "required": true}
	server := laketap.Start(t, config)
	catalog.Client{URI: l.Catalog}.Create(t, "a", "t", "")
	table := catalog.Client{URI: server.Catalog}.Load(t, "a", "t")
	do := func(r s3.Request) {
		t.Helper()
		if got, err := table.Client().Do(t.Context(), r); err != nil || got.Status >= 300 {
			t.Fatalf("%s %s: %v, %v", r.Method, r.Target, got, err)
		}
	}
	put := func(name string) {
		do(s3.Request{Method: http.MethodPut, Target: table.Path() + "/data/" + name, Text: name})
	}
	put("first")
	do(s3.Request{Target: table.Path() + "/data/first", Header: map[string]string{"Range": "bytes=0-1"}})
	server.AccessesOnce(t, 3) // each is in the record by the time it is here, or a little later
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	server.Process.Signal(t, syscall.SIGHUP)
	server.Process.Eventually(t, 10*time.Second, func() error { _, err := os.Stat(file); return err })
	put("second")
	server.Process.Kill(t)
	var intents []string
	for _, name := range []string{file + ".1", file} {
		text := read(t, name)
		for _, secret := range []string{table.Keys().Secret, table.Keys().Token, l.Keys.Secret, "Signature"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds a secret: %.20s…", name, secret)
			}
		}
		for line := range strings.Lines(text) {
			var v struct{ Event, Op, Key, Range, Session, Table string }
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Errorf("line %q: %v", line, err)
			}
			if v.Event == "intent" {
				intents = append(intents, fmt.Sprint(v.Op, " ", filepath.Base(v.Key), " ", v.Range, " ", v.Table, " ", v.Session == table.Keys().ID))
			}
		}
	}
	want := []string{"PutObject first  a.t true", "GetObject first bytes=0-1 a.t true", "PutObject second  a.t true"}
	if diff := cmp.Diff(want, intents); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
