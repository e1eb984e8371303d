package iceberg

import (
	"slices"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// members remembers which members of an object were there. No object of the
// format but the metadata itself has more than sixteen, so that snapshots and
// fields, of which there are many, take no memory for it.
type members struct {
	seen  [16]string
	count int
	more  []string
}

// see notes a member.
func (m *members) see(name string) {
	if m.count < len(m.seen) {
		m.seen[m.count] = name
		m.count++
		return
	}
	m.more = append(m.more, name)
}

// has tells whether a member was there.
func (m *members) has(name string) bool {
	return slices.Contains(m.seen[:m.count], name) || slices.Contains(m.more, name)
}

// need notes an error for each member that was not there.
func (m *members) need(s *jsonscan.Scanner, what string, names ...string) {
	for _, name := range names {
		if s.Err() == nil && !m.has(name) {
			s.Failf("%s without %s", what, name)
		}
	}
}
