package book

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/market"
	"wick/sse"
)

// State is everything the journal remembers. It changes in one place, [State.Apply],
// and only by records: replaying the same records gives the same state.
type State struct {
	Kept
	Seq     uint64 // of the last record applied
	Ordered uint64 // of the last record that changed an order, or of the snapshot
	Alerted uint64 // the same of alerts and notifications
	Store   string // random name of the store, in every file

	place     map[string]place    // where an order is in Orders, by its id
	ClientIDs map[string]string   // client_order_id to order id
	BrokerIDs map[string]string   // a broker's id of an order to ours
	Open      map[string][]*Order // open orders by symbol, in the order in which they are judged at one price
	Ruled     map[string][]*Order // the same of those that wait for their rule: no price and no sum sees them
	calm      map[string]calm     // by symbol, until one of its open orders changes
	sums      map[sideOf]sum      // the same
	OpenCount int                 // of both
	slots     int                 // of both: those that they and their exits need

	Alerts map[string]*Alert // active ones, by id
	Index  AlertIndex        // is told of alerts that come and go; nil while a store is read
	Named  map[string]*Alert // by client_alert_id, also those that are gone; at most MaxNamed

	Fired   []*Notification // what alerts told, oldest first; at most MaxFired
	Polling []*Notification // read by nobody with get_notifications
	Drained []Drained       // that somebody has read, the first within the last hour

	Subs *sse.Book // who is subscribed, and what is queued for each
}

// place is where an order is in Orders, and the record by which it is as it is: 1 if a snapshot had it.
type place struct {
	at  int
	seq uint64
}

// sideOf is one side of the open orders of a symbol.
type sideOf struct {
	symbol string
	side   Side
}

// Kept is the part of a state that a snapshot has as it is: orders, holdings, trades and what goes with them.
type Kept struct {
	Trading  TradingState         `json:"trading"`
	Tripped  string               `json:"tripped,omitempty"`       // the last day on which the account lost too much, as long as it may still restrict trading
	ByOwner  bool                 `json:"by_owner,omitempty"`      // on a shared log: reducing is the owner's word, and does not end with the day of a loss
	Orders   []*Order             `json:"orders"`                  // in order of acceptance
	Holdings map[string]Holding   `json:"positions"`               // by symbol
	Trades   map[string]*Trade    `json:"trades,omitempty"`        // those that are open, by symbol
	Done     []*Trade             `json:"closed_trades,omitempty"` // those that are closed and still in memory, in their order
	Labels   map[string]LateLabel `json:"labels,omitempty"`        // that were given later, by order id, as long as only the newest records have them
	Seen     map[string]*Seen     `json:"seen,omitempty"`          // from where on a restart judges the market, by symbol
	Days     []DayMark            `json:"days,omitempty"`          // the account when it was first valued on each day, oldest first; a little more than a year
	Places   map[string]uint64    `json:"places,omitempty"`        // the last notification that each reader has read, as long as one of those is kept
	Epoch    string               `json:"epoch,omitempty"`         // random name of the process that wrote the last records; part of every id
	Outbox   json.RawMessage      `json:"outbox,omitempty"`        // what the outbox's Snapshot returned, while a snapshot is read or written
	Venue    *Stamp               `json:"venue,omitempty"`         // nil for paper; replaced, never changed
}

// Drained is a notification that a client has read by polling.
type Drained struct {
	*Notification
	readAt Time
}

// AlertIndex is told of the alerts that begin to wait, change or end: as each was before and is
// after that, nil for none.
type AlertIndex interface{ Replace(before, after *Alert) }

// Seen is how far the engine has judged a symbol. The journal keeps it for symbols that
// alerts or open orders wait for, so that the next process goes on from there. It may be
// behind what was judged: to judge the same again changes nothing, because what fired or
// was filled no longer waits.
type Seen struct {
	Price     exact.Decimal             `json:"price"`               // the newest that was judged, rounded; zero if out of range
	At        int64                     `json:"at"`                  // when it was the price, in unix milliseconds
	Synthetic bool                      `json:"synthetic,omitempty"` // the price is invented
	Bars      map[market.Interval]int64 `json:"bars,omitempty"`      // start of the newest closed bar that was judged, in unix seconds
}

