package book

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/sse"
)

// Entry is a notification in the polling queue or in a snapshot.
type Entry struct {
	Seq          uint64        `json:"seq"` // of the record that made it
	At           Time          `json:"at"`
	Notification *Notification `json:"notification"`
	Epoch        string        `json:"epoch,omitempty"` // in which the record was made
}

// drained is an entry that a client has read by polling.
type drained struct {
	*Entry
	readAt Time // At of the entry is when it fired
}

// State is everything the journal remembers. It changes in one place, apply,
// and only by records: replaying the same records gives the same state.
type State struct {
	Seq     uint64 // of the last record applied
	Ordered uint64 // of the last record that changed an order, or of the snapshot
	Alerted uint64 // the same of alerts and notifications
	Store   string // random name of the store, in every file
	Epoch   string // random name of the process that wrote the last records; part of every id
	Trading TradingState
	Tripped string // the last day on which the account lost too much, as long as it may still restrict trading
	ByOwner bool   // on a shared log: reducing is the owner's word, and does not end with the day of a loss

	Outbox []byte // what Outbox.Snapshot returned, while a snapshot is read

	Venue *Stamp // nil for paper; replaced, never changed

	Orders    []*Order            // in order of acceptance
	place     map[string]int      // order id to index in orders
	ClientIDs map[string]string   // client_order_id to order id
	BrokerIDs map[string]string   // a broker's id of an order to ours
	Open      map[string][]string // symbol to ids of open orders, in order of acceptance
	OpenCount int
	Slots     int                // of all open orders; see Order.slots
	Holdings  map[string]Holding // by symbol

	Alerts map[string]*Alert // active ones, by id
	Index  alertIndexer      // is told of alerts that come and go; nil while a store is read
	Named  map[string]*Alert // by client_alert_id, also those that are gone; at most maxNamed

	Seen map[string]*Seen // from where on a restart judges the market, by symbol

	Days []DayMark // the account when it was first valued on each day, oldest first; a little more than a year

	Polling []*Entry          // read by nobody with get_notifications
	Drained []drained         // that somebody has read, the first within the last hour
	places  map[string]uint64 // the last that each reader has read, as long as one of those is kept

	Subs *sse.Book // who is subscribed, and what is queued for each
}

// alertIndexer is told of the alerts that begin to wait and of those that end.
type alertIndexer interface {
	Add(*Alert)
	Remove(*Alert)
}

// NewState returns the empty state of a store.
func NewState(store string) *State {
	return &State{
		Store: store, Trading: Active,
		place: map[string]int{}, ClientIDs: map[string]string{}, BrokerIDs: map[string]string{}, Open: map[string][]string{},
		Holdings: map[string]Holding{}, Alerts: map[string]*Alert{}, Named: map[string]*Alert{},
		Seen: map[string]*Seen{}, Subs: sse.NewBook(),
	}
}

// record applies a change of the subscriptions and queues, and notes it in ev for the hub.
func (s *State) record(ev *Event, r sse.Record) error {
	r.At = ev.At.Time
	ev.Queued = &r
	return s.Subs.Apply(r)
}

// Apply changes the state by the record with a sequence. An error means that the record
// cannot follow this state, which a start reports as damage.
func (s *State) Apply(seq uint64, k Kind, ev *Event) error {
	if seq != s.Seq+1 {
		return fmt.Errorf("sequence %d follows %d", seq, s.Seq)
	}
	if err := s.step(seq, k, ev); err != nil {
		return err
	}
	s.setSeen(ev.Seen)
	s.setStops(ev.Stops)
	s.Seq = seq
	if ev.Order != nil || len(ev.Stops) > 0 {
		s.Ordered = seq
	}
	if ev.Alert != nil || ev.Notification != nil {
		s.Alerted = seq
	}
	return nil
}

