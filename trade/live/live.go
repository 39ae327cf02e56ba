// Package live is a broker elsewhere as the venue of a book: orders are sent to it, and the
// book learns what became of them. Package alpaca is such a broker.
//
// # At most once
//
// An order's intent is on disk before the order is sent, and it is sent once. If the answer
// is lost the order is open, with an outcome that is not known, until the broker has been
// asked what became of it.
//
// # What a broker says
//
// What it says of an order comes as the answer to a request, by its stream and in reports of
// the whole account; twice, late and in any order. All of it goes through learn, which can take
// that: what was filled in all only grows, so that by it the newer of two states is known.
// After each report the positions are compared: what the broker holds must be what the book's
// fills come to.
//
// What is known of the account is in [book.Remote], and what this process knows of an order
// beyond the book in one value for each, a doubt. A new process begins without either: it reads
// the account before it sends anything.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"
)

// Options say which broker carries out orders. A data directory belongs for ever to one broker
// and account, or to the paper broker.
type Options struct {
	Broker  Broker
	Name    string // such as alpaca-paper; every order bears it
	Account string // the account's number there; empty if it could not be asked for
	// DeadMan is how long the broker's stream may be interrupted before the resting
	// orders of this book are cancelled. Zero means for ever.
	DeadMan time.Duration
}

// venue is a broker elsewhere. The host's lock guards what is not set once.
type venue struct {
	book.Host
	broker  Broker
	deadMan time.Duration
	kick    chan struct{} // asks for a reconciliation soon

	doubts   map[string]*doubt // by order id
	streamAt time.Time         // when the stream came or went
	readAt   time.Time         // when the account was last read, or this process began
	dark     bool              // the last attempt to read the account failed
}

// doubt is what this process knows of an order that was sent, or is about to be, beyond the
// book.
type doubt struct {
	sending bool      // the request is still to be sent, or under way
	ended   time.Time // when the request was answered or given up
	misses  int       // how often the broker has answered that it does not know the order
	behind  bool      // the broker has told of fills that the book could not count yet
	swept   bool      // it was on its way when the owner had every order of the account cancelled
	asked   book.Code // why its cancel was asked for: CancelledBy for somebody who wanted it, a reason of wick's own, or empty
}

// Open returns the broker as the venue of h.
func (o *Options) Open(h book.Host) book.Venue {
	h.Book.Remote = book.Remote{Name: o.Name, Account: o.Account, Late: make(map[string]int), Closed: "the orders and positions at " + o.Name + " have not been read yet"}
	return &venue{Host: h, broker: o.Broker, deadMan: o.DeadMan, kick: make(chan struct{}, 1), doubts: make(map[string]*doubt), streamAt: time.Now(), readAt: time.Now()}
}

// Money is that of the broker.
func (v *venue) Money() book.Money { return v.broker.Money() }

// Reach fills nothing: the prices of the feed fill no order at a broker.
func (v *venue) Reach(t book.Tick, _ int64, _ book.Time) error {
	v.Book.See(t)
	return nil
}

// of returns what is known of o beyond the book. An order that an earlier process sent, or was
// about to, was given up at the latest moment at which it could be sent. Locked.
func (v *venue) of(o *book.Order) *doubt {
	if v.doubts[o.ID] == nil {
		v.doubts[o.ID] = &doubt{ended: o.Came().Add(sendWithin)}
	}
	return v.doubts[o.ID]
}

// forget drops what is known beyond the book of an order that has ended. One that may arrive
// all the same is still to be swept then. Locked.
func (v *venue) forget(o *book.Order) {
	if x := v.doubts[o.ID]; x == nil || !x.swept || o.BrokerID != "" {
		delete(v.doubts, o.ID)
	}
}

// order returns an order as it is on disk.
func (v *venue) order(id string) (o book.Order, err error) {
	err = v.Do(func(s *book.State) error {
		o = s.Order(id).Public()
		return nil
	})
	return o, err
}

// arrival is an order on its way to the broker.
type arrival struct {
	*venue
	rules Rules
	wire  Order // what is sent
}

// Prepare asks the broker for the rules that it has for orders in a symbol now.
func (v *venue) Prepare(ctx context.Context, symbol string) (book.Arrival, error) {
	rules, err := v.broker.Rules(ctx, symbol)
	if err != nil {
		return nil, notSent(err)
	}
	return &arrival{venue: v, rules: rules}, nil
}

// notSent returns the refusal of an order that the broker's rules do not allow, or whose
// rules could not be had.
func notSent(err error) error {
	if no := (*Refused)(nil); errors.As(err, &no) {
		return book.Refuse("broker_rule", "%s", no.Text)
	}
	return book.Refuse("broker_not_ready", "the broker could not be asked for its rules; nothing was sent: %s", limit.Line(err.Error(), 200))
}