const (
	SeenPeriod = time.Minute // how far symbols were judged is written this often
	MaxSeen    = 100         // symbols in one such record, so that it fits
)

// Equal reports whether s and o say the same.
func (s *Seen) Equal(o *Seen) bool {
	return o != nil && s.Price == o.Price && s.At == o.At && s.Synthetic == o.Synthetic && maps.Equal(s.Bars, o.Bars)
}

// Missed returns about how many bars of an interval have closed by an instant since the last one that
// was judged: rather too many than too few, but at most market.MaxLimit. It returns zero
// if none was judged, or if s is nil.
func (s *Seen) Missed(iv market.Interval, at Time) int {
	if s == nil || s.Bars[iv] <= 0 {
		return 0
	}
	n := (at.Unix() - s.Bars[iv]) / iv.Seconds()
	return int(min(max(n, 0), market.MaxLimit))
}

// Of reports whether s can be compared with a series: both are invented, or neither. It
// returns false for nil.
func (s *Seen) Of(series *market.Series) bool { return s != nil && s.Synthetic == series.Synthetic }

// Stamp says which account a data directory belongs to. Base is by how much more than the
// book the account holds, as the owner has accepted it.
type Stamp struct {
	Broker  string                   `json:"broker"`
	Account string                   `json:"account"`
	Base    map[string]exact.Decimal `json:"base,omitempty"` // by Key of the symbol
}

// accepted returns what the owner has accepted of the symbol with a key; nothing without a stamp.
func (s *Stamp) accepted(key string) exact.Decimal {
	if s == nil {
		return 0
	}
	return s.Base[key]
}

// NewState returns the empty state of a store.
func NewState(store string) *State {
	return &State{
		Kept:  Kept{Trading: Active, Holdings: map[string]Holding{}, Trades: map[string]*Trade{}, Labels: map[string]LateLabel{}, Seen: map[string]*Seen{}, Places: map[string]uint64{}},
		Store: store, Alerts: map[string]*Alert{}, Named: map[string]*Alert{}, Subs: sse.NewBook(),
		place: map[string]place{}, ClientIDs: map[string]string{}, BrokerIDs: map[string]string{}, Open: map[string][]*Order{}, Ruled: map[string][]*Order{}, calm: map[string]calm{}, sums: map[sideOf]sum{},
	}
}

// Apply changes the state by the record with a sequence. An error means that the record
// cannot follow this state, which a start reports as damage.
func (s *State) Apply(seq uint64, k Kind, ev *Event) error {
	if seq != s.Seq+1 {
		return fmt.Errorf("sequence %d follows %d", seq, s.Seq)
	}
	open, ended := s.tradesAfter(ev)
	if err := s.step(seq, k, ev); err != nil {
		return err
	}
	s.setTrades(ev, open, ended)
	for symbol, seen := range ev.Seen {
		if s.Seen[symbol] = seen; seen == nil {
			delete(s.Seen, symbol)
		}
	}
	for id, stop := range ev.Stops {
		if o := s.Order(id); o != nil {
			s.setOrder(o.WithStop(stop))
		}
	}
	s.Seq = seq
	if ev.Order != nil || len(ev.Stops) > 0 || ev.Label != nil {
		s.Ordered = seq
	}
	if ev.Alert != nil || ev.Notification != nil {
		s.Alerted = seq
	}
	return nil
}

