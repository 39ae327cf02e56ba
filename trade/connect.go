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
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"

	"golang.org/x/sync/errgroup"
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
func (e *Engine) judgeStamp(*book.State) error {
	was, is := e.book.Venue, &e.book.Remote
	// Anything that was ever traded here, finished orders that have left memory included.
	used := len(e.book.Orders) > 0 || len(e.book.Holdings) > 0 || e.index != nil && e.index.Len() > 0
	switch {
	case was == nil && is.Name == "": // on paper, as before
		return nil
	case is.Name == "":
		return fmt.Errorf("%w: %s, account %s; start with --broker %s, or choose another --data-dir", ErrStamp, was.Broker, was.Account, was.Broker)
	case was == nil && used:
		return fmt.Errorf("%w: it holds paper orders; choose another --data-dir for %s", ErrStamp, is.Name)
	case was == nil && is.Account == "":
		return fmt.Errorf("%s cannot be asked which account this is, and the data directory is new", is.Name)
	case was == nil:
		return e.book.Propose(book.KindVenue, &book.Event{At: now(), Venue: &book.Stamp{Broker: is.Name, Account: is.Account}}) // on disk with the next step, before anything is sent
	case was.Broker != is.Name || is.Account != "" && was.Account != is.Account:
		return fmt.Errorf("%w: %s, account %s, and not %s, account %s; choose another --data-dir", ErrStamp, was.Broker, was.Account, is.Name, is.Account)
	}
	is.Account = was.Account
	return nil
}

// run hears the broker's stream and reads the account, until ctx ends.
func (v *liveVenue) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return v.hear(ctx) })
	g.Go(func() error { return v.keepReconciled(ctx) })
	return g.Wait()
}

// streamPause is how long to wait before a stream is opened again; doubled up to a minute.
const streamPause = time.Second

// hear keeps the broker's stream open and reads it. After each connect the account is
// read, because nobody knows what was missed. When the stream ends, hear connects again
// after a pause that doubles up to a minute, and never gives up.
func (v *liveVenue) hear(ctx context.Context) error {
	pause := streamPause
	for ctx.Err() == nil {
		v.mu.Lock()
		after := v.lastEvent
		v.mu.Unlock()
		// On connect the pause becomes small again, and what was missed is asked for.
		err := v.broker.Stream(ctx, after, func() {
			pause = streamPause
			v.setStream(true)
			v.soon()
		}, v.heard)
		// The stream ended, however long it lasted.
		v.setStream(false)
		if ctx.Err() != nil {
			return nil
		}
		v.log.Warn("the broker's stream is away", "broker", v.book.Remote.Name, "error", limit.Line(err.Error(), 200), "pause", pause.String())
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Minute)
	}
	return nil
}

// setStream notes whether the stream is connected, and since when.
func (v *liveVenue) setStream(up bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.remote.up != up {
		v.remote.up, v.remote.changedAt = up, time.Now()
	}
}

// keepReconciled reads the account at the start, when somebody asks for it, and
// regularly.
func (v *liveVenue) keepReconciled(ctx context.Context) error {
	v.noteInterrupted()
	for ctx.Err() == nil {
		wait := restPeriod
		if sure := v.reconcile(ctx); !sure {
			wait = busyPeriod
		}
		v.sweep("")
		v.trimExits(ctx)
		v.release()
		if v.deadMan > 0 {
			wait = min(wait, max(v.deadMan/4, time.Second))
		}
		select {
		case <-ctx.Done():
		case <-v.kick:
		case <-time.After(wait):
		}
	}
	return nil
}

// noteInterrupted writes down of orders that an earlier process was about to send that nobody
// sends them any more: their reason would say so until the broker has been asked.
func (v *liveVenue) noteInterrupted() {
	err := v.Do(func(s *book.State) (err error) {
		for _, o := range openOrders(s) {
			if x := v.orders[o.ID]; o.Has(book.Sending) && (x == nil || !x.sending) && err == nil {
				err = v.restate(o, o.Status, book.Because(book.Interrupted))
			}
		}
		return err
	})
	if err != nil {
		v.log.Error("that orders are not being sent any more could not be written down", "error", limit.Line(err.Error(), 200))
	}
}

// VenueStatus is how a book and its broker stand to each other.
type VenueStatus struct {
	Broker      string            `json:"broker"`
	Account     string            `json:"account"`
	Money       Money             `json:"money"`
	State       string            `json:"state"`                 // ready, differs or closed
	Reason      string            `json:"reason,omitempty"`      // why it is closed
	Unknown     []string          `json:"unknown,omitempty"`     // orders whose outcome is not known
	Late        []string          `json:"late,omitempty"`        // orders that the book had given up and the broker has
	Differences []book.Difference `json:"differences,omitempty"` // positions that are not what the book says
	External    int               `json:"external_orders"`       // open orders of the account that this book did not place
	Stream      bool              `json:"stream"`                // the stream is connected: what happens is known at once
}

