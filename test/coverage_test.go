package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
)

// methods says how each S3 action goes over the wire.
var methods = map[string]string{
	"AbortMultipartUpload":    "DELETE",
	"CompleteMultipartUpload": "POST",
	"CopyObject":              "PUT",
	"CreateMultipartUpload":   "POST",
	"DeleteObject":            "DELETE",
	"DeleteObjects":           "POST",
	"GetBucketLocation":       "GET",
	"GetObject":               "GET",
	"HeadBucket":              "HEAD",
	"HeadObject":              "HEAD",
	"ListObjects":             "GET",
	"ListObjectsV2":           "GET",
	"ListParts":               "GET",
	"PutObject":               "PUT",
	"UploadPart":              "PUT",
	"UploadPartCopy":          "PUT",
}

// checkCoverage checks that everything that reached the lake's store is an
// access of the storage tap, and that each access says whose it is.
func checkCoverage(t *testing.T, l *lake.Lake, s *laketap.Server) {
	t.Helper()
	accesses := s.Accesses(t)
	checkArrived(t, l, accesses)
	byEngine := map[string]int{}
	for _, a := range accesses {
		checkAccess(t, a)
		byEngine[a.Tap+" "+a.Engine]++
	}
	t.Logf("accesses by tap and engine: %v", byEngine)
	for _, engine := range []string{"duckdb", "pyiceberg", "spark"} {
		if byEngine["catalog "+engine] == 0 || byEngine["storage "+engine] == 0 {
			t.Errorf("no access of %s at one of the taps", engine)
		}
	}
}

// checkArrived checks that what reached the lake's store is, request by
// request, what the storage tap recorded: nobody went around it.
func checkArrived(t *testing.T, l *lake.Lake, accesses []laketap.Access) {
	t.Helper()
	var arrived, seen []string
	for _, r := range l.Requests(t) {
		if r.Kind != "s3" || byCatalog(r) {
			continue
		}
		path, err := url.PathUnescape(r.Path)
		if err != nil {
			t.Errorf("the lake was asked for %q: %v", r.Path, err)
		}
		arrived = append(arrived, fmt.Sprintf("%s %s %s", r.Method, path, r.Range))
	}
	for _, a := range accesses {
		if a.Tap == "storage" && a.Object != nil {
			path := strings.TrimSuffix("/"+a.Object.Bucket+"/"+a.Object.Key, "/")
			seen = append(seen, fmt.Sprintf("%s %s %s", methods[a.Op], path, a.Range))
		}
	}
	slices.Sort(arrived)
	slices.Sort(seen)
	if diff := cmp.Diff(arrived, seen); diff != "" {
		t.Errorf("requests (-at the store +at the storage tap):\n%.4000s", diff)
	}
	t.Logf("%d requests at the store", len(arrived))
}

// byCatalog reports whether a request to the store is the catalog's own, which
// keeps metadata there: the reference catalog is Iceberg 1.11 and has its
// S3FileIO, as Spark has with Iceberg 1.12, and Nessie has the bare SDK, as
// Trino has under its own name. The local lake's asks nobody.
func byCatalog(r lake.Request) bool {
	return strings.Contains(r.UserAgent, "Apache Iceberg 1.11.") ||
		strings.HasPrefix(r.UserAgent, "aws-sdk-java/") && !strings.Contains(r.UserAgent, "app/Trino")
}

// tableless are catalog operations that concern no table, or none yet.
var tableless = []string{
	"getConfig", "listNamespaces", "createNamespace", "loadNamespaceMetadata", "namespaceExists",
	"dropNamespace", "updateProperties", "listTables", "listViews", "commitTransaction",
}

// checkAccess checks that an access says which engine and which table.
func checkAccess(t *testing.T, a laketap.Access) {
	t.Helper()
	if a.Engine == "" || a.Engine == "unknown" {
		t.Errorf("access %d (%s %s) has no engine", a.Seq, a.Tap, a.Op)
	}
	missing := a.Status == http.StatusNotFound // a table that is not there has no name to give
	if a.Tap == "catalog" && (missing || slices.Contains(tableless, a.Op)) {
		return
	}
	if a.Table == "" || a.Tap == "storage" && (a.TableID == nil || a.TableID.UUID == "") {
		t.Errorf("access of %s at the %s tap has no table: %+v", a.Engine, a.Tap, a)
	}
}
