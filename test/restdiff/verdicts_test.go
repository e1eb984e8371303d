package restdiff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/restdiff"
)

func TestDiffer(t *testing.T) {
	direct := restdiff.Verdicts{"a": restdiff.Passed, "b": restdiff.Failed, "c": restdiff.Skipped, "gone": restdiff.Passed}
	through := restdiff.Verdicts{"a": restdiff.Passed, "b": restdiff.Passed, "c": restdiff.Failed, "new": restdiff.Passed}
	want := []string{"b", "c", "gone", "new"}
	if diff := cmp.Diff(want, restdiff.Differ(direct, through)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if got := restdiff.Differ(direct, direct); len(got) != 0 {
		t.Errorf("a run differs from itself: %v", got)
	}
	if got := restdiff.Differ(nil, nil); len(got) != 0 {
		t.Errorf("two empty runs differ: %v", got)
	}
}

func TestStanding(t *testing.T) {
	direct := restdiff.Verdicts{"a": restdiff.Passed, "b": restdiff.Passed, "other": restdiff.Passed}
	through := restdiff.Verdicts{"a": restdiff.Failed, "b": restdiff.Passed, "other": restdiff.Failed}
	if diff := cmp.Diff([]string{"a"}, restdiff.Standing([]string{"a", "b"}, direct, through)); diff != "" {
		t.Errorf("standing (-want +got):\n%s", diff)
	}
}

func TestExceptions(t *testing.T) {
	got, err := restdiff.ParseExceptions("# why\n\nlake T#a  it is so \nfixture T#a another\n")
	want := restdiff.Exceptions{"lake T#a": "it is so", "fixture T#a": "another"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("exceptions: %v (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{"lake T#a", "lake", "lake T#a why\nlake T#a again"} {
		if _, err := restdiff.ParseExceptions(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestTally(t *testing.T) {
	direct := restdiff.Verdicts{"a": restdiff.Passed, "b": restdiff.Passed, "c": restdiff.Failed}
	through := restdiff.Verdicts{"a": restdiff.Failed, "b": restdiff.Failed, "c": restdiff.Failed}
	exceptions := restdiff.Exceptions{"lake a": "known", "lake c": "was once", "fixture b": "not asked"}
	var tally restdiff.Tally
	tally.Add("lake", direct, through, []string{"a", "b"}, exceptions)
	want := restdiff.Tally{Catalogs: 1, Tests: 3, Equal: 1, Unexplained: []string{"lake b"}, Stale: []string{"lake c"}}
	if diff := cmp.Diff(want, tally); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
	if got, want := tally.String(), "restdiff: 1 catalogs, 3 tests, 1 equal, 1 unexplained, 1 stale exceptions"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}
