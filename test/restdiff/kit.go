package restdiff

import (
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/test/process"
)

// runTime is how long one run of the kits may take on a busy machine.
const runTime = 10 * time.Minute

// A Kit is Iceberg's tests of catalogs in two languages, ready to run.
type Kit struct {
	java, classes, jars string
	program             string // iceberg-go's tests
}

// A Target is a catalog as a client knows it.
type Target struct {
	URI        string
	Properties map[string]string // of the client, but for the URI
	Locations  string            // a place in the store for what tests put where they like
}

// Build compiles the kits.
func Build(t testing.TB) Kit {
	t.Helper()
	here, dir := filepath.Join(process.Root(t), "test", "restdiff"), t.TempDir()
	k := Kit{
		java:    process.Java(t, 17),
		classes: filepath.Join(dir, "classes"),
		jars: strings.Join([]string{
			filepath.Join(process.Installed(t, "restkit", "jars", "fixture"), "*"),
			filepath.Join(process.Installed(t, "restkit", "jars", "restkit"), "*"),
		}, ":"),
		program: filepath.Join(dir, "gokit"),
	}
	sources, err := filepath.Glob(filepath.Join(here, "kit", "*.java"))
	if err != nil {
		t.Fatal(err)
	}
	compile := append([]string{"-nowarn", "-cp", k.jars, "-d", k.classes}, sources...)
	for _, command := range []*exec.Cmd{
		exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(k.java), "javac"), compile...),
		exec.CommandContext(t.Context(), "go", "build", "-C", here, "-o", k.program, "./gokit"),
	} {
		if said, err := command.CombinedOutput(); err != nil {
			t.Fatalf("build the kits: %v\n%s", err, said)
		}
	}
	return k
}

// Run runs the tests on a catalog: all of them, or those named.
func (k Kit) Run(t testing.TB, target Target, only []string) Verdicts {
	t.Helper()
	var java, other []string
	for _, test := range only {
		if strings.HasPrefix(test, goPrefix) {
			other = append(other, test)
		} else {
			java = append(java, test)
		}
	}
	verdicts := Verdicts{}
	if only == nil || len(java) > 0 {
		k.runJava(t, target, java, verdicts)
	}
	if only == nil || len(other) > 0 {
		k.runGo(t, target, verdicts)
	}
	return verdicts
}

// testPackage is the Java package of the kit's classes.
const testPackage = "com.github.laketap.test."

// runJava runs Iceberg's tests and adds their verdicts.
func (k Kit) runJava(t testing.TB, target Target, only []string, verdicts Verdicts) {
	t.Helper()
	reports := t.TempDir()
	args := []string{
		"-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"-Dcatalog.uri=" + target.URI, "-Dlocations=" + target.Locations,
	}
	for name, value := range target.Properties {
		args = append(args, "-Dcatalog."+name+"="+value)
	}
	args = append(args,
		"-cp", k.classes+":"+k.jars, "org.junit.platform.console.ConsoleLauncher", "execute",
		"--select-class="+testPackage+"TablesTest", "--select-class="+testPackage+"ViewsTest",
		"--details=none", "--disable-banner", "--reports-dir="+reports)
	if len(only) > 0 {
		args = append(args, "--include-methodname="+methods(only))
	}
	p := process.Start(t, process.Command{Path: k.java, Args: args})
	// 1 is that tests failed, which is a verdict.
	if code := p.WaitFor(t, runTime); code != 0 && code != 1 {
		t.Fatalf("Iceberg's tests end with %d:\n%s", code, p.Tail())
	}
	text, err := os.ReadFile(filepath.Join(reports, "TEST-junit-jupiter.xml"))
	if err != nil {
		t.Fatalf("read the report: %v\n%s", err, p.Tail())
	}
	if err := readReport(text, verdicts); err != nil {
		t.Fatal(err)
	}
}

// methods is a pattern that matches the methods of tests. A test's name ends
// in what tells its parameters, which the pattern cannot say.
func methods(only []string) string {
	names := make([]string, 0, len(only))
	for _, test := range only {
		name, _, _ := strings.Cut(test, "(")
		names = append(names, regexp.QuoteMeta(testPackage+name))
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// readReport adds the verdicts of a JUnit report. Tests are called
// Class#method(parameters).
func readReport(text []byte, verdicts Verdicts) error {
	var report struct {
		Cases []struct {
			Class   string    `xml:"classname,attr"`
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	for _, one := range report.Cases {
		name := strings.TrimPrefix(one.Class, testPackage) + "#" + one.Name
		switch {
		case one.Failure != nil || one.Error != nil:
			verdicts[name] = Failed
		case one.Skipped != nil:
			verdicts[name] = Skipped
		default:
			verdicts[name] = Passed
		}
	}
	return nil
}

// goPrefix is what the names of iceberg-go's tests begin with.
const goPrefix = "TestCatalog/"

// runGo runs iceberg-go's tests, which take a second, and adds their verdicts.
func (k Kit) runGo(t testing.TB, target Target, verdicts Verdicts) {
	t.Helper()
	p := process.Start(t, process.Command{Path: k.program, Args: []string{target.URI, "-test.v", "-test.timeout=5m"}})
	if code := p.WaitFor(t, runTime); code != 0 && code != 1 {
		t.Fatalf("iceberg-go's tests end with %d:\n%s", code, p.Tail())
	}
	before := len(verdicts)
	for _, found := range regexp.MustCompile(`--- (PASS|FAIL|SKIP): (`+goPrefix+`\S+)`).FindAllStringSubmatch(p.Output(t), -1) {
		verdicts[found[2]] = map[string]Verdict{"PASS": Passed, "FAIL": Failed, "SKIP": Skipped}[found[1]]
	}
	if len(verdicts) == before {
		t.Fatalf("iceberg-go's tests come to no verdict:\n%s", p.Tail())
	}
}
