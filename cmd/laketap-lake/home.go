package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	lockPatience = 5 * time.Second       // of a lake that laketap starts
	lockLook     = 50 * time.Millisecond // how often it looks
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
	savedPrefix  = ".new-" // of a file before it has its name
)

// home is the lake's folder, locked for this process. Everything in it is for
// its owner only: the folder has mode 0700 and each file 0600, since keys and
// data lie there.
type home struct {
	dir  string
	lock *os.File
}

// openHome creates or opens the folder. It locks it first, so that of two
// processes one is refused before either touches anything. The order of what
// follows matters: a folder of another layout is left as it was found, so the
// version is looked at before anything of ours is removed or written.
//
// If another process has the folder, it is waited for as long as patience says:
// a lake whose parent was killed notices and ends a moment after.
func openHome(ctx context.Context, dir string, patience time.Duration) (*home, error) {
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
	if err := flock(ctx, lock, patience); err != nil {
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

// flock locks a file, and tries again until patience is at its end. The kernel
// drops a lock with the process that has it, however that ends.
func flock(ctx context.Context, file *os.File, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(lockLook)
	defer again.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return err
		}
	}
}

// looksForeign reports whether somebody keeps other things here. A version says
// that the folder is a lake's. Without one it may be that of a first start that
// was killed, which leaves its lock and perhaps a file being saved, and nothing
// else: other programs call files "lock", too.
func looksForeign(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("read lake folder: %w", err)
	}
	others := false
	for _, entry := range entries {
		if entry.Name() == versionName {
			return false, nil
		}
		others = others || entry.Name() != lockName && !strings.HasPrefix(entry.Name(), savedPrefix)
	}
	return others, nil
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

// replace writes a file beside its place and moves it there. Without the sync
// before the rename, a power cut could leave the new name on an empty file.
func replace(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), savedPrefix+"*") // mode 0600
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
