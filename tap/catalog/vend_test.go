package catalog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/catalog"
)

// Whatever would lead a client around the storage tap goes; whatever else a
// catalog says of a table stays.
func TestWhatGoesAndWhatStays(t *testing.T) {
	goes := []string{
		"s3.signer", "s3.signer.uri", "s3.signer.endpoint", "signer.uri", "signer.endpoint", "remote-signing-enabled",
		"s3.access-grants.enabled", "s3.access-grants.fallback-to-iam", "credentials.uri", "client.credentials-provider",
		"client.credentials-provider.x", "client.factory", "client.assume-role.arn", "s3.role-arn", "client.role-arn",
		"client.access-key-id", "client.secret-access-key", "client.session-token", "s3.client-factory-impl",
		"s3.force-virtual-addressing", "s3.acceleration-enabled", "s3.dualstack-enabled", "s3.access-points.lake",
		"s3.cross-region-access-enabled", "aws.s3.access_key", "s3.anonymous", "s3.profile-name",
	}
	stays := []string{
		"token", "s3.sse.type", "s3.multipart.part-size-bytes", "s3.delete-enabled", "s3.connect-timeout", "gcs.oauth2.token",
		"write.format.default", "expiration-time", "s3.endpoints", "S3.SIGNER.URI",
	}
	config := make([]string, 0, len(goes)+len(stays))
	for _, key := range append(append([]string{}, goes...), stays...) {
		config = append(config, fmt.Sprintf("%q:%q", key, "value"))
	}
	f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON+","+strings.Join(config, ","))), nil)
	got := f.do("GET", loadPath, "").config(t)
	for _, key := range goes {
		if v, has := got[key]; has {
			t.Errorf("%s = %s is left", key, v)
		}
	}
	for _, key := range stays {
		if got[key] != "value" {
			t.Errorf("%s is gone", key)
		}
	}
}

func TestFileIO(t *testing.T) {
	for impl, stays := range map[string]bool{
		"org.apache.iceberg.hadoop.HadoopFileIO": false, // knows nothing of vended keys
		"org.apache.iceberg.aws.s3.S3FileIO":     true,
	} {
		f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON+`,"io-impl":"`+impl+`"`)), nil)
		if _, has := f.do("GET", loadPath, "").config(t)["io-impl"]; has != stays {
			t.Errorf("%s stays: %v", impl, has)
		}
	}
}

// N10: engines renew keys where the upstream lets them, through us.
func TestRefreshEndpoint(t *testing.T) {
	for _, tt := range []struct{ from, want string }{
		{"v1/wh/namespaces/n/tables/t/credentials", "v1/wh/namespaces/n/tables/t/credentials"},
		{"/v1/credentials", "/v1/credentials"},
		{"UP/iceberg/v1/credentials", "OURS/prod/v1/credentials"},
		{"UP/icebergs/v1/credentials", ""},
		{"https://elsewhere/v1/credentials", ""},
	} {
		f := setUp(t, nil, nil)
		f.upstream = reply(200, table("s3://lake/wh/orders", keysJSON+`,"client.refresh-credentials-endpoint":"`+strings.ReplaceAll(tt.from, "UP", f.up.URL)+`"`))
		got, has := f.do("GET", "/prod"+loadPath, "").config(t)["client.refresh-credentials-endpoint"]
		if want := strings.ReplaceAll(tt.want, "OURS", f.tap.URL); got != want || has != (want != "") {
			t.Errorf("%s became %q, want %q", tt.from, got, want)
		}
	}
}

// N10: a session ends when the keys in it do, and says so.
//
// The first key ends the session, wherever its end is told.
func TestExpiry(t *testing.T) {
	credential := `"storage-credentials":[{"prefix":"s3","config":{"s3.access-key-id":"B","s3.secret-access-key":"b","s3.session-token-expires-at-ms":"1796130000000"}}],"later"`
	for _, tt := range []struct {
		name, config string
		want         int64
	}{
		{"in the credential", keysJSON, 1796130000000},
		{"earlier in config", keysJSON + `,"s3.session-token-expires-at-ms":"1796120000000"`, 1796120000000},
		{"later in config", keysJSON + `,"s3.session-token-expires-at-ms":"1796140000000"`, 1796130000000},
		{"nonsense in config", keysJSON + `,"s3.session-token-expires-at-ms":"soon"`, 1796130000000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := setUp(t, reply(200, strings.Replace(table("s3://lake/wh/orders", tt.config), `"later"`, credential, 1)), nil)
			if got := f.session(f.do("GET", loadPath, "")).Expires.UnixMilli(); got != tt.want {
				t.Errorf("session ends at %d, want %d", got, tt.want)
			}
		})
	}
}

