package parquet

// The names that a name mapping uses below lists and maps.
const (
	nameElement = "element"
	nameKey     = "key"
	nameValue   = "value"
)

// mapNames gives field ids to a file that has none, by logical path.
func (t *schema) mapNames(names func([]string) (int, bool)) {
	if names == nil || t.hasIDs {
		return
	}
	var path [maxDepth]string
	var length [maxDepth + 1]int // of the logical path at each depth
	for i := 1; i < len(t.nodes); i++ {
		n := &t.nodes[i]
		own := length[n.depth-1]
		label := t.label(int32(i))
		if label == "" { // a layer that exists in the encoding only
			length[n.depth] = own
			continue
		}
		path[own] = label
		length[n.depth] = own + 1
		if id, ok := names(path[: own+1 : own+1]); ok && id >= 0 && id == int(int32(id)) {
			n.field = int32(id)
		}
	}
}

// label returns what a node is called in a logical path; "" if it is not part
// of one.
func (t *schema) label(i int32) string {
	n := &t.nodes[i]
	p := &t.nodes[n.parent]
	switch {
	case n.parent > 0 && t.isLayer(n.parent):
		if t.nodes[p.parent].logical.Kind == List {
			return nameElement
		}
		if i == n.parent+1 {
			return nameKey
		}
		return nameValue
	case t.isLayer(i):
		return ""
	case n.parent > 0 && p.logical.Kind == List && n.repeated && p.children == 1:
		return nameElement // the repeated field is the element itself
	}
	return t.name(i)
}

// isLayer reports whether a node is the repeated group that a list or a map has
// between itself and its content ("Nested types", rules for backward
// compatibility: a repeated field that looks like an element is one).
func (t *schema) isLayer(i int32) bool {
	n := &t.nodes[i]
	if n.parent <= 0 || !n.repeated || n.hasType {
		return false
	}
	p := &t.nodes[n.parent]
	if p.children != 1 {
		return false
	}
	switch p.logical.Kind {
	case Map:
		return n.children == 1 || n.children == 2
	case List:
		only := n.children == 1 && !t.nodes[i+1].repeated
		name := t.name(i)
		return only && name != "array" && name != t.name(n.parent)+"_tuple"
	}
	return false
}
