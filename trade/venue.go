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
	submit(ctx context.Context, p book.Placed, a arrival) (book.Placed, error)
	// reach fills the orders that a price reaches. Called with mu held.
	reach(t book.Tick, since int64, at book.Time) error
	// cancelOrder cancels an open order, and cancelOrders several; see [Engine.CancelOrder] and
	// [Engine.CancelOrders]. Called without mu.
	cancelOrder(who book.Who, id string) (Cancelled, error)
	cancelOrders(who book.Who, ids []string) ([]book.Order, error)
	// cancelEverything cancels every order of the account, no matter who placed it. Called
	// without mu.
	cancelEverything(ctx context.Context, who book.Who) error
	// acceptPositions takes the positions of the account as they are; see
	// [Engine.AcceptPositions]. Called without mu.
	acceptPositions(who book.Who) ([]book.Difference, []string, error)
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

// enter also writes down how far the symbol was judged, if the order waits after that or one
// that begins with it, such as an exit.
func (p paperVenue) enter(a arrival) error {
	symbol := a.Order.Symbol
	if s := p.unnoted(symbol, a.instant); s != nil && (!a.Order.Status.Terminal() || len(a.Begin) > 0) {
		a.Seen, a.Stops = map[string]*book.Seen{symbol: s}, p.book.Drawn(symbol)
	}
	return p.book.ProposeOrders(book.KindPlaced, a.Event, a.instant, true)
}

func (paperVenue) submit(_ context.Context, p book.Placed, _ arrival) (book.Placed, error) {
	return p, nil
}

func (p paperVenue) reach(t book.Tick, since int64, at book.Time) error {
	return p.book.OnPrice(t, since, at)
}

func (p paperVenue) cancelOrder(who book.Who, id string) (c Cancelled, err error) {
	err = p.Do(func(s *book.State) error {
		o := s.Order(id)
		if o.Status.Terminal() { // it has ended meanwhile
			c.Order = o.Public()
			return book.Uncancellable(o, id)
		}
		ev, err := p.book.Cancel(o, who, book.Reason{}, now())
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
			ev, err := p.book.Cancel(o, who, book.Reason{}, now())
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

func (paperVenue) acceptPositions(book.Who) ([]book.Difference, []string, error) {
	return nil, nil, book.Refuse("no_broker", "there is no broker: the positions are those of the paper book")
}

func (paperVenue) run(context.Context) error { return nil }

// remoteAccount is what is known of the account at a broker elsewhere beside what decisions
// need, which is in [book.Remote].
type remoteAccount struct {
	suspectAt map[string]time.Time // since when a symbol is among the suspected and not settled
	late      map[string]int       // orders that the book had given up and the broker has all the same
	report    broker.Report        // the newest
	readAt    time.Time            // when the report was asked for; zero for never
	dark      bool                 // the last attempt to read the account failed
	up        bool                 // the stream is connected
	changedAt time.Time            // when up changed last
	born      time.Time            // when this process began
}

// arrive is [book.Book.Arrive].
func (p paperVenue) arrive(r book.OrderRequest, o *book.Order, q book.Quote, fill exact.Decimal, _ broker.Rules) (a arrival, err error) {
	a.Event, err = p.book.Arrive(r, o, q, fill)
	return a, err
}
