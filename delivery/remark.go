package delivery

import "slices"

const (
	// maxRemarks is how many remarks wait for one caller; the oldest leave first.
	maxRemarks = 64

	// maxRemarked is for how many callers remarks wait. Callers that never open a stream
	// must not fill memory, and the hub does not learn when their tokens end. So for one
	// more caller, the remarks of the one whose newest remark is oldest are dropped.
	maxRemarked = 4096
)

// Tell writes a line to the newest stream of a caller, or to the next one it opens. It
// is for what a client can also find out by asking, such as that something has changed.
// What must not be lost has to be a notification instead.
func (h *Hub) Tell(caller, key string, line []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	waiting, known := h.remarks[caller]
	if !known && len(h.remarks) >= maxRemarked {
		h.forgetRemarks()
	}
	// A newer line of the same key takes the place of the older one.
	same := func(r remark) bool { return r.key == key }
	h.remarked++
	waiting = append(slices.DeleteFunc(slices.Clone(waiting), same), remark{key, line, h.remarked})
	h.remarks[caller] = waiting[max(0, len(waiting)-maxRemarks):]
	if s := h.reader(caller); s != nil {
		s.ring()
	}
}

// forgetRemarks drops the remarks of the caller whose newest remark is oldest. mu is
// held.
func (h *Hub) forgetRemarks() {
	var oldest string
	least := h.remarked + 1
	for caller, waiting := range h.remarks {
		if last := waiting[len(waiting)-1].number; last < least {
			oldest, least = caller, last
		}
	}
	delete(h.remarks, oldest)
}

// said removes remarks that were written. A remark that was made again during the write
// stays: the client may have looked before that change. mu is held.
func (h *Hub) said(caller string, written []remark) {
	left := slices.DeleteFunc(slices.Clone(h.remarks[caller]), func(r remark) bool {
		return slices.ContainsFunc(written, func(w remark) bool { return w.number == r.number })
	})
	if len(left) == 0 {
		delete(h.remarks, caller)
	} else {
		h.remarks[caller] = left
	}
}
