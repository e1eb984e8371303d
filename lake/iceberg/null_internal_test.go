package iceberg

import (
	"errors"
	"testing"

	"github.com/laketap/laketap/lake/iceberg/avro"
)

// A required field whose type says that it is never there is an error, and not
// a field that is passed over: nothing could be made of such entries.
func TestRequiredFieldOfNoType(t *testing.T) {
	null := &avro.Type{Kind: avro.Null}
	entry := &avro.Type{Kind: avro.Record, Fields: []avro.Field{{ID: 1, Name: "needed", Type: null}}}
	fields := []known{{part: partFile, id: 1, name: "needed", shape: record, required: true}}
	if _, err := plan(entry, fields, WantAll); !errors.Is(err, ErrMalformed) {
		t.Errorf("got %v, want %v", err, ErrMalformed)
	}
	fields[0].required = false
	if _, err := plan(entry, fields, WantAll); err != nil {
		t.Errorf("of an optional field: %v", err)
	}
}
