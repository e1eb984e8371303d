package demo_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/cmd/laketap/demo"
)

// The test binary plays every program that the demo runs: installed under the
// name python it is an engine, under tpchgen-cli the generator, and called as
// `… serve` the server. Each holds a shared lock on the file FAKE_ALIVE for as
// long as it lives, and adds what it did to the file FAKE_STORY.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	arg := func(i int) string {
		if i < len(os.Args) {
			return os.Args[i]
		}
		return ""
	}
	switch {
	case name == "python":
		live(playEngine)
	case name == "tpchgen-cli":
		live(playGenerator)
	case arg(1) == "serve":
		live(playServer)
	case arg(1) == "grandchild":
		live(playGrandchild)
	case arg(1) == "demo":
		playDemo()
	case arg(1) == "parent":
		playParent()
	}
	goleak.VerifyTestMain(m)
}

// live plays a part and exits.
func live(part func() error) {
	lock, err := os.OpenFile(os.Getenv("FAKE_ALIVE"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_SH)
	}
	if err == nil {
		err = part()
	}
	runtime.KeepAlive(lock) // the end of the process is the end of the lock
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// note adds a line to the story.
func note(format string, args ...any) error {
	f, err := os.OpenFile(os.Getenv("FAKE_STORY"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f, format+"\n", args...); err != nil {
		return err
	}
	return f.Close()
}

// playEngine answers every question with one row of zeros, loads by making a
// file, and waits for its end if FAKE_HANG names it.
func playEngine() error {
	script, mode := strings.TrimSuffix(filepath.Base(os.Args[1]), "_demo.py"), os.Args[2]
	if err := note("%s %s %s", script, mode, os.Getenv("CATALOG_URI")); err != nil {
		return err
	}
	say := json.NewEncoder(os.Stdout)
	if err := say.Encode(map[string]any{"event": "engine", "name": script, "version": "1.0"}); err != nil {
		return err
	}
	if os.Getenv("FAKE_HANG") == script {
		return hang()
	}
	if os.Getenv("FAKE_FAIL") == script {
		_ = say.Encode(map[string]any{"event": "failed", "error": "OutOfCheese: no more"})
		os.Exit(1)
	}
	if who, why, _ := strings.Cut(os.Getenv("FAKE_CRASH"), " "); who == script {
		return fmt.Errorf("segmentation fault, says %s%s", script, why)
	}
	if mode == "load" {
		return playLoad(say, filepath.Dir(os.Args[1]))
	}
	fmt.Println("chatter that is no JSON")
	for _, q := range questions() {
		row := make([]string, len(q.Columns))
		for i, c := range q.Columns {
			row[i] = map[string]string{"date": "1998-09-02", "text": "a", "decimal": "1.50"}[c.Kind]
			if row[i] == "" {
				row[i] = "7"
			}
		}
		if os.Getenv("FAKE_WRONG") == script+" "+q.ID {
			row[len(row)-1] = "8"
		}
		if err := say.Encode(map[string]any{"event": "answer", "question": q.ID, "rows": [][]string{row}, "seconds": 0.25}); err != nil {
			return err
		}
	}
	return nil
}

func playLoad(say *json.Encoder, scripts string) error {
	mark := filepath.Join(filepath.Dir(scripts), "loaded")
	_, err := os.Stat(mark)
	loaded := err != nil
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return err
	}
	return say.Encode(map[string]any{"event": "table", "name": "lineitem", "rows": 600572, "loaded": loaded, "seconds": 1.5})
}

// questions are those that the demo wrote for its engines.
func questions() (qs []struct {
	ID      string
	Columns []struct{ Kind string }
},
) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(os.Args[1]), "questions.json"))
	if err == nil {
		err = json.Unmarshal(text, &qs)
	}
	if err != nil {
		panic(err)
	}
	return qs
}

// hang waits like an engine with a JVM of its own that is deaf to SIGTERM: as
// scripts/protocol.py does, it kills its group when its input ends.
func hang() error {
	jvm := exec.Command(os.Args[0], "grandchild") //nolint:noctx // it is killed with its group
	jvm.Path, jvm.Args[0] = os.Args[0], "java"
	if exe, err := os.Executable(); err == nil {
		jvm.Path = exe
	}
	jvm.Stdout = os.Stdout
	if err := jvm.Start(); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return syscall.Kill(0, syscall.SIGKILL)
}

func playGrandchild() error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := note("grandchild"); err != nil {
		return err
	}
	time.Sleep(time.Minute)
	return note("grandchild outlived all")
}

func playGenerator() error {
	if err := note("tpchgen-cli"); err != nil {
		return err
	}
	out := os.Args[slices.Index(os.Args, "--output-dir")+1]
	return os.WriteFile(filepath.Join(out, "lineitem.parquet"), []byte("PAR1"), 0o600)
}

// playServer serves the admin API that the environment asks for.
func playServer() error {
	if err := note("serve"); err != nil {
		return err
	}
	if text := os.Getenv("FAKE_SERVER_FAIL"); text != "" {
		return fmt.Errorf("%s", text)
	}
	use := admin.Use{Requests: 1234, BytesOut: 5_000_000, BytesIn: 10, Seconds: 0.5}
	tables := admin.Tables{Tables: []admin.TableUse{{
		Table: "tpch.lineitem", Engines: []admin.EngineUse{{Engine: "duckdb", EngineVersion: "1.0", Storage: use}},
	}}}
	status := admin.Status{
		Upstreams: []admin.Upstream{{URI: "http://" + os.Getenv("LAKETAP_CATALOG_LISTEN")}},
		Origins:   []admin.Origin{{Region: "us-east-1"}},
		Readiness: admin.Readiness{Ready: true},
	}
	mux := http.NewServeMux()
	for path, answer := range map[string]any{"/api/v1/status": status, "/api/v1/tables": tables} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(answer) })
	}
	l, err := net.Listen("tcp", os.Getenv("LAKETAP_ADMIN_LISTEN")) //nolint:noctx // lives as long as the process
	if err != nil {
		return err
	}
	if os.Getenv("FAKE_SERVER_ENDS") != "" {
		time.AfterFunc(300*time.Millisecond, func() { os.Exit(3) })
	}
	return http.Serve(l, mux) //nolint:gosec // as above
}

// playDemo runs the demo as a program, for tests that kill it.
func playDemo() {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	d := demo.Demo{Dir: os.Args[2], EnginesDir: os.Args[3], Server: []string{exe}, Out: os.Stdout}
	ctx, stop := signal.NotifyContext(testingContext(), syscall.SIGINT, syscall.SIGTERM)
	err = d.Run(ctx)
	stop()
	if err != nil {
		fmt.Println("demo:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// playParent starts the demo and waits to be killed.
func playParent() {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe, append([]string{"demo"}, os.Args[2:]...)...) //nolint:noctx // it is to outlive us
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	_ = cmd.Run()
	os.Exit(0)
}
