package main

import (
	"fmt"
	"runtime/debug"
)

// VersionCmd prints the version.
type VersionCmd struct{}

// Help shows examples.
func (VersionCmd) Help() string { return "Examples:\n  laketap version" }

// Run executes the command.
func (VersionCmd) Run(a *app) error {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		_, err := fmt.Fprintln(a.stdout, "laketap", versionOf(nil))
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "laketap %s\n%s %s/%s\n", versionOf(info), info.GoVersion, setting(info, "GOOS"), setting(info, "GOARCH"))
	return err
}

// version returns the version of this program.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
}

// versionOf returns the module's version, or "devel" with the commit that was
// built, "+" if files were changed since.
func versionOf(info *debug.BuildInfo) string {
	if info == nil {
		return "devel"
	}
	// A build by go install has the module's version; one from a checkout has the
	// commit, if Go could ask for it.
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit := setting(info, "vcs.revision")
	if commit == "" {
		return "devel"
	}
	if setting(info, "vcs.modified") == "true" {
		return "devel-" + commit[:min(12, len(commit))] + "+"
	}
	return "devel-" + commit[:min(12, len(commit))]
}

// setting returns what the build was told, "" if nothing.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
