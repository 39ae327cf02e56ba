package trade

import (
	"cmp"
	"context"
	"errors"

	"wick/market"
	"wick/trade/book"
)

// Place is [Engine.PlaceOrder] for who needs the order alone.
func (e *Engine) Place(ctx context.Context, r book.OrderRequest) (book.Order, error) {
	p, err := e.PlaceOrder(ctx, r)
	return p.Order, err
}

// PlaceOrder carries out an order request. When it returns without an error the
// order, and its fill if it could be filled at once, is on disk. If the caller hangs
// up, PlaceOrder still finishes what it has begun.
//
// The same ClientOrderID with the same arguments returns the first order, as
// it stands now, for ever; with other arguments it is refused.
func (e *Engine) PlaceOrder(ctx context.Context, r book.OrderRequest) (book.Placed, error) {
	if err := r.Normalize(); err != nil {
		return book.Placed{}, err
	}
	var err error
	if r.Symbol != "" || r.Replaces == "" {
		if r.Symbol, err = e.symbol(r.Symbol); err != nil {
			return book.Placed{}, err
		}
	}
	// A retry is answered before anything else is checked: limits and prices may have
	// changed since, the answer must not.
	if p, err := e.earlier(&r); p.ID != "" || err != nil {
		return p, err
	}
	if r.Symbol == "" { // that of the order that is to be replaced
		e.mu.Lock()
		old, none := e.book.Order(r.Replaces), e.book.NotOrder(r.Replaces)
		e.mu.Unlock()
		if old == nil {
			return book.Placed{}, none
		}
		r.Symbol = old.Symbol
	}
	if r.When != nil {
		rule, err := e.newAlert(book.AlertRequest{Symbol: r.Symbol, Interval: string(r.When.Interval), Condition: r.When.Condition()}) // by its firing the order comes
		if err == nil {
			err = e.prepare(ctx, rule)
		}
		if err != nil {
			return book.Placed{}, err
		}
		r.When.Interval = rule.Interval
		if r.When.Now {
			if err := r.When.Look(e.Standing(ctx, *rule)); err != nil {
				return book.Placed{}, err
			}
		}
	}
	p, err := e.enter(ctx, r)
	if err == errBetween {
		return e.PlaceOrder(ctx, r)
	}
	return p, err
}

// enter has an order enter the book: at once or, if r says so, to wait for its rule.
func (e *Engine) enter(ctx context.Context, r book.OrderRequest) (book.Placed, error) {
	if err := e.refreshTrading(); err != nil {
		return book.Placed{}, err
	}
	// From here on a client that hangs up leaves nothing half done.
	ctx = context.WithoutCancel(ctx)
	if err := e.ensure(ctx, r.Symbol); err != nil { // there must be a price to judge by
		return book.Placed{}, err
	}
	e.watch.LearnRules(ctx, r.Symbol)
	a, err := e.venue.Prepare(ctx, r.Symbol)
	if err != nil {
		return book.Placed{}, err
	}
	asked := e.watch.Ask(ctx, r.Symbol)
	var p book.Placed
	entered := false
	err = e.Do(func(*book.State) (err error) {
		p, entered, err = e.accept(r, asked, a)
		return err
	})
	if err != nil {
		return book.Placed{}, err
	}
	if !entered { // this is a dry run, or it waits for its rule
		return p, nil
	}
	// The arrival is on disk before the order is sent anywhere, so that a broker can have no
	// order of ours that this book does not know.
	return a.Submit(ctx, p)
}

// accept decides about r in one go: no other order comes between the check of a
// limit and its use. It returns what clients see, and whether the order is new and has entered the
// book. Asked is what came of asking the source for the newest price just now. Called with mu held.
func (e *Engine) accept(r book.OrderRequest, asked book.Inquiry, a book.Arrival) (p book.Placed, entered bool, err error) {
	// An order that came in while we asked for prices is in memory, unless it has left that since.
	waited := r.Acts()
	if id := r.ClientOrderID; id != "" && waited == nil && (e.book.ClientIDs[id] != "" || e.archive.Generations() != r.Searched) {
		return p, false, errBetween
	}
	if err := e.book.Trip(now()); err != nil { // at the price that was just asked for
		return p, false, err
	}
	if waited != nil && !e.book.Order(waited.ID).Pending() { // it was cancelled or came meanwhile
		return p, false, nil
	}
	if r.Waits() {
		return e.suspend(r, asked, a)
	}
	o, q, fill, err := e.book.Draft(&r, a.Lot, asked, now())
	var ev *book.Event
	if err == nil {
		ev, err = a.Decide(r, o, q, fill)
	}
	if err != nil {
		return p, false, q.Refusing(err)
	}
	// An order is judged on what is traded after it came. If the price was just asked
	// for, all that is traded after that price counts, unless the feed goes on from another, or may
	// be told later what was traded between that price and the order.
	at, instant := o.CreatedAt, o.CreatedAt.UnixMilli()
	switch {
	case asked.Gone != 0 && ev.Order.Status == book.StatusOpen:
		ev.Order.Explain(book.Because(book.PriceGone, book.Clock(asked.Gone/1000)))
	case asked.Answered && asked.Gone == 0 && !asked.Late:
		instant = q.At
	}
	if r.DryRun {
		return e.book.Preview(r, ev), false, nil
	}
	if waited == nil {
		e.book.Count(at)
	} else {
		ev.Order.CreatedAt = waited.CreatedAt
	}
	// If the order waits, or one that begins with it, such as an exit, or opens a trade, it is written
	// down how far the symbol was judged.
	if s := e.watch.Seen(o.Symbol); unnoted(s, e.book.Seen[o.Symbol], instant) && (!ev.Order.Status.Terminal() || len(ev.Begin) > 0 || ev.Holding != nil && ev.Holding.Quantity != 0) {
		ev.Seen, ev.Stops = map[string]*book.Seen{o.Symbol: s}, e.book.Drawn(o.Symbol)
	}
	err = a.Enter(ev, instant)
	return e.book.Placed(ev), err == nil, err
}

