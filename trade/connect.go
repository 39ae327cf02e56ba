package trade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"wick/broker"
	"wick/exact"
	"wick/limit"
)

// ErrStamp reports a data directory that belongs to another broker or account.
var ErrStamp = errors.New("the data directory belongs to another account")

// checkStamp refuses a data directory that was used with another broker or account, and
// stamps a new one with its own. A book of paper orders is never taken for one of real
// orders, nor the other way round.
func (e *Engine) checkStamp() error {
	_, _, err := e.locked(e.judgeStamp)
	return err
}

// judgeStamp does the work of checkStamp under the lock.
func (e *Engine) judgeStamp(*state) error {
	was, v := e.ahead.venue, e.venue
	// Anything that was ever traded here, finished orders that have left memory included.
	used := len(e.ahead.orders) > 0 || len(e.ahead.holdings) > 0 || e.index != nil && e.index.Len() > 0
	switch {
	// On paper, as before.
	case v == nil && was == nil:
		return nil
	case v == nil:
		return fmt.Errorf("%w: %s, account %s; start with --broker %s, or choose another --data-dir", ErrStamp, was.Broker, was.Account, was.Broker)
	case was == nil && used:
		return fmt.Errorf("%w: it holds paper orders; choose another --data-dir for %s", ErrStamp, v.name)
	case was == nil && v.account == "":
		return fmt.Errorf("%s cannot be asked which account this is, and the data directory is new", v.name)
	case was == nil:
		err := e.propose(kindVenue, &event{At: now(), Venue: &stamp{Broker: v.name, Account: v.account}})
		return err // on disk with the next step, before anything is sent
	case was.Broker != v.name || v.account != "" && was.Account != v.account:
		return fmt.Errorf("%w: %s, account %s, and not %s, account %s; choose another --data-dir", ErrStamp, was.Broker, was.Account, v.name, v.account)
	}
	v.account = was.Account
	return nil
}

// hear keeps the broker's stream open and reads it. After each connect the account is
// read, because nobody knows what was missed. When the stream ends, hear connects again
// after a pause that doubles up to a minute, and never gives up.
func (e *Engine) hear(ctx context.Context) error {
	v, pause := e.venue, streamPause
	for ctx.Err() == nil {
		e.mu.Lock()
		after := v.lastEvent
		e.mu.Unlock()
		// On connect the pause becomes small again, and what was missed is asked for.
		err := v.Stream(ctx, after, func() {
			pause = streamPause
			e.setStream(true)
			v.soon()
		}, e.heard)
		// The stream ended, however long it lasted.
		e.setStream(false)
		if ctx.Err() != nil {
			return nil
		}
		e.log.Warn("the broker's stream is away", "broker", v.name, "error", limit.Line(err.Error(), 200), "pause", pause.String())
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Minute)
	}
	return nil
}

// setStream notes whether the stream is connected, and since when.
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
	e.noteInterrupted()
	for ctx.Err() == nil {
		wait := restPeriod
		if sure := e.reconcile(ctx); !sure {
			wait = busyPeriod
		}
		e.sweep("")
		e.trimExits(ctx)
		// The switch acts as long as the stream is away: orders may be placed meanwhile, and
		// not all may have been cancelled.
		if e.switchDue() {
			e.release()
		}
		if e.venue.deadMan > 0 {
			wait = min(wait, max(e.venue.deadMan/4, time.Second))
		}
		select {
		case <-ctx.Done():
		case <-e.venue.kick:
		case <-time.After(wait):
		}
	}
	return nil
}

// noteInterrupted writes down of orders that an earlier process was about to send that nobody
// sends them any more: their reason would say so until the broker has been asked.
func (e *Engine) noteInterrupted() {
	err := e.Do(func(*state) (err error) {
		for _, o := range e.ahead.openOrders() {
			if d := e.venue.doubts[o.ID]; o.has(sending) && (d == nil || !d.sending) && err == nil {
				err = e.restate(o, o.Status, because(interrupted))
			}
		}
		return err
	})
	if err != nil {
		e.log.Error("that orders are not being sent any more could not be written down", "error", limit.Line(err.Error(), 200))
	}
}

