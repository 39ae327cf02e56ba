package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"

	"golang.org/x/sync/errgroup"
)

const (
	cancelsAtOnce = 4 // requests take a while to be answered
	// cancelTime is how long one call may take, including the questions what came of its cancels.
	// It is less than the 45 s after which the page gives up.
	cancelTime = 25 * time.Second
)

// Cancel asks the broker to cancel these orders.
func (v *venue) Cancel(who book.Who, ids []string) ([]book.Order, error) {
	return v.cancel(who, ids, book.CancelledBy)
}

// cancel asks the broker to cancel orders, a few at a time, and returns them as the broker then
// reports them: one may still be open, with its cancel under way. It goes on after one that
// could not be cancelled, and returns the last error at the end. If its time is over, it leaves the
// rest and says so. It does not take the caller's context: a client that hangs up must not stop a
// cancel halfway. Why is as in [doubt].
func (v *venue) cancel(who book.Who, ids []string, why book.Code) (cancelled []book.Order, failed error) {
	ctx, done := context.WithTimeout(context.Background(), cancelTime)
	defer done()
	after, errs := make([]book.Order, len(ids)), make([]error, len(ids))
	var g errgroup.Group
	g.SetLimit(cancelsAtOnce)
	for i, id := range ids {
		g.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				after[i], errs[i] = v.cancelOne(ctx, who, id, why)
			}
			return nil
		})
	}
	_ = g.Wait() // none fails
	left, ended := 0, 0
	for i, o := range after {
		switch {
		case errs[i] != nil && errs[i] == ctx.Err(): // it was not asked for
			left++
		case errs[i] != nil:
			failed = errs[i]
		case o.Status == book.StatusCancelled:
			ended++
			cancelled = append(cancelled, o)
		case o.ID != "" && !o.Status.Terminal():
			cancelled = append(cancelled, o)
		}
	}
	if left > 0 {
		failed = book.Refuse("cancel_unfinished", "%d of %d open orders were not asked to be cancelled within %s, because %s takes only so many requests; %d are cancelled so far: cancel the rest by another call",
			left, len(ids), cancelTime, v.Book.Remote.Name, ended)
	}
	return cancelled, failed
}

// cancelOne asks the broker to cancel an order and returns it as the broker then reports it; a
// zero order if it had ended with another.
func (v *venue) cancelOne(ctx context.Context, who book.Who, id string, why book.Code) (after book.Order, err error) {
	var o *book.Order
	v.Look(func() { o = v.Book.Order(id) })
	if o == nil || o.Status.Terminal() {
		return after, nil
	}
	// If it is not known whether the order arrived, the broker's id of it is not known
	// either: it is looked up first. Somebody else's order with the same id stays as it is.
	if o.Unknown() {
		s, err := v.broker.Lookup(ctx, wire(o))
		if err == nil {
			v.tell(id, s)
			v.Look(func() { o = v.Book.Order(id) })
			err = errors.New(o.Words())
		}
		if o.Unknown() {
			v.soon()
			return after, book.Refuse("outcome_unknown", "whether order %s is at %s is not known yet, so it cannot be cancelled: %s", id, v.Book.Remote.Name, limit.Line(err.Error(), 200))
		}
	}
	v.Look(func() {
		if o = v.Book.Order(id); !o.Status.Terminal() {
			v.of(o).asked = why
		}
	})
	if o.Status.Terminal() {
		return v.order(id)
	}
	v.Log.Info("cancel sent", "order", id, "broker", o.Broker, "by", limit.Clip(who.Name))
	asked := v.broker.Cancel(ctx, o.BrokerID)
	// Whatever the answer to the cancel says, the state afterwards decides: the order may
	// have been filled, or have ended with another, while the cancel was on its way.
	if !v.streamEnds(id) {
		s, err := v.broker.Lookup(ctx, wire(o))
		if err != nil || !v.tell(id, s) {
			v.soon()
		}
		if asked == nil {
			asked = err
		}
	}
	after, err = v.order(id)
	switch no := (*Refused)(nil); {
	case err != nil || after.Status.Terminal() || asked == nil:
	case errors.As(asked, &no):
		err = book.Later.Refuse("broker_rule", "the cancel of order %s was refused: %s", id, no.Text)
	default:
		err = book.Refuse("outcome_unknown", "what became of the cancel of order %s is not known yet: get_orders will tell", id)
	}
	return after, err
}

// streamEnds waits a moment for the stream to tell that the order called id has ended, and
// reports whether it did. That saves a request, of which the broker takes only so many.
func (v *venue) streamEnds(id string) (ended bool) {
	const moment, pause = time.Second, 20 * time.Millisecond
	for range moment / pause {
		var up bool
		v.Look(func() { ended, up = v.Book.Order(id).Status.Terminal(), v.Book.Remote.Stream })
		if ended || !up {
			return ended
		}
		time.Sleep(pause)
	}
	return false
}

