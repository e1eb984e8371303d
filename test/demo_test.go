package e2e_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/process"
)

// The main job, as the README shows it: it finds equal answers, it can be done
// again in the same folder, and it leaves nothing running.
func TestDemo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	command := process.Command{
		Path: process.Binary(t, "laketap"),
		Args: []string{"demo", "--dir", dir, "--scale", "0.01", "--engines-dir", engines.Home(t)},
	}
	for _, run := range []string{"first", "second"} {
		p := process.Start(t, command)
		if code := p.WaitFor(t, 2*time.Minute); code != 0 {
			t.Fatalf("%s run: exit code %d\n%s", run, code, p.Tail())
		}
		said := p.Tail()
		for _, want := range []string{"The same answers? ✓", "14 of 14 equal", "tpch.lineitem", "duckdb/", "pyiceberg/"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s run does not say %q:\n%s", run, want, said)
			}
		}
		nothingRuns(t, dir)
	}
}

// Ctrl-C at any time ends everything that the demo has started.
func TestDemoIsInterrupted(t *testing.T) {
	for _, at := range []string{"Generate", "Load it", "Ask every"} {
		t.Run(at, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "demo")
			p := process.Start(t, process.Command{
				Path: process.Binary(t, "laketap"),
				Args: []string{"demo", "--dir", dir, "--scale", "0.01", "--engines-dir", engines.Home(t)},
			})
			p.Eventually(t, time.Minute, func() error {
				if !strings.Contains(p.Tail(), at) {
					return errors.New("does not say " + at)
				}
				return nil
			})
			p.Signal(t, os.Interrupt)
			if code := p.Wait(t); code == 0 {
				t.Error("exit code 0 for a demo that was cut off")
			}
			nothingRuns(t, dir)
		})
	}
}

// nothingRuns checks that no process is left that knows the folder.
func nothingRuns(t *testing.T, dir string) {
	t.Helper()
	for _, command := range running(t, dir) {
		t.Errorf("still runs: %s", command)
	}
}

// eventuallyNothingRuns is nothingRuns for processes that notice by themselves
// that their parent is gone.
func eventuallyNothingRuns(t *testing.T, dir string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); len(running(t, dir)) > 0 && time.Now().Before(deadline); {
		<-tick.C
	}
	nothingRuns(t, dir)
}

// running returns the command lines of processes that name the folder.
func running(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range all {
		line, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // ended while we looked
		}
		if bytes.Contains(line, []byte(dir)) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}
