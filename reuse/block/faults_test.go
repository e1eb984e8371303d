package block_test

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"sync"
	"syscall"

	"github.com/laketap/laketap/reuse/block"
)

// A drive is a directory in memory that can fail in every way of a disk, and
// that outlives the process, as it were: after a crash it holds what was
// written, the last write perhaps in part.
type drive struct {
	mu     sync.Mutex
	rand   *rand.Rand
	files  map[string]*[]byte
	boot   int // grows with each crash; who holds files of an earlier one writes no more
	locked bool

	readErrors, writeErrors float64 // chances
	full                    bool
	torn                    *tear
}

// A tear is the last write, which a crash may cut short.
type tear struct {
	file *[]byte
	off  int64
	old  []byte
	b    []byte
}

func newDrive(seed uint64) *drive {
	return &drive{rand: rand.New(rand.NewPCG(seed, 1)), files: map[string]*[]byte{}}
}

// crash ends every process that has files open, in the midst of the last write.
func (d *drive) crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.boot++
	d.locked = false
	if t := d.torn; t != nil && d.rand.IntN(2) == 0 {
		n := d.rand.IntN(len(t.b) + 1)
		*t.file = append((*t.file)[:t.off:t.off], t.old...)
		if grown := t.off + int64(n); grown > int64(len(*t.file)) {
			*t.file = append(*t.file, make([]byte, grown-int64(len(*t.file)))...)
		}
		copy((*t.file)[t.off:], t.b[:n])
	}
	d.torn = nil
}

// flip changes one byte of a file whose name begins so.
func (d *drive) flip(prefix string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, b := range d.files {
		if len(name) >= len(prefix) && name[:len(prefix)] == prefix && len(*b) > 16 {
			(*b)[16+d.rand.IntN(len(*b)-16)] ^= 1 << d.rand.IntN(8)
			return
		}
	}
}

func (d *drive) OpenFolder(string) (block.Folder, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked {
		return nil, block.ErrInUse
	}
	d.locked = true
	return &memFolder{d, d.boot}, nil
}

type memFolder struct {
	d    *drive
	boot int
}

// begin takes the drive for one call, and refuses the dead.
func (f *memFolder) begin(write bool) error {
	f.d.mu.Lock()
	switch {
	case f.boot != f.d.boot:
		return syscall.EIO
	case write && f.d.full:
		return syscall.ENOSPC
	case write && f.d.rand.Float64() < f.d.writeErrors:
		return syscall.EIO
	}
	return nil
}

func (f *memFolder) Open(name string, create bool) (block.File, error) {
	err := f.begin(create && f.d.files[name] == nil)
	defer f.d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	b := f.d.files[name]
	if b == nil {
		if !create {
			return nil, fs.ErrNotExist
		}
		b = &[]byte{}
		f.d.files[name] = b
	}
	return &memFile{f, b}, nil
}

func (f *memFolder) Remove(name string) error {
	err := f.begin(false)
	defer f.d.mu.Unlock()
	if err == nil {
		delete(f.d.files, name)
	}
	return err
}

func (f *memFolder) Rename(old, new string) error {
	err := f.begin(true)
	defer f.d.mu.Unlock()
	if err == nil {
		f.d.files[new] = f.d.files[old]
		delete(f.d.files, old)
	}
	return err
}

func (f *memFolder) List() ([]string, error) {
	err := f.begin(false)
	defer f.d.mu.Unlock()
	names := make([]string, 0, len(f.d.files))
	for name := range f.d.files {
		names = append(names, name)
	}
	return names, err
}

func (f *memFolder) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.boot == f.d.boot {
		f.d.locked = false
	}
	return nil
}

type memFile struct {
	f *memFolder
	b *[]byte
}

func (m *memFile) ReadAt(p []byte, off int64) (int, error) {
	err := m.f.begin(false)
	defer m.f.d.mu.Unlock()
	if err == nil && m.f.d.rand.Float64() < m.f.d.readErrors {
		err = []error{syscall.EIO, io.ErrUnexpectedEOF}[m.f.d.rand.IntN(2)]
	}
	if err != nil {
		return 0, err
	}
	if off >= int64(len(*m.b)) {
		return 0, io.EOF
	}
	n := copy(p, (*m.b)[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memFile) WriteAt(p []byte, off int64) (int, error) {
	err := m.f.begin(true)
	d := m.f.d
	defer d.mu.Unlock()
	if errors.Is(err, syscall.ENOSPC) && m.f.boot == d.boot && len(p) > 1 {
		p = p[:d.rand.IntN(len(p))] // some of it still fits
	} else if err != nil {
		return 0, err
	}
	if end := off + int64(len(p)); end > int64(len(*m.b)) {
		*m.b = append(*m.b, make([]byte, end-int64(len(*m.b)))...)
	}
	d.torn = &tear{file: m.b, off: off, old: append([]byte(nil), (*m.b)[off:]...), b: append([]byte(nil), p...)}
	copy((*m.b)[off:], p)
	return len(p), err
}

func (m *memFile) Truncate(size int64) error {
	err := m.f.begin(true)
	defer m.f.d.mu.Unlock()
	if err == nil && size <= int64(len(*m.b)) {
		*m.b = (*m.b)[:size]
	}
	return err
}

func (m *memFile) Size() (int64, error) {
	err := m.f.begin(false)
	defer m.f.d.mu.Unlock()
	return int64(len(*m.b)), err
}

func (m *memFile) Sync() error {
	err := m.f.begin(true)
	defer m.f.d.mu.Unlock()
	if t := m.f.d.torn; err == nil && t != nil && t.file == m.b {
		m.f.d.torn = nil
	}
	return err
}

func (m *memFile) Close() error { return nil }
