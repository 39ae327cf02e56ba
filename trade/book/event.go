package book

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"wick/internal/exact"
	"wick/sse"
)

// Kind says what happened in a record of the journal. The numbers are on disk: they
// are never reused. The journal itself uses 1. A start fails at a record of an unknown
// kind.
type Kind byte

const (
	KindStarted        Kind = 2  // a process opened the store
	KindPlaced         Kind = 3  // an order was accepted, and filled if it could be at once; again when it comes because its rule became true
	KindFilled         Kind = 4  // an order that rested, or one at a broker, was filled, perhaps in part; the rest may be cancelled with it
	KindCancelled      Kind = 5  // an order was cancelled; at a broker perhaps with a last fill
	KindIntent         Kind = 6  // an order is about to be sent to a broker elsewhere
	KindBrokerAnswered Kind = 7  // what became of it there without a fill; also that it was refused or given up
	KindAlertSet       Kind = 8  // an alert waits
	KindAlertGone      Kind = 9  // an alert was cancelled, or has expired
	KindFired          Kind = 10 // an alert fired: its notification, and the queues it entered
	KindDrained        Kind = 11 // the polling queue was read up to a sequence
	KindDelivered      Kind = 12 // queues were delivered up to a sequence each
	KindExpired        Kind = 13 // entries past their hour leave the queues
	KindSubscribed     Kind = 14 // a subscription was made, changed or claimed
	KindUnsubscribed   Kind = 15 // a subscription and its queue are gone
	KindTrading        Kind = 16 // the trading state changed
	KindOrderRejected  Kind = 17 // an open order could not be filled, or came by its rule and was refused, or is rejected at the broker; one that the broker refuses when it is sent is KindBrokerAnswered
	KindSeen           Kind = 18 // how far prices and bars were judged
	KindOrderChanged   Kind = 30 // a stop_limit was triggered and waits for its limit, or an order was reached and waits until the account can be valued, or its rule became true
	KindDay            Kind = 31 // what the account came to when it was first valued on a day
	KindOutbox         Kind = 32 // a step of the outbox; see Outbox
	KindVenue          Kind = 33 // which account the directory belongs to; see Stamp
	KindApproval       Kind = 34 // what a person answered about an order, before it was placed
	KindAlertChanged   Kind = 37 // an alert that waits was changed, under its id
	KindImported       Kind = 35 // an order of the log that this store was made from, as it is
	KindLabelled       Kind = 36 // an order was given a tag or a note
)

// kindNames are what an audit calls the kinds.
var kindNames = map[Kind]string{
	KindStarted: "started", KindPlaced: "order_placed", KindFilled: "order_filled",
	KindCancelled: "order_cancelled", KindIntent: "order_intent", KindBrokerAnswered: "order_answered",
	KindAlertSet: "alert_set", KindAlertChanged: "alert_changed", KindAlertGone: "alert_cancelled", KindFired: "alert_fired",
	KindDrained: "notifications_drained", KindDelivered: "notifications_delivered", KindExpired: "queues_expired",
	KindSubscribed: "subscribed", KindUnsubscribed: "unsubscribed", KindTrading: "trading_state",
	KindOrderRejected: "order_rejected", KindSeen: "market_seen",
	KindOrderChanged: "order_changed", KindDay: "account_day", KindOutbox: "outbox",
	KindVenue: "broker", KindApproval: "approval_answered", KindImported: "order_imported", KindLabelled: "order_labelled",
}

// String returns the name that an audit shows.
func (k Kind) String() string {
	if name := kindNames[k]; name != "" {
		return name
	}
	return fmt.Sprintf("kind_%d", byte(k))
}

// Event is the payload of a record: all that is needed to take the step again,
// outcome included, so that replay computes nothing anew. Values behind its
// pointers are never changed once the event exists; states share them.
//
// A record has a bounded size, so an event has whole orders only of those that begin with
// it, which are at most two. Of the others that it ends, which may be all open orders of a
// symbol, it has the ids: MaxOpenPerSymbol of them fit.
type Event struct {
	At           Time                     `json:"at"`
	Order        *Order                   `json:"order,omitempty"`    // as it is after the step
	Begin        []*Order                 `json:"begin,omitempty"`    // others that begin with it: its exits, or the stop beside it
	Ends         []Cancellation           `json:"ends,omitempty"`     // open orders that are cancelled with it
	Holding      *Holding                 `json:"position,omitempty"` // of the order's symbol, after a fill
	Alert        *Alert                   `json:"alert,omitempty"`    // that was set or is gone; after a firing, as it waits on if it repeats
	Notification *Notification            `json:"notification,omitempty"`
	To           []string                 `json:"to,omitempty"` // subscriptions whose queues it entered
	Subscription *sse.Subscription        `json:"subscription,omitempty"`
	Marks        map[string]uint64        `json:"marks,omitempty"`   // subscription to last delivered sequence
	Through      uint64                   `json:"through,omitempty"` // last drained sequence
	Day          *DayMark                 `json:"day,omitempty"`
	Trading      TradingState             `json:"trading,omitempty"`
	Tripped      string                   `json:"tripped,omitempty"`  // the day on which the account had lost too much
	ByOwner      bool                     `json:"by_owner,omitempty"` // on a shared log: reducing is the owner's word, not that of the loss
	Epoch        string                   `json:"epoch,omitempty"`    // of the process that started
	Seen         map[string]*Seen         `json:"seen,omitempty"`     // by symbol; also with a new alert, and with a new order if none is known of its symbol
	Stops        map[string]exact.Decimal `json:"stops,omitempty"`    // where trailing stops stood at that time, by order id
	Outbox       json.RawMessage          `json:"outbox,omitempty"`
	Evidence     json.RawMessage          `json:"evidence,omitempty"` // of a person's answer, as package permit wrote it
	Venue        *Stamp                   `json:"venue,omitempty"`
	Holdings     map[string]Holding       `json:"positions,omitempty"` // those that lost what the account at the broker lacks, by symbol
	Ranges       map[string]Range         `json:"ranges,omitempty"`    // where the prices of held symbols have been since their last fills, up to now
	Risk         *Risk                    `json:"risk,omitempty"`      // the first of the trade in the order's symbol
	Trades       []*Trade                 `json:"trades,omitempty"`    // that end with it
	Label        *Labelling               `json:"label,omitempty"`
	By           *Who                     `json:"by,omitempty"` // who cancelled, halted or accepted positions; orders and alerts have a By of their own

	// What the step means to the hub and to the outbox, which get it once it is on disk.
	// Both depend on the state before the step, and are set when it is taken.
	Queued *sse.Record `json:"-"`
	Steps  []Step      `json:"-"`
}

