package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// grace is how long a child may take to end when asked; then its whole
// process group is killed.
const grace = 10 * time.Second

// maxLine bounds a line of a child's output, which is an answer of a few rows.
const maxLine = 1 << 20

// A child is a program that the demo runs. It leads a process group of its
// own, so that what it starts (JVMs, the lake) can be ended with it.
type child struct {
	path string
	args []string
	env  []string     // beside what environ keeps of the demo's own
	dir  string       // working directory
	line func([]byte) // is handed each line of standard output; nil: goes to log
	log  *os.File     // standard error
	// deaf says that the child does not watch its standard input and has to be
	// told by a signal when the demo was killed. Who watches must not be told
	// so: it would die before it could take its own children along.
	deaf bool
}

// run starts the child and waits for its end. When ctx ends, it is asked to
// end and killed after the grace. Nothing of its group is left when run
// returns. If the demo itself is killed, the child sees the end of its standard
// input.
func (c child) run(ctx context.Context) error {
	// The writing end is held open for as long as we live and never written to:
	// its end is what tells the child, and it comes even if we are killed.
	stdin, alive, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start %s: %w", c.path, err)
	}
	defer func() { _ = alive.Close() }()
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Env = append(environ(os.Environ()), c.env...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, stdin, c.log, c.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.deaf {
		dieWithParent(cmd.SysProcAttr)
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	// Asked by SIGTERM, killed after the grace.
	cmd.WaitDelay = grace
	heard, err := c.hear(cmd)
	if err == nil {
		err = cmd.Start()
	}
	_ = stdin.Close() // the child has its own
	if err != nil {
		heard()
		return fmt.Errorf("start %s: %w", c.path, err)
	}
	err = cmd.Wait()
	// What the child left behind, such as a JVM. It holds the child's output
	// open, so it goes first.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	heard()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// hear hands each line of the command's output on. The function that it
// returns waits for the last one. A file is used, since with any other writer
// the command would be waited for until its last descendant has closed it.
func (c child) hear(cmd *exec.Cmd) (func(), error) {
	if c.line == nil {
		return func() {}, nil
	}
	// Both ends are given up by the function that is returned, also when the
	// command never started.
	out, in, err := os.Pipe()
	if err != nil {
		return func() {}, err
	}
	cmd.Stdout = in
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := &lineWriter{line: c.line}
		_, _ = io.Copy(lines, out) // the end is the end, however it came
		lines.flush()
	}()
	return func() {
		_ = in.Close() // ours; without it there is no end of file
		<-done
		_ = out.Close()
	}, nil
}

// environ returns what a child inherits: no setting of Laketap that was meant
// for another server, and no proxy between programs on this machine.
func environ(own []string) []string {
	var kept []string
	bypass := []string{"127.0.0.1", "localhost"}
	for _, line := range own {
		name, value, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(name, "LAKETAP_"):
		case strings.EqualFold(name, "NO_PROXY"):
			bypass = append(bypass, value)
		default:
			kept = append(kept, line)
		}
	}
	list := strings.Join(bypass, ",")
	return append(kept, "NO_PROXY="+list, "no_proxy="+list)
}

// lineWriter hands on whole lines; longer ones than maxLine are cut.
type lineWriter struct {
	line func([]byte)
	rest []byte
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			w.keep(p)
			return n, nil
		}
		w.keep(p[:i])
		w.flush()
		p = p[i+1:]
	}
}

// keep adds to the unfinished line, as far as there is room.
func (w *lineWriter) keep(p []byte) { w.rest = append(w.rest, p[:min(len(p), maxLine-len(w.rest))]...) }

// flush hands on what has been kept, a last line without its end included.
func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		w.line(w.rest)
		w.rest = w.rest[:0]
	}
}

// watchParent cancels when the process that started the demo is gone, such as
// a make that was killed: nobody would stop the demo then.
func watchParent(ctx context.Context, every time.Duration, cancel context.CancelCauseFunc) {
	// An orphan gets another parent, at once. Nothing tells us; we have to look.
	parent := os.Getppid()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if os.Getppid() != parent {
				cancel(errors.New("the process that started the demo has ended"))
				return
			}
		}
	}
}
