//go:build !unix

package block

import "os"

// lock does nothing where there is no flock: two processes on one directory
// are then for the user to avoid.
func lock(*os.File) error { return nil }