// CancelEverything asks the broker to cancel every order of the account, and if that is done,
// cancels those of this book that were on their way once they are there.
func (v *venue) CancelEverything(ctx context.Context, who book.Who) error {
	v.Log.Warn("all orders of the account are cancelled", "broker", v.Book.Remote.Name, "by", who.Name)
	var coming []*book.Order // also those that were given up, which may arrive all the same
	v.Look(func() {
		for _, o := range v.Book.Orders {
			if o.Account != "" && o.BrokerID == "" {
				coming = append(coming, o)
			}
		}
	})
	left, err := v.broker.CancelAll(ctx)
	if err == nil {
		v.Look(func() {
			for _, o := range coming {
				v.of(o).swept = true
			}
		})
	}
	v.soon() // sweeps what has arrived meanwhile
	if left > 0 {
		return fmt.Errorf("%s would not cancel %d of the open orders: look at its dashboard", v.Book.Remote.Name, left)
	}
	return err
}

// swept reports whether the broker has o, which was on its way when the owner had every order
// cancelled. Locked.
func (v *venue) swept(o *book.Order) bool {
	x := v.doubts[o.ID]
	return x != nil && x.swept && !o.Unknown()
}

// itself is who asks for what wick does at the broker of its own accord.
var itself = book.Who{Name: "wick"}

// tidy cancels orders that should not rest any more: what the owner has had swept; if the stream
// has been away for as long as the dead man's switch allows, all but market orders, which may be
// those by which a client leaves a position; and exits of a position that is gone. An exit that
// is larger than its position, all of which the broker would fill, is replaced by one for what is
// left. What fails is tried again after the next report.
func (v *venue) tidy(ctx context.Context) {
	gone := make(map[book.Code][]string)
	var cuts []book.OrderRequest
	v.Look(func() {
		away := v.deadMan > 0 && !v.Book.Remote.Stream && time.Since(v.streamAt) >= v.deadMan
		for _, o := range v.Book.OpenOrders() {
			switch left := v.left(o); {
			case o.Pending():
			case v.swept(o):
				gone[book.CancelledBy] = append(gone[book.CancelledBy], o.ID)
			case away && o.Type != book.Market:
				gone[book.DeadMan] = append(gone[book.DeadMan], o.ID)
			case left >= o.Remaining().Abs():
			case left == 0:
				gone[book.NothingToReduce] = append(gone[book.NothingToReduce], o.ID)
			default:
				cuts = append(cuts, again(o, left))
			}
		}
	})
	for _, why := range slices.Sorted(maps.Keys(gone)) {
		orders, err := v.cancel(itself, gone[why], why)
		v.Log.Warn("orders should not rest any more", "why", string(why), "cancelled", len(orders), "failed", err != nil)
	}
	for _, r := range cuts {
		if _, err := v.Place(ctx, r); err != nil {
			v.Log.Warn("an exit at the broker is larger than its position", "order", r.Replaces, "left", r.Quantity.String(), "error", limit.Line(err.Error(), 200))
		}
	}
}

// left returns how much of an order should rest at the broker: of an exit no more than is left
// of its position, as long as it is known what the account holds. The legs of a bracket and the
// two of an oco cannot be replaced, so they stay whole until nothing is left to close, and the
// entry, which has no role, has ended; a market order stays as it is. Locked.
func (v *venue) left(o *book.Order) exact.Decimal {
	replaced := slices.ContainsFunc(v.Book.Open[o.Symbol], func(other *book.Order) bool { return other.Replaces == o.ID })
	if !o.ReduceOnly || o.Unknown() || replaced || v.Book.Remote.Closed != "" || v.Book.Unsettled(o.Symbol) {
		return o.Remaining().Abs()
	}
	left := o.Closes(v.Book.Closable(o.Symbol))
	if entry := v.Book.Order(o.Group); o.Cut() && (o.Role == "" || left != 0 || entry != nil && entry.Role == "" && !entry.Status.Terminal()) {
		return o.Remaining().Abs()
	}
	return left
}

// again returns a request for the same order with another quantity, in its place.
func again(o *book.Order, quantity exact.Decimal) book.OrderRequest {
	w := wire(o)
	return book.OrderRequest{Who: itself, Symbol: o.Symbol, Side: o.Side, Type: o.Type, Quantity: quantity, Price: w.Limit, StopPrice: w.Stop,
		TrailAmount: o.TrailAmount, TrailPercent: o.TrailPercent, TimeInForce: o.TimeInForce, Replaces: o.ID}
}
