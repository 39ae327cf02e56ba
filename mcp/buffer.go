package mcp

import "sync"

// maxPooled is the largest buffer, in bytes, that goes back to the pool. It holds all
// but lists and pictures. A larger one must not come to a stranger who then keeps it
// by reading slowly: he would hold what is not counted as his.
const maxPooled = 16 << 10

// buffer is a byte slice on loan from the pool. It is reached by pointer because
// a slice put into a sync.Pool would itself be allocated.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, freeBytes)} }}

// borrow returns an empty buffer, to be given back by release.
func borrow() *buffer { return buffers.Get().(*buffer) }

// release gives the buffer back. Nothing may hold it or its bytes any longer.
func (b *buffer) release() {
	if cap(b.b) <= maxPooled {
		b.b = b.b[:0]
		buffers.Put(b)
	}
}
