package demo_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/cmd/laketap/demo"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

func testingContext() context.Context { return context.Background() }

// A stage is where a demo with fake programs plays.
type stage struct {
	dir, engines, alive, story string
}

// newStage installs the fake engines; parts are more files under their folder.
func newStage(t *testing.T, parts ...string) stage {
	t.Helper()
	tmp := t.TempDir()
	s := stage{
		dir: filepath.Join(tmp, "demo"), engines: filepath.Join(tmp, "engines"),
		alive: filepath.Join(tmp, "alive"), story: filepath.Join(tmp, "story"),
	}
	exe := executable(t)
	bin := filepath.Join(s.engines, "venv", "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"python", "tpchgen-cli"} {
		if err := os.Symlink(exe, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range parts {
		if err := os.MkdirAll(filepath.Join(s.engines, part), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("FAKE_ALIVE", s.alive)
	t.Setenv("FAKE_STORY", s.story)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each program otherwise
	return s
}

func executable(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// run runs a demo with the fakes.
func (s stage) run(ctx context.Context, t *testing.T, engines ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	d := demo.Demo{Dir: s.dir, EnginesDir: s.engines, Engines: engines, Server: []string{executable(t)}, Out: &out}
	err := d.Run(ctx)
	return out.String(), err
}

// told returns the story so far, addresses cut.
func (s stage) told(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(s.story)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " http://")
		lines = append(lines, line)
	}
	return lines
}

// awaitStory waits until the story has a line.
func (s stage) awaitStory(t *testing.T, want string) {
	t.Helper()
	eventually(t, "the story has "+want, func() bool {
		return slices.Contains(s.told(t), want)
	})
}

// awaitSilence waits until no fake program lives: nobody holds the lock.
func (s stage) awaitSilence(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(s.alive, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	eventually(t, "every program has ended", func() bool {
		return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
	})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain until %s", what)
		case <-tick.C:
		}
	}
}

func TestOrder(t *testing.T) {
	s := newStage(t)
	out, err := s.run(t.Context(), t)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := []string{"tpchgen-cli", "serve", "pyiceberg load", "duckdb reference", "duckdb run", "pyiceberg run"}
	if diff := cmp.Diff(want, s.told(t)); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
	if strings.ContainsAny(out, "\x1b\r") {
		t.Error("cursor tricks where there is no terminal")
	}
	// What a person must find, in this order.
	for _, part := range []string{
		"One lake", "Generate TPC-H", "Start a local lake", "catalog URI http://127.0.0.1:", "Load it",
		"600,572 rows", "Ask every engine", "duckdb    1.0", "7 of 7 answered",
		"Q1 pricing summary", "✓ 0.25 s", "Who read what", "duckdb/1.0", "tpch.lineitem", "1,234", "5.00 MB",
		"What next", "laketap serve --lake", "laketap connect duckdb", "laketap serve --catalog", "README.md",
	} {
		_, rest, found := strings.Cut(out, part)
		if !found {
			t.Fatalf("no %q after what came before it in:\n%s", part, out)
		}
		out = rest
	}
	s.awaitSilence(t)
}

func TestOnlyTheURI(t *testing.T) {
	s := newStage(t)
	if out, err := s.run(t.Context(), t); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(s.story)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		uri := strings.Contains(line, "http://127.0.0.1:")
		if asks := strings.HasPrefix(line, "duckdb run") || strings.HasPrefix(line, "pyiceberg"); uri != asks {
			t.Errorf("%q: told the catalog: %v, want %v", line, uri, asks)
		}
	}
}

func TestSecondRunFindsAll(t *testing.T) {
	s := newStage(t)
	if out, err := s.run(t.Context(), t); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := s.run(t.Context(), t)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := strings.Count(out, "there already"); got != 2 {
		t.Errorf("%d parts were there already, want the files and the tables:\n%s", got, out)
	}
	if got := strings.Count(strings.Join(s.told(t), "\n"), "tpchgen-cli"); got != 1 {
		t.Errorf("generated %d times, want once", got)
	}
}

func TestDraftIsNotData(t *testing.T) {
	s := newStage(t)
	// As a generator that was stopped leaves it.
	if err := os.MkdirAll(filepath.Join(s.dir, "tpch-0.1.draft"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := s.run(t.Context(), t); err != nil || s.told(t)[0] != "tpchgen-cli" {
		t.Fatalf("%v, %v\n%s", err, s.told(t), out)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "tpch-0.1", "lineitem.parquet")); err != nil {
		t.Error(err)
	}
}

func TestWrong(t *testing.T) {
	for _, tt := range []struct {
		name, env, value string
		want             []string // in the output
		err              string
		also             error
	}{
		{
			"an answer differs", "FAKE_WRONG", "pyiceberg q6",
			[]string{"✗ pyiceberg, Q6 revenue change: row 1, revenue: 8, not 1.50", "✓ 0.25 s", "Who read what"},
			"1 of 14", demo.ErrDiffers,
		},
		{
			"an engine fails", "FAKE_FAIL", "duckdb",
			nil, "OutOfCheese", nil, // the reference is DuckDB's, too
		},
		{
			"loading fails", "FAKE_FAIL", "pyiceberg",
			nil, "load TPC-H with PyIceberg: OutOfCheese: no more (log: ", nil,
		},
		{
			"an engine crashes", "FAKE_CRASH", "spark",
			[]string{"✗ spark, Q1 pricing summary: exit status 1", "segmentation fault, says spark", "What next"},
			"7 of 21", demo.ErrDiffers,
		},
		{
			"a package is missing", "FAKE_CRASH", "pyiceberg ModuleNotFoundError: No module named 'pyarrow'",
			nil, "a Python package is missing in ", nil,
		},
		{
			"the server does not start", "FAKE_SERVER_FAIL", "catalog.listen: the port is in use",
			nil, "catalog.listen: the port is in use", nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, "jars/spark")
			t.Setenv(tt.env, tt.value)
			var engines []string
			if tt.value == "spark" {
				engines = []string{"all"}
			}
			out, err := s.run(t.Context(), t, engines...)
			if err == nil || !strings.Contains(err.Error(), tt.err) || tt.also != nil && !errors.Is(err, tt.also) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
			s.awaitSilence(t)
		})
	}
}

