package tap_test

import (
	"testing"
	"time"

	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
)

func TestSessionCovers(t *testing.T) {
	tables := tap.NewTables(0)
	for _, one := range []tap.Table{
		table("ns.t", "wh/t", "meta/t"), table("ns.t2", "wh/t2"), table("ns.inner", "wh/t/inner"),
	} {
		tables.Put(one)
	}
	own := table("ns.t", "wh/t")
	s := tap.Session{Table: own.ID, Origin: "o", Scope: []tap.Location{own.Location, {Origin: "o", Bucket: "lake", Path: "meta/t"}}}
	for key, want := range map[string]bool{
		"wh/t/data/x":      true,
		"meta/t/v1.json":   true,
		"wh/t2/data/x":     false,
		"wh/t/inner/x":     false, // another table's place inside ours
		"wh/t//inner/x":    false,
		"wh/t/../t2/x":     false,
		"wh/t/%2e%2e/t2/x": false,
		"wh/x":             false,
	} {
		if got := s.Covers(object(key), tables); got != want {
			t.Errorf("Covers(%q) = %v, want %v", key, got, want)
		}
	}
	if !s.Covers(object("wh/t/inner/x"), nil) {
		t.Error("without an index the scope is all that counts")
	}
}

func TestOuterTableTakesNothing(t *testing.T) {
	tables := tap.NewTables(0)
	outer, inner := table("ns.outer", "wh"), table("ns.inner", "wh/t")
	tables.Put(outer)
	s := tap.Session{Table: inner.ID, Origin: "o", Scope: []tap.Location{inner.Location}}
	if !s.Covers(object("wh/t/x"), tables) {
		t.Error("a table whose location lies around ours took our files")
	}
}

func TestRecreatedAtTheSameLocation(t *testing.T) {
	tables := tap.NewTables(0)
	old, fresh := table("ns.t", "wh/t"), table("ns.t'", "wh/t")
	tables.Put(fresh)
	s := tap.Session{Table: old.ID, Origin: "o", Scope: []tap.Location{old.Location}}
	if !s.Covers(object("wh/t/x"), tables) {
		t.Error("a table made again at our location took our files: upstream vended this place to us")
	}
}

func TestCoversPrefix(t *testing.T) {
	s := tap.Session{Origin: "o", Scope: []tap.Location{{Origin: "o", Bucket: "lake", Path: "wh/t"}}}
	for prefix, want := range map[string]bool{"wh/t/": true, "wh/t/d": true, "wh/t": false, "": false, "wh/t2/": false} {
		if got := s.CoversPrefix("lake", prefix, nil); got != want {
			t.Errorf("CoversPrefix(%q) = %v, want %v", prefix, got, want)
		}
	}
	if s.CoversPrefix("lake2", "wh/t/", nil) {
		t.Error("a prefix of another bucket is covered")
	}
	tables := tap.NewTables(0)
	tables.Put(table("ns.inner", "wh/t/inner"))
	for prefix, want := range map[string]bool{
		"wh/t/": true, "wh/t/inn": true, "wh/t/inner2/": true,
		"wh/t/inner": false, "wh/t/inner/": false, "wh/t//inner/d": false, // another table's place inside ours
	} {
		if got := s.CoversPrefix("lake", prefix, tables); got != want {
			t.Errorf("beside another table, CoversPrefix(%q) = %v, want %v", prefix, got, want)
		}
	}
}

func TestKeysFor(t *testing.T) {
	vended := func(prefix, id string) tap.Vended {
		return tap.Vended{Prefix: prefix, Keys: sigv4.Credentials{AccessKeyID: id}}
	}
	s := tap.Session{Upstream: []tap.Vended{
		vended("s3://lake/wh", "wide"), vended("s3://lake/wh/t", "table"), vended("s3a://other/", "other"), vended("", "any"),
	}}
	for key, want := range map[string]string{"wh/t/x": "table", "wh/t2/x": "wide", "elsewhere": "wide"} {
		if got, ok := s.KeysFor(object(key)); !ok || got.AccessKeyID != want {
			t.Errorf("KeysFor(%q) = %q, %v, want %q", key, got.AccessKeyID, ok, want)
		}
	}
	elsewhere := object("x")
	elsewhere.Bucket = "other"
	if got, _ := s.KeysFor(elsewhere); got.AccessKeyID != "other" {
		t.Errorf("KeysFor(other bucket) = %q, want other", got.AccessKeyID)
	}
	if _, ok := (&tap.Session{}).KeysFor(object("x")); ok {
		t.Error("a session without upstream keys has some")
	}
}

func TestExpired(t *testing.T) {
	now := time.Unix(100, 0)
	for _, tt := range []struct {
		name    string
		expires time.Time
		want    bool
	}{{"never", time.Time{}, false}, {"later", now.Add(1), false}, {"now", now, true}, {"before", now.Add(-1), true}} {
		if got := (&tap.Session{Expires: tt.expires}).Expired(now); got != tt.want {
			t.Errorf("%s: Expired = %v, want %v", tt.name, got, tt.want)
		}
	}
}
