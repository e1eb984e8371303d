package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A sourced is one setting as each source may say it; what each of them means is
// compared as text.
type sourced struct {
	name            string // dotted
	inFile          string // YAML below the last section
	inEnv, flag     string
	file, env, flgd string // how the value reads then; flgd "" where there is no flag
	get             func(*Config) any
}

// settings has every setting there is; a test holds that.
func settings() []sourced {
	return []sourced{
		{"catalogs", "[{name: f, url: 'http://f'}]", "[{name: e, url: 'http://e'}]", "--catalog=g=http://g", "[{f http://f }]", "[{e http://e }]", "[{g http://g }]", func(c *Config) any { return c.Catalogs }},
		{"catalog.listen", "':1'", ":2", "--catalog-listen=:3", ":1", ":2", ":3", func(c *Config) any { return c.Catalog.Listen }},
		{"storage.listen", "':1'", ":2", "--storage-listen=:3", ":1", ":2", ":3", func(c *Config) any { return c.Storage.Listen }},
		{"storage.advertise", "'http://f'", "http://e", "--advertise=http://g", "http://f", "http://e", "http://g", func(c *Config) any { return c.Storage.Advertise }},
		{"storage.region", "f", "e", "", "f", "e", "", func(c *Config) any { return c.Storage.Region }},
		{"storage.domain", "f", "e", "", "f", "e", "", func(c *Config) any { return c.Storage.Domain }},
		{"storage.origins", "[{name: f}]", "[{name: e}, {name: e2}]", "", "f", "e e2", "", func(c *Config) any { return originNames(c.Storage.Origins) }},
		{"storage.authority", "f", "e", "", "f", "e", "", func(c *Config) any { return c.Storage.Authority }},
		{"storage.roots", "['s3://f']", "['s3://e', 's3://e2']", "", "[s3://f]", "[s3://e s3://e2]", "", func(c *Config) any { return c.Storage.Roots }},
		{"storage.write", "true", "false", "", "true", "false", "", func(c *Config) any { return c.Storage.Write }},
		{"storage.anonymous", "true", "false", "", "true", "false", "", func(c *Config) any { return c.Storage.Anonymous }},
		{"cache.dir", "f", "e", "", "f", "e", "", func(c *Config) any { return c.Cache.Dir }},
		{"cache.disk", "1GiB", "2GiB", "", "1GiB", "2GiB", "", func(c *Config) any { return c.Cache.Disk }},
		{"cache.memory", "1GiB", "2GiB", "", "1GiB", "2GiB", "", func(c *Config) any { return c.Cache.Memory }},
		{"cache.encrypted", "true", "false", "", "true", "false", "", func(c *Config) any { return c.Cache.Encrypted }},
		{"cache.proof", "f", "e", "", "f", "e", "", func(c *Config) any { return c.Cache.Proof }},
		{"admin.listen", "':1'", ":2", "--admin-listen=:3", ":1", ":2", ":3", func(c *Config) any { return c.Admin.Listen }},
		{"admin.hosts", "[f]", "[e]", "", "[f]", "[e]", "", func(c *Config) any { return c.Admin.Hosts }},
		{"tls.cert", "f", "e", "", "f", "e", "", func(c *Config) any { return c.TLS.Cert }},
		{"tls.key", "f", "e", "", "f", "e", "", func(c *Config) any { return c.TLS.Key }},
		{"tls.ports", "[f]", "[e]", "", "[f]", "[e]", "", func(c *Config) any { return c.TLS.Ports }},
		{"audit.file", "f", "e", "", "f", "e", "", func(c *Config) any { return c.Audit.File }},
		{"audit.required", "true", "false", "", "true", "false", "", func(c *Config) any { return c.Audit.Required }},
		{"keys", "[{id: f}]", "[{id: e}]", "", "f", "e", "", func(c *Config) any { return c.Keys[0].ID }},
		{"cluster.key_file", "f", "e", "", "f", "e", "", func(c *Config) any { return c.Cluster.KeyFile }},
		{"memory.url", "f", "e", "", "f", "e", "", func(c *Config) any { return c.Memory.URL }},
		{"memory.history", "1h", "2h", "", "1h0m0s", "2h0m0s", "", func(c *Config) any { return c.Memory.History }},
		{"memory.idle", "1h", "2h", "", "1h0m0s", "2h0m0s", "", func(c *Config) any { return c.Memory.Idle }},
		{"memory.files", "1", "2", "", "1", "2", "", func(c *Config) any { return c.Memory.Files }},
		{"memory.habits", "1", "2", "", "1", "2", "", func(c *Config) any { return c.Memory.Habits }},
		{"privacy.literals", "f", "e", "", "f", "e", "", func(c *Config) any { return c.Privacy.Literals }},
		{"mode", "f", "e", "--mode=g", "f", "e", "g", func(c *Config) any { return c.Mode }},
		{"data", "f", "e", "--data=g", "f", "e", "g", func(c *Config) any { return c.Data }},
		{"drain", "1m", "2m", "", time.Minute.String(), (2 * time.Minute).String(), "", func(c *Config) any { return c.Drain }},
		{"log.level", "f", "e", "--log-level=g", "f", "e", "g", func(c *Config) any { return c.Log.Level }},
		{"log.format", "f", "e", "--log-format=g", "f", "e", "g", func(c *Config) any { return c.Log.Format }},
	}
}

