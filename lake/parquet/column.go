package parquet

import "slices"

// A Column is a leaf of the schema: what chunks hold the values of.
type Column struct {
	Name   string
	Field  int // its id, or that of its nearest ancestor with one; NoField
	Type   Physical
	Length int // of FixedLenByteArray, in bytes
	Logical
	MaxDefinition, MaxRepetition int
	Order                        Order // of the bounds in its statistics
}

// NumColumns returns how many leaves the schema has.
func (l *Layout) NumColumns() int { return len(l.schema.leaves) }

// Column returns leaf c.
func (l *Layout) Column(c int) Column {
	i := l.schema.leaves[c]
	n := &l.schema.nodes[i]
	column := Column{
		Name:          l.schema.name(i),
		Field:         l.schema.field(i),
		Type:          n.physical,
		Length:        int(n.typeLen),
		Logical:       n.logical,
		MaxDefinition: int(n.maxDef),
		MaxRepetition: int(n.maxRep),
	}
	if l.orders != nil {
		column.Order = l.orders[c]
	}
	return column
}

// Path returns the names from below the root to leaf c, as the file has them.
func (l *Layout) Path(c int) []string {
	i := l.schema.leaves[c]
	path := make([]string, 0, l.schema.nodes[i].depth)
	for ; i > 0; i = l.schema.nodes[i].parent {
		path = append(path, l.schema.name(i))
	}
	slices.Reverse(path)
	return path
}

// HasFieldIDs reports whether the file itself carries field ids; if not, those
// it has come from Options.Names.
func (l *Layout) HasFieldIDs() bool { return l.schema.hasIDs }

// Columns returns the leaves at or below the schema elements with the given
// field ids, ascending: a struct's id stands for all that is in it.
func (l *Layout) Columns(fields []int) []int {
	var columns []int
	for c, in := range l.selected(fields) {
		if in {
			columns = append(columns, c)
		}
	}
	return columns
}

// selected tells for each leaf whether it is at or below one of the fields.
func (l *Layout) selected(fields []int) []bool {
	in := make([]bool, len(l.schema.leaves))
	wanted := make(map[int]struct{}, len(fields))
	for _, f := range fields {
		wanted[f] = struct{}{}
	}
	delete(wanted, NoField)
	for i := 1; i < len(l.schema.nodes) && len(wanted) > 0; i++ {
		n := &l.schema.nodes[i]
		if _, ok := wanted[int(n.field)]; !ok {
			continue
		}
		for leaf := n.leaf; leaf < n.leafEnd; leaf++ {
			in[leaf] = true
		}
	}
	return in
}