// Lot is by the broker's rules.
func (a *arrival) Lot(r book.OrderRequest) exact.Decimal {
	w := Order{Type: string(r.Type), TimeInForce: string(cmp.Or(r.TimeInForce, book.GTC)), OCOStop: r.OCO.StopPrice}
	if r.StopLoss != (book.Exit{}) || r.TakeProfit != (book.Exit{}) {
		w.StopLoss = 1 // where it stands is not known yet
	}
	return a.rules.Lot(w)
}

// Decide checks what the broker allows. The step is the intent to
// send the order: what is filled of it the broker decides, and fill is an estimate.
func (a *arrival) Decide(r book.OrderRequest, o *book.Order, q book.Quote, fill exact.Decimal) (*book.Event, error) {
	if err := a.admit(r, o, q.Price, fill, a.Lot(r)); err != nil {
		return nil, err
	}
	// The broker's day ends by its own clock.
	if o.ExpiresAt = nil; o.TimeInForce == book.Day {
		o.ExpiresAt = &book.Time{Time: a.rules.DayEnd}
	}
	a.wire = a.toSend(o, r, fill)
	if o.StopLoss != nil && a.wire.StopLoss == 0 || o.TakeProfit != nil && a.wire.TakeProfit == 0 {
		return nil, book.Refuse("bad_exit", "an exit would be at less than %s, the step of prices at %s; choose a smaller distance", a.rules.Tick(0), a.Book.Remote.Name)
	}
	if err := a.rules.Check(a.wire); err != nil {
		return nil, notSent(err)
	}
	o.UpdatedAt = o.CreatedAt
	if r.DryRun && fill != 0 {
		o.AveragePrice = &fill // shown to the person who has to approve it
	}
	return &book.Event{At: o.CreatedAt, Order: o}, nil
}

// Enter proposes the intent to send the order. It is noted as being sent under the same lock,
// so that a report that is read meanwhile does not take it for lost.
func (a *arrival) Enter(ev *book.Event, _ int64) error {
	ev.Order.Why = []book.Reason{book.Because(book.Sending)}
	err := a.Book.Propose(book.KindIntent, ev)
	if err == nil {
		a.of(ev.Order).sending = true
	}
	return err
}

// admit refuses o if it asks for what a broker elsewhere cannot do, or for more than the account
// there can spend. Lot is the step of quantities. Locked.
func (v *venue) admit(r book.OrderRequest, o *book.Order, price, fill, lot exact.Decimal) error {
	remote := &v.Book.Remote
	if err := v.checkUnderWay(o); err != nil {
		return err
	}
	// The buying power must suffice at the highest of all prices, also that of the stop of
	// an oco; an order that only shrinks the position needs none.
	worst := max(book.Worst(r, o, price, fill), price)
	need, ok := o.Quantity.Times(worst, exact.Up)
	old := v.Book.Order(o.Replaces)
	switch power := remote.Statement.BuyingPower; {
	case o.PostOnly:
		return book.Refuse("broker_rule", "%s knows no post_only", remote.Name)
	case r.ReduceOnly && o.Type != book.Market && o.Role == "":
		return book.Refuse("broker_rule", "%s knows no reduce_only for orders that wait: use type market, or leave it out", remote.Name)
	case o.TimeInForce == book.GTD:
		return book.Refuse("broker_rule", "%s knows no time_in_force gtd: use day or gtc", remote.Name)
	case old != nil && (old.BrokerID == "" || old.FilledQuantity != 0):
		return book.Later.Refuse("broker_rule", "order %s is not known to %s yet, or filled in part, and cannot be replaced: cancel it and place another", old.ID, remote.Name)
	case old != nil && (old.Side != o.Side || old.Type != o.Type):
		return book.Refuse("broker_rule", "%s can change the prices and the quantity of an order, not its side or type: cancel it and place another", remote.Name)
	case !v.Book.Leaves(o) && (!ok || need > power):
		most, _ := exact.Product(max(power, 0), exact.One).Per(worst)
		most, _ = most.Step(max(lot, v.Book.Grid(o.Symbol).Lot), exact.Down)
		return book.Refuse("buying_power", "the order is worth %s and the account at %s can spend %s; %s", need, remote.Name, power, book.AtMost(most))
	}
	return nil
}

// checkUnderWay refuses a reduce_only order if not all of it would reduce what market orders
// of its side leave of the position, which are at the broker and whose fills are not known
// yet. On paper a fill is cut to what is left; a broker fills all of it. Locked.
func (v *venue) checkUnderWay(o *book.Order) error {
	if !o.Cut() {
		return nil
	}
	held, closing := v.Book.Closable(o.Symbol), exact.Decimal(0)
	for _, other := range v.Book.Open[o.Symbol] {
		if other.Side == o.Side && other.Type == book.Market {
			closing += other.Remaining().Abs()
		}
	}
	left := max(held.Abs()-closing, 0)
	if o.Quantity <= left {
		return nil
	}
	return book.Later.Refuse("reduce_only", "the position in %s is %s, and market orders that are under way %s %s of it: at most %s more reduces it; get_orders says when they are filled",
		o.Symbol, held, o.Side, closing, left)
}

