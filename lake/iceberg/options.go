package iceberg

import (
	"context"
	"io"

	"github.com/laketap/laketap/lake/iceberg/avro"
)

// An Opener reads the objects that metadata names; all I/O of this package goes
// through it. Size is the length of the object, -1 if it is not known.
type Opener interface {
	Open(ctx context.Context, location string) (r io.ReadCloser, size int64, err error)
}

// A Want names parts of a manifest or manifest list that are decoded only when
// asked for.
type Want uint

// The parts that can be asked for.
const (
	WantPartition   Want = 1 << iota // File.Partition; Manifest.Partitions
	WantSizes                        // File.ColumnSizes
	WantCounts                       // File.ValueCounts, NullCounts and NaNCounts
	WantBounds                       // File.LowerBounds and UpperBounds
	WantSplits                       // File.SplitOffsets
	WantEqualityIDs                  // File.EqualityIDs
	WantKeyMetadata                  // File.KeyMetadata; Manifest.KeyMetadata

	WantAll Want = 1<<iota - 1
)

// Options say what of manifests is wanted, and bound what they may cost.
type Options struct {
	// Want adds parts to what is always decoded. Zero: nothing.
	Want Want
	// Manifests chooses which manifests are read. Nil: all.
	Manifests func(*Manifest) bool
	// MaxManifests bounds the manifests of a snapshot. Zero: 2^20.
	MaxManifests int
	// MaxChanges bounds the files that Diff holds. Zero: 2^20.
	MaxChanges int
	// MaxChangeBytes bounds the memory that they take, about. Zero: 512 MiB.
	MaxChangeBytes int64
	// Avro bounds each file.
	Avro avro.Limits
}

// withDefaults returns the options with zero values explained.
func (o Options) withDefaults() Options {
	if o.MaxManifests <= 0 {
		o.MaxManifests = 1 << 20
	}
	if o.MaxChanges <= 0 {
		o.MaxChanges = 1 << 20
	}
	if o.MaxChangeBytes <= 0 {
		o.MaxChangeBytes = 512 << 20
	}
	return o
}
