package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// A guarded is a server with authority of its own, so that the store trusts
// whatever arrives: what protects the tables is Laketap alone.
type guarded struct {
	lake   *lake.Lake
	server *laketap.Server
	table  catalog.Table // r.t, with an object data/x; its neighbour r.t2 has one too
	app    *s3.Client    // a static key that may read and write r.t alone
}

func startGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{lake: lake.Start(t, "--vend=none")}
	config := laketap.InFrontOf(t, g.lake)
	config.Storage.Authority = "catalog"
	config.Storage.Roots = []string{g.lake.Warehouse}
	config.Storage.Write = true
	config.Storage.Origins[0].AccessKeyID = g.lake.Keys.ID
	config.Storage.Origins[0].SecretFile = laketap.Secret(t, g.lake.Keys.Secret)
	at := strings.TrimSuffix(g.lake.Warehouse, "/") + "/r/"
	config.Keys = []laketap.Key{{
		ID: "app", SecretFile: laketap.Secret(t, "app secret"), Principal: "app", Prefixes: []string{at + "t"}, Write: true,
	}}
	g.server = laketap.Start(t, config)
	through := catalog.Client{URI: g.server.Catalog}
	g.table = through.Create(t, "r", "t", at+"t")
	through.Create(t, "r", "t2", at+"t2")
	g.lake.Put(t, g.table.Path()+"/data/x", "mine")
	g.lake.Put(t, g.table.Path()+"2/data/x", "theirs")
	g.app = g.table.Client()
	g.app.Keys = s3.Keys{ID: "app", Secret: "app secret"}
	return g
}

// A try is a request and what the client must be told.
type try struct {
	name string
	s3.Request

	status int
	code   string // "": not looked at
}

// refused sends each request with both kinds of keys; none may reach the store.
func (g *guarded) refused(t *testing.T, tries []try) {
	t.Helper()
	for who, client := range map[string]*s3.Client{"session": g.table.Client(), "static key": g.app} {
		for _, tt := range tries {
			t.Run(who+" "+tt.name, func(t *testing.T) {
				before := g.lake.Arrived(t)
				got, err := client.Do(t.Context(), tt.Request)
				if err != nil {
					t.Fatal(err)
				}
				if got.Status != tt.status || tt.code != "" && got.Code != tt.code {
					t.Errorf("answer %v, want %d %s", got, tt.status, tt.code)
				}
				if n := g.lake.Arrived(t) - before; n != 0 {
					t.Errorf("%d requests reached the store", n)
				}
			})
		}
	}
}

func TestRightsOfScope(t *testing.T) {
	g := startGuarded(t)
	table, bucket := g.table.Path(), "/"+g.lake.S3.Bucket
	parent := strings.TrimSuffix(table, "/t")
	key := func(path string) string { return strings.TrimPrefix(path, bucket+"/") }
	get := func(name, target string) try {
		return try{name, s3.Request{Target: target}, http.StatusForbidden, "AccessDenied"}
	}
	send := func(name, method, target, body string, header map[string]string) try {
		r := s3.Request{Method: method, Target: target, Header: header, Text: body}
		return try{name, r, http.StatusForbidden, "AccessDenied"}
	}
	copied := func(source string) map[string]string { return map[string]string{"X-Amz-Copy-Source": source} }

	// What must work, so that a refusal means something.
	for who, client := range map[string]*s3.Client{"session": g.table.Client(), "static key": g.app} {
		got, err := client.Do(t.Context(), s3.Request{Target: table + "/data/x"})
		if err != nil || got.Status != http.StatusOK || string(got.Body) != "mine" {
			t.Fatalf("%s: get its own object: %v %q %v", who, got, got.Body, err)
		}
	}
	g.refused(t, []try{
		get("sibling", table+"2/data/x"),
		get("above", parent+"/x"),
		get("dots", table+"/../t2/data/x"),
		get("encoded dots", table+"/%2e%2e/t2/data/x"),
		get("encoded slashes", table+"/%2e%2e%2ft2/data/x"),
		get("twice encoded slash", table+"%252Fdata/x"),
		get("empty segment", parent+"//t/data/x"),
		get("policy", bucket+"?policy"),
		get("all buckets", "/"),
		get("list everything", bucket+"?list-type=2"),
		get("list siblings", bucket+"?list-type=2&prefix="+strings.ReplaceAll(key(table), "/", "%2F")),
		send("delete bucket", http.MethodDelete, bucket, "", nil),
		send("write sibling", http.MethodPut, table+"2/data/y", "data", nil),
		send("copy from sibling", http.MethodPut, table+"/data/y", "", copied(table+"2/data/x")),
		send("copy to sibling", http.MethodPut, table+"2/data/y", "", copied(table+"/data/x")),
		send("copy from dots", http.MethodPut, table+"/data/y", "", copied(table+"/%2e%2e/t2/data/x")),
		send("delete many", http.MethodPost, bucket+"?delete", fmt.Sprintf(
			`<Delete><Object><Key>%s/data/x</Key></Object><Object><Key>%s2/data/x</Key></Object></Delete>`, key(table), key(table)), nil),
	})
	left, err := g.lake.Owner().Do(t.Context(), s3.Request{Target: table + "2/data/x"})
	if err != nil || string(left.Body) != "theirs" {
		t.Errorf("the sibling's object is %v %q %v", left, left.Body, err)
	}
}

