package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tailBytes of an engine's log are shown when it failed.
const tailBytes = 2000

// An event is one line that an engine's script prints. scripts/protocol.py is
// the other side.
type event struct {
	Event    string      `json:"event"` // engine, table, answer or failed
	Name     string      `json:"name"`
	Version  string      `json:"version"`
	Question string      `json:"question"`
	Rows     rowsOrCount `json:"rows"`
	Loaded   bool        `json:"loaded"`
	Seconds  float64     `json:"seconds"`
	Error    string      `json:"error"`
}

// rowsOrCount is the rows of an answer, or how many a table has.
type rowsOrCount struct {
	cells [][]*string
	count int64
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *rowsOrCount) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("[")) {
		return json.Unmarshal(b, &r.cells)
	}
	return json.Unmarshal(b, &r.count)
}

// talk runs an engine's script and hands on what it tells. It returns why the
// script as a whole failed.
func (d *Demo) talk(ctx context.Context, e engine, env, args []string, tell func(*event)) error {
	logPath := filepath.Join(d.Dir, "logs", e.name+".log")
	log, err := os.Create(logPath) //nolint:gosec // a path of ours
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", e.name, err)
	}
	defer func() { _ = log.Close() }()
	var failure string
	c := child{
		path: filepath.Join(d.EnginesDir, "venv", "bin", "python"),
		args: append([]string{filepath.Join(d.scripts(), e.script)}, args...),
		env:  append([]string{"LAKETAP_DEMO=1", "PYTHONDONTWRITEBYTECODE=1", "TZ=UTC"}, env...),
		dir:  d.Dir,
		log:  log,
		line: func(line []byte) {
			var ev event
			switch err := json.Unmarshal(line, &ev); {
			case err != nil || ev.Event == "":
				fmt.Fprintf(log, "%s\n", line) // the engine's own chatter
			case ev.Event == "failed" && ev.Question == "":
				failure = ev.Error
			default:
				tell(&ev)
			}
		},
	}
	err = c.run(ctx)
	switch {
	// The script's own word for it is the best, its exit status the worst.
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failure != "":
		return fmt.Errorf("%s (log: %s)", failure, logPath)
	case err != nil && strings.Contains(tail(logPath), "ModuleNotFoundError"):
		return fmt.Errorf("a Python package is missing in %s; run `%s`, which installs it (log: %s)", d.EnginesDir, e.fix, logPath)
	case err != nil:
		return fmt.Errorf("%w; the end of its log %s:\n%s", err, logPath, indent(tail(logPath)))
	}
	return nil
}

// tail returns the end of a log.
func tail(path string) string {
	text, err := os.ReadFile(path) //nolint:gosec // a path of ours
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text[max(0, len(text)-tailBytes):]))
}

// indent sets a text apart from the sentence before it.
func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }
