package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A process is laketap run as a program of its own.
type process struct {
	cmd    *exec.Cmd
	stdout *syncBuffer
	stderr *syncBuffer
	ended  chan error
}

// launch runs this test binary as laketap, with laketap-lake on its PATH.
func launch(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(exe, filepath.Join(bin, lakeProgram)); err != nil {
		t.Fatal(err)
	}
	p := &process{stdout: &syncBuffer{}, stderr: &syncBuffer{}, ended: make(chan error, 1)}
	p.cmd = &exec.Cmd{
		Path: exe, Args: append([]string{"laketap"}, args...), Dir: dir, Stdout: p.stdout, Stderr: p.stderr,
		Env: append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "LAKETAP_CATALOG_LISTEN=127.0.0.1:0",
			"LAKETAP_STORAGE_LISTEN=127.0.0.1:0", "LAKETAP_ADMIN_LISTEN=127.0.0.1:0", "LAKETAP_DATA="+filepath.Join(dir, "data"),
			"GORACE=atexit_sleep_ms=0"),
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // ended already, most of the time
		if err := <-p.ended; err != nil {
			t.Logf("laketap: %v", err)
		}
	})
	return p
}

// catalog waits for the server and returns the address of its catalog tap.
func (p *process) catalog(t *testing.T) string {
	t.Helper()
	awaitTrue(t, "the server is ready", func() bool { return strings.Contains(p.stdout.String(), "is ready") })
	found := regexp.MustCompile(`catalog +(http://\S+)`).FindStringSubmatch(p.stdout.String())
	if found == nil {
		t.Fatalf("no catalog in %s", p.stdout)
	}
	return found[1]
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// end waits for the process and returns how it ended.
func (p *process) end(t *testing.T) *os.ProcessState {
	t.Helper()
	select {
	case err := <-p.ended:
		p.ended <- err // for the cleanup
	case <-time.After(time.Minute):
		t.Fatalf("does not end; it said:\n%s", p.stderr)
	}
	return p.cmd.ProcessState
}

// A second signal ends at once what the first one waits for.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	entered := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	}))
	defer up.Close()
	p := launch(t, t.TempDir(), "serve", "--catalog", up.URL)
	catalog := p.catalog(t)
	var wg sync.WaitGroup
	wg.Go(func() { fetch(t, catalog+"/v1/slow") })
	<-entered
	p.signal(t, os.Interrupt)
	awaitTrue(t, "it drains", func() bool { return strings.Contains(p.stderr.String(), "a second signal ends at once") })
	p.signal(t, os.Interrupt)
	state := p.end(t)
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("ended with %v, want to be killed by the second interrupt", state)
	}
	wg.Wait()
}

func TestTerminationIsAShutdown(t *testing.T) {
	up := httptest.NewServer(fakeCatalog("", nil))
	defer up.Close()
	p := launch(t, t.TempDir(), "serve", "--catalog", up.URL)
	p.catalog(t)
	p.signal(t, syscall.SIGTERM)
	if state := p.end(t); !state.Success() || !strings.Contains(p.stderr.String(), "terminated signal received") {
		t.Errorf("ended with %v; it said:\n%s", state, p.stderr)
	}
}

// A server that is killed takes its lake along, and the next one has its key.
func TestKilledServer(t *testing.T) {
	dir := t.TempDir()
	lakeDir := filepath.Join(dir, "lake")
	p := launch(t, dir, "serve", "--lake", lakeDir)
	p.catalog(t)
	key, err := os.ReadFile(filepath.Join(dir, "data", "cluster.key"))
	if err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGKILL)
	p.end(t)
	awaitTrue(t, "the lake ends", func() bool {
		_, err := os.Stat(filepath.Join(lakeDir, "ended"))
		return err == nil
	})
	again := launch(t, dir, "serve", "--lake", lakeDir)
	again.catalog(t)
	after, err := os.ReadFile(filepath.Join(dir, "data", "cluster.key"))
	if err != nil || !bytes.Equal(key, after) {
		t.Errorf("the key changed: %v", err)
	}
	again.signal(t, os.Interrupt)
	if state := again.end(t); !state.Success() {
		t.Errorf("ended with %v", state)
	}
}

// A Ctrl-C in a terminal goes to the whole process group; the lake must not
// end before the taps have drained.
func TestLakeIsOutOfReachOfTheTerminal(t *testing.T) {
	dir := t.TempDir()
	p := launch(t, dir, "serve", "--lake", filepath.Join(dir, "lake"))
	p.catalog(t)
	l := &lake{child: p.cmd}
	if _, err := l.read(filepath.Join(dir, "lake", "lake.json")); err != nil {
		t.Fatal(err)
	}
	group, err := syscall.Getpgid(l.file.PID)
	if err != nil || group != l.file.PID {
		t.Errorf("the lake %d is in group %d, %v; want one of its own", l.file.PID, group, err)
	}
	p.signal(t, os.Interrupt)
	p.end(t)
}
