package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
)

// Blocks is the block cache, as far as people may look at it and empty it.
type Blocks interface {
	// Cache tells what is held; nil: nothing ever is.
	Cache() *Cache
	// Forget drops what is held of a table, named CATALOG.NAMESPACE.TABLE or by its
	// UUID, or of all if the name is empty. known is false if no such table has
	// been seen.
	Forget(table string) (objects int, known bool)
	// Verify reads all that is on disk, drops what is damaged, and tells now and
	// then how far it is.
	Verify(ctx context.Context, told func(Verified)) (Verified, error)
}

// Cache is what the block cache holds, and where what it gave out came from.
// Sizes are in bytes.
type Cache struct {
	Dir       string `json:"dir,omitempty"` // "": in memory only
	Objects   int    `json:"objects"`       // versions that are known
	Extents   int    `json:"extents"`
	Memory    int64  `json:"memory"`
	MaxMemory int64  `json:"max_memory"`
	Disk      int64  `json:"disk"`
	MaxDisk   int64  `json:"max_disk"`
	Given     Given  `json:"given"`
	Problem   string `json:"problem,omitempty"` // why nothing is written to Dir
}

// Given is how many bytes engines were given since the start: Asked is the sum
// of those from memory, from disk, from the origin, and from the origin around
// the cache.
type Given struct {
	Asked  int64 `json:"asked"`
	Memory int64 `json:"memory"`
	Disk   int64 `json:"disk"`
	Origin int64 `json:"origin"`
	Around int64 `json:"around"`
	Warmed int64 `json:"warmed"` // fetched before anybody asked; in none of the others
}

// Forgotten is the answer of /api/v1/cache/forget.
type Forgotten struct {
	Objects int `json:"objects"`
}

// Verified is how far /api/v1/cache/verify is, a line each; the last one has
// Done, or Error if it could not go on.
type Verified struct {
	Of      int    `json:"of"`      // extents that were held when it began
	Extents int    `json:"extents"` // read so far
	Bytes   int64  `json:"bytes"`
	Damaged int    `json:"damaged"` // dropped: they will be fetched again
	Done    bool   `json:"done"`
	Error   string `json:"error,omitempty"`
}

// noCache is told where there is none.
const noCache = "this server keeps nothing: its mode is observe or advise"

// cache answers what is held.
func (h *handler) cache(w http.ResponseWriter, _ *http.Request) {
	c := h.Blocks.Cache()
	if c == nil {
		refuse(w, http.StatusNotFound, noCache)
		return
	}
	answer(w, http.StatusOK, c)
}

// forget drops what is held of a table, or everything.
func (h *handler) forget(w http.ResponseWriter, r *http.Request) {
	if h.Blocks.Cache() == nil {
		refuse(w, http.StatusNotFound, noCache)
		return
	}
	query := r.URL.Query()
	table := query.Get("table")
	for name := range query {
		// A misspelt table would be everything.
		if name != "table" || table == "" {
			refuse(w, http.StatusBadRequest, "name a table with ?table=, or nothing for all of them")
			return
		}
	}
	objects, known := h.Blocks.Forget(table)
	if !known {
		refuse(w, http.StatusNotFound, "no such table has been seen since the start; name it as CATALOG.NAMESPACE.TABLE or by its UUID, as GET /api/v1/tables does")
		return
	}
	h.Log.InfoContext(r.Context(), "forgot what the cache held", "table", table, "objects", objects)
	answer(w, http.StatusOK, Forgotten{Objects: objects})
}

// verify streams how far it is. One at a time: it reads the whole disk.
func (h *handler) verify(verifying *sync.Mutex) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case h.Blocks.Cache() == nil:
			refuse(w, http.StatusNotFound, noCache)
			return
		case !verifying.TryLock():
			refuse(w, http.StatusConflict, "the cache is being verified already")
			return
		}
		defer verifying.Unlock()
		w.Header().Set("Content-Type", "application/x-ndjson")
		enc, flush := json.NewEncoder(w), http.NewResponseController(w)
		tell := func(v Verified) {
			_ = enc.Encode(v) // the client left: the request's context ends it
			_ = flush.Flush()
		}
		v, err := h.Blocks.Verify(r.Context(), tell)
		if v.Done = err == nil; err != nil {
			v.Error = err.Error()
		}
		h.Log.InfoContext(r.Context(), "verified the cache", "extents", v.Extents, "bytes", v.Bytes, "damaged", v.Damaged, "error", v.Error)
		tell(v)
	}
}

// nothing is the cache of a server that has none.
type nothing struct{}

func (nothing) Cache() *Cache             { return nil }
func (nothing) Forget(string) (int, bool) { return 0, false }
func (nothing) Verify(context.Context, func(Verified)) (Verified, error) {
	return Verified{}, nil
}