func originNames(all []OriginConfig) string {
	names := make([]string, 0, len(all))
	for _, o := range all {
		names = append(names, o.Name)
	}
	return strings.Join(names, " ")
}

func TestEverySettingIsTested(t *testing.T) {
	got := make([]string, 0, len(settings()))
	for _, s := range settings() {
		got = append(got, s.name)
	}
	if diff := cmp.Diff(leavesOf(reflect.ValueOf(NewConfig()).Elem(), ""), got); diff != "" {
		t.Errorf("settings (-there +tested):\n%s", diff)
	}
}

// Flags win over the environment and that over the file, for each setting by
// itself: the others keep their defaults.
func TestPrecedence(t *testing.T) {
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			section, name, nested := strings.Cut(s.name, ".")
			text := section + ": " + s.inFile + "\n"
			if nested {
				text = section + ":\n  " + name + ": " + s.inFile + "\n"
			}
			file := filepath.Join(t.TempDir(), "laketap.yml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var flags configFlags
			read := func(environ ...string) string {
				t.Helper()
				cfg, err := flags.load(environ)
				if err != nil {
					t.Fatal(err)
				}
				return fmt.Sprint(s.get(cfg))
			}
			flags.Config = file
			if got := read(); got != s.file {
				t.Errorf("of the file: got %s, want %s", got, s.file)
			}
			env := variable(s.name) + "=" + s.inEnv
			if got := read(env); got != s.env {
				t.Errorf("of file and environment: got %s, want %s", got, s.env)
			}
			if s.flag == "" {
				return
			}
			setFlag(t, &flags, s.flag)
			if got := read(env); got != s.flgd {
				t.Errorf("of file, environment and flag: got %s, want %s", got, s.flgd)
			}
			flags.Config = os.DevNull // an empty file
			if got := read(); got != s.flgd {
				t.Errorf("of the flag: got %s, want %s", got, s.flgd)
			}
		})
	}
}

// setFlag sets the field that a flag of the command line is read into.
func setFlag(t *testing.T, f *configFlags, flag string) {
	t.Helper()
	name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	for _, field := range []struct {
		name string
		to   *string
	}{
		{"catalog-listen", &f.CatalogListen},
		{"storage-listen", &f.StorageListen},
		{"admin-listen", &f.AdminListen},
		{"advertise", &f.Advertise},
		{"mode", &f.Mode},
		{"data", &f.Data},
		{"log-level", &f.LogLevel},
		{"log-format", &f.LogFormat},
	} {
		if field.name == name {
			*field.to = value
			return
		}
	}
	if name != "catalog" {
		t.Fatalf("no field for %s", flag)
	}
	f.Catalog = append(f.Catalog, value)
}

// A file that was named must be there; the one that is read without asking need
// not, but must be right if it is.
func TestWhichFileIsRead(t *testing.T) {
	t.Chdir(t.TempDir())
	var flags configFlags
	cfg, err := flags.load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(NewConfig(), cfg); diff != "" {
		t.Errorf("without a file (-defaults +got):\n%s", diff)
	}
	if _, err := (&configFlags{Config: defaultConfig}).load(nil); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("named and not there: got %v", err)
	}
	if err := os.WriteFile(defaultConfig, []byte("mode: observe\nmodes: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := flags.load(nil); err == nil || err.Error() != "laketap.yml:2: modes is not a setting; did you mean mode?" {
		t.Errorf("there and wrong: got %v", err)
	}
}