// Venue returns how the book and its broker stand, and false if there is none: on paper.
func (e *Engine) Venue() (VenueStatus, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := &e.book.Remote
	if r.Name == "" {
		return VenueStatus{}, false
	}
	s := VenueStatus{Broker: r.Name, Account: r.Account, Money: e.Money(), State: "ready", Reason: r.Closed, Differences: r.Differs, Late: sorted(e.remote.late), External: len(r.External), Stream: e.remote.up}
	switch {
	case r.Closed != "":
		s.State = "closed"
	case len(r.Differs)+len(e.remote.late) > 0:
		s.State = "differs"
	}
	for _, o := range openOrders(e.book.State) {
		if o.Unknown() {
			s.Unknown = append(s.Unknown, o.ID)
		}
	}
	return s, true
}

// AccountAtBroker returns what the broker last said of the account, and when. The time is
// zero if it has said nothing yet or there is none. What was filled after that time may not
// be in the account.
func (e *Engine) AccountAtBroker() (broker.Account, book.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.remote.report.Account, book.Time{Time: e.remote.readAt.UTC().Truncate(time.Millisecond)}
}

// AcceptPositions takes the positions at the broker as they are: what differs now
// counts as known from here on, and trading goes on. It returns what it accepted: the
// differences, and the orders that the book had given up and the broker has. Only the owner
// can ask for it. Until then new positions are refused, because the book does not know what
// it holds. What cannot be written down is not accepted.
func (e *Engine) AcceptPositions(who book.Who) (accepted []book.Difference, turnedUp []string, err error) {
	return e.venue.acceptPositions(who)
}

func (v *liveVenue) acceptPositions(who book.Who) (accepted []book.Difference, turnedUp []string, err error) {
	r := &v.book.Remote
	var late map[string]int
	err = v.Do(func(*book.State) error {
		accepted, late = nil, maps.Clone(v.remote.late)
		if len(r.Differs)+len(late) == 0 && (r.Closed != "" || len(r.Suspected) > 0) {
			return book.Refuse("broker_not_ready", "what differs at %s is not known yet: %s", r.Name, cmp.Or(r.Closed, "positions are being compared"))
		}
		s := &book.Stamp{Broker: r.Name, Account: r.Account, Base: make(map[string]exact.Decimal)}
		maps.Copy(s.Base, v.book.Venue.Base)
		ev := &book.Event{At: now(), Venue: s, Holdings: make(map[string]book.Holding), By: who.Short()}
		accepted = v.acceptDifferences(ev)
		if len(r.Differs) > 0 && len(accepted)+len(late) == 0 {
			symbol := r.Differs[0].Symbol
			return book.Refuse("outcome_unknown", "what was filled of %s is not known yet, and may be why %s differs: it can be accepted once that is known", v.mayHaveFills(broker.Key(symbol)), symbol)
		}
		return v.book.Propose(book.KindVenue, ev)
	})
	if err != nil {
		return nil, nil, err
	}
	// What was found while the step was being written has not been accepted, and stays.
	known := func(d book.Difference) bool { return slices.Contains(accepted, d) }
	v.mu.Lock()
	r.Differs = slices.DeleteFunc(slices.Clone(r.Differs), known)
	r.Suspected = slices.DeleteFunc(slices.Clone(r.Suspected), known)
	maps.DeleteFunc(v.remote.late, func(id string, times int) bool { return late[id] == times })
	v.mu.Unlock()
	v.soon()
	return accepted, sorted(late), v.refreshTrading()
}

// acceptDifferences puts into ev what follows if the owner accepts what differs, and returns what can
// be accepted now. Called with mu held.
func (v *liveVenue) acceptDifferences(ev *book.Event) (accepted []book.Difference) {
	for _, d := range v.book.Remote.Differs {
		key, base := broker.Key(d.Symbol), d.Broker-d.Book
		if v.mayHaveFills(key) != "" { // what the account lacks by one would be counted again when it is known
			continue
		}
		accepted = append(accepted, d)
		// What the account lacks leaves the book, which may have it in two spellings.
		for _, symbol := range sorted(v.book.Holdings) {
			h := v.book.Holdings[symbol]
			if gone := book.Reducible(h.Quantity, base); broker.Key(symbol) == key && gone != 0 {
				ev.Holdings[symbol] = h.Without(gone)
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
func (v *liveVenue) mayHaveFills(key string) string {
	for _, o := range openOrders(v.book.State) {
		if x := v.orders[o.ID]; broker.Key(o.Symbol) == key && (o.Unknown() || x != nil && x.behind) {
			return o.ID
		}
	}
	return ""
}

// CancelEverything asks the broker to cancel every order of the account, no matter who
// placed it, and if that is done, cancels those of this book that were on their way once
// they are there. On paper it cancels the orders of the book. A follower has the leader do
// it.
func (e *Engine) CancelEverything(ctx context.Context, who book.Who) error {
	if e.follows() {
		return e.options.Shared.Ask(ctx, AskCancel, who, nil)
	}
	return e.venue.cancelEverything(ctx, who)
}
