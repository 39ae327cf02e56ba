package trade

import (
	"context"
	"errors"
	"fmt"
	"wick/exact"
)

// Broker is a real broker. The engine gives every order an id of its own,
// writes down that it is about to send it, and only then calls Submit; after a
// crash or a lost answer it asks Lookup before it does anything else. So an
// order is never sent twice unless the broker says that it does not know it.
//
// Methods may be called from many goroutines.
type Broker interface {
	// Name is what orders and positions carry as their broker.
	Name() string
	// Submit sends an order under its ID. An error means that the outcome is
	// unknown; a broker that declines reports StatusRejected.
	Submit(ctx context.Context, o Order) (Report, error)
	// Cancel asks for the end of an order.
	Cancel(ctx context.Context, id string) (Report, error)
	// Lookup says how an order stands, or ErrUnknownOrder.
	Lookup(ctx context.Context, id string) (Report, error)
}

// ErrUnknownOrder is a Broker's certain word that it never got an order.
var ErrUnknownOrder = errors.New("the broker does not know the order")

// Report is how an order stands at the broker. Figures are totals since its
// beginning.
type Report struct {
	Status         OrderStatus
	FilledQuantity exact.Decimal
	AveragePrice   exact.Decimal
	Fee            exact.Decimal
	Reason         string
}

// outcomeUnknown marks an order that was sent and not yet answered.
const outcomeUnknown = "outcome unknown"

func (e *Engine) brokerName() string {
	if e.options.Broker == nil {
		return "paper"
	}
	return e.options.Broker.Name()
}

// send submits an order whose intent is on disk. A lost answer is looked up,
// and the order sent again only if the broker never got it.
func (e *Engine) send(ctx context.Context, o *Order) (Order, error) {
	report, err := e.options.Broker.Submit(ctx, *o)
	if err != nil {
		report, err = e.options.Broker.Lookup(ctx, o.ID)
		if errors.Is(err, ErrUnknownOrder) {
			report, err = e.options.Broker.Submit(ctx, *o)
		}
	}
	if err != nil {
		e.log.Warn("order sent, outcome unknown", "order", o.ID, "error", err)
		return *o, nil // it stays open with its reason; Run goes on asking
	}
	return e.answer(o.ID, report)
}

// recall cancels an order at the broker.
func (e *Engine) recall(ctx context.Context, o *Order) (Order, error) {
	report, err := e.options.Broker.Cancel(ctx, o.ID)
	if err != nil {
		return *o, refuse("broker_failed", later, "the broker did not confirm the cancel: %v", err)
	}
	return e.answer(o.ID, report)
}

// answer writes down how an order stands and returns it.
func (e *Engine) answer(id string, r Report) (Order, error) {
	e.mu.Lock()
	o, seq, err := e.takeAnswer(id, r)
	e.mu.Unlock()
	if err != nil {
		return Order{}, err
	}
	return *o, e.commit(seq)
}

// takeAnswer turns the difference between two reports into a fill. Called with
// mu held.
func (e *Engine) takeAnswer(id string, r Report) (*Order, uint64, error) {
	old := e.ahead.order(id)
	if old == nil || old.Status.Terminal() {
		return old, e.ahead.seq, nil
	}
	o := *old
	o.Status, o.FilledQuantity, o.Fee, o.Reason = r.Status, r.FilledQuantity, r.Fee, r.Reason
	ev := &event{At: now(), Order: &o}
	if filled := r.FilledQuantity - old.FilledQuantity; filled > 0 {
		cost := exact.Product(r.FilledQuantity, r.AveragePrice)
		if old.AveragePrice != nil {
			cost, _ = cost.Sub(exact.Product(old.FilledQuantity, *old.AveragePrice))
		}
		price, ok := cost.Per(filled)
		h, err := e.ahead.holdings[o.Symbol].fill(o.Side.sign(filled), price, r.Fee-old.Fee)
		if !ok || err != nil {
			return nil, 0, fmt.Errorf("broker's report of order %s: %w", id, errOverflow)
		}
		o.AveragePrice, ev.Holding = &r.AveragePrice, &h
	}
	if o.Status == old.Status && ev.Holding == nil && o.Reason == old.Reason {
		return old, e.ahead.seq, nil
	}
	o.UpdatedAt = ev.At
	seq, err := e.propose(kindAnswered, ev)
	return &o, seq, err
}

// inquire asks the broker about every open order. Run does so before anything
// else, because a crash may have come between an intent and its answer, and
// again every few seconds. Only the first time is an order that the broker
// never got given up: later it may be on its way. It is not sent again then:
// whoever asked for it has gone, and the market with him.
func (e *Engine) inquire(ctx context.Context, first bool) {
	for _, o := range e.Orders(true) {
		report, err := e.options.Broker.Lookup(ctx, o.ID)
		if first && errors.Is(err, ErrUnknownOrder) && o.Reason == outcomeUnknown {
			report, err = Report{Status: StatusRejected, Reason: "never reached the broker"}, nil
		}
		if err == nil {
			_, err = e.answer(o.ID, report)
		}
		if err != nil {
			e.log.Warn("order could not be looked up", "order", o.ID, "error", err)
		}
	}
}
