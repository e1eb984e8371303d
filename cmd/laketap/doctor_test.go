package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// examine runs doctor and returns what it says.
func examine(t *testing.T, environ []string, args ...string) (out string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	dir := t.TempDir()
	environ = append([]string{
		"LAKETAP_DATA=" + filepath.Join(dir, "data"), "LAKETAP_ADMIN_LISTEN=127.0.0.1:0",
		"LAKETAP_CATALOG_LISTEN=127.0.0.1:0", "LAKETAP_STORAGE_LISTEN=127.0.0.1:0",
	}, environ...)
	a := &app{ctx: t.Context(), stdout: &stdout, stderr: &stderr, environ: environ}
	code = run(a, append([]string{"doctor"}, args...))
	return stdout.String() + stderr.String(), code
}

// says fails unless every pattern matches what doctor said.
func says(t *testing.T, out string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile(`(?m)` + p).MatchString(out) {
			t.Errorf("does not say %q:\n%s", p, out)
		}
	}
}

func TestDoctorOnVending(t *testing.T) {
	keys := map[string]string{"s3.access-key-id": "id", "s3.secret-access-key": "s"}
	for _, c := range []struct {
		name, location string
		config         map[string]string
		environ        []string
		want           []string
	}{
		{"vends", "s3://lake/orders", keys, nil, []string{`^ok +catalog main +vends keys for table tpch.orders: engines are led to the storage tap`}},
		{"vends nothing", "s3://lake/orders", nil, nil, []string{
			`^warn +catalog main +vends no keys for table tpch.orders: its files are read around Laketap`,
			`^ +fix: let the catalog vend credentials; or set storage.authority to catalog with roots: \[s3://lake/…\] and keys for origin aws`,
		}},
		{
			"vends nothing, below a root", "s3://lake/orders", nil,
			[]string{"LAKETAP_STORAGE_AUTHORITY=catalog", "LAKETAP_STORAGE_ROOTS=[s3://lake]"},
			[]string{`^ok +catalog main +vends no keys .* lies below a root`},
		},
		{
			"vends nothing, beside the root", "s3://lake/orders2", nil,
			[]string{"LAKETAP_STORAGE_AUTHORITY=catalog", "LAKETAP_STORAGE_ROOTS=[s3://lake/orders]"},
			[]string{`^warn +catalog main .* lies below no root`, `fix: add s3://lake/orders2 or a place above it to storage.roots`},
		},
		{"elsewhere", "gs://lake/orders", keys, nil, []string{`^warn +catalog main +table tpch.orders lies at gs://lake/orders: not S3`}},
		{
			"another store", "s3://lake/orders",
			map[string]string{"s3.access-key-id": "id", "s3.endpoint": "http://minio:9000"},
			nil,
			[]string{`^warn .* lies in bucket lake at http://minio:9000, which belongs to no origin`, `fix: name the bucket`},
		},
		{"no table", "", nil, nil, []string{`^ok +catalog main +has no table yet`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			up := httptest.NewServer(fakeCatalog(c.location, c.config))
			defer up.Close()
			store := httptest.NewServer(fakeStore())
			defer store.Close()
			environ := append([]string{"AWS_EC2_METADATA_DISABLED=true"}, c.environ...)
			if strings.Contains(strings.Join(environ, " "), "AUTHORITY=catalog") {
				secret := filepath.Join(t.TempDir(), "secret")
				if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
					t.Fatal(err)
				}
				environ = append(environ, "LAKETAP_STORAGE_ORIGINS=[{name: m, endpoint: '"+store.URL+"', path_style: true, buckets: [lake], access_key_id: id, secret_file: '"+secret+"'}]")
			}
			out, code := examine(t, environ, "--catalog", up.URL)
			says(t, out, c.want...)
			if code != 0 {
				t.Errorf("exit code %d, want 0:\n%s", code, out)
			}
		})
	}
}

func TestDoctorOnCatalogs(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		args   []string
		want   []string
		code   int
	}{
		{"asks for credentials", 401, nil, []string{`^warn +catalog main +.* asks for credentials \(401\)`, `fix: laketap doctor --token TOKEN`}, 0},
		{"wants a warehouse", 400, nil, []string{`^warn .* which warehouse is meant`, `fix: laketap doctor --warehouse NAME`}, 0},
		{"refuses the warehouse", 400, []string{"--warehouse", "w"}, []string{`^fail .* answers 400`}, 1},
		{"is something else", 404, nil, []string{`^fail .* has no /v1/config`, `fix: set catalogs.url to what engines use`}, 1},
		{"is broken", 500, nil, []string{`^fail .* answers 500`, `fix: look at the catalog's log`}, 1},
		{"is no catalog", 200, nil, []string{`^fail .* is no JSON of an Iceberg REST catalog`}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte("<html>"))
			}))
			defer up.Close()
			out, code := examine(t, nil, append([]string{"--catalog", up.URL}, c.args...)...)
			says(t, out, c.want...)
			if code != c.code {
				t.Errorf("exit code %d, want %d:\n%s", code, c.code, out)
			}
		})
	}
}

