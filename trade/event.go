package trade

import (
	"encoding/json"
	"fmt"
	"slices"

	"wick/delivery"
	"wick/internal/exact"
)

// kind says what happened in a record of the journal. The numbers are on disk: they
// are never reused. The journal itself uses 1. A start fails at a record of an unknown
// kind.
type kind byte

const (
	kindStarted       kind = 2  // a process opened the store
	kindPlaced        kind = 3  // an order was accepted, and filled if it could be at once
	kindFilled        kind = 4  // a resting order was filled; at a broker elsewhere perhaps in part
	kindCancelled     kind = 5  // an order was cancelled
	kindIntent        kind = 6  // an order is about to be sent to a broker elsewhere
	kindAnswered      kind = 7  // what became of it there, without a fill
	kindAlertSet      kind = 8  // an alert waits
	kindAlertGone     kind = 9  // an alert was cancelled, or has expired
	kindFired         kind = 10 // an alert fired: its notification, and the queues it entered
	kindDrained       kind = 11 // the polling queue was read up to a sequence
	kindDelivered     kind = 12 // queues were delivered up to a sequence each
	kindExpired       kind = 13 // entries past their hour leave the queues
	kindSubscribed    kind = 14 // a subscription was made, changed or claimed
	kindUnsubscribed  kind = 15 // a subscription and its queue are gone
	kindTrading       kind = 16 // the trading state changed
	kindOrderRejected kind = 17 // an open order could not be filled, or its broker refused it
	kindSeen          kind = 18 // how far prices and bars were judged
	kindOrderChanged  kind = 30 // a stop_limit was triggered and waits for its limit, or an order was reached and waits until the account can be valued
	kindDay           kind = 31 // what the account came to when it was first valued on a day
	kindOutbox        kind = 32 // a step of the outbox; see Outbox
	kindVenue         kind = 33 // which account the directory belongs to; see stamp
	kindAnswer        kind = 34 // what a person answered about an order, before it was placed
	kindImported      kind = 35 // an order of the log that this store was made from, as it is
)

// kindNames are what an audit calls the kinds.
var kindNames = map[kind]string{
	kindStarted: "started", kindPlaced: "order_placed", kindFilled: "order_filled",
	kindCancelled: "order_cancelled", kindIntent: "order_intent", kindAnswered: "order_answered",
	kindAlertSet: "alert_set", kindAlertGone: "alert_cancelled", kindFired: "alert_fired",
	kindDrained: "notifications_drained", kindDelivered: "notifications_delivered", kindExpired: "queues_expired",
	kindSubscribed: "subscribed", kindUnsubscribed: "unsubscribed", kindTrading: "trading_state",
	kindOrderRejected: "order_rejected", kindSeen: "market_seen",
	kindOrderChanged: "order_changed", kindDay: "account_day", kindOutbox: "outbox",
	kindVenue: "broker", kindAnswer: "order_answered_by_person", kindImported: "order_imported",
}

// String returns the name that an audit shows.
func (k kind) String() string {
	if name := kindNames[k]; name != "" {
		return name
	}
	return fmt.Sprintf("kind_%d", byte(k))
}

// event is the payload of a record: all that is needed to take the step again,
// outcome included, so that replay computes nothing anew. Values behind its
// pointers are never changed once the event exists; states share them.
//
// A record has a bounded size, so an event has whole orders only of those that begin with
// it, which are at most two. Of the others that it ends, which may be all open orders of a
// symbol, it has the ids: maxOpenPerSymbol of them fit.
type event struct {
	At           Time                     `json:"at"`
	Order        *Order                   `json:"order,omitempty"`    // as it is after the step
	Begin        []*Order                 `json:"begin,omitempty"`    // others that begin with it: its exits, or the stop beside it
	Ends         []ending                 `json:"ends,omitempty"`     // open orders that are cancelled with it
	Holding      *holding                 `json:"position,omitempty"` // of the order's symbol, after a fill
	Alert        *Alert                   `json:"alert,omitempty"`    // that was set or is gone; after a firing, as it waits on if it repeats
	Notification *Notification            `json:"notification,omitempty"`
	To           []string                 `json:"to,omitempty"` // subscriptions whose queues it entered
	Subscription *delivery.Subscription   `json:"subscription,omitempty"`
	Marks        map[string]uint64        `json:"marks,omitempty"`   // subscription to last delivered sequence
	Through      uint64                   `json:"through,omitempty"` // last drained sequence
	Day          *dayMark                 `json:"day,omitempty"`
	Trading      TradingState             `json:"trading,omitempty"`
	Tripped      string                   `json:"tripped,omitempty"`  // the day on which the account had lost too much
	ByOwner      bool                     `json:"by_owner,omitempty"` // on a shared log: reducing is the owner's word, not that of the loss
	Epoch        string                   `json:"epoch,omitempty"`    // of the process that started
	Seen         map[string]*seen         `json:"seen,omitempty"`     // by symbol; also with a new alert, and with a new order if none is known of its symbol
	Stops        map[string]exact.Decimal `json:"stops,omitempty"`    // where trailing stops stood at that time, by order id
	Outbox       json.RawMessage          `json:"outbox,omitempty"`
	Evidence     json.RawMessage          `json:"evidence,omitempty"` // of a person's answer, as package permit wrote it
	Venue        *stamp                   `json:"venue,omitempty"`
	Holdings     map[string]holding       `json:"positions,omitempty"` // those that lost what the account at the broker lacks, by symbol
	By           *Who                     `json:"by,omitempty"`        // who cancelled, halted or accepted positions; orders and alerts have a By of their own

	// What the step means to the hub and to the outbox, which get it once it is on disk.
	// Both depend on the state before the step, and are set when it is taken.
	queued *delivery.Record `json:"-"`
	steps  []Step           `json:"-"`
}

