package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const samplePath = "../../etc/laketap.yml"

func TestSampleHasTheDefaults(t *testing.T) {
	got := &Config{Storage: StorageConfig{Origins: NewConfig().Storage.Origins}}
	if err := got.readFile(samplePath); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(NewConfig(), got); diff != "" {
		t.Errorf("etc/laketap.yml differs from the defaults (-default +sample):\n%s", diff)
	}
}

// The examples of the sample are settings too: uncommented, all of them are
// known and together they make sense.
func TestSampleExamples(t *testing.T) {
	text, err := os.ReadFile(samplePath)
	if err != nil {
		t.Fatal(err)
	}
	// authority stands there twice: the example replaces the default.
	text = regexp.MustCompile(`(?m)^  authority: upstream\n`).ReplaceAll(text, nil)
	text = regexp.MustCompile(`(?m)^#( *[^ #])`).ReplaceAllFunc(text, func(line []byte) []byte {
		if line[1] == ' ' && line[2] != ' ' { // "# Prose."
			return line
		}
		return line[1:]
	})
	got := NewConfig()
	if err := got.parse("laketap.yml", text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := got.Check(); err != nil {
		t.Error(err)
	}
	for name, set := range map[string]bool{
		"catalogs": len(got.Catalogs) == 1, "origins": len(got.Storage.Origins) == 2, "keys": len(got.Keys) == 2,
		"advertise": got.Storage.Advertise != "", "roots": len(got.Storage.Roots) == 1, "hosts": len(got.Admin.Hosts) == 1,
		"key_file": got.Cluster.KeyFile != "", "domain": got.Storage.Domain != "", "audit": got.Audit.File != "", "tls": got.TLS.Cert != "" && got.TLS.Key != "",
	} {
		if !set {
			t.Errorf("no example of %s was read", name)
		}
	}
}

func TestSampleNamesEverySetting(t *testing.T) {
	text, err := os.ReadFile(samplePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range allSettings() {
		if !regexp.MustCompile(`(?m)\b` + setting[strings.LastIndex(setting, ".")+1:] + `:`).Match(text) {
			t.Errorf("etc/laketap.yml does not show %s", setting)
		}
	}
}

func TestDefaultsAreRight(t *testing.T) {
	if err := NewConfig().Check(); err != nil {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       func(*Config)
	}{
		{"empty", "", func(*Config) {}},
		{"comments", "# nothing\n", func(*Config) {}},
		{"empty section", "storage:\nadmin:\n", func(*Config) {}},
		{"one setting keeps its neighbours", "storage: {advertise: 'https://a:1'}", func(c *Config) { c.Storage.Advertise = "https://a:1" }},
		{"bare numbers are text", "storage: {region: 1}", func(c *Config) { c.Storage.Region = "1" }},
		{"duration", "drain: 1m30s", func(c *Config) { c.Drain = 90 * time.Second }},
		{"a list replaces the default", "storage: {origins: [{name: m, endpoint: 'http://m:9000', path_style: true}]}", func(c *Config) {
			c.Storage.Origins = []OriginConfig{{Name: "m", Endpoint: "http://m:9000", PathStyle: true}}
		}},
		{"anchors", "catalogs: [{name: a, url: &u 'http://u'}, {name: b, url: *u}]", func(c *Config) {
			c.Catalogs = []UpstreamConfig{{Name: "a", URL: "http://u"}, {Name: "b", URL: "http://u"}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, want := NewConfig(), NewConfig()
			c.want(want)
			if err := got.parse("f.yml", []byte(c.text)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"misspelt key", "storage:\n  advertize: x\n", "f.yml:2: storage.advertize is not a setting; did you mean storage.advertise?"},
		{"misspelt section", "storrage:\n  listen: x\n", "f.yml:1: storrage is not a setting; did you mean storage?"},
		{"misspelt in a list", "catalogs:\n  - name: a\n    ulr: x\n", "f.yml:3: catalogs.ulr is not a setting; did you mean catalogs.url?"},
		{"a secret in the file", "storage:\n  origins:\n    - secret_access_key: x\n", "f.yml:3: storage.origins.secret_access_key is not a setting; did you mean storage.origins.secret_file?"},
		{"in the wrong section", "advertise: x\n", "f.yml:1: advertise is not a setting; did you mean storage.advertise?"},
		{"nothing like it", "completely_different_thing: x\n", "f.yml:1: completely_different_thing is not a setting; the annotated sample etc/laketap.yml lists all"},
		{"a key without a value", "storage:\n  ca:\n", "f.yml:2: storage.ca is not a setting; did you mean catalogs.ca?"},
		{"twice", "mode: observe\nmode: advise\n", "f.yml:2: mode: is set twice; keep one"},
		{"not a bool", "storage:\n  write: perhaps\n", "f.yml:2: storage.write: wants true or false"},
		{"not a duration", "drain: 30\n", "f.yml:1: drain: wants a duration such as 30s"},
		{"not a list", "catalogs: prod\n", "f.yml:1: catalogs: wants a list"},
		{"not a section", "storage: ':9191'\n", "f.yml:1: storage: wants a section of settings"},
		{"a list for a text", "data: [a]\n", "f.yml:1: data: wants a text"},
		{"a list for a file", "- a\n", "f.yml:1: the file: wants a section of settings"},
		{"two documents", "mode: observe\n---\nmode: advise\n", "f.yml: holds more than one document; keep one"},
		{"no YAML", "a: [\n", "f.yml: line 1: did not find expected node content"},
		{"two mistakes", "modes: x\ndatas: y\n", "f.yml:1: modes is not a setting; did you mean mode?\nf.yml:2: datas is not a setting; did you mean data?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := NewConfig().parse("f.yml", []byte(c.text))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestReadFileRefuses(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yml")
	if err := os.WriteFile(large, []byte(strings.Repeat("#", maxConfig+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Join(dir, "none.yml"): "no such file",
		large:                          "is larger than",
		dir:                            "is a directory",
	} {
		if err := NewConfig().readFile(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	sample, err := os.ReadFile(samplePath)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sample)
	for _, seed := range []string{"", "a: &a [*a]", "storage: *x", "catalogs: [{name: a}]", "<<: {mode: x}", "? [a]\n: b", "drain: 1e9", "\x00", "storage: !!binary x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := NewConfig()
		if c.parse("f.yml", text) == nil {
			_ = c.Check() // must not panic either
		}
	})
}

func TestEnvironment(t *testing.T) {
	got, want := NewConfig(), NewConfig()
	err := got.readEnv([]string{
		"PATH=/bin", "LAKETAP_MODE=observe", "LAKETAP_STORAGE_ADVERTISE=https://a:1", "LAKETAP_LOG_FORMAT=json",
		"LAKETAP_STORAGE_WRITE=true", "LAKETAP_DRAIN=5s", "LAKETAP_STORAGE_ROOTS=[s3://a, s3://b]",
		"LAKETAP_CATALOGS=[{name: prod, url: 'http://up'}]", "LAKETAP_CLUSTER_KEY_FILE=/k", "LAKETAP_DATA=/d=e",
		"LAKETAP_CONFIG=x", "LAKETAP_ADMIN=y", // flags read these
		"LAKETAP_PORT=tcp://10.0.0.1:8181", "LAKETAP_PORT_8181_TCP_ADDR=10.0.0.1", "LAKETAP_SERVICE_HOST=10.0.0.1", "LAKETAP_SERVICE_PORT_CATALOG=8181", // Kubernetes
	})
	if err != nil {
		t.Fatal(err)
	}
	want.Mode, want.Storage.Advertise, want.Log.Format, want.Storage.Write, want.Drain = "observe", "https://a:1", "json", true, 5*time.Second
	want.Storage.Roots = []string{"s3://a", "s3://b"}
	want.Catalogs = []UpstreamConfig{{Name: "prod", URL: "http://up"}}
	want.Cluster.KeyFile, want.Data = "/k", "/d=e"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEnvironmentRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"LAKETAP_STORAGE_ADVERTIZE=x":     "environment: LAKETAP_STORAGE_ADVERTIZE is not a setting; did you mean LAKETAP_STORAGE_ADVERTISE?",
		"LAKETAP_ADVERTISE=x":             "environment: LAKETAP_ADVERTISE is not a setting; did you mean LAKETAP_STORAGE_ADVERTISE?",
		"LAKETAP_CONFG=x":                 "environment: LAKETAP_CONFG is not a setting; did you mean LAKETAP_CONFIG?",
		"LAKETAP_STORAGE_WRITE=perhaps":   "environment: LAKETAP_STORAGE_WRITE: storage.write: wants true or false",
		"LAKETAP_STORAGE_WRITE=":          "environment: LAKETAP_STORAGE_WRITE: storage.write: wants true or false, in YAML",
		"LAKETAP_DRAIN=30":                "environment: LAKETAP_DRAIN: drain: wants a duration such as 30s",
		"LAKETAP_STORAGE_ROOTS=s3://a":    "environment: LAKETAP_STORAGE_ROOTS: storage.roots: wants a list",
		"LAKETAP_CATALOGS=[{nam: x}]":     "environment: LAKETAP_CATALOGS: catalogs.nam is not a setting; did you mean catalogs.name?",
		"LAKETAP_STORAGE_ORIGINS=[":       "environment: LAKETAP_STORAGE_ORIGINS: storage.origins: wants a list, in YAML",
		"LAKETAP_STORAGE_ROOTS_EXTRA_X=1": "environment: LAKETAP_STORAGE_ROOTS_EXTRA_X is not a setting; did you mean LAKETAP_STORAGE_ROOTS?",
	} {
		if err := NewConfig().readEnv([]string{line}); err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", line, err, want)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"two upstreams under one name", "catalogs: [{name: a, url: 'http://u'}, {name: a, url: 'http://v'}]", `catalogs[a]: two upstreams have the name "a"; rename one, it is the path that engines use`},
		{"no name", "catalogs: [{url: 'http://u'}]", `catalogs[0].name: "" is no name; use letters, digits, dots, dashes and underscores`},
		{"name of many segments", "catalogs: [{name: a/b, url: 'http://u'}]", `catalogs[a/b].name: "a/b" is no name; use letters, digits, dots, dashes and underscores`},
		{"name of the protocol", "catalogs: [{name: v1, url: 'http://u'}]", "catalogs[v1]: v1 is where the catalog protocol begins; choose another name"},
		{"no url", "catalogs: [{name: a}]", "catalogs[a].url: is missing; set it to an http or https URL"},
		{"url without scheme", "catalogs: [{name: a, url: 'u:80'}]", `catalogs[a].url: "u:80" is not an http or https URL, such as https://host:port`},
		{"url with a password", "catalogs: [{name: a, url: 'http://me:secret@u'}]", "catalogs[a].url: holds a user; engines send their own credentials, remove it"},
		{"broken url with a password", "catalogs: [{name: a, url: 'http://me:sec%ret@u'}]", `catalogs[a].url: "…@u" is not an http or https URL, such as https://host:port`},
		{"url with a query", "catalogs: [{name: a, url: 'http://u?w=1'}]", `catalogs[a].url: "http://u?w=1" has a query or a fragment; remove it`},
		{"listen", "catalog: {listen: '8181'}", `catalog.listen: "8181" is not an address to listen on, such as :8181 or 127.0.0.1:8181`},
		{"listen on a high port", "admin: {listen: ':99999'}", `admin.listen: ":99999" has no port from 0 to 65535`},
		{"one address for two", "catalog: {listen: ':9191'}", `storage.listen: ":9191" is catalog.listen, too; choose another port for one of them`},
		{"advertise without scheme", "storage: {advertise: 'laketap:9191'}", `storage.advertise: "laketap:9191" is not an http or https URL, such as https://host:port`},
		{"advertise of all interfaces", "storage: {advertise: 'http://0.0.0.0:9191'}", `storage.advertise: "http://0.0.0.0:9191" is an address to listen on, not one that engines can reach; name this host`},
		{"advertise with a path", "storage: {advertise: 'http://a/b'}", `storage.advertise: "http://a/b" has a path; remove it`},
		{"authority", "storage: {authority: anybody}", `storage.authority: "anybody" is not known; use upstream, catalog, signer`},
		{"catalog without roots", "storage: {authority: catalog}", "storage.roots: is empty; with authority catalog, name the places that the configured keys may be used for, such as [s3://lake/warehouse]"},
		{"roots without catalog", "storage: {roots: ['s3://a']}", "storage.roots: has no effect with authority upstream; remove it or set storage.authority to catalog"},
		{"write without catalog", "storage: {write: true}", "storage.write: has no effect with authority upstream; remove it or set storage.authority to catalog"},
		{"roots with signer", "storage: {authority: signer, roots: ['s3://a']}", "storage.roots: has no effect with authority signer; remove it or set storage.authority to catalog"},
		{"write with signer", "storage: {authority: signer, write: true}", "storage.write: has no effect with authority signer; remove it or set storage.authority to catalog"},
		{"root elsewhere", "storage: {authority: catalog, roots: ['gs://a']}", `storage.roots: "gs://a" does not begin with s3:// and a bucket`},
		{"root that climbs", "storage: {authority: catalog, roots: ['s3://a/b/../c']}", `storage.roots: "s3://a/b/../c" climbs with . or ..; write the path that is meant`},
		{"no region", "storage: {region: ''}", "storage.region: is empty; use us-east-1 if you have no other"},
		{"domain with a scheme", "storage: {domain: 'https://s3'}", `storage.domain: "https://s3" is not a host name; leave out scheme and port`},
		{"no origins", "storage: {origins: []}", "storage.origins: is empty; name the store behind Laketap, or leave the setting out for AWS"},
		{"origins of one name", "storage: {origins: [{name: a, buckets: [x]}, {name: a, buckets: [y]}]}", `storage.origins[a]: two origins have the name "a"; rename one`},
		{"origins of one bucket", "storage: {origins: [{name: a, buckets: [x]}, {name: b, buckets: [x]}]}", `storage.origins[b].buckets: "x" belongs to origin "a" too; remove one`},
		{"origins of all buckets", "storage: {origins: [{name: a}, {name: b}]}", `storage.origins[b].buckets: is empty as in origin "a"; name the buckets of one of them`},
		{"half a key pair", "storage: {origins: [{name: a, access_key_id: x}]}", "storage.origins[a]: access_key_id and secret_file go together; set both, or neither for the AWS chain"},
		{"endpoint", "storage: {origins: [{name: a, endpoint: 'minio:9000'}]}", `storage.origins[a].endpoint: "minio:9000" is not an http or https URL, such as https://host:port`},
		{"key without scope", "keys: [{id: a, secret_file: f, principal: p}]", "keys[a].prefixes: or scope: all, exactly one of them, says what the key may read"},
		{"key with both", "keys: [{id: a, secret_file: f, principal: p, scope: all, prefixes: ['s3://a']}]", "keys[a].prefixes: or scope: all, exactly one of them, says what the key may read"},
		{"key of a session", "keys: [{id: LTx, secret_file: f, principal: p, scope: all}]", `keys[LTx].id: "LTx" begins with LT, as the keys of sessions do; choose another`},
		{"key without a secret", "keys: [{id: a, principal: p, scope: all}]", "keys[a].secret_file: is missing; name a file that holds the secret"},
		{"key without a principal", "keys: [{id: a, secret_file: f, scope: all}]", "keys[a].principal: is missing; say who uses the key, it is what accesses are recorded under"},
		{"keys of one id", "keys: [{id: a, secret_file: f, principal: p, scope: all}, {id: a, secret_file: f, principal: p, scope: all}]", `keys[a].id: two keys have the id "a"; rename one`},
		{"prefix elsewhere", "keys: [{id: a, secret_file: f, principal: p, prefixes: [lake/x]}]", `keys[a].prefixes: "lake/x" does not begin with s3:// and a bucket`},
		{"mode", "mode: turbo", `mode: "turbo" is not known; use observe, advise, accelerate, maintain`},
		{"level", "log: {level: loud}", `log.level: "loud" is not known; use debug, info, warn, error`},
		{"no data", "data: ''", "data: is empty; name a directory, such as ./laketap-data"},
		{"no drain", "drain: 0s", "drain: is 0s; name how long to let requests end at shutdown, such as 30s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := NewConfig()
			if err := cfg.parse("f.yml", []byte(c.text)); err != nil {
				t.Fatal(err)
			}
			if err := cfg.Check(); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"mode", "mode", 0}, {"mdoe", "mode", 1}, {"modes", "mode", 1}, {"kitten", "sitting", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