func TestForeignCredentials(t *testing.T) {
	for name, entry := range map[string]string{
		"another scheme":   `{"prefix":"abfss://x@y/","config":{}}`,
		"another bucket":   `{"prefix":"s3://elsewhere/x","config":{}}`,
		"another endpoint": `{"prefix":"s3://lake/wh/orders","config":{"s3.endpoint":"https://elsewhere"}}`,
		"another origin":   `{"prefix":"s3://minio-only/x","config":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.Replace(table("s3://lake/wh/orders", keysJSON), `"later"`, `"storage-credentials":[`+entry+`],"later"`, 1)
			f := setUp(t, reply(200, body), nil)
			if got := f.do("GET", loadPath, ""); string(got.body) != body || f.h.Upstreams()[0].LastReason != "foreign_credentials" {
				t.Errorf("got %s for %+v", got.body, f.h.Upstreams()[0])
			}
		})
	}
}

// Without randomness there are no keys to vend: what the catalog said passes,
// and nobody is told of an error.
func TestNoRandomness(t *testing.T) {
	body := table("s3://lake/wh/orders", keysJSON)
	f := setUp(t, reply(200, body), func(o *catalog.Options) { o.Rand = iotest.ErrReader(errors.New("none")) })
	got := f.do("GET", loadPath, "")
	if got.status != 200 || string(got.body) != body || f.h.Upstreams()[0].LastReason != "internal" {
		t.Errorf("got %d %s, %+v", got.status, got.body, f.h.Upstreams()[0])
	}
}

// An upstream that ignores conditions: its 200 is ours.
func TestUpstreamIgnoresConditions(t *testing.T) {
	f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON), `ETag: "1"`), nil)
	etag := f.do("GET", loadPath, "").header.Get("ETag")
	got := f.do("GET", loadPath, "", "If-None-Match: "+etag)
	if again := got.header.Get("ETag"); got.status != 200 || again == "" || again == `"1"` {
		t.Errorf("got %d with ETag %s", got.status, again)
	}
	f.session(got)
}

// A 304 that does not repeat the ETag gets the client's own back.
func TestNotModifiedWithoutETag(t *testing.T) {
	f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON), `ETag: "1"`), nil)
	etag := f.do("GET", loadPath, "").header.Get("ETag")
	f.upstream = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }
	if got := f.do("GET", loadPath, "", "If-None-Match: "+etag); got.status != 304 || got.header.Get("ETag") != etag {
		t.Errorf("got %d with ETag %s", got.status, got.header.Get("ETag"))
	}
	if a := lastAccess(t, f.records, 2); a.Status != 304 || a.Table.UUID != uuid || a.Principal != "anonymous" {
		t.Errorf("access = %+v", a)
	}
}

// countedKeys counts how often randomness is asked for, and fails from the
// third time on: the server's own id and the request's are made, the key is
// not.
type countedKeys struct{ calls atomic.Int64 }

func (c *countedKeys) Read(p []byte) (int, error) {
	if c.calls.Add(1) > 2 {
		return 0, errors.New("none")
	}
	return copy(p, bytes.Repeat([]byte{7}, len(p))), nil
}

func TestRandomnessEnds(t *testing.T) {
	f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON)), func(o *catalog.Options) { o.Rand = &countedKeys{} })
	got := f.do("GET", loadPath, "")
	if id := got.header.Get("X-Laketap-Request-Id"); id != "A4DQOBYHA4DQOBYH" {
		t.Errorf("request id = %s", id)
	}
	if config := got.config(t); config["s3.access-key-id"] != "ASIAUP" {
		t.Errorf("config = %v", config)
	}
}

// A long answer is streamed: its beginning is here before its end is sent.
func TestAnswersAreStreamed(t *testing.T) {
	var once sync.Once
	release := make(chan struct{})
	f := setUp(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "begin")
		_ = http.NewResponseController(w).Flush()
		<-release
		_, _ = io.WriteString(w, "end")
	}, nil)
	defer once.Do(func() { close(release) })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.tap.URL+"/v1/wh/namespaces", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	begin := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, begin); err != nil || string(begin) != "begin" {
		t.Fatalf("read %q, %v", begin, err)
	}
	once.Do(func() { close(release) })
	if rest, err := io.ReadAll(resp.Body); string(rest) != "end" || err != nil {
		t.Errorf("read %q, %v", rest, err)
	}
}

// Scopes that two origins could claim, by what the catalog vends as endpoint.
func TestOriginByEndpoint(t *testing.T) {
	for endpoint, want := range map[string]string{
		"":                                     "aws",
		"https://s3.eu-west-1.amazonaws.com":   "aws",
		"http://minio:9000":                    "minio",
		"http://MINIO:9000/":                   "minio",
		"https://s3.dualstack.x.amazonaws.com": "aws",
	} {
		config := keysJSON
		if endpoint != "" {
			config += `,"s3.endpoint":"` + endpoint + `"`
		}
		f := setUp(t, reply(200, table("s3://lake/wh/orders", config)), nil)
		s := f.session(f.do("GET", loadPath, ""))
		if diff := cmp.Diff(tap.Location{Origin: want, Bucket: "lake", Path: "wh/orders"}, s.Scope[0]); diff != "" || s.Origin != want {
			t.Errorf("%s: %s", endpoint, diff)
		}
	}
}
