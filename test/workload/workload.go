// Package workload runs one text of steps on several engines and writes down
// what they answered, so that two runs can be compared row by row.
//
// A text is paragraphs, each "WHO: WHAT". WHO is an engine, and WHAT is in the
// engine's own language; or WHO is "read", and WHAT is a table and lines that
// begin with columns, where, order or snapshot, for every engine to read. Both
// may be followed by other words before the colon: "fails" (it must), and for
// reads "but ENGINE" (which cannot). {snapshot TABLE N} stands for the id of
// the table's Nth snapshot, counted from 1. Lines that begin with # are
// comments.
package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/laketap/laketap/test/engines"
)

// A Paragraph is one step of a text, for one engine or for several.
type Paragraph struct {
	Line    int
	Engines []string
	Read    bool
	Fails   bool // the engines must refuse it
	Text    string
}

// Parse reads a text for the engines that are set up by URI alone.
func Parse(text string) ([]Paragraph, error) { return ParseFor(text, engines.All()) }

// ParseFor reads a text for the engines named.
func ParseFor(text string, names []string) ([]Paragraph, error) {
	var all []Paragraph
	var block []string
	start := 0
	flush := func() error {
		if len(block) == 0 {
			return nil
		}
		p, err := paragraph(strings.Join(block, "\n"), names)
		if err != nil {
			return fmt.Errorf("line %d: %w", start, err)
		}
		p.Line = start
		all, block = append(all, p), nil
		return nil
	}
	for i, line := range strings.Split(text+"\n", "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case strings.TrimSpace(line) != "":
			if len(block) == 0 {
				start = i + 1
			}
			block = append(block, line)
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func paragraph(text string, names []string) (Paragraph, error) {
	head, what, ok := strings.Cut(text, ":")
	words := strings.Fields(head)
	if !ok || len(words) == 0 {
		return Paragraph{}, fmt.Errorf("paragraph does not begin with WHO: %q", text)
	}
	p := Paragraph{Text: strings.TrimSpace(what)}
	switch {
	case words[0] == "read":
		p.Read, p.Engines = true, slices.Clone(names)
	case slices.Contains(names, words[0]):
		p.Engines = words[:1]
	default:
		return Paragraph{}, fmt.Errorf("no engine %q", words[0])
	}
	for rest := words[1:]; len(rest) > 0; rest = rest[1:] {
		switch {
		case rest[0] == "fails":
			p.Fails = true
		case rest[0] == "but" && len(rest) > 1:
			rest = rest[1:]
			p.Engines = slices.DeleteFunc(p.Engines, func(e string) bool { return e == rest[0] })
		default:
			return Paragraph{}, fmt.Errorf("unknown word %q", rest[0])
		}
	}
	return p, nil
}

// Step turns the paragraph into what an engine is asked; snapshot finds the
// id of a table's nth snapshot.
func (p Paragraph) Step(snapshot func(table string, n int) (int64, error)) (engines.Step, error) {
	text, err := fill(p.Text, snapshot)
	if err != nil || !p.Read {
		return engines.Step{Run: text}, err
	}
	lines := strings.Split(text, "\n")
	read := &engines.Read{Table: strings.TrimSpace(lines[0])}
	for _, line := range lines[1:] {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "columns":
			read.Columns = rest
		case "where":
			read.Where = rest
		case "order":
			read.Order = rest
		case "snapshot":
			if read.Snapshot, err = strconv.ParseInt(rest, 10, 64); err != nil {
				return engines.Step{}, fmt.Errorf("read snapshot: %w", err)
			}
		default:
			return engines.Step{}, fmt.Errorf("unknown word %q in a read", word)
		}
	}
	return engines.Step{Read: read}, nil
}

// fill replaces {snapshot TABLE N}.
func fill(text string, snapshot func(string, int) (int64, error)) (string, error) {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{snapshot ")
		out.WriteString(before)
		if !ok {
			return out.String(), nil
		}
		inside, after, _ := strings.Cut(rest, "}")
		table, n, _ := strings.Cut(inside, " ")
		count, err := strconv.Atoi(n)
		if err != nil {
			return "", fmt.Errorf("{snapshot %s}: %w", inside, err)
		}
		id, err := snapshot(table, count)
		if err != nil {
			return "", err
		}
		out.WriteString(strconv.FormatInt(id, 10))
		text = after
	}
}
