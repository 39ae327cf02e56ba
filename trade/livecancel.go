package trade

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"wick/broker"
	"wick/limit"
)

// cancelTime bounds how long a cancel may take, including the question what came of it.
const cancelTime = 25 * time.Second

// cancelLive asks the broker to cancel o and returns o as the broker then reports it: it
// may have been filled meanwhile, or the cancel may still be under way. It does not take
// the caller's context: a client that hangs up must not stop a cancel halfway.
func (e *Engine) cancelLive(who Who, o Order) (Order, error) {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTime)
	defer cancel()
	// If it is not known whether the order arrived, the broker's id of it is not known
	// either: it is looked up first. Somebody else's order with the same id stays as it is.
	if o.Unknown() {
		s, err := e.venue.Lookup(ctx, o.wire())
		if err != nil {
			return Order{}, refuse("outcome_unknown", "whether order %s is at %s is not known yet, so it cannot be cancelled: %s", o.ID, e.venue.name, limit.Line(err.Error(), 200))
		}
		if !o.isOf(s) {
			e.learnAnswer(o.ID, s)
			e.venue.soon()
			return Order{}, refuse("outcome_unknown", "whether order %s is at %s is not known yet, so it cannot be cancelled: %s has another order by its id (%s)", o.ID, e.venue.name, e.venue.name, described(s))
		}
		o.BrokerID = s.ID
	}
	// Whatever the answer to the cancel says, the state afterwards decides: the order may
	// have been filled while the cancel was on its way.
	e.mu.Lock()
	e.venue.asked[o.ID] = !e.venue.idle[o.ID] && !e.venue.released[o.ID]
	e.mu.Unlock()
	e.log.Info("cancel sent", "order", o.ID, "broker", e.venue.name, "by", limit.Clip(who.Name))
	asked := e.venue.Cancel(ctx, o.BrokerID)
	no := (*broker.Refused)(nil)
	refused := errors.As(asked, &no)
	if asked == nil && e.streamEnds(o.ID) {
		return e.cancelled(o.ID, nil)
	}
	s, err := e.venue.Lookup(ctx, o.wire())
	if err != nil {
		e.venue.soon()
		if refused {
			return Order{}, later.refuse("broker_rule", "the cancel of order %s was refused: %s", o.ID, no.Text)
		}
		return Order{}, refuse("outcome_unknown", "what became of the cancel of order %s is not known yet: get_orders will tell", o.ID)
	}
	if !e.learnAnswer(o.ID, s) {
		e.venue.soon()
	}
	return e.cancelled(o.ID, asked)
}

// cancelled returns the order called id as it is after its cancel was asked for, and an error
// if it is not cancelled and cannot be, or if asked, the error of the request, is why.
func (e *Engine) cancelled(id string, asked error) (Order, error) {
	after, err := e.Order(id)
	no := (*broker.Refused)(nil)
	switch refused := errors.As(asked, &no); {
	case err != nil:
		return Order{}, err
	case after.Status == StatusFilled, after.Status == StatusRejected:
		return after, uncancellable(&after, id)
	case refused && after.Status != StatusCancelled:
		return after, later.refuse("broker_rule", "%s", no.Text)
	case asked != nil && after.Status != StatusCancelled:
		return after, refuse("outcome_unknown", "whether the cancel of order %s arrived is not known: %s", id, limit.Line(asked.Error(), 200))
	}
	return after, nil
}

// streamEnds waits a moment for the stream to tell that the order called id has ended, and
// reports whether it did. That saves a request, of which the broker takes only so many.
func (e *Engine) streamEnds(id string) bool {
	const moment, pause = time.Second, 20 * time.Millisecond
	for range moment / pause {
		e.mu.Lock()
		o, up := e.ahead.order(id), e.venue.up
		e.mu.Unlock()
		if o == nil || o.Status.Terminal() || !up {
			return o != nil && o.Status.Terminal()
		}
		time.Sleep(pause)
	}
	return false
}

const (
	cancelsAtOnce = 4 // requests take a while to be answered
	// sweepTime is how long one call begins to cancel orders. With cancelTime it is less than
	// the 45 s after which the page gives up.
	sweepTime = 15 * time.Second
)

// cancelAllLive cancels the orders with these ids, a few at a time, and returns those that
// were cancelled. It goes on after one that could not be cancelled, and returns the last error
// at the end. That an order was filled meanwhile is no error. If that takes too long, it
// leaves the rest and says so.
func (e *Engine) cancelAllLive(who Who, ids []string) ([]Order, error) {
	type outcome struct {
		cancelled []Order
		err       error
		left      int
	}
	families, begin := e.families(ids), time.Now()
	outcomes, next := make([]outcome, len(families)), atomic.Int64{}
	var workers sync.WaitGroup
	for range min(cancelsAtOnce, len(families)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(families); i = int(next.Add(1)) - 1 {
				r := &outcomes[i]
				r.cancelled, r.left, r.err = e.cancelFamily(who, families[i], begin.Add(sweepTime))
			}
		})
	}
	workers.Wait()
	cancelled, left, failed := []Order{}, 0, error(nil)
	for _, r := range outcomes {
		cancelled, left = append(cancelled, r.cancelled...), left+r.left
		if r.err != nil {
			failed = r.err
		}
	}
	if left > 0 {
		ended := 0
		for _, o := range cancelled {
			if o.Status == StatusCancelled { // not those that were only asked to be
				ended++
			}
		}
		failed = refuse("cancel_unfinished", "%d of %d open orders were not asked to be cancelled within %s, because %s takes only so many requests; %d are cancelled so far: cancel the rest by another call",
			left, len(ids), sweepTime, e.venue.name, ended)
	}
	return cancelled, failed
}

// families returns ids in their order, those of one group together: the end of one order ends
// others of its group.
func (e *Engine) families(ids []string) (families [][]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := make(map[string]int)
	for _, id := range ids {
		key := id
		if o := e.ahead.order(id); o != nil && o.Group != "" {
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

// cancelFamily cancels the orders with these ids, one after the other, for cancelAllLive. It
// begins with none after a time, and returns how many it left for that.
func (e *Engine) cancelFamily(who Who, ids []string, until time.Time) (cancelled []Order, left int, failed error) {
	for _, id := range ids {
		e.mu.Lock()
		o := e.ahead.order(id)
		e.mu.Unlock()
		if o == nil || o.Status.Terminal() { // it ended with an order before it
			continue
		}
		if time.Now().After(until) {
			left++
			continue
		}
		after, err := e.cancelLive(who, *o)
		if err == nil {
			cancelled = append(cancelled, after)
		} else if after.Status != StatusFilled {
			failed = err
		}
	}
	return cancelled, left, failed
}

// sweep cancels the orders that were on their way when the owner had every order cancelled,
// once the broker has them: only the one with an id, or all if that is "".
func (e *Engine) sweep(only string) {
	e.mu.Lock()
	var late []string
	for _, o := range e.ahead.openOrders() {
		if !o.Unknown() && e.venue.swept[o.ID] && (only == "" || o.ID == only) {
			late = append(late, o.ID)
		}
	}
	e.mu.Unlock()
	_, _ = e.cancelAllLive(Who{Name: "owner"}, late) // what fails is tried again after the next report
}
