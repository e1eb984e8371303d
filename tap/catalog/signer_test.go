package catalog_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/catalog"
)

func signerMode(o *catalog.Options) { o.Authority.Mode = catalog.ModeSigner }

// signs is a table whose requests to the store the catalog signs.
func signs(more string) string {
	return table("s3://lake/wh/orders", `"s3.remote-signing-enabled":"true"`+more)
}

// A catalog that signs makes sessions whose requests it will be asked to sign,
// with what this caller showed.
func TestLoadWithSignatures(t *testing.T) {
	for _, c := range []struct{ name, config, want string }{
		{"the default place", ``, "UP/iceberg/v1/aws/s3/sign"},
		{"Nessie", `,"s3.signer.uri":"UP/iceberg/","s3.signer.endpoint":"v1/main/s3sign/x?a=b%2Fc"`, "UP/iceberg/v1/main/s3sign/x?a=b%2Fc"},
		{"the specification", `,"signer.uri":"UP/other","signer.endpoint":"/sign"`, "UP/other/sign"},
		{"a whole address", `,"s3.signer.endpoint":"UP/sign"`, "UP/sign"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := setUp(t, nil, signerMode)
			f.upstream = reply(200, strings.ReplaceAll(signs(c.config), "UP", f.up.URL), `ETag: "up"`)
			got := f.do("GET", loadPath, "", "Authorization: Bearer alice", "X-Iceberg-Access-Delegation: vended-credentials")
			s := f.session(got)
			want := tap.Signer{URL: strings.ReplaceAll(c.want, "UP", f.up.URL), Authorization: "Bearer alice"}
			if s.Signer == nil || *s.Signer != want || !s.Write || len(s.Upstream) != 0 || !s.Expires.Equal(start.Add(12*time.Hour)) {
				t.Errorf("session = %+v, signer %+v; want signer %+v", s, s.Signer, want)
			}
			config := got.config(t)
			for name := range config {
				if strings.Contains(name, "signer") {
					t.Errorf("%s is left, which leads around us", name)
				}
			}
			if config["s3.remote-signing-enabled"] != "false" {
				t.Errorf("the client is told to have requests signed: %v", config)
			}
			if strings.Contains(string(got.body), "alice") {
				t.Error("the caller's token is in the answer in clear")
			}
			calls := f.seen()
			if len(calls) != 1 || calls[0].header.Get("X-Iceberg-Access-Delegation") != "vended-credentials,remote-signing" {
				t.Errorf("upstream was asked %+v", calls)
			}
		})
	}
}

// What does not say that it signs, or signs elsewhere, where the caller's token
// would be shown to others, passes byte for byte. So does everything in other
// modes.
func TestLoadWithoutSignatures(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		mode func(*catalog.Options)
	}{
		"another mode":      {signs(``), nil},
		"says no":           {table("s3://lake/wh/orders", `"s3.remote-signing-enabled":"false"`), signerMode},
		"says nothing":      {table("s3://lake/wh/orders", `"s3.signer.uri":"UP"`), signerMode},
		"signs elsewhere":   {signs(`,"s3.signer.uri":"https://elsewhere/"`), signerMode},
		"on another port":   {signs(`,"s3.signer.uri":"UP1/"`), signerMode},
		"by another scheme": {signs(`,"s3.signer.endpoint":"https://HOST/sign"`), signerMode},
		"with a user":       {signs(`,"s3.signer.endpoint":"http://u:p@HOST/sign"`), signerMode},
		"twice":             {signs(`,"s3.signer.uri":"UP","s3.signer.uri":"UP/x"`), signerMode},
	} {
		t.Run(name, func(t *testing.T) {
			f := setUp(t, nil, c.mode)
			body := strings.NewReplacer("UP", f.up.URL, "HOST", strings.TrimPrefix(f.up.URL, "http://")).Replace(c.body)
			f.upstream = reply(200, body)
			got := f.do("GET", loadPath, "", "X-Iceberg-Access-Delegation: remote-signing")
			if string(got.body) != body {
				t.Errorf("got %s\nwant the upstream's own %s", got.body, body)
			}
			calls := f.seen()
			if last := calls[len(calls)-1].header.Values("X-Iceberg-Access-Delegation"); len(last) != 1 || last[0] != "remote-signing" {
				t.Errorf("the answer that passed was asked for with %q, want the client's own word", last)
			}
		})
	}
}

