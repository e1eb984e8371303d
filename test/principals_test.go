package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/test/authz"
	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// A duo is Laketap before a catalog that tells its two callers apart.
type duo struct {
	*testing.T
	authz  *authz.Server
	server *laketap.Server
	client catalog.Client // through Laketap
}

func newDuo(t *testing.T) *duo {
	t.Helper()
	d := &duo{T: t, authz: authz.Start(t)}
	l := &lake.Lake{}
	l.Catalog, l.S3.Endpoint, l.S3.Region = d.authz.URI, d.authz.Store, "us-east-1"
	config := laketap.InFrontOf(t, l)
	config.Storage.Origins[0].Buckets = []string{authz.Bucket}
	config.Mode = "accelerate" // what is kept must not be lent
	d.server = laketap.Start(t, config)
	d.client = catalog.Client{URI: d.server.Catalog}
	return d
}

// A grant is what the token endpoint gives.
type grant struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// ask sends a form to the token endpoint, through Laketap.
func (d *duo) ask(form ...string) (int, string) {
	d.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	got, err := d.client.Do(d.Context(), http.MethodPost, "/v1/oauth/tokens", values.Encode(),
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	if err != nil {
		d.Fatal(err)
	}
	return got.Status, string(got.Body)
}

// token asks for a token that must be given.
func (d *duo) token(form ...string) grant {
	d.Helper()
	status, body := d.ask(form...)
	var g grant
	if err := json.Unmarshal([]byte(body), &g); err != nil || status != http.StatusOK || g.Access == "" {
		d.Fatalf("token endpoint: %d %s %v", status, body, err)
	}
	d.server.Know("access token", g.Access)
	d.server.Know("refresh token", g.Refresh)
	return g
}

// login gets a principal's first token.
func (d *duo) login(who string) grant {
	d.Helper()
	d.server.Know("secret of a client", "secret of "+who)
	return d.token("grant_type", "client_credentials", "client_id", who, "client_secret", "secret of "+who)
}

// get asks the catalog with a bearer token; "" is none.
func (d *duo) get(path, token string, header ...string) catalog.Answer {
	d.Helper()
	h := http.Header{}
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	got, err := d.client.Do(d.Context(), http.MethodGet, path, "", h)
	if err != nil {
		d.Fatal(err)
	}
	return got
}

const tables = "/v1/namespaces/r/tables/"

// opened reads the properties of a loaded table, or of its credentials.
func (d *duo) opened(a catalog.Answer) catalog.Table {
	d.Helper()
	var body struct {
		Config map[string]string `json:"config"`
		Vended []struct {
			Config map[string]string `json:"config"`
		} `json:"storage-credentials"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || a.Status != http.StatusOK || len(body.Vended) != 1 {
		d.Fatalf("catalog: %d %s %v, want one credential", a.Status, a.Body, err)
	}
	if strings.Contains(string(a.Body), "secret of") || strings.Contains(string(a.Body), `"AK-`) {
		d.Fatalf("the catalog's own keys came through: %s", a.Body)
	}
	config := body.Vended[0].Config
	if body.Config != nil {
		config = body.Config
	}
	return catalog.Table{Config: config, Raw: a.Body}
}

// read asks the storage tap for an object.
func (d *duo) read(table catalog.Table, path, ranged string) s3.Response {
	d.Helper()
	r := s3.Request{Target: "/" + authz.Bucket + "/" + path}
	if ranged != "" {
		r.Header = map[string]string{"Range": ranged}
	}
	got, err := table.Client().Do(d.Context(), r)
	if err != nil {
		d.Fatal(err)
	}
	return got
}

// N21: two principals of one catalog never get each other's tables, bodies or
// objects, whatever was kept for the other a moment ago.
func TestPrincipalsAreKeptApart(t *testing.T) {
	d := newDuo(t)
	for _, table := range []string{"hers", "his", "shared"} {
		d.authz.Put(table, "data/x", "of "+table)
	}
	own := map[string]string{"alice": "hers", "bob": "his"}
	tokens := map[string]string{"alice": d.login("alice").Access, "bob": d.login("bob").Access}
	// Twice: what the first round left behind must not help in the second.
	for range 2 {
		for who, token := range tokens {
			other := own[map[string]string{"alice": "bob", "bob": "alice"}[who]]
			mine, shared := d.opened(d.get(tables+own[who], token)), d.opened(d.get(tables+"shared", token))
			if got := shared.Config["answered-to"]; got != who {
				t.Errorf("%s was given the answer to %s", who, got)
			}
			if got := d.get(tables+other, token); got.Status != http.StatusForbidden {
				t.Errorf("%s loads %s: %d", who, other, got.Status)
			}
			if got := d.get(tables+other+"/credentials", token); got.Status != http.StatusForbidden {
				t.Errorf("%s gets credentials for %s: %d", who, other, got.Status)
			}
			for path, table := range map[string]catalog.Table{own[who]: mine, "shared": shared} {
				if got := d.read(table, path+"/data/x", ""); got.Status != http.StatusOK || string(got.Body) != "of "+path {
					t.Errorf("%s reads %s: %v %q", who, path, got, got.Body)
				}
				if got := d.read(table, other+"/data/x", ""); got.Status != http.StatusForbidden {
					t.Errorf("%s reads %s with keys for %s: %v %q", who, other, path, got, got.Body)
				}
			}
		}
		if got := d.get(tables+"shared", ""); got.Status != http.StatusUnauthorized {
			t.Errorf("nobody loads a table: %d %s", got.Status, got.Body)
		}
	}
}

// N21: what one principal has read is not lent to another whom the store
// refuses, whatever the catalog lets it see.
func TestPrincipalsAskTheStoreThemselves(t *testing.T) {
	d := newDuo(t)
	d.authz.Put("shared", "data/x", "of shared")
	d.authz.Deny("bob", "shared")
	alice, bob := d.opened(d.get(tables+"shared", d.login("alice").Access)), d.opened(d.get(tables+"shared", d.login("bob").Access))
	for range 3 {
		if got := d.read(alice, "shared/data/x", ""); string(got.Body) != "of shared" {
			t.Errorf("alice reads %v %q", got, got.Body)
		}
		for _, ranged := range []string{"", "bytes=0-3"} {
			if got := d.read(bob, "shared/data/x", ranged); got.Status != http.StatusForbidden {
				t.Errorf("bob, whom the store refuses, reads %v %q", got, got.Body)
			}
		}
	}
}

// R7, N21: an ETag is good for whom it was given, as long as the keys behind it are.
func TestPrincipalsETags(t *testing.T) {
	d := newDuo(t)
	alice, bob := d.login("alice").Access, d.login("bob").Access
	hers := d.get(tables+"shared", alice).Header.Get("ETag")
	d.authz.Tags()
	for _, tt := range []struct {
		name, token, sent string
		status            int
		to                string
	}{
		{"hers by her", alice, hers, http.StatusNotModified, ""},
		{"hers by him", bob, hers, http.StatusOK, "bob"},
		{"the catalog's own", bob, `"one"`, http.StatusOK, "bob"},
		{"hers by nobody", "", hers, http.StatusUnauthorized, ""},
		{"hers for another token", "stolen", hers, http.StatusUnauthorized, ""},
	} {
		got := d.get(tables+"shared", tt.token, "If-None-Match", tt.sent)
		if got.Status != tt.status || tt.to != "" && d.opened(got).Config["answered-to"] != tt.to {
			t.Errorf("%s: %d %s", tt.name, got.Status, got.Body)
		}
	}
	// Upstream itself answered each that it knew; it never saw an ETag of ours.
	if got, want := fmt.Sprintf("%q", d.authz.Tags()), `["\"one\"" "" ""]`; got != want {
		t.Errorf("the catalog was asked with %s, want %s", got, want)
	}
	d.authz.Life(time.Minute) // too short for a 304 to lead to working keys
	soon := d.get(tables+"hers", alice).Header.Get("ETag")
	if got := d.get(tables+"hers", alice, "If-None-Match", soon); got.Status != http.StatusOK {
		t.Errorf("an ETag whose keys are about to end is answered %d", got.Status)
	}
}

// N10: keys that end in the middle of a scan are renewed where the catalog said,
// as Java's client does, and the scan goes on where it was.
func TestKeysEndInAScan(t *testing.T) {
	d := newDuo(t)
	const content = "0123456789abcdef"
	d.authz.Put("hers", "data/long", content)
	d.authz.Life(time.Second)
	token := d.login("alice").Access
	table := d.opened(d.get(tables+"hers", token))
	endpoint := table.Config["client.refresh-credentials-endpoint"]
	if strings.Contains(endpoint, "://") && !strings.HasPrefix(endpoint, d.server.Catalog) {
		t.Fatalf("keys are renewed around Laketap, at %s", endpoint)
	}
	endpoint = "/" + strings.TrimPrefix(strings.TrimPrefix(endpoint, d.server.Catalog), "/")
	read, renewed := "", 0
	d.server.Process.Eventually(t, time.Minute, func() error {
		at := len(read)
		got := d.read(table, "hers/data/long", fmt.Sprintf("bytes=%d-%d", at, at+3))
		switch {
		case got.Status == http.StatusPartialContent && renewed < at/4:
			return errors.New("the keys still work") // each part but the first waits for new keys
		case got.Status == http.StatusPartialContent:
			read += string(got.Body)
		case got.Status == http.StatusBadRequest && got.Code == "ExpiredToken":
			table, renewed = d.opened(d.get(endpoint, token)), renewed+1
		default:
			t.Fatalf("a read is answered %v %s", got, got.Body)
		}
		if len(read) < len(content) {
			return fmt.Errorf("%d bytes read", len(read))
		}
		return nil
	})
	if read != content || renewed < 3 {
		t.Errorf("read %q with keys that were renewed %d times", read, renewed)
	}
}

// R11: tokens are exchanged and refreshed with the catalog itself, and whoever
// comes with the new one is still the same.
func TestPrincipalsKeepTheirNames(t *testing.T) {
	d := newDuo(t)
	for _, who := range []string{"alice", "bob"} {
		first := d.login(who)
		second := d.token("grant_type", "refresh_token", "refresh_token", first.Refresh)
		third := d.token("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token", second.Access,
			"subject_token_type", "urn:ietf:params:oauth:token-type:access_token")
		for _, token := range []string{first.Access, third.Access} {
			d.opened(d.get(tables+"shared", token))
		}
		if got := d.get(tables+"shared", second.Access); got.Status != http.StatusUnauthorized {
			t.Errorf("%s's exchanged token still opens a table: %d", who, got.Status)
		}
		if status, body := d.ask("grant_type", "refresh_token", "refresh_token", first.Refresh); status != http.StatusUnauthorized || !strings.Contains(body, "invalid_client") {
			t.Errorf("a used refresh token is answered %d %s", status, body)
		}
	}
	if status, _ := d.ask("grant_type", "client_credentials", "client_id", "alice", "client_secret", "guessed"); status != http.StatusUnauthorized {
		t.Errorf("a wrong secret is answered %d", status)
	}
	d.get(tables+"shared", "")
	d.get("/v1/config", "")
	names := map[string]int{}
	for _, a := range d.server.AccessesOnce(t, 17) {
		if strings.Contains(a.Table, "shared") || a.Op == "getConfig" {
			names[fmt.Sprintf("%d %s", a.Status, a.Principal)]++
		}
	}
	// Who was refused is nobody's access: the claim counts once upstream let it in.
	want := map[string]int{"200 lake:alice": 2, "200 lake:bob@authz": 2, "200 anonymous": 1, "401 ": 3}
	if !maps.Equal(names, want) {
		t.Errorf("accesses by status and principal are %v, want %v", names, want)
	}
}

// A catalog that signs its clients' requests and vends nothing is passed
// through untouched, to the signer's address, and doctor says so and what to do.
func TestCatalogThatSigns(t *testing.T) {
	d := newDuo(t)
	d.authz.Sign()
	token := d.login("alice").Access
	direct := catalog.Client{URI: d.authz.URI}
	for _, asked := range []string{"", "vended-credentials", "remote-signing"} {
		header := http.Header{"Authorization": {"Bearer " + token}, "X-Iceberg-Access-Delegation": {asked}}
		if asked == "" {
			header["X-Iceberg-Access-Delegation"] = nil
		}
		want, err := direct.Do(t.Context(), http.MethodGet, tables+"hers", "", header)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.client.Do(t.Context(), http.MethodGet, tables+"hers", "", header)
		if err != nil || got.Status != http.StatusOK || string(got.Body) != string(want.Body) {
			t.Errorf("asked for %q, the answer is %d %s %v, want %s", asked, got.Status, got.Body, err, want.Body)
		}
		if got.Header.Get("ETag") != want.Header.Get("ETag") {
			t.Errorf("asked for %q, the ETag is %s, want the catalog's own", asked, got.Header.Get("ETag"))
		}
	}
	said, _ := laketap.Doctor(t, d.server)
	for _, want := range []string{"table r.hers was passed on unchanged (remote_signing)", "switch vended credentials on in the catalog", "client-iam.enabled"} {
		if !strings.Contains(said, want) {
			t.Errorf("doctor does not say %q:\n%s", want, said)
		}
	}
}
