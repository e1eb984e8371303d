// Package jsonscan owns reading JSON (RFC 8259) of foreign origin in one pass,
// without a tree: the caller is told of members and elements as they come, and
// what it does not ask for is passed over.
//
// It refuses what encoding/json lets through and what would make two readers
// see two documents: names that differ from the expected by case, a member that
// is there twice, numbers that are not exactly the integer asked for, invalid
// UTF-8 and lone surrogates. Depth is bounded, and memory by the input.
package jsonscan
