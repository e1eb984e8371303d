package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/s3response"

	"github.com/laketap/laketap/cmd/laketap-lake/catalog"
)

var _ catalog.Files = (*store)(nil)

// Read returns an object's bytes. Objects are plain files.
func (s *store) Read(_ context.Context, key string) ([]byte, error) {
	data, err := os.ReadFile(s.file(key))
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return nil, fs.ErrNotExist // S3 knows no folders
	}
	return data, err
}

// Write puts an object as the S3 server itself would, so its ETag and length
// are right for everybody, and then makes it durable: the catalog is about to
// name it.
func (s *store) Write(ctx context.Context, key string, data []byte) error {
	path := s.file(key)
	// Asked before the write makes folders: those it makes are what has to be
	// synced afterwards.
	there := existing(filepath.Dir(path))
	name, size, kind := bucket, int64(len(data)), "application/json"
	_, err := s.backend.PutObject(ctx, s3response.PutObjectInput{
		Bucket:        &name,
		Key:           &key,
		Body:          bytes.NewReader(data),
		ContentLength: &size,
		ContentType:   &kind,
	})
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("make object %s durable: %w", key, err)
	}
	// A new folder is a name in its parent, so those count up to the first one
	// that was there before.
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if err := syncFolder(folder); err != nil {
			return fmt.Errorf("make folder of object %s durable: %w", key, err)
		}
		if folder == there {
			return nil
		}
	}
}

// existing is the deepest folder of a path that exists.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// Remove deletes the object at key and those in the folder of that name, with
// their metadata.
func (s *store) Remove(ctx context.Context, key string) error {
	var objects []string
	err := filepath.WalkDir(s.file(key), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			objects = append(objects, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("list objects of %s: %w", key, err)
	}
	// Through the library and not by os.Remove, so that each object's metadata in
	// the other folder goes, too.
	for _, path := range objects {
		relative, err := filepath.Rel(filepath.Join(s.root, bucket), path)
		if err != nil {
			return err
		}
		name, object := bucket, filepath.ToSlash(relative)
		if _, err := s.backend.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &name, Key: &object}); err != nil {
			return fmt.Errorf("delete object %s: %w", object, err)
		}
	}
	return nil
}

// file is the path of an object's content. The catalog has checked that key
// has no empty and no relative part.
func (s *store) file(key string) string {
	return filepath.Join(s.root, bucket, filepath.FromSlash(key))
}
