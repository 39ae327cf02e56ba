package trade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/broker"
	"wick/exact"
	"wick/limit"
)

// Broker is a broker elsewhere, whose answers can be lost. What its errors mean is
// said in package broker. Its methods may be called from many goroutines.
type Broker interface {
	// Rules returns what orders in a symbol must keep to.
	Rules(ctx context.Context, symbol string) (broker.Rules, error)
	// Submit sends an order, once.
	Submit(ctx context.Context, o broker.Order) (broker.State, error)
	// Cancel asks for the end of the order with the broker's id.
	Cancel(ctx context.Context, id string) error
	// CancelAll asks for the end of every order of the account, whoever placed it.
	CancelAll(ctx context.Context) error
	// Lookup asks for an order, by the broker's id or else by our own.
	Lookup(ctx context.Context, o broker.Order) (broker.State, error)
	// Report asks for all that is open and held.
	Report(ctx context.Context) (broker.Report, error)
	// Fills asks for the fills since a time, in their order; of very many it returns
	// the newest.
	Fills(ctx context.Context, since time.Time) ([]broker.Fill, error)
	// Stream tells what happens after the event with an id, until it breaks.
	Stream(ctx context.Context, after string, connected func(), deliver func(broker.Event)) error
}

// VenueOptions say where orders are carried out in place of the paper broker.
type VenueOptions struct {
	Broker  Broker
	Name    string // such as alpaca-paper; on every order
	Account string // the account's number there; empty if it could not be asked for
	// DeadMan is how long the broker's stream may be away before the resting orders
	// of this book are cancelled. Zero means for ever.
	DeadMan time.Duration
}

// stamp says whose the data directory is. Base is by how much the account's
// positions differ from the book's fills with the owner's knowledge.
type stamp struct {
	Broker  string                   `json:"broker"`
	Account string                   `json:"account"`
	Base    map[string]exact.Decimal `json:"base,omitempty"` // by broker.Key of the symbol
}

// venue is the broker with what is known of it. Its fields below the first group
// are guarded by the engine's mu.
type venue struct {
	Broker
	name    string
	deadMan time.Duration
	kick    chan struct{} // asks for a reconciliation soon

	account   string
	born      time.Time            // when this process began
	judged    bool                 // the account has been read and compared since then
	closed    string               // why no order is taken; empty once the account has been read
	differs   []Difference         // seen twice in a row
	suspected string               // differences that were seen once
	late      map[string]int       // orders that the book had given up and the broker has all the same
	suspectAt time.Time            // when they were seen first
	doubts    map[string]*doubt    // of orders that are being sent or whose outcome is unknown
	behind    map[string]time.Time // since when fills of an order are missing
	report    broker.Report        // the newest
	external  []broker.State
	readAt    time.Time // when the report came; zero for never
	dark      bool      // the last report could not be had
	up        bool      // the stream is there
	changedAt time.Time // when that changed last
	lastEvent string    // id of the last event of the stream
}

// doubt is what this process knows of the sending of an order whose outcome is
// unknown. Of one that a process before it sent there is none.
type doubt struct {
	sending bool      // the request is still to be sent, or under way
	ended   time.Time // when it was given up
	misses  int       // how often in a row the broker did not know the order
}

// Difference is a position that is not what the book's fills come to.
type Difference struct {
	Symbol string        `json:"symbol"`
	Book   exact.Decimal `json:"book"`   // what wick's fills come to
	Broker exact.Decimal `json:"broker"` // what the broker says is held
}

// newVenue returns the venue of o, or nil for the paper broker.
func newVenue(o *VenueOptions) *venue {
	if o == nil {
		return nil
	}
	return &venue{
		Broker: o.Broker, name: o.Name, account: o.Account, deadMan: o.DeadMan, kick: make(chan struct{}, 1),
		closed: "the orders and positions at " + o.Name + " have not been read yet", changedAt: time.Now(), born: time.Now(),
		late: make(map[string]int), doubts: make(map[string]*doubt), behind: make(map[string]time.Time),
	}
}

// ErrStamp reports a data directory that belongs to another broker or account.
var ErrStamp = errors.New("the data directory belongs to another account")

