package s3diff_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/process"
)

// The AWS CLI prints and leaves the same with the store and with the storage tap.
func TestCLIFlow(t *testing.T) {
	want := cliFlow(t, startStore(t).endpoint)
	for _, mode := range []string{"observe", "accelerate"} {
		got := cliFlow(t, startTap(t, startStore(t), mode).Storage)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("mode %s: the AWS CLI sees otherwise (-direct +through Laketap):\n%s", mode, diff)
		}
	}
}

// A cli runs the AWS CLI and keeps what it prints.
type cli struct {
	endpoint, dir string
	config        string // a file; "" is none
	lines         []string
}

// times are what differs from run to run in what the AWS CLI prints.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT`)

// do runs a command, which must end with the code given, and returns its output.
func (c *cli) do(t *testing.T, code int, args ...string) string {
	t.Helper()
	home := filepath.Join(engines.Home(t), "venv", "bin")
	p := process.Start(t, process.Command{
		Path: filepath.Join(home, "python"),
		Args: append([]string{filepath.Join(home, "aws"), "--endpoint-url", c.endpoint, "--region", "us-east-1"}, args...),
		Env: []string{
			"AWS_ACCESS_KEY_ID=" + keyID, "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_EC2_METADATA_DISABLED=true",
			"AWS_CONFIG_FILE=" + cmp.Or(c.config, os.DevNull), "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull, "AWS_MAX_ATTEMPTS=1", "AWS_PAGER=",
		},
	})
	got := p.WaitFor(t, 2*time.Minute)
	out := p.Output(t)
	if got != code {
		t.Fatalf("aws %s ends with %d, want %d:\n%s", strings.Join(args, " "), got, code, out)
	}
	return out
}

// tell runs a command and keeps its lines, sorted, for transfers end in any order.
func (c *cli) tell(t *testing.T, code int, args ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(c.neutral(c.do(t, code, args...))), "\n")
	slices.Sort(lines)
	c.lines = append(c.lines, "$ aws "+c.neutral(strings.Join(args, " ")))
	c.lines = append(c.lines, lines...)
}

// neutral leaves out hosts, times and folders, which the AWS CLI shows relative
// to its own.
func (c *cli) neutral(s string) string {
	end := filepath.Join(filepath.Base(filepath.Dir(c.dir)), filepath.Base(c.dir))
	s = regexp.MustCompile(`[^ \n]*`+regexp.QuoteMeta(end)).ReplaceAllString(s, "DIR")
	return times.ReplaceAllString(strings.ReplaceAll(s, c.endpoint, "ENDPOINT"), "TIME")
}

func cliFlow(t *testing.T, endpoint string) []string {
	t.Helper()
	c := &cli{endpoint: endpoint, dir: t.TempDir()}
	local := func(name string) string { return filepath.Join(c.dir, name) }
	for name, size := range map[string]int{"small": 12, "big": 12<<20 + 5, "tree/a b": 3, "tree/deep/é": 0} {
		if err := os.MkdirAll(filepath.Dir(local(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(local(name), bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	quiet := func(args ...string) {
		t.Helper()
		c.tell(t, 0, append([]string{"s3"}, append(args, "--no-progress")...)...)
	}
	c.tell(t, 0, "s3", "mb", "s3://flow")
	quiet("cp", local("small"), "s3://flow/small")
	quiet("cp", local("big"), "s3://flow/big")
	quiet("cp", "s3://flow/big", local("back"))
	c.same(t, "big", "back")
	quiet("sync", local("tree"), "s3://flow/tree")
	quiet("sync", local("tree"), "s3://flow/tree") // nothing to do
	quiet("sync", "s3://flow/tree", local("again"))
	c.same(t, "tree/a b", "again/a b")
	c.same(t, "tree/deep/é", "again/deep/é")
	quiet("mv", "s3://flow/small", "s3://flow/moved")
	c.tell(t, 0, "s3", "ls", "--recursive", "s3://flow")
	c.tell(t, 0, "s3", "ls", "s3://flow/")
	c.tell(t, 0, "s3api", "head-object", "--bucket", "flow", "--key", "big", "--checksum-mode", "ENABLED")
	c.tell(t, 255, "s3api", "head-object", "--bucket", "flow", "--key", "small")
	// Signature Version 2, its default for presigned URLs, is refused.
	c.presigned(t, "s3://flow/moved", http.StatusBadRequest)
	c.config = local("config")
	if err := os.WriteFile(c.config, []byte("[default]\ns3 =\n  signature_version = s3v4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.presigned(t, "s3://flow/moved", http.StatusOK)
	c.tell(t, 0, "s3", "rm", "--recursive", "s3://flow")
	c.tell(t, 1, "s3", "ls", "--recursive", "s3://flow/moved")
	c.tell(t, 0, "s3", "rb", "s3://flow")
	return c.lines
}

// same compares two files and keeps the hash.
func (c *cli) same(t *testing.T, sent, received string) {
	t.Helper()
	a, err := os.ReadFile(filepath.Join(c.dir, sent))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(c.dir, received))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("%s of %d bytes comes back as %s of %d others", sent, len(a), received, len(b))
	}
	c.lines = append(c.lines, fmt.Sprintf("%s %d %x", received, len(b), sha256.Sum256(b)))
}

// presigned fetches what the AWS CLI has signed with a plain HTTP client.
func (c *cli) presigned(t *testing.T, object string, status int) {
	t.Helper()
	url := strings.TrimSpace(c.do(t, 0, "s3", "presign", object))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status {
		t.Errorf("presigned GET answers %d, want %d: %s", resp.StatusCode, status, body)
	}
	if status != http.StatusOK { // of a refusal the code counts; ids differ
		var refusal struct{ Code string }
		if err := xml.Unmarshal(body, &refusal); err != nil {
			t.Fatal(err)
		}
		body = []byte(refusal.Code)
	}
	c.lines = append(c.lines, fmt.Sprintf("presigned %d %s %s", resp.StatusCode, resp.Header.Get("ETag"), body))
}
