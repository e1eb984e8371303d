package parquet

import (
	"errors"
	"fmt"
)

// What can be wrong with a footer; errors of this package wrap one of them.
// The file itself may still be of use to somebody: it is served as stored.
var (
	// ErrNotParquet says that the file lacks the magic number of Parquet.
	ErrNotParquet = errors.New("not a Parquet file")
	// ErrMalformed says that the footer breaks the format; see [FormatError].
	ErrMalformed = errors.New("malformed Parquet footer")
	// ErrEncrypted says that the file is encrypted, wholly or in some columns;
	// see [EncryptedError].
	ErrEncrypted = errors.New("encrypted Parquet file")
	// ErrLimit says that the footer is larger than [Options] allow.
	ErrLimit = errors.New("over the limit for a Parquet footer")
)

// A FormatError says where a footer breaks the format. It is ErrMalformed.
type FormatError struct {
	Offset int64  // in the file, of the byte at which it was noticed
	What   string // what is wrong there
}

// Error tells what is wrong, and where in the file.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%v: byte %d: %s", ErrMalformed, e.Offset, e.What)
}

// Unwrap returns ErrMalformed.
func (e *FormatError) Unwrap() error { return ErrMalformed }

// An EncryptedError says what of a file is encrypted. It is ErrEncrypted.
type EncryptedError struct {
	Footer    bool   // the footer itself; else columns only, or its signature
	Algorithm string // "AES_GCM_V1" or "AES_GCM_CTR_V1"; "" if it was not told
}

// Error tells what is encrypted, and how.
func (e *EncryptedError) Error() string {
	what, how := "columns", e.Algorithm
	if e.Footer {
		what = "footer"
	}
	if how == "" {
		how = "an unnamed algorithm"
	}
	return fmt.Sprintf("%v: %s with %s", ErrEncrypted, what, how)
}

// Unwrap returns ErrEncrypted.
func (e *EncryptedError) Unwrap() error { return ErrEncrypted }

// A ShortError says that more of the file's end is needed to know its footer.
type ShortError struct {
	Need int64 // bytes from the end of the file
}

// Error tells how much is needed.
func (e *ShortError) Error() string {
	return fmt.Sprintf("the footer takes the last %d bytes of the file; pass at least those", e.Need)
}

// A LimitError says which limit a footer is over. It is ErrLimit.
type LimitError struct {
	What      string // what is limited: "footer bytes", "column chunks", …
	Got, Most int64
}

// Error tells which limit, and by how much.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: %d %s, at most %d", ErrLimit, e.Got, e.What, e.Most)
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }
