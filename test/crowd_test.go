package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// Many clients at once, over connections that are used again: nobody gets
// another's bytes, and each request is recorded as what it was.
func TestManyClientsAtOnce(t *testing.T) {
	const clients, rounds = 24, 20
	l := lake.Start(t)
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	through := catalog.Client{URI: server.Catalog}
	tables := []catalog.Table{through.Create(t, "c", "a", ""), through.Create(t, "c", "b", ""), through.Create(t, "c", "long_name", "")}
	// versitygw takes away folders that a delete leaves empty, also from under a
	// write that has just made them (its answer is 500, which SDKs repeat). One
	// object that stays keeps them there: this test is about ours.
	made := len(server.Accesses(t))
	for _, table := range tables {
		said, err := table.Client().Do(t.Context(), s3.Request{Method: http.MethodPut, Target: table.Path() + "/data/keep", Text: "kept"})
		if err != nil || said.Status != http.StatusOK {
			t.Fatalf("keep %s: %v, %v", table.Path(), said, err)
		}
	}
	before := len(server.AccessesOnce(t, made+len(tables)))

	var (
		mu   sync.Mutex
		want []string // what must have been recorded
		all  sync.WaitGroup
	)
	for i := range clients {
		table := tables[i%len(tables)]
		client := table.Client()
		client.Transport = &http.Transport{DisableCompression: true}
		all.Go(func() {
			for n := range rounds {
				key := fmt.Sprintf("/data/%0*d-%d", 1+i, i, n) // of many lengths
				said, err := exchange(t.Context(), client, table.Path()+key, strings.Repeat(key, 1+n*i))
				if err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
				mu.Lock()
				for _, what := range said {
					want = append(want, fmt.Sprintf("%s %s%s %s", what, table.Path(), key, client.Keys.ID))
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()

	accesses := server.AccessesOnce(t, before+len(want))[before:]
	got := make([]string, 0, len(accesses))
	for _, a := range accesses {
		got = append(got, fmt.Sprintf("%s %s %d /%s/%s %s", a.Op, a.Range, a.Status, a.Object.Bucket, a.Object.Key, a.Session))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("accesses (-sent +recorded):\n%.4000s", diff)
	}
}

// exchange writes an object, reads it, a part of it, and something that is not
// there, and returns what must have been recorded.
func exchange(ctx context.Context, client *s3.Client, target, text string) ([]string, error) {
	part := fmt.Sprintf("bytes=1-%d", len(text)-2)
	for _, r := range []struct {
		s3.Request

		status int
		body   string
	}{
		{s3.Request{Method: http.MethodPut, Target: target, Text: text}, http.StatusOK, ""},
		{s3.Request{Target: target}, http.StatusOK, text},
		{s3.Request{Target: target, Header: map[string]string{"Range": part}}, http.StatusPartialContent, text[1 : len(text)-1]},
		{s3.Request{Method: http.MethodDelete, Target: target}, http.StatusNoContent, ""},
	} {
		got, err := client.Do(ctx, r.Request)
		if err != nil {
			return nil, err
		}
		if got.Status != r.status || string(got.Body) != r.body {
			return nil, fmt.Errorf("%s %s: %v, %d bytes; want %d, %d bytes", r.Method, r.Target, got, len(got.Body), r.status, len(r.body))
		}
	}
	return []string{"PutObject  200", "GetObject  200", "GetObject " + part + " 206", "DeleteObject  204"}, nil
}
