// Package postgres runs a database server for a test, on a socket in a folder
// of its own: no port, no password, nothing of it left afterwards.
package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/laketap/laketap/test/process"
)

// startTime is how long a server may take to answer on a busy machine.
const startTime = time.Minute

// Start makes a database and serves it until the test ends; it returns the URL
// that leads to it.
func Start(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		t.Fatalf("Postgres is not installed (%v): apt-get install postgresql", err)
	}
	bin := filepath.Dir(found[len(found)-1])
	// Not t.TempDir: whoever runs Postgres has to reach it.
	dir, err := os.MkdirTemp("", "postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := owner(t, dir)
	made := append(as, filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "laketap", "-A", "trust", "-E", "UTF8", "--no-sync") //nolint:gocritic // a command is made of it
	init := exec.CommandContext(t.Context(), made[0], made[1:]...)
	init.Dir = dir
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("make a database: %v\n%s", err, out)
	}
	served := append(as, filepath.Join(bin, "postgres"), "-D", filepath.Join(dir, "data"), "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off") //nolint:gocritic // likewise
	p := process.Start(t, process.Command{Path: served[0], Args: served[1:]})
	p.Eventually(t, startTime, func() error {
		ready := exec.CommandContext(t.Context(), filepath.Join(bin, "pg_isready"), "-h", dir, "-U", "laketap", "-d", "postgres")
		if out, err := ready.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
	return "postgres://laketap@/postgres?host=" + dir
}

// owner gives the folder to whom the server runs as, since it refuses to as
// root, and returns the command that becomes it: env changes nothing.
func owner(t testing.TB, dir string) []string {
	t.Helper()
	if os.Getuid() != 0 {
		return []string{"/usr/bin/env"}
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, uidErr := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	if uidErr != nil || gidErr != nil {
		t.Fatalf("user postgres has the ids %s and %s", u.Uid, u.Gid)
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return []string{"/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"}
}
