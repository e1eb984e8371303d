package e2e_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// The cluster key rotates in three steps, each a SIGHUP and no restart: the new
// key comes second, then it is first, then the old one goes. A session lives
// until its own key goes, and no longer.
func TestClusterKeyRotation(t *testing.T) {
	line := func(id, fill string) string {
		return id + " " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(fill, 32)))
	}
	old, fresh := line("AAAA", "o"), line("BBBB", "f")
	l := lake.Start(t)
	config := laketap.InFrontOf(t, l)
	file := laketap.Secret(t, old)
	config.Cluster = map[string]any{"key_file": file}
	server := laketap.Start(t, config)
	catalog.Client{URI: l.Catalog}.Create(t, "r", "t", "")
	through := catalog.Client{URI: server.Catalog}
	before := through.Load(t, "r", "t")
	l.Put(t, before.Path()+"/data/x", "mine")

	rotate := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		taken := strings.Count(server.Process.Output(t), "took new cluster keys")
		server.Process.Signal(t, syscall.SIGHUP)
		server.Process.Eventually(t, 10*time.Second, func() error {
			if strings.Count(server.Process.Output(t), "took new cluster keys") == taken {
				return errors.New("the new keys were not taken")
			}
			return nil
		})
	}
	status := func(c *s3.Client) string {
		t.Helper()
		got, err := c.Do(t.Context(), s3.Request{Target: before.Path() + "/data/x"})
		if err != nil {
			t.Fatal(err)
		}
		return strconv.Itoa(got.Status)
	}
	ok, forbidden := strconv.Itoa(http.StatusOK), strconv.Itoa(http.StatusForbidden)

	for _, lines := range [][]string{{old, fresh}, {fresh, old}} {
		rotate(lines...)
		if got := status(before.Client()); got != ok {
			t.Errorf("a session from before the rotation gets %s with %q, want %s", got, lines[0][:4]+" first", ok)
		}
	}
	after := through.Load(t, "r", "t")
	if id := after.Keys().ID; !strings.HasPrefix(id, "LTBBBB") {
		t.Errorf("a new session has the id %s, want one of the new key", id)
	}
	rotate(fresh)
	if got := status(after.Client()); got != ok {
		t.Errorf("a session of the new key gets %s without the old one, want %s", got, ok)
	}
	if got := status(before.Client()); got != forbidden {
		t.Errorf("a session of a key that is gone gets %s, want %s", got, forbidden)
	}
}