// ending is an open order that is cancelled by a step of another one.
type ending struct {
	ID   string `json:"id"`
	Code Code   `json:"code"`
	// Stop is where a trailing stop stood, if it has moved since the journal noted it.
	Stop exact.Decimal `json:"stop,omitempty"`
}

// reason returns why the order ends with the one called id.
func (e ending) reason(id string) Reason {
	switch e.Code {
	case mateFilled, mateEnded, replaced:
		return because(e.Code, id)
	}
	return because(e.Code)
}

// begin adds to ev an order that begins with it.
func (ev *event) begin(o *Order) {
	o.UpdatedAt = ev.At
	ev.Begin = append(ev.Begin, o)
}

// end adds to ev that an open order is cancelled. The first code that is given for an order
// counts.
func (ev *event) end(o *Order, code Code) {
	if !slices.ContainsFunc(ev.Ends, func(e ending) bool { return e.ID == o.ID }) {
		ev.Ends = append(ev.Ends, ending{ID: o.ID, Code: code})
	}
}

// changed returns the orders that ev changes, as they are after it: its own first, then those
// that begin and those that end. Known returns an order as it was before ev, or nil; what is
// not known is left out.
func (ev *event) changed(known func(id string) *Order) []*Order {
	if ev.Order == nil {
		return nil
	}
	all := append([]*Order{ev.Order}, slices.DeleteFunc(slices.Clone(ev.Begin), func(o *Order) bool { return o == nil })...)
	for _, e := range ev.Ends {
		before := known(e.ID)
		if before == nil {
			continue
		}
		after := *before
		after.Status, after.UpdatedAt = StatusCancelled, ev.At
		after.explain(e.reason(ev.Order.ID))
		if e.Stop != 0 {
			after.StopPrice = &e.Stop
		}
		all = append(all, &after)
	}
	return all
}

// decodeEvent reads the payload of a record.
func decodeEvent(payload []byte) (ev *event, err error) {
	ev = new(event)
	return ev, json.Unmarshal(payload, ev)
}

// stamp says which account a data directory belongs to. Base is by how much more than the
// book the account holds, as the owner has accepted it.
type stamp struct {
	Broker  string                   `json:"broker"`
	Account string                   `json:"account"`
	Base    map[string]exact.Decimal `json:"base,omitempty"` // by broker.Key of the symbol
}

// base returns what the owner has accepted of the symbol with a key; nothing without a stamp.
func (s *stamp) base(key string) exact.Decimal {
	if s == nil {
		return 0
	}
	return s.Base[key]
}

// dayMark is the account as it was first valued on a day, in UTC.
type dayMark struct {
	Date     string      `json:"date"`
	Equity   exact.Money `json:"equity"`
	Realized exact.Money `json:"realized"`
	Fees     exact.Money `json:"fees"`
	// Cash is what was paid in by then. Zero, in marks of versions that did not
	// write it, means as much as now.
	Cash exact.Decimal `json:"cash,omitempty"`
	// Synthetic says that an invented price is in the sums.
	Synthetic bool `json:"synthetic,omitempty"`
}

// with returns d as it would have been had cash been paid in then. Another amount
// of --cash is no profit and no loss, so days are compared as if all of them had
// begun with the same.
func (d dayMark) with(cash exact.Decimal) dayMark {
	if d.Cash != 0 {
		d.Equity, d.Cash = plus(d.Equity, minus(cash.Money(), d.Cash.Money())), cash
	}
	return d
}

// plus and minus are sums of amounts whose parts were added up before without
// leaving the range.
func plus(x, y exact.Money) exact.Money { z, _ := x.Add(y); return z }

func minus(x, y exact.Money) exact.Money { z, _ := x.Sub(y); return z }

const (
	maxDays   = 400 // day marks that are kept: a little more than a year
	shownDays = 31  // days that an account lists
)