// wire returns o in the words of this package, under our own id as its ClientID.
func wire(o *book.Order) Order {
	w := Order{
		ClientID: o.ID, ID: o.BrokerID, Symbol: o.Symbol, Side: string(o.Side), Type: string(o.Type), TimeInForce: string(cmp.Or(o.TimeInForce, book.GTC)), Quantity: o.Quantity,
		TrailAmount: o.TrailAmount, TrailPercent: o.TrailPercent,
	}
	if o.Price != nil {
		w.Limit = *o.Price
	}
	if o.StopPrice != nil && o.Type != book.TrailingStop {
		w.Stop = *o.StopPrice
	}
	return w
}

// toSend returns o as it is sent. Fill is the price at which it would be filled at
// once, zero if it waits. Exits that were given as a distance are sent as the prices that
// follow from it now, on the broker's step of prices. It makes o one of a group if it has
// an oco.
func (a *arrival) toSend(o *book.Order, r book.OrderRequest, fill exact.Decimal) Order {
	w, owned := wire(o), a.Book.Owned(o.Symbol)
	w.Symbol = a.rules.Symbol
	w.Short = o.Side == book.Sell && o.Quantity > owned
	w.Reduces = o.ReduceOnly || book.Shrinks(owned, o.Remaining())
	entry := cmp.Or(fill, o.Worst())
	// exit returns the price of an exit, 0 for none. A price that was given stays as it
	// is; one that was worked out is rounded down to the broker's step, and may be 0 then.
	exit := func(x *book.Exit, role book.Role) exact.Decimal {
		if x == nil {
			return 0
		}
		at, _ := x.At(entry, (o.Side == book.Buy) == (role == book.RoleTakeProfit)) // or 0
		if x.Price == 0 {
			at -= at % a.rules.Tick(at)
		}
		return at
	}
	w.StopLoss, w.TakeProfit = exit(o.StopLoss, book.RoleStopLoss), exit(o.TakeProfit, book.RoleTakeProfit)
	if w.OCOStop, w.OCOLimit = r.OCO.StopPrice, r.OCO.Price; w.OCOStop != 0 {
		o.Group, o.Role = o.ID, book.RoleOCO
	}
	if old := a.Book.Order(o.Replaces); old != nil {
		w.Replaces = old.BrokerID
	}
	return w
}

// sendWithin is how old an intent may be when it is sent. A later process does not
// know when an order was sent, but by this bound it knows the latest moment.
const sendWithin = 30 * time.Second

// Submit sends an order whose intent is on disk, once, and writes down what came of it. If
// the answer is lost the order is open with a reason that says so, until the broker has been
// asked what became of it. Nothing is sent a second time by itself: that is the client's
// decision, under the same client_order_id.
func (a *arrival) Submit(ctx context.Context, p book.Placed) (book.Placed, error) {
	// An intent that waited too long for the disk is not sent: another process may
	// already count it as never sent.
	var s State
	var lost error = &Refused{Text: "nothing was sent: to write it down took longer than " + sendWithin.String()}
	if time.Since(p.Came().Time) < sendWithin {
		s, lost = a.broker.Submit(ctx, a.wire)
	}
	sure, swept := true, false
	err := a.Do(func(st *book.State) (err error) {
		o := st.Order(p.ID)
		switch no := (*Refused)(nil); {
		case o.Status.Terminal(): // the stream was faster
		case lost == nil:
			sure, err = a.learn(p.ID, s)
		case errors.As(lost, &no) && o.Unknown():
			err = a.restate(o, book.StatusRejected, book.Because(book.BrokerRefused, no.Text))
		case o.Unknown():
			a.Log.Warn("the broker's answer to an order is lost", "order", p.ID, "error", limit.Line(lost.Error(), 200))
			err = a.restate(o, o.Status, book.Because(book.AnswerLost, limit.Line(lost.Error(), 120)))
		}
		if x := a.doubts[p.ID]; x != nil { // it is still open
			x.sending, x.ended = false, time.Now()
		}
		swept = a.swept(st.Order(p.ID))
		return err
	})
	// The account is read soon if the answer does not tell everything.
	if lost != nil || !sure || a.wire.Replaces != "" {
		a.soon()
	}
	if err == nil && swept {
		_, _ = a.cancel(itself, []string{p.ID}, book.CancelledBy) // what fails is tried again after the next report
	}
	if err == nil {
		err = a.Do(func(st *book.State) error {
			o := st.Order(p.ID)
			p.Order, p.Beside = o.Public(), a.Book.Beside(o)
			return nil
		})
	}
	if err != nil {
		return book.Placed{}, fmt.Errorf("outcome unknown: order %s was sent to %s: %w", p.ID, a.Book.Remote.Name, err)
	}
	return p, nil
}
