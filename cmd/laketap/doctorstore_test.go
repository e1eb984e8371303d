package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A store that is used with keys of its own is asked with them, bucket by
// bucket, and each answer has its verdict.
func TestDoctorOnStores(t *testing.T) {
	refuse := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code></Error>`, code)
		}
	}
	for _, c := range []struct {
		name  string
		store http.Handler
		want  []string
		code  int
	}{
		{"knows them", fakeStore(), []string{`^ok +origin m +answers with the configured keys lake$`, `^ok +origin m +answers with the configured keys raw$`}, 0},
		{"lets them not list", refuse(403, "AccessDenied"), []string{
			`^warn +origin m +knows the keys, and does not let them list lake$`, `fix: give them s3:ListBucket`,
		}, 0},
		{"does not know them", refuse(403, "InvalidAccessKeyId"), []string{
			`^fail +origin m +origin m: it does not know the key \(InvalidAccessKeyId\)$`, `fix: check the keys under storage.origins`,
		}, 1},
		{"another secret", refuse(403, "SignatureDoesNotMatch"), []string{`^fail .* the secret does not belong to the key$`}, 1},
		{"no bucket", refuse(404, "NoSuchBucket"), []string{`^fail .* it has no bucket lake$`, `fix: check buckets and endpoint`}, 1},
		{"no store", http.NotFoundHandler(), []string{`^fail .* answered status 404 and no S3 error$`, `fix: is it the address of an S3 store\?`}, 1},
		{"another clock", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
			fakeStore().ServeHTTP(w, r)
		}), []string{`^fail +origin m +its clock and ours are .* apart; signatures will be refused$`}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := httptest.NewServer(c.store)
			defer store.Close()
			up := httptest.NewServer(fakeCatalog("", nil))
			defer up.Close()
			out, code := examine(t, []string{
				"LAKETAP_STORAGE_ORIGINS=[{name: m, endpoint: '" + store.URL + "', path_style: true, buckets: [lake, raw], access_key_id: id, secret_file: '" + place(t, "secret", "s3cr3t") + "'}]",
			}, "--catalog", up.URL)
			says(t, out, c.want...)
			silent(t, out, "s3cr3t")
			if code != c.code {
				t.Errorf("exit code %d, want %d:\n%s", code, c.code, out)
			}
		})
	}
}

// Stores that cannot even be set up are told by the setting's name.
func TestDoctorOnStoresThatAreNotSetUp(t *testing.T) {
	up := httptest.NewServer(fakeCatalog("", nil))
	defer up.Close()
	for _, c := range []struct{ name, origins, want string }{
		{"no secret", "[{name: m, access_key_id: id, secret_file: none.secret}]", `^fail +origins +storage.origins\[m\].secret_file: stat none.secret`},
		{"no authority", "[{name: m, endpoint: 'https://m', ca: none.pem}]", `^fail +origins +.*none.pem`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, code := examine(t, []string{"LAKETAP_STORAGE_ORIGINS=" + c.origins}, "--catalog", up.URL)
			says(t, out, c.want)
			if code != 1 {
				t.Errorf("exit code %d, want 1:\n%s", code, out)
			}
		})
	}
}

// A catalog's certificate of an authority that is not ours is out of reach, and
// the fix says how to name the authority.
func TestDoctorOnCatalogsWithTLS(t *testing.T) {
	up := httptest.NewUnstartedServer(fakeCatalog("", nil))
	up.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // it would complain of doctor
	up.StartTLS()
	defer up.Close()
	out, code := examine(t, nil, "--catalog", up.URL)
	says(t, out, `^fail +catalog main +its certificate is not trusted: .*unknown authority`, `fix: set catalogs\[main\].ca to the PEM file of its authority`)
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	out, code = examine(t, []string{"LAKETAP_CATALOGS=[{name: main, url: '" + up.URL + "', ca: none.pem}]"})
	says(t, out, `^fail +catalog main +catalog main.ca: open none.pem`, `fix: correct catalogs.ca`)
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

// Doctor's token and warehouse are an engine's: they reach the catalog, and no
// line that doctor prints.
func TestDoctorLooksAsAnEngine(t *testing.T) {
	var seen []string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"defaults":{"prefix":"a/b c"},"namespaces":[["x","y"]],"identifiers":[]}`)
	}))
	defer up.Close()
	out, code := examine(t, nil, "--catalog", up.URL, "--token", "t0ken", "--warehouse", "wh")
	says(t, out, `^ok +catalog main +has no table yet`)
	silent(t, out, "t0ken")
	want := strings.Join([]string{
		"/v1/config?warehouse=wh Bearer t0ken", "/v1/a/b%20c/namespaces Bearer t0ken", "/v1/a/b%20c/namespaces/x%1Fy/tables Bearer t0ken",
	}, "\n")
	if got := strings.Join(seen, "\n"); got != want || code != 0 {
		t.Errorf("exit code %d, asked for\n%s\nwant\n%s", code, got, want)
	}
}
