package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// asProgram makes the test binary be the program. Only one S3 server may run
// in a process and it changes the working directory, so tests run the real
// thing as a child.
const asProgram = "LAKETAP_LAKE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "1" {
		main()
		return
	}
	status := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// process is a running lake.
type process struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	line   string // what it printed when ready
	took   time.Duration
	file   lakeFile
	rest   chan string // gets what else it printed, at its end
	stderr *strings.Builder
	ended  bool
}

// command is the program with arguments, not started.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// start runs a lake in dir and waits until it says that it is ready.
func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{t: t, dir: dir, cmd: command(t, append([]string{dir}, args...)...), rest: make(chan string, 1), stderr: &strings.Builder{}}
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !p.ended {
			p.kill()
		}
	})
	lines := bufio.NewReader(stdout)
	ready := make(chan struct{})
	go func() {
		p.line, _ = lines.ReadString('\n')
		p.took = time.Since(began)
		close(ready)
		rest, _ := io.ReadAll(lines)
		p.rest <- string(rest)
	}()
	select {
	case <-ready:
	case <-time.After(30 * time.Second):
		t.Fatal("lake is not ready after 30 s")
	}
	data, err := os.ReadFile(filepath.Join(dir, lakeName))
	if err != nil {
		t.Fatalf("lake said %q: %v; stderr: %s", p.line, err, p.stderr)
	}
	if err := json.Unmarshal(data, &p.file); err != nil {
		t.Fatal(err)
	}
	return p
}

// kill ends the lake without warning.
func (p *process) kill() {
	p.t.Helper()
	p.ended = true
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Error(err)
	}
	<-p.rest
	_ = p.cmd.Wait() // says "killed"
}

// end asks the lake to end by a signal and returns its error and what it
// printed after the first line.
func (p *process) end(signal os.Signal) (string, error) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
	return p.wait()
}

// wait waits for the lake's end.
func (p *process) wait() (string, error) {
	p.t.Helper()
	p.ended = true
	select {
	case rest := <-p.rest:
		return rest, p.cmd.Wait()
	case <-time.After(30 * time.Second):
		p.kill()
		return "", errors.New("lake has not ended after 30 s")
	}
}

// post sends JSON to the catalog and returns status and body.
func post(ctx context.Context, client *http.Client, url, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	return do(client, req)
}

// get reads from the catalog.
func get(ctx context.Context, client *http.Client, url string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	return do(client, req)
}

func do(client *http.Client, req *http.Request) (int, string, error) {
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// mustPost is post that must succeed.
func (p *process) mustPost(path, body string) string {
	p.t.Helper()
	status, text, err := post(p.t.Context(), http.DefaultClient, p.file.Catalog+path, body)
	if err != nil || status >= 300 {
		p.t.Fatalf("POST %s: %d %s %v", path, status, text, err)
	}
	return text
}

// mustGet is get that must succeed.
func (p *process) mustGet(path string) string {
	p.t.Helper()
	status, text, err := get(p.t.Context(), http.DefaultClient, p.file.Catalog+path)
	if err != nil || status >= 300 {
		p.t.Fatalf("GET %s: %d %s %v", path, status, text, err)
	}
	return text
}

// table creates namespace n and a table of one column.
func (p *process) table(name string) {
	p.t.Helper()
	_, _, _ = post(p.t.Context(), http.DefaultClient, p.file.Catalog+"/v1/namespaces", `{"namespace":["n"]}`)
	p.mustPost("/v1/namespaces/n/tables", fmt.Sprintf(
		`{"name":%q,"schema":{"type":"struct","fields":[{"id":1,"name":"id","type":"long","required":false}]}}`, name))
}

// lines reads the request log.
func lines(t *testing.T, path string) []entry {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []entry
	for line := range strings.Lines(string(data)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		out = append(out, e)
	}
	return out
}

// running reports whether a process exists.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }
