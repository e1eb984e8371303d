package block

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// ErrVersion says that a directory was written by another version of the program.
var ErrVersion = errors.New("directory is of another version: name an empty one, or delete it; it holds nothing but copies")

// openDisk opens the directory and learns what is in it. What can only be put
// right in the configuration is an error; trouble of the disk is not.
func openDisk(c *Cache) error {
	d := &disk{
		c: c, max: c.opts.MaxDisk, segSize: min(max(c.opts.MaxDisk/segmentsAtMost, 64<<10), 128<<20),
		woken: make(chan struct{}, 1), segs: map[uint64]*segment{},
	}
	c.disk = d
	err := d.open()
	switch {
	case errors.Is(err, ErrInUse), errors.Is(err, ErrVersion):
		return err
	case err != nil:
		d.leaveAlone(err)
	}
	return nil
}

// open opens the files and reads the index.
func (d *disk) open() (err error) {
	defer func() {
		if err != nil {
			d.shut()
		}
	}()
	size, err := d.openIndex()
	if err != nil {
		return err
	}
	if size < indexHeader {
		return d.begin()
	}
	if err := d.openSegments(); err != nil {
		return err
	}
	d.replay(size)
	return d.tidy()
}

// openIndex opens the folder and the index, and sees that it is one of ours
// before anything is changed.
func (d *disk) openIndex() (size int64, err error) {
	if d.folder, err = d.c.opts.Files.OpenFolder(d.c.opts.Dir); err != nil {
		return 0, err
	}
	if d.index, err = d.folder.Open(indexName, true); err != nil {
		return 0, fmt.Errorf("open index: %w", err)
	}
	if size, err = d.index.Size(); err != nil || size < indexHeader {
		return size, err
	}
	start := make([]byte, indexHeader)
	if _, err := d.index.ReadAt(start, 0); err != nil {
		return 0, fmt.Errorf("read index: %w", err)
	}
	if !bytes.Equal(start, indexStart()) {
		return 0, ErrVersion
	}
	return size, nil
}

// shut closes all files.
func (d *disk) shut() {
	for _, s := range d.segs {
		_ = s.close()
	}
	if d.index != nil {
		_ = d.index.Close()
	}
	if d.folder != nil {
		_ = d.folder.Close()
	}
	d.segs, d.last, d.index, d.folder = map[uint64]*segment{}, nil, nil, nil
}

// begin makes an index of nothing, under another name first: a file of its name
// is one, or it is of another version.
func (d *disk) begin() error {
	const name = indexName + ".new"
	_ = d.index.Close()
	var err error
	if d.index, err = d.folder.Open(name, true); err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	start := appendRecord(indexStart(), &record{kind: kindOpened})
	if err := errors.Join(d.index.Truncate(0), writeAll(d.index, start), d.index.Sync()); err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	if err := d.folder.Rename(name, indexName); err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	d.clean = true
	d.end, d.settled = int64(len(start)), int64(len(start))
	d.total.Add(d.end)
	// Segments without an index are of no use.
	return d.removeStray()
}

// removeStray removes segments that are not known.
func (d *disk) removeStray() error {
	names, err := d.folder.List()
	if err != nil {
		return fmt.Errorf("list directory: %w", err)
	}
	for _, name := range names {
		number, ok := segmentNumber(name)
		if ok && d.segs[number] == nil || name == indexName+".new" {
			if err := d.folder.Remove(name); err != nil {
				return fmt.Errorf("remove %s: %w", name, err)
			}
		}
	}
	return nil
}

// segmentNumber reads a segment's name.
func segmentNumber(name string) (number uint64, ok bool) {
	hex, ok := strings.CutPrefix(name, "segment-")
	if !ok || len(hex) != 16 {
		return 0, false
	}
	_, err := fmt.Sscanf(hex, "%016x", &number)
	return number, err == nil && segmentName(number) == name
}

// openSegments opens every segment there is.
func (d *disk) openSegments() error {
	names, err := d.folder.List()
	if err != nil {
		return fmt.Errorf("list directory: %w", err)
	}
	for _, name := range names {
		number, ok := segmentNumber(name)
		if !ok {
			continue
		}
		f, err := d.folder.Open(name, false)
		if err != nil {
			return fmt.Errorf("open %s: %w", name, err)
		}
		s := &segment{number: number, file: f}
		if s.size, err = f.Size(); err != nil {
			_ = f.Close()
			return fmt.Errorf("open %s: %w", name, err)
		}
		d.number = max(d.number, number)
		start := make([]byte, segmentHeader)
		if _, err := f.ReadAt(start, 0); err != nil || !bytes.Equal(start, segmentStart()) {
			// A segment that was only just begun, or is none: nothing in it counts.
			_ = f.Close()
			if err := d.folder.Remove(name); err != nil {
				return fmt.Errorf("remove %s: %w", name, err)
			}
			continue
		}
		d.segs[number] = s
		d.total.Add(s.size)
	}
	return nil
}