// Keys that the catalog vends are preferred: they cost no trip.
func TestVendedKeysBeforeSignatures(t *testing.T) {
	f := setUp(t, reply(200, signs(","+keysJSON)), signerMode)
	if s := f.session(f.do("GET", loadPath, "")); s.Signer != nil || len(s.Upstream) != 1 {
		t.Errorf("session = %+v", s)
	}
}

// A session ends with the token that signs for it.
func TestSignaturesEndWithTheToken(t *testing.T) {
	jwt := func(claims string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
	}
	for name, c := range map[string]struct {
		token string
		want  time.Time
	}{
		"soon":    {jwt(fmt.Sprintf(`{"exp":%d}`, start.Add(time.Hour).Unix())), start.Add(time.Hour)},
		"late":    {jwt(fmt.Sprintf(`{"exp":%d}`, start.Add(24*time.Hour).Unix())), start.Add(12 * time.Hour)},
		"never":   {jwt(`{"sub":"a"}`), start.Add(12 * time.Hour)},
		"odd":     {jwt(`{"exp":1e300}`), start.Add(12 * time.Hour)},
		"below 0": {jwt(`{"exp":-1}`), start.Add(12 * time.Hour)},
		"no JWT":  {"opaque", start.Add(12 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			f := setUp(t, reply(200, signs(``)), signerMode)
			if s := f.session(f.do("GET", loadPath, "", "Authorization: Bearer "+c.token)); !s.Expires.Equal(c.want) {
				t.Errorf("ends at %v, want %v", s.Expires, c.want)
			}
		})
	}
}

// On a create the client's own header goes, extended, since it cannot be asked
// again; and none where it sends none.
func TestCreateWithSignatures(t *testing.T) {
	for sent, want := range map[string]string{"vended-credentials": "vended-credentials,remote-signing", "": ""} {
		f := setUp(t, reply(200, signs(``)), signerMode)
		var header []string
		if sent != "" {
			header = append(header, "X-Iceberg-Access-Delegation: "+sent)
		}
		got := f.do("POST", "/v1/wh/namespaces/sales/tables", `{"name":"orders"}`, header...)
		if s := f.session(got); s.Signer == nil {
			t.Errorf("sent %q: session = %+v", sent, s)
		}
		if asked := f.seen()[0].header.Get("X-Iceberg-Access-Delegation"); asked != want {
			t.Errorf("sent %q, upstream was asked for %q, want %q", sent, asked, want)
		}
	}
}

// Sign posts once to the catalog's own address and nowhere else.
func TestSign(t *testing.T) {
	f := setUp(t, reply(200, `{"uri":"x"}`), signerMode)
	at := tap.Signer{URL: f.up.URL + "/iceberg/v1/sign?a=%2F", Authorization: "Bearer alice"}
	status, answer, err := f.h.Sign(t.Context(), "prod", at, []byte(`{"method":"GET"}`))
	if err != nil || status != 200 || string(answer) != `{"uri":"x"}` {
		t.Errorf("got %d %s %v", status, answer, err)
	}
	calls := f.seen()
	if len(calls) != 1 || calls[0].method != http.MethodPost || calls[0].target != "/iceberg/v1/sign?a=%2F" ||
		calls[0].body != `{"method":"GET"}` || calls[0].header.Get("Authorization") != "Bearer alice" {
		t.Errorf("upstream saw %+v", calls)
	}
	for name, c := range map[string]struct{ catalog, url string }{
		"another catalog": {"gone", at.URL},
		"elsewhere":       {"prod", "http://elsewhere/sign"},
		"no address":      {"prod", "::"},
	} {
		if _, _, err := f.h.Sign(t.Context(), c.catalog, tap.Signer{URL: c.url}, nil); err == nil {
			t.Errorf("%s: signed", name)
		}
	}
	if n := len(f.seen()); n != 1 {
		t.Errorf("upstream was asked %d times in all, want once", n)
	}
	f.upstream = reply(200, strings.Repeat("x", 256<<10+1))
	if _, _, err := f.h.Sign(t.Context(), "prod", at, nil); err == nil {
		t.Error("an answer without end is taken")
	}
}
