package iceberg

import (
	"slices"
	"strings"
)

// An op is what a node of an expression does.
type op uint8

const (
	opTrue op = iota + 1
	opFalse
	opNot
	opAnd
	opOr
	opIsNull
	opNotNull
	opIsNaN
	opNotNaN
	opLt
	opLtEq
	opGt
	opGtEq
	opEq
	opNotEq
	opStartsWith
	opNotStartsWith
	opIn
	opNotIn
)

// opNames are the operations as the grammar has them.
var opNames = [...]string{
	opTrue: "true", opFalse: "false", opNot: "not", opAnd: "and", opOr: "or",
	opIsNull: "is-null", opNotNull: "not-null", opIsNaN: "is-nan", opNotNaN: "not-nan",
	opLt: "lt", opLtEq: "lt-eq", opGt: "gt", opGtEq: "gt-eq", opEq: "eq", opNotEq: "not-eq",
	opStartsWith: "starts-with", opNotStartsWith: "not-starts-with", opIn: "in", opNotIn: "not-in",
}

// parseOp finds an operation. As in Java, case does not count, nor which of "-"
// and "_" is used.
func parseOp(name string) (op, bool) {
	i := slices.Index(opNames[:], strings.ReplaceAll(strings.ToLower(name), "_", "-"))
	return op(max(i, 0)), i > 0 //nolint:gosec // there are few
}

// opWords are the operations as they stand in the texts of predicates.
var opWords = [...]string{
	opTrue: "true", opFalse: "false", opAnd: " and ", opOr: " or ",
	opIsNull: " is null", opNotNull: " is not null", opIsNaN: " is nan", opNotNaN: " is not nan",
	opLt: " < ", opLtEq: " <= ", opGt: " > ", opGtEq: " >= ", opEq: " = ", opNotEq: " != ",
	opStartsWith: " starts with ", opNotStartsWith: " not starts with ", opIn: " in ", opNotIn: " not in ",
}

// negations are the pairs that Java's Operation.negate has. Each is exact: of no
// value and of no null is one of a pair true and the other one not false.
var negations = [...]op{
	opTrue: opFalse, opFalse: opTrue, opAnd: opOr, opOr: opAnd,
	opIsNull: opNotNull, opNotNull: opIsNull, opIsNaN: opNotNaN, opNotNaN: opIsNaN,
	opLt: opGtEq, opGtEq: opLt, opGt: opLtEq, opLtEq: opGt, opEq: opNotEq, opNotEq: opEq,
	opStartsWith: opNotStartsWith, opNotStartsWith: opStartsWith, opIn: opNotIn, opNotIn: opIn,
}

// mirrored are the comparisons with their sides exchanged.
var mirrored = map[op]op{
	opLt: opGt, opGt: opLt, opLtEq: opGtEq, opGtEq: opLtEq, opEq: opEq, opNotEq: opNotEq,
}

// unary reports whether the operation asks about a term alone.
func (o op) unary() bool { return o >= opIsNull && o <= opNotNaN }

// comparison reports whether it asks about a term and one literal.
func (o op) comparison() bool { return o >= opLt && o <= opNotStartsWith }

// set reports whether it asks about a term and a list of literals.
func (o op) set() bool { return o == opIn || o == opNotIn }