func TestRightsOfSignature(t *testing.T) {
	g := startGuarded(t)
	other := catalog.Client{URI: g.server.Catalog}.Load(t, "r", "t2")
	target := g.table.Path() + "/data/x"
	flip := func(s string) string {
		c := "A"
		if s[len(s)/2] == 'A' {
			c = "B"
		}
		return s[:len(s)/2] + c + s[len(s)/2+1:]
	}
	tests := []struct {
		name   string
		change func(*s3.Client, *s3.Request)
		status int
		code   string
	}{
		{"right", func(*s3.Client, *s3.Request) {}, http.StatusOK, ""},
		{"wrong secret", func(c *s3.Client, _ *s3.Request) { c.Keys.Secret = flip(c.Keys.Secret) }, http.StatusForbidden, "SignatureDoesNotMatch"},
		{"unknown key", func(c *s3.Client, _ *s3.Request) { c.Keys.ID = "AKIAIOSFODNN7EXAMPLE" }, http.StatusForbidden, "InvalidAccessKeyId"},
		{"no token", func(c *s3.Client, _ *s3.Request) { c.Keys.Token = "" }, 0, ""},
		{"tampered token", func(c *s3.Client, _ *s3.Request) { c.Keys.Token = flip(c.Keys.Token) }, http.StatusBadRequest, "InvalidToken"},
		{"token of another key", func(c *s3.Client, _ *s3.Request) { c.Keys.Token = other.Keys().Token }, http.StatusBadRequest, "InvalidToken"},
		{"keys of another table", func(c *s3.Client, _ *s3.Request) { c.Keys = other.Keys() }, http.StatusForbidden, "AccessDenied"},
		{"other region", func(c *s3.Client, _ *s3.Request) { c.Region = "mars-1" }, 0, ""},
		{"late", func(c *s3.Client, _ *s3.Request) {
			c.Now = func() time.Time { return time.Now().Add(-16 * time.Minute) }
		}, http.StatusForbidden, "RequestTimeTooSkewed"},
		{"unsigned header", func(_ *s3.Client, r *s3.Request) {
			r.Unsigned = map[string]string{"X-Amz-Meta-Added": "1"}
		}, http.StatusForbidden, ""},
		{"header that need not be signed", func(_ *s3.Client, r *s3.Request) {
			r.Unsigned = map[string]string{"Range": "bytes=0-0"}
		}, http.StatusOK, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client, request := g.table.Client(), s3.Request{Target: target}
			tt.change(client, &request)
			before := g.lake.Arrived(t)
			got, err := client.Do(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.status == http.StatusOK:
				if got.Status/100 != 2 {
					t.Errorf("answer %v", got)
				}
				return
			case tt.status == 0 && got.Status != http.StatusForbidden && got.Status != http.StatusBadRequest:
				t.Errorf("answer %v, want a refusal", got)
			case tt.status != 0 && got.Status != tt.status, tt.code != "" && got.Code != tt.code:
				t.Errorf("answer %v, want %d %s", got, tt.status, tt.code)
			}
			if n := g.lake.Arrived(t) - before; n != 0 {
				t.Errorf("%d requests reached the store", n)
			}
		})
	}
}

func TestRightsOfPresignedURLs(t *testing.T) {
	g := startGuarded(t)
	client := g.table.Client()
	fetch := func(url string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	presign := func(c *s3.Client, target string) string {
		t.Helper()
		url, err := c.Presign(t.Context(), s3.Request{Target: target}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return url
	}
	target := g.table.Path() + "/data/x"
	good := presign(client, target)
	if got := fetch(good); got != http.StatusOK {
		t.Fatalf("presigned get: %d", got)
	}
	before := g.lake.Arrived(t)
	expired := *client
	expired.Now = func() time.Time { return time.Now().Add(-2 * time.Minute) }
	for name, url := range map[string]string{
		"expired":      presign(&expired, target),
		"another path": strings.Replace(good, "/data/x", "/data/y", 1),
		"longer":       strings.Replace(good, "Expires=60", "Expires=600", 1),
		"sibling":      presign(client, g.table.Path()+"2/data/x"),
	} {
		if got := fetch(url); got != http.StatusForbidden {
			t.Errorf("%s: %d, want 403", name, got)
		}
	}
	if n := g.lake.Arrived(t) - before; n != 0 {
		t.Errorf("%d requests reached the store", n)
	}
}

// The store's word on rights is final: keys that may only read, may only read
// through Laketap too.
func TestRightsOfTheStore(t *testing.T) {
	l := lake.Start(t, "--vend=readonly")
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	direct := catalog.Client{URI: l.Catalog}.Create(t, "r", "t", "")
	through := catalog.Client{URI: server.Catalog}.Load(t, "r", "t")
	l.Put(t, direct.Path()+"/data/x", "mine")
	if through.Keys().ID == direct.Keys().ID {
		t.Fatal("the table comes with the catalog's keys, not with ours")
	}
	write := func(c *s3.Client) s3.Response {
		t.Helper()
		got, err := c.Do(t.Context(), s3.Request{Method: http.MethodPut, Target: direct.Path() + "/data/y", Text: "y"})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want, got := write(direct.Client()), write(through.Client())
	if got.Status != want.Status || got.Code != want.Code || got.Status != http.StatusForbidden {
		t.Errorf("write with keys that may read: %v through Laketap, %v direct, want 403", got, want)
	}
	read, err := through.Client().Do(t.Context(), s3.Request{Target: direct.Path() + "/data/x"})
	if err != nil || string(read.Body) != "mine" {
		t.Errorf("read: %v %q %v", read, read.Body, err)
	}
}
