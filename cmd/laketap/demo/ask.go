package demo

import (
	"context"
	"errors"
	"fmt"
)

// A voice is what one engine said to all questions. The reference is the voice
// of the generated files, read without catalog, store and Laketap.
type voice struct {
	name    string
	answers map[string]answer
	failure error // why it said nothing, or fell silent; nil if it did not
}

// ask asks the generated files and then each engine every question.
func (d *Demo) ask(ctx context.Context, engines []engine, srv *server) ([]voice, error) {
	st := d.screen.step("Ask every engine the same %d questions, by catalog URI alone", len(d.questions))
	defer st.end()
	reference := engine{name: "files", script: "duckdb_demo.py", fix: fixDefault}
	voices := []voice{d.listen(ctx, st, reference, nil, "reference", d.data())}
	// Without a reference there is nothing to compare with. An engine that fails
	// is an answer; the demo goes on.
	if err := voices[0].failure; err != nil {
		return nil, fmt.Errorf("read the generated files: %w", err)
	}
	for _, e := range engines {
		v := d.listen(ctx, st, e, d.environment(srv), append([]string{"run"}, e.args(d)...)...)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		voices = append(voices, v)
	}
	st.done("%d engines", len(engines))
	return voices, nil
}

// listen asks one engine.
func (d *Demo) listen(ctx context.Context, st *step, e engine, env []string, args ...string) voice {
	v := voice{name: e.name, answers: map[string]answer{}}
	st.at(e.name + " starts")
	part := stopwatch()
	version := ""
	v.failure = d.talk(ctx, e, env, args, func(ev *event) {
		switch ev.Event {
		case "engine":
			version = ev.Version
		case "answer":
			v.answers[ev.Question] = answer{rows: ev.Rows.cells, seconds: ev.Seconds}
		case "failed":
			v.answers[ev.Question] = answer{failure: ev.Error}
		}
		st.at(fmt.Sprintf("%s: %d of %d questions", e.name, len(v.answers), len(d.questions)))
	})
	if v.failure == nil && len(v.answers) == 0 {
		v.failure = errors.New("it said nothing")
	}
	if ctx.Err() != nil {
		return v
	}
	st.line("%-9s %-8s  %7s  %d of %d answered", e.name, version, part(), v.spoken(), len(d.questions))
	return v
}

// spoken counts the questions that have rows for an answer.
func (v voice) spoken() int {
	n := 0
	for _, a := range v.answers {
		if a.failure == "" {
			n++
		}
	}
	return n
}

// compare prints a row a question and a column a voice, and returns
// ErrDiffers, with how many, if an answer is missing or is not that of the
// first voice.
func (d *Demo) compare(voices []voice) error {
	g := &grid{right: map[int]bool{1: true, 2: true}}
	head := append(make([]string, 0, 2+len(voices)), "question", "rows")
	for _, v := range voices {
		head = append(head, v.name)
	}
	g.add(head...)
	var wrong []string
	// The reference is not counted: it agrees with itself.
	asked := len(d.questions) * (len(voices) - 1)
	for _, q := range d.questions {
		want := voices[0].answers[q.ID]
		row := append(make([]string, 0, len(head)), q.Title, spellCount(int64(len(want.rows))), spellSeconds(want.seconds))
		for _, v := range voices[1:] {
			cell, why := v.mark(q, want)
			row = append(row, cell)
			if why != "" {
				wrong = append(wrong, fmt.Sprintf("✗ %s, %s: %s", v.name, q.Title, why))
			}
		}
		g.add(row...)
	}
	d.screen.line("\nThe same answers? ✓: equal to what DuckDB finds in the generated files, without catalog, store or Laketap")
	for _, line := range append(g.lines(), indentAll(wrong)...) {
		d.screen.line("%s", line)
	}
	d.screen.line("  %d of %d equal: text, dates, whole numbers and decimals exactly, averages and ratios within %g of their value.",
		asked-len(wrong), asked, floatTolerance)
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %d of %d are not", ErrDiffers, len(wrong), asked)
	}
	return nil
}

// mark compares the voice's answer with the one wanted. Why is "" for equal.
func (v voice) mark(q question, want answer) (cell, why string) {
	a, ok := v.answers[q.ID]
	switch {
	case !ok && v.failure != nil:
		return "✗ –", v.failure.Error()
	case !ok:
		return "✗ –", "no answer"
	case a.failure != "":
		return "✗ failed", a.failure
	case want.failure != "":
		return "✗ ?", "the generated files could not be asked: " + want.failure
	}
	if err := differs(q.Columns, want.rows, a.rows); err != nil {
		return "✗ " + spellSeconds(a.seconds), err.Error()
	}
	return "✓ " + spellSeconds(a.seconds), ""
}

// indentAll moves lines to the right, in place.
func indentAll(lines []string) []string {
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}
