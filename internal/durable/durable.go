// Package durable writes small files that are there whole or not at all, even
// after a power cut. It owns how: a temporary file beside the final one, synced
// before it gets its name, in a folder that is synced after. It refuses what is
// too large to hold in memory, and to know what it writes.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// Create makes a file, readable by its owner only. One that is there is left
// alone, and the error is [io/fs.ErrExist].
func Create(name string, content []byte) error {
	// A link and not a rename: that would replace somebody else's file.
	return write(name, content, os.Link)
}

// Replace makes a file, readable by its owner only, in place of one that may be
// there: whoever looks finds the old one or the new.
func Replace(name string, content []byte) error {
	return write(name, content, os.Rename)
}

// write writes a file beside the one that is meant, and then gives it its name.
func write(name string, content []byte, give func(from, to string) error) error {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, filepath.Base(name)+".tmp-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if it was renamed
	// Synced before it has its name, or the name could outlive the content.
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := give(f.Name(), name); err != nil {
		return err
	}
	return sync(dir)
}

// sync makes the names in a folder durable.
func sync(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
