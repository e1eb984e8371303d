package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A lake.json is the child's if it names the child and was not there before.
// In a container the second start has the process ids of the first, so a lake
// that was killed leaves a file behind that names the new child.
func TestLakeFileOfTheChild(t *testing.T) {
	const other = `{"version":1,"pid":1,"catalog":"http://old"}`
	for _, c := range []struct {
		name, before, now string // lake.json; PID stands for the child's id, "" is none
		ready             bool
		err               string
	}{
		{name: "none"},
		{name: "written by the child", now: `{"version":1,"pid":PID}`, ready: true},
		{name: "replaced by the child", before: other, now: `{"version":1,"pid":PID}`, ready: true},
		{name: "of a killed lake", before: other},
		{name: "of a killed lake with the child's id", before: `{"version":1,"pid":PID}`},
		{name: "of another lake that runs", now: other},
		{name: "half written", now: `{"version":1,"pid":PI`},
		{name: "of a newer lake", now: `{"version":2,"pid":PID}`, err: "has version 2 and this laketap knows version 1"},
		{name: "of a newer lake that was killed", before: `{"version":2,"pid":PID}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "lake.json")
			child := &exec.Cmd{Process: &os.Process{Pid: 77}}
			write := func(text string) {
				// As a lake does it: a new file takes the place of the old one.
				draft := name + ".new"
				err := os.WriteFile(draft, []byte(strings.ReplaceAll(text, "PID", "77")), 0o600)
				if err = errors.Join(err, os.Rename(draft, name)); err != nil {
					t.Fatal(err)
				}
			}
			l := &lake{child: child}
			if c.before != "" {
				write(c.before)
				info, err := os.Stat(name)
				if err != nil {
					t.Fatal(err)
				}
				l.stale = info
			}
			if c.now != "" {
				write(c.now)
			}
			ready, err := l.read(name)
			if ready != c.ready || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, %v; want %v, %q", ready, err, c.ready, c.err)
			}
		})
	}
}

// lakeOf starts a shell command as the lake.
func lakeOf(t *testing.T, script string) *lake {
	t.Helper()
	l := &lake{log: slog.New(slog.DiscardHandler), grace: lakeStop, done: make(chan struct{})}
	l.said = &lines{log: l.log}
	l.child = exec.Command("/bin/sh", "-c", script) //nolint:noctx // as startLake does
	l.child.Stderr = l.said
	var err error
	if l.stdin, err = l.child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := l.child.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		l.err = l.child.Wait()
		close(l.done)
	}()
	t.Cleanup(l.stop)
	return l
}

// How a child ends is told with what it said last, since that is the reason.
func TestLakeEnds(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"in good order", "exit 0", "(exit status 0):\nit said nothing"},
		{"with an error", "echo disk full >&2; exit 4", "(exit status 4):\ndisk full"},
		{"killed", "kill -9 $$", "(signal: killed):\nit said nothing"},
		{"talkative", "for i in 1 2 3 4 5 6 7; do echo $i >&2; done; exit 1", "(exit status 1):\n3\n4\n5\n6\n7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := lakeOf(t, c.script)
			err := l.wait(t.Context())
			if err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("a running server is told %v, want …%s", err, c.want)
			}
			err = l.await(t.Context(), filepath.Join(t.TempDir(), "lake.json"))
			if err == nil || !strings.Contains(err.Error(), "ended before it was ready") || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("a starting server is told %v, want …%s", err, c.want)
			}
		})
	}
}

// A shutdown is no news of the lake; it goes on until stop.
func TestLakeOutlivesTheSignal(t *testing.T) {
	l := lakeOf(t, "cat >/dev/null")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("Ctrl-C"))
	if err := l.wait(ctx); err != nil {
		t.Errorf("wait: got %v, want nil", err)
	}
	if err := l.await(ctx, filepath.Join(t.TempDir(), "lake.json")); err == nil || err.Error() != "Ctrl-C" {
		t.Errorf("await: got %v, want the cause", err)
	}
	select {
	case <-l.done:
		t.Error("the lake ended with the context")
	default:
	}
	l.stop() // by the end of its standard input
	if l.err != nil {
		t.Errorf("the lake ended with %v, want in good order", l.err)
	}
	l.stop() // once more, as a failed start does
}

// The lake as configuration: what the taps need, and no keys in it, which go
// another way.
func TestLakeAsConfiguration(t *testing.T) {
	l := &lake{}
	l.file.Catalog = "http://127.0.0.1:7"
	l.file.S3.Endpoint, l.file.S3.Region, l.file.S3.Bucket = "http://127.0.0.1:8", "us-east-1", "lake"
	l.file.Keys.ID, l.file.Keys.Secret = "id", "secret"
	cfg := NewConfig()
	cfg.Catalogs, cfg.Storage.Origins = []UpstreamConfig{l.upstream()}, []OriginConfig{l.origin()}
	if err := cfg.Check(); err != nil {
		t.Error(err)
	}
	origins, err := s3Origins(cfg.Storage.Origins, l)
	if err != nil || len(origins) != 1 {
		t.Fatalf("got %v, %v", origins, err)
	}
	if o := origins[0]; o.AccessKeyID != "id" || o.SecretAccessKey != "secret" || !o.PathStyle || o.Endpoint != "http://127.0.0.1:8" {
		t.Errorf("got origin %s of %s with key %q", o.Name, o.Endpoint, o.AccessKeyID)
	}
	// Somebody else's origin of another name gets none of the lake's keys.
	other, err := s3Origins([]OriginConfig{{Name: "aws"}}, l)
	if err != nil || other[0].AccessKeyID != "" || other[0].SecretAccessKey != "" {
		t.Errorf("the lake's keys went to another origin: %v", err)
	}
}

// The program is looked for beside laketap first, so that a checkout's pair
// belongs together, then on PATH.
func TestFindLake(t *testing.T) {
	bin := t.TempDir()
	onPath := filepath.Join(bin, lakeProgram)
	if err := os.WriteFile(onPath, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(exe), lakeProgram)); err == nil {
		t.Skip("there is one beside the test binary")
	}
	t.Setenv("PATH", bin)
	if got, err := findLake(); err != nil || got != onPath {
		t.Errorf("got %q, %v; want %q", got, err, onPath)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := findLake(); err == nil || !strings.Contains(err.Error(), "make build builds both") {
		t.Errorf("got %v, want to be told how to get it", err)
	}
	if _, err := startLake(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("started a lake without its program")
	}
}

// Lines are handed on as they come, in any pieces, and each once.
func TestLinesInAnyPieces(t *testing.T) {
	const text = "first\nsecond line\n\nfourth\n"
	for size := 1; size <= len(text); size++ {
		var logged bytes.Buffer
		w := &lines{log: slog.New(slog.NewTextHandler(&logged, nil))}
		if _, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if got, want := w.last(), "first\nsecond line\n\nfourth"; got != want {
			t.Errorf("in pieces of %d: got %q, want %q", size, got, want)
		}
		if n := strings.Count(logged.String(), "the local lake says"); n != 4 {
			t.Errorf("in pieces of %d: logged %d lines, want 4", size, n)
		}
	}
}

// A lake that is deaf to the end of its input is killed after a while.
func TestStubbornLakeIsKilled(t *testing.T) {
	l := lakeOf(t, "exec sleep 600 <&-")
	l.grace = 50 * time.Millisecond
	l.stop()
	if l.err == nil || l.err.Error() != "signal: killed" {
		t.Errorf("ended with %v, want to be killed", l.err)
	}
}
