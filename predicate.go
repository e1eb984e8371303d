package laketap

// A Predicate is a filter in a form that does not depend on who wrote it: in
// normal form, bound to field ids. Two filters of one table that mean the same
// in the same terms have one Key. It is opaque to whoever remembers it. The
// zero value is no filter.
type Predicate struct {
	Key    string // canonical text, literals included
	Shape  string // the same with every literal replaced
	Fields []int  // ids of the fields it names, ascending
}
