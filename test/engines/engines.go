// Package engines runs real query engines, as their makers ship them. An
// engine here has one setting, the catalog's URI, or what `laketap connect`
// printed; everything else it is given is the same whatever stands behind that
// URI. The scripts beside this file speak for the engines.
package engines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/laketap/laketap/test/process"
)

// The engines.
const (
	DuckDB    = "duckdb"
	PyIceberg = "pyiceberg"
	Spark     = "spark"
)

// All lists the engines, the slowest to start first.
func All() []string { return []string{Spark, DuckDB, PyIceberg} }

// startTime is how long an engine may take until it is ready; Spark starts a
// JVM and unpacks its jars.
const startTime = 3 * time.Minute

// stepTime is how long one step may take.
const stepTime = 3 * time.Minute

// A Step is one thing to do: text in the engine's own language, or a read.
type Step struct {
	Run  string `json:"run,omitempty"`
	Read *Read  `json:"read,omitempty"`
}

// A Read is a query that every engine understands.
type Read struct {
	Table    string `json:"table"`
	Columns  string `json:"columns,omitempty"`  // comma separated; "" is all
	Where    string `json:"where,omitempty"`    // "" is all rows
	Order    string `json:"order,omitempty"`    // columns to sort by
	Snapshot int64  `json:"snapshot,omitempty"` // 0 is the current one
}

// An Answer is what came of a step.
type Answer struct {
	Columns []string          `json:"columns"`
	Rows    []json.RawMessage `json:"rows"` // an array of values each
	Error   string            `json:"error,omitempty"`
}

// An Engine is a running engine with one session.
type Engine struct {
	Name string

	process *process.Process
	answers chan line
	t       testing.TB
}

type line struct {
	text []byte
	err  error
}

// Command returns how to start an engine for a catalog.
func Command(t testing.TB, name, uri string) process.Command {
	t.Helper()
	return command(t, name, "CATALOG_URI="+uri)
}

// command returns how to run an engine's script with settings in its environment.
func command(t testing.TB, script string, env ...string) process.Command {
	t.Helper()
	home := Home(t)
	return process.Command{
		Path: filepath.Join(home, "venv", "bin", "python"),
		Args: []string{filepath.Join(process.Root(t), "test", "engines", "run_"+script+".py")},
		Env:  append([]string{"SPARK_JARS=" + filepath.Join(home, "jars", "spark")}, env...),
		Pipe: true,
	}
}

// Home returns the folder that the engines are installed in.
func Home(t testing.TB) string {
	t.Helper()
	for _, part := range []string{"venv/bin/python", "jars/spark"} {
		process.Installed(t, "e2e", part)
	}
	return process.Installed(t, "e2e")
}

// Start starts an engine and waits until it is ready; it ends with the test.
func Start(t testing.TB, name, uri string) *Engine {
	t.Helper()
	return start(t, name, Command(t, name, uri))
}

// StartBy is Start with a command that was changed.
func StartBy(t testing.TB, name string, c process.Command) *Engine {
	t.Helper()
	return start(t, name, c)
}

// start starts an engine's script and waits until it says that it is ready.
func start(t testing.TB, name string, c process.Command) *Engine {
	t.Helper()
	e := &Engine{Name: name, t: t, answers: make(chan line)}
	e.process = process.Start(t, c)
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go e.listen(stop)
	var ready struct{ Ready bool }
	if err := e.answer(&ready, startTime); err != nil || !ready.Ready {
		t.Fatalf("%s is not ready: %v\n%s", name, err, e.process.Tail())
	}
	return e
}

// listen reads answers until the engine ends.
func (e *Engine) listen(stop <-chan struct{}) {
	in := bufio.NewReader(e.process.Stdout)
	for {
		text, err := in.ReadBytes('\n')
		select {
		case e.answers <- line{text, err}:
		case <-stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// answer decodes the next line into v.
func (e *Engine) answer(v any, within time.Duration) error {
	select {
	case l := <-e.answers:
		if l.err != nil {
			return fmt.Errorf("read answer: %w", l.err)
		}
		return json.Unmarshal(l.text, v)
	case <-time.After(within):
		return fmt.Errorf("no answer within %v", within)
	}
}

// Do has the engine do a step. What the engine itself says is wrong stands in
// the answer's Error; an engine that does not answer fails the test.
func (e *Engine) Do(step Step) Answer {
	e.t.Helper()
	text, err := json.Marshal(step)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.process.Stdin.Write(append(text, '\n')); err != nil {
		e.t.Fatalf("%s: %v\n%s", e.Name, err, e.process.Tail())
	}
	var answer Answer
	if err := e.answer(&answer, stepTime); err != nil {
		e.t.Fatalf("%s: %v\n%s", e.Name, err, e.process.Tail())
	}
	return answer
}

// Close ends the engine; it may be called before the test ends.
func (e *Engine) Close() { e.process.Close() }
