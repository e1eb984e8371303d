package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	lakeProgram  = "laketap-lake"
	lakeVersion  = 1                // of lake.json; docs/formats/lake.md
	lakeStart    = 30 * time.Second // until it must be ready
	lakeStop     = 10 * time.Second // until it is killed
	lakeLook     = 20 * time.Millisecond
	lakeLastSaid = 5 // lines that an error repeats
)

// A lakeFile is what a local lake tells of itself in DIR/lake.json.
type lakeFile struct {
	Version int    `json:"version"`
	PID     int    `json:"pid"`
	Catalog string `json:"catalog"`
	S3      struct {
		Endpoint string `json:"endpoint"`
		Region   string `json:"region"`
		Bucket   string `json:"bucket"`
	} `json:"s3"`
	Keys struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	} `json:"keys"`
}

// A lake is a local lake that runs as our child.
type lake struct {
	file  lakeFile
	log   *slog.Logger
	child *exec.Cmd
	stale os.FileInfo // lake.json as it was before the child; nil: there was none
	stdin io.Closer   // the child ends when this closes, also when we are killed
	said  *lines
	grace time.Duration // from the end of stdin until it is killed
	done  chan struct{} // closed when the child has ended
	err   error         // how it ended; read after done
}

// startLake starts laketap-lake on a directory and waits until it is ready.
func startLake(ctx context.Context, dir string, log *slog.Logger) (*lake, error) {
	program, err := findLake()
	if err != nil {
		return nil, err
	}
	announced := filepath.Join(dir, "lake.json")
	l := &lake{log: log, said: &lines{log: log}, grace: lakeStop, done: make(chan struct{})}
	if l.stale, err = os.Stat(announced); err != nil {
		l.stale = nil // the usual case; whatever else is wrong, the lake says
	}
	// Not bound to ctx: the lake outlives the signal until the taps have
	// drained. Its own process group keeps a terminal's Ctrl-C from it.
	l.child = exec.Command(program, "--stdin-guard", dir) //nolint:noctx // see above
	l.child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	l.child.Stderr = l.said
	if l.stdin, err = l.child.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start local lake: %w", err)
	}
	if err := l.child.Start(); err != nil {
		return nil, fmt.Errorf("start local lake: %w", err)
	}
	go func() { // ends with the child; stop waits for it
		l.err = l.child.Wait()
		close(l.done)
	}()
	if err := l.await(ctx, announced); err != nil {
		l.stop()
		return nil, err
	}
	return l, nil
}

// findLake looks beside this program, then on PATH.
func findLake() (string, error) {
	// Beside us first: a pair of one build knows the same lake.json.
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), lakeProgram)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	program, err := exec.LookPath(lakeProgram)
	if err != nil {
		return "", fmt.Errorf("--lake: the program %s is neither beside laketap nor on PATH; make build builds both", lakeProgram)
	}
	return program, nil
}

// await waits for lake.json. A lake that was killed leaves one behind, which
// names ports that nobody may listen on; read tells the two apart.
func (l *lake) await(ctx context.Context, name string) error {
	look := time.NewTicker(lakeLook)
	defer look.Stop()
	late := time.NewTimer(lakeStart)
	defer late.Stop()
	// A first start may have to make its store; a person should see that somebody
	// waits.
	progress := time.NewTicker(2 * time.Second)
	defer progress.Stop()
	for {
		select {
		case <-look.C:
			ready, err := l.read(name)
			if err != nil || ready {
				return err
			}
		case <-progress.C:
			l.log.InfoContext(ctx, "waiting for the local lake", "file", name)
		case <-l.done:
			return fmt.Errorf("--lake: the local lake ended before it was ready (%s):\n%s", ended(l.err), l.said.last())
		case <-late.C:
			return fmt.Errorf("--lake: the local lake was not ready after %v; it said:\n%s", lakeStart, l.said.last())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read reports whether lake.json is there and the child's: its process id must
// be the child's. In a container that is not enough, since the same program
// starts with the same id each time, so the file from before the start does not
// count either; the lake replaces it and never writes into it.
func (l *lake) read(name string) (ready bool, err error) {
	info, err := os.Stat(name)
	if err != nil || l.stale != nil && os.SameFile(info, l.stale) && info.ModTime().Equal(l.stale.ModTime()) {
		return false, nil //nolint:nilerr // not there yet
	}
	text, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(text, &l.file) != nil || l.file.PID != l.child.Process.Pid {
		return false, nil //nolint:nilerr // not there yet, or half written
	}
	if l.file.Version != lakeVersion {
		return false, fmt.Errorf("--lake: %s has version %d and this laketap knows version %d; use the laketap-lake that came with it (nothing was changed)", name, l.file.Version, lakeVersion)
	}
	return true, nil
}

// stop ends the child, in good order if it can, and waits for its end.
func (l *lake) stop() {
	// The end of standard input and not a signal: it also reaches a lake that was
	// started a moment ago and has not set up its signals.
	_ = l.stdin.Close() // closed already if the child ended
	late := time.NewTimer(l.grace)
	defer late.Stop()
	select {
	case <-l.done:
	case <-late.C:
		l.log.Warn("killing the local lake", "after", l.grace)
		_ = l.child.Process.Kill() // it ended meanwhile
		<-l.done
	}
}

// wait returns when the child ends of itself, which is an error, or with ctx.
func (l *lake) wait(ctx context.Context) error {
	select {
	case <-l.done:
		return fmt.Errorf("--lake: the local lake ended (%s):\n%s", ended(l.err), l.said.last())
	case <-ctx.Done():
		return nil
	}
}

// upstream and origin are the lake as configuration.
func (l *lake) upstream() UpstreamConfig {
	return UpstreamConfig{Name: "lake", URL: l.file.Catalog}
}

func (l *lake) origin() OriginConfig {
	return OriginConfig{
		Name: "lake", Endpoint: l.file.S3.Endpoint, Region: l.file.S3.Region, PathStyle: true, Buckets: []string{l.file.S3.Bucket},
	}
}

func ended(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// lines takes what a child writes to its standard error, logs it line by line
// and keeps the last ones.
type lines struct {
	log *slog.Logger

	mu   sync.Mutex
	rest []byte
	kept []string
}

// Write implements [io.Writer].
func (w *lines) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found && len(w.rest) < maxSecret {
			return len(p), nil
		}
		// A line that has no end is handed on in pieces of maxSecret.
		w.rest = rest
		w.log.Warn("the local lake says", "line", string(line))
		w.kept = append(w.kept, string(line))
		w.kept = w.kept[max(0, len(w.kept)-lakeLastSaid):]
	}
}

// last returns the last lines.
func (w *lines) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := append([]string(nil), w.kept...)
	if len(w.rest) > 0 {
		said = append(said, string(w.rest))
	}
	if len(said) == 0 {
		return "it said nothing"
	}
	return strings.Join(said, "\n")
}
