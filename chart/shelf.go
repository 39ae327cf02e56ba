package chart

import (
	"sync"
	"weak"
)

// shelf keeps canvases for later pictures until the garbage collector takes
// them. It never holds more than were in use at once. A sync.Pool would keep
// one or two per processor, out of reach of the other processors, which at
// 16 MiB a canvas is too much.
type shelf struct {
	mu   sync.Mutex
	idle []weak.Pointer[canvas] // guarded by mu; the most recently used is last
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

// give puts c back. The caller must not use it afterwards.
func (s *shelf) give(c *canvas) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, weak.Make(c))
}
