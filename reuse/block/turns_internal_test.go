package block

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whoever comes and goes, the one whose turn it is has waited longest of its
// right, and no right is served twice while another waits that has not been.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newTurns()
		var waiting []*turn        // in the order in which they came
		passed := map[string]int{} // how often others were served since the right began to wait
		rights := []string{"a", "b", "c"}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				one := &turn{right: rapid.SampledFrom(rights).Draw(t, "right")}
				if !slices.ContainsFunc(waiting, func(w *turn) bool { return w.right == one.right }) {
					passed[one.right] = 0
				}
				waiting = append(waiting, one)
				q.push(one)
			},
			"remove": func(t *rapid.T) {
				if len(waiting) == 0 {
					q.remove(&turn{right: "a"}) // not in it
					return
				}
				i := rapid.IntRange(0, len(waiting)-1).Draw(t, "who")
				q.remove(waiting[i])
				waiting = slices.Delete(waiting, i, i+1)
			},
			"next": func(t *rapid.T) {
				got := q.next()
				if got == nil {
					if len(waiting) > 0 {
						t.Fatalf("nobody's turn of %d", len(waiting))
					}
					return
				}
				i := slices.IndexFunc(waiting, func(w *turn) bool { return w.right == got.right })
				if i < 0 || waiting[i] != got {
					t.Fatalf("turn of one of %s who has not waited longest", got.right)
				}
				waiting = slices.Delete(waiting, i, i+1)
				passed[got.right] = 0
				for _, right := range rights {
					if right == got.right || !slices.ContainsFunc(waiting, func(w *turn) bool { return w.right == right }) {
						continue
					}
					if passed[right]++; passed[right] >= len(rights) {
						t.Fatalf("%s waited while %d others were served", right, passed[right])
					}
				}
			},
			"": func(t *rapid.T) {
				if q.n != len(waiting) {
					t.Fatalf("%d wait, want %d", q.n, len(waiting))
				}
			},
		})
	})
}
