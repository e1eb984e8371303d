package catalog_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/tap/catalog"
)

// tagged is an upstream with ETags: it answers 304 if the tag of the variant
// that is asked for is among those sent.
func tagged(config func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		etag := fmt.Sprintf(`"v1,%s"`, r.URL.RawQuery)
		if strings.Contains(r.Header.Get("If-None-Match"), etag) {
			w.Header().Set("ETag", etag)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		send(w, 200, table("s3://lake/wh/orders", config()), "ETag: "+etag, "Last-Modified: Mon, 30 Nov 2026 00:00:00 GMT")
	}
}

// R7, N21: an ETag is good for one caller and one variant of a table.
func TestETags(t *testing.T) {
	alice, bob := "Authorization: Bearer alice", "Authorization: Bearer bob"
	expiring := func() string {
		return keysJSON + fmt.Sprintf(`,"s3.session-token-expires-at-ms":"%d"`, start.Add(time.Hour).UnixMilli())
	}
	f := setUp(t, tagged(expiring), nil)
	first := f.do("GET", loadPath+"?snapshots=refs", "", alice)
	etag := first.header.Get("ETag")
	if !strings.HasPrefix(etag, `"lt-`) || first.header.Get("Last-Modified") != "" {
		t.Fatalf("headers = %v, want an ETag of ours", first.header)
	}
	if v := first.config(t)["s3.session-token-expires-at-ms"]; v != strconv.FormatInt(start.Add(time.Hour).UnixMilli(), 10) {
		t.Errorf("expiry = %s, want the upstream's", v)
	}
	if s := f.session(first); !s.Expires.Equal(start.Add(time.Hour)) {
		t.Errorf("session expires %v", s.Expires)
	}
	tests := []struct {
		name, target string
		pass         time.Duration
		status       int
		headers      []string
	}{
		{"same client", loadPath + "?snapshots=refs", 0, 304, []string{alice, "If-None-Match: " + etag}},
		{"weak spelling and others in the list", loadPath + "?snapshots=refs", 0, 304, []string{alice, `If-None-Match: "x, y", W/` + etag}},
		{"another principal", loadPath + "?snapshots=refs", 0, 200, []string{bob, "If-None-Match: " + etag}},
		{"nobody", loadPath + "?snapshots=refs", 0, 200, []string{"If-None-Match: " + etag}},
		{"another variant", loadPath + "?snapshots=all", 0, 200, []string{alice, "If-None-Match: " + etag}}, // R7
		{"no variant", loadPath, 0, 200, []string{alice, "If-None-Match: " + etag}},
		{"another engine with a row of its own", loadPath + "?snapshots=refs", 0, 200, []string{alice, "If-None-Match: " + etag, "User-Agent: StarRocks-Iceberg-Connector/3"}},
		{"another delegation", loadPath + "?snapshots=refs", 0, 200, []string{alice, "If-None-Match: " + etag, "X-Iceberg-Access-Delegation: vended-credentials,remote-signing"}},
		{"another host, so another address", loadPath + "?snapshots=refs", 0, 200, []string{alice, "If-None-Match: " + etag, "Host: other.example.com"}},
		{"damaged", loadPath + "?snapshots=refs", 0, 200, []string{alice, "If-None-Match: " + etag[:len(etag)-3] + `A"`}},
		{"session still good", loadPath + "?snapshots=refs", 45 * time.Minute, 304, []string{alice, "If-None-Match: " + etag}},
		{"session about to end", loadPath + "?snapshots=refs", 51 * time.Minute, 200, []string{alice, "If-None-Match: " + etag}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f.pass(tt.pass)
			defer f.pass(-tt.pass)
			f.forgetCalls()
			got := f.doHost(tt.target, tt.headers...)
			if got.status != tt.status {
				t.Errorf("status %d, want %d", got.status, tt.status)
			}
			sent := f.seen()[0].header.Get("If-None-Match")
			if strings.Contains(sent, "lt-") {
				t.Errorf("an ETag of ours went upstream: %s", sent)
			}
			switch {
			case tt.status == 304:
				if !strings.HasSuffix(got.header.Get("ETag"), etag) || len(got.body) != 0 || !strings.Contains(sent, `"v1,snapshots=refs"`) {
					t.Errorf("304 with %v and %q after %q", got.header, got.body, sent)
				}
			case strings.Contains(sent, "v1"):
				t.Errorf("upstream was asked about %s", sent)
			default:
				f.session(got)
			}
		})
	}
}

// doHost is do, with a Host header among the headers.
func (f *fixture) doHost(target string, headers ...string) answer {
	f.Helper()
	for _, h := range headers {
		if host, ok := strings.CutPrefix(h, "Host: "); ok {
			req, err := http.NewRequestWithContext(f.Context(), http.MethodGet, f.tap.URL+target, http.NoBody)
			if err != nil {
				f.Fatal(err)
			}
			req.Host = host
			for _, h := range headers {
				name, value, _ := strings.Cut(h, ": ")
				req.Header.Add(name, value)
			}
			return f.roundTrip(req)
		}
	}
	return f.do("GET", target, "", headers...)
}

