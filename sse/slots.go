package sse

// slots is a row that grows at its end and shrinks at its front. It is held in
// pieces, so that growing copies nothing: an event for everybody makes all
// mailboxes grow at once, and none shall wait for that.
type slots struct {
	pieces []*[pieceLen]slot
	first  int // place of the first slot in the first piece
	len    int
}

const pieceLen = 16

// at returns the slot of an index.
func (r *slots) at(i int) *slot {
	i += r.first
	return &r.pieces[i/pieceLen][i%pieceLen]
}

// insert makes s the slot of an index; those from there on move up.
func (r *slots) insert(i int, s slot) {
	if r.first+r.len == len(r.pieces)*pieceLen {
		r.pieces = append(r.pieces, new([pieceLen]slot))
	}
	r.len++
	for n := r.len - 1; n > i; n-- {
		*r.at(n) = *r.at(n - 1)
	}
	*r.at(i) = s
}

// shift takes the first slot out.
func (r *slots) shift() {
	*r.at(0) = slot{} // lets go of the item
	r.len--
	if r.first++; r.first == pieceLen {
		r.pieces[0] = nil
		r.pieces, r.first = r.pieces[1:], 0
	}
}
