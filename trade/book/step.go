package book

import (
	"cmp"

	"wick/internal/exact"
)

// Report is what the paper broker did with an order when it arrived, when a price came
// or when it was cancelled. [State.Outcome] makes an event of it. What a broker elsewhere
// does is learned in package trade, because its answers can be lost.
type Report struct {
	Status  OrderStatus
	Size    exact.Decimal // what was filled now; zero for nothing
	Price   exact.Decimal // at which that was filled
	Fee     exact.Decimal // for that
	Reason  Reason
	Average exact.Decimal // of all that was filled of the order; zero if this is all
	Mark    Quote         // the price of the market that the fill was made from
}

// Outcome returns the step that follows from what r says of the order o: the order as
// it is then, the holding if anything was filled, and the other orders that begin,
// change or end with it. It does not change o.
func (s *State) Outcome(o *Order, r Report, at Time) (*Event, error) {
	after := *o
	after.Status, after.UpdatedAt = r.Status, at
	after.Explain(r.Reason)
	ev := &Event{At: at, Order: &after}
	if r.Size > 0 {
		if err := s.Fill(ev, r); err != nil {
			return nil, err
		}
	}
	s.follow(ev, r.Price)
	return ev, nil
}

// Fill adds what was filled to the order of ev, and the holding after it to ev. If it fails,
// nothing was added.
func (s *State) Fill(ev *Event, r Report) error {
	o := ev.Order
	h, err := s.Holdings[o.Symbol].Fill(o.Side.Sign(r.Size), r.Price, r.Fee)
	if err != nil {
		return Refuse("out_of_range", "%v; lower the quantity", ErrOverflow)
	}
	h.Synthetic = h.Synthetic || r.Mark.Synthetic
	average := cmp.Or(r.Average, r.Price)
	o.FilledQuantity, o.Fee, o.AveragePrice, ev.Holding = o.FilledQuantity+r.Size, r.Fee, &average, &h
	if r.Mark.At != 0 {
		at := r.Mark.Time()
		o.PriceAt, o.Source, o.Synthetic = &at, r.Mark.Source, r.Mark.Synthetic
	}
	return nil
}
