//go:build long

package s3diff_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/laketap/laketap/test/s3diff"
)

// checks is how many the pinned suite has: it makes 687 runs, four checks twice.
// Fewer would be a suite that ended early.
const checks = 683

// Every check comes to the same verdict on the store and through the storage
// tap, which forwards, and with the cache on.
func TestVerdicts(t *testing.T) {
	if mode := os.Getenv("S3DIFF_MODE"); mode != "" {
		compare(t, mode)
		return
	}
	compare(t, "accelerate")
}

func compare(t *testing.T, mode string) {
	bare, behind := startStore(t), startStore(t)
	through := startTap(t, behind, mode).Storage
	suite := &s3diff.Suite{Dir: filepath.Dir(bare.program), ID: keyID, Secret: secret}
	excepted, err := s3diff.Exceptions("exceptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	direct, tapped := both(t, suite, bare.endpoint, through, "full-flow")
	if len(direct) != checks || len(tapped) != checks {
		t.Fatalf("%d verdicts directly and %d through Laketap, want %d", len(direct), len(tapped), checks)
	}
	equal, differing := 0, 0
	for _, name := range slices.Sorted(keys(direct)) {
		same := direct[name] == tapped[name]
		switch {
		case same && excepted[name] != "":
			t.Errorf("%s is excepted (%s) and does not differ", name, excepted[name])
		case same, excepted[name] == "" && !repeats(t, suite, mode, name):
			equal++
		case excepted[name] == "":
			differing++
			t.Errorf("%s: %s directly, %s through Laketap", name, direct[name], tapped[name])
		}
		delete(excepted, name)
	}
	for name := range excepted {
		t.Errorf("%s is excepted and is no check", name)
	}
	summary := fmt.Sprintf("s3diff (mode %s): %d checks, %d equal, %d excepted, %d unexplained",
		mode, checks, equal, checks-equal-differing, differing)
	t.Log(summary)
	if file := os.Getenv("S3DIFF_SUMMARY"); file != "" {
		if err := os.WriteFile(file, []byte(summary+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
}

func keys(m map[string]s3diff.Verdict) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// both runs checks on both sides at once.
func both(t *testing.T, suite *s3diff.Suite, direct, through, what string) (a, b map[string]s3diff.Verdict) {
	t.Helper()
	var errs [2]error
	var wg sync.WaitGroup
	wg.Go(func() { a, errs[0] = suite.Run(t.Context(), direct, what) })
	wg.Go(func() { b, errs[1] = suite.Run(t.Context(), through, what) })
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// repeats reports whether a difference is seen three times more: checks that
// race with themselves, or with the clock, are not the tap's. The stores are
// new ones: a check that failed before may have left its buckets behind.
func repeats(t *testing.T, suite *s3diff.Suite, mode, name string) bool {
	t.Helper()
	for range 3 {
		bare, behind := startStore(t), startStore(t)
		a, b := both(t, suite, bare.endpoint, startTap(t, behind, mode).Storage, name)
		if a[name] == b[name] {
			return false
		}
	}
	return true
}
