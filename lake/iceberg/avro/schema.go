package avro

// A Kind is what a type is encoded as.
type Kind uint8

// The kinds of types.
const (
	Null Kind = iota
	Boolean
	Int
	Long
	Float
	Double
	Bytes
	String
	Fixed
	Enum
	Array
	Map
	Record
	Union
)

// A Type is one type of a writer's schema. Types may refer to themselves.
type Type struct {
	Kind     Kind
	Name     string  // full name of a record, enum or fixed
	Logical  string  // logicalType, "" if none
	Size     int     // bytes of a fixed
	Symbols  int     // of an enum
	Fields   []Field // of a record
	Elem     *Type   // of an array, values of a map
	ElemID   int     // Iceberg's element-id or value-id, -1 if none
	Branches []*Type // of a union

	zero bool   // its values take no bytes
	skip []step // how to pass over a record
}

// A Field is one field of a record.
type Field struct {
	Name string
	ID   int // Iceberg's field-id, -1 if none
	Type *Type
}

// Optional splits a union of null and one other type into that type and the
// branch of null, either of which may come first. For any other type it
// returns the type itself and -1.
func (t *Type) Optional() (inner *Type, null int) {
	if t.Kind != Union || len(t.Branches) != 2 {
		return t, -1
	}
	for i, b := range t.Branches {
		if b.Kind == Null && t.Branches[1-i].Kind != Null {
			return t.Branches[1-i], i
		}
	}
	return t, -1
}

// primitive returns the kind of a primitive type's name.
func primitive(name string) (Kind, bool) {
	switch name {
	case "null":
		return Null, true
	case "boolean":
		return Boolean, true
	case "int":
		return Int, true
	case "long":
		return Long, true
	case "float":
		return Float, true
	case "double":
		return Double, true
	case "bytes":
		return Bytes, true
	case "string":
		return String, true
	}
	return 0, false
}

// A step passes over a run of values of one kind, or over one value.
type step struct {
	varints int   // that many ints, longs or enums
	size    int   // else that many bytes
	typ     *Type // else a value of this type
}

// A finisher works out what passing over types takes, once all are known.
type finisher struct {
	open, done map[*Type]bool
	queue      []*Type // parts, which may refer back to what they are part of
}

// finishAll prepares the types of a schema.
func finishAll(root *Type) error {
	f := finisher{open: map[*Type]bool{}, done: map[*Type]bool{}, queue: []*Type{root}}
	for len(f.queue) > 0 {
		t := f.queue[len(f.queue)-1]
		f.queue = f.queue[:len(f.queue)-1]
		if err := f.finish(t); err != nil {
			return err
		}
	}
	return nil
}

// finish prepares a type and the fields it is made of. A record that holds
// itself other than through an array, map or union can have no values: an error.
func (f *finisher) finish(t *Type) error {
	if f.done[t] {
		return nil
	}
	if f.open[t] {
		return malformed("record %s contains itself", t.Name)
	}
	f.open[t] = true
	t.zero = t.Kind == Null || t.Kind == Record || t.Kind == Fixed && t.Size == 0
	for _, field := range t.Fields {
		if err := f.finish(field.Type); err != nil {
			return err
		}
		t.zero = t.zero && field.Type.zero
		t.skip = addStep(t.skip, field.Type)
	}
	if t.Elem != nil {
		f.queue = append(f.queue, t.Elem)
	}
	f.queue = append(f.queue, t.Branches...)
	f.done[t] = true
	return nil
}

// addStep adds what it takes to pass over one more value. What takes no bytes
// takes no step, so that the work is bounded by the bytes.
func addStep(steps []step, t *Type) []step {
	if t.zero {
		return steps
	}
	next := step{typ: t}
	switch t.Kind {
	case Int, Long, Enum:
		next = step{varints: 1}
	case Boolean:
		next = step{size: 1}
	case Float:
		next = step{size: 4}
	case Double:
		next = step{size: 8}
	case Fixed:
		next = step{size: t.Size}
	}
	if n := len(steps); n > 0 && next.typ == nil && steps[n-1].typ == nil {
		last := &steps[n-1]
		if next.varints > 0 && last.varints > 0 {
			last.varints++
			return steps
		}
		if next.varints == 0 && last.varints == 0 && last.size+next.size < 1<<31 {
			last.size += next.size
			return steps
		}
	}
	return append(steps, next)
}
