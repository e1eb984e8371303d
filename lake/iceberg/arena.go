package iceberg

import "strings"

// An arena holds the texts of many entries in few allocations. Texts stay
// valid for as long as somebody holds them; what is held keeps its chunk.
type arena struct{ b strings.Builder }

const (
	arenaChunk = 16 << 10
	arenaLarge = arenaChunk / 8 // longer texts stand alone
)

// text returns a copy of the bytes. A builder only ever appends, so what was
// taken out of it before stays as it is.
func (a *arena) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > arenaLarge {
		return string(b)
	}
	if a.b.Cap()-a.b.Len() < len(b) {
		a.b = strings.Builder{}
		a.b.Grow(arenaChunk)
	}
	start := a.b.Len()
	a.b.Write(b)
	return a.b.String()[start:]
}
