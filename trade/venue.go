package trade

import (
	"context"
	"time"

	"wick/broker"
	"wick/internal/exact"
	"wick/trade/book"
)

// venue carries out the orders of a book. It is the paper broker of this package, or a broker
// elsewhere; nobody asks which.
type venue interface {
	// Money says which money orders move.
	Money() Money
	// prepare asks for the rules of the venue for orders in a symbol. Called without mu.
	prepare(ctx context.Context, symbol string) (broker.Rules, error)
	// arrive says what becomes of o, which r asks for, when it arrives at the venue while the
	// market is at q. Fill is the price at which it would be filled at once, zero if it waits.
	// It refuses o, or returns a step and takes none. Called with mu held.
	arrive(r book.OrderRequest, o *book.Order, q book.Quote, fill exact.Decimal, rules broker.Rules) (arrival, error)
	// enter proposes the step of an arrival. Called with mu held.
	enter(a arrival) error
	// submit sends an order whose arrival is on disk, and returns it as it is then. Called
	// without mu.
	submit(ctx context.Context, p Placed, a arrival) (Placed, error)
	// reach fills the orders that a price reaches. Called with mu held.
	reach(t tick, since int64, at book.Time) error
	// cancelOrder cancels an open order, and cancelOrders several; see [Engine.CancelOrder] and
	// [Engine.CancelOrders]. Called without mu.
	cancelOrder(who book.Who, id string) (Cancelled, error)
	cancelOrders(who book.Who, ids []string) ([]book.Order, error)
	// cancelEverything cancels every order of the account, no matter who placed it. Called
	// without mu.
	cancelEverything(ctx context.Context, who book.Who) error
	// acceptPositions takes the positions of the account as they are; see
	// [Engine.AcceptPositions]. Called without mu.
	acceptPositions(who book.Who) ([]Difference, []string, error)
	// run keeps in touch with the venue until ctx ends.
	run(ctx context.Context) error
}

// arrival is an order that arrives at a venue.
type arrival struct {
	*book.Event
	instant int64        // what the market does from then on counts for it, in unix milliseconds
	wire    broker.Order // what is sent to a broker elsewhere
}

// Money is which money orders move: the one home of that fact is the venue that they go to.
type Money = broker.Money

// The kinds of money.
const (
	RealMoney = broker.Real
	NoMoney   = broker.None
)

// Money returns which money the orders of this book move.
func (e *Engine) Money() Money { return e.venue.Money() }

// paperVenue is the venue of paper orders: the engine fills them at the prices of the feed.
type paperVenue struct{ *Engine }

func (paperVenue) Money() Money { return NoMoney }

func (paperVenue) prepare(context.Context, string) (broker.Rules, error) { return broker.Rules{}, nil }

// arrive returns the step by which o comes into the book: filled at a price, or open, or
// cancelled at once. The order that it replaces ends in the same step.
func (p paperVenue) arrive(r book.OrderRequest, o *book.Order, q book.Quote, fill exact.Decimal, _ broker.Rules) (a arrival, err error) {
	if err := p.check(r, o, q.Price, fill, o.CreatedAt); err != nil {
		return a, err
	}
	if err := checkRests(o, r.OCO, fill, q.Price); err != nil {
		return a, err
	}
	did := book.Report{Status: book.StatusOpen, Mark: q}
	switch {
	case fill != 0:
		if did, err = p.paper.report(book.StatusFilled, o.Quantity, fill, p.paper.feeRate); err != nil {
			return a, err
		}
		did.Mark = q
	case o.TimeInForce == book.IOC || o.TimeInForce == book.FOK:
		did.Status, did.Reason = book.StatusCancelled, book.Because(book.NotReached, string(o.TimeInForce), q.Price.String())
	}
	if a.Event, err = p.ahead.Outcome(o, did, o.CreatedAt); err != nil {
		return a, err
	}
	if o.Replaces != "" {
		a.AddEnd(p.ahead.Order(o.Replaces), book.Replaced)
	}
	if r.OCO != (book.OCO{}) { // the stop beside the limit arrives with it
		a.AddBegin(a.Order.Partner(r.OCO))
	}
	return a, nil
}

// enter also writes down how far the symbol was judged, if the order waits after that or one
// that begins with it, such as an exit.
func (p paperVenue) enter(a arrival) error {
	symbol := a.Order.Symbol
	if s := p.unnoted(symbol, a.instant); s != nil && (!a.Order.Status.Terminal() || len(a.Begin) > 0) {
		a.Seen, a.Stops = map[string]*book.Seen{symbol: s}, p.drawn(symbol)
	}
	return p.proposeOrders(book.KindPlaced, a.Event, a.instant, true)
}

func (paperVenue) submit(_ context.Context, p Placed, _ arrival) (Placed, error) { return p, nil }

func (p paperVenue) reach(t tick, since int64, at book.Time) error {
	return p.fillResting(t, since, at)
}