// suspend has the order that r asks for wait for its rule, in this book alone. What would have become
// of it now says what could never become of it, and is the answer to a dry run. Called with mu held.
func (e *Engine) suspend(r book.OrderRequest, asked book.Inquiry, a book.Arrival) (p book.Placed, entered bool, err error) {
	if from := r.When.From; from != nil { // the rule was looked at, and a bar may have closed since
		bars, _ := e.watch.Window(r.Symbol, r.When.Interval)
		if bars == nil || bars.Closed().Len() == 0 || r.When.Interval.Next(bars.Time[bars.Closed().Len()-1]) > from.Unix() {
			return p, false, errBetween
		}
	}
	at, try := now(), r
	try.When, try.Approval, try.Held = nil, nil, nil
	var ev *book.Event
	would, q, fill, tried := e.book.Draft(&try, a.Lot, asked, at)
	if tried == nil {
		ev, tried = a.Decide(try, would, q, fill)
	}
	o, err := e.book.Suspend(r, q, tried, at)
	if err != nil {
		return p, false, q.Refusing(err)
	}
	if would != nil && o.Quantity == 0 { // what it would be now; it is worked out when it comes
		o.Quantity = would.Quantity
	}
	if tried == nil { // the day of a broker ends by its clock
		o.ExpiresAt = would.ExpiresAt
	}
	if r.DryRun {
		return book.DryRunOf(o, ev, tried), false, nil
	}
	e.book.Count(at)
	ev = &book.Event{At: at, Order: o}
	e.noteFor(ev, o.Symbol)
	err = e.book.ProposeOrders(book.KindPlaced, ev, at.UnixMilli(), true)
	return book.Placed{Order: o.Public()}, false, err
}

// act has an order come whose rule has become true: it goes the way of any other, and is rejected if
// it is refused. One that could not be judged comes when the next bar closes.
func (e *Engine) act(ctx context.Context, id string) {
	e.mu.Lock()
	o := e.book.Order(id)
	e.mu.Unlock()
	if !o.Pending() || o.When.Bar == nil {
		return
	}
	_, err := e.enter(ctx, o.Comes())
	if no := (*book.Refusal)(nil); errors.As(err, &no) {
		err = e.Do(func(s *book.State) error {
			if o = s.Order(id); !o.Pending() {
				return nil
			}
			return e.book.Reject(o, no, now())
		})
	}
	if err != nil {
		e.log.Warn("an order whose rule became true did not come", "order", id, "error", err)
	}
}

// earlier returns the order that r's client_order_id was used for, as the answer to r; one
// without an id if there is none. It waits until that order is on disk: a retry must not be
// answered before the first request is. Orders that have left memory are searched without mu,
// because that reads the disk; r.searched notes how many generations that were.
func (e *Engine) earlier(r *book.OrderRequest) (p book.Placed, err error) {
	if r.ClientOrderID == "" {
		return p, nil
	}
	var o *book.Order
	if err := e.Do(func(s *book.State) error {
		if o = s.Order(s.ClientIDs[r.ClientOrderID]); o == nil {
			return errIdle
		}
		p.Beside = e.book.Beside(o)
		return nil
	}); err != nil {
		return p, err
	}
	if o == nil {
		r.Searched = e.archive.Generations()
		if o, err = e.archive.order(clientKey(r.ClientOrderID)); o == nil || err != nil {
			return p, err
		}
	}
	if !o.Same(*r) || o.Symbol != cmp.Or(r.Symbol, o.Symbol) {
		return p, book.Refuse("client_order_id_reused", "client_order_id %q belongs to order %s (%s %s %s %s, %s); for another order choose another id",
			o.ClientOrderID, o.ID, o.Type, o.Side, o.Quantity, o.Symbol, o.Status)
	}
	p.Order = o.Answer(*r)
	return p, nil
}

// errBetween is what a decision returns if what the request was completed by may have changed since it
// was looked at, such as the use of its client_order_id: then the request begins anew.
var errBetween = errors.New("another request came in between")

// symbol returns the one name under which everything of a market is kept, for any
// spelling that the source understands. An open order or a position that was made with
// another source keeps its name until it is gone, because otherwise nobody could close it.
// It is called without mu.
func (e *Engine) symbol(text string) (string, error) {
	canonical, err := market.Resolve(e.options.Source, text)
	if err != nil {
		return "", book.Refuse("bad_symbol", "%v", err)
	}
	written, err := market.ParseSymbol(text)
	if err != nil || written == canonical {
		return canonical, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.book.Holdings[written].Quantity != 0 || len(e.book.OpenOf(written)) > 0 {
		return written, nil
	}
	return canonical, nil
}
