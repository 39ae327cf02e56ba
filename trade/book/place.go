package book

import (
	"slices"
	"wick/internal/exact"
)

// Placed is an order that was placed, and what becomes of the other orders of its symbol.
type Placed struct {
	Order
	Ended []string `json:"ended,omitempty"`     // ids of the exits that end with the position, closed or turned around
	Left  []string `json:"left_open,omitempty"` // ids of the orders that stay open without a position, if it closes that
}

// Placed returns what clients see of a step by which an order was placed.
func (b *Book) Placed(ev *Event) Placed {
	p := Placed{Order: ev.Order.Public()}
	ends := []string{ev.Order.ID}
	for _, with := range ev.Ends {
		if ends = append(ends, with.ID); with.Code != Replaced || ev.Order.Status == StatusCancelled { // then nothing takes its place
			p.Ended = append(p.Ended, with.ID)
		}
	}
	if ev.Holding == nil || ev.Holding.Quantity != 0 {
		return p
	}
	for _, o := range b.Open[ev.Order.Symbol] {
		if !slices.Contains(ends, o.ID) {
			p.Left = append(p.Left, o.ID)
		}
	}
	return p
}

// Arrive returns the step by which o comes into the book: filled at a price, or open, or
// cancelled at once. The order that it replaces ends in the same step.
func (b *Book) Arrive(r OrderRequest, o *Order, q Quote, fill exact.Decimal) (ev *Event, err error) {
	if err := b.Check(r, o, q.Price, fill, o.CreatedAt); err != nil {
		return nil, err
	}
	if err := checkRests(o, r.OCO, fill, q.Price); err != nil {
		return nil, err
	}
	did := Report{Status: StatusOpen, Mark: q}
	switch {
	case fill != 0:
		if did, err = b.report(StatusFilled, o.Quantity, fill, b.Rules.FeeRate); err != nil {
			return nil, err
		}
		did.Mark = q
	case o.TimeInForce == IOC || o.TimeInForce == FOK:
		did.Status, did.Reason = StatusCancelled, Because(NotReached, string(o.TimeInForce), q.Price.String())
	}
	if ev, err = b.Outcome(o, did, o.CreatedAt); err != nil {
		return nil, err
	}
	if o.Replaces != "" {
		ev.Cancel(b.Order(o.Replaces), Replaced)
	}
	if r.OCO != (OCO{}) { // the stop beside the limit arrives with it
		ev.Open(ev.Order.Partner(r.OCO))
	}
	return ev, nil
}
