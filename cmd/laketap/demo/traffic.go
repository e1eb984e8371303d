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
	read, written int64 // bytes of bodies; written: of files only
	seconds       float64
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
// that was dropped and made again, as after a stopped load, is one to people;
// so is an engine that tells its version to one tap only.
func trafficRows(tables admin.Tables) []trafficRow {
	type key struct{ engine, table string }
	sums, names := map[key]*trafficRow{}, engineNames(tables)
	for _, t := range tables.Tables {
		for _, e := range t.Engines {
			k := key{cmp.Or(names[e.Engine], e.Engine), t.Table}
			if e.EngineVersion != "" {
				k.engine = e.Engine + "/" + e.EngineVersion
			}
			row, ok := sums[k]
			if !ok {
				row = &trafficRow{engine: k.engine, table: k.table}
				sums[k] = row
			}
			// Bodies of answers are what was read; of the catalog they are metadata,
			// which engines wait for as well.
			row.requests += e.Catalog.Requests + e.Storage.Requests
			row.read += e.Catalog.BytesOut + e.Storage.BytesOut
			row.written += e.Storage.BytesIn // what the catalog gets is requests, not data
			row.seconds += e.Catalog.Seconds + e.Storage.Seconds
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

// engineNames says what an engine that told no version is called: by the only
// version that was seen of it, if there is just one.
func engineNames(tables admin.Tables) map[string]string {
	names, versions := map[string]string{}, map[string]map[string]bool{}
	for _, t := range tables.Tables {
		for _, e := range t.Engines {
			if e.EngineVersion == "" {
				continue
			}
			if versions[e.Engine] == nil {
				versions[e.Engine] = map[string]bool{}
			}
			versions[e.Engine][e.EngineVersion] = true
			names[e.Engine] = e.Engine + "/" + e.EngineVersion
		}
	}
	for engine, seen := range versions {
		if len(seen) > 1 {
			delete(names, engine)
		}
	}
	return names
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
