package restdiff

import (
	"bufio"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Verdict is what a test says of a catalog.
type Verdict string

// The verdicts. A test that does not apply to the catalog is skipped by itself.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped"
	Missing Verdict = "missing" // it did not run, which no kit says of itself
)

// Verdicts are those of one run, by test.
type Verdicts map[string]Verdict

// Count returns how many tests came to a verdict.
func (v Verdicts) Count(one Verdict) int {
	n := 0
	for _, verdict := range v {
		if verdict == one {
			n++
		}
	}
	return n
}

// of is the verdict on a test, also on one that did not run.
func (v Verdicts) of(test string) Verdict {
	if verdict, ran := v[test]; ran {
		return verdict
	}
	return Missing
}

// Differ returns the tests that came to another verdict in one run than in the
// other, sorted. A test that ran only once is among them.
func Differ(direct, through Verdicts) []string {
	var differ []string
	for _, test := range tests(direct, through) {
		if direct.of(test) != through.of(test) {
			differ = append(differ, test)
		}
	}
	return differ
}

// Standing returns those of the differing tests that differ in two more runs,
// too. What a run has beyond them does not count.
func Standing(differing []string, direct, through Verdicts) []string {
	var standing []string
	for _, test := range differing {
		if direct.of(test) != through.of(test) {
			standing = append(standing, test)
		}
	}
	return standing
}

// tests are all tests of two runs, sorted.
func tests(direct, through Verdicts) []string {
	all := maps.Clone(direct)
	if all == nil {
		all = Verdicts{}
	}
	maps.Copy(all, through)
	return slices.Sorted(maps.Keys(all))
}

// Exceptions are the differences that have a reason, by catalog and test.
type Exceptions map[string]string

// ParseExceptions reads a line each: catalog, test, and the reason, which is
// the rest of the line. Empty lines and those that begin with # are none.
func ParseExceptions(text string) (Exceptions, error) {
	all := Exceptions{}
	in := bufio.NewScanner(strings.NewReader(text))
	for n := 1; in.Scan(); n++ {
		line := strings.TrimSpace(in.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) < 3 {
			return nil, fmt.Errorf("line %d: %q: want catalog, test and reason", n, line)
		}
		key := exceptionKey(words[0], words[1])
		if _, twice := all[key]; twice {
			return nil, fmt.Errorf("line %d: %s is there twice", n, key)
		}
		all[key] = strings.Join(words[2:], " ")
	}
	return all, in.Err()
}

func exceptionKey(catalog, test string) string { return catalog + " " + test }

// A Tally adds up what the runs found.
type Tally struct {
	Catalogs, Tests, Equal int
	Unexplained            []string // catalog and test
	Stale                  []string // exceptions that nothing needs any more
}

// Add counts one catalog: its two runs and the differences that stood when
// they were looked at again.
func (t *Tally) Add(catalog string, direct, through Verdicts, standing []string, exceptions Exceptions) {
	all := tests(direct, through)
	t.Catalogs++
	t.Tests += len(all)
	t.Equal += len(all) - len(standing)
	for _, test := range standing {
		if _, known := exceptions[exceptionKey(catalog, test)]; !known {
			t.Unexplained = append(t.Unexplained, exceptionKey(catalog, test))
		}
	}
	for key := range exceptions {
		of, test, _ := strings.Cut(key, " ")
		if of == catalog && !slices.Contains(standing, test) {
			t.Stale = append(t.Stale, key)
		}
	}
	slices.Sort(t.Stale)
}

// String is the one line that says how it went.
func (t *Tally) String() string {
	line := fmt.Sprintf("restdiff: %d catalogs, %d tests, %d equal, %d unexplained",
		t.Catalogs, t.Tests, t.Equal, len(t.Unexplained))
	if len(t.Stale) > 0 {
		line += fmt.Sprintf(", %d stale exceptions", len(t.Stale))
	}
	return line
}
