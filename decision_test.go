package laketap_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/laketap/laketap"
)

func TestDecisionStands(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		d    laketap.Decision
		want bool
	}{
		{"until later", laketap.Decision{Until: now.Add(time.Second)}, true},
		{"until now", laketap.Decision{Until: now}, false},
		{"undone", laketap.Decision{Until: now.Add(time.Hour), Undone: now}, false},
	}
	for _, tt := range tests {
		if got := tt.d.Stands(now); got != tt.want {
			t.Errorf("%s: stands is %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	d := laketap.Decision{ID: "1", Policy: laketap.WarmPolicy, Target: laketap.Target{Table: laketap.TableID{Catalog: "a", UUID: "u"}, Snapshot: 1, Fields: []int{1}}}
	again := d
	again.ID, again.Target.Snapshot, again.Target.Fields = "2", 2, nil
	if d.Fingerprint() != again.Fingerprint() {
		t.Error("another snapshot makes another fingerprint")
	}
	for _, change := range []func(*laketap.Decision){
		func(d *laketap.Decision) { d.Policy = laketap.KeepPolicy },
		func(d *laketap.Decision) { d.Target.Table.UUID = "v" },
		func(d *laketap.Decision) { d.Target.Table.Catalog = "b" },
		func(d *laketap.Decision) { d.Target.Table = laketap.TableID{Catalog: "a", Prefix: "u"} },
	} {
		other := d
		change(&other)
		if d.Fingerprint() == other.Fingerprint() {
			t.Errorf("%+v has the fingerprint of %+v", other, d)
		}
	}
}

// The share of objects that are left alone is the one that was asked for, and an
// object that is left alone stays so when the share grows.
func TestHeldOut(t *testing.T) {
	const objects = 20_000
	held := map[float64]int{}
	shares := []float64{0, 0.05, 0.5, 1}
	for i := range objects {
		name := laketap.ObjectName{Origin: "main", Bucket: "lake", Key: fmt.Sprintf("t/data/%d.parquet", i)}
		before := false
		for _, share := range shares {
			d := laketap.Decision{Policy: laketap.WarmPolicy, Control: share}
			got := d.HeldOut(name)
			if before && !got {
				t.Fatalf("%s is no longer held out at %v", name.Key, share)
			}
			if got {
				held[share]++
			}
			before = got
		}
	}
	for _, share := range shares {
		sigma := math.Sqrt(objects * share * (1 - share))
		if got, want := float64(held[share]), objects*share; math.Abs(got-want) > 4*sigma {
			t.Errorf("share %v: %v of %v held out", share, got, objects)
		}
	}
}
