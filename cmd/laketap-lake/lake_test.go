package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A start is promised in half a second on a quiet machine; the bound here is
// for a busy one, and the figure is printed.
func TestStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new lake")
	p := start(t, dir)
	t.Logf("ready after %v, promised 500ms", p.took)
	if p.took > 5*time.Second {
		t.Errorf("ready after %v", p.took)
	}
	want := "lake ready: catalog " + p.file.Catalog + ", s3 " + p.file.S3.Endpoint + ", dir " + dir + "\n"
	if p.line != want {
		t.Errorf("printed %q, want %q", p.line, want)
	}
	f := p.file
	if f.Version != 1 || f.PID != p.cmd.Process.Pid || f.S3.Region != "us-east-1" || f.S3.Bucket != "lake" || f.Warehouse != "s3://lake/warehouse" {
		t.Errorf("lake.json: %+v", f)
	}
	if f.Keys.ID == "" || len(f.Keys.Secret) < 40 || f.Reader.ID == "" || f.Keys == f.Reader {
		t.Error("lake.json has no keys, short keys or one pair twice")
	}
	for _, address := range []string{f.Catalog, f.S3.Endpoint} {
		if !strings.HasPrefix(address, "http://127.0.0.1:") {
			t.Errorf("address %s is not on loopback", address)
		}
	}
	for _, name := range []string{lakeName, keysName, versionName} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, info.Mode().Perm())
		}
	}
	rest, err := p.end(syscall.SIGTERM)
	if err != nil || rest != "" || p.stderr.String() != "" {
		t.Errorf("end: %v, printed %q and %q", err, rest, p.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, lakeName)); !os.IsNotExist(err) {
		t.Errorf("lake.json is still there: %v", err)
	}
}

// Addresses, keys and tables survive a restart.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	first.table("t")
	if _, err := first.end(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	second := start(t, dir)
	if first.file.Catalog != second.file.Catalog || first.file.S3 != second.file.S3 || first.file.Keys != second.file.Keys || first.file.Reader != second.file.Reader {
		t.Errorf("first run %+v, second %+v", first.file, second.file)
	}
	second.mustGet("/v1/namespaces/n/tables/t")
	if _, err := second.end(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}

	// Another program on the old ports makes the lake move.
	held := start(t, t.TempDir(), "--catalog-port", portIn(t, first.file.Catalog), "--s3-port", portIn(t, first.file.S3.Endpoint))
	third := start(t, dir)
	if third.file.Catalog == held.file.Catalog || third.file.S3.Endpoint == held.file.S3.Endpoint {
		t.Errorf("two lakes share an address: %+v", third.file)
	}
	third.mustGet("/v1/namespaces/n/tables/t")
}

func portIn(t *testing.T, address string) string {
	t.Helper()
	_, port, ok := strings.Cut(strings.TrimPrefix(address, "http://"), ":")
	if !ok {
		t.Fatalf("no port in %s", address)
	}
	return port
}

func TestRefusals(t *testing.T) {
	used := t.TempDir()
	running := start(t, used)
	newer := t.TempDir()
	if err := os.WriteFile(filepath.Join(newer, versionName), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(foreign, "thesis.tex")
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"second process", []string{used}, []string{used, "in use", "another folder"}},
		{"another layout", []string{newer}, []string{newer, `"9"`, "version 1", "nothing was changed"}},
		{"foreign folder", []string{foreign}, []string{foreign, "not a lake"}},
		{"a file", []string{plain}, []string{plain}},
		{"port in use", []string{t.TempDir(), "--catalog-port", portIn(t, running.file.Catalog)}, []string{"catalog", portIn(t, running.file.Catalog), "in use"}},
		{"S3 port in use", []string{t.TempDir(), "--s3-port", portIn(t, running.file.Catalog)}, []string{"object store", portIn(t, running.file.Catalog), "in use"}},
		{"no folder", nil, []string{"laketap-lake DIR"}},
		{"two folders", []string{"a", "b"}, []string{"laketap-lake DIR"}},
		{"unknown vending", []string{"a", "--vend=some"}, []string{"--vend=some", "readonly"}},
		{"no port", []string{"a", "--s3-port=70000"}, []string{"--s3-port=70000"}},
		{"unknown flag", []string{"a", "--vent"}, []string{"-vent"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := command(t, tt.args...).CombinedOutput()
			if err == nil {
				t.Fatalf("accepted: %s", out)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("%q is not in %q", want, out)
				}
			}
			if n := strings.Count(string(out), "\n"); n != 1 {
				t.Errorf("%d lines, want one: %s", n, out)
			}
		})
	}
	for dir, want := range map[string]int{newer: 2, foreign: 1} { // a lock beside the version is all we add
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != want {
			t.Errorf("%s: %d entries (%v), want %d", dir, len(entries), err, want)
		}
	}
	running.mustGet("/v1/config")
}

func TestHelp(t *testing.T) {
	out, err := command(t, "--help").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Examples:") || !strings.Contains(string(out), "-vend") {
		t.Errorf("%v: %s", err, out)
	}
}

// A killed lake leaves its lake.json; the next start removes it first.
func TestStaleLakeFile(t *testing.T) {
	dir := t.TempDir()
	killed := start(t, dir)
	killed.kill()
	if _, err := os.Stat(filepath.Join(dir, lakeName)); err != nil {
		t.Fatal(err)
	}
	other := start(t, t.TempDir())
	if out, err := command(t, dir, "--s3-port", portIn(t, other.file.Catalog)).CombinedOutput(); err == nil {
		t.Fatalf("started on a port in use: %s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, lakeName)); !os.IsNotExist(err) {
		t.Errorf("stale lake.json: %v", err)
	}
}

// A parent that dies takes the lake with it, if it asked for that.
func TestStdinGuard(t *testing.T) {
	p := start(t, t.TempDir(), "--stdin-guard")
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := p.wait(); err != nil || rest != "" {
		t.Errorf("end: %v, printed %q", err, rest)
	}
	if running(p.file.PID) {
		t.Error("lake is still running")
	}

	p = start(t, t.TempDir())
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	p.mustGet("/v1/config")
	if _, err := p.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// A request that has begun is answered after the signal.
func TestDrain(t *testing.T) {
	p := start(t, t.TempDir())
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.file.Catalog+"/v1/namespaces", reader)
	if err != nil {
		t.Fatal(err)
	}
	status := make(chan int, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			status <- -1
			return
		}
		_ = resp.Body.Close()
		status <- resp.StatusCode
	}()
	if _, err := writer.WriteString(`{"namespace":`); err != nil {
		t.Fatal(err)
	}
	// lake.json goes when the lake has begun to end, the server at once after.
	p.mustGet("/v1/config")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(p.dir, lakeName)); os.IsNotExist(err) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("lake.json is still there")
		}
	}
	if _, err := writer.WriteString(`["n"]}`); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-status; got != http.StatusOK {
		t.Errorf("begun request: got %d, want 200", got)
	}
	if _, err := p.wait(); err != nil {
		t.Error(err)
	}
}

func TestDamagedKeys(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{versionName: "1\n", keysName: `{"owner":{"id":"A"}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := command(t, dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), filepath.Join(dir, keysName)) || !strings.Contains(string(out), "remove it") {
		t.Errorf("%v: %s", err, out)
	}
}
