package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// A catalog that vends nothing, and nobody who lends authority: engines get
// from Laketap, byte for byte, what they get without.
func TestPassThroughWithoutAuthority(t *testing.T) {
	l := lake.Start(t, "--vend=none")
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	direct, through := catalog.Client{URI: l.Catalog}, catalog.Client{URI: server.Catalog}
	direct.Create(t, "p", "t", "")
	for _, path := range []string{
		"/v1/namespaces", "/v1/namespaces/p", "/v1/namespaces/p/tables", "/v1/namespaces/p/tables/t",
		"/v1/namespaces/p/tables/t?snapshots=refs", "/v1/namespaces/p/tables/none", "/v1/namespaces/p/tables/t/credentials",
		"/v1/namespaces?parent=", "/v1/no%2Fsuch//path?a=b&a",
	} {
		want, errWant := direct.Do(t.Context(), http.MethodGet, path, "", nil)
		got, errGot := through.Do(t.Context(), http.MethodGet, path, "", nil)
		if errWant != nil || errGot != nil {
			t.Fatal(errWant, errGot)
		}
		if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) {
			t.Errorf("GET %s: %d, %s\nwant %d, %s", path, got.Status, got.Body, want.Status, want.Body)
		}
	}
	if said, _ := laketap.Doctor(t, server); !strings.Contains(said, "storage.authority") || !strings.Contains(said, "vend") {
		t.Errorf("doctor does not say why, and what to do:\n%s", said)
	}
}

// odd is a table that Laketap does not stand in front of, in spellings that an
// edit would not keep: unknown fields, large numbers, order, spaces, escapes.
const odd = `{ "zeta":1, "metadata-location":"%[1]s/m.json", "metadata":{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1",
 "location":"%[1]s", "last-sequence-number":9223372036854775807, "big":123456789012345678901234567890, "e":1E+2, "new":{"b":1,"a":"\u00e4\/"} },
 "config":{"%[2]s":"http://elsewhere/","token":"secret"}, "storage-credentials":[{"prefix":"%[1]s","config":{"k":"v"}}] , "alpha":null}`

func TestPassThroughOfForeignTables(t *testing.T) {
	bodies := map[string]string{
		"gs":             fmt.Sprintf(odd, "gs://bucket/t", "gcs.oauth2.token"),
		"abfss":          fmt.Sprintf(odd, "abfss://c@account.dfs.core.windows.net/t", "adls.sas-token"),
		"foreign bucket": fmt.Sprintf(odd, "s3://elsewhere/t", "s3.endpoint"),
		"not a table":    `[1, 2 ]`,
		"not JSON":       `<html>`,
	}
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[strings.TrimPrefix(r.URL.Path, "/v1/namespaces/n/tables/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	})
	config := laketap.InFrontOf(t, lake.Start(t))
	config.Catalogs[0].URL = upstream.URL
	config.Storage.Origins[0].Buckets = []string{"lake"}
	server := laketap.Start(t, config)
	for name, want := range bodies {
		path := "/v1/namespaces/n/tables/" + strings.ReplaceAll(name, " ", "%20")
		got, err := catalog.Client{URI: server.Catalog}.Do(t.Context(), http.MethodGet, path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got.Body)); diff != "" || got.Status != http.StatusOK {
			t.Errorf("%s: %d (-upstream +through Laketap):\n%s", name, got.Status, diff)
		}
	}
}

// vendor is the lake's catalog with other keys than the lake's: what a catalog
// of a cloud vends.
func vendor(t *testing.T, l *lake.Lake, config func() map[string]string) *httptest.Server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		got, err := catalog.Client{URI: l.Catalog}.Do(r.Context(), r.Method, r.URL.RequestURI(), "", nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		var loaded map[string]json.RawMessage
		if json.Unmarshal(got.Body, &loaded) == nil && loaded["metadata"] != nil {
			loaded["config"], _ = json.Marshal(config())
			delete(loaded, "storage-credentials")
			got.Body, _ = json.Marshal(loaded)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(got.Status)
		_, _ = w.Write(got.Body)
	})
}

