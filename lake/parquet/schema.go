package parquet

// NoField is the field id of what has none. Negative ids in files, which some
// writers put where they have none, are NoField too.
const NoField = -1

// maxDepth bounds how deep a schema may nest; a list takes two levels.
const maxDepth = 128

// A node is one element of the schema.
type node struct {
	name, nameLen     int32 // of names
	field             int32
	parent            int32 // node; -1 for the root
	depth             int32 // 0 for the root
	leaf, leafEnd     int32 // the leaves at or below it
	children          int32
	typeLen           int32
	logical           Logical
	physical          Physical
	repetition        int8 // required, optional, repeated; -1 is not told
	maxDef, maxRep    int16
	hasType, repeated bool
}

// A schema is the tree of a file, in depth-first order, the root first.
type schema struct {
	nodes  []node
	leaves []int32 // node of each leaf
	names  string
	hasIDs bool
}

// schema reads the list of elements and makes it a tree.
func (s *scanner) schema(typ byte, most int) *schema {
	n := s.list(typ, tStruct, 4) // an element has a name and an end
	if n > most {
		s.stop(&LimitError{What: "schema elements", Got: int64(n), Most: int64(most)})
		return nil
	}
	t := &schema{nodes: make([]node, n)}
	names := make([]byte, 0, 16*n)
	for i := range t.nodes {
		at := s.p
		name := s.schemaElement(&t.nodes[i])
		if s.err != nil {
			return nil
		}
		// The names are part of the footer, so they fit into 31 bits as it does.
		t.nodes[i].name, t.nodes[i].nameLen = int32(len(names)), int32(len(name))
		names = append(names, name...)
		if problem := t.check(i); problem != "" {
			s.fail(at, problem)
			return nil
		}
	}
	t.names = string(names)
	if problem := t.grow(); problem != "" {
		s.fail(s.p, problem)
		return nil
	}
	return t
}

// schemaElement reads one SchemaElement and returns its name.
func (s *scanner) schemaElement(n *node) (name []byte) {
	*n = node{field: NoField, parent: -1, repetition: -1}
	var seen uint64
	converted, scale, precision := int32(-1), int32(0), int32(0)
	for id, typ := s.field(0); typ != tStop; id, typ = s.field(id) {
		if !s.once(&seen, id) {
			return nil
		}
		switch id {
		case 1:
			n.physical, n.hasType = s.physical(typ), true
		case 2:
			n.typeLen = s.i32(typ)
		case 3:
			n.repetition = s.repetition(typ)
		case 4:
			name = s.binary(typ)
		case 5:
			n.children = s.i32(typ)
		case 6:
			converted = s.i32(typ)
		case 7:
			scale = s.i32(typ)
		case 8:
			precision = s.i32(typ)
		case 9:
			n.field = max(s.i32(typ), NoField)
		case 10:
			n.logical = s.logical(typ)
		default:
			s.skip(typ)
		}
	}
	if seen&(1<<4) == 0 {
		s.fail(s.p, "schema element without a name")
	}
	n.repeated = n.repetition == 2
	if n.logical.Kind == NoLogical {
		n.logical = convertedLogical(converted, scale, precision)
	}
	// Checked here and not above: where they mean nothing, writers put -1.
	if n.hasType && n.physical == FixedLenByteArray && n.typeLen < 0 || n.logical.Scale < 0 || n.logical.Precision < 0 {
		s.fail(s.p, "negative length, scale or precision")
	}
	return name
}

// physical reads enum Type.
func (s *scanner) physical(typ byte) Physical {
	v := s.i32(typ)
	if v < 0 || v > int32(FixedLenByteArray) {
		s.fail(s.p, "unknown physical type")
		return 0
	}
	return Physical(v)
}

// repetition reads enum FieldRepetitionType.
func (s *scanner) repetition(typ byte) int8 {
	v := s.i32(typ)
	if v < 0 || v > 2 {
		s.fail(s.p, "unknown repetition type")
		return 0
	}
	return int8(v)
}

// check says what is wrong with element i taken alone, "" if nothing is.
func (t *schema) check(i int) string {
	n := &t.nodes[i]
	switch {
	case n.children < 0:
		return "schema element with a negative number of children"
	case n.children > 0 && n.hasType:
		return "schema element with both a type and children"
	case int(n.children) > len(t.nodes)-1-i:
		return "schema element with more children than there are elements"
	case i == 0 && n.hasType:
		return "schema without a root"
	}
	if n.field != NoField && i > 0 {
		t.hasIDs = true
	}
	return ""
}

// grow turns the list into a tree: parents, levels and leaves. It says what is
// wrong with it, "" if nothing is.
func (t *schema) grow() string {
	if len(t.nodes) == 0 {
		return "schema without elements"
	}
	t.leaves = make([]int32, 0, len(t.nodes))
	var open [maxDepth]struct{ node, children int32 } // groups with children to come
	open[0].children = t.nodes[0].children
	depth := 0
	for i := 1; i < len(t.nodes); i++ {
		for open[depth].children == 0 {
			if depth == 0 {
				return "schema with more than one root"
			}
			t.nodes[open[depth].node].leafEnd = int32(len(t.leaves))
			depth--
		}
		open[depth].children--
		n := &t.nodes[i]
		n.enter(open[depth].node, &t.nodes[open[depth].node], int32(len(t.leaves)))
		if n.hasType {
			t.leaves = append(t.leaves, int32(i))
			n.leafEnd++
			continue
		}
		if depth++; depth == maxDepth {
			return "schema nested too deep"
		}
		open[depth].node, open[depth].children = int32(i), n.children
	}
	for ; depth >= 0; depth-- {
		if open[depth].children > 0 {
			return "schema with fewer elements than children"
		}
		t.nodes[open[depth].node].leafEnd = int32(len(t.leaves))
	}
	return ""
}

// enter puts the node below its parent; leaves is how many leaves precede it.
func (n *node) enter(parent int32, p *node, leaves int32) {
	n.parent, n.depth = parent, p.depth+1
	n.leaf, n.leafEnd = leaves, leaves
	n.maxDef, n.maxRep = p.maxDef, p.maxRep
	if n.repetition >= 1 { // optional or repeated
		n.maxDef++
	}
	if n.repeated {
		n.maxRep++
	}
}

// name returns the name of a node.
func (t *schema) name(i int32) string {
	n := &t.nodes[i]
	return t.names[n.name : n.name+n.nameLen]
}

// field returns the id of a node or of its nearest ancestor that has one: the
// parts of a shredded variant, for instance, have none of their own.
func (t *schema) field(i int32) int {
	for ; i > 0; i = t.nodes[i].parent {
		if t.nodes[i].field != NoField {
			return int(t.nodes[i].field)
		}
	}
	return NoField
}
