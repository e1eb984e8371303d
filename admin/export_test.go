package admin

// Paths returns every path that the API answers.
func Paths(d Deps) []string {
	h := &handler{Deps: d}
	routes := h.routes()
	paths := make([]string, 0, len(routes))
	for _, r := range routes {
		paths = append(paths, r.path)
	}
	return paths
}

// MaxFollowers is how many requests may wait for accesses.
const MaxFollowers = maxFollowers