// Keys end when upstream's end, and the store's form of saying so is kept.
func TestExpiredSession(t *testing.T) {
	l := lake.Start(t)
	catalog.Client{URI: l.Catalog}.Create(t, "e", "t", "")
	ends := time.Now().Add(3 * time.Second)
	upstream := vendor(t, l, func() map[string]string {
		return map[string]string{
			"s3.endpoint": l.S3.Endpoint, "s3.access-key-id": l.Keys.ID, "s3.secret-access-key": l.Keys.Secret,
			"s3.path-style-access": "true", "client.region": l.S3.Region,
			"s3.session-token-expires-at-ms": strconv.FormatInt(ends.UnixMilli(), 10),
		}
	})
	config := laketap.InFrontOf(t, l)
	config.Catalogs[0].URL = upstream.URL
	server := laketap.Start(t, config)
	table := catalog.Client{URI: server.Catalog}.Load(t, "e", "t")
	l.Put(t, table.Path()+"/data/x", "mine")
	get := func() s3.Response {
		t.Helper()
		got, err := table.Client().Do(t.Context(), s3.Request{Target: table.Path() + "/data/x"})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := get(); got.Status != http.StatusOK && time.Now().Before(ends) {
		t.Fatalf("before the keys end: %v", got)
	}
	server.Process.Eventually(t, 10*time.Second, func() error {
		if got := get(); got.Status != http.StatusBadRequest || got.Code != "ExpiredToken" {
			return fmt.Errorf("answer %v, want 400 ExpiredToken", got)
		}
		return nil
	})
	arrived := l.Arrived(t)
	get()
	if l.Arrived(t) != arrived {
		t.Error("a request with expired keys reached the store")
	}
}

// A cloud's session token may be long: it travels inside ours and arrives whole.
func TestLongUpstreamToken(t *testing.T) {
	token := strings.Repeat("4KiB", 1024)
	type seen struct{ token, key string }
	arrived := make(chan seen, 1)
	origin := serve(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case arrived <- seen{r.Header.Get("X-Amz-Security-Token"), r.Header.Get("Authorization")}:
		default:
		}
		_, _ = io.WriteString(w, "data")
	})
	l := lake.Start(t)
	catalog.Client{URI: l.Catalog}.Create(t, "l", "t", "")
	upstream := vendor(t, l, func() map[string]string {
		return map[string]string{
			"s3.endpoint": origin.URL, "s3.access-key-id": "ASIAUPSTREAM", "s3.secret-access-key": "upstream",
			"s3.session-token": token, "s3.path-style-access": "true", "client.region": "us-east-1",
		}
	})
	config := laketap.InFrontOf(t, l)
	config.Catalogs[0].URL = upstream.URL
	config.Storage.Origins[0].Endpoint = origin.URL
	server := laketap.Start(t, config)
	table := catalog.Client{URI: server.Catalog}.Load(t, "l", "t")
	if strings.Contains(string(table.Raw), "ASIAUPSTREAM") || strings.Contains(string(table.Raw), token) {
		t.Fatal("the catalog's keys reach the engine")
	}
	drained := len(arrived) > 0
	if drained {
		<-arrived // Laketap itself may look whether the store is there
	}
	got, err := table.Client().Do(t.Context(), s3.Request{Target: table.Path() + "/data/x"})
	if err != nil || string(got.Body) != "data" {
		t.Fatalf("get: %v %q %v", got, got.Body, err)
	}
	at := <-arrived
	if at.token != token || !strings.Contains(at.key, "ASIAUPSTREAM") {
		t.Errorf("the store was shown a token of %d characters, signed %q; want the catalog's", len(at.token), at.key)
	}
}

// serve runs a handler on a port of its own until the test ends.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}
