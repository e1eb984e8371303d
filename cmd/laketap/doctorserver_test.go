package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/observe"
)

// adminOf serves the admin API of a server in a given state.
func adminOf(t *testing.T, s admin.Status) string {
	t.Helper()
	srv := httptest.NewServer(admin.New(admin.Deps{
		Observer: observe.New(observe.Options{}), Status: func() admin.Status { return s },
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

// silent fails if doctor says anything that a pattern matches: a claim about a
// server that it cannot know.
func silent(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(out, text) {
			t.Errorf("says %q:\n%s", text, out)
		}
	}
}

// The lake of `serve --lake` is known to the server alone. Doctor, started with
// no flags at all, must not examine its own defaults instead.
func TestDoctorTakesTheServersConfiguration(t *testing.T) {
	up := httptest.NewServer(fakeCatalog("s3://lake/orders", nil))
	defer up.Close()
	at := adminOf(t, admin.Status{
		Version: "v1", Started: time.Now(), Authority: "catalog", Roots: []string{"s3://lake"}, Region: "eu-north-1",
		Addresses: admin.Addresses{Storage: "http://127.0.0.1:9191", StorageListen: "127.0.0.1:9191"},
		Upstreams: []admin.Upstream{{Name: "lake", URL: up.URL}},
		Origins:   []admin.Origin{{Name: "lake", Endpoint: "http://127.0.0.1:1", Buckets: []string{"lake"}}, {Name: "aws", Region: "eu-north-1"}},
	})
	out, code := examine(t, nil, "--admin", at)
	says(t, out,
		`^ok +config +none here names a catalog, so that of the running server is looked at: 1 catalog, 2 origins, authority catalog$`,
		`^ok +server +`+at+`, version v1, up `,
		`^ok +data +the running server keeps its own; --data DIR looks at it$`,
		`^ok +cluster key +the running server has one, elsewhere than `,
		`^ok +catalog lake +vends no keys for table tpch.orders, which lies below a root`,
		`^ok +origin lake +http://127.0.0.1:1 is ready, as the server sees it$`,
		`^ok +origin aws +AWS eu-north-1 is ready, as the server sees it$`,
		`^warn +advertise +the storage tap listens on loopback`)
	silent(t, out, "0 catalogs", "will be made", "are free", "out of reach")
	if code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// A configuration that names a catalog is somebody's, and is examined as it is;
// of the server only the state is told.
func TestDoctorKeepsItsOwnConfiguration(t *testing.T) {
	mine, theirs := httptest.NewServer(fakeCatalog("", nil)), httptest.NewServer(fakeCatalog("", nil))
	defer mine.Close()
	defer theirs.Close()
	at := adminOf(t, admin.Status{
		Version: "v1", Started: time.Now(), Authority: "catalog",
		Upstreams: []admin.Upstream{{Name: "theirs", URL: theirs.URL}},
	})
	out, code := examine(t, nil, "--admin", at, "--catalog", "mine="+mine.URL)
	says(t, out,
		`^ok +config +1 catalog, 1 origin, authority upstream$`,
		`^ok +catalog mine +`+mine.URL+` answers in `,
		`^ok +data +\S+/data can be written, `,
		`^ok +origin aws +AWS`)
	silent(t, out, theirs.URL, "will be made")
	if code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, out)
	}
}

// The data directory that is named is looked at, whoever's the catalogs are.
func TestDoctorLooksAtTheDataOfAServer(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "cluster.key")
	at := adminOf(t, admin.Status{Version: "v1", Started: time.Now()})
	for _, c := range []struct {
		name, key string
		want      []string
		code      int
	}{
		{"no key", "", []string{`^ok +data +\S+ can be written`, `^ok +cluster key +the running server has one, elsewhere`}, 0},
		{"no good key", "nonsense", []string{`^fail +cluster key +cluster.key_file: \S+: line 1`}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.key != "" {
				if err := os.WriteFile(key, []byte(c.key), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, code := examine(t, nil, "--admin", at, "--data", dir)
			says(t, out, c.want...)
			if code != c.code {
				t.Errorf("exit code %d, want %d:\n%s", code, c.code, out)
			}
		})
	}
}

// Without a server and without a catalog there is little to examine. That is
// said, and is no failure: serve --lake needs no catalog.
func TestDoctorBeforeAnything(t *testing.T) {
	out, code := examine(t, nil)
	says(t, out,
		`^warn +config +names no catalog$`, `fix: name the one to stand in front of \(--catalog`,
		`^warn +server +no server answers at 127.0.0.1:0$`, `fix: start one with laketap serve`,
		`^ok +cluster key +will be made at the first start$`)
	if code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, out)
	}
}