// step does the part of Apply that depends on the kind of the record. Where it matters,
// it checks that the record fits the state before it changes anything: a start reads
// records that somebody may have edited.
func (s *State) step(seq uint64, k Kind, ev *Event) error {
	switch k {
	case KindStarted:
		if _, err := hex.DecodeString(ev.Epoch); err != nil || len(ev.Epoch) > 2*EpochSize {
			return fmt.Errorf("epoch %q is not one", limit.Clip(ev.Epoch))
		}
		s.Epoch = ev.Epoch
		fallthrough
	case KindExpired:
		// Notifications that were read an hour ago are dropped. Those that nobody has read
		// stay, however old they are.
		for len(s.Drained) > 0 && s.Drained[0].readAt.Age(ev.At) >= sse.QueueTTL {
			s.Drained = s.Drained[1:]
		}
		return s.record(ev, sse.Record{})
	case KindPlaced, KindIntent, KindImported, KindFilled, KindBrokerAnswered, KindCancelled, KindOrderRejected, KindOrderChanged:
		if err := s.setOrders(k, ev); err != nil || ev.Notification == nil {
			return err
		}
		return s.queue(seq, ev)
	case KindAlertSet, KindAlertChanged, KindAlertGone:
		return s.alertChanged(k, ev)
	case KindFired:
		return s.fire(seq, ev)
	case KindDrained:
		s.Drain(ev)
	case KindDelivered:
		return s.record(ev, sse.Record{Marks: ev.Marks})
	case KindSubscribed, KindUnsubscribed:
		switch sub := ev.Subscription; {
		case sub == nil || sub.ID == "":
			return fmt.Errorf("%s of no subscription", k)
		case k == KindSubscribed:
			return s.record(ev, sse.Record{Subscribed: sub})
		default:
			return s.record(ev, sse.Record{Unsubscribed: sub.ID})
		}
	case KindDay:
		s.SetDay(ev.Day)
	case KindTrading:
		s.Trading, s.Tripped, s.ByOwner = ev.Trading, ev.Tripped, ev.ByOwner
	case KindVenue:
		if ev.Venue == nil {
			return fmt.Errorf("%s of none", k)
		}
		s.Venue = ev.Venue
		maps.Copy(s.Holdings, ev.Holdings)
	case KindLabelled:
		if ev.Label == nil {
			return fmt.Errorf("%s of none", k)
		}
		s.label(seq, ev.Label)
	case KindSeen: // all of it is in ev.Seen and ev.Stops, which records of other kinds may have too
	case KindApproval: // for the audit: the order names it
	case KindOutbox: // changes nothing here: the outbox gets it
	default:
		return fmt.Errorf("unknown kind %d", k)
	}
	return nil
}

// record applies a change of the subscriptions and queues, and notes it in ev for the hub.
func (s *State) record(ev *Event, r sse.Record) error {
	r.At = ev.At.Time
	ev.Queued = &r
	return s.Subs.Apply(r)
}

// setOrders stores the order of ev, the other orders that change with it, and the
// holding after it. All are checked before the first is stored, so that a record that
// does not fit changes nothing.
func (s *State) setOrders(k Kind, ev *Event) error {
	if err := s.fits(k, ev.Order, k == KindPlaced || k == KindIntent || k == KindImported); err != nil {
		return err
	}
	for _, o := range ev.Begin {
		if err := s.fits(k, o, true); err != nil {
			return err
		}
	}
	for _, e := range ev.Ends {
		if o := s.Order(e.ID); o == nil || o.Status.Terminal() || e.ID == ev.Order.ID || Codes[e.Code].Says == "" {
			return fmt.Errorf("%s of order %q, with which %q cannot end", k, limit.Clip(ev.Order.ID), limit.Clip(e.ID))
		}
	}
	for _, o := range ev.Changed(s.Order) {
		s.setOrder(o)
	}
	if ev.Holding != nil {
		s.Holdings[ev.Order.Symbol] = *ev.Holding
	}
	return nil
}

