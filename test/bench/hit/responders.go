package main

import (
	"bufio"
	"bytes"
	"context"
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

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/sync/errgroup"

	"github.com/laketap/laketap/test/bench/side"
)

// A responder answers reads of the origin's objects from what it has.
type responder struct {
	name    string
	address string
	keys    aws.Credentials // of who asks; none: unsigned
	cpu     func() (time.Duration, error)
}

// start starts all of them; stop ends those that were started.
func start(ctx context.Context, origin *side.Origin, table *side.Table) (all []*responder, version string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "laketap-hit-")
	var running []*exec.Cmd
	var said bytes.Buffer // they talk much when all is well
	var tap *side.Server
	stop = func() {
		for _, cmd := range running {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
		}
		if tap != nil {
			_ = tap.Close()
		}
		_ = os.RemoveAll(dir)
	}
	if err != nil {
		return nil, "", stop, err
	}
	add := func(name, address string, cmd *exec.Cmd) error {
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("start %s (apt-get install nginx varnish): %w", name, err)
		}
		running = append(running, cmd)
		all = append(all, &responder{name: name, address: address, cpu: func() (time.Duration, error) { return side.CPUOf(cmd.Process.Pid) }})
		if err := answers(ctx, address); err != nil {
			return fmt.Errorf("start %s: %w\n%s", name, err, said.String())
		}
		return nil
	}
	for _, name := range []string{"floor", "net/http"} {
		address, err := side.FreeAddress(ctx)
		if err != nil {
			return nil, "", stop, err
		}
		cmd := exec.CommandContext(ctx, os.Args[0], name+"="+address)
		if err := add(name, address, cmd); err != nil {
			return nil, "", stop, err
		}
	}
	for name, command := range map[string]func(context.Context, string, string, string) (*exec.Cmd, error){"nginx": nginx, "varnish": varnish} {
		address, err := side.FreeAddress(ctx)
		if err != nil {
			return nil, "", stop, err
		}
		cmd, err := command(ctx, filepath.Join(dir, name), address, origin.Address)
		if err != nil {
			return nil, "", stop, err
		}
		if err := add(name, address, cmd); err != nil {
			return nil, "", stop, err
		}
	}
	if tap, err = side.Start(ctx, table.Address, origin.Address, func(config map[string]any) { config["mode"] = "accelerate" }); err != nil {
		return nil, "", stop, err
	}
	keys, err := table.Load(ctx, tap, origin)
	if err != nil {
		return nil, "", stop, err
	}
	all = append(all, &responder{name: "laketap", address: tap.Storage, keys: keys, cpu: tap.CPU})
	return all, tap.Version, stop, nil
}

// nginx keeps slices of 1 MiB, as its guide to caching large files has it.
func nginx(ctx context.Context, dir, address, origin string) (*exec.Cmd, error) {
	if err := os.MkdirAll(filepath.Join(dir, "cache"), 0o755); err != nil { //nolint:gosec // its workers look into it
		return nil, err
	}
	config := fmt.Sprintf(`user root; worker_processes 1; daemon off; pid %[1]s/pid; error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; keepalive_requests 100000000; server_tokens off; open_file_cache max=1000;
  client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
  proxy_cache_path %[1]s/cache keys_zone=c:16m max_size=1g inactive=1d use_temp_path=off;
  server {
    listen %[2]s;
    location / {
      slice 1m; proxy_cache c; proxy_cache_key $uri$slice_range; proxy_set_header Range $slice_range;
      proxy_http_version 1.1; proxy_set_header Connection ""; proxy_cache_valid 200 206 1d; proxy_pass http://%[3]s;
    }
  }
}`, dir, address, origin)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, found("nginx"), "-c", file, "-p", dir, "-e", "stderr"), nil
}

// varnish keeps whole objects in memory.
func varnish(ctx context.Context, dir, address, origin string) (*exec.Cmd, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // its child looks into it
		return nil, err
	}
	return exec.CommandContext(ctx, found("varnishd"), "-F", "-n", dir, "-a", address, "-b", origin, "-s", "malloc,512m",
		"-t", "86400", "-j", "none", "-T", "none", "-p", "thread_pools=1", "-p", "vsl_mask=-Debug"), nil
}

// found looks for a program where Debian puts those of administrators, too.
func found(name string) string {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin") {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
	}
	return name
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// answers waits until somebody listens.
func answers(ctx context.Context, address string) error {
	for range 500 {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("nobody listens at " + address)
}

// request is what is asked of the responder.
func (r *responder) request(c cell) side.Request {
	return side.Request{Address: r.address, Path: c.path(), Length: c.size, Keys: r.keys}
}

// warm asks a few times, and looks at what comes: wrong bytes would be quick, too.
func (r *responder) warm(ctx context.Context, c cell) error {
	client, err := side.Dial(ctx, r.request(c))
	if err != nil {
		return err
	}
	defer client.Close()
	client.Check = true
	for range 20 {
		if err := client.Get(); err != nil {
			return err
		}
		if want := sum(c.size); client.Sum != want {
			return errors.New("answers other bytes than the origin")
		}
	}
	return nil
}

// round has all connections ask, and returns the processor time that the
// responder used meanwhile and how long it took.
func (r *responder) round(ctx context.Context, c cell) (spent, took time.Duration, err error) {
	var g errgroup.Group
	clients := make([]*side.Client, connections)
	for i := range clients {
		if clients[i], err = side.Dial(ctx, r.request(c)); err != nil {
			return 0, 0, err
		}
		defer clients[i].Close()
		if err := clients[i].Get(); err != nil {
			return 0, 0, err
		}
	}
	before, err := r.cpu()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	for _, client := range clients {
		g.Go(func() error {
			for range c.requests / connections {
				if err := client.Get(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = g.Wait()
	took = time.Since(began)
	after, cpuErr := r.cpu()
	return after - before, took, errors.Join(err, cpuErr)
}

// respond is the program of a responder that is ours, as in "floor=ADDRESS".
func respond(what string) error {
	name, address, _ := strings.Cut(what, "=")
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	if name == "net/http" {
		server := &http.Server{Handler: stock(body()), ReadHeaderTimeout: time.Minute}
		return server.Serve(ln)
	}
	return least(ln)
}

// stock answers by the standard library's server.
type stock []byte

func (all stock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	size, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/bench/0/"))
	if err != nil || size > len(all) {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("ETag", `"0123456789abcdef0123456789abcdef"`)
	h.Set("Last-Modified", "Tue, 01 Dec 2026 00:00:00 GMT")
	h.Set("Accept-Ranges", "bytes")
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.Itoa(size))
	_, _ = w.Write(all[:size])
}

// least answers by as little as there can be: it looks for the size in the
// request line, and writes head and body at once.
func least(ln net.Listener) error {
	all := body()
	for {
		conn, err := ln.Accept()
		if err != nil {
			return err
		}
		go func() { // ends with its connection
			defer conn.Close()
			in := bufio.NewReaderSize(conn, 8<<10)
			for answerLeast(conn, in, all) == nil {
				continue
			}
		}()
	}
}
