package s3diff_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/process"
)

// boto3 sees the same of the store and of the storage tap: answers, statuses,
// ETags, checksums.
func TestBoto3Flow(t *testing.T) {
	want := flow(t, startStore(t).endpoint)
	for _, mode := range []string{"observe", "accelerate"} {
		got := flow(t, startTap(t, startStore(t), mode).Storage)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("mode %s: boto3 sees otherwise (-direct +through Laketap):\n%s", mode, diff)
		}
	}
}

func flow(t *testing.T, endpoint string) []string {
	t.Helper()
	p := process.Start(t, process.Command{
		Path: filepath.Join(engines.Home(t), "venv", "bin", "python"),
		Args: []string{"flow.py", endpoint},
		Env: []string{
			"AWS_ACCESS_KEY_ID=" + keyID, "AWS_SECRET_ACCESS_KEY=" + secret,
			"AWS_EC2_METADATA_DISABLED=true", "PYTHONIOENCODING=utf-8",
		},
	})
	code := p.WaitFor(t, 3*time.Minute)
	lines := strings.Split(strings.TrimSpace(p.Output(t)), "\n")
	if code != 0 || lines[len(lines)-1] != "end" {
		t.Fatalf("boto3 ends with %d:\n%s", code, p.Tail())
	}
	return lines
}
