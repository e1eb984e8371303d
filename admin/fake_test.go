package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/observe"
)

var at = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// sample is an access with every field set.
func sample() laketap.Access {
	return laketap.Access{
		At: at, Latency: 1500 * time.Microsecond, RequestID: "r1", Tap: laketap.StorageTap, Op: "GetObject",
		Engine: laketap.Engine{Name: "spark", Version: "4.1"}, Principal: "alice", Session: "LTAAAA", Catalog: "prod",
		Table: laketap.TableID{Catalog: "prod", Prefix: "p", Ref: "main", UUID: "u-1"}, TableName: "tpch.orders",
		Object: laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: "orders/f.parquet"},
		Range:  laketap.Range{From: 4, To: 99, Set: true}, Status: 206, BytesIn: 1, BytesOut: 96, Served: laketap.FromDisk, Err: "broke off",
	}
}

// status is a server with one upstream and one origin.
func status() admin.Status {
	return admin.Status{
		Version: "v0.1.0", Started: at, Mode: "accelerate", Authority: "catalog", Roots: []string{"s3://lake"}, Region: "us-east-1",
		Addresses: admin.Addresses{Catalog: "http://127.0.0.1:8181", Storage: "http://127.0.0.1:9191", Admin: "http://127.0.0.1:9292", Advertised: "http://lt:9191"},
		Upstreams: []admin.Upstream{{
			Name: "prod", URL: "https://up", URI: "http://127.0.0.1:8181", Vends: "no", Passed: 2,
			LastPassed: &admin.Passed{At: at, Table: "tpch.orders", Reason: "no_authority", Fix: "let it vend"}, SignedFor: "glue", DelegationRefused: at,
		}},
		Certificate: &admin.Certificate{
			File: "/etc/tls.crt", Names: []string{"lt"}, Expires: at, Ports: []string{"catalog", "storage"}, Problem: "no pair",
		},
		Cache: &admin.Cache{
			Dir: "/data/cache", Objects: 1, Extents: 2, Memory: 3, MaxMemory: 4, Disk: 5, MaxDisk: 6, Given: admin.Given{Asked: 10, Memory: 1, Disk: 2, Origin: 3, Around: 4, Warmed: 5}, Problem: "no space left on device",
		},
		Origins: []admin.Origin{{Name: "aws", Region: "us-east-1", Buckets: []string{"lake"}}},
	}
}

// deps returns what a server with an observer that saw one access hands over.
func deps() (admin.Deps, *observe.Observer) {
	reg := prometheus.NewRegistry()
	o := observe.New(observe.Options{Registerer: reg})
	o.Access(sample())
	return admin.Deps{
		Observer: o, Status: status, Gatherer: reg, Blocks: &fakeBlocks{}, Observations: observed(), Memory: &fakeMemory{},
		Warnings: func() []admin.Reason { return []admin.Reason{{Kind: "certificate", Reason: "no pair"}} },
		Probes: []admin.Probe{
			{Kind: "upstream", Name: "prod", Check: func(context.Context) error { return errors.New("connection refused") }},
			{Kind: "origin", Name: "aws", Check: func(context.Context) error { return nil }},
		},
	}, o
}

// get asks a handler for a path as a client on this machine would.
func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:9292"+path, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// decode reads an answer strictly.
func decode[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	dec := json.NewDecoder(w.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("decode answer: %v", err)
	}
	return v
}

// observed is what is known of one read.
func observed() admin.Observations {
	r := observe.NewRecent(nil)
	r.Remember(laketap.Batch{Observations: []laketap.Observation{{
		At: at, Latency: time.Millisecond, Engine: laketap.Engine{Name: "spark", Version: "4.1"}, Principal: "alice", Session: "LTAAAA",
		Table: laketap.TableID{Catalog: "prod", UUID: "u-1"}, Snapshot: 7, Served: laketap.FromDisk, Asked: 100, Bytes: 96, Weight: 1,
		File: laketap.File{Object: laketap.Object{ObjectName: laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: "f"}, Size: 200}, Format: "parquet", Partition: "1000=1"},
		Parts: []laketap.PartBytes{
			{Part: laketap.Part{Kind: laketap.ColumnChunkPart, Field: 3, Extent: laketap.Extent{Off: 4, Len: 90}}, Bytes: 90, First: true},
			{Part: laketap.Part{Kind: laketap.UnknownPart, RowGroup: -1, Extent: laketap.Extent{Off: 94, Len: 6}}, Bytes: 6},
		},
	}}})
	return r
}
