package decide

import (
	"fmt"
	"math"
	"strings"
)

// nameAtMost is how many columns or engines a reason names.
const nameAtMost = 3

// list names some things, and counts the rest.
func list(names []string, most int, unit string) string {
	if len(names) > most {
		rest := len(names) - most + 1
		return strings.Join(names[:most-1], ", ") + fmt.Sprintf(" and %d more %s", rest, unit)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// count counts things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// readBy tells who taught it: engines with the share of files that they opened in
// which they read the columns.
func readBy(t *habits, columns []columnShare) string {
	evidence := t.evidence(columns)
	names := make([]string, 0, len(evidence))
	opens := 0.0
	for _, e := range evidence {
		opens += e.Uses
		if len(columns) == 0 {
			names = append(names, e.Engine.String())
			continue
		}
		names = append(names, fmt.Sprintf("%s in %.0f %%", e.Engine, 100*e.Share))
	}
	who, files := list(names, nameAtMost, "engines"), count(int(math.Round(opens)), "file", "files")
	switch len(columns) {
	case 0:
		return "opened by " + who + ", " + files + " of late, none of its columns is read in most of them."
	case 1:
		return "it was read by " + who + " of the files opened, about " + files + " of late."
	}
	return "they were read by " + who + " of the files opened, about " + files + " of late."
}

// about begins a reason: what is done to columns or, where none is habitual, to
// what every reader of a file needs.
func about(columns []string, before, after string) string {
	if len(columns) == 0 {
		return before + "metadata and footers" + after
	}
	return before + list(columns, nameAtMost, "columns") + after
}
