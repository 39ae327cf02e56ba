package trade

import "time"

// duplicateWindow is how long an order without a client_order_id keeps an equal
// one of the same client from being taken: models repeat a call within seconds
// when they missed the answer, and seldom mean a second order.
const duplicateWindow = 5 * time.Second

// repeats reports whether an order equal to r, without an id and of the same
// client, was accepted within the window. It looks at the orders themselves,
// which are in the journal: a model that repeats a call after a restart or with a
// new login is the same client. Called with mu held.
func (e *Engine) repeats(r OrderRequest, at Time) bool {
	by := r.Who.short()
	for i := len(e.ahead.orders) - 1; i >= 0; i-- {
		o := e.ahead.orders[i]
		age := at.Sub(o.CreatedAt.Time)
		if age >= duplicateWindow {
			return false // so are all before it
		}
		// One from the future is of a time before the clock was set back.
		if r.All && o.Status.Terminal() { // what it closed is closed: there is another position now
			continue
		}
		if o.ClientOrderID == "" && age > -duplicateWindow && o.Symbol == r.Symbol && o.same(r) && o.By.sameClient(by) {
			return true
		}
	}
	return false
}

// sameClient reports whether two requests came from one program. A program is
// known by what outlives its login, or else by the login.
func (w *Who) sameClient(other *Who) bool {
	switch {
	case w == nil || other == nil:
		return w == other
	case w.Client != "" || other.Client != "":
		return w.Client == other.Client
	}
	return w.ID == other.ID
}