// fits returns an error if o cannot be stored now. A new order must not be known yet. Any
// other order must be known and not have ended, unless a broker elsewhere told of it later.
// Each has the prices that its type needs, and no others; where a stop stands that waits for its rule may not
// be known.
func (s *State) fits(k Kind, o *Order, isNew bool) error {
	if o == nil || o.Type.HasLimit() != (o.Price != nil) || o.Type.HasStop() != (o.StopPrice != nil) && !(o.StopPrice == nil && o.When != nil && o.When.ActedAt == nil) {
		return fmt.Errorf("%s without an order, or one without its price", k)
	}
	before := s.Order(o.ID)
	switch known := before != nil; {
	case isNew == known && !before.Pending(): // a second order with the same id, or a change of an order that is not known
		return fmt.Errorf("%s of order %q, which is known: %t", k, limit.Clip(o.ID), known)
	case known && before.Status.Terminal() && (k != KindBrokerAnswered || before.Account == ""):
		return fmt.Errorf("%s of order %q, which is %s for ever", k, limit.Clip(o.ID), before.Status)
	}
	return nil
}

// setOrder stores an order in place of what is known of it, and in the list of open orders.
func (s *State) setOrder(o *Order) {
	delete(s.calm, o.Symbol)
	delete(s.sums, sideOf{o.Symbol, Buy})
	delete(s.sums, sideOf{o.Symbol, Sell})
	before := s.Order(o.ID)
	if before != nil {
		at := s.place[o.ID].at
		s.Orders[at], s.place[o.ID] = o, place{at, s.Seq + 1}
	} else {
		s.place[o.ID] = place{len(s.Orders), s.Seq + 1}
		s.Orders = append(s.Orders, o)
		if o.ClientOrderID != "" {
			s.ClientIDs[o.ClientOrderID] = o.ID
		}
	}
	if o.BrokerID != "" {
		s.BrokerIDs[o.BrokerID] = o.ID
	}
	if s.Index != nil {
		s.Index.Replace(before.Rule(), o.Rule())
	}
	was, is := s.listOf(before), s.listOf(o)
	if was != nil {
		open := was[o.Symbol]
		at := slices.IndexFunc(open, func(other *Order) bool { return other.ID == o.ID })
		if is != nil && before.Pending() == o.Pending() {
			open[at] = o
			return
		}
		// A new list, since somebody may be going through this one.
		if was[o.Symbol] = slices.Concat(open[:at], open[at+1:]); len(open) == 1 {
			delete(was, o.Symbol)
		}
		s.OpenCount--
		s.slots -= before.slots()
	}
	if is != nil {
		open := is[o.Symbol]
		at := len(open)
		for at > 0 && o.before(open[at-1]) {
			at--
		}
		is[o.Symbol] = slices.Insert(slices.Clip(open), at, o)
		s.OpenCount++
		s.slots += o.slots()
	}
}

// listOf returns the lists in which an order is, nil for none.
func (s *State) listOf(o *Order) map[string][]*Order {
	switch {
	case o == nil || o.Status.Terminal():
		return nil
	case o.Pending():
		return s.Ruled
	}
	return s.Open
}

// Order returns the order called id, or nil.
func (s *State) Order(id string) *Order {
	if p, ok := s.place[id]; ok {
		return s.Orders[p.at]
	}
	return nil
}

// OpenOf returns all open orders of a symbol: those that rest, and then those that wait for their rule.
func (s *State) OpenOf(symbol string) []*Order { return slices.Concat(s.Open[symbol], s.Ruled[symbol]) }

// OpenSymbols returns the symbols of all open orders, in order.
func (s *State) OpenSymbols() []string {
	symbols := slices.AppendSeq(slices.Collect(maps.Keys(s.Open)), maps.Keys(s.Ruled))
	slices.Sort(symbols)
	return slices.Compact(symbols)
}

// OpenOrders returns all open orders, by symbol and in the order of acceptance.
func (s *State) OpenOrders() (orders []*Order) {
	for _, symbol := range s.OpenSymbols() {
		orders = append(orders, s.OpenOf(symbol)...)
	}
	return orders
}

