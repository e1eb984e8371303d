package restdiff

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const report = `<?xml version="1.0"?><testsuite name="JUnit Jupiter" tests="4">
<testcase name="good()" classname="com.github.laketap.test.TablesTest" time="0.1"><system-out>x</system-out></testcase>
<testcase name="bad(Path)" classname="com.github.laketap.test.TablesTest"><failure message="no"/></testcase>
<testcase name="broken(boolean)[1]" classname="com.github.laketap.test.ViewsTest"><error>oh</error></testcase>
<testcase name="other()" classname="com.github.laketap.test.ViewsTest"><skipped/></testcase>
</testsuite>`

func TestReadReport(t *testing.T) {
	got := Verdicts{}
	if err := readReport([]byte(report), got); err != nil {
		t.Fatal(err)
	}
	want := Verdicts{
		"TablesTest#good()": Passed, "TablesTest#bad(Path)": Failed,
		"ViewsTest#broken(boolean)[1]": Failed, "ViewsTest#other()": Skipped,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if err := readReport([]byte("<testsuite>"), got); err == nil {
		t.Error("half a report is read")
	}
}

// A test that is to run again is chosen by its method alone, and no other is.
func TestMethods(t *testing.T) {
	pattern := regexp.MustCompile(methods([]string{"TablesTest#bad(Path)", "ViewsTest#broken(boolean)[1]"}))
	for name, want := range map[string]bool{
		"com.github.laketap.test.TablesTest#bad":    true,
		"com.github.laketap.test.ViewsTest#broken":  true,
		"com.github.laketap.test.ViewsTest#bad":     false,
		"com.github.laketap.test.TablesTest#badder": false,
	} {
		if got := pattern.MatchString(name); got != want {
			t.Errorf("%s is chosen: %v, want %v", name, got, want)
		}
	}
}
