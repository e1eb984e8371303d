package iceberg

import "strconv"

// JSON returns the condition as an expression of the REST catalog's grammar,
// bound to field ids. Parsed again, with the same schema and options, it is the
// same condition.
func (c *Condition) JSON() []byte { return c.root.appendJSON(nil) }

// appendJSON writes a node. The grammar's and and or have two operands: many are
// written as a tree that is as low as can be, since readers bound its height.
func (n *node) appendJSON(b []byte) []byte {
	switch {
	case n.op == opTrue || n.op == opFalse:
		return append(b, opWords[n.op]...)
	case n.kids != nil:
		return appendTree(b, opNames[n.op], n.kids)
	}
	b = append(b, `{"type":"`...)
	b = append(b, opNames[n.op]...)
	switch {
	case n.op.comparison():
		b = append(b, `","term":`...)
	case n.op.set():
		b = append(b, `","child":`...)
	default:
		return append(n.term.appendJSON(append(b, `","child":`...)), '}')
	}
	b = n.term.appendJSON(b)
	if n.op.comparison() {
		b = append(b, `,"value":`...)
		return append(n.literals[0].appendJSON(b), '}')
	}
	b = append(b, `,"values":[`...)
	for i, l := range n.literals {
		if i > 0 {
			b = append(b, ',')
		}
		b = l.appendJSON(b)
	}
	return append(b, `]}`...)
}

// appendTree writes the nodes as operands of one operation.
func appendTree(b []byte, name string, kids []*node) []byte {
	if len(kids) == 1 {
		return kids[0].appendJSON(b)
	}
	half := len(kids) / 2
	b = append(b, `{"type":"`...)
	b = append(b, name...)
	b = append(b, `","left":`...)
	b = appendTree(b, name, kids[:half])
	b = append(b, `,"right":`...)
	b = appendTree(b, name, kids[half:])
	return append(b, '}')
}

// appendJSON writes a term.
func (t *term) appendJSON(b []byte) []byte {
	if t.transform.Kind != Identity {
		b = append(b, `{"type":"transform","transform":"`...)
		b = append(b, t.name()...)
		b = append(b, `","term":`...)
	}
	b = append(b, `{"type":"reference","id":`...)
	b = strconv.AppendInt(b, int64(t.field), 10)
	b = append(b, '}')
	if t.transform.Kind != Identity {
		b = append(b, '}')
	}
	return b
}

// appendQuoted writes a text as JSON has it, with the fewest escapes, so that it
// has one spelling for as long as texts are kept.
func appendQuoted(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&0xf])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
