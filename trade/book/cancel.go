package book

import (
	"cmp"
	"fmt"
	"wick/internal/limit"
)

// Cancel takes the step that an open order is cancelled, for a reason: none if the client that placed
// it asked for it.
func (b *Book) Cancel(o *Order, who Who, reason Reason, at Time) (*Event, error) {
	if by := who.Short(); reason.Code == "" && !by.SameClient(o.By) { // it must hear of it
		reason = Because(CancelledBy, cmp.Or(limit.Clip(who.Name), "another client"))
	}
	ev, _ := b.Outcome(o, Report{Status: StatusCancelled, Reason: reason}, at) // fills nothing, so cannot fail
	ev.By = who.Short()
	b.settleStop(ev.Order)
	return ev, b.ProposeOrders(KindCancelled, ev, 0, reason.Code == "") // no order begins with it
}

// Expire cancels the open orders of a symbol that have expired by instant, a time of the
// market; at is the time of the records. A broker elsewhere ends its orders itself.
func (b *Book) Expire(symbol string, instant, at Time) error {
	// They are gathered first, because ending one may end others and change the list.
	var over []*Order
	for _, o := range b.Open[symbol] {
		if o.Account == "" && o.Expired(instant.UnixMilli()) {
			over = append(over, o)
		}
	}
	for _, o := range over {
		if o = b.Order(o.ID); o.Status.Terminal() { // it ended with an order before it
			continue
		}
		if _, err := b.Cancel(o, Who{}, Because(Expired), at); err != nil {
			return fmt.Errorf("order %s has expired: %w", o.ID, err)
		}
	}
	return nil
}
