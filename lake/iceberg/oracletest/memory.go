package oracletest

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"

	iceio "github.com/apache/iceberg-go/io"
)

// A Memory holds files by the last element of their location, and opens them
// for both sides.
type Memory map[string][]byte

// Open implements the Opener of lake/iceberg.
func (m Memory) Open(_ context.Context, location string) (io.ReadCloser, int64, error) {
	b, ok := m[path.Base(location)]
	if !ok {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

// FS returns the files for iceberg-go.
func (m Memory) FS() iceio.IO { return memoryFS{m} }

// memoryFS is the files for iceberg-go.
type memoryFS struct{ files Memory }

// Open opens a file.
func (m memoryFS) Open(name string) (iceio.File, error) {
	b, ok := m.files[path.Base(name)]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return &memoryFile{Reader: bytes.NewReader(b)}, nil
}

// Remove is never called.
func (m memoryFS) Remove(string) error { return fs.ErrPermission }

// memoryFile is an open file.
type memoryFile struct{ *bytes.Reader }

// Close does nothing.
func (f *memoryFile) Close() error { return nil }

// Stat is never called.
func (f *memoryFile) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
