package trade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"wick/broker"
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"

	"golang.org/x/sync/errgroup"
)

const (
	cancelTime    = 25 * time.Second // bounds how long a cancel may take, including the question what came of it
	cancelsAtOnce = 4                // requests take a while to be answered
	// sweepTime is how long one call begins to cancel orders. With cancelTime it is less than
	// the 45 s after which the page gives up.
	sweepTime = 15 * time.Second
)

// cancelOrder asks the broker to cancel an order and returns it as the broker then reports it:
// it may have been filled meanwhile, or the cancel may still be under way. It does not take
// the caller's context: a client that hangs up must not stop a cancel halfway.
func (v *liveVenue) cancelOrder(who book.Who, id string) (c Cancelled, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTime)
	defer cancel()
	v.mu.Lock()
	o := v.book.Order(id)
	v.mu.Unlock()
	wire := wire(o)
	// If it is not known whether the order arrived, the broker's id of it is not known
	// either: it is looked up first. Somebody else's order with the same id stays as it is.
	if o.Unknown() {
		s, err := v.broker.Lookup(ctx, wire)
		if err != nil {
			return c, book.Refuse("outcome_unknown", "whether order %s is at %s is not known yet, so it cannot be cancelled: %s", id, v.book.Remote.Name, limit.Line(err.Error(), 200))
		}
		if !isOf(o, s) {
			v.learnAnswer(id, s)
			v.soon()
			return c, book.Refuse("outcome_unknown", "whether order %s is at %s is not known yet, so it cannot be cancelled: %s has another order by its id (%s)", id, v.book.Remote.Name, v.book.Remote.Name, described(s))
		}
		wire.ID = s.ID
	}
	v.mu.Lock()
	if o = v.book.Order(id); !o.Status.Terminal() {
		x := v.of(o)
		x.asked = x.cancels == ""
	}
	v.mu.Unlock()
	v.log.Info("cancel sent", "order", id, "broker", v.book.Remote.Name, "by", limit.Clip(who.Name))
	asked := v.broker.Cancel(ctx, wire.ID)
	no := (*broker.Refused)(nil)
	refused := errors.As(asked, &no)
	// Whatever the answer to the cancel says, the state afterwards decides: the order may
	// have been filled while the cancel was on its way.
	if asked != nil || !v.streamEnds(id) {
		s, err := v.broker.Lookup(ctx, wire)
		switch {
		case err != nil && refused:
			v.soon()
			return c, book.Later.Refuse("broker_rule", "the cancel of order %s was refused: %s", id, no.Text)
		case err != nil:
			v.soon()
			return c, book.Refuse("outcome_unknown", "what became of the cancel of order %s is not known yet: get_orders will tell", id)
		case !v.learnAnswer(id, s):
			v.soon()
		}
	}
	c.Order, err = v.Order(id)
	switch {
	case err != nil:
		return Cancelled{}, err
	case c.Status == book.StatusFilled, c.Status == book.StatusRejected:
		return c, book.Uncancellable(&c.Order, id)
	case refused && c.Status != book.StatusCancelled:
		return c, book.Later.Refuse("broker_rule", "%s", no.Text)
	case asked != nil && c.Status != book.StatusCancelled:
		return c, book.Refuse("outcome_unknown", "whether the cancel of order %s arrived is not known: %s", id, limit.Line(asked.Error(), 200))
	}
	return c, nil
}

// streamEnds waits a moment for the stream to tell that the order called id has ended, and
// reports whether it did. That saves a request, of which the broker takes only so many.
func (v *liveVenue) streamEnds(id string) bool {
	const moment, pause = time.Second, 20 * time.Millisecond
	for range moment / pause {
		v.mu.Lock()
		o, up := v.book.Order(id), v.remote.up
		v.mu.Unlock()
		if o == nil || o.Status.Terminal() || !up {
			return o != nil && o.Status.Terminal()
		}
		time.Sleep(pause)
	}
	return false
}

// cancelOrders cancels the orders with these ids, a few at a time, and returns those that
// were cancelled. It goes on after one that could not be cancelled, and returns the last error
// at the end. That an order was filled meanwhile is no error. If that takes too long, it
// leaves the rest and says so.
func (v *liveVenue) cancelOrders(who book.Who, ids []string) ([]book.Order, error) {
	begin, cancelled, ended, left, failed := time.Now(), []book.Order{}, 0, 0, error(nil)
	var mu sync.Mutex // guards what comes of it
	var g errgroup.Group
	g.SetLimit(cancelsAtOnce)
	for _, family := range v.families(ids) {
		g.Go(func() error {
			for _, id := range family {
				v.mu.Lock()
				o := v.book.Order(id)
				v.mu.Unlock()
				if o == nil || o.Status.Terminal() { // it ended with an order before it
					continue
				}
				var after Cancelled
				var err error
				late := time.Since(begin) > sweepTime
				if !late {
					after, err = v.cancelOrder(who, id)
				}
				mu.Lock()
				switch {
				case late:
					left++
				case err == nil:
					cancelled = append(cancelled, after.Order)
					if after.Status == book.StatusCancelled { // and not only asked to be
						ended++
					}
				case after.Status != book.StatusFilled:
					failed = err
				}
				mu.Unlock()
			}
			return nil
		})
	}
	_ = g.Wait() // none fails
	slices.SortFunc(cancelled, func(a, b book.Order) int { return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID)) })
	if left > 0 {
		failed = book.Refuse("cancel_unfinished", "%d of %d open orders were not asked to be cancelled within %s, because %s takes only so many requests; %d are cancelled so far: cancel the rest by another call",
			left, len(ids), sweepTime, v.book.Remote.Name, ended)
	}
	return cancelled, failed
}