// switchDue reports whether the stream has been away for as long as the dead man's
// switch allows.
func (e *Engine) switchDue() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.venue
	due := v.deadMan > 0 && !v.up && time.Since(v.changedAt) >= v.deadMan
	if !due {
		clear(v.released)
	}
	return due
}

// release cancels all open orders that rest, if there are any. A market order does not: it
// may be the one by which a client leaves a position.
func (e *Engine) release() {
	e.mu.Lock()
	var resting []string
	for _, o := range e.ahead.openOrders() {
		if o.Type != Market {
			resting = append(resting, o.ID)
			e.venue.released[o.ID] = true
		}
	}
	e.mu.Unlock()
	if len(resting) == 0 {
		return
	}
	orders, err := e.cancelAllLive(Who{Name: "dead man's switch"}, resting)
	e.log.Warn("the broker's stream is away for too long: resting orders are cancelled", "orders", len(orders), "after", e.venue.deadMan.String(), "failed", err != nil)
}

// VenueStatus is how a book and its broker stand to each other.
type VenueStatus struct {
	Broker      string       `json:"broker"`
	Account     string       `json:"account"`
	Money       Money        `json:"money"`
	State       string       `json:"state"`                 // ready, differs or closed
	Reason      string       `json:"reason,omitempty"`      // why it is closed
	Unknown     []string     `json:"unknown,omitempty"`     // orders whose outcome is not known
	Late        []string     `json:"late,omitempty"`        // orders that the book had given up and the broker has
	Differences []Difference `json:"differences,omitempty"` // positions that are not what the book says
	External    int          `json:"external_orders"`       // open orders of the account that this book did not place
	Stream      bool         `json:"stream"`                // the stream is connected: what happens is known at once
}

// Money is which money orders move: the one home of that fact is the broker that they go to.
type Money = broker.Money

// The kinds of money.
const (
	RealMoney = broker.Real
	NoMoney   = broker.None
)

// Money returns which money the orders of this book move.
func (e *Engine) Money() Money {
	if e.venue == nil {
		return NoMoney
	}
	return e.venue.Money()
}