// replay reads the index. It ends at the first record that is not whole: a
// process that was killed while writing leaves one.
func (d *disk) replay(size int64) {
	in := bufio.NewReaderSize(io.NewSectionReader(d.index, indexHeader, size-indexHeader), 1<<20)
	state := &replay{d: d, objects: map[uint64]*object{}, dropped: map[uint64]bool{}}
	d.end = indexHeader
	buf := make([]byte, 0, 4096)
	for {
		r, n, err := readRecord(in, &buf)
		if err != nil {
			break
		}
		state.apply(r)
		d.end += n
	}
	d.clean = state.last == kindClosed && d.end == size
	d.total.Add(d.end)
	d.settled = d.end / 2
	state.finish()
}

// readRecord reads one record and says how long it is.
func readRecord(in io.Reader, buf *[]byte) (*record, int64, error) {
	var start [recordStart]byte
	if _, err := io.ReadFull(in, start[:]); err != nil {
		return nil, 0, err
	}
	n := binary.LittleEndian.Uint32(start[:])
	if n == 0 || n > maxRecord {
		return nil, 0, errRecord
	}
	if uint32(cap(*buf)) < n { //nolint:gosec // small
		*buf = make([]byte, n)
	}
	b := (*buf)[:n]
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, 0, err
	}
	if crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(start[4:]) {
		return nil, 0, errRecord
	}
	r, err := parseRecord(b)
	return r, recordStart + int64(n), err
}

// A replay is what the index has said so far.
type replay struct {
	d       *disk
	objects map[uint64]*object
	dropped map[uint64]bool
	highest uint64
	last    byte
}

// apply takes one record in.
func (s *replay) apply(r *record) {
	s.last = r.kind
	s.highest = max(s.highest, r.id)
	o := s.objects[r.id]
	switch r.kind {
	case kindObject:
		if o == nil && !s.dropped[r.id] {
			s.objects[r.id] = &object{
				Object: r.object, id: r.id, header: r.header, checksums: r.checksums, withSums: r.withSums,
				checked: r.checked, saved: true,
			}
		}
	case kindExtent:
		seg := s.d.segs[r.segment]
		if o == nil || seg == nil || r.at < segmentHeader || r.at+r.len > seg.size || r.off+r.len > o.Size {
			return // its object was dropped, or its segment reclaimed or cut short
		}
		e := &extent{o: o, off: r.off, len: r.len, place: place{seg: seg, off: r.at, len: r.len, sums: r.sums}}
		for { // the later record counts: an extent was moved, or evicted and fetched again
			old, _ := o.at(e.off)
			if old == nil || old.off >= e.end() {
				break
			}
			o.remove(old)
		}
		o.insert(e)
	case kindDrop:
		delete(s.objects, r.id)
		s.dropped[r.id] = true
	case kindChecked:
		if o != nil && r.checked.After(o.checked) {
			o.checked = r.checked
		}
	}
}

// finish hands what the index has said over to the cache. Of two versions of
// one object the later counts.
func (s *replay) finish() {
	c := s.d.c
	c.nextID = s.highest
	for _, o := range s.objects {
		if other := c.objects[o.ObjectName]; other != nil && other.id > o.id {
			continue
		}
		c.objects[o.ObjectName] = o
	}
	for _, o := range c.objects {
		o.doubt = !s.d.clean
		for _, e := range o.extents {
			c.extents++
			c.order.add(e, c.weight(e))
			e.place.seg.live += e.len
			e.place.seg.list = append(e.place.seg.list, e)
			s.d.live += e.len
		}
	}
	for len(c.objects) > c.opts.MaxObjects || c.extents > c.opts.MaxExtents {
		if !c.evictOne() {
			break
		}
	}
}

// tidy removes what is of no use, cuts a torn record off, and writes that the
// directory is open.
func (d *disk) tidy() error {
	for _, s := range d.segs {
		if s.live == 0 {
			if err := d.remove(s); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(d.removeStray(), d.index.Truncate(d.end)); err != nil {
		return fmt.Errorf("tidy directory: %w", err)
	}
	return d.log(appendRecord(nil, &record{kind: kindOpened}))
}

// restart makes the directory anew, with nothing in it. What was only on disk
// is gone.
func (d *disk) restart() error {
	c := d.c
	c.mu.Lock()
	defer c.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut()
	d.unsaid, d.live = nil, 0
	d.total.Store(0)
	for _, o := range c.objects {
		o.saved = false
		for _, e := range append([]*extent(nil), o.extents...) {
			e.place = place{}
			if e.bytes == nil {
				c.evict(e)
			}
		}
	}
	if _, err := d.openIndex(); err != nil {
		d.shut()
		return err
	}
	return d.begin()
}
