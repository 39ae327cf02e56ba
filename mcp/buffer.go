package mcp

import "sync"

// maxPooled is the largest buffer, in bytes, that goes back to the pool. All replies
// but lists and pictures fit into it. A larger buffer is not given out again: a stranger
// who reads slowly would hold memory that is not counted as his.
const maxPooled = 16 << 10

// buffer is a byte slice on loan from the pool. The pool holds pointers to it, because
// putting a slice into a sync.Pool would allocate.
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
