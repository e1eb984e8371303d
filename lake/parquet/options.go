package parquet

// Options bound what a footer may cost and say how to read it. The zero value
// is right for files that carry field ids.
type Options struct {
	// Tail is how much of the file's end ReadLayout reads first. If the footer
	// is longer, one more read follows. Zero: 64 KiB.
	Tail int64
	// MaxFooter bounds the bytes of a footer. Zero: 64 MiB.
	MaxFooter int64
	// MaxSchema bounds the elements of a schema, groups included. Zero: 2^17.
	MaxSchema int
	// MaxChunks bounds columns × row groups; each takes 88 bytes of memory. A
	// row group counts as one at least.
	// Zero: 2^20.
	MaxChunks int
	// Names maps the logical path of a schema element to a field id, as a
	// table's name mapping does. It is asked only for files in which no element
	// has an id, and in Iceberg's terms: the element of a list is "element", the
	// parts of a map are "key" and "value", whatever the file calls them. The
	// path is valid only during the call. Nil: such files have no field ids.
	Names func(path []string) (field int, ok bool)
	// DropFooter lets go of the encoded footer: the layout is then much
	// smaller, and Stats and KeyValues have nothing to tell.
	DropFooter bool
}

// withDefaults returns the options with zero values explained.
func (o Options) withDefaults() Options {
	if o.Tail <= 0 {
		o.Tail = 64 << 10
	}
	if o.MaxFooter <= 0 {
		o.MaxFooter = 64 << 20
	}
	if o.MaxSchema <= 0 {
		o.MaxSchema = 1 << 17
	}
	if o.MaxChunks <= 0 {
		o.MaxChunks = 1 << 20
	}
	o.Tail = max(o.Tail, tailLen)
	return o
}
