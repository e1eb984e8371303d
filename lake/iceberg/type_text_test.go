package iceberg_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/laketap/laketap/lake/iceberg"
)

// A type is spelled as metadata has it.
func TestTypeString(t *testing.T) {
	for _, text := range []string{
		"boolean", "int", "long", "float", "double", "decimal(9, 2)", "date", "time", "timestamp", "timestamptz", "string", "uuid", "fixed[16]",
		"binary", "timestamp_ns", "timestamptz_ns", "unknown", "variant", "geometry", "geography", "geometry(srid:3857)", "geography(srid:4326, karney)",
	} {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		metadata := strings.Replace(minimalTable, `"TYPE"`, string(quoted), 1)
		table, err := iceberg.ParseMetadata([]byte(metadata))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := table.CurrentSchema().Fields[0].Type.String(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

const minimalTable = `{"format-version":3,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://b/t","last-sequence-number":0,
"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"c","required":false,"type":"TYPE"}]}],
"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"next-row-id":0}`