// Venue returns how the book and its broker stand, and false for paper. It does not wait for the disk.
func (e *Engine) Venue() (VenueStatus, bool) {
	if e.venue == nil {
		return VenueStatus{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.venue
	s := VenueStatus{Broker: v.name, Account: v.account, Money: v.Money(), State: "ready", Reason: v.closed, Differences: v.differs, Late: sorted(v.late), External: len(v.external), Stream: v.up}
	switch {
	case v.closed != "":
		s.State = "closed"
	case len(v.differs)+len(v.late) > 0:
		s.State = "differs"
	}
	for _, o := range e.ahead.openOrders() {
		if o.Unknown() {
			s.Unknown = append(s.Unknown, o.ID)
		}
	}
	return s, true
}

// AccountAtBroker returns what the broker last said of the account, and when. The time is
// zero if it has said nothing yet or there is none. What was filled after that time may not
// be in the account.
func (e *Engine) AccountAtBroker() (broker.Account, Time) {
	if e.venue == nil {
		return broker.Account{}, Time{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.venue.report.Account, Time{e.venue.readAt.UTC().Truncate(time.Millisecond)}
}

// AcceptPositions takes the positions at the broker as they are: what differs now
// counts as known from here on, and trading goes on. It returns what it accepted: the
// differences, and the orders that the book had given up and the broker has. Only the owner
// can ask for it. Until then new positions are refused, because the book does not know what
// it holds. What cannot be written down is not accepted.
func (e *Engine) AcceptPositions(who Who) (accepted []Difference, turnedUp []string, err error) {
	if e.venue == nil {
		return nil, nil, refuse("no_broker", "there is no broker: the positions are those of the paper book")
	}
	v := e.venue
	var late map[string]int
	err = e.Do(func(*state) error {
		accepted, late = nil, maps.Clone(v.late)
		if len(v.differs)+len(late) == 0 && (v.closed != "" || len(v.suspected) > 0) {
			return refuse("broker_not_ready", "what differs at %s is not known yet: %s", v.name, cmp.Or(v.closed, "positions are being compared"))
		}
		s := &stamp{Broker: v.name, Account: v.account, Base: make(map[string]exact.Decimal)}
		maps.Copy(s.Base, e.ahead.venue.Base)
		ev := &event{At: now(), Venue: s, Holdings: make(map[string]holding), By: who.short()}
		accepted = e.acceptDifferences(ev)
		if len(v.differs) > 0 && len(accepted)+len(late) == 0 {
			symbol := v.differs[0].Symbol
			return refuse("outcome_unknown", "what was filled of %s is not known yet, and may be why %s differs: it can be accepted once that is known", e.mayHaveFills(broker.Key(symbol)), symbol)
		}
		return e.propose(kindVenue, ev)
	})
	if err != nil {
		return nil, nil, err
	}
	// What was found while the step was being written has not been accepted, and stays.
	known := func(d Difference) bool { return slices.Contains(accepted, d) }
	e.mu.Lock()
	v.differs = slices.DeleteFunc(slices.Clone(v.differs), known)
	v.suspected = slices.DeleteFunc(slices.Clone(v.suspected), known)
	maps.DeleteFunc(v.late, func(id string, times int) bool { return late[id] == times })
	e.mu.Unlock()
	v.soon()
	return accepted, sorted(late), e.refreshTrading()
}

// acceptDifferences puts into ev what follows if the owner accepts what differs, and returns what can
// be accepted now. Called with mu held.
func (e *Engine) acceptDifferences(ev *event) (accepted []Difference) {
	for _, d := range e.venue.differs {
		key, base := broker.Key(d.Symbol), d.Broker-d.Book
		if e.mayHaveFills(key) != "" { // what the account lacks by one would be counted again when it is known
			continue
		}
		accepted = append(accepted, d)
		// What the account lacks leaves the book, which may have it in two spellings.
		for _, symbol := range sorted(e.ahead.holdings) {
			h := e.ahead.holdings[symbol]
			if gone := reducible(h.Quantity, base); broker.Key(symbol) == key && gone != 0 {
				ev.Holdings[symbol] = h.without(gone)
				base += h.Quantity - ev.Holdings[symbol].Quantity
			}
		}
		// The base says by how much the account may differ from the book. It takes the place of
		// what was accepted before.
		ev.Venue.Base[key] = base
	}
	return accepted
}

// mayHaveFills returns the id of an open order of the symbol with this key that may have
// fills which the book does not know, or "". Called with mu held.
func (e *Engine) mayHaveFills(key string) string {
	for _, o := range e.ahead.openOrders() {
		if broker.Key(o.Symbol) == key && o.Unknown() {
			return o.ID
		}
	}
	return ""
}

// CancelEverything asks the broker to cancel every order of the account, no matter who
// placed it, and if that is done, cancels those of this book that were on their way once
// they are there. On paper it cancels the orders of the book. A follower has the leader do
// it.
func (e *Engine) CancelEverything(ctx context.Context, who Who) error {
	if e.follows() {
		return e.options.Shared.Ask(ctx, AskCancel, who, nil)
	}
	if e.venue == nil {
		_, err := e.CancelOrders(who, "")
		return err
	}
	e.log.Warn("all orders of the account are cancelled", "broker", e.venue.name, "by", who.Name)
	e.mu.Lock()
	var coming []string // also those that were given up, which may arrive all the same
	for _, o := range e.ahead.orders {
		if o.Account != "" && o.BrokerID == "" {
			coming = append(coming, o.ID)
		}
	}
	e.mu.Unlock()
	left, err := e.venue.CancelAll(ctx)
	e.mu.Lock()
	for _, id := range coming {
		e.venue.swept[id] = err == nil || e.venue.swept[id]
	}
	e.mu.Unlock()
	e.venue.soon() // sweeps what has arrived meanwhile
	if left > 0 {
		return fmt.Errorf("%s would not cancel %d of the open orders: look at its dashboard", e.venue.name, left)
	}
	return err
}
