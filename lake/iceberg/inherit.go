package iceberg

import "math"

// inheritance gives the entries of one manifest what they leave to its list: a
// commit that has to be tried again gets another sequence number, and would
// otherwise have to write its manifests anew.
type inheritance struct {
	m         *Manifest
	specID    int
	nextRowID int64 // None if the manifest gives no row ids
}

// apply fills in what an entry leaves out.
//
// Sequence numbers are inherited by added files, and by all files of manifests
// of version 1, whose sequence number is 0. Anything else that lacks one keeps
// None: what an existing file had before it was moved here is not known.
//
// First row ids are counted on over the live data files that lack one; deleted
// files take none, as the list reserves ids for added and existing rows only.
func (in *inheritance) apply(e *Entry) error {
	m := in.m
	if (e.Content != Data) != m.Deletes {
		return malformed("file %q of content %d in a manifest of the other kind", e.Path, e.Content)
	}
	e.SpecID = in.specID
	if e.SnapshotID == None {
		e.SnapshotID = m.SnapshotID
	}
	if inherits := e.Status == Added || m.SequenceNumber == 0; inherits {
		if e.SequenceNumber == None {
			e.SequenceNumber = m.SequenceNumber
		}
		if e.FileSequenceNumber == None {
			e.FileSequenceNumber = m.SequenceNumber
		}
	}
	if in.nextRowID == None || m.Deletes || e.Status == Deleted || e.FirstRowID != None {
		return nil
	}
	e.FirstRowID = in.nextRowID
	if e.Records > math.MaxInt64-in.nextRowID {
		return malformed("file %q has row ids of more than 64 bits", e.Path)
	}
	in.nextRowID += e.Records
	return nil
}
