package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/admin"
)

// Whoever has mistaken the address is told which one was asked, and what to do.
func TestAskRefusals(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	nearly := strings.TrimPrefix(gone.URL, "http://")
	for _, c := range []struct {
		name   string
		at     string // "": a server that answers as below
		status int
		body   string
		want   string
	}{
		{"nobody there", nearly, 0, "", "no server answers at " + nearly + "; start one with laketap serve, or name its address with --admin"},
		{"unknown host", "no.such.host.invalid:9292", 0, "", "no server answers at no.such.host.invalid:9292"},
		{"no address", "http://a b", 0, "", `--admin: "http://a b" is not an address such as 127.0.0.1:9292`},
		{"another scheme", "ftp://a", 0, "", "ask the server at ftp://a: "},
		{"a refusal of ours", "", 403, `{"error":"host: is not known"}`, " says: host: is not known"},
		{"an error of something else", "", 404, "<html>", "/api/v1/status answered 404 Not Found; is that a Laketap server?"},
		{"JSON of something else", "", 500, `{"message":"no"}`, "answered 500 Internal Server Error; is that a Laketap server?"},
		{"a redirect to nowhere", "", 302, "", "ask the server at "},
		{"a page", "", 200, "<html>", "(is that a Laketap server?): invalid character"},
		{"an answer broken off", "", 200, `{"version":`, "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			flags := adminFlags{Admin: c.at}
			if c.at == "" {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if c.status == http.StatusFound {
						w.Header().Set("Location", "ftp://nowhere")
					}
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.body))
				}))
				defer srv.Close()
				flags.Admin = srv.URL
			}
			err := flags.ask(t.Context(), "/api/v1/status", nil, &admin.Status{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// Ctrl-C while a server is asked is no advice about servers.
func TestAskCancelled(t *testing.T) {
	asked := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	err := (&adminFlags{Admin: srv.URL}).ask(ctx, "/", nil, &admin.Status{})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "--admin") {
		t.Errorf("got %v", err)
	}
}

// No proxy of the environment comes between: it would not know the way back.
func TestAskGoesDirectly(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	var host string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host = r.Host
		_, _ = w.Write([]byte(`{"version":"v9"}`))
	}))
	defer srv.Close()
	var s admin.Status
	if err := (&adminFlags{Admin: srv.URL}).ask(t.Context(), "/api/v1/status", nil, &s); err != nil || s.Version != "v9" {
		t.Errorf("got %q, %v", s.Version, err)
	}
	if want := strings.TrimPrefix(srv.URL, "http://"); host != want {
		t.Errorf("asked as %q, want %q", host, want)
	}
}

// Of several catalogs one must be named, and one that is named must be there.
func TestPick(t *testing.T) {
	one := []admin.Upstream{{Name: "prod"}}
	two := []admin.Upstream{{Name: "prod"}, {Name: "dev"}}
	for _, c := range []struct {
		name  string
		all   []admin.Upstream
		asked string
		want  string
		err   string
	}{
		{"the only one", one, "", "prod", ""},
		{"the only one by name", one, "prod", "prod", ""},
		{"another than the only one", one, "dev", "", `--catalog: the server knows no "dev"; there is prod`},
		{"one of two", two, "dev", "dev", ""},
		{"any of two", two, "", "", "--catalog: the server stands in front of several; name one of prod, dev"},
		{"none of two", two, "test", "", `--catalog: the server knows no "test"; there is prod, dev`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := pick(c.all, c.asked)
			switch {
			case c.err != "" && (err == nil || err.Error() != c.err):
				t.Errorf("got error %v, want %s", err, c.err)
			case c.err == "" && (err != nil || got.Name != c.want):
				t.Errorf("got %v, %v, want %s", got, err, c.want)
			}
		})
	}
}

// A note about keys goes beside the lines, which are made to be piped into a
// file.
func TestConnectKeepsLinesApart(t *testing.T) {
	at := adminOf(t, admin.Status{Upstreams: []admin.Upstream{{Name: "prod", URI: "http://laketap:8181", Vends: "no"}}})
	for engine := range strings.SplitSeq(engines, ",") {
		stdout, stderr, code := command(t, "connect", engine, "--admin", at, "--uri", "https://lake.example.com/c/")
		if code != 0 || stderr != "note: catalog prod vends no keys, so engines reach its files around Laketap; laketap doctor tells what to do\n" {
			t.Errorf("%s: exit code %d, stderr %s", engine, code, stderr)
		}
		if !strings.Contains(stdout, "https://lake.example.com/c") || strings.Contains(stdout, "laketap:8181") || strings.Contains(stdout, "/c//") {
			t.Errorf("%s does not take the URI that was asked for:\n%s", engine, stdout)
		}
		if strings.Contains(stdout, "{{") || strings.Contains(stdout, "<no value>") || !strings.HasSuffix(stdout, "\n") {
			t.Errorf("%s has something left of its template:\n%s", engine, stdout)
		}
	}
}

// Status asks for all three parts and prints them as one JSON object.
func TestStatusAsJSON(t *testing.T) {
	at := adminOf(t, admin.Status{Version: "v1", Started: noon, Upstreams: []admin.Upstream{{Name: "prod"}}})
	stdout, stderr, code := command(t, "status", "--json", "--admin", at)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr %s", code, stderr)
	}
	var keys []string
	for line := range strings.Lines(stdout) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, `  "`), `"`); ok && strings.HasPrefix(line, `  "`) {
			keys = append(keys, name)
		}
	}
	if diff := cmp.Diff([]string{"status", "engines", "tables"}, keys); diff != "" {
		t.Errorf("parts (-want +got):\n%s\n%s", diff, stdout)
	}
}
