package avro

import (
	"errors"
	"fmt"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// What can be wrong with a file; errors of this package wrap one of them.
var (
	// ErrMalformed says that the bytes break the format.
	ErrMalformed = jsonscan.ErrMalformed
	// ErrLimit says that the file is larger than [Limits] allow.
	ErrLimit = jsonscan.ErrLimit
	// ErrUnsupported says that the file may be right, but that its codec or the
	// shape of its schema is not known here.
	ErrUnsupported = errors.New("unsupported")
)

const (
	maxSchemaDepth = 64      // types inside types
	maxTypes       = 1 << 16 // in one schema
	maxDataDepth   = 128     // records inside records, for types that refer to themselves
	maxHeaderKeys  = 1 << 10
)

// Limits bound what a file may cost. The zero value is right for metadata of
// tables.
type Limits struct {
	// Header bounds the bytes of the file's metadata. Zero: 16 MiB.
	Header int64
	// Schema bounds the bytes of its schema. Zero: 1 MiB.
	Schema int64
	// Block bounds the bytes of a block, both as stored and unpacked; at most
	// one of either is in memory. Zero: 128 MiB.
	Block int64
}

// withDefaults returns the limits with zero values explained.
func (l Limits) withDefaults() Limits {
	if l.Header <= 0 {
		l.Header = 16 << 20
	}
	if l.Schema <= 0 {
		l.Schema = 1 << 20
	}
	if l.Block <= 0 {
		l.Block = 128 << 20
	}
	return l
}

// malformed returns an ErrMalformed.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// over returns an ErrLimit.
func over(what string, got, most int64) error {
	return fmt.Errorf("%w: %d %s, at most %d", ErrLimit, got, what, most)
}
