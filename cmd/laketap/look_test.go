package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answers is a catalog that says the same to every question.
type answers string

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

func TestLook(t *testing.T) {
	for _, c := range []struct {
		name   string
		config map[string]string
		want   *lookedAt
	}{
		{"nothing said", nil, &lookedAt{name: "tpch.orders", location: "s3://lake/orders"}},
		{
			"keys and endpoint",
			map[string]string{"s3.access-key-id": "id", "s3.endpoint": "http://m:9000"},
			&lookedAt{name: "tpch.orders", location: "s3://lake/orders", endpoint: "http://m:9000", vends: true},
		},
		{"an empty key is none", map[string]string{"s3.access-key-id": ""}, &lookedAt{name: "tpch.orders", location: "s3://lake/orders"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			up := httptest.NewServer(fakeCatalog("s3://lake/orders", c.config))
			defer up.Close()
			l := &look{base: up.URL, client: up.Client()}
			if err := l.config(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := l.firstTable(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(lookedAt{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookShowsItsToken(t *testing.T) {
	var got string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization") + " " + r.Header.Get("X-Iceberg-Access-Delegation") + " " + r.URL.RawQuery
		_, _ = io.WriteString(w, "{}")
	}))
	defer up.Close()
	l := &look{base: up.URL + "/", token: "t", warehouse: "a b", client: up.Client()}
	if err := l.config(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := "Bearer t vended-credentials warehouse=a+b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLookFindsKeysInCredentials(t *testing.T) {
	l := &look{base: "http://x", client: &http.Client{Transport: answers(
		`{"metadata":{"location":"s3://b/t"},"storage-credentials":[{"prefix":"s3://b/t","config":{"s3.access-key-id":"id"}}]}`)}}
	table, err := l.table(t.Context(), "a.b", "/t")
	if err != nil || !table.vends {
		t.Errorf("got %+v, %v", table, err)
	}
}

// Whatever a catalog answers, doctor gets through.
func FuzzLook(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"overrides":{"prefix":7},"namespaces":[[]],"identifiers":[{"name":""}]}`,
		`{"overrides":{"prefix":"a/%"},"namespaces":[["a","b"],null],"identifiers":[{"name":"t"}],"config":{"s3.endpoint":{}},"storage-credentials":[null]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		l := &look{base: "http://catalog", client: &http.Client{Transport: answers(body)}}
		if l.config(t.Context()) == nil {
			_, _ = l.firstTable(t.Context()) // must not panic
		}
	})
}
