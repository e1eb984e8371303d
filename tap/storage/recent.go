package storage

import "sync"

// A recent remembers what was put into it lately, in at most two generations. It
// is safe for concurrent use; the zero value is empty.
type recent[K comparable, V any] struct {
	mu       sync.Mutex
	now, old map[K]V // INVARIANT: len(each) <= recentGeneration
}

const recentGeneration = 2048

func (r *recent[K, V]) get(k K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.now[k]; ok {
		return v, true
	}
	v, ok := r.old[k]
	if ok {
		r.add(k, v)
	}
	return v, ok
}

func (r *recent[K, V]) put(k K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(k, v)
}

// add remembers something; the caller holds the lock.
func (r *recent[K, V]) add(k K, v V) {
	if r.now == nil || len(r.now) >= recentGeneration {
		r.now, r.old = make(map[K]V), r.now
	}
	r.now[k] = v
}
