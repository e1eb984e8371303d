package iceberg_test

import (
	"errors"
	"os"
	"testing"

	"github.com/laketap/laketap/lake/iceberg"
)

// The Java library puts a length in front of partition values of type fixed,
// which the schema in the same file does not say. Its own reader forgives it;
// by the specification the bytes behind are another field's. It is an error,
// never other numbers.
func TestJavaFixed(t *testing.T) {
	b, err := os.ReadFile("testdata/odd/java_fixed.avro")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []iceberg.Want{0, iceberg.WantPartition, iceberg.WantAll} {
		n := 0
		var last error
		for _, err := range iceberg.ReadManifest(t.Context(), manifest(b), nil, files{"x": b}, iceberg.Options{Want: want}) {
			if last = err; err == nil {
				n++
			}
		}
		if n > 0 || !errors.Is(last, iceberg.ErrMalformed) {
			t.Errorf("%d entries, %v", n, last)
		}
	}
}
