// Package process runs the programs under test. Whatever it starts ends with
// the test that started it.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a program may take to end when it is asked to.
const patience = 20 * time.Second

// A Command is what to run.
type Command struct {
	Path string
	Args []string
	Env  []string // added to Environment; later wins
	Pipe bool     // Process.Stdout is to be read; else it goes to the log
}

// A Process is a running program. Its output goes to a file that is shown when
// the test fails.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader // nil unless the command said Pipe

	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
	err  error         // of Wait; read after done
	once sync.Once
}

// Start runs the command until the test ends.
func Start(t testing.TB, c Command) *Process {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(c.Path), ".py")
	log, err := os.CreateTemp(t.TempDir(), name+".*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p := &Process{
		// The test's cleanup ends it, in its own order.
		cmd:  exec.CommandContext(context.Background(), c.Path, c.Args...),
		log:  log.Name(),
		done: make(chan struct{}),
	}
	p.cmd.Env = append(Environment(), c.Env...)
	p.cmd.Stderr, p.cmd.Stdout = log, log
	// A group of its own: an engine's children end with it, and a Ctrl-C meant
	// for the test does not end the program before the test has asked.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.Stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	var out *os.File
	if c.Pipe {
		var in *os.File
		if out, in, err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
		p.Stdout, p.cmd.Stdout = out, in
		defer in.Close()
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", c.Path, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Close()
		if out != nil {
			_ = out.Close()
		}
		if t.Failed() {
			t.Logf("the last of what %s said:\n%s", name, p.Tail())
		}
	})
	return p
}

// Environment returns what every program under test is given: where it finds
// its tools, and nothing that would configure an engine behind the test's back.
func Environment() []string {
	env := []string{"TZ=UTC", "LC_ALL=C.UTF-8"}
	for _, key := range []string{"PATH", "HOME", "TMPDIR", "JAVA_HOME", "LD_LIBRARY_PATH", "XDG_CACHE_HOME"} {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	return env
}

// PID returns the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends a signal to the process.
func (p *Process) Signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Errorf("signal %v: %v", s, err)
	}
}

// Wait waits for the process to end, which it has been asked to, and returns
// its exit code.
func (p *Process) Wait(t testing.TB) int {
	t.Helper()
	return p.WaitFor(t, patience)
}

// WaitFor is Wait for a process that has work to do first.
func (p *Process) WaitFor(t testing.TB, within time.Duration) int {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		t.Fatalf("%s does not end within %v:\n%s", p.cmd.Path, within, p.Tail())
		return -1
	}
}

// Kill ends the process at once, as kill -9 does.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	p.Signal(t, syscall.SIGKILL)
	p.Wait(t)
}

// Close ends the process and its group, politely first. The end of the test
// does the same.
func (p *Process) Close() {
	p.once.Do(func() {
		_ = p.Stdin.Close()
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(patience):
		}
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
	})
}

// Tail returns the end of what the process said.
func (p *Process) Tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	const most = 6000
	return string(text[max(0, len(text)-most):])
}

// Output returns all that the process said.
func (p *Process) Output(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// RSS returns the resident memory of the process in bytes.
func (p *Process) RSS() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0, fmt.Errorf("read process status: %w", err)
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(string(rest)), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("process status has no VmRSS")
}

// Eventually calls try until it returns nil, the process ends, or a deadline passes.
func (p *Process) Eventually(t testing.TB, within time.Duration, try func() error) {
	t.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-p.done:
			t.Fatalf("%s ended: %v\n%s", p.cmd.Path, p.err, p.Tail())
		case <-deadline:
			t.Fatalf("%s is not ready: %v\n%s", p.cmd.Path, err, p.Tail())
		case <-tick.C:
		}
	}
}

// Binary returns the path of a program that `make build` makes.
func Binary(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Root(t), "bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v\nrun: make build", err)
	}
	return path
}

// Root returns the root of the repository.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "Makefile")); missing == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			err = errors.New("no Makefile in any folder above")
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("find the repository: %v", err)
	return ""
}

// given are the ports that FreePort has returned.
var given sync.Map

// FreePort returns a loopback port that nobody listens on, and another one each
// time: the kernel may offer again what it has just got back.
func FreePort(t testing.TB) int {
	t.Helper()
	for {
		var config net.ListenConfig
		l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener
		l.Close()
		if _, again := given.LoadOrStore(port, true); !again {
			return port
		}
	}
}
