package book

import (
	"context"
	"log/slog"

	"wick/internal/exact"
)

// Venue carries out the orders of a book. It is the paper broker (package paper) or a broker
// elsewhere (package live); nobody asks which. "Locked" says that the host holds its lock
// during a call.
type Venue interface {
	// Money says which money orders move.
	Money() Money
	// Prepare asks for the rules of the venue for orders in a symbol.
	Prepare(ctx context.Context, symbol string) (Arrival, error)
	// Reach fills the orders that a price reaches; see [Book.OnPrice]. Locked.
	Reach(t Tick, since int64, at Time) error
	// Cancel cancels open orders that are elsewhere on behalf of who, and returns those that it has
	// cancelled, each before what ended with it. It is no error if one has ended in another way
	// meanwhile. After an error some may still be open.
	Cancel(who Who, ids []string) ([]Order, error)
	// CancelEverything cancels every order of an account elsewhere, no matter who placed it.
	CancelEverything(ctx context.Context, who Who) error
	// Accept takes the positions of the account as they are: what differs now counts as known from
	// here on. It returns the differences, and the orders that the book had given up.
	Accept(who Who) ([]Difference, []string, error)
	// Run keeps in touch with the venue until ctx ends.
	Run(ctx context.Context) error
}

// Arrival is the way of one order into the book and to its venue. [Book.Arrival] is a price.
type Arrival interface {
	// Lot returns the step of quantities for an order like r, zero if there is none beside that of
	// the market.
	Lot(r OrderRequest) exact.Decimal
	// Decide says what becomes of o, which r asks for, while the market is at q: it returns a step
	// and takes none. Fill is the price at which o would be filled at once, zero if it waits.
	// Locked.
	Decide(r OrderRequest, o *Order, q Quote, fill exact.Decimal) (*Event, error)
	// Enter takes the step. What the market does from an instant on, in unix milliseconds, counts
	// for the order. Locked.
	Enter(ev *Event, instant int64) error
	// Submit sends the order once the step is on disk, and returns it as it is then.
	Submit(ctx context.Context, p Placed) (Placed, error)
}

// Opener opens a venue.
type Opener interface{ Open(h Host) Venue }

// Host is what a venue may use of the engine. Book is guarded by the engine's lock: it is read
// inside Look and Do alone, and changed inside Do.
type Host struct {
	Book    *Book
	Do      func(decide func(*State) error) error                    // returns when what was seen and decided is on disk
	Look    func(read func())                                        // does not wait for the disk
	Place   func(ctx context.Context, r OrderRequest) (Order, error) // like a client's request
	Refresh func() error                                             // works out the trading state after Book.Remote has changed
	Now     func() Time
	Log     *slog.Logger
}

// Money is which money orders move: the one home of that fact is the venue that they go to.
type Money string

// The kinds of money. A broker that does not say counts as one with real money.
const (
	RealMoney Money = "real"
	NoMoney   Money = "none" // a paper account
)
