package trade

import (
	"fmt"

	"wick/exact"
)

// checkRests refuses an order that must not be filled on arrival but would be: one that
// is post_only, and the limit of an oco, because its stop would be left with nothing to
// protect. Fill is the price at which it would be filled, zero if it would rest; price is
// the market's.
func checkRests(o *Order, with OCO, fill, price exact.Decimal) error {
	switch {
	case fill == 0:
		return nil
	case o.PostOnly:
		return refuse("post_only", fixIt, "the market at %s has reached the limit of %s, and a post_only order must not fill at once: choose a limit further away",
			price, *o.Price)
	case with != OCO{}:
		return refuse("bad_oco", fixIt, "the market at %s has reached the limit of %s, which would fill at once and leave nothing for the stop beside it: "+
			"choose a limit further away, or leave oco out", price, *o.Price)
	}
	return nil
}

// arrival returns the step by which o comes into the book: filled at a price, or
// open, or cancelled at once. The order that it replaces ends in the same step.
func (e *Engine) arrival(o *Order, fill exact.Decimal, q quote, at Time) (*event, error) {
	r, err := e.reportArrival(o, fill, q)
	if err != nil {
		return nil, err
	}
	r.mark = q
	ev, err := e.ahead.outcome(o, r, at)
	if err == nil && o.Replaces != "" {
		ev.end(e.ahead.order(o.Replaces), "replaced by "+o.ID)
	}
	return ev, err
}

// reportArrival returns what the paper broker does with o on arrival. If fill is not
// zero, the market has reached o, which is filled at that price as far as the recent
// volume allows. The rest waits; the rest of an ioc is cancelled, and a fok is filled
// whole or not at all.
func (e *Engine) reportArrival(o *Order, fill exact.Decimal, q quote) (report, error) {
	// size is as much of the order as the recent volume still allows.
	size, hurried := e.available(o), o.TimeInForce == IOC || o.TimeInForce == FOK
	switch {
	case fill == 0 && hurried:
		return report{status: StatusCancelled, reason: fmt.Sprintf("%s: the market at %s has not reached the limit", o.TimeInForce, q.price)}, nil
	case fill == 0:
		return report{status: StatusOpen}, nil
	case size == 0 && !hurried:
		return report{status: StatusOpen, reason: "too little was traded lately, it waits for more"}, nil
	case size == o.Quantity:
		return e.paper.report(StatusFilled, size, fill, e.paper.feeRate)
	case size == 0 || o.TimeInForce == FOK:
		return report{status: StatusCancelled, reason: fmt.Sprintf("%s: too little was traded lately, %s could be filled", o.TimeInForce, size)}, nil
	case o.TimeInForce == IOC:
		r, err := e.paper.report(StatusCancelled, size, fill, e.paper.feeRate)
		r.reason = "ioc: too little was traded lately for the rest"
		return r, err
	}
	r, err := e.paper.report(StatusPartiallyFilled, size, fill, e.paper.feeRate)
	r.reason = tooLittle
	return r, err
}

// beside adds the stop of an OCO, if there is one, to ev, the arrival of its limit.
func beside(ev *event, with OCO) {
	if with != (OCO{}) {
		ev.put(ev.Order.partner(with))
	}
}
