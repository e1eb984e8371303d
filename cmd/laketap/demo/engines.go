package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// An engine is a program that the demo asks.
type engine struct {
	name string
	// script is run by the engines' Python as `script run ARG…`.
	script string
	args   func(*Demo) []string
	// parts must exist under the engines' folder; fix installs them.
	parts []string
	fix   string
}

// fixDefault installs what every demo needs.
const fixDefault = "make demo"

// none are the arguments of an engine that needs no more than Python.
func none(*Demo) []string { return nil }

// known lists the engines in the order in which they are asked. The first also
// reads the generated files for the comparison, the second loads the lake.
func known() []engine {
	python := []string{"venv/bin/python"}
	return []engine{
		{name: "duckdb", script: "duckdb_demo.py", args: none, parts: python, fix: fixDefault},
		{name: "pyiceberg", script: "pyiceberg_demo.py", args: none, parts: append(python, "venv/bin/tpchgen-cli"), fix: fixDefault},
		{
			name: "spark", script: "spark_demo.py", parts: append(python, "jars/spark"), fix: fixDefault + " ENGINES=spark",
			args: func(d *Demo) []string { return []string{filepath.Join(d.EnginesDir, "jars", "spark")} },
		},
		{
			name: "trino", script: "trino_demo.py", parts: append(python, "trino/lib"), fix: fixDefault + " ENGINES=trino",
			args: func(d *Demo) []string {
				return []string{filepath.Join(d.EnginesDir, "trino"), filepath.Join(d.Dir, "trino")}
			},
		},
	}
}

// missing returns the first part of the engine that is not installed, or "".
func (e engine) missing(dir string) string {
	for _, part := range e.parts {
		path := filepath.Join(dir, filepath.FromSlash(part))
		if _, err := os.Stat(path); err != nil {
			return path
		}
	}
	return ""
}

// choose returns the engines to ask. DuckDB and PyIceberg always take part:
// the demo needs both. "all" adds what is installed, any other name must be;
// left says what was left out, and how to get it.
func (d *Demo) choose() (chosen []engine, left []string, err error) {
	// Names are taken off the list as they are found; what is left is unknown.
	asked := map[string]bool{}
	for _, name := range d.Engines {
		asked[strings.ToLower(strings.TrimSpace(name))] = true
	}
	for i, e := range known() {
		named := asked[e.name] || i < 2
		switch missing := e.missing(d.EnginesDir); {
		case !named && !asked["all"]:
		case missing == "":
			chosen = append(chosen, e)
		case named:
			return nil, nil, fmt.Errorf("%s is not installed: no %s; run `%s`, which installs it", e.name, missing, e.fix)
		default:
			left = append(left, fmt.Sprintf("%s is not installed and left out; `%s` installs it", e.name, e.fix))
		}
		delete(asked, e.name)
	}
	delete(asked, "all")
	delete(asked, "")
	for name := range asked {
		return nil, nil, fmt.Errorf("there is no engine %q in the demo: one or more of duckdb, pyiceberg, spark, trino, or all", name)
	}
	return chosen, left, nil
}

// DefaultEnginesDir returns where the set-up of the engines puts them, as
// test/engines/setup does.
func DefaultEnginesDir(getenv func(string) string) (string, error) {
	if dir := getenv("LAKETAP_ENGINES"); dir != "" {
		return dir, nil
	}
	if dir := getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "laketap", "engines"), nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".cache", "laketap", "engines"), nil
	}
	return "", errors.New("find the engines: neither LAKETAP_ENGINES nor HOME is set")
}
