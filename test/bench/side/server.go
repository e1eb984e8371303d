// Package side has what the benchmarks share that compare ways to do one thing
// side by side: the product's server as a process, medians, and the words for
// figures and for the machine they are from.
package side

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Server is the product's server as a process of its own.
type Server struct {
	Catalog, Storage, Admin string // addresses, host and port
	Version                 string // what the binary calls itself
	Dir                     string // a folder that goes with the server

	program string
	cmd     *exec.Cmd
}

// The key pair that every server knows: it may read and write everything.
const (
	KeyID  = "bench"
	Secret = "a-secret-for-a-benchmark" //nolint:gosec // opens nothing
)

// Start starts bin/laketap in front of a catalog and a store, both by host and
// port. change adds to its configuration, by the words of laketap.yml; nil adds
// nothing. Without it, the mode is observe: nothing is reused, all passes.
func Start(ctx context.Context, catalog, store string, change func(config map[string]any)) (*Server, error) {
	return StartProgram(ctx, filepath.Join("bin", "laketap"), catalog, store, change)
}

// StartProgram is Start of the product built in another way.
func StartProgram(ctx context.Context, program, catalog, store string, change func(config map[string]any)) (*Server, error) {
	dir, err := os.MkdirTemp("", "laketap-bench-")
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, program: program}
	if err := s.start(ctx, catalog, store, change); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, s.ready(ctx)
}

// start makes the configuration and the process.
func (s *Server) start(ctx context.Context, catalog, store string, change func(config map[string]any)) (err error) {
	file := filepath.Join(s.Dir, "secret")
	if err := os.WriteFile(file, []byte(Secret), 0o600); err != nil {
		return err
	}
	for _, address := range []*string{&s.Catalog, &s.Storage, &s.Admin} {
		if *address, err = FreeAddress(ctx); err != nil {
			return err
		}
	}
	config := map[string]any{
		"catalogs": []any{map[string]any{"name": "bench", "url": "http://" + catalog}},
		"catalog":  map[string]any{"listen": s.Catalog},
		"storage": map[string]any{"listen": s.Storage, "origins": []any{map[string]any{
			"name": "bench", "endpoint": "http://" + store, "path_style": true, "access_key_id": "origin", "secret_file": file,
		}}},
		"admin": map[string]any{"listen": s.Admin},
		"keys":  []any{map[string]any{"id": KeyID, "secret_file": file, "principal": "bench", "scope": "all"}},
		"mode":  "observe",
		"data":  filepath.Join(s.Dir, "data"),
		"log":   map[string]any{"level": "warn"},
	}
	if change != nil {
		change(config)
	}
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	settings := filepath.Join(s.Dir, "laketap.yml")
	if err := os.WriteFile(settings, text, 0o600); err != nil { // JSON is YAML
		return err
	}
	said, err := exec.CommandContext(ctx, s.program, "version").Output() //nolint:gosec // the caller's own
	if err != nil {
		return fmt.Errorf("run %s (make build makes it): %w", s.program, err)
	}
	s.Version, _, _ = strings.Cut(string(said), "\n")
	s.cmd = exec.CommandContext(ctx, s.program, "serve", "--config", settings)
	s.cmd.Stderr = os.Stderr
	return s.cmd.Start()
}

// ready waits until the server answers.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Admin+"/healthz", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			return resp.Body.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("start laketap: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Close ends the server and removes what it made.
func (s *Server) Close() error {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		_ = s.cmd.Wait()
	}
	return os.RemoveAll(s.Dir)
}

// CPU returns the processor time that the server's threads have used.
func (s *Server) CPU() (time.Duration, error) { return CPUOf(s.cmd.Process.Pid) }

// CPUOf returns the processor time that a process and those below it have used.
// The scheduler's own counts are in nanoseconds; those of /proc/PID/stat, in
// hundredths of a second, would not tell one small request from ten.
func CPUOf(pid int) (sum time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("read processor time of a server: no /proc/%d/task/*/schedstat (%w)", pid, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		ran, _, _ := bytes.Cut(text, []byte(" "))
		n, err := strconv.ParseInt(string(ran), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", file, err)
		}
		sum += time.Duration(n)
	}
	children, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return 0, err
	}
	for _, file := range children {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		for word := range strings.FieldsSeq(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				return 0, fmt.Errorf("read %s: %w", file, err)
			}
			of, err := CPUOf(child)
			if err != nil {
				return 0, err
			}
			sum += of
		}
	}
	return sum, nil
}

// FreeAddress returns a loopback address that nobody listens on.
func FreeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
