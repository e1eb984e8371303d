package admin

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/laketap/laketap"
)

// Observations are the newest accesses with their meaning.
type Observations interface {
	Observations(after uint64, limit int) laketap.ObservationPage
}

// unseen are no observations.
type unseen struct{}

func (unseen) Observations(uint64, int) laketap.ObservationPage { return laketap.ObservationPage{} }

// An Observation is an access with its meaning as the API tells it.
type Observation struct {
	Seq           uint64    `json:"seq"`
	At            time.Time `json:"at"`
	Seconds       float64   `json:"seconds"`
	Engine        string    `json:"engine"`
	EngineVersion string    `json:"engine_version,omitempty"`
	Principal     string    `json:"principal,omitempty"`
	Session       string    `json:"session,omitempty"`
	TableID       *TableID  `json:"table_id,omitempty"`
	Snapshot      int64     `json:"snapshot,omitempty"`
	Object        Object    `json:"object"`
	Size          int64     `json:"size"`
	Format        string    `json:"format,omitempty"`
	Partition     string    `json:"partition,omitempty"`
	Served        string    `json:"served"`
	Asked         int64     `json:"asked"`
	Bytes         int64     `json:"bytes"`
	Weight        float64   `json:"weight"`
	Parts         []Part    `json:"parts"`
}

// A Part is what some bytes of an observation were.
type Part struct {
	Kind     string `json:"kind"`
	RowGroup *int   `json:"row_group,omitempty"`
	Field    int    `json:"field,omitempty"`
	Offset   int64  `json:"offset"`
	Length   int64  `json:"length"`
	Bytes    int64  `json:"bytes"`
	First    bool   `json:"first"`
}

// An ObservationPage is the answer of /api/v1/observations, oldest first.
type ObservationPage struct {
	Observations []Observation `json:"observations"`
	Next         uint64        `json:"next"`
	Missed       uint64        `json:"missed"`
}

// observations answers with a page.
func (h *handler) observations(w http.ResponseWriter, r *http.Request) {
	after, limit, err := parsePage(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	page := h.Observations.Observations(after, limit)
	told := ObservationPage{Observations: make([]Observation, 0, len(page.Observations)), Next: page.Next, Missed: page.Missed}
	for i := range page.Observations {
		told.Observations = append(told.Observations, observationOf(&page.Observations[i]))
	}
	answer(w, http.StatusOK, told)
}

// parsePage reads which page is asked for.
func parsePage(query string) (after uint64, limit int, err error) {
	limit = 100
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, 0, fmt.Errorf("the query cannot be decoded: %w", err)
	}
	for name, all := range values {
		switch {
		case len(all) != 1:
			err = fmt.Errorf("%s: is given %d times", shown(name), len(all))
		case name == "after":
			if after, err = strconv.ParseUint(all[0], 10, 64); err != nil {
				err = fmt.Errorf("after: %w", worded(err, "wants a number as next of an earlier answer has it"))
			}
		case name == "limit":
			if limit, err = strconv.Atoi(all[0]); err != nil || limit < 1 || limit > maxLimit {
				err = fmt.Errorf("limit: wants a number from 1 to %d", maxLimit)
			}
		default:
			err = fmt.Errorf("%s: is not known; there are after and limit", shown(name))
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return after, limit, nil
}

// observationOf spells an observation for people.
func observationOf(o *laketap.NumberedObservation) Observation {
	told := Observation{
		Seq: o.Seq, At: o.At, Seconds: o.Latency.Seconds(), Engine: cmp.Or(o.Engine.Name, "unknown"), EngineVersion: o.Engine.Version,
		Principal: o.Principal, Session: o.Session, Snapshot: o.Snapshot,
		Object: Object{o.File.Object.Origin, o.File.Object.Bucket, o.File.Object.Key}, Size: o.File.Object.Size,
		Format: o.File.Format, Partition: o.File.Partition, Served: o.Served.String(), Asked: o.Asked, Bytes: o.Bytes, Weight: o.Weight,
		Parts: make([]Part, 0, len(o.Parts)),
	}
	if o.Table.UUID != "" {
		id := TableID(o.Table)
		told.TableID = &id
	}
	for _, p := range o.Parts {
		part := Part{Kind: p.Kind.String(), Field: p.Field, Offset: p.Extent.Off, Length: p.Extent.Len, Bytes: p.Bytes, First: p.First}
		if p.RowGroup >= 0 {
			part.RowGroup = &p.RowGroup
		}
		told.Parts = append(told.Parts, part)
	}
	return told
}
