package e2e_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
)

// configWords are settings that tables are handed out with. They are for the
// client that asked; a table that kept one would be bound to Laketap.
var configWords = []string{"s3.endpoint", "s3.access-key-id", "s3.secret-access-key", "s3.session-token", "x-laketap", "X-Laketap"}

// checkLeavesNothing checks that nothing that lies in the lake names Laketap:
// its addresses, the keys that it handed out, the settings that came with them.
func checkLeavesNothing(t *testing.T, l *lake.Lake, s *laketap.Server, accesses []laketap.Access) {
	t.Helper()
	words := map[string]bool{}
	for _, address := range []string{s.Catalog, s.Storage, s.Admin} {
		words[strings.TrimPrefix(address, "http://")] = true
	}
	for _, a := range accesses {
		if a.Session != "" {
			words[a.Session] = true
		}
	}
	for _, word := range configWords {
		words[word] = true
	}
	kinds := map[string]int{}
	for path, stored := range l.Stored(t) {
		for word := range words {
			if bytes.Contains(stored, []byte(word)) {
				t.Errorf("%s names %s", path, word)
			}
		}
		// Guards the check itself: metadata is known to name the bucket.
		for _, suffix := range []string{".metadata.json", ".avro", ".parquet"} {
			if strings.HasSuffix(path, suffix) && (suffix == ".parquet" || bytes.Contains(stored, []byte("s3://"+l.S3.Bucket+"/"))) {
				kinds[suffix]++
			}
		}
	}
	if len(kinds) != 3 {
		t.Errorf("files that were looked at: %v, want metadata, manifests and data", kinds)
	}
	t.Logf("%d words in no file; among these %v", len(words), kinds)
}
