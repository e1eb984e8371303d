package admin_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/admin"
)

func TestObservations(t *testing.T) {
	d, _ := deps()
	h := admin.New(d)
	w := get(t, h, "/api/v1/observations?after=0&limit=10")
	var got admin.ObservationPage
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	want := admin.ObservationPage{Next: 1, Observations: []admin.Observation{{
		Seq: 1, At: at, Seconds: 0.001, Engine: "spark", EngineVersion: "4.1", Principal: "alice", Session: "LTAAAA",
		TableID: &admin.TableID{Catalog: "prod", UUID: "u-1"}, Snapshot: 7, Object: admin.Object{Origin: "aws", Bucket: "lake", Key: "f"},
		Size: 200, Format: "parquet", Partition: "1000=1", Served: "disk", Asked: 100, Bytes: 96, Weight: 1,
		Parts: []admin.Part{
			{Kind: "column_chunk", RowGroup: new(int), Field: 3, Offset: 4, Length: 90, Bytes: 90, First: true},
			{Kind: "unknown", Offset: 94, Length: 6, Bytes: 6},
		},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, query := range []string{"?after=x", "?limit=0", "?limit=99999", "?other=1", "?after=1&after=2", "?%zz"} {
		if w := get(t, h, "/api/v1/observations"+query); w.Code != http.StatusBadRequest {
			t.Errorf("%s answers %d", query, w.Code)
		}
	}
	d.Observations = nil
	if w := get(t, admin.New(d), "/api/v1/observations"); w.Code != http.StatusOK {
		t.Errorf("without any: %d", w.Code)
	}
}
