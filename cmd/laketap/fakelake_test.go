package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fakeLakeMain is laketap-lake as far as laketap can tell. A file DIR/fault
// says what goes wrong.
func fakeLakeMain() {
	dir := os.Args[len(os.Args)-1]
	fault, _ := os.ReadFile(filepath.Join(dir, "fault"))
	switch strings.TrimSpace(string(fault)) {
	case "refuses":
		fmt.Fprintln(os.Stderr, "laketap-lake: lake has layout version \"9\" and this program knows version 1")
		os.Exit(1)
	case "dies":
		time.AfterFunc(300*time.Millisecond, func() {
			fmt.Fprintln(os.Stderr, "laketap-lake: out of luck")
			os.Exit(3)
		})
	case "version":
		fakeLake(dir, lakeVersion+1)
		return
	case "stubborn": // never ends of itself
		go func() {
			for {
				time.Sleep(time.Hour)
			}
		}()
		writeLakeFile(dir, lakeVersion, "http://127.0.0.1:1", "http://127.0.0.1:1")
		select {}
	}
	fakeLake(dir, lakeVersion)
}

// fakeLake serves a catalog and a store until its standard input is closed.
func fakeLake(dir string, version int) {
	catalog, store := httptest.NewServer(fakeCatalog("", nil)), httptest.NewServer(fakeStore())
	defer catalog.Close()
	defer store.Close()
	writeLakeFile(dir, version, catalog.URL, store.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = os.WriteFile(filepath.Join(dir, "ended"), nil, 0o600)
}

func writeLakeFile(dir string, version int, catalog, store string) {
	file := lakeFile{Version: version, PID: os.Getpid(), Catalog: catalog}
	file.S3.Endpoint, file.S3.Region, file.S3.Bucket = store, "us-east-1", "lake"
	file.Keys.ID, file.Keys.Secret = "id", "secret"
	text, err := json.Marshal(file)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "lake.json"), text, 0o600)
	}
	if err != nil {
		panic(err)
	}
}

// fakeCatalog has one table, tpch.orders, at a location; "" is no table. config
// comes with it.
func fakeCatalog(location string, config map[string]string) http.Handler {
	mux := http.NewServeMux()
	reply := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v)
		}
	}
	mux.HandleFunc("GET /v1/config", reply(map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{"prefix": "p/q"}}))
	mux.HandleFunc("GET /v1/p/q/namespaces", reply(map[string]any{"namespaces": [][]string{{"empty"}, {"tpch"}}}))
	mux.HandleFunc("GET /v1/p/q/namespaces/empty/tables", reply(map[string]any{"identifiers": []any{}}))
	tables := []any{map[string]any{"namespace": []string{"tpch"}, "name": "orders"}}
	if location == "" {
		tables = []any{}
	}
	mux.HandleFunc("GET /v1/p/q/namespaces/tpch/tables", reply(map[string]any{"identifiers": tables}))
	mux.HandleFunc("GET /v1/p/q/namespaces/tpch/tables/orders", reply(map[string]any{
		"metadata-location": location + "/metadata/1.json", "config": config,
		"metadata": map[string]any{"format-version": 2, "table-uuid": "u-1", "location": location},
	}))
	return mux
}

// fakeStore answers every request as a store that has the bucket and nothing
// in it.
func fakeStore() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<?xml version="1.0"?><ListBucketResult><Name>lake</Name><KeyCount>0</KeyCount></ListBucketResult>`)
	})
}
