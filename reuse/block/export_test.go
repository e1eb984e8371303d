package block

// OpenPieces is Open with small extents, so that tests meet many.
func OpenPieces(opts Options, piece int64) (*Cache, error) { return openPieces(opts, piece) }
