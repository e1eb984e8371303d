package observe_test

import (
	"encoding/json"
	"strconv"
	"testing"
)

// withCurrent returns table metadata with another current snapshot. The refs go:
// they would contradict it.
func withCurrent(t *testing.T, metadata []byte, snapshot int64) []byte {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(metadata, &members); err != nil {
		t.Fatal(err)
	}
	members["current-snapshot-id"] = json.RawMessage(strconv.FormatInt(snapshot, 10))
	delete(members, "refs")
	b, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