// An error of any source ends the reading: a server must not start with half of
// what it was told.
func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		flags   configFlags
		environ []string
		want    string
	}{
		{"environment", configFlags{Config: os.DevNull}, []string{"LAKETAP_MODUS=x", "LAKETAP_DRAIN=soon"}, "environment: LAKETAP_DRAIN: drain: wants a duration such as 30s\nenvironment: LAKETAP_MODUS is not a setting; did you mean LAKETAP_MODE?"},
		{"catalog flags", configFlags{Config: os.DevNull, Catalog: []string{"a=http://a", "http://b"}}, nil, "--catalog: of several catalogs each needs a name; write --catalog NAME=http://b"},
		{"a password in a flag", configFlags{Config: os.DevNull, Catalog: []string{"a=http://a", "http://me:secret@b"}}, nil, "--catalog: of several catalogs each needs a name; write --catalog NAME=…@b"},
		{"a folder for a file", configFlags{Config: "."}, nil, "read configuration: read .: is a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := c.flags.load(c.environ)
			if err == nil || err.Error() != c.want || cfg != nil {
				t.Errorf("got %v, %v\nwant %s", cfg, err, c.want)
			}
		})
	}
}

// The last of two variables of one name wins, as in a shell.
func TestEnvironmentTwice(t *testing.T) {
	cfg := NewConfig()
	if err := cfg.readEnv([]string{"LAKETAP_MODE=observe", "A=b", "LAKETAP_MODE=advise", "LAKETAP_DRAIN=1s"}); err != nil {
		t.Fatal(err)
	}
	if cfg.Mode != "advise" || cfg.Drain != time.Second {
		t.Errorf("got mode %s and drain %v", cfg.Mode, cfg.Drain)
	}
}

// An empty variable is a text like any other, so that an environment can take
// back what a file says, and a mistake where no text is wanted.
func TestEmptyVariable(t *testing.T) {
	cfg := NewConfig()
	cfg.Storage.Advertise = "http://of-the-file"
	if err := cfg.readEnv([]string{"LAKETAP_STORAGE_ADVERTISE="}); err != nil || cfg.Storage.Advertise != "" {
		t.Errorf("got %q, %v; want the setting cleared", cfg.Storage.Advertise, err)
	}
	for _, name := range []string{"LAKETAP_DRAIN", "LAKETAP_CATALOGS", "LAKETAP_STORAGE_ROOTS", "LAKETAP_STORAGE_WRITE"} {
		if err := cfg.readEnv([]string{name + "="}); err == nil || !strings.Contains(err.Error(), "in YAML") {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
}

// The nearest name is offered in every section, and only if it is near.
func TestSuggest(t *testing.T) {
	known := allSettings()
	for _, c := range []struct{ unknown, want string }{
		{"storag", "storage"},
		{"Mode", "mode"},
		{"catalog.lisen", "catalog.listen"},
		{"storage.advertised", "storage.advertise"},
		{"storage.authorty", "storage.authority"},
		{"storage.origin", "storage.origins"},
		{"storage.origins.end_point", "storage.origins.endpoint"},
		{"storage.origins.pathstyle", "storage.origins.path_style"},
		{"admin.host", "admin.hosts"},
		{"admin.lsiten", "admin.listen"},
		{"keys.secretfile", "keys.secret_file"},
		{"keys.prefix", "keys.prefixes"},
		{"cluster.keyfile", "cluster.key_file"},
		{"log.levle", "log.level"},
		{"drian", "drain"},
		{"roots", "storage.roots"},
		{"cluster.hosts", "admin.hosts"},
		{"telemetry", ""},
		{"x", ""},
	} {
		want := "; did you mean " + c.want + "?"
		if c.want == "" {
			want = "; the annotated sample etc/laketap.yml lists all"
		}
		if got := suggest(c.unknown, known); got != want {
			t.Errorf("%s: got %q, want %q", c.unknown, got, want)
		}
	}
	if got := suggest("x", nil); !strings.Contains(got, "lists all") {
		t.Errorf("of no names: got %q", got)
	}
}