func TestNotInstalled(t *testing.T) {
	s := newStage(t)
	for _, tt := range []struct {
		name, remove string
		engines      []string
		want         string
	}{
		{"an engine by name", "", []string{"spark"}, "run `make demo ENGINES=spark`"},
		{"an unknown engine", "", []string{"presto"}, `no engine "presto"`},
		{"the generator", "venv/bin/tpchgen-cli", nil, "tpchgen-cli; run `make demo`"},
		{"Python", "venv", nil, "run `make demo`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.remove != "" {
				if err := os.RemoveAll(filepath.Join(s.engines, tt.remove)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.run(t.Context(), t, tt.engines...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if story := s.told(t); len(story) > 0 {
				t.Errorf("ran %v", story)
			}
		})
	}
}

func TestAllLeavesOutWhatIsMissing(t *testing.T) {
	s := newStage(t, "trino/lib")
	out, err := s.run(t.Context(), t, "all")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(out, "spark is not installed and left out; `make demo ENGINES=spark`") {
		t.Errorf("not a word about Spark in:\n%s", out)
	}
	if story := s.told(t); story[len(story)-1] != "trino run" {
		t.Errorf("story %v, want Trino at its end", story)
	}
}

func TestOneDemoAFolder(t *testing.T) {
	s := newStage(t)
	t.Setenv("FAKE_HANG", "duckdb")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.run(ctx, t)
		ended <- err
	}()
	s.awaitStory(t, "duckdb reference")
	if _, err := s.run(t.Context(), t); err == nil || !strings.Contains(err.Error(), "another demo runs in") {
		t.Errorf("error %v of the second demo", err)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the first demo ended well")
	}
}

func TestCancelLeavesNothing(t *testing.T) {
	stopped := errors.New("Ctrl-C")
	for _, hung := range []string{"duckdb", "pyiceberg"} { // the reference; the load
		t.Run(hung, func(t *testing.T) {
			s := newStage(t)
			t.Setenv("FAKE_HANG", hung)
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := s.run(ctx, t)
				ended <- err
			}()
			s.awaitStory(t, "grandchild")
			cancel(stopped)
			if err := <-ended; !errors.Is(err, stopped) {
				t.Errorf("error %v, want the cause", err)
			}
			s.awaitSilence(t)
		})
	}
}

func TestServerEnds(t *testing.T) {
	s := newStage(t)
	t.Setenv("FAKE_HANG", "duckdb")
	t.Setenv("FAKE_SERVER_ENDS", "1")
	_, err := s.run(t.Context(), t)
	if err == nil || !strings.Contains(err.Error(), "the server ended: exit status 3; see its log") {
		t.Errorf("error %v", err)
	}
	s.awaitSilence(t)
}

// The demo as a program of its own: ended politely, killed outright, and left
// behind by a parent that was killed.
func TestSignalsLeaveNothing(t *testing.T) {
	for _, tt := range []struct {
		name, role string
		signal     syscall.Signal
		linux      bool
	}{
		{name: "SIGINT", role: "demo", signal: syscall.SIGINT},
		{name: "SIGTERM", role: "demo", signal: syscall.SIGTERM},
		{name: "SIGKILL", role: "demo", signal: syscall.SIGKILL, linux: true},
		{name: "SIGKILL of the parent", role: "parent", signal: syscall.SIGKILL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.linux && runtime.GOOS != "linux" {
				t.Skip("only Linux tells a server that its demo was killed")
			}
			s := newStage(t)
			t.Setenv("FAKE_HANG", "duckdb")
			cmd := exec.CommandContext(t.Context(), executable(t), tt.role, s.dir, s.engines)
			var out bytes.Buffer
			cmd.Stdout, cmd.WaitDelay = &out, patience
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			s.awaitStory(t, "grandchild")
			if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Errorf("ended well:\n%s", out.String())
			}
			s.awaitSilence(t)
		})
	}
}