func TestDoctorOnAnUnreachableCatalogAndStore(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	out, code := examine(t, []string{"LAKETAP_STORAGE_ORIGINS=[{name: m, endpoint: '" + gone.URL + "'}]"}, "--catalog", gone.URL)
	says(t, out, `^fail +catalog main +is out of reach`, `^fail +origin m +is out of reach`, `fix: start it`)
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

func TestDoctorOnClocks(t *testing.T) {
	for _, c := range []struct {
		skew time.Duration
		want string
	}{
		{time.Minute, `^warn +catalog main +its clock and ours are .* apart`},
		{-10 * time.Minute, `^fail +catalog main +its clock and ours are .* apart; signatures will be refused`},
	} {
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", time.Now().Add(c.skew).UTC().Format(http.TimeFormat))
			fakeCatalog("", nil).ServeHTTP(w, r)
		}))
		out, _ := examine(t, nil, "--catalog", up.URL)
		says(t, out, c.want, `fix: set the clocks by NTP`)
		up.Close()
	}
}

func TestDoctorOnTheHost(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	up := httptest.NewServer(fakeCatalog("", nil))
	defer up.Close()
	busy := strings.TrimPrefix(up.URL, "http://")
	for _, c := range []struct {
		name    string
		environ []string
		args    []string
		want    []string
		code    int
	}{
		{"all well", nil, nil, []string{`^ok +config`, `^warn +server +no server answers`, `^ok +ports`, `^ok +data +.* free`, `^ok +cluster key +will be made`}, 0},
		{"data is a file", []string{"LAKETAP_DATA=" + file}, nil, []string{`^fail +data +.* is no directory`}, 1},
		{"data cannot be made", []string{"LAKETAP_DATA=/proc/laketap/data"}, nil, []string{`^fail +data +/proc cannot be written`, `fix: give this user the right`}, 1},
		{"malformed key", []string{"LAKETAP_CLUSTER_KEY_FILE=" + file}, nil, []string{`^fail +cluster key +.*line 1`}, 1},
		{"static key in the open", []string{
			"LAKETAP_KEYS=[{id: r, principal: p, scope: all, secret_file: /etc/passwd}]",
			"LAKETAP_STORAGE_ORIGINS=[{name: m, endpoint: '" + up.URL + "', access_key_id: id, secret_file: '" + file + "'}]",
		}, nil, []string{`^fail +keys +keys\[r\].secret_file: /etc/passwd can be read by others`, `fix: `}, 1},
		{"port in use", nil, []string{"--storage-listen", busy}, []string{`^fail +ports +storage.listen: .* is in use by another program`, `fix: end that, or set storage.listen`}, 1},
		{"open admin port", nil, []string{"--admin-listen", ":0"}, []string{`^warn +ports +admin.listen is open to other machines`}, 0},
		{"loopback", nil, nil, []string{`^warn +advertise +the storage tap listens on loopback`}, 0},
		{"every interface", nil, []string{"--storage-listen", ":0"}, []string{`^ok +advertise +engines get the host that they reached the catalog by`}, 0},
		{"advertised loopback", nil, []string{"--advertise", "http://localhost:9191"}, []string{`^warn +advertise +http://localhost:9191 is a loopback address`}, 0},
		{"advertised", nil, []string{"--advertise", "https://laketap.example.com"}, []string{`^ok +advertise +https://laketap.example.com`}, 0},
		{"wrong configuration", nil, []string{"--mode", "turbo"}, []string{`^fail +config +mode: "turbo" is not known`, `fix: use observe, advise`}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, code := examine(t, c.environ, append([]string{"--catalog", up.URL}, c.args...)...)
			says(t, out, c.want...)
			if code != c.code {
				t.Errorf("exit code %d, want %d:\n%s", code, c.code, out)
			}
		})
	}
}

// Doctor asks a server that runs, and looks at what it stands in front of.
func TestDoctorOnAServer(t *testing.T) {
	up := httptest.NewServer(fakeCatalog("gs://lake/orders", nil))
	defer up.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	s := start(t, quiet(t, up.URL, gone.URL))
	fetch(t, s.at.Catalog+"/v1/p/q/namespaces/tpch/tables/orders")
	out, code := examine(t, nil, "--admin", s.at.Admin)
	says(t, out,
		`^ok +server +.* up `,
		`^fail +origin m +as the server sees it: reach `,
		`^warn +catalog prod +table tpch.orders was passed on unchanged \(not_s3\)`,
		`^ok +catalog prod +`+up.URL+` answers`)
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}
