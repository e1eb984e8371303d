package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/laketap/laketap/internal/durable"
	"github.com/laketap/laketap/tap"
)

// maxSecret bounds what is read of a file with keys in it.
const maxSecret = 64 << 10

// keyFile returns the name of the cluster key file.
func (c *Config) keyFile() string {
	return cmp.Or(c.Cluster.KeyFile, filepath.Join(c.Data, "cluster.key"))
}

// openKeyring reads the cluster key file. One that nobody named is made on
// first start; one that somebody named must be there, since it is shared.
func openKeyring(cfg *Config) (ring *tap.Keyring, made bool, err error) {
	name := cfg.keyFile()
	ring, err = readKeyring(name)
	if errors.Is(err, fs.ErrNotExist) && cfg.Cluster.KeyFile == "" {
		ring, err = makeKeyring(name)
		if !errors.Is(err, fs.ErrExist) {
			return ring, err == nil, err
		}
		// Another node on the same data was faster: its key is the one.
		ring, err = readKeyring(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("cluster.key_file: %s is not there; copy it from another node, or leave the setting out to have one made under %s", name, cfg.Data)
	}
	return ring, false, err
}

// readKeyring reads a file that is there. One that cannot be read is never
// replaced: the sessions of all nodes would end, and what was wrong with it
// would be lost.
func readKeyring(name string) (*tap.Keyring, error) {
	text, err := readSecret("cluster.key_file", name)
	if err != nil {
		return nil, err
	}
	ring, err := tap.ParseKeyring([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("cluster.key_file: %s: %w; restore it from another node or a backup, or move it away to have one made (engines then load their tables again)", name, err)
	}
	return ring, nil
}

// reloadKeys reads the file again while requests are served. One that is gone
// or damaged changes nothing but what people are told.
func (n *node) reloadKeys(ctx context.Context) {
	ring, err := readKeyring(n.cfg.keyFile())
	if err != nil {
		n.keysProblem.Store(err.Error())
		n.log.WarnContext(ctx, "cluster key file was not taken, the keys from before go on", "error", err)
		return
	}
	n.keysProblem.Store("")
	if !ring.Equal(n.keys) {
		n.keys.Adopt(ring)
		n.log.InfoContext(ctx, "took new cluster keys", "file", n.cfg.keyFile())
	}
}

// makeKeyring writes a new key so that it is there whole or not at all. The
// error is [fs.ErrExist] if somebody else has written one meanwhile.
func makeKeyring(name string) (*tap.Keyring, error) {
	ring, err := tap.NewKeyring(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make cluster key: %w", err)
	}
	// The data directory is made here, since nothing before needs it; whoever may
	// read it may forge sessions, so it is for its owner only.
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, fmt.Errorf("data: make directory (is it writable?): %w", err)
	}
	if err := durable.Create(name, ring.Text()); err != nil {
		return nil, fmt.Errorf("data: write cluster key: %w", err)
	}
	return ring, nil
}

// readSecret reads a file that only its owner may read. The error names the
// setting.
func readSecret(setting, name string) (string, error) {
	// Stat and not Lstat: Kubernetes mounts secrets as links, to change all of
	// them in one step.
	info, err := os.Stat(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	switch {
	case !info.Mode().IsRegular() || info.Size() > maxSecret:
		return "", fmt.Errorf("%s: %s is no file of keys; name one of at most %d bytes", setting, name, maxSecret)
	case info.Mode().Perm()&0o077 != 0 && !ofOrchestrator(info):
		return "", fmt.Errorf("%s: %s can be read by others (mode %04o); run: chmod 600 %s", setting, name, info.Mode().Perm(), name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// ofOrchestrator reports whether a file is one of those that Kubernetes and
// Docker mount as secrets: nobody may write them, and who may read them is up
// to whoever starts the container.
func ofOrchestrator(info fs.FileInfo) bool { return info.Mode().Perm()&0o222 == 0 }