// Without an ETag from the upstream there is none of ours; without an expiry
// a tag is as good as the upstream says.
func TestETagsWithoutExpiry(t *testing.T) {
	f := setUp(t, tagged(func() string { return keysJSON }), nil)
	etag := f.do("GET", loadPath, "").header.Get("ETag")
	f.pass(1000 * time.Hour)
	if got := f.do("GET", loadPath, "", "If-None-Match: "+etag); got.status != 304 || got.header.Get("ETag") != etag {
		t.Errorf("got %d %v", got.status, got.header)
	}
	none := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON)), nil)
	if got := none.do("GET", loadPath, ""); got.header.Get("ETag") != "" {
		t.Errorf("ETag = %s out of nothing", got.header.Get("ETag"))
	}
}

// A tag of one authority does not hold under another.
func TestETagsAfterAChangeOfAuthority(t *testing.T) {
	f := setUp(t, tagged(func() string { return keysJSON }), nil)
	etag := f.do("GET", loadPath, "").header.Get("ETag")
	g := setUp(t, tagged(func() string { return keysJSON }), func(o *catalog.Options) {
		o.Keys = f.keys
		o.Authority = catalog.Authority{Mode: catalog.ModeCatalog, Roots: []string{"s3://lake"}, Write: true}
	})
	if got := g.do("GET", loadPath, "", "If-None-Match: "+etag); got.status != 200 {
		t.Errorf("got %d", got.status)
	}
}

// The answer to a commit has the upstream's ETag, since it passes as it is. A
// client that sends it with its next load has no keys of ours yet: it gets
// the edited body, whatever the upstream would say to that ETag. Dates are no
// way around that.
func TestETagOfACommitBringsTheEditedBody(t *testing.T) {
	committed := `"v1,"` // what tagged gives to a load without a query
	f := setUp(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			send(w, 200, table("s3://lake/wh/orders", ""), "ETag: "+committed)
		case r.Header.Get("If-Modified-Since") != "":
			w.WriteHeader(http.StatusNotModified)
		default:
			tagged(func() string { return keysJSON })(w, r)
		}
	}, nil)
	etag := f.do("POST", loadPath, `{"requirements":[],"updates":[]}`).header.Get("ETag")
	if etag != committed {
		t.Fatalf("ETag of a commit = %s, want the upstream's %s", etag, committed)
	}
	ours := ""
	for _, header := range []string{
		"If-None-Match: " + etag, "If-None-Match: *", "If-None-Match: W/" + etag + `, "other"`,
		"If-Modified-Since: Mon, 30 Nov 2026 00:00:00 GMT",
	} {
		got := f.do("GET", loadPath, "", header)
		if got.status != 200 {
			t.Errorf("%s: status %d, want 200 with the edited body", header, got.status)
			continue
		}
		f.session(got) // fails without keys of ours
		ours = got.header.Get("ETag")
	}
	// Beside an ETag of ours it does no harm: the 304 is about that one.
	got := f.do("GET", loadPath, "", "If-None-Match: "+etag+", "+ours)
	if got.status != 304 || got.header.Get("ETag") != ours {
		t.Errorf("both: %d %v, want 304 with %s", got.status, got.header, ours)
	}
}

// A table whose answers pass byte for byte keeps the upstream's 304s, until an
// answer can be led through us again.
func TestETagsOfPassingTablesGoUpstream(t *testing.T) {
	config := ""
	f := setUp(t, func(w http.ResponseWriter, r *http.Request) { tagged(func() string { return config })(w, r) }, nil)
	theirs := f.do("GET", loadPath, "").header.Get("ETag")
	if theirs != `"v1,"` {
		t.Fatalf("ETag = %s, want the upstream's", theirs)
	}
	load := func() int { return f.do("GET", loadPath, "", "If-None-Match: "+theirs).status }
	if got := load(); got != 304 {
		t.Errorf("status %d for what the client has, want 304", got)
	}
	f.pass(time.Hour) // what was remembered is over
	if got := load(); got != 304 {
		t.Errorf("status %d after an hour, want 304", got)
	}
	config = keysJSON
	f.pass(time.Hour)
	if got := load(); got != 200 {
		t.Errorf("status %d now that the catalog vends, want 200 with keys", got)
	}
	if got := load(); got != 200 {
		t.Errorf("status %d for the body without our keys, want 200", got)
	}
}

// An upstream that refuses our header is asked again without it. That answer
// may be edited too, under authority of the catalog, so an ETag that is not
// ours does not go along.
func TestETagIsNotRepeatedAfterARefusal(t *testing.T) {
	f := setUp(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Iceberg-Access-Delegation") != "" {
			send(w, 400, `{"error":{"message":"no","type":"BadRequestException","code":400}}`)
			return
		}
		tagged(func() string { return "" })(w, r)
	}, func(o *catalog.Options) {
		o.Authority = catalog.Authority{Mode: catalog.ModeCatalog, Roots: []string{"s3://lake/wh"}}
	})
	got := f.do("GET", loadPath, "", `If-None-Match: "v1,"`)
	if got.status != 200 {
		t.Fatalf("status %d, want 200", got.status)
	}
	f.session(got)
}
