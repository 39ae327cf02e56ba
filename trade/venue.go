package trade

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"wick/trade/book"
)

// Money returns which money the orders of this book move.
func (e *Engine) Money() book.Money { return e.venue.Money() }

// host returns what a venue may use of e.
func (e *Engine) host() book.Host {
	look := func(read func()) {
		e.mu.Lock()
		defer e.mu.Unlock()
		read()
	}
	return book.Host{Book: &e.book, Do: e.Do, Look: look, Place: e.Place, Refresh: e.refreshTrading, Now: now, Log: e.log}
}

// ErrStamp reports a data directory that belongs to another broker or account.
var ErrStamp = errors.New("the data directory belongs to another account")

// checkStamp refuses a data directory that was used with another broker or account, and
// stamps a new one with its own. A book of paper orders is never taken for one of real
// orders, nor the other way round.
func (e *Engine) checkStamp(*book.State) error {
	was, is := e.book.Venue, &e.book.Remote
	// Anything that was ever traded here, finished orders that have left memory included.
	used := len(e.book.Orders) > 0 || len(e.book.Holdings) > 0 || e.archive.Len() > 0
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

// VenueStatus is how a book and its broker stand to each other.
type VenueStatus struct {
	book.Remote
	Money   book.Money
	State   string   // ready, differs or closed
	Unknown []string // orders whose outcome is not known
}

// Venue returns how the book and its broker stand, and false if there is none: on paper.
// What was filled after ReadAt may not be in what the broker says of the account.
func (e *Engine) Venue() (VenueStatus, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.book.Remote.Name == "" {
		return VenueStatus{}, false
	}
	s := VenueStatus{Remote: e.book.Remote, Money: e.Money(), State: "ready"}
	s.Late = maps.Clone(s.Late)
	switch {
	case s.Closed != "":
		s.State = "closed"
	case s.Unlike():
		s.State = "differs"
	}
	for _, o := range e.book.OpenOrders() {
		if o.Unknown() {
			s.Unknown = append(s.Unknown, o.ID)
		}
	}
	return s, true
}

// AcceptPositions takes the positions at the broker as they are, and trading goes on. It
// returns what it accepted: the differences, and the orders that the book had given up and
// the broker has.
func (e *Engine) AcceptPositions(who book.Who) (accepted []book.Difference, turnedUp []string, err error) {
	return e.venue.Accept(who)
}

// CancelEverything cancels the orders that are in this book alone, and asks the broker to cancel
// every order of the account, no matter who placed it; if that is done, it cancels those of this
// book that were on their way once they are there. A follower has the leader do it.
func (e *Engine) CancelEverything(ctx context.Context, who book.Who) error {
	if e.follows() {
		return e.peers.Ask(ctx, AskCancel, who, nil)
	}
	var here []string
	e.mu.Lock()
	for _, o := range e.book.OpenOrders() {
		if o.Account == "" {
			here = append(here, o.ID)
		}
	}
	e.mu.Unlock()
	if _, err := e.cancel(who, here); err != nil {
		return err
	}
	return e.venue.CancelEverything(ctx, who)
}
