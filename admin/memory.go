package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/laketap/laketap"
)

// ErrUnknown is that the memory knows nothing of what it is asked for.
var ErrUnknown = errors.New("the memory knows nothing of it; laketap tables lists what it knows")

// Memory is what is remembered over restarts and nodes. Tables are called by
// UUID or name. None of its answers has a principal in it.
type Memory interface {
	KnownTables(ctx context.Context, now time.Time) ([]laketap.KnownTable, error)
	KnownColumns(ctx context.Context, table string) ([]laketap.KnownColumn, error)
	KnownFiles(ctx context.Context, table string) ([]laketap.KnownFile, error)
	Unused(ctx context.Context, since time.Time) ([]laketap.Unused, error)
	// Forget removes a table or a principal, one of the two, for good.
	Forget(ctx context.Context, table, principal string) error
}

// memoryTimeout bounds one answer of the memory; forgetTimeout one rewrite of
// all its files.
const (
	memoryTimeout = 30 * time.Second
	forgetTimeout = 30 * time.Minute
)

// Heat of the answers below is as of the answer: uses, each halved for every
// week since.

// An EngineHeat is how much of something is one engine's.
type EngineHeat struct {
	Engine        string    `json:"engine"`
	EngineVersion string    `json:"engine_version,omitempty"`
	Heat          float64   `json:"heat"`
	Bytes         int64     `json:"bytes"`
	Last          time.Time `json:"last,omitzero"`
}

// A KnownTable is what is remembered of a table.
type KnownTable struct {
	Table    string       `json:"table"` // with its catalog
	TableID  TableID      `json:"table_id"`
	Aliases  []string     `json:"aliases,omitempty"`
	Location string       `json:"location,omitempty"`
	Snapshot string       `json:"snapshot,omitempty"`
	Since    time.Time    `json:"since"` // watched since
	Last     time.Time    `json:"last,omitzero"`
	Heat     float64      `json:"heat"`    // files that were opened
	Queries  float64      `json:"queries"` // heat of scans
	Bytes    int64        `json:"bytes"`
	Engines  []EngineHeat `json:"engines"`
}

// A KnownColumn is what is remembered of a column.
type KnownColumn struct {
	Field   int          `json:"field"`
	Column  string       `json:"column"`
	Type    string       `json:"type,omitempty"`
	Dropped bool         `json:"dropped,omitempty"`
	Aliases []string     `json:"aliases,omitempty"`
	Read    float64      `json:"read"` // heat of files in which it was read
	Used    float64      `json:"used"` // heat of scans that named it
	Bytes   int64        `json:"bytes"`
	Last    time.Time    `json:"last,omitzero"`
	Engines []EngineHeat `json:"engines"`
}

// A KnownFile is what is remembered of a file.
type KnownFile struct {
	Object    Object           `json:"object"`
	Content   string           `json:"content"`
	Format    string           `json:"format,omitempty"`
	Size      int64            `json:"size"` // -1: not stated
	Rows      int64            `json:"rows"` // -1: not stated
	Partition string           `json:"partition,omitempty"`
	Heat      float64          `json:"heat"`
	Bytes     int64            `json:"bytes"`
	Last      time.Time        `json:"last,omitzero"`
	Gone      time.Time        `json:"gone,omitzero"`
	Parts     map[string]int64 `json:"parts"` // bytes read, by kind of part
}

// An Unused is a table, or a column, that nobody reads.
type Unused struct {
	Table   string    `json:"table"`
	TableID TableID   `json:"table_id"`
	Column  string    `json:"column,omitempty"` // none: the whole table
	Since   time.Time `json:"since"`            // watched since
	Last    time.Time `json:"last,omitzero"`    // none: never
}

// The answers of /api/v1/memory.
type (
	// KnownTables are hottest first.
	KnownTables struct {
		Tables []KnownTable `json:"tables"`
	}
	// KnownColumns are by field id.
	KnownColumns struct {
		Columns []KnownColumn `json:"columns"`
	}
	// KnownFiles are hottest first.
	KnownFiles struct {
		Files []KnownFile `json:"files"`
	}
	// UnusedPage has tables, and columns of the others.
	UnusedPage struct {
		Unused []Unused `json:"unused"`
	}
)

// told answers what the memory says, or why it says nothing.
func told[T any](w http.ResponseWriter, v T, err error) {
	switch {
	case errors.Is(err, ErrUnknown):
		refuse(w, http.StatusNotFound, ErrUnknown.Error())
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, err.Error())
	default:
		answer(w, http.StatusOK, v)
	}
}

func (h *handler) knownTables(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), memoryTimeout)
	defer cancel()
	now := h.Now()
	all, err := h.Memory.KnownTables(ctx, now)
	page := KnownTables{make([]KnownTable, 0, len(all))}
	for i := range all {
		t := &all[i]
		k := KnownTable{
			Table: t.ID.Catalog + "." + t.Name, TableID: TableID(t.ID), Aliases: t.Aliases, Location: t.Location, Since: t.Since, Last: t.Last,
			Heat: t.Uses.At(now), Queries: t.Queries.At(now), Bytes: t.Bytes, Engines: heatsOf(t.Engines, now),
		}
		if t.Snapshot >= 0 {
			k.Snapshot = strconv.FormatInt(t.Snapshot, 10)
		}
		page.Tables = append(page.Tables, k)
	}
	told(w, page, err)
}

