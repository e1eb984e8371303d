package s3diff_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
)

const (
	keyID  = "AKIDSUITE"
	secret = "a secret of the suite"
)

// A store is a versitygw of its own, with users.
type store struct{ endpoint, program string }

func startStore(t *testing.T) store {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"data", "sidecar", "users", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// The suite wants the program as ./versitygw where it runs.
	program := filepath.Join(dir, "work", "versitygw")
	if err := os.Symlink(process.Installed(t, "versitygw", "bin", "versitygw"), program); err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + strconv.Itoa(process.FreePort(t))
	p := process.Start(t, process.Command{
		Path: program,
		Args: []string{
			"--port", address, "--iam-dir", filepath.Join(dir, "users"), "--quiet",
			"posix", "--sidecar", filepath.Join(dir, "sidecar"), filepath.Join(dir, "data"),
		},
		Env: []string{"ROOT_ACCESS_KEY=" + keyID, "ROOT_SECRET_KEY=" + secret},
	})
	p.Eventually(t, 20*time.Second, func() error {
		conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	return store{"http://" + address, program}
}

// startTap starts Laketap in front of a store, for one key that may do all.
func startTap(t *testing.T, s store, mode string) *laketap.Server {
	t.Helper()
	file := laketap.Secret(t, secret)
	nowhere := &lake.Lake{}
	nowhere.Catalog = "http://127.0.0.1:1" // no catalog has a part in this
	c := laketap.InFrontOf(t, nowhere)
	c.Mode = mode
	c.Storage.Anonymous = true
	c.Storage.Origins = []laketap.Origin{{Name: "store", Endpoint: s.endpoint, Region: "us-east-1", PathStyle: true, AccessKeyID: keyID, SecretFile: file}}
	c.Keys = []laketap.Key{{ID: keyID, SecretFile: file, Principal: "suite", Scope: "all", Write: true}}
	return laketap.Start(t, c)
}
