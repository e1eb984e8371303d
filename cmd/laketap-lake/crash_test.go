package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// pair is what two tables that only change together have to say.
type pair struct {
	value  int // the property both carry
	broken string
}

// readPair loads both tables, whose files must be there and whose values must
// agree.
func (p *process) readPair(i int) pair {
	p.t.Helper()
	var values [2]int
	for side, name := range []string{"a", "b"} {
		var view struct {
			Metadata struct {
				Properties map[string]string `json:"properties"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal([]byte(p.mustGet(fmt.Sprintf("/v1/namespaces/n/tables/%s%d", name, i))), &view); err != nil {
			p.t.Fatal(err)
		}
		values[side], _ = strconv.Atoi(view.Metadata.Properties["value"])
	}
	out := pair{value: values[0]}
	if values[0] != values[1] {
		out.broken = fmt.Sprintf("a%d is %d and b%d is %d", i, values[0], i, values[1])
	}
	return out
}

// Killed at any moment during commits of two tables each, the lake comes back
// with every commit that was answered, nothing torn, and goes on.
func TestKill(t *testing.T) {
	const writers, rounds = 3, 4
	dir := filepath.Join(t.TempDir(), "lake")
	p := start(t, dir)
	for i := range writers {
		p.table(fmt.Sprintf("a%d", i))
		p.table(fmt.Sprintf("b%d", i))
	}
	answered, tried := make([]int, writers), make([]int, writers)
	for round := range rounds {
		var commits atomic.Int64
		var wg sync.WaitGroup
		client := &http.Client{Transport: &http.Transport{}}
		for i := range writers {
			wg.Go(func() {
				for {
					tried[i]++
					update := fmt.Sprintf(`"updates":[{"action":"set-properties","updates":{"value":"%d"}}]`, tried[i])
					body := fmt.Sprintf(`{"table-changes":[{"identifier":{"namespace":["n"],"name":"a%d"},%s},{"identifier":{"namespace":["n"],"name":"b%[1]d"},%[2]s}]}`, i, update)
					status, text, err := post(t.Context(), client, p.file.Catalog+"/v1/transactions/commit", body)
					if err != nil {
						return // killed
					}
					if status != http.StatusNoContent {
						t.Errorf("commit: %d %s", status, text)
						return
					}
					answered[i] = tried[i]
					commits.Add(1)
				}
			})
		}
		// Each round dies at another point of the traffic.
		for deadline := time.Now().Add(20 * time.Second); commits.Load() < int64(20+7*round); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("round %d: %d commits in 20 s", round, commits.Load())
			}
		}
		p.kill()
		wg.Wait()
		client.CloseIdleConnections()
		p = start(t, dir)
		for i := range writers {
			got := p.readPair(i)
			if got.broken != "" {
				t.Errorf("round %d: torn: %s", round, got.broken)
			}
			if got.value < answered[i] || got.value > tried[i] {
				t.Errorf("round %d: tables %d are at %d; %d was answered, %d tried", round, i, got.value, answered[i], tried[i])
			}
		}
	}
	t.Logf("commits answered: %v", answered)
}

// A start that is killed leaves a folder that starts.
func TestKillDuringStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lake")
	for i := range 8 {
		cmd := command(t, dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+12*i) * time.Millisecond) // the moment is the input
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
	}
	p := start(t, dir)
	p.table("t")
	p.mustGet("/v1/namespaces/n/tables/t")
	if err := put(t.Context(), p.objects(p.file.Keys, ""), "a", []byte("b")); err != nil {
		t.Error(err)
	}
}
