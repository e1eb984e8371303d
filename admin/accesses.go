package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/laketap/laketap"
)

const (
	ndjson       = "application/x-ndjson"
	maxLimit     = 10_000
	maxWait      = time.Minute
	writeTimeout = 30 * time.Second // for one batch of a stream, so that a client that stopped reading goes
)

// An ask is a parsed request for accesses.
type ask struct {
	laketap.AccessQuery

	wait   time.Duration // answer an empty page only after so long
	follow bool          // stream for as long as the client stays
}

// accesses answers with a page, at once or when there is something new, or
// with a stream of lines.
func (h *handler) accesses(w http.ResponseWriter, r *http.Request) {
	q, err := parseAsk(r.URL.RawQuery)
	if err == nil && q.follow && !accepts(r, ndjson) {
		err = errors.New("follow: a stream needs the header Accept: " + ndjson)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if q.follow || q.wait > 0 {
		select {
		case h.followers <- struct{}{}:
			defer func() { <-h.followers }()
		default:
			w.Header().Set("Retry-After", "5")
			refuse(w, http.StatusTooManyRequests, "too many requests wait for accesses already")
			return
		}
	}
	if q.follow {
		h.stream(w, r, q.AccessQuery)
		return
	}
	answer(w, http.StatusOK, h.page(r.Context(), q))
}

// page collects a page; if it is empty, it waits for one that is not.
func (h *handler) page(ctx context.Context, q ask) Page {
	ctx, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	page := h.Observer.Accesses(q.AccessQuery)
	for len(page.Accesses) == 0 && h.Observer.Wait(ctx, page.Next) == nil && ctx.Err() == nil {
		missed := page.Missed
		q.Newest, q.After = false, page.Next
		page = h.Observer.Accesses(q.AccessQuery)
		page.Missed += missed
	}
	told := Page{Accesses: make([]Access, 0, len(page.Accesses)), Next: page.Next, Missed: page.Missed}
	for i := range page.Accesses {
		told.Accesses = append(told.Accesses, accessOf(&page.Accesses[i]))
	}
	return told
}

// stream writes a line an access until the client leaves or the server ends.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, q laketap.AccessQuery) {
	w.Header().Set("Content-Type", ndjson)
	conn := http.NewResponseController(w)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for {
		page := h.Observer.Accesses(q)
		q.Newest, q.After = false, page.Next
		// Not every ResponseWriter has deadlines (in tests, behind wrappers).
		_ = conn.SetWriteDeadline(h.Now().Add(writeTimeout))
		if err := writeLines(enc, &page); err != nil {
			return // the client left
		}
		if err := conn.Flush(); err != nil {
			return
		}
		if len(page.Accesses) == 0 && h.Observer.Wait(r.Context(), q.After) != nil {
			return
		}
		if r.Context().Err() != nil {
			return
		}
	}
}

func writeLines(enc *json.Encoder, page *laketap.AccessPage) error {
	if page.Missed > 0 {
		if err := enc.Encode(Missed{page.Missed}); err != nil {
			return err
		}
	}
	for i := range page.Accesses {
		if err := enc.Encode(accessOf(&page.Accesses[i])); err != nil {
			return err
		}
	}
	return nil
}

// accepts reports whether a request names a media type in Accept.
func accepts(r *http.Request, want string) bool {
	for _, line := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(line, ",") {
			if media, _, err := mime.ParseMediaType(item); err == nil && media == want {
				return true
			}
		}
	}
	return false
}

// parseAsk reads the query string. It is strict: a misspelt filter would
// answer with everything.
func parseAsk(query string) (ask, error) {
	q := ask{AccessQuery: laketap.AccessQuery{Newest: true, Limit: 100}}
	// URL.Query would drop what it cannot decode.
	values, err := url.ParseQuery(query)
	if err != nil {
		return ask{}, errors.New("the query cannot be decoded; write name=value, joined by &, other characters as %XX")
	}
	for name, all := range values {
		if len(all) != 1 {
			return ask{}, fmt.Errorf("%s: is given %d times", shown(name), len(all))
		}
		if err := q.set(name, all[0]); err != nil {
			return ask{}, fmt.Errorf("%s: %w", shown(name), err)
		}
	}
	return q, nil
}

// shown shortens what a client wrote, so that an answer is not as long as the
// question may be.
func shown(text string) string {
	const limit = 64
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

func (q *ask) set(name, value string) (err error) {
	switch name {
	case "after":
		q.Newest = false
		q.After, err = strconv.ParseUint(value, 10, 64)
		return worded(err, "wants a number as next of an earlier answer has it")
	case "limit":
		q.Limit, err = strconv.Atoi(value)
		if err != nil || q.Limit < 1 || q.Limit > maxLimit {
			return fmt.Errorf("wants a number from 1 to %d", maxLimit)
		}
	case "wait":
		q.wait, err = time.ParseDuration(value)
		if err != nil || q.wait < 0 || q.wait > maxWait {
			return fmt.Errorf("wants a duration up to %v, such as 30s", maxWait)
		}
	case "follow":
		q.follow, err = strconv.ParseBool(value)
		return worded(err, "wants true or false")
	case "tap":
		q.Tap = laketap.Tap(value)
		if q.Tap != laketap.CatalogTap && q.Tap != laketap.StorageTap {
			return errors.New("wants catalog or storage")
		}
	case "op":
		q.Op = value
	case "engine":
		q.Engine = value
	case "table":
		q.Table = value
	default:
		return errors.New("is not known; there are after, limit, wait, follow, tap, op, engine and table")
	}
	return nil
}

// worded replaces an error by one for people.
func worded(err error, text string) error {
	if err == nil {
		return nil
	}
	return errors.New(text)
}
