package audit

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// A file is where lines go. Its mutex is held while it is written: lines never
// mix, and a disk that is slow holds up those who want to be held up.
type file struct {
	name  string
	every time.Duration // between tries while it cannot be written
	log   *slog.Logger
	now   func() time.Time
	count func(written, lost int64)

	mu      sync.Mutex
	f       *os.File // nil: not open
	torn    bool     // it ends within a line
	problem error    // nil: all is well
	tried   time.Time
	lost    int64 // since the start
	gap     int64 // of these, what no gap line has told of
}

func newFile(opts Options) *file {
	return &file{name: opts.File, every: opts.Retry, log: opts.Log, now: opts.Now}
}

// open opens the file. What is in it stays.
func (o *file) open() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.openLocked()
}

func (o *file) openLocked() error {
	f, err := openFile(o.name)
	if err != nil {
		o.fail(err)
		return err
	}
	o.f, o.torn = f, endsTorn(o.name)
	return nil
}

// openFile opens a file for appending, readable by its owner alone: it tells
// who read what.
func openFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("audit.file: %w", err)
	}
	return f, nil
}

// endsTorn reports whether a file ends within a line, as after a crash or on a
// full disk.
func endsTorn(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

// write appends lines, n of which are lost if it cannot. While the file is in
// trouble most calls fail without a try.
func (o *file) write(lines []byte, n int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.problem != nil && o.now().Sub(o.tried) < o.every {
		o.loseLocked(n)
		return o.problem
	}
	if o.f == nil {
		if err := o.openLocked(); err != nil {
			o.loseLocked(n)
			return err
		}
	}
	var head []byte
	if o.torn {
		head = append(head, '\n') // half a line stays one
	}
	if o.problem != nil || o.gap > 0 {
		head = encodeGap(head, o.now(), o.gap)
	}
	all := append(head, lines...) //nolint:gocritic // head is not used again
	done, err := o.f.Write(all)
	if done > 0 {
		o.torn = all[done-1] != '\n'
	}
	if err != nil {
		written := max(0, int64(bytes.Count(all[:done], newline)-bytes.Count(head, newline)))
		o.count(written, 0)
		o.loseLocked(max(0, n-written))
		o.fail(fmt.Errorf("audit.file: %w", err))
		return o.problem
	}
	o.count(int64(bytes.Count(lines, newline)), 0)
	if o.problem != nil {
		o.log.Info("audit file is written again", "file", o.name, "lost_lines", o.gap)
	}
	o.problem, o.gap = nil, 0
	return nil
}

var newline = []byte{'\n'} //nolint:gochecknoglobals // a constant that Go cannot say

// fail notes that the file cannot be written, and says so once.
func (o *file) fail(err error) {
	if o.problem == nil {
		o.log.Error("audit file cannot be written; requests go unrecorded or, with audit.required, are refused", "error", err)
	}
	o.problem, o.tried = err, o.now()
}

// lose counts lines that never came so far as to be written.
func (o *file) lose(n int64, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log.Error("audit lines were lost", "lines", n, "error", why)
	o.loseLocked(n)
}

func (o *file) loseLocked(n int64) {
	o.lost += n
	o.gap += n
	o.count(0, n)
}

// retry tries again to write if the last try failed, and tells in the file what
// is missing from it: nobody may ask for anything until it can be written.
func (o *file) retry() {
	o.mu.Lock()
	again := o.problem != nil || o.gap > 0
	o.mu.Unlock()
	if again {
		_ = o.write(nil, 0) // nothing is lost that was not before
	}
}

// reopen opens the file anew and closes the one from before.
func (o *file) reopen() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	f, err := openFile(o.name)
	if err != nil {
		o.log.Error("audit file cannot be opened anew; the one from before is written on", "error", err)
		return err
	}
	if o.f != nil {
		o.closeLocked()
	}
	o.f, o.torn, o.tried = f, endsTorn(o.name), time.Time{}
	return nil
}

// close writes nothing more.
func (o *file) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.f != nil {
		o.closeLocked()
	}
	return nil
}

// closeLocked sees to it that what was written is on the disk; some file systems
// say only now that it is full.
func (o *file) closeLocked() {
	info, err := o.f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = o.f.Sync()
	}
	if closing := o.f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		o.log.Error("audit file may lack its last lines", "error", err)
	}
	o.f = nil
}

// state returns what is wrong and how much was lost.
func (o *file) state() (problem string, lost int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.problem != nil {
		problem = o.problem.Error()
	}
	return problem, o.lost
}
