package remember_test

import (
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/laketap/laketap/remember"
)

// A postgres is a database server of a test's own, on a socket in a folder of
// its own: no port that somebody else could have.
type postgres struct {
	bin, dir string
	cred     *syscall.SysProcAttr // who runs it; nil: we do
	cmd      *exec.Cmd
}

// newPostgres makes a database. It is not running yet.
func newPostgres(t *testing.T) *postgres {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		t.Fatal(err)
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Fatal("Postgres is not installed: apt-get install postgresql")
	}
	// Not t.TempDir: whoever runs Postgres has to reach it.
	dir, err := os.MkdirTemp("", "laketap-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &postgres{bin: filepath.Dir(found[0]), dir: dir}
	if os.Getuid() == 0 { // which initdb refuses
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		p.cred = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	init := p.command(t, "initdb", "-D", filepath.Join(dir, "data"), "-U", "laketap", "-A", "trust", "-E", "UTF8", "--no-sync")
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	return p
}

func (p *postgres) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(filepath.Join(p.bin, name), args...) //nolint:noctx // ends by a signal of its own, in stop
	cmd.Dir, cmd.SysProcAttr = p.dir, p.cred
	return cmd
}

// options lead to the database.
func (p *postgres) options() remember.Options {
	return remember.Options{URL: "postgres://laketap@/postgres?host=" + p.dir}
}

// start runs the server and waits until it serves.
func (p *postgres) start(t *testing.T) {
	t.Helper()
	var log bytes.Buffer
	p.cmd = p.command(t, "postgres", "-D", filepath.Join(p.dir, "data"), "-k", p.dir, "-c", "listen_addresses=", "-c", "fsync=off")
	p.cmd.Stdout, p.cmd.Stderr = &log, &log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t) })
	deadline := time.Now().Add(time.Minute)
	for {
		s, err := remember.Open(t.Context(), p.options())
		if err == nil {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("Postgres does not serve: %v", err)
		}
		time.Sleep(20 * time.Millisecond) // another process: there is nothing to wait on
	}
}

// stop ends the server.
func (p *postgres) stop(t *testing.T) {
	t.Helper()
	if p.cmd == nil {
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("Postgres: %v", err)
	}
	p.cmd = nil
}
