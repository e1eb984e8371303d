package remember

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/durable"
)

// denyFileMax bounds what is read of a file: every denial at its longest
// would be less.
const denyFileMax = 64 << 20

// A denyFile is what a node knew last: what was in the memory, and what it had
// yet to write there.
type denyFile struct {
	Denials []laketap.Denial `json:"denials"`
	Pending []denialChange   `json:"pending,omitempty"`
}

func (f denyFile) equal(other denyFile) bool {
	return slices.Equal(f.Denials, other.Denials) && slices.Equal(f.Pending, other.Pending)
}

// readDenyFile reads a file; none is an empty one.
func readDenyFile(name string) (denyFile, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return denyFile{}, nil
	case err != nil:
		return denyFile{}, fmt.Errorf("read last known deny list: %w", err)
	case info.Size() > denyFileMax:
		return denyFile{}, fmt.Errorf("last known deny list %s is larger than %d bytes", name, denyFileMax)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return denyFile{}, fmt.Errorf("read last known deny list: %w", err)
	}
	f, err := parseDenyFile(text)
	if err != nil {
		return denyFile{}, fmt.Errorf("last known deny list %s: %w", name, err)
	}
	return f, nil
}

// parseDenyFile reads a file's text: all of it or nothing, since half a list
// looks like one.
func parseDenyFile(text []byte) (denyFile, error) {
	var f denyFile
	if err := json.Unmarshal(text, &f); err != nil {
		return denyFile{}, fmt.Errorf("is damaged: %w", err)
	}
	for _, d := range f.Denials {
		if err := d.Check(); err != nil {
			return denyFile{}, fmt.Errorf("is damaged: %w", err)
		}
	}
	for _, c := range f.Pending {
		if err := c.Denial.Check(); err != nil {
			return denyFile{}, fmt.Errorf("is damaged: %w", err)
		}
	}
	return f, nil
}

// write replaces a file in one step: whoever looks, even after a power cut,
// finds the old one or the new.
func (f denyFile) write(name string) error {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return fmt.Errorf("write deny list: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write deny list: %w", err)
	}
	if err := durable.Replace(name, append(text, '\n')); err != nil {
		return fmt.Errorf("write deny list: %w", err)
	}
	return nil
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
