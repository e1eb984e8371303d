package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/laketap/laketap/admin"
)

// A trafficRow is what one engine moved of one table.
type trafficRow struct {
	engine, table string // table "": requests that belong to none
	requests      int64
	read, written int64 // bytes of bodies
	seconds       float64
	failed        int64
}

// traffic asks the admin API who did what. Only it knows: the engines' scripts
// report answers, never bytes.
func traffic(ctx context.Context, adminURL string) ([]trafficRow, error) {
	var tables admin.Tables
	if err := getJSON(ctx, adminURL+"/api/v1/tables", &tables); err != nil {
		return nil, fmt.Errorf("ask who read what: %w", err)
	}
	return trafficRows(tables), nil
}

// trafficRows sums up both taps, by engine, the busiest table first. A table
// that was dropped and made again, as after a stopped load, is one to people.
func trafficRows(tables admin.Tables) []trafficRow {
	type key struct{ engine, table string }
	sums := map[key]*trafficRow{}
	for _, t := range tables.Tables {
		for _, e := range t.Engines {
			name := e.Engine
			if e.EngineVersion != "" {
				name += "/" + e.EngineVersion
			}
			row, ok := sums[key{name, t.Table}]
			if !ok {
				row = &trafficRow{engine: name, table: t.Table}
				sums[key{name, t.Table}] = row
			}
			for _, u := range []admin.Use{e.Catalog, e.Storage} {
				row.requests += u.Requests
				row.read += u.BytesOut
				row.written += u.BytesIn
				row.seconds += u.Seconds
				row.failed += u.Errors
			}
		}
	}
	rows := make([]trafficRow, 0, len(sums))
	for _, row := range sums {
		rows = append(rows, *row)
	}
	slices.SortFunc(rows, func(a, b trafficRow) int {
		return cmp.Or(cmp.Compare(a.engine, b.engine), cmp.Compare(b.read+b.written, a.read+a.written), cmp.Compare(a.table, b.table))
	})
	return rows
}

// trafficGrid lays the rows out, an engine's name once.
func trafficGrid(rows []trafficRow) *grid {
	g := &grid{right: map[int]bool{2: true, 3: true, 4: true, 5: true}}
	g.add("engine", "table", "requests", "read", "written", "seconds")
	last := ""
	for _, r := range rows {
		engine := r.engine
		if engine == last {
			engine = ""
		}
		last = r.engine
		table := cmp.Or(r.table, "(catalog)")
		g.add(engine, table, spellCount(r.requests), spellBytes(r.read), spellBytes(r.written), fmt.Sprintf("%.2f", r.seconds))
	}
	return g
}