// step does the part of apply that depends on the kind of the record. Where it matters,
// it checks that the record fits the state before it changes anything: a start reads
// records that somebody may have edited.
func (s *State) step(seq uint64, k Kind, ev *Event) error {
	switch k {
	case KindStarted, KindExpired:
		if err := s.setEpoch(k, ev); err != nil {
			return err
		}
		s.expireDrained(ev.At)
		return s.record(ev, sse.Record{})
	case KindPlaced, KindIntent, KindImported, KindFilled, KindBrokerAnswered, KindCancelled, KindOrderRejected, KindOrderChanged:
		if err := s.setOrders(k, ev); err != nil || ev.Notification == nil {
			return err
		}
		return s.queue(seq, ev)
	case KindAlertSet, KindAlertGone:
		return s.setAlert(k, ev)
	case KindFired:
		return s.fire(seq, ev)
	case KindDrained:
		s.Drain(ev)
	case KindDelivered:
		return s.record(ev, sse.Record{Marks: ev.Marks})
	case KindSubscribed, KindUnsubscribed:
		return s.setSubscription(k, ev)
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
	case KindSeen: // all of it is in ev.Seen and ev.Stops, which records of other kinds may have too
	case KindApproval: // for the audit: the order names it
	case KindOutbox: // changes nothing here: onDisk.Apply gives it to the outbox
	default:
		return fmt.Errorf("unknown kind %d", k)
	}
	return nil
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
func (s *State) fits(k Kind, o *Order, isNew bool) error {
	if o == nil || !o.wellFormed() {
		return fmt.Errorf("%s without an order, or one without its price", k)
	}
	before := s.Order(o.ID)
	switch known := before != nil; {
	case isNew == known: // a second order with the same id, or a change of an order that is not known
		return fmt.Errorf("%s of order %q, which is known: %t", k, limit.Clip(o.ID), known)
	case known && before.Status.Terminal() && (k != KindBrokerAnswered || before.Account == ""):
		return fmt.Errorf("%s of order %q, which is %s for ever", k, limit.Clip(o.ID), before.Status)
	}
	return nil
}

// setOrder stores an order in place of what is known of it.
func (s *State) setOrder(o *Order) {
	i, known := s.place[o.ID]
	was := known && !s.Orders[i].Status.Terminal()
	if known {
		s.Orders[i] = o
	} else {
		s.place[o.ID] = len(s.Orders)
		s.Orders = append(s.Orders, o)
		if o.ClientOrderID != "" {
			s.ClientIDs[o.ClientOrderID] = o.ID
		}
	}
	if o.BrokerID != "" {
		s.BrokerIDs[o.BrokerID] = o.ID
	}
	s.setOpen(o, was)
}

// setOpen brings the lists of open orders, which are sorted by Order.before, up to date
// with o. Was says whether o is in them now.
func (s *State) setOpen(o *Order, was bool) {
	is := !o.Status.Terminal()
	ids := s.Open[o.Symbol]
	switch {
	case is && !was:
		i := len(ids)
		for i > 0 && o.before(s.Order(ids[i-1])) {
			i--
		}
		s.Open[o.Symbol] = slices.Insert(ids, i, o.ID)
		s.OpenCount++
		s.Slots += o.Slots()
	case was && !is:
		// ids is the list as it was before: with one element left it is empty now.
		i := slices.Index(ids, o.ID)
		if s.Open[o.Symbol] = slices.Delete(ids, i, i+1); len(ids) == 1 {
			delete(s.Open, o.Symbol)
		}
		s.OpenCount--
		s.Slots -= o.Slots()
	}
}

// Order returns the order called id, or nil.
func (s *State) Order(id string) *Order {
	if i, ok := s.place[id]; ok {
		return s.Orders[i]
	}
	return nil
}

// setAlert adds an alert that was set or removes one that was cancelled or has expired.
func (s *State) setAlert(k Kind, ev *Event) error {
	a := ev.Alert
	if a == nil || (k == KindAlertSet) == (s.Alerts[a.ID] != nil) {
		return fmt.Errorf("%s of no alert or the wrong one", k)
	}
	if k == KindAlertSet {
		if a.Condition.Type == "" { // a snapshot with it could not be read
			return fmt.Errorf("alert %q without a condition", limit.Clip(a.ID))
		}
		s.addAlert(a)
		return nil
	}
	if a.Over(ev.At) {
		s.endAlert(a.ID, EndedExpired, *a.ExpiresAt)
	} else {
		s.endAlert(a.ID, EndedCancelled, ev.At)
	}
	return nil
}

// addAlert adds an alert that waits, under its id and its client_alert_id, and to the
// index.
func (s *State) addAlert(a *Alert) {
	s.Alerts[a.ID] = a
	s.Name(a)
	if s.Index != nil {
		s.Index.Add(a)
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
	s.Named[a.ClientAlertID] = a
	if len(s.Named) <= MaxNamed {
		return
	}
	// This goes through all of them, but only once for each new name.
	oldest := a
	for _, b := range s.Named {
		if CompareIDs(b.ID, oldest.ID) < 0 {
			oldest = b
		}
	}
	delete(s.Named, oldest.ClientAlertID)
}

// removeAlert takes an active alert out of the set and the index.
func (s *State) removeAlert(id string) {
	if s.Index != nil {
		s.Index.Remove(s.Alerts[id])
	}
	delete(s.Alerts, id)
}

// endAlert removes an alert for good. If it has a client_alert_id, it is remembered with
// the way it ended, so that a retry is not told that it still waits.
func (s *State) endAlert(id string, why Ending, at Time) {
	a := s.Alerts[id]
	s.removeAlert(id)
	if known := s.Named[a.ClientAlertID]; known != nil && known.ID == id { // otherwise it was forgotten, see name
		s.Named[a.ClientAlertID] = a.WithEnding(why, &at)
	}
}

// Remembered returns the alert that a client_alert_id was used for, as it is at a time,
// or nil. An alert whose time is over counts as expired, although it is kept a while
// longer for bars that come late.
func (s *State) Remembered(name string, at Time) *Alert {
	a := s.Named[name]
	switch {
	case a == nil || a.Ended != "":
		return a
	case s.Alerts[a.ID] == nil:
		return a.WithEnding(EndedUnknown, nil)
	case a.Over(at):
		return a.WithEnding(EndedExpired, a.ExpiresAt)
	}
	return a
}

// fire puts the notification of an alert into the polling queue and those of its
// recipients, and ends the alert, or replaces it if it repeats. It is one step, so that
// no crash can fire an alert twice or lose it.
func (s *State) fire(seq uint64, ev *Event) error {
	n := ev.Notification
	if n == nil || s.Alerts[n.AlertID] == nil {
		return fmt.Errorf("an unknown alert fired")
	}
	if a := ev.Alert; a != nil && (a.ID != n.AlertID || a.Condition.Type == "") {
		return fmt.Errorf("alert %q fired and another waits on", limit.Clip(n.AlertID))
	}
	// Queued first: it is the only part that can fail, and an alert that fired must
	// not be lost without a notification.
	if err := s.queue(seq, ev); err != nil {
		return err
	}
	if ev.Alert == nil {
		s.endAlert(n.AlertID, EndedFired, ev.At)
		return nil
	}
	s.removeAlert(n.AlertID)
	s.addAlert(ev.Alert)
	return nil
}

// queue puts the notification of ev into the polling queue and those of its
// recipients.
func (s *State) queue(seq uint64, ev *Event) error {
	n := ev.Notification
	if n.Seq != seq { // not set yet, because it is not in the JSON of a record
		n.Seq = seq
	}
	if err := s.record(ev, sse.Record{Fired: &sse.Entry{Seq: seq, Epoch: s.Epoch, At: ev.At.Time, Note: n}, To: ev.To}); err != nil {
		return err
	}
	// A full queue lets its oldest entry go.
	if extra := len(s.Polling) + 1 - sse.QueueCap; extra > 0 {
		s.Polling = s.Polling[extra:]
	}
	s.Polling = append(s.Polling, &Entry{seq, ev.At, n, s.Epoch})
	return nil
}

// maxPlaces bounds the readers whose place in the polling queue is kept. One whose place is
// forgotten reads once more what is kept of the last hour.
const maxPlaces = 1000

// Drain notes how far a reader has read. It moves what nobody had read before to the list of
// those that were read, which has the same bound as the queue.
func (s *State) Drain(ev *Event) {
	if ev.By != nil {
		places := maps.Clone(s.places) // a copy for a snapshot shares it
		if places == nil {
			places = make(map[string]uint64)
		}
		if places[ev.By.ID] = ev.Through; len(places) > maxPlaces {
			delete(places, slices.MinFunc(slices.Collect(maps.Keys(places)), func(a, b string) int { return cmp.Compare(places[a], places[b]) }))
		}
		s.places = places
	}
	for len(s.Polling) > 0 && s.Polling[0].Seq <= ev.Through {
		s.Drained = append(s.Drained, drained{s.Polling[0], ev.At})
		s.Polling = s.Polling[1:]
	}
	if extra := len(s.Drained) - sse.QueueCap; extra > 0 {
		s.Drained = s.Drained[extra:]
	}
}

// ShortReader returns the name of a reader as it is written down: a part of a login's digest.
func ShortReader(reader string) string { return reader[:min(len(reader), 16)] }

// ReadBy returns which notifications of the last hour a reader has read, and which it has
// not, each oldest first.
func (s *State) ReadBy(reader string, at Time) (old, unread []*Entry) {
	for _, d := range s.Drained {
		switch {
		case d.readAt.Age(at) >= sse.QueueTTL:
		case d.Seq <= s.places[ShortReader(reader)]:
			old = append(old, d.Entry)
		default:
			unread = append(unread, d.Entry)
		}
	}
	return old, append(unread, s.Polling...)
}

// expireDrained drops notifications that were read an hour ago or earlier. Those that
// nobody has read stay, however old they are.
func (s *State) expireDrained(at Time) {
	for len(s.Drained) > 0 && s.Drained[0].readAt.Age(at) >= sse.QueueTTL {
		s.Drained = s.Drained[1:]
	}
}

// setSubscription makes, changes, hands over or ends a subscription.
func (s *State) setSubscription(k Kind, ev *Event) error {
	switch {
	case ev.Subscription == nil || ev.Subscription.ID == "":
		return fmt.Errorf("%s of no subscription", k)
	case k == KindSubscribed:
		return s.record(ev, sse.Record{Subscribed: ev.Subscription})
	}
	return s.record(ev, sse.Record{Unsubscribed: ev.Subscription.ID})
}

// SortedAlerts returns the active alerts, oldest first.
func (s *State) SortedAlerts() []*Alert {
	alerts := slices.AppendSeq([]*Alert{}, maps.Values(s.Alerts)) // not nil, so that JSON has an empty list
	slices.SortFunc(alerts, ByAge)
	return alerts
}

// NewID returns an id that nothing else in this or any other store has, made of the
// epoch of this process and the next sequence. The sequence alone would not do: a store
// that is restored from a copy uses the sequences since the copy again, and a client
// that remembers an id would find something else under it.
func (s *State) NewID(prefix string) string {
	return fmt.Sprintf("%s-%s-%d", prefix, s.Epoch, s.Seq+1)
}

// setEpoch begins the epoch of a process that has started. Records of early versions
// have an empty one.
func (s *State) setEpoch(k Kind, ev *Event) error {
	if k != KindStarted {
		return nil
	}
	if _, err := hex.DecodeString(ev.Epoch); err != nil || len(ev.Epoch) > 2*EpochSize {
		return fmt.Errorf("epoch %q is not one", limit.Clip(ev.Epoch))
	}
	s.Epoch = ev.Epoch
	return nil
}

// EpochSize is the length of an epoch in bytes. With four, the chance that an id is used
// again after a restore is one in four thousand million.
const EpochSize = 4

// setSeen takes over how far symbols were judged. Nil forgets a symbol.
func (s *State) setSeen(symbols map[string]*Seen) {
	for symbol, v := range symbols {
		if v == nil {
			delete(s.Seen, symbol)
		} else {
			s.Seen[symbol] = v
		}
	}
}

// SetDay adds a mark of the account. It ignores one that is not of a later day than the
// last, and drops the oldest beyond maxDays.
func (s *State) SetDay(d *DayMark) {
	if d == nil || len(s.Days) > 0 && s.Days[len(s.Days)-1].Date >= d.Date {
		return
	}
	s.Days = append(s.Days[max(0, len(s.Days)+1-maxDays):], *d)
}

// setStops takes over where trailing stops stood. Those of orders that are no longer open
// are ignored.
func (s *State) setStops(stops map[string]exact.Decimal) {
	for id, stop := range stops {
		if i, ok := s.place[id]; ok {
			s.Orders[i] = s.Orders[i].WithStop(stop)
		}
	}
}

// Forget takes orders out of memory and out of every index. The order of those that
// stay is kept.
func (s *State) Forget(old []*Order) {
	for _, o := range old {
		if i, ok := s.place[o.ID]; ok {
			s.Orders[i] = nil
		}
		delete(s.place, o.ID)
		delete(s.ClientIDs, o.ClientOrderID)
		delete(s.BrokerIDs, o.BrokerID)
	}
	s.Orders = slices.DeleteFunc(s.Orders, func(o *Order) bool { return o == nil })
	for i, o := range s.Orders {
		s.place[o.ID] = i
	}
}

// Counts reports whether limits count the open order o while beside, a new order, is
// judged; beside may be nil. One of which no more is filled than reduces the position does
// not count, nor does the order that beside replaces, and of the two orders of an oco only one does.
func (s *State) Counts(o, beside *Order) bool {
	if o.Cut() || beside != nil && o.ID == beside.Replaces {
		return false
	}
	if o.Role != RoleOCO {
		return true
	}
	// The new order belongs to the same oco, and counts for both.
	if beside != nil && beside.Role == RoleOCO && beside.Group == o.Group {
		return false
	}
	// The first open order of the group counts for all of them.
	first := slices.IndexFunc(s.Open[o.Symbol], func(id string) bool {
		m := s.Order(id)
		return m.Role == RoleOCO && m.Group == o.Group
	})
	return s.Open[o.Symbol][first] == o.ID
}
