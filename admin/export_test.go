package admin

// Paths returns every path that the API answers.
func Paths(d Deps) []string {
	h := &handler{Deps: d}
	var paths []string
	for _, r := range h.routes() {
		paths = append(paths, r.path)
	}
	return paths
}

// MaxFollowers is how many requests may wait for accesses.
const MaxFollowers = maxFollowers