// Cancellation is an open order that is cancelled by a step of another one.
type Cancellation struct {
	ID   string `json:"id"`
	Code Code   `json:"code"`
	// Stop is where a trailing stop stood, if it has moved since the journal noted it.
	Stop exact.Decimal `json:"stop,omitempty"`
}

// Open adds to ev an order that begins with it.
func (ev *Event) Open(o *Order) {
	o.UpdatedAt = ev.At
	ev.Begin = append(ev.Begin, o)
}

// Cancel adds to ev that an open order is cancelled. The first code that is given for an order
// counts.
func (ev *Event) Cancel(o *Order, code Code) {
	if !slices.ContainsFunc(ev.Ends, func(e Cancellation) bool { return e.ID == o.ID }) {
		ev.Ends = append(ev.Ends, Cancellation{ID: o.ID, Code: code})
	}
}

// Changed returns the orders that ev changes, as they are after it: its own first, then those
// that begin and those that end. Known returns an order as it was before ev, or nil; what is
// not known is left out.
func (ev *Event) Changed(known func(id string) *Order) []*Order {
	if ev.Order == nil {
		return nil
	}
	all := append([]*Order{ev.Order}, slices.DeleteFunc(slices.Clone(ev.Begin), func(o *Order) bool { return o == nil })...)
	for _, e := range ev.Ends {
		before := known(e.ID)
		if before == nil {
			continue
		}
		after, why := *before, Because(e.Code)
		if strings.Contains(Codes[e.Code].Says, "%s") { // it names the order of the step
			why = Because(e.Code, ev.Order.ID)
		}
		after.Status, after.UpdatedAt = StatusCancelled, ev.At
		after.Explain(why)
		if e.Stop != 0 {
			after.StopPrice = &e.Stop
		}
		all = append(all, &after)
	}
	return all
}

// DecodeEvent reads the payload of a record.
func DecodeEvent(payload []byte) (ev *Event, err error) {
	ev = new(Event)
	return ev, json.Unmarshal(payload, ev)
}

// stepsPerRecord is larger than the number of steps that any record makes: the journal
// bounds the size of a record, and with it the number of its orders.
const stepsPerRecord = 1 << 16

// Step is what the outbox is told of a record of the journal: that an order ended, an
// alert fired, the trading state changed, or that package trade's Engine.WriteOutbox was
// called. Beside ID, Seq and At only the fields of one of these are set. An event that ends
// several orders makes several of them, and a fill of a part makes none.
type Step struct {
	ID  string // unique among all stores, the same after a restart
	Seq uint64 // rising from step to step
	At  Time

	Order        *Order        // it was filled, cancelled or rejected; as clients see it
	Again        bool          // it had ended before: its reason says what the broker has changed since
	Notification *Notification // of an alert that fired
	Trading      TradingState  // the state that trading is in now
	Why          string        // who or what changed it; may be empty
	Lost         bool          // it changed because the account has lost as much as it may in a day
	Record       []byte        // what Engine.WriteOutbox was given

	By *Who // whose order or alert it is; nil if that is not known
}

// outboxSteps returns what the outbox is told of a record. It is called before the record is
// applied, because an alert that fires is gone afterwards. The same record gives the
// same steps with the same ids, however often it is read.
func (s *State) outboxSteps(seq uint64, k Kind, ev *Event) (steps []Step) {
	add := func(t Step) {
		t.ID, t.Seq, t.At = fmt.Sprintf("n-%s-%d", s.Store[:8], seq), seq*stepsPerRecord+uint64(len(steps)), ev.At
		if len(steps) > 0 {
			t.ID += fmt.Sprintf(".%d", len(steps))
		}
		steps = append(steps, t)
	}
	switch k {
	// The outbox hears only of the end of an order.
	case KindPlaced, KindFilled, KindBrokerAnswered, KindCancelled, KindOrderRejected, KindOrderChanged:
		for _, o := range ev.Changed(s.Order) {
			if o.Status.Terminal() {
				public, before := o.Public(), s.Order(o.ID)
				add(Step{Order: &public, Again: before != nil && before.Status.Terminal(), By: o.By})
			}
		}
	case KindFired:
		if n := ev.Notification; n != nil && s.Alerts[n.AlertID] != nil {
			add(Step{Notification: n, By: s.Alerts[n.AlertID].By})
		}
	case KindTrading:
		// That the account has lost too much is told once a day.
		t := Step{Trading: ev.Trading, Lost: ev.Tripped != "" && ev.Tripped != s.Tripped}
		if ev.By != nil {
			t.Why = ev.By.Name
		}
		add(t)
	case KindOutbox:
		add(Step{Record: ev.Outbox})
	}
	return steps
}
