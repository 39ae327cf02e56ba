// Package paper is the venue of paper orders: they are filled at the prices of the feed, by
// the rules of package book. It has no account elsewhere and waits for nothing.
package paper

import (
	"context"

	"wick/internal/exact"
	"wick/trade/book"
)

// Venue fills the orders of its host's book. Every order arrives in the same way.
type Venue struct{ book.Host }

// Money is none.
func (Venue) Money() book.Money { return book.NoMoney }

// Prepare asks nobody.
func (v Venue) Prepare(context.Context, string) (book.Arrival, error) { return v, nil }

// Lot is none: the market's counts.
func (Venue) Lot(book.OrderRequest) exact.Decimal { return 0 }

// Decide is [book.Book.Arrive].
func (v Venue) Decide(r book.OrderRequest, o *book.Order, q book.Quote, fill exact.Decimal) (*book.Event, error) {
	return v.Book.Arrive(r, o, q, fill)
}

// Enter takes the step of an order that was placed.
func (v Venue) Enter(ev *book.Event, instant int64) error {
	asked := v.Book.Order(ev.Order.ID) == nil // and no order that waited for its rule
	return v.Book.ProposeOrders(book.KindPlaced, ev, instant, asked)
}

// Submit sends nothing.
func (Venue) Submit(_ context.Context, p book.Placed) (book.Placed, error) { return p, nil }

// Reach is [book.Book.OnPrice].
func (v Venue) Reach(t book.Tick, since int64, at book.Time) error {
	return v.Book.OnPrice(t, since, at)
}

// Cancel has none to cancel: its orders are in the book alone.
func (Venue) Cancel(book.Who, []string) ([]book.Order, error) { return nil, nil }

// CancelEverything has none to cancel.
func (Venue) CancelEverything(context.Context, book.Who) error { return nil }

// Accept refuses: nothing can differ.
func (Venue) Accept(book.Who) ([]book.Difference, []string, error) {
	return nil, nil, book.Refuse("no_broker", "there is no broker: the positions are those of the paper book")
}

// Run has nothing to do.
func (Venue) Run(context.Context) error { return nil }