// What the server has learnt from engines' requests is told with its fix, as
// bad as it is.
func TestDoctorTellsWhatTheServerHasSeen(t *testing.T) {
	up := httptest.NewServer(fakeCatalog("", nil))
	defer up.Close()
	for _, c := range []struct {
		name     string
		upstream admin.Upstream
		want     []string
		code     int
	}{
		{"nothing", admin.Upstream{}, nil, 0},
		{
			"signed requests",
			admin.Upstream{SignedFor: "glue"},
			[]string{`^fail +catalog prod +clients sign their requests for AWS glue`, `fix: let engines reach it directly`},
			1,
		},
		{
			"a refused header",
			admin.Upstream{DelegationRefused: time.Now().Add(-time.Hour)},
			[]string{`^warn +catalog prod +refused to be asked for credentials, 1h0m0s ago`, `fix: switch vended credentials on`},
			0,
		},
		{
			"a table passed on",
			admin.Upstream{LastPassed: &admin.Passed{Table: "a.b", Reason: "no_authority", Fix: "do this"}},
			[]string{`^warn +catalog prod +table a.b was passed on unchanged \(no_authority\): do this`},
			0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.upstream.Name, c.upstream.URL = "prod", up.URL
			at := adminOf(t, admin.Status{Version: "v1", Started: time.Now(), Upstreams: []admin.Upstream{c.upstream}})
			out, code := examine(t, nil, "--admin", at)
			says(t, out, append(c.want, `^ok +catalog prod +`+up.URL+` answers`)...)
			if code != c.code {
				t.Errorf("exit code %d, want %d:\n%s", code, c.code, out)
			}
		})
	}
}

// The advertised address is dialled when a server listens behind it, and one
// finding is told of it, not two.
func TestDoctorOnTheAdvertisedAddressOfAServer(t *testing.T) {
	open, gone := httptest.NewServer(nil), httptest.NewServer(nil)
	defer open.Close()
	gone.Close()
	for _, c := range []struct {
		name, advertised, listens, want string
		code                            int
	}{
		{"reached", open.URL, "127.0.0.1:9191", `^warn +advertise +` + open.URL + ` is a loopback address`, 0},
		{"not reached", gone.URL, "127.0.0.1:9191", `^fail +advertise +` + gone.URL + ` is not reached from here`, 1},
		{"none", "", "10.0.0.1:9191", `^ok +advertise +engines get the host that they reached the catalog by, with port 9191`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := adminOf(t, admin.Status{
				Version: "v1", Started: time.Now(), Addresses: admin.Addresses{Advertised: c.advertised, StorageListen: c.listens},
			})
			out, code := examine(t, nil, "--admin", at)
			says(t, out, c.want)
			if n := strings.Count(out, " advertise "); n != 1 || code != c.code {
				t.Errorf("%d findings and exit code %d, want one and %d:\n%s", n, code, c.code, out)
			}
		})
	}
}

// What answers at the admin address need not be a Laketap server.
func TestDoctorOnSomethingElse(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"a web site", "<html>", 200, `is that a Laketap server`},
		{"another API", "{}", 404, `answered 404 Not Found; is that a Laketap server|fix: is that a Laketap server`},
		{"a refusal", `{"error":"not by this name"}`, 403, `says: not by this name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer other.Close()
			out, code := examine(t, nil, "--admin", other.URL)
			says(t, out, `^warn +server +`, c.want)
			if code != 0 {
				t.Errorf("exit code %d, want 0:\n%s", code, out)
			}
		})
	}
}

// What counts is where the server listens, not the address that it shows, which
// is one that works from here.
func TestDoctorAsksWhereTheServerListens(t *testing.T) {
	for listens, want := range map[string]string{
		"[::]:9191":      `^ok +advertise +engines get the host that they reached the catalog by, with port 9191`,
		"0.0.0.0:9191":   `^ok +advertise `,
		"192.0.2.1:9191": `^ok +advertise `,
		"127.0.0.1:9191": `^warn +advertise +the storage tap listens on loopback`,
		"[::1]:9191":     `^warn +advertise +the storage tap listens on loopback`,
	} {
		at := adminOf(t, admin.Status{
			Version: "v1", Started: time.Now(), Authority: "upstream",
			Addresses: admin.Addresses{Storage: "http://127.0.0.1:9191", StorageListen: listens},
		})
		out, _ := examine(t, nil, "--admin", at)
		says(t, out, want)
	}
}