// families returns ids in their order, those of one group together: the end of one order ends
// others of its group.
func (v *liveVenue) families(ids []string) (families [][]string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := make(map[string]int)
	for _, id := range ids {
		key := id
		if o := v.book.Order(id); o != nil && o.Group != "" {
			key = o.Group
		}
		i, ok := at[key]
		if !ok {
			i, families = len(families), append(families, nil)
			at[key] = i
		}
		families[i] = append(families[i], id)
	}
	return families
}

// cancelEverything asks the broker to cancel every order of the account, and if that is done,
// cancels those of this book that were on their way once they are there.
func (v *liveVenue) cancelEverything(ctx context.Context, who book.Who) error {
	v.log.Warn("all orders of the account are cancelled", "broker", v.book.Remote.Name, "by", who.Name)
	v.mu.Lock()
	var coming []*book.Order // also those that were given up, which may arrive all the same
	for _, o := range v.book.Orders {
		if o.Account != "" && o.BrokerID == "" {
			coming = append(coming, o)
		}
	}
	v.mu.Unlock()
	left, err := v.broker.CancelAll(ctx)
	v.mu.Lock()
	for _, o := range coming {
		if err == nil {
			v.of(o).swept = true
		}
	}
	v.mu.Unlock()
	v.soon() // sweeps what has arrived meanwhile
	if left > 0 {
		return fmt.Errorf("%s would not cancel %d of the open orders: look at its dashboard", v.book.Remote.Name, left)
	}
	return err
}

// sweep cancels the orders that were on their way when the owner had every order cancelled,
// once the broker has them: only the one with an id, or all if that is "".
func (v *liveVenue) sweep(only string) {
	v.mu.Lock()
	var late []string
	for _, o := range openOrders(v.book.State) {
		if x := v.orders[o.ID]; !o.Unknown() && x != nil && x.swept && (only == "" || o.ID == only) {
			late = append(late, o.ID)
		}
	}
	v.mu.Unlock()
	_, _ = v.cancelOrders(book.Who{Name: "owner"}, late) // what fails is tried again after the next report
}

// release cancels all open orders that rest, if the stream has been away for as long as the
// dead man's switch allows. A market order does not rest: it may be the one by which a client
// leaves a position. The switch acts as long as the stream is away: orders may be placed
// meanwhile, and not all may have been cancelled.
func (v *liveVenue) release() {
	v.mu.Lock()
	due := v.deadMan > 0 && !v.remote.up && time.Since(v.remote.changedAt) >= v.deadMan
	var resting []string
	for _, o := range openOrders(v.book.State) {
		switch x := v.orders[o.ID]; {
		case due && o.Type != book.Market:
			resting = append(resting, o.ID)
			v.of(o).cancels = book.DeadMan
		case !due && x != nil && x.cancels == book.DeadMan:
			x.cancels = ""
		}
	}
	v.mu.Unlock()
	if len(resting) > 0 {
		orders, err := v.cancelOrders(book.Who{Name: "dead man's switch"}, resting)
		v.log.Warn("the broker's stream is away for too long: resting orders are cancelled", "orders", len(orders), "after", v.deadMan.String(), "failed", err != nil)
	}
}

// itself is who asks for what wick does at the broker of its own accord.
var itself = book.Who{Name: "wick"}

// trimExits keeps the exits that wait at the broker to what is left of their positions, since
// the broker would fill all of them: those of a position that is gone are cancelled, and one
// that is larger than its position is replaced by one for what is left. It does nothing as long
// as it is not known what the account holds. What fails is tried again after the next report.
func (v *liveVenue) trimExits(ctx context.Context) {
	var gone []string
	var cuts []book.OrderRequest
	v.mu.Lock()
	if v.book.Remote.Closed != "" {
		v.mu.Unlock()
		return
	}
	for _, o := range openOrders(v.book.State) {
		replaced := slices.ContainsFunc(v.book.Open[o.Symbol], func(other *book.Order) bool { return other.Replaces == o.ID })
		closes := o.Closes(v.book.Closable(o.Symbol))
		switch {
		case !o.ReduceOnly || o.Cut() || o.Unknown() || v.book.Unsettled(o.Symbol) || replaced || closes >= o.Remaining().Abs():
		case closes == 0:
			gone = append(gone, o.ID)
			v.of(o).cancels = book.NothingToReduce
		default:
			cuts = append(cuts, again(o, closes))
		}
	}
	v.mu.Unlock()
	_, _ = v.cancelOrders(itself, gone)
	for _, r := range cuts {
		if _, err := v.Place(ctx, r); err != nil {
			v.log.Warn("an exit at the broker is larger than its position", "order", r.Replaces, "left", r.Quantity.String(), "error", limit.Line(err.Error(), 200))
		}
	}
}

// again returns a request for the same order with another quantity, in its place.
func again(o *book.Order, quantity exact.Decimal) book.OrderRequest {
	r := book.OrderRequest{Who: itself, Symbol: o.Symbol, Side: o.Side, Type: o.Type, Quantity: quantity, TrailAmount: o.TrailAmount, TrailPercent: o.TrailPercent,
		TimeInForce: o.TimeInForce, Replaces: o.ID}
	if o.Price != nil {
		r.Price = *o.Price
	}
	if o.StopPrice != nil && o.Type != book.TrailingStop {
		r.StopPrice = *o.StopPrice
	}
	return r
}