func (p paperVenue) cancelOrder(who book.Who, id string) (c Cancelled, err error) {
	err = p.Do(func(s *book.State) error {
		o := s.Order(id)
		if o.Status.Terminal() { // it has ended meanwhile
			c.Order = o.Public()
			return uncancellable(o, id)
		}
		ev, err := p.cancel(o, who, book.Reason{}, now())
		if err != nil {
			return err
		}
		c.Order = ev.Order.Public()
		for _, with := range ev.Ends {
			c.Ended = append(c.Ended, with.ID)
		}
		return nil
	})
	return c, err
}

// cancelOrders cancels all under one lock of mu, so that no price comes in between.
func (p paperVenue) cancelOrders(who book.Who, ids []string) ([]book.Order, error) {
	cancelled := []book.Order{}
	err := p.Do(func(s *book.State) error {
		for _, id := range ids {
			o := s.Order(id)
			if o == nil || o.Status.Terminal() { // it ended, and was counted, with an order before it
				continue
			}
			ev, err := p.cancel(o, who, book.Reason{}, now())
			if err != nil {
				return err
			}
			cancelled = append(cancelled, ev.Order.Public())
			for _, with := range ev.Ends {
				cancelled = append(cancelled, s.Order(with.ID).Public())
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return cancelled, nil
}

func (p paperVenue) cancelEverything(_ context.Context, who book.Who) error {
	_, err := p.CancelOrders(who, "")
	return err
}

func (paperVenue) acceptPositions(book.Who) ([]Difference, []string, error) {
	return nil, nil, book.Refuse("no_broker", "there is no broker: the positions are those of the paper book")
}

func (paperVenue) run(context.Context) error { return nil }

// remoteAccount is what is known of the account at a broker elsewhere. It is empty on paper,
// where nothing is held but what the book has.
type remoteAccount struct {
	name      string               // of the broker
	id        string               // the account's number there
	judged    bool                 // the account has been read and compared since the start
	closed    string               // why no order is taken; empty if orders are taken
	differs   []Difference         // positions that differ from the book for certain; see compare
	suspected []Difference         // the differences in the newest report
	suspectAt map[string]time.Time // since when a symbol is among those and not settled
	late      map[string]int       // orders that the book had given up and the broker has all the same
	report    broker.Report        // the newest
	external  []broker.State       // open orders of the account that are not in this book
	readAt    time.Time            // when the report was asked for; zero for never
	dark      bool                 // the last attempt to read the account failed
	up        bool                 // the stream is connected
	changedAt time.Time            // when up changed last
	born      time.Time            // when this process began
}

// state returns the trading state that counts: the one that was written down, or Halted
// as long as no order is taken because of the broker.
func (r *remoteAccount) state(written book.TradingState) book.TradingState {
	if r.closed != "" {
		return book.Halted
	}
	return written
}

// resting says what becomes of resting orders while trading is halted or reducing: on
// paper what onPaper says. At a broker elsewhere nothing keeps them from being filled.
func (r *remoteAccount) resting(onPaper string) string {
	if r.name != "" {
		return "orders that rest at " + r.name + " stay there and can be filled"
	}
	return onPaper
}

// Difference is a position at the broker that is not what the book expects.
type Difference struct {
	Symbol string        `json:"symbol"`
	Book   exact.Decimal `json:"book"`   // what wick's fills come to
	Broker exact.Decimal `json:"broker"` // what the broker says is held
}

// beside returns how much more of a symbol the account at the broker holds than the book's
// fills come to, negative if it is less: by the newest report if that shows a difference,
// else as the owner has accepted it. Called with mu held.
func (d *desk) beside(symbol string) exact.Decimal { return d.besideBy(d.remote.suspected, symbol) }

// besideBy is beside by the differences that were found.
func (d *desk) besideBy(found []Difference, symbol string) exact.Decimal {
	key := broker.Key(symbol)
	for _, d := range found {
		if broker.Key(d.Symbol) == key {
			return d.Broker - d.Book
		}
	}
	return d.ahead.Venue.Beside(key)
}

// unsettled reports whether the newest report shows another difference in a symbol than the
// settled one: it may be of a fill that the book does not know yet. Called with mu held.
func (d *desk) unsettled(symbol string) bool {
	return d.beside(symbol) != d.besideBy(d.remote.differs, symbol)
}

// owned returns how much of a symbol the account holds, negative when short. A difference
// counts once it is settled: shares that a report has before the book knows of their fill
// would count twice when that comes. Called with mu held.
func (d *desk) owned(symbol string) exact.Decimal {
	return d.ahead.Holdings[symbol].Quantity + d.besideBy(d.remote.differs, symbol)
}

// closable returns the part of the book's position in a symbol that the account holds,
// negative when short. No more than that may be closed: the rest would open a position.
// Called with mu held.
func (d *desk) closable(symbol string) exact.Decimal {
	held := d.ahead.Holdings[symbol].Quantity
	part := book.Reducible(held, -held-d.beside(symbol))
	if held < 0 {
		return -part
	}
	return part
}

// notHeld refuses to close more of a position than the account holds. Called with mu held.
func (d *desk) notHeld(symbol string) error {
	held := d.ahead.Holdings[symbol].Quantity
	return book.Later.Refuse("reduce_only", "this book's position in %s is %s and the account at %s holds %s: at most %s can be closed by reduce_only or quantity all",
		symbol, held, d.remote.name, held+d.beside(symbol), d.closable(symbol).Abs())
}
