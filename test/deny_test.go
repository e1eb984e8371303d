package e2e_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/postgres"
)

// looks is how long another node may take to look into the shared memory.
const looks = 10 * time.Second

// A denied is an engine behind one of two nodes, that has loaded a table and
// goes on reading it by the keys that it then got.
type denied struct {
	name   string
	server *laketap.Server
	engine *engines.Engine
}

// reads has the engine read what it has loaded, or load it first.
func (d *denied) reads(again bool) error {
	text := "answer = held.scan().to_arrow()"
	if again {
		text = "held = table('r.t')\n  " + text
	}
	got := d.engine.Do(engines.Step{Run: text})
	switch {
	case got.Error == "" && len(got.Rows) != 2:
		return errors.New("reads other rows than were written")
	case got.Error != "":
		return errors.New(got.Error)
	}
	return nil
}

// wants waits until the engine is let in, or kept out, as a client is that
// loads the table and as one that has.
func (d *denied) wants(t *testing.T, letIn bool, why string) {
	t.Helper()
	for _, again := range []bool{false, true} {
		d.server.Process.Eventually(t, looks, func() error {
			switch err := d.reads(again); {
			case letIn:
				return err
			case err == nil:
				return errors.New(d.name + ": " + why + ": still let in")
			case !refused(err):
				t.Errorf("%s: %s: kept out by %v, want a refusal", d.name, why, err)
			}
			return nil
		})
	}
}

// refused reports whether an engine tells of a refusal: the catalog's or the
// store's, or that the store's did not fit where Arrow wanted the few bytes that
// it had asked for.
func refused(err error) bool {
	for _, words := range []string{"deny list", "Forbidden", "ACCESS_DENIED", "Failed to flush response stream"} {
		if strings.Contains(err.Error(), words) {
			return true
		}
	}
	return false
}

// is returns who the engine is to its node: principal and session of what it
// last read.
func (d *denied) is(t *testing.T) (principal, session string) {
	t.Helper()
	for _, a := range d.server.Accesses(t) {
		if a.Tap == "storage" {
			principal, session = a.Principal, a.Session
		}
	}
	if principal == "" || session == "" {
		t.Fatalf("accesses name the principal %q and the session %q", principal, session)
	}
	return principal, session
}

// Two nodes share a memory: whom one is told to keep out, by principal, table
// or key, both keep out, an engine in the middle of its work included, until
// it is lifted on either.
func TestDenyOnTwoNodes(t *testing.T) {
	l := lake.Start(t)
	shared := map[string]any{"url": postgres.Start(t)}
	key := laketap.Secret(t, "AAAA "+base64.StdEncoding.EncodeToString([]byte("shared by all nodes of a cluster")))
	catalog.Client{URI: l.Catalog}.Create(t, "r", "t", "")
	nodes := make([]*denied, 0, 2)
	for _, name := range []string{"one", "two"} {
		config := laketap.InFrontOf(t, l)
		config.Memory, config.Cluster = shared, map[string]any{"key_file": key}
		node := &denied{name: name, server: laketap.Start(t, config)}
		node.server.Know("token of a client", "the token of alice")
		command := engines.Command(t, engines.PyIceberg, node.server.Catalog)
		command.Env = append(command.Env, "PYICEBERG_CATALOG__LK__TOKEN=the token of alice")
		node.engine = engines.StartBy(t, engines.PyIceberg, command)
		nodes = append(nodes, node)
	}
	first, second := nodes[0], nodes[1]
	if got := first.engine.Do(engines.Step{Run: `table("r.t").append(pa.table({"id": pa.array([1, 2], pa.int64())}))`}); got.Error != "" {
		t.Fatal(got.Error)
	}
	for _, node := range nodes {
		if err := node.reads(true); err != nil {
			t.Fatalf("%s: %v", node.name, err)
		}
	}
	principal, _ := second.is(t)
	for _, tt := range []struct {
		subject []string
		on, off *denied
	}{
		{[]string{"--table", "lake.r.t"}, first, second},
		{[]string{"--principal", principal}, second, first},
	} {
		why := strings.Join(tt.subject, " ")
		tt.on.server.Run(t, append([]string{"deny"}, tt.subject...)...)
		if err := tt.on.reads(false); err == nil { // at once, where it was said
			t.Errorf("%s: %s: let in after deny had returned", tt.on.name, why)
		}
		for _, node := range nodes {
			node.wants(t, false, why)
		}
		tt.off.server.Run(t, append([]string{"allow"}, tt.subject...)...)
		for _, node := range nodes {
			node.wants(t, true, why+" lifted")
		}
	}
	// A key is that of one session: whoever loads the table again has another.
	_, session := second.is(t)
	first.server.Run(t, "deny", "--key", session)
	second.server.Process.Eventually(t, looks, func() error {
		if second.reads(false) == nil {
			return errors.New("a denied key still opens")
		}
		return nil
	})
	if err := first.reads(false); err != nil {
		t.Errorf("one's key is denied and the other is kept out: %v", err)
	}
	if err := second.reads(true); err != nil {
		t.Errorf("a key is denied, and so is the next one of its holder: %v", err)
	}
}
