package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
)

// fakeMemory knows one table, with every field set.
type fakeMemory struct {
	err       error
	since     time.Time // that Unused was asked for
	forgotten []string
}

var tpch = laketap.TableID{Catalog: "prod", Prefix: "p", Ref: "main", UUID: "u-1"}

func heat() []laketap.EngineHeat {
	return []laketap.EngineHeat{{Engine: laketap.Engine{Name: "spark", Version: "4.1"}, Uses: laketap.Heat{Value: 2, Time: at}, Bytes: 3, Last: at}}
}

func (f *fakeMemory) KnownTables(context.Context, time.Time) ([]laketap.KnownTable, error) {
	return []laketap.KnownTable{{
		ID: tpch, Name: "tpch.orders", Aliases: []string{"tpch.was"}, Location: "s3://lake/orders", Snapshot: 9007199254740993, Since: at, Last: at,
		Uses: laketap.Heat{Value: 2, Time: at}, Queries: laketap.Heat{Value: 1, Time: at}, Bytes: 3, Engines: heat(),
	}, {ID: tpch, Snapshot: -1}}, f.err
}

func (f *fakeMemory) KnownColumns(_ context.Context, table string) ([]laketap.KnownColumn, error) {
	if table == "nothing" {
		return nil, admin.ErrUnknown
	}
	return []laketap.KnownColumn{{
		Column: laketap.Column{Field: 1, Name: "a.b", Type: "long", Dropped: true}, Aliases: []string{"a"}, Read: laketap.Heat{Value: 2, Time: at},
		Used: laketap.Heat{Value: 1, Time: at}, Bytes: 3, Last: at, Engines: heat(),
	}}, f.err
}

func (f *fakeMemory) KnownFiles(_ context.Context, table string) ([]laketap.KnownFile, error) {
	if table == "nothing" {
		return nil, admin.ErrUnknown
	}
	return []laketap.KnownFile{{
		File: laketap.File{
			Object:  laketap.Object{ObjectName: laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: "f"}, Size: 9},
			Content: laketap.DeleteContent, Format: "parquet", Rows: 1, Partition: "1=x",
		},
		Uses: laketap.Heat{Value: 2, Time: at}, Bytes: 3, Last: at, Gone: at, Parts: map[laketap.PartKind]int64{laketap.FooterPart: 3},
	}}, f.err
}

func (f *fakeMemory) Unused(_ context.Context, since time.Time) ([]laketap.Unused, error) {
	f.since = since
	return []laketap.Unused{{Table: tpch, Name: "tpch.orders", Column: "a", Since: at, Last: at}, {Table: tpch, Since: at}}, f.err
}

func (f *fakeMemory) Forget(_ context.Context, table, principal string) error {
	if table == "nothing" {
		return admin.ErrUnknown
	}
	f.forgotten = append(f.forgotten, table+"/"+principal)
	return f.err
}

// memoryAPI is an API on a memory, at a time.
func memoryAPI(f *fakeMemory, now time.Time) http.Handler {
	d, _ := deps()
	d.Memory, d.Now = f, func() time.Time { return now }
	return admin.New(d)
}

func TestMemoryIsTold(t *testing.T) {
	h := memoryAPI(&fakeMemory{}, at.Add(laketap.HalfLife))
	for path, want := range map[string][]string{
		// Heat as of now, and a snapshot that JavaScript's numbers would not hold.
		"/api/v1/memory/tables":                         {`"table":"prod.tpch.orders"`, `"heat":1,"queries":0.5`, `"snapshot":"9007199254740993"`, `"aliases":["tpch.was"]`},
		"/api/v1/memory/columns?table=prod.tpch.orders": {`"column":"a.b"`, `"read":1,"used":0.5`, `"dropped":true`},
		"/api/v1/memory/files?table=prod.tpch.orders":   {`"content":"deletes"`, `"parts":{"footer":3}`, `"gone":`},
		"/api/v1/memory/unused?since=12h":               {`"column":"a"`, `"last":`},
	} {
		w := get(t, h, path)
		for _, text := range want {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s answers %d without %s:\n%s", path, w.Code, text, w.Body)
			}
		}
	}
}

func TestMemoryRefuses(t *testing.T) {
	for _, tt := range []struct {
		path string
		err  error
		want int
	}{
		{"/api/v1/memory/columns", nil, 400},
		{"/api/v1/memory/files", nil, 400},
		{"/api/v1/memory/columns?table=nothing", nil, 404},
		{"/api/v1/memory/files?table=nothing", nil, 404},
		{"/api/v1/memory/unused?since=-1h", nil, 400},
		{"/api/v1/memory/unused?since=9999999999d", nil, 400},
		{"/api/v1/memory/unused?since=soon", nil, 400},
		{"/api/v1/memory/tables", errors.New("memory is not open"), 503},
		{"/api/v1/memory/unused", errors.New("memory is not open"), 503},
		{"/api/v1/memory/forget", nil, 405},
	} {
		w := get(t, memoryAPI(&fakeMemory{err: tt.err}, at), tt.path)
		var refusal admin.Refusal
		if err := json.Unmarshal(w.Body.Bytes(), &refusal); err != nil || w.Code != tt.want || refusal.Error == "" {
			t.Errorf("%s answers %d %s, want %d", tt.path, w.Code, w.Body, tt.want)
		}
	}
}

func TestUnusedSince(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 30 * 24 * time.Hour, "?since=7d": 7 * 24 * time.Hour, "?since=12h": 12 * time.Hour} {
		f := &fakeMemory{}
		get(t, memoryAPI(f, at), "/api/v1/memory/unused"+text)
		if got := at.Sub(f.since); got != want {
			t.Errorf("%s asks for %v, want %v", text, got, want)
		}
	}
}

func TestMemoryForgets(t *testing.T) {
	for query, want := range map[string]int{
		"?table=t": 200, "?principal=prod:alice": 200, "?table=nothing": 404, "": 400, "?table=t&principal=p": 400,
	} {
		f := &fakeMemory{}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/api/v1/memory/forget"+query, http.NoBody)
		w := httptest.NewRecorder()
		memoryAPI(f, at).ServeHTTP(w, r)
		if w.Code != want || len(f.forgotten) == 1 != (want == 200) {
			t.Errorf("%s answers %d (%v), want %d", query, w.Code, f.forgotten, want)
		}
	}
}

// Without a memory the API has all paths and knows nothing.
func TestNoMemory(t *testing.T) {
	d, _ := deps()
	d.Memory = nil
	h := admin.New(d)
	for path, want := range map[string]int{"tables": 200, "unused": 200, "columns?table=t": 404, "files?table=t": 404} {
		if w := get(t, h, "/api/v1/memory/"+path); w.Code != want {
			t.Errorf("%s answers %d, want %d", path, w.Code, want)
		}
	}
}
