package trade

import "wick/exact"

// outcome returns the step that takes the order o to what r says, with the
// holding that it leads to if anything more was filled. It does not change o.
func (s *state) outcome(o *Order, r report, at Time) (*event, error) {
	after := *o
	after.Status, after.FilledQuantity, after.Fee, after.Reason, after.UpdatedAt = r.status, r.filled, r.fee, r.reason, at
	ev := &event{At: at, Order: &after}
	size := r.filled - o.FilledQuantity
	if size <= 0 {
		return ev, nil
	}
	// The price of what is new follows from the two averages.
	cost, ok := exact.Product(r.filled, r.average), true
	if o.AveragePrice != nil {
		cost, ok = cost.Sub(exact.Product(o.FilledQuantity, *o.AveragePrice))
	}
	price, fits := cost.Per(size)
	h, err := s.holdings[o.Symbol].fill(o.Side.sign(size), price, r.fee-o.Fee)
	if !ok || !fits || err != nil {
		return nil, refuse("out_of_range", fixIt, "%v; lower the quantity", errOverflow)
	}
	after.AveragePrice, ev.Holding = &r.average, &h
	if r.mark.at != 0 {
		at := r.mark.time()
		after.PriceAt, after.Source, after.Synthetic = &at, r.mark.source, r.mark.synthetic
	}
	return ev, nil
}
