package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/laketap/laketap/cmd/laketap/demo"
)

// DemoCmd shows Laketap at work on this machine.
type DemoCmd struct {
	Engines    []string `placeholder:"NAME" help:"Engines to ask beside DuckDB and PyIceberg: spark, trino, or all that are installed."`
	EnginesDir string   `placeholder:"DIR" help:"Where make demo installed the engines (LAKETAP_ENGINES, else laketap/engines in the user's cache)."`
	Dir        string   `placeholder:"DIR" default:"./laketap-data/demo" help:"Where the demo keeps its lake (${default}); a second run finds it there."`
	Scale      float64  `placeholder:"N" default:"0.1" help:"TPC-H scale factor (${default})."`
}

// Help shows examples.
func (DemoCmd) Help() string {
	return `Starts a local lake with Laketap in front on free ports, loads TPC-H through one engine, asks every engine the same
questions by catalog URI alone, compares the answers and shows who read what. Ctrl-C leaves nothing running.

Examples:
  make demo                   installs DuckDB and PyIceberg first
  make demo ENGINES=all       Spark (Java 17) and Trino (Java 24), too
  laketap demo --engines all  what is installed already`
}

// Validate refuses a scale that no data can have; kong calls it.
func (c *DemoCmd) Validate() error {
	if !(c.Scale > 0) || math.IsInf(c.Scale, 1) {
		return fmt.Errorf("--scale: %v is no scale factor; 0.01 takes seconds, 1 is some 1 GB", c.Scale)
	}
	return nil
}

// Run executes the command.
func (c *DemoCmd) Run(a *app) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program, to run it as a server: %w", err)
	}
	engines := c.EnginesDir
	if engines == "" {
		if engines, err = demo.DefaultEnginesDir(lookup(a.environ)); err != nil {
			return err
		}
	}
	// Whoever closes the terminal means the engines, too.
	ctx, stop := untilHangup(a.ctx)
	defer stop()
	d := demo.Demo{
		Dir: c.Dir, EnginesDir: engines, Engines: c.Engines, Scale: c.Scale,
		Server: []string{self}, Program: cmp.Or(os.Args[0], "laketap"),
		Out: a.stdout, Terminal: onTerminal(a.stdout, a.environ),
	}
	return d.Run(ctx)
}

// untilHangup ends ctx when the terminal goes, too, unless nohup said not to.
func untilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}

// lookup returns a getenv over an environment.
func lookup(environ []string) func(string) string {
	return func(want string) string {
		for _, line := range environ {
			if name, value, _ := strings.Cut(line, "="); name == want {
				return value
			}
		}
		return ""
	}
}

// onTerminal reports whether lines written to w can be rewritten.
func onTerminal(w io.Writer, environ []string) bool {
	f, ok := w.(*os.File)
	if !ok || lookup(environ)("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