// checkStamp refuses a directory that was used with another broker or account, and
// stamps a new one. A book that was kept on paper is never taken for a real one,
// nor the other way round.
func (e *Engine) checkStamp() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	was, v := e.ahead.venue, e.venue
	used := len(e.ahead.orders) > 0 || len(e.ahead.holdings) > 0 || e.archive.Head().Records > 0
	switch {
	// On paper, as it always was.
	case v == nil && was == nil:
		return nil
	case v == nil:
		return fmt.Errorf("%w: %s, account %s; start with --broker %s, or choose another --data-dir", ErrStamp, was.Broker, was.Account, was.Broker)
	case was == nil && used:
		return fmt.Errorf("%w: it holds paper orders; choose another --data-dir for %s", ErrStamp, v.name)
	case was == nil && v.account == "":
		return fmt.Errorf("%s cannot be asked which account this is, and the data directory is new", v.name)
	case was == nil:
		_, err := e.propose(kindVenue, &event{At: now(), Venue: &stamp{Broker: v.name, Account: v.account}})
		return err // on disk with the next step, before anything is sent
	case was.Broker != v.name || v.account != "" && was.Account != v.account:
		return fmt.Errorf("%w: %s, account %s, and not %s, account %s; choose another --data-dir", ErrStamp, was.Broker, was.Account, v.name, v.account)
	}
	v.account = was.Account
	return nil
}

// state returns whether trading is as it was written down, or halted because the
// broker's account was not read yet. Called with mu held.
func (v *venue) state(written TradingState) TradingState {
	if v != nil && v.closed != "" {
		return Halted
	}
	return written
}

// resting says what becomes of the orders that rest when trading is halted or
// reduced: what is given, on paper. At a broker elsewhere nothing holds them back.
func (v *venue) resting(onPaper string) string {
	if v != nil {
		return "orders that rest at " + v.name + " stay there and can be filled"
	}
	return onPaper
}

// restrict makes ev halt trading, or let only reducing orders pass, as long as what
// the broker has is not known or not what the book says. Called with mu held.
func (e *Engine) restrict(ev *event) {
	v := e.venue
	if v == nil || ev.Trading == Halted {
		return
	}
	// The hardest restriction that applies wins; the loss of the day is what the broker
	// says it is.
	today := ev.At.UTC().Format(time.DateOnly)
	most, account := e.options.Limits.DailyLoss, v.report.Account
	switch {
	case !v.judged && time.Since(v.born) < blindAfter:
		// Every start is like this for a moment, in which no order passes. What was
		// written down last stays, so that the owner hears of a change alone.
		ev.Trading, ev.Tripped = e.ahead.trading, e.ahead.tripped
	case v.closed != "":
		ev.Trading, ev.Tripped, ev.By = Halted, "", &Who{Name: "the broker is not reconciled"}
	case len(v.differs)+len(v.late) > 0:
		ev.Trading, ev.Tripped, ev.By = Reducing, "", &Who{Name: "the broker's positions differ"}
	case most > 0 && (e.ahead.tripped == today || account.LastEquity-account.Equity >= most):
		ev.Trading, ev.Tripped, ev.By = Reducing, today, &Who{Name: "--max-daily-loss"}
	}
}

// barred refuses o, which shrinks a position or does not, if what is known of the
// broker does not allow it. Called with mu held.
func (v *venue) barred(shrinks bool) error {
	switch {
	case v.closed != "":
		return refuse("broker_not_ready", later, "no order is sent to %s: %s", v.name, v.closed)
	case len(v.differs) > 0 && !shrinks:
		d := v.differs[0]
		return refuse("broker_differs", later, "%s holds %s of %s and this book's fills come to %s: until the owner has looked at it (wick --accept-positions) only orders that shrink a position are sent",
			v.name, d.Broker, d.Symbol, d.Book)
	case len(v.late) > 0 && !shrinks:
		return refuse("broker_differs", later, "%s has an order that this book had given up: until the owner has looked at it only orders that shrink a position are sent", v.name)
	}
	return nil
}

// soon asks for a reconciliation without waiting for it. One that was asked for already
// is enough.
func (v *venue) soon() {
	select {
	case v.kick <- struct{}{}:
	default:
	}
}

const (
	restPeriod  = 45 * time.Second // between two reconciliations when all is well
	busyPeriod  = 5 * time.Second  // when something is open to doubt
	streamPause = time.Second      // before a stream is opened again; doubled up to a minute
	blindAfter  = 3 * time.Minute  // without a report trading halts
)

// runVenue keeps the book and the broker together until ctx ends.
func (e *Engine) runVenue(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.hear(ctx) })
	g.Go(func() error { return e.keepReconciled(ctx) })
	return g.Wait()
}

