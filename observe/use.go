package observe

import (
	"cmp"
	"slices"

	"github.com/laketap/laketap"
)

// other is the engine and the table that what lies past a bound is summed
// up under.
const other = "other"

// count adds an access to the tap's half of an engine's use.
func count(e *laketap.EngineUse, a *laketap.Access) {
	u := &e.Storage
	if a.Tap == laketap.CatalogTap {
		u = &e.Catalog
	}
	u.Requests++
	if failed(a) {
		u.Errors++
	}
	u.BytesIn += a.BytesIn
	u.BytesOut += a.BytesOut
	u.Served[min(int(a.Served), len(u.Served)-1)] += a.BytesOut
	u.Status[statusClass(a.Status)]++
	u.Busy += a.Latency
	u.Latency[latencyBucket(a)]++
	if u.First.IsZero() || a.At.Before(u.First) {
		u.First = a.At
	}
	if a.At.After(u.Last) {
		u.Last = a.At
	}
}

// failed reports whether an access counts as an error. 404 does not: engines
// probe for views, namespaces and version hints that need not exist.
func failed(a *laketap.Access) bool {
	return a.Err != "" && a.Status != 404 || a.Status == 0 || a.Status >= 400 && a.Status != 404
}

// statusClass returns the first digit of a status, 0 for anything that is none.
func statusClass(status int) int {
	if status < 100 || status > 599 {
		return 0
	}
	return status / 100
}

// latencyBucket returns the index of the first bound that the access kept.
func latencyBucket(a *laketap.Access) int {
	for i, bound := range laketap.LatencyBounds {
		if a.Latency <= bound {
			return i
		}
	}
	return len(laketap.LatencyBounds)
}

// merge adds the use of one engine to that of another.
func merge(into, from *laketap.EngineUse) {
	mergeUse(&into.Catalog, &from.Catalog)
	mergeUse(&into.Storage, &from.Storage)
}

func mergeUse(into, from *laketap.Use) {
	into.Requests += from.Requests
	into.Errors += from.Errors
	into.BytesIn += from.BytesIn
	into.BytesOut += from.BytesOut
	for i, n := range from.Served {
		into.Served[i] += n
	}
	for i, n := range from.Status {
		into.Status[i] += n
	}
	for i, n := range from.Latency {
		into.Latency[i] += n
	}
	into.Busy += from.Busy
	if into.First.IsZero() || !from.First.IsZero() && from.First.Before(into.First) {
		into.First = from.First
	}
	if from.Last.After(into.Last) {
		into.Last = from.Last
	}
}

// uses is what some engines did. Who holds it guards it.
type uses map[laketap.Engine]*laketap.EngineUse

// of returns the use of an engine, made if need be.
func (u uses) of(e laketap.Engine) *laketap.EngineUse {
	use, ok := u[e]
	if !ok {
		use = &laketap.EngineUse{Engine: e}
		u[e] = use
	}
	return use
}

// list returns a copy of every use, by engine. Some engines tell their version
// only at one tap, or only from one of their processes (Spark: at the store,
// from the driver): what came without one is listed with the only version that
// the engine told, and apart if it told several.
func (u uses) list() []laketap.EngineUse {
	told := map[string][]laketap.Engine{}
	for e := range u {
		if e.Version != "" {
			told[e.Name] = append(told[e.Name], e)
		}
	}
	listed := uses{}
	for e, use := range u {
		if versions := told[e.Name]; e.Version == "" && len(versions) == 1 {
			e = versions[0]
		}
		merge(listed.of(e), use)
	}
	all := make([]laketap.EngineUse, 0, len(listed))
	for _, use := range listed {
		all = append(all, *use)
	}
	slices.SortFunc(all, func(a, b laketap.EngineUse) int {
		return cmp.Or(cmp.Compare(a.Engine.Name, b.Engine.Name), cmp.Compare(a.Engine.Version, b.Engine.Version))
	})
	return all
}
