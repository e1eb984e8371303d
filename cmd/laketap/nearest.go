package main

import "strings"

// suggest returns "; did you mean X?" for the known name that is nearest to an
// unknown one. A name whose last part is right but lies in another section
// counts as very near.
func suggest(unknown string, known []string) string {
	best, least := "", 1<<30
	for _, name := range known {
		// Doubled, so that a name in the wrong section can count one and a half.
		d := 2 * distance(unknown, name)
		if last(name) == last(unknown) {
			d = min(d, 3)
		}
		if d < least {
			best, least = name, d
		}
	}
	// Farther than half its length it is not a misspelling but another idea.
	if best == "" || least > max(len(unknown), 4) {
		return "; the annotated sample etc/laketap.yml lists all"
	}
	return "; did you mean " + best + "?"
}

// last is what a setting is called in its section. In a variable of the
// environment underscores part sections, too.
func last(name string) string {
	parts := "."
	if strings.HasPrefix(name, "LAKETAP_") {
		parts = "_"
	}
	return name[strings.LastIndexAny(name, parts)+1:]
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour to turn a into b.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		// Three rows of the table are enough: a swap looks two rows up.
		twoBefore := before
		before, row = row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(before[j]+1, row[j-1]+1, before[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], twoBefore[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