func heatsOf(all []laketap.EngineHeat, now time.Time) []EngineHeat {
	list := make([]EngineHeat, 0, len(all))
	for _, e := range all {
		list = append(list, EngineHeat{engineName(e.Engine), e.Engine.Version, e.Uses.At(now), e.Bytes, e.Last})
	}
	return list
}

func (h *handler) knownColumns(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), memoryTimeout)
	defer cancel()
	table, ok := named(w, r)
	if !ok {
		return
	}
	now := h.Now()
	all, err := h.Memory.KnownColumns(ctx, table)
	page := KnownColumns{make([]KnownColumn, 0, len(all))}
	for i := range all {
		c := &all[i]
		page.Columns = append(page.Columns, KnownColumn{
			Field: c.Field, Column: c.Name, Type: c.Type, Dropped: c.Dropped, Aliases: c.Aliases, Read: c.Read.At(now), Used: c.Used.At(now),
			Bytes: c.Bytes, Last: c.Last, Engines: heatsOf(c.Engines, now),
		})
	}
	told(w, page, err)
}

// named returns the table that a request is about.
func named(w http.ResponseWriter, r *http.Request) (table string, ok bool) {
	if table = r.URL.Query().Get("table"); table == "" {
		refuse(w, http.StatusBadRequest, "table: is missing; write CATALOG.NAMESPACE.TABLE, or its UUID")
	}
	return table, table != ""
}

func (h *handler) knownFiles(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), memoryTimeout)
	defer cancel()
	table, ok := named(w, r)
	if !ok {
		return
	}
	now := h.Now()
	all, err := h.Memory.KnownFiles(ctx, table)
	page := KnownFiles{make([]KnownFile, 0, len(all))}
	for i := range all {
		f := &all[i]
		k := KnownFile{
			Object: Object(f.Object.ObjectName), Content: "data", Format: f.Format, Size: f.Object.Size, Rows: f.Rows, Partition: f.Partition,
			Heat: f.Uses.At(now), Bytes: f.Bytes, Last: f.Last, Gone: f.Gone, Parts: map[string]int64{},
		}
		if f.Content == laketap.DeleteContent {
			k.Content = "deletes"
		}
		for kind, n := range f.Parts {
			k.Parts[kind.String()] = n
		}
		page.Files = append(page.Files, k)
	}
	told(w, page, err)
}

func (h *handler) unused(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), memoryTimeout)
	defer cancel()
	since, err := parseAge(r.URL.Query().Get("since"))
	if err != nil {
		refuse(w, http.StatusBadRequest, "since: "+err.Error())
		return
	}
	all, err := h.Memory.Unused(ctx, h.Now().Add(-since))
	page := UnusedPage{make([]Unused, 0, len(all))}
	for _, u := range all {
		page.Unused = append(page.Unused, Unused{u.Table.Catalog + "." + u.Name, TableID(u.Table), u.Column, u.Since, u.Last})
	}
	told(w, page, err)
}

// parseAge reads how long ago something was: days as in 30d, or a duration; ""
// is 30 days.
func parseAge(text string) (time.Duration, error) {
	if text == "" {
		text = "30d"
	}
	age, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		age = time.Duration(n) * 24 * time.Hour
	}
	const most = 100 * 365 * 24 * time.Hour
	if err != nil || age < 0 || age > most {
		return 0, fmt.Errorf("%q is no time; write 30d, or 12h", shown(text))
	}
	return age, nil
}

// forgetSubject removes a table or a principal from the memory.
func (h *handler) forgetSubject(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), forgetTimeout)
	defer cancel()
	table, principal := r.URL.Query().Get("table"), r.URL.Query().Get("principal")
	if (table == "") == (principal == "") {
		refuse(w, http.StatusBadRequest, "name a table or a principal to forget, one of them")
		return
	}
	err := h.Memory.Forget(ctx, table, principal)
	if err == nil {
		h.Log.InfoContext(ctx, "forgotten", "table", table != "", "principal", principal != "") // not whose name
	}
	told(w, struct{}{}, err)
}

// oblivion is a memory of nothing.
type oblivion struct{}

func (oblivion) KnownTables(context.Context, time.Time) ([]laketap.KnownTable, error) {
	return nil, nil
}

func (oblivion) KnownColumns(context.Context, string) ([]laketap.KnownColumn, error) {
	return nil, ErrUnknown
}

func (oblivion) KnownFiles(context.Context, string) ([]laketap.KnownFile, error) {
	return nil, ErrUnknown
}
func (oblivion) Unused(context.Context, time.Time) ([]laketap.Unused, error) { return nil, nil }
func (oblivion) Forget(context.Context, string, string) error                { return ErrUnknown }
