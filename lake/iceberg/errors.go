package iceberg

import (
	"errors"
	"fmt"

	"github.com/laketap/laketap/lake/iceberg/avro"
)

// What can be wrong with metadata; errors of this package wrap one of them, the
// context's error, or what the [Opener] returned.
var (
	// ErrMalformed says that the bytes break the format or contradict themselves.
	ErrMalformed = avro.ErrMalformed
	// ErrLimit says that reading them would cost more than [Options] allow.
	ErrLimit = avro.ErrLimit
	// ErrUnsupported says that they may be right, but follow a version of the
	// format, a type or a codec that is not known here.
	ErrUnsupported = avro.ErrUnsupported
	// ErrEncrypted says that a file is encrypted and so cannot be read here.
	ErrEncrypted = errors.New("encrypted")
	// ErrNotFound says that the table has no such snapshot.
	ErrNotFound = errors.New("not found")
)

// malformed returns an ErrMalformed.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// unsupported returns an ErrUnsupported.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// over returns an ErrLimit.
func over(what string, got, most int64) error {
	return fmt.Errorf("%w: %d %s, at most %d", ErrLimit, got, what, most)
}