// hear reads the broker's stream. After each beginning of it the account is
// read, because nobody knows what was missed.
func (e *Engine) hear(ctx context.Context) error {
	v, pause := e.venue, streamPause
	for ctx.Err() == nil {
		e.mu.Lock()
		after := v.lastEvent
		e.mu.Unlock()
		// Connected: the pause starts small again, and what was missed is asked for.
		err := v.Stream(ctx, after, func() {
			pause = streamPause
			e.setStream(true)
			v.soon()
		}, e.heard)
		e.setStream(false)
		if ctx.Err() != nil {
			return nil
		}
		e.log.Warn("the broker's stream is away", "broker", v.name, "error", limit.Line(err.Error(), 200), "pause", pause.String())
		sleep(ctx, pause)
		pause = min(2*pause, time.Minute)
	}
	return nil
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// setStream notes that the stream is there, or away.
func (e *Engine) setStream(up bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.venue.up != up {
		e.venue.up, e.venue.changedAt = up, time.Now()
	}
}

// keepReconciled reads the account at the start, when somebody asks for it, and
// regularly.
func (e *Engine) keepReconciled(ctx context.Context) error {
	released := false // the dead man's switch has done its work in this absence
	for ctx.Err() == nil {
		wait := restPeriod
		if sure := e.reconcile(ctx); !sure {
			wait = busyPeriod
		}
		// The switch acts once in each absence of the stream, and again if not all
		// could be cancelled.
		if !e.switchDue() {
			released = false
		} else if !released {
			released = e.release()
		}
		if e.venue.deadMan > 0 {
			wait = min(wait, max(e.venue.deadMan/4, time.Second))
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-e.venue.kick:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// switchDue reports whether the stream has been away for as long as the dead man's
// switch allows.
func (e *Engine) switchDue() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.venue
	return v.deadMan > 0 && !v.up && time.Since(v.changedAt) >= v.deadMan
}

// release cancels what rests, and reports whether all of it was.
func (e *Engine) release() bool {
	orders, err := e.CancelOrders(Who{Name: "dead man's switch"}, "")
	e.log.Warn("the broker's stream is away for too long: resting orders are cancelled", "orders", len(orders), "after", e.venue.deadMan.String(), "failed", err != nil)
	return err == nil
}

// VenueStatus is how a book and its broker stand to each other.
type VenueStatus struct {
	Broker      string       `json:"broker"`
	Account     string       `json:"account"`
	State       string       `json:"state"`                 // ready, differs or closed
	Reason      string       `json:"reason,omitempty"`      // why it is closed
	Unknown     []string     `json:"unknown,omitempty"`     // orders whose outcome is not known
	Differences []Difference `json:"differences,omitempty"` // positions that are not what the book says
	External    int          `json:"external_orders"`       // open orders of the account that this book did not place
	Stream      bool         `json:"stream"`                // what happens is told at once
}

// Venue returns how the book and its broker stand, and false for paper.
func (e *Engine) Venue() (VenueStatus, bool) {
	if e.venue == nil {
		return VenueStatus{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.venue
	s := VenueStatus{Broker: v.name, Account: v.account, State: "ready", Reason: v.closed, Differences: v.differs, External: len(v.external), Stream: v.up}
	switch {
	case v.closed != "":
		s.State = "closed"
	case len(v.differs)+len(v.late) > 0:
		s.State = "differs"
	}
	for _, o := range e.shown.openOrders() {
		if o.unknown() {
			s.Unknown = append(s.Unknown, o.ID)
		}
	}
	return s, true
}

// AccountAtBroker returns what the broker last said of the account, and false if
// it has said nothing yet or there is none.
func (e *Engine) AccountAtBroker() (broker.Account, bool) {
	if e.venue == nil {
		return broker.Account{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.venue.report.Account, !e.venue.readAt.IsZero()
}

// AcceptPositions takes the positions at the broker as they are: what differs now
// counts as known from here on, and trading goes on. It returns what it accepted.
func (e *Engine) AcceptPositions(who Who) ([]Difference, error) {
	if e.venue == nil {
		return nil, refuse("no_broker", never, "there is no broker: the positions are those of the paper book")
	}
	e.mu.Lock()
	v := e.venue
	accepted := v.differs
	// The base is by how much the account may differ from our fills: what was accepted
	// before, and what differs now in place of it.
	s := &stamp{Broker: v.name, Account: v.account, Base: make(map[string]exact.Decimal)}
	for key, d := range e.ahead.venue.Base {
		s.Base[key] = d
	}
	for _, d := range accepted {
		s.Base[broker.Key(d.Symbol)] = d.Broker - d.Book
	}
	clear(v.late)
	v.differs, v.suspected = nil, ""
	seq, err := e.propose(kindVenue, &event{At: now(), Venue: s, By: who.short()})
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := e.commit(seq); err != nil {
		return nil, err
	}
	v.soon()
	return accepted, e.refreshTrading()
}

// CancelEverything asks the broker to cancel every order of the account, whoever
// placed it; on paper it cancels those of the book.
func (e *Engine) CancelEverything(ctx context.Context, who Who) error {
	if e.venue == nil {
		_, err := e.CancelOrders(who, "")
		return err
	}
	e.log.Warn("all orders of the account are cancelled", "broker", e.venue.name, "by", who.Name)
	err := e.venue.CancelAll(ctx)
	e.venue.soon()
	return err
}
