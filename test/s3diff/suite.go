// Package s3diff holds the storage tap against the store itself: a public suite
// of S3 checks, run on both, must come to the same verdicts.
package s3diff

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// A Suite is versitygw's own client-side test command.
type Suite struct {
	Program string // versitygw
	Dir     string // where it runs, with itself as ./versitygw
	ID      string
	Secret  string
}

// A Verdict is what a check came to: PASS, FAIL or SKIP.
type Verdict string

// escapes are the colours of a terminal.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Run runs checks on an endpoint: a group such as full-flow, or one by its name.
func (s *Suite) Run(ctx context.Context, endpoint, checks string) (map[string]Verdict, error) {
	cmd := exec.CommandContext(ctx, "./versitygw", "test", "-a", s.ID, "-s", s.Secret, "-e", endpoint, checks)
	cmd.Dir = s.Dir
	// With a bundle of certificates in the environment the suite does not start.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	out, err := cmd.CombinedOutput()
	verdicts := parse(out)
	if len(verdicts) == 0 {
		return nil, fmt.Errorf("suite came to no verdict: %w\n%s", err, out)
	}
	return verdicts, nil // an error says only that some check failed
}

// parse reads what the suite prints.
func parse(out []byte) map[string]Verdict {
	verdicts := map[string]Verdict{}
	lines := bufio.NewScanner(bytes.NewReader(escapes.ReplaceAll(out, nil)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		name, _, _ := strings.Cut(strings.TrimSpace(rest), ":")
		switch v := Verdict(word); v {
		case "PASS", "FAIL", "SKIP":
			// A few checks run twice; one failure is one.
			if name != "" && !strings.Contains(name, " ") && verdicts[name] != "FAIL" {
				verdicts[name] = v
			}
		}
	}
	return verdicts
}

// Exceptions reads which checks may differ, and the word for why.
func Exceptions(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		reason, check, ok := strings.Cut(line, ": ")
		if !ok || reasons[check] != "" {
			return nil, fmt.Errorf("%s: %q is no exception, or stands there twice", file, line)
		}
		reasons[check] = reason
	}
	return reasons, nil
}
