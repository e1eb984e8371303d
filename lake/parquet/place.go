package parquet

// place settles where the chunk starts, given dictionary_page_offset. Readers
// agree to believe it only if it lies before the first data page; writers are
// known to put 0 or rubbish there.
func (c *chunk) place(dictionary int64) {
	c.start = c.data
	switch {
	case dictionary < headLen:
	case dictionary < c.data:
		c.start = dictionary
	case c.data == 0 && c.values == 0 && c.size > 0:
		// No values, so no data page, but still a dictionary page.
		c.start, c.data = dictionary, dictionary+c.size
	}
}

// check says what is wrong with a chunk in a file whose footer starts at
// footer, "" if nothing is.
func (c *chunk) check(footer int64) string {
	switch {
	case c.external || c.size == 0: // no bytes in this file
		c.start, c.data = max(c.start, 0), max(c.data, 0)
		return ""
	case c.start < headLen || c.start > footer || c.size > footer-c.start:
		return "chunk outside of the file's data"
	case c.data > c.end() || c.data == c.end() && c.values > 0:
		return "first data page outside of its chunk"
	}
	return ""
}

// dropStray forgets index and Bloom filter locations that cannot be true and
// returns how many: a file is readable without them, and writers exist that
// get them wrong.
func (c *chunk) dropStray(footer int64) (dropped int) {
	dropped += stray(&c.columnIndex, &c.columnIndexLen, footer, c.external)
	dropped += stray(&c.offsetIndex, &c.offsetIndexLen, footer, c.external)
	if c.bloomLen == 0 && c.bloom >= headLen && c.bloom < footer && !c.external {
		return dropped // older writers give no length; the offset is told, no part
	}
	return dropped + stray(&c.bloom, &c.bloomLen, footer, c.external)
}

// stray zeroes a location that is not wholly within the file's data. One that
// was absent altogether does not count.
func stray(off *int64, length *int32, footer int64, external bool) int {
	if *off == 0 && *length == 0 {
		return 0
	}
	if !external && *off >= headLen && *off <= footer && *length > 0 && int64(*length) <= footer-*off {
		return 0
	}
	*off, *length = 0, 0
	return 1
}
