package catalog

import (
	"strconv"
)

// pageOf cuts a sorted list by the request's pageToken and pageSize. A client
// that sends no pageToken cannot follow pages, so it gets everything. The
// token is an offset: a list that changes between pages may repeat or miss an
// entry, as the protocol allows.
func pageOf[T any](r *request, all []T) (page []T, next *string, err error) {
	query := r.URL.Query()
	if !query.Has("pageToken") {
		return all, nil, nil
	}
	from, size := 0, len(all)
	if text := query.Get("pageToken"); text != "" {
		if from, err = strconv.Atoi(text); err != nil || from < 0 {
			return nil, nil, badRequest("pageToken %q was not given out by this catalog", text)
		}
	}
	if text := query.Get("pageSize"); text != "" {
		if size, err = strconv.Atoi(text); err != nil || size < 1 {
			return nil, nil, badRequest("pageSize %q is not a positive number", text)
		}
	}
	from = min(from, len(all))
	// Not from+size, which a large pageSize takes beyond what an int holds.
	to := from + min(size, len(all)-from)
	if to < len(all) {
		token := strconv.Itoa(to)
		next = &token
	}
	return all[from:to], next, nil
}
