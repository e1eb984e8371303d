package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
)

// Segments hold the bytes of extents; docs/formats/block.md draws them.
const (
	segmentMagic   = "LAKETAPS"
	segmentHeader  = 16 // magic, version, reserved
	extentHeader   = 32 // mark, length, object id, offset, reserved, CRC32C of these
	extentMark     = 0x5458454c
	formatVersion  = 1
	chunk          = 64 << 10 // bytes under one CRC32C
	segmentsAtMost = 64
)

// castagnoli is computed in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // a lookup table

// Errors of reading an extent.
var (
	errDamaged     = errors.New("bytes differ from their checksum")
	errSegmentGone = errors.New("segment is gone")
)

// A segment is a file of extents, one after the other. Only the last one is
// written to.
type segment struct {
	number uint64
	size   int64     // bytes of the file
	live   int64     // bytes of extents that are held; guarded by Cache.mu
	list   []*extent // all that were written; guarded by Cache.mu

	mu   sync.RWMutex // closing waits for readers
	file File         // nil: gone
}

// A place is where on disk an extent is.
type place struct {
	seg     *segment // nil: not on disk
	off     int64    // of its first byte
	len     int64
	sums    []uint32 // CRC32C of each chunk
	waiting bool     // is about to be written
}

func segmentName(number uint64) string { return fmt.Sprintf("segment-%016x", number) }

// segmentStart is how a segment begins.
func segmentStart() []byte {
	b := append(make([]byte, 0, segmentHeader), segmentMagic...)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	return binary.LittleEndian.AppendUint32(b, 0)
}

// extentStart is what stands before an extent's bytes, so that a segment can be
// read without the index.
func extentStart(id uint64, e *extent) []byte {
	b := make([]byte, 0, extentHeader)
	b = binary.LittleEndian.AppendUint32(b, extentMark)
	b = binary.LittleEndian.AppendUint32(b, uint32(e.len)) //nolint:gosec // at most maxExtent
	b = binary.LittleEndian.AppendUint64(b, id)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.off)) //nolint:gosec // not negative
	b = binary.LittleEndian.AppendUint32(b, 0)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// sumsOf returns the checksum of each chunk.
func sumsOf(b []byte) []uint32 {
	sums := make([]uint32, 0, (len(b)+chunk-1)/chunk)
	for len(b) > 0 {
		n := min(len(b), chunk)
		sums = append(sums, crc32.Checksum(b[:n], castagnoli))
		b = b[n:]
	}
	return sums
}

// buffers are for reading chunks of which not all bytes are wanted.
var buffers = sync.Pool{New: func() any { b := make([]byte, 2*chunk); return &b }} //nolint:gochecknoglobals // a pool

// read reads bytes of an extent from off on, and checks every chunk that they
// are in, each time: what the disk has made of them since is not known.
func (p place) read(b []byte, off int64) error {
	p.seg.mu.RLock()
	defer p.seg.mu.RUnlock()
	if p.seg.file == nil {
		return errSegmentGone
	}
	for len(b) > 0 {
		n, err := p.readSome(b, off)
		if err != nil {
			return err
		}
		b, off = b[n:], off+int64(n)
	}
	return nil
}

// readSome reads whole chunks straight into place, and others by a buffer.
func (p place) readSome(b []byte, off int64) (int, error) {
	start := off / chunk * chunk
	if start == off {
		if whole := p.wholeChunks(off, int64(len(b))); whole > 0 {
			return int(whole), p.readChunks(b[:whole], start)
		}
	}
	buf := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer buffers.Put(buf)
	got := (*buf)[:min(chunk, p.len-start)]
	if err := p.readChunks(got, start); err != nil {
		return 0, err
	}
	return copy(b, got[off-start:]), nil
}

// wholeChunks returns how many of n bytes from a chunk's start on are of chunks
// that are wanted whole; the extent's last one may be short.
func (p place) wholeChunks(off, n int64) int64 {
	if off+n >= p.len {
		return p.len - off
	}
	return n / chunk * chunk
}

// readChunks reads and checks chunks.
func (p place) readChunks(b []byte, start int64) error {
	if _, err := p.seg.file.ReadAt(b, p.off+start); err != nil {
		return fmt.Errorf("read %s at %d: %w", segmentName(p.seg.number), p.off+start, err)
	}
	for i := start / chunk; len(b) > 0; i++ {
		n := min(len(b), chunk)
		if i >= int64(len(p.sums)) || crc32.Checksum(b[:n], castagnoli) != p.sums[i] {
			return fmt.Errorf("%s at %d: %w", segmentName(p.seg.number), p.off+i*chunk, errDamaged)
		}
		b = b[n:]
	}
	return nil
}

// close ends a segment when its last reader is done.
func (s *segment) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
