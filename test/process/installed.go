package process

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// Installed returns the path of what test/engines/setup installs: a place below
// the folder that LAKETAP_ENGINES names, by default in the user's cache. A part
// that is missing is a failure that says how to get it.
func Installed(t testing.TB, part string, path ...string) string {
	t.Helper()
	home := os.Getenv("LAKETAP_ENGINES")
	if home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		home = filepath.Join(cache, "laketap", "engines")
	}
	place := filepath.Join(append([]string{home}, path...)...)
	if _, err := os.Stat(place); err != nil {
		t.Fatalf("%v\nrun: test/engines/setup %s", err, part)
	}
	return place
}

// Java returns a Java program of at least a release: that of JAVA_HOME, or one
// where distributions put them.
func Java(t testing.TB, least int) string {
	t.Helper()
	homes, err := filepath.Glob("/usr/lib/jvm/*")
	if err != nil {
		t.Fatal(err)
	}
	says := regexp.MustCompile(`JAVA_VERSION="(\d+)`)
	for _, home := range append([]string{os.Getenv("JAVA_HOME")}, homes...) {
		text, err := os.ReadFile(filepath.Join(home, "release"))
		if err != nil {
			continue // no Java home
		}
		if found := says.FindSubmatch(text); found != nil {
			if release, err := strconv.Atoi(string(found[1])); err == nil && release >= least {
				return filepath.Join(home, "bin", "java")
			}
		}
	}
	t.Fatalf("Java %d or newer is needed: install one below /usr/lib/jvm, or let JAVA_HOME name it", least)
	return ""
}
