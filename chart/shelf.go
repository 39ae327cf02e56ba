package chart

import (
	"sync"
	"weak"
)

// shelf keeps canvases for the next picture, for as long as the garbage
// collector leaves them. There are never more canvases than pictures were
// painted at once: a sync.Pool has a place per processor that the others cannot
// reach, and at 16 MiB a canvas each of these is felt.
type shelf struct {
	mu   sync.Mutex
	idle []weak.Pointer[canvas] // guarded by mu; the last was used last
}

// take returns a canvas from the shelf, or a new one.
func (s *shelf) take() *canvas {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := len(s.idle); n > 0; n = len(s.idle) {
		c := s.idle[n-1].Value()
		s.idle = s.idle[:n-1]
		if c != nil {
			return c
		}
	}
	return new(canvas)
}

// give puts a canvas back.
func (s *shelf) give(c *canvas) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, weak.Make(c))
}
