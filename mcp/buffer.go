package mcp

import "sync"

// maxPooled is the largest buffer, in bytes, that goes back to the pool: one
// big chart must not hold its megabyte for the rest of the process's life.
const maxPooled = 256 << 10

// buffer is a byte slice on loan from the pool, with room for the message that
// is read from it. It is reached by pointer because a slice put into a
// sync.Pool would itself be allocated.
type buffer struct {
	b      []byte
	single [1]message
}

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, 4<<10)} }}

// borrow returns an empty buffer, to be given back by release.
func borrow() *buffer { return buffers.Get().(*buffer) }

// release gives the buffer back. Nothing may hold it or its bytes any longer.
func (b *buffer) release() {
	if cap(b.b) <= maxPooled {
		*b = buffer{b: b.b[:0]}
		buffers.Put(b)
	}
}
