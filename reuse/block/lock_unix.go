//go:build unix

package block

import (
	"errors"
	"os"
	"syscall"
)

// lock takes a file for this process. The system lets go of it when the
// process ends, however it ends.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}
