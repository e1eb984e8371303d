package main

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

// A tap is the product's server in front of the origin.
type tap struct {
	address string // of the storage tap
	version string
	cmd     *exec.Cmd
	dir     string
}

// startTap starts bin/laketap with a key that may read everything.
func startTap(ctx context.Context, origin string) (*tap, error) {
	dir, err := os.MkdirTemp("", "laketap-bench-")
	if err != nil {
		return nil, err
	}
	t := &tap{dir: dir}
	file := filepath.Join(dir, "secret")
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	ports := make([]string, 3)
	for i := range ports {
		if ports[i], err = freeAddress(ctx); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	t.address = ports[1]
	config, err := json.Marshal(map[string]any{
		"catalogs": []any{map[string]any{"name": "none", "url": "http://" + origin}},
		"catalog":  map[string]any{"listen": ports[0]},
		"storage": map[string]any{"listen": ports[1], "origins": []any{map[string]any{
			"name": "bench", "endpoint": "http://" + origin, "path_style": true, "access_key_id": "origin", "secret_file": file,
		}}},
		"admin": map[string]any{"listen": ports[2]},
		"keys":  []any{map[string]any{"id": keyID, "secret_file": file, "principal": "bench", "scope": "all"}},
		"mode":  "observe", // nothing is reused: all passes
		"data":  filepath.Join(dir, "data"),
		"log":   map[string]any{"level": "warn"},
	})
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(dir, "laketap.yml")
	if err := os.WriteFile(settings, config, 0o600); err != nil { // JSON is YAML
		return nil, err
	}
	binary := filepath.Join("bin", "laketap")
	said, err := exec.CommandContext(ctx, binary, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("run %s (make build makes it): %w", binary, err)
	}
	t.version, _, _ = strings.Cut(string(said), "\n")
	t.cmd = exec.CommandContext(ctx, binary, "serve", "--config", settings)
	t.cmd.Stderr = os.Stderr
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	return t, t.ready(ctx, ports[2])
}

// ready waits until the server answers.
func (t *tap) ready(ctx context.Context, admin string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/healthz", http.NoBody)
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

// close ends the server and removes what it made.
func (t *tap) close() {
	_ = t.cmd.Process.Signal(syscall.SIGTERM)
	_ = t.cmd.Wait()
	_ = os.RemoveAll(t.dir)
}

// cpu returns the processor time that the server's threads have used. The
// scheduler's own counts are in nanoseconds; those of /proc/PID/stat, in
// hundredths of a second, would not tell one small request from ten.
func (t *tap) cpu() (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", t.cmd.Process.Pid))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("read processor time of the server: no /proc/PID/task/*/schedstat (%w)", err)
	}
	var sum time.Duration
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
	return sum, nil
}

// freeAddress returns a loopback address that nobody listens on.
func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
