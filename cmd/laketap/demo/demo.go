// Package demo shows on one machine what Laketap does: it starts a local lake
// with Laketap in front, loads TPC-H through one engine, asks every engine the
// same questions by catalog URI alone, compares the answers and tells who read
// what. It refuses to know how Laketap works: the server is a child, the
// engines are children, and all it learns comes from their answers and from
// the admin API.
package demo

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed scripts/*.py scripts/questions.json
var scripts embed.FS

// ErrDiffers is returned when the demo ran, but not all answers are equal.
var ErrDiffers = errors.New("not all answers are equal")

// parentEvery is how often the demo looks whether who started it still runs.
const parentEvery = 500 * time.Millisecond

// A Demo is one run. Dir, EnginesDir, Server and Out are required.
type Demo struct {
	// Dir keeps the lake and the generated data; a second run finds them there.
	Dir string
	// EnginesDir is where test/engines/setup installed the engines.
	EnginesDir string
	// Engines are asked beside DuckDB and PyIceberg; "all" is every installed one.
	Engines []string
	// Scale is the TPC-H scale factor; 0 is 0.1, some 870,000 rows.
	Scale float64
	// Server is the command that runs Laketap, the program first; what it shall
	// do follows, and its settings are in the environment.
	Server []string
	// Program is how the next steps spell the program; "": laketap.
	Program  string
	Out      io.Writer
	Terminal bool // Out is a terminal, whose lines can be rewritten

	screen    *screen
	questions []question
}

// Run runs the demo. Whatever it started has ended when it returns, and ends
// with it if it is killed. It also ends when its parent process does.
func (d *Demo) Run(ctx context.Context) error {
	d.screen = &screen{out: d.Out, terminal: d.Terminal}
	d.Program, d.Scale = cmp.Or(d.Program, "laketap"), cmp.Or(d.Scale, 0.1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchParent(ctx, parentEvery, cancel)
	}()
	// What run starts it also ends, in reverse order, before it returns.
	err := d.run(ctx, cancel)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.Canceled) {
		err = fmt.Errorf("stopped, nothing is left running: %w", cause)
	}
	cancel(nil)
	<-watched
	return err
}

// run goes through the demo, one step after the other.
func (d *Demo) run(ctx context.Context, cancel context.CancelCauseFunc) error {
	d.screen.line("One lake, several engines, one place that sees what all of them do.")
	engines, left, err := d.choose()
	if err != nil {
		return err
	}
	for _, line := range left {
		d.screen.line("  %s", line)
	}
	unlock, err := d.prepare()
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.generate(ctx); err != nil {
		return err
	}
	srv, err := d.start(ctx)
	if err != nil {
		return err
	}
	// The server goes last: engines that are being ended still talk to it.
	defer srv.stop()
	defer d.whileItServes(ctx, srv, cancel)()
	if err := d.load(ctx, srv); err != nil {
		return err
	}
	voices, err := d.ask(ctx, engines, srv)
	if err != nil {
		return err
	}
	wrong := d.compare(voices)
	if err := d.tellTraffic(ctx, srv); err != nil {
		return err
	}
	d.next()
	return wrong
}

// whileItServes cancels when the server ends: engines have nobody to talk to
// then. The function that it returns ends the watch.
func (d *Demo) whileItServes(ctx context.Context, srv *server, cancel context.CancelCauseFunc) func() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-srv.ended:
			cancel(fmt.Errorf("the server ended: %w; see its log %s", srv.err, d.serverLog()))
		case <-ctx.Done():
		}
	}()
	return func() {
		cancel(nil)
		<-done
	}
}

// prepare makes the demo's folder, writes the scripts there, and keeps a
// second demo out of it.
func (d *Demo) prepare() (unlock func(), err error) {
	if d.Dir, err = filepath.Abs(d.Dir); err != nil {
		return nil, fmt.Errorf("make the demo's folder: %w", err)
	}
	if d.EnginesDir, err = filepath.Abs(d.EnginesDir); err != nil {
		return nil, fmt.Errorf("find the engines: %w", err)
	}
	for _, dir := range []string{d.scripts(), filepath.Join(d.Dir, "logs"), filepath.Join(d.Dir, "trino")} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return nil, fmt.Errorf("make the demo's folder: %w", err)
		}
	}
	lock, err := os.OpenFile(filepath.Join(d.Dir, "demo.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the demo's folder: %w", err)
	}
	// The kernel drops the lock with the process, so a demo that was killed locks
	// nobody out.
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("another demo runs in %s: wait for it, or give --dir", d.Dir)
	}
	if err := d.writeScripts(); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}

// Where things are below Dir. The name of the data holds its scale, so that two
// scales do not meet.
func (d *Demo) scripts() string   { return filepath.Join(d.Dir, "scripts") }
func (d *Demo) lake() string      { return filepath.Join(d.Dir, "lake") }
func (d *Demo) serverLog() string { return filepath.Join(d.Dir, "logs", "laketap.log") }
func (d *Demo) data() string {
	return filepath.Join(d.Dir, "tpch-"+strconv.FormatFloat(d.Scale, 'f', -1, 64))
}

// writeScripts writes what the engines run, anew each time: those of an older
// laketap would speak another protocol.
func (d *Demo) writeScripts() error {
	entries, err := scripts.ReadDir("scripts")
	if err != nil {
		return fmt.Errorf("write the engines' scripts: %w", err)
	}
	for _, entry := range entries {
		text, err := scripts.ReadFile("scripts/" + entry.Name())
		if err != nil {
			return fmt.Errorf("write the engines' scripts: %w", err)
		}
		if err := os.WriteFile(filepath.Join(d.scripts(), entry.Name()), text, 0o600); err != nil {
			return fmt.Errorf("write the engines' scripts: %w", err)
		}
	}
	text, err := scripts.ReadFile("scripts/questions.json")
	if err != nil {
		return fmt.Errorf("read the questions: %w", err)
	}
	if err := json.Unmarshal(text, &d.questions); err != nil {
		return fmt.Errorf("read the questions: %w", err)
	}
	return nil
}

// generate makes the TPC-H files, or finds those of an earlier run.
func (d *Demo) generate(ctx context.Context) error {
	st := d.screen.step("Generate TPC-H, scale factor %v, as Parquet files", d.Scale)
	defer st.end()
	if _, err := os.Stat(d.data()); err == nil {
		st.done("there already: %s", shorten(d.data()))
		return nil
	}
	log, err := os.Create(filepath.Join(d.Dir, "logs", "tpchgen.log"))
	if err != nil {
		return fmt.Errorf("generate TPC-H: %w", err)
	}
	defer func() { _ = log.Close() }()
	// Under another name first: a folder that has its name is complete.
	draft := d.data() + ".draft"
	if err := os.RemoveAll(draft); err != nil {
		return fmt.Errorf("generate TPC-H: %w", err)
	}
	if err := os.MkdirAll(draft, 0o750); err != nil {
		return fmt.Errorf("generate TPC-H: %w", err)
	}
	scale := strconv.FormatFloat(d.Scale, 'f', -1, 64)
	c := child{
		path: filepath.Join(d.EnginesDir, "venv", "bin", "tpchgen-cli"),
		args: []string{"parquet", "--scale-factor", scale, "--output-dir", draft, "--quiet"},
		log:  log,
		dir:  d.Dir,
		deaf: true,
	}
	if err := c.run(ctx); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", exit, tail(log.Name()))
		}
		return fmt.Errorf("generate TPC-H: %w", err)
	}
	if err := os.Rename(draft, d.data()); err != nil {
		return fmt.Errorf("generate TPC-H: %w", err)
	}
	st.done("%s", shorten(d.data()))
	return nil
}

// start starts the server on free ports.
func (d *Demo) start(ctx context.Context) (*server, error) {
	st := d.screen.step("Start a local lake, and Laketap in front of it")
	defer st.end()
	at, err := freeAddresses(ctx, 3)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(d.serverLog())
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	// Its settings go by the environment, which environ has cleared of all others:
	// a laketap.yml or a LAKETAP_ variable of this user is for another server.
	c := child{
		path: d.Server[0],
		args: append(slices.Clone(d.Server[1:]), "serve", "--lake", d.lake()),
		env: []string{
			"LAKETAP_CATALOG_LISTEN=" + at[0], "LAKETAP_STORAGE_LISTEN=" + at[1], "LAKETAP_ADMIN_LISTEN=" + at[2],
			"LAKETAP_DATA=" + filepath.Join(d.Dir, "data"),
		},
		dir:  d.Dir, // where no laketap.yml lies
		log:  log,
		deaf: true,
	}
	srv, err := startServer(ctx, c, "http://"+at[2])
	if err != nil {
		if text := tail(d.serverLog()); text != "" && ctx.Err() == nil {
			err = fmt.Errorf("%w; the end of its log %s:\n%s", err, d.serverLog(), indent(text))
		}
		return nil, err
	}
	st.done("catalog URI %s", srv.catalog)
	return srv, nil
}

// load brings the generated tables into the lake, through Laketap.
func (d *Demo) load(ctx context.Context, srv *server) error {
	st := d.screen.step("Load it through Laketap with PyIceberg")
	defer st.end()
	var rows, loaded int64
	loader := engine{name: "load", script: "pyiceberg_demo.py", fix: fixDefault}
	err := d.talk(ctx, loader, d.environment(srv), []string{"load", d.data()}, func(e *event) {
		if e.Event != "table" {
			return
		}
		rows += e.Rows.count
		if e.Loaded {
			loaded += e.Rows.count
			st.line("%-9s %9s rows  %s", e.Name, spellCount(e.Rows.count), spellSeconds(e.Seconds))
		}
		st.at("after " + e.Name)
	})
	if err != nil {
		return fmt.Errorf("load TPC-H with PyIceberg: %w", err)
	}
	if loaded == 0 {
		st.done("there already: 8 tables, %s rows", spellCount(rows))
		return nil
	}
	st.done("8 tables, %s rows", spellCount(rows))
	return nil
}

// environment is what the engines' scripts are told: where the catalog is.
// What follows the URI is read by Trino's script alone.
func (d *Demo) environment(srv *server) []string {
	return []string{"CATALOG_URI=" + srv.catalog, "S3_ENDPOINT=" + srv.storage, "S3_REGION=" + srv.region}
}

// tellTraffic prints what the admin API counted.
func (d *Demo) tellTraffic(ctx context.Context, srv *server) error {
	rows, err := traffic(ctx, srv.admin)
	if err != nil {
		return err
	}
	d.screen.line("\nWho read what, as Laketap saw it (GET /api/v1/tables; `%s accesses` lists every request)", d.Program)
	for _, line := range trafficGrid(rows).lines() {
		d.screen.line("%s", line)
	}
	return nil
}

// next says what to do now.
func (d *Demo) next() {
	// Commands that can be copied as they are, from where the user is.
	lines := []string{
		fmt.Sprintf("`%s serve --lake %s` keeps this lake up; then `%s connect duckdb` prints how an engine joins.", d.Program, shorten(d.lake()), d.Program),
		fmt.Sprintf("`%s serve --catalog https://catalog.example.com` puts Laketap in front of your own; `%s doctor` checks it.", d.Program, d.Program),
		"README.md and docs/ARCHITECTURE.md say how it works and what it never does.",
	}
	d.screen.line("\nWhat next\n  %s", strings.Join(lines, "\n  "))
}

// shorten spells a path from the working directory on, if it lies below.
func shorten(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