// ForgetOrders takes orders that have ended out of memory until only as many are left as stay there:
// those that ended first, if the journal's index has them as they are, which it does up to the record
// through. One for which stays returns true stays beside them.
func (s *State) ForgetOrders(through uint64, kept int, stays func(*Order) bool) {
	ended := slices.DeleteFunc(slices.Clone(s.Orders), func(o *Order) bool { return !o.Status.Terminal() || stays(o) })
	extra := max(0, len(ended)-kept)
	old := slices.DeleteFunc(ended, func(o *Order) bool { return s.place[o.ID].seq > through })
	// By when they ended and not by when they were placed: an order that was open for
	// months is news when it ends.
	slices.SortStableFunc(old, func(a, b *Order) int { return a.UpdatedAt.Compare(b.UpdatedAt.Time) })
	for _, o := range old[:min(extra, len(old))] {
		s.Orders[s.place[o.ID].at] = nil
		delete(s.place, o.ID)
		delete(s.ClientIDs, o.ClientOrderID)
		delete(s.BrokerIDs, o.BrokerID)
	}
	s.Orders = slices.DeleteFunc(s.Orders, func(o *Order) bool { return o == nil })
	for i, o := range s.Orders {
		s.place[o.ID] = place{i, s.place[o.ID].seq}
	}
}

// alertChanged adds an alert that was set, replaces one that was changed, or removes one that was cancelled or has expired.
func (s *State) alertChanged(k Kind, ev *Event) error {
	a := ev.Alert
	switch {
	case a == nil || (k == KindAlertSet) == (s.Alerts[a.ID] != nil):
		return fmt.Errorf("%s of no alert or the wrong one", k)
	case k != KindAlertGone && a.Condition.Type == "": // a snapshot with it could not be read
		return fmt.Errorf("alert %q without a condition", limit.Clip(a.ID))
	case k != KindAlertGone:
		s.setAlert(a.ID, a)
	case a.Over(ev.At):
		s.endAlert(a.ID, EndedExpired, *a.ExpiresAt)
	default:
		s.endAlert(a.ID, EndedCancelled, ev.At)
	}
	return nil
}

// setAlert makes a the active alert with an id; nil for none.
func (s *State) setAlert(id string, a *Alert) {
	if s.Index != nil {
		s.Index.Replace(s.Alerts[id], a)
	}
	delete(s.Alerts, id)
	if a == nil {
		return
	}
	s.Alerts[id] = a
	s.Name(a)
}

// endAlert removes an alert for good. If it has a client_alert_id, it is remembered with
// the way it ended, so that a retry is not told that it still waits.
func (s *State) endAlert(id string, why Ending, at Time) {
	a := s.Alerts[id]
	s.setAlert(id, nil)
	if known := s.Named[a.ClientAlertID]; known != nil && known.ID == id { // otherwise it was forgotten
		s.Named[a.ClientAlertID] = a.withEnding(why, at)
	}
}

// MaxNamed is how many alerts are remembered by their client_alert_id.
const MaxNamed = 10_000

// Name remembers an alert by its client_alert_id, if it has one. Past the limit
// the oldest is forgotten.
func (s *State) Name(a *Alert) {
	if a.ClientAlertID == "" {
		return
	}
	if s.Named[a.ClientAlertID] = a; len(s.Named) > MaxNamed {
		// This goes through all of them, but only once for each new name.
		delete(s.Named, slices.MinFunc(slices.Collect(maps.Values(s.Named)), ByAge).ClientAlertID)
	}
}

// Remembered returns the alert that a client_alert_id was used for, as it is at a time,
// or nil. An alert whose time is over counts as expired, although it is kept a while
// longer for bars that come late.
func (s *State) Remembered(name string, at Time) *Alert {
	if a := s.Named[name]; a == nil || a.Ended != "" || !a.Over(at) {
		return a
	}
	return s.Named[name].withEnding(EndedExpired, *s.Named[name].ExpiresAt)
}

// SortedAlerts returns the active alerts, oldest first.
func (s *State) SortedAlerts() []*Alert { return slices.SortedFunc(maps.Values(s.Alerts), ByAge) }

