package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// layout is the version of the folder; docs/formats/lake.md describes it.
const layout = "1"

// Names in the folder.
const (
	lockName     = "lock"
	versionName  = "version"
	keysName     = "keys.json"
	portsName    = "ports.json"
	lakeName     = "lake.json"
	databaseName = "catalog.db"
)

// home is the lake's folder, locked for this process.
type home struct {
	dir  string
	lock *os.File
}

// openHome creates or opens the folder. It locks it first, so that of two
// processes one is refused before either touches anything.
func openHome(dir string) (*home, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create lake folder: %w", err)
	}
	foreign, err := looksForeign(dir)
	if err != nil {
		return nil, err
	}
	if foreign {
		return nil, fmt.Errorf("folder %s is not empty and not a lake: choose an empty or a new folder", dir)
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock of lake %s: %w", dir, err)
	}
	// The kernel drops the lock with the process, however that ends.
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("lake %s is in use by another process: end it first, or choose another folder", dir)
	}
	h := &home{dir: dir, lock: lock}
	if err := h.checkVersion(); err != nil { // first: nothing of another layout is touched
		return nil, errors.Join(err, h.close())
	}
	if err := h.forget(); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// looksForeign reports whether somebody keeps other things here.
func looksForeign(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("read lake folder: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == versionName || entry.Name() == lockName {
			return false, nil
		}
	}
	return len(entries) > 0, nil
}

// checkVersion writes the version of a new folder, and refuses any other.
func (h *home) checkVersion() error {
	text, err := os.ReadFile(h.path(versionName))
	if errors.Is(err, fs.ErrNotExist) {
		return h.save(versionName, []byte(layout+"\n"))
	}
	if err != nil {
		return fmt.Errorf("read version of lake %s: %w", h.dir, err)
	}
	if found := strings.TrimSpace(string(text)); found != layout {
		return fmt.Errorf("lake %s has layout version %q and this program knows version %s: open it with the laketap-lake that wrote it, or choose another folder (nothing was changed)", h.dir, found, layout)
	}
	return nil
}

// path is the absolute path of a name in the folder.
func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

// save replaces a small private file in one step: a crash leaves the old
// content or the new.
func (h *home) save(name string, data []byte) error {
	if err := replace(h.path(name), data); err != nil {
		return fmt.Errorf("save %s of lake: %w", name, err)
	}
	return nil
}

// close unlocks the folder.
func (h *home) close() error { return h.lock.Close() }

func replace(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes names in a folder durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
