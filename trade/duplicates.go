package trade

import (
	"maps"
	"time"
)

// duplicateWindow is how long an order without a client_order_id keeps an equal
// one of the same client from being taken: models repeat a call within seconds
// when they missed the answer, and seldom mean a second order.
const duplicateWindow = 5 * time.Second

// recent has the orders of the last seconds that came without an id.
type recent map[OrderRequest]Time

// has reports whether an order equal to r was accepted within the window.
func (d recent) has(r OrderRequest, at Time) bool {
	r.DryRun = false
	seen, ok := d[r]
	return ok && seen.age(at) < duplicateWindow
}

// add remembers r and forgets what is too old to matter.
func (d recent) add(r OrderRequest, at Time) {
	maps.DeleteFunc(d, func(_ OrderRequest, seen Time) bool { return seen.age(at) >= duplicateWindow })
	d[r] = at
}