// fire puts the notification of an alert into the polling queue and those of its
// recipients, and ends the alert, or replaces it if it repeats. It is one step, so that
// no crash can fire an alert twice or lose it.
func (s *State) fire(seq uint64, ev *Event) error {
	n, next := ev.Notification, ev.Alert
	if n == nil || s.Alerts[n.AlertID] == nil {
		return fmt.Errorf("an unknown alert fired")
	}
	if next != nil && (next.ID != n.AlertID || next.Condition.Type == "") {
		return fmt.Errorf("alert %q fired and another waits on", limit.Clip(n.AlertID))
	}
	// Queued first: it is the only part that can fail, and an alert that fired must
	// not be lost without a notification.
	if err := s.queue(seq, ev); err != nil {
		return err
	}
	s.Fired = append(s.Fired, s.Polling[len(s.Polling)-1])
	s.Fired = s.Fired[max(0, len(s.Fired)-MaxFired):]
	if next == nil {
		s.endAlert(n.AlertID, EndedFired, ev.At)
	} else {
		s.setAlert(n.AlertID, next)
	}
	return nil
}

// MaxFired is how many firings of alerts are remembered, the newest, whoever has read them and
// whatever became of their alerts.
const MaxFired = 10_000

// queue puts the notification of ev into the polling queue and those of its
// recipients.
func (s *State) queue(seq uint64, ev *Event) error {
	n := ev.Notification
	n.Seq, n.Epoch = seq, s.Epoch // they are not in the JSON of a record
	if err := s.record(ev, sse.Record{Fired: n.queued(), To: ev.To}); err != nil {
		return err
	}
	s.Polling = append(s.Polling, n)
	s.Polling = s.Polling[max(0, len(s.Polling)-sse.QueueCap):] // a full queue lets its oldest entry go
	return nil
}

// maxPlaces bounds the readers whose place in the polling queue is kept. One whose place is
// forgotten reads once more what is kept of the last hour.
const maxPlaces = 1000

// Drain notes how far a reader has read. It moves what nobody had read before to the list of
// those that were read, which has the same bound as the queue.
func (s *State) Drain(ev *Event) {
	if ev.By != nil {
		if s.Places[ev.By.ID] = ev.Through; len(s.Places) > maxPlaces {
			delete(s.Places, slices.MinFunc(slices.Collect(maps.Keys(s.Places)), func(a, b string) int { return cmp.Compare(s.Places[a], s.Places[b]) }))
		}
	}
	for len(s.Polling) > 0 && s.Polling[0].Seq <= ev.Through {
		s.Drained = append(s.Drained, Drained{s.Polling[0], ev.At})
		s.Polling = s.Polling[1:]
	}
	s.Drained = s.Drained[max(0, len(s.Drained)-sse.QueueCap):]
}

// ShortReader returns the name of a reader as it is written down: a part of a login's digest.
func ShortReader(reader string) string { return reader[:min(len(reader), 16)] }

// ReadBy returns which notifications of the last hour a reader has read, and which it has
// not, each oldest first.
func (s *State) ReadBy(reader string, at Time) (old, unread []*Notification) {
	for _, d := range s.Drained {
		switch {
		case d.readAt.Age(at) >= sse.QueueTTL:
		case d.Seq <= s.Places[ShortReader(reader)]:
			old = append(old, d.Notification)
		default:
			unread = append(unread, d.Notification)
		}
	}
	return old, append(unread, s.Polling...)
}

// NewID returns an id that nothing else in this or any other store has, made of the
// epoch of this process and the next sequence. The sequence alone would not do: a store
// that is restored from a copy uses the sequences since the copy again, and a client
// that remembers an id would find something else under it.
func (s *State) NewID(prefix string) string {
	return fmt.Sprintf("%s-%s-%d", prefix, s.Epoch, s.Seq+1)
}

// EpochSize is the length of an epoch in bytes. With four, the chance that an id is used
// again after a restore is one in four thousand million.
const EpochSize = 4

// SetDay adds a mark of the account. It ignores one that is not of a later day than the
// last, and drops the oldest past a little more than a year.
func (s *State) SetDay(d *DayMark) {
	if d != nil && (len(s.Days) == 0 || s.Days[len(s.Days)-1].Date < d.Date) {
		s.Days = append(s.Days[max(0, len(s.Days)+1-maxDays):], *d)
	}
}
