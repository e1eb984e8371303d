package tap_test

import (
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

func TestLocationOfRefusesClimbing(t *testing.T) {
	for _, uri := range []string{"s3://lake/wh/../t", "s3://lake/./t", "s3://lake/wh/%2e%2e/t", "s3://lake/wh/%252e%252e/t", "s3://lake//wh/t"} {
		if l, ok := tap.LocationOf("o", uri); ok {
			t.Errorf("LocationOf(%q) = %v, want none", uri, l)
		}
	}
}

func TestContains(t *testing.T) {
	l := tap.Location{Origin: "o", Bucket: "lake", Path: "wh/t"}
	tests := []struct {
		name, origin, bucket, key string
		want                      bool
	}{
		{"a file", "o", "lake", "wh/t/data/x.parquet", true},
		{"the location itself", "o", "lake", "wh/t", true},
		{"a directory marker", "o", "lake", "wh/t/", true},
		{"odd but legal names", "o", "lake", "wh/t/a=1/b+c d%/x", true},
		{"an empty segment", "o", "lake", "wh/t//x", true},
		{"dots in a name", "o", "lake", "wh/t/..x/x..", true},
		{"a sibling with the same beginning", "o", "lake", "wh/t2/x", false},
		{"above", "o", "lake", "wh/x", false},
		{"empty segments before", "o", "lake", "wh//t/x", false},
		{"climbing out", "o", "lake", "wh/t/../t2/x", false},
		{"climbing and coming back", "o", "lake", "wh/t/a/../x", false},
		{"a dot segment", "o", "lake", "wh/t/./x", false},
		{"climbing, once encoded in the key", "o", "lake", "wh/t/%2e%2e/t2/x", false},
		{"climbing, encoded slashes", "o", "lake", "wh/t/..%2Ft2/x", false},
		{"climbing, twice encoded", "o", "lake", "wh/t/%252e%252e/t2/x", false},
		{"climbing, five times encoded", "o", "lake", "wh/t/%252525252e%252525252e/t2/x", false},
		{"climbing behind what is no escape", "o", "lake", "wh/t/%zz/%2e%2e/%2e%2e/t2/x", false},
		{"climbing between backslashes", "o", "lake", `wh/t/..\t2/x`, false},
		{"an escape cut short", "o", "lake", "wh/t/100%", true},
		{"what is no escape", "o", "lake", "wh/t/%+1/x", true},
		{"another bucket", "o", "lake2", "wh/t/x", false},
		{"another origin", "p", "lake", "wh/t/x", false},
		{"case matters", "o", "lake", "WH/t/x", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := l.Contains(laketap.ObjectName{Origin: tt.origin, Bucket: tt.bucket, Key: tt.key}); got != tt.want {
				t.Errorf("Contains(%q) = %v, want %v", tt.key, got, tt.want)
			}
		})
	}
}

func TestContainsPrefix(t *testing.T) {
	l := tap.Location{Origin: "o", Bucket: "lake", Path: "wh/t"}
	for prefix, want := range map[string]bool{
		"wh/t/": true, "wh/t/data/p": true,
		"wh/t": false, "wh": false, "": false, "wh/t2/": false, "wh/t/../": false, "wh/t/%2e%2e/": false,
	} {
		if got := l.ContainsPrefix("o", "lake", prefix); got != want {
			t.Errorf("ContainsPrefix(%q) = %v, want %v", prefix, got, want)
		}
	}
	whole := tap.Location{Origin: "o", Bucket: "lake"}
	if !whole.ContainsPrefix("o", "lake", "") || whole.ContainsPrefix("o", "other", "") {
		t.Error("a whole bucket holds every prefix of that bucket and of no other")
	}
}

func FuzzContains(f *testing.F) {
	for _, key := range []string{"wh/t/x", "wh/t2/x", "wh/t/../t2", "wh/t/%2e%2e/t2", "wh/t//x", "", "/"} {
		f.Add(key)
	}
	t1 := tap.Location{Origin: "o", Bucket: "b", Path: "wh/t"}
	t2 := tap.Location{Origin: "o", Bucket: "b", Path: "wh/t2"}
	f.Fuzz(func(t *testing.T, key string) {
		name := laketap.ObjectName{Origin: "o", Bucket: "b", Key: key}
		if t1.Contains(name) && t2.Contains(name) {
			t.Errorf("%q lies in two places", key)
		}
	})
}
