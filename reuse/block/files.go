package block

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Files opens the folder that a cache lives in. It is an interface so that
// tests can break it.
type Files interface {
	// OpenFolder opens a folder for one process alone, and makes it if need
	// be. It returns [ErrInUse] if another process has it.
	OpenFolder(dir string) (Folder, error)
}

// A Folder holds the files of a cache. Names are plain.
type Folder interface {
	Open(name string, create bool) (File, error)
	Remove(name string) error
	Rename(old, new string) error
	List() ([]string, error)
	Close() error
}

// A File is read and written at positions.
type File interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Size() (int64, error)
	Sync() error
	Close() error
}

// ErrInUse says that another process has the folder.
var ErrInUse = errors.New("directory is in use by another process")

// SystemFiles are those of the operating system.
type SystemFiles struct{}

// OpenFolder implements [Files].
func (SystemFiles) OpenFolder(dir string) (Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{root: root}
	if f.lock, err = root.OpenFile("lock", os.O_CREATE|os.O_RDWR, 0o600); err == nil {
		err = lock(f.lock)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

type folder struct {
	root *os.Root // so that no name leads out
	lock *os.File
}

func (f *folder) Open(name string, create bool) (File, error) {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	opened, err := f.root.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return file{opened}, nil
}

func (f *folder) Remove(name string) error {
	err := f.root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Rename also makes the new name outlive a loss of power.
func (f *folder) Rename(old, new string) error {
	if err := f.root.Rename(old, new); err != nil {
		return err
	}
	dir, err := f.root.Open(".")
	if err != nil {
		return fmt.Errorf("open directory: %w", err)
	}
	defer dir.Close()
	return dir.Sync()
}

func (f *folder) List() ([]string, error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func (f *folder) Close() error {
	var err error
	if f.lock != nil {
		err = f.lock.Close() // which unlocks it
	}
	return errors.Join(err, f.root.Close())
}

type file struct{ *os.File }

func (f file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
