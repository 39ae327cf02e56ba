package trade

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"wick/delivery"
	"wick/internal/exact"
	"wick/internal/limit"
)

// entry is a notification in the polling queue or in a snapshot.
type entry struct {
	Seq          uint64        `json:"seq"` // of the record that made it
	At           Time          `json:"at"`
	Notification *Notification `json:"notification"`
	Epoch        string        `json:"epoch,omitempty"` // in which the record was made
}

// drained is an entry that a client has read by polling.
type drained struct {
	*entry
	readAt Time // At of the entry is when it fired
}

// state is everything the journal remembers. It changes in one place, apply,
// and only by records: replaying the same records gives the same state.
type state struct {
	seq     uint64 // of the last record applied
	ordered uint64 // of the last record that changed an order, or of the snapshot
	alerted uint64 // the same of alerts and notifications
	store   string // random name of the store, in every file
	epoch   string // random name of the process that wrote the last records; part of every id
	trading TradingState
	tripped string // the last day on which the account lost too much, as long as it may still restrict trading; see keepTripped
	byOwner bool   // on a shared log: reducing is the owner's word, and does not end with the day of a loss

	outbox []byte // what Outbox.Snapshot returned, while a snapshot is read

	venue *stamp // nil for paper; replaced, never changed

	orders    []*Order            // in order of acceptance
	place     map[string]int      // order id to index in orders
	clientIDs map[string]string   // client_order_id to order id
	brokerIDs map[string]string   // a broker's id of an order to ours
	open      map[string][]string // symbol to ids of open orders, in order of acceptance
	openCount int
	slots     int                // of all open orders; see Order.slots
	holdings  map[string]holding // by symbol

	alerts map[string]*Alert // active ones, by id
	index  alertIndexer      // is told of alerts that come and go; nil while a store is read
	named  map[string]*Alert // by client_alert_id, also those that are gone; at most maxNamed

	seen map[string]*seen // from where on a restart judges the market, by symbol

	days []dayMark // the account when it was first valued on each day, oldest first; at most maxDays

	polling []*entry          // read by nobody with get_notifications
	drained []drained         // that somebody has read, the first within the last hour
	places  map[string]uint64 // the last that each reader has read, as long as one of those is kept

	subs *delivery.Book // who is subscribed, and what is queued for each
}

// alertIndexer is told of the alerts that begin to wait and of those that end.
type alertIndexer interface {
	Add(*Alert)
	Remove(*Alert)
}

// newState returns the empty state of a store.
func newState(store string) *state {
	return &state{
		store: store, trading: Active,
		place: map[string]int{}, clientIDs: map[string]string{}, brokerIDs: map[string]string{}, open: map[string][]string{},
		holdings: map[string]holding{}, alerts: map[string]*Alert{}, named: map[string]*Alert{},
		seen: map[string]*seen{}, subs: delivery.NewBook(),
	}
}

// record applies a change of the subscriptions and queues, and notes it in ev for the hub.
func (s *state) record(ev *event, r delivery.Record) error {
	r.At = ev.At.Time
	ev.queued = &r
	return s.subs.Apply(r)
}

// apply changes the state by the record with a sequence. An error means that the record
// cannot follow this state, which a start reports as damage.
func (s *state) apply(seq uint64, k kind, ev *event) error {
	if seq != s.seq+1 {
		return fmt.Errorf("sequence %d follows %d", seq, s.seq)
	}
	if err := s.step(seq, k, ev); err != nil {
		return err
	}
	s.setSeen(ev.Seen)
	s.setStops(ev.Stops)
	s.seq = seq
	if ev.Order != nil || len(ev.Stops) > 0 {
		s.ordered = seq
	}
	if ev.Alert != nil || ev.Notification != nil {
		s.alerted = seq
	}
	return nil
}

// step does the part of apply that depends on the kind of the record. Where it matters,
// it checks that the record fits the state before it changes anything: a start reads
// records that somebody may have edited.
func (s *state) step(seq uint64, k kind, ev *event) error {
	switch k {
	case kindStarted, kindExpired:
		if err := s.setEpoch(k, ev); err != nil {
			return err
		}
		s.expireDrained(ev.At)
		return s.record(ev, delivery.Record{})
	case kindPlaced, kindIntent, kindImported, kindFilled, kindAnswered, kindCancelled, kindOrderRejected, kindOrderChanged:
		if err := s.setOrders(k, ev); err != nil || ev.Notification == nil {
			return err
		}
		return s.queue(seq, ev)
	case kindAlertSet, kindAlertGone:
		return s.setAlert(k, ev)
	case kindFired:
		return s.fire(seq, ev)
	case kindDrained:
		s.drain(ev)
	case kindDelivered:
		return s.record(ev, delivery.Record{Marks: ev.Marks})
	case kindSubscribed, kindUnsubscribed:
		return s.setSubscription(k, ev)
	case kindDay:
		s.setDay(ev.Day)
	case kindTrading:
		s.trading, s.tripped, s.byOwner = ev.Trading, ev.Tripped, ev.ByOwner
	case kindVenue:
		if ev.Venue == nil {
			return fmt.Errorf("%s of none", k)
		}
		s.venue = ev.Venue
		maps.Copy(s.holdings, ev.Holdings)
	case kindSeen: // all of it is in ev.Seen and ev.Stops, which records of other kinds may have too
	case kindAnswer: // for the audit: the order names it
	case kindOutbox: // changes nothing here: onDisk.Apply gives it to the outbox
	default:
		return fmt.Errorf("unknown kind %d", k)
	}
	return nil
}

// setOrders stores the order of ev, the other orders that change with it, and the
// holding after it. All are checked before the first is stored, so that a record that
// does not fit changes nothing.
func (s *state) setOrders(k kind, ev *event) error {
	if err := s.fits(k, ev.Order, k == kindPlaced || k == kindIntent || k == kindImported); err != nil {
		return err
	}
	for _, o := range ev.Begin {
		if err := s.fits(k, o, true); err != nil {
			return err
		}
	}
	for _, e := range ev.Ends {
		if o := s.order(e.ID); o == nil || o.Status.Terminal() || e.ID == ev.Order.ID || codes[e.Code].says == "" {
			return fmt.Errorf("%s of order %q, with which %q cannot end", k, limit.Clip(ev.Order.ID), limit.Clip(e.ID))
		}
	}
	for _, o := range ev.changed(s.order) {
		s.setOrder(o)
	}
	if ev.Holding != nil {
		s.holdings[ev.Order.Symbol] = *ev.Holding
	}
	return nil
}

// fits returns an error if o cannot be stored now. A new order must not be known yet. Any
// other order must be known and not have ended, unless a broker elsewhere told of it later.
func (s *state) fits(k kind, o *Order, isNew bool) error {
	if o == nil || !o.wellFormed() {
		return fmt.Errorf("%s without an order, or one without its price", k)
	}
	before := s.order(o.ID)
	switch known := before != nil; {
	case isNew == known: // a second order with the same id, or a change of an order that is not known
		return fmt.Errorf("%s of order %q, which is known: %t", k, limit.Clip(o.ID), known)
	case known && before.Status.Terminal() && (k != kindAnswered || before.Account == ""):
		return fmt.Errorf("%s of order %q, which is %s for ever", k, limit.Clip(o.ID), before.Status)
	}
	return nil
}

// setOrder stores an order in place of what is known of it.
func (s *state) setOrder(o *Order) {
	i, known := s.place[o.ID]
	was := known && !s.orders[i].Status.Terminal()
	if known {
		s.orders[i] = o
	} else {
		s.place[o.ID] = len(s.orders)
		s.orders = append(s.orders, o)
		if o.ClientOrderID != "" {
			s.clientIDs[o.ClientOrderID] = o.ID
		}
	}
	if o.BrokerID != "" {
		s.brokerIDs[o.BrokerID] = o.ID
	}
	s.setOpen(o, was)
}

// setOpen brings the lists of open orders, which are sorted by Order.before, up to date
// with o. Was says whether o is in them now.
func (s *state) setOpen(o *Order, was bool) {
	is := !o.Status.Terminal()
	ids := s.open[o.Symbol]
	switch {
	case is && !was:
		i := len(ids)
		for i > 0 && o.before(s.order(ids[i-1])) {
			i--
		}
		s.open[o.Symbol] = slices.Insert(ids, i, o.ID)
		s.openCount++
		s.slots += o.slots()
	case was && !is:
		// ids is the list as it was before: with one element left it is empty now.
		i := slices.Index(ids, o.ID)
		if s.open[o.Symbol] = slices.Delete(ids, i, i+1); len(ids) == 1 {
			delete(s.open, o.Symbol)
		}
		s.openCount--
		s.slots -= o.slots()
	}
}

// order returns the order called id, or nil.
func (s *state) order(id string) *Order {
	if i, ok := s.place[id]; ok {
		return s.orders[i]
	}
	return nil
}

// setAlert adds an alert that was set or removes one that was cancelled or has expired.
func (s *state) setAlert(k kind, ev *event) error {
	a := ev.Alert
	if a == nil || (k == kindAlertSet) == (s.alerts[a.ID] != nil) {
		return fmt.Errorf("%s of no alert or the wrong one", k)
	}
	if k == kindAlertSet {
		if a.Condition.Type == "" { // a snapshot with it could not be read
			return fmt.Errorf("alert %q without a condition", limit.Clip(a.ID))
		}
		s.addAlert(a)
		return nil
	}
	if a.over(ev.At) {
		s.endAlert(a.ID, EndedExpired, *a.ExpiresAt)
	} else {
		s.endAlert(a.ID, EndedCancelled, ev.At)
	}
	return nil
}

// addAlert adds an alert that waits, under its id and its client_alert_id, and to the
// index.
func (s *state) addAlert(a *Alert) {
	s.alerts[a.ID] = a
	s.name(a)
	if s.index != nil {
		s.index.Add(a)
	}
}

// maxNamed is how many alerts are remembered by their client_alert_id.
const maxNamed = 10_000

// name remembers an alert by its client_alert_id, if it has one. Past the limit
// the oldest is forgotten.
func (s *state) name(a *Alert) {
	if a.ClientAlertID == "" {
		return
	}
	s.named[a.ClientAlertID] = a
	if len(s.named) <= maxNamed {
		return
	}
	// This goes through all of them, but only once for each new name.
	oldest := a
	for _, b := range s.named {
		if compareIDs(b.ID, oldest.ID) < 0 {
			oldest = b
		}
	}
	delete(s.named, oldest.ClientAlertID)
}

// removeAlert takes an active alert out of the set and the index.
func (s *state) removeAlert(id string) {
	if s.index != nil {
		s.index.Remove(s.alerts[id])
	}
	delete(s.alerts, id)
}

// endAlert removes an alert for good. If it has a client_alert_id, it is remembered with
// the way it ended, so that a retry is not told that it still waits.
func (s *state) endAlert(id string, why Ending, at Time) {
	a := s.alerts[id]
	s.removeAlert(id)
	if known := s.named[a.ClientAlertID]; known != nil && known.ID == id { // otherwise it was forgotten, see name
		s.named[a.ClientAlertID] = a.ended(why, &at)
	}
}

// remembered returns the alert that a client_alert_id was used for, as it is at a time,
// or nil. An alert whose time is over counts as expired, although it is kept a while
// longer for bars that come late.
func (s *state) remembered(name string, at Time) *Alert {
	a := s.named[name]
	switch {
	case a == nil || a.Ended != "":
		return a
	case s.alerts[a.ID] == nil:
		return a.ended(EndedUnknown, nil)
	case a.over(at):
		return a.ended(EndedExpired, a.ExpiresAt)
	}
	return a
}

// fire puts the notification of an alert into the polling queue and those of its
// recipients, and ends the alert, or replaces it if it repeats. It is one step, so that
// no crash can fire an alert twice or lose it.
func (s *state) fire(seq uint64, ev *event) error {
	n := ev.Notification
	if n == nil || s.alerts[n.AlertID] == nil {
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
func (s *state) queue(seq uint64, ev *event) error {
	n := ev.Notification
	if n.Seq != seq { // not set yet, because it is not in the JSON of a record
		n.Seq = seq
	}
	if err := s.record(ev, delivery.Record{Fired: &delivery.Entry{Seq: seq, Epoch: s.epoch, At: ev.At.Time, Note: n}, To: ev.To}); err != nil {
		return err
	}
	// A full queue lets its oldest entry go.
	if extra := len(s.polling) + 1 - delivery.QueueCap; extra > 0 {
		s.polling = s.polling[extra:]
	}
	s.polling = append(s.polling, &entry{seq, ev.At, n, s.epoch})
	return nil
}

// maxPlaces bounds the readers whose place in the polling queue is kept. One whose place is
// forgotten reads once more what is kept of the last hour.
const maxPlaces = 1000

// drain notes how far a reader has read. It moves what nobody had read before to the list of
// those that were read, which has the same bound as the queue.
func (s *state) drain(ev *event) {
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
	for len(s.polling) > 0 && s.polling[0].Seq <= ev.Through {
		s.drained = append(s.drained, drained{s.polling[0], ev.At})
		s.polling = s.polling[1:]
	}
	if extra := len(s.drained) - delivery.QueueCap; extra > 0 {
		s.drained = s.drained[extra:]
	}
}

// shortReader returns the name of a reader as it is written down: a part of a login's digest.
func shortReader(reader string) string { return reader[:min(len(reader), 16)] }

// readBy returns which notifications of the last hour a reader has read, and which it has
// not, each oldest first.
func (s *state) readBy(reader string, at Time) (old, unread []*entry) {
	for _, d := range s.drained {
		switch {
		case d.readAt.age(at) >= delivery.QueueTTL:
		case d.Seq <= s.places[shortReader(reader)]:
			old = append(old, d.entry)
		default:
			unread = append(unread, d.entry)
		}
	}
	return old, append(unread, s.polling...)
}

// expireDrained drops notifications that were read an hour ago or earlier. Those that
// nobody has read stay, however old they are.
func (s *state) expireDrained(at Time) {
	for len(s.drained) > 0 && s.drained[0].readAt.age(at) >= delivery.QueueTTL {
		s.drained = s.drained[1:]
	}
}

// setSubscription makes, changes, hands over or ends a subscription.
func (s *state) setSubscription(k kind, ev *event) error {
	switch {
	case ev.Subscription == nil || ev.Subscription.ID == "":
		return fmt.Errorf("%s of no subscription", k)
	case k == kindSubscribed:
		return s.record(ev, delivery.Record{Subscribed: ev.Subscription})
	}
	return s.record(ev, delivery.Record{Unsubscribed: ev.Subscription.ID})
}

// sortedAlerts returns the active alerts, oldest first.
func (s *state) sortedAlerts() []*Alert {
	alerts := slices.AppendSeq([]*Alert{}, maps.Values(s.alerts)) // not nil, so that JSON has an empty list
	slices.SortFunc(alerts, byAge)
	return alerts
}

// newID returns an id that nothing else in this or any other store has, made of the
// epoch of this process and the next sequence. The sequence alone would not do: a store
// that is restored from a copy uses the sequences since the copy again, and a client
// that remembers an id would find something else under it.
func (s *state) newID(prefix string) string {
	return fmt.Sprintf("%s-%s-%d", prefix, s.epoch, s.seq+1)
}

// setEpoch begins the epoch of a process that has started. Records of early versions
// have an empty one.
func (s *state) setEpoch(k kind, ev *event) error {
	if k != kindStarted {
		return nil
	}
	if _, err := hex.DecodeString(ev.Epoch); err != nil || len(ev.Epoch) > 2*epochSize {
		return fmt.Errorf("epoch %q is not one", limit.Clip(ev.Epoch))
	}
	s.epoch = ev.Epoch
	return nil
}

// epochSize is the length of an epoch in bytes. With four, the chance that an id is used
// again after a restore is one in four thousand million.
const epochSize = 4

// newEpoch returns the name of a new epoch.
func newEpoch() string {
	var b [epochSize]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// setSeen takes over how far symbols were judged. Nil forgets a symbol.
func (s *state) setSeen(symbols map[string]*seen) {
	for symbol, v := range symbols {
		if v == nil {
			delete(s.seen, symbol)
		} else {
			s.seen[symbol] = v
		}
	}
}

// setDay adds a mark of the account. It ignores one that is not of a later day than the
// last, and drops the oldest beyond maxDays.
func (s *state) setDay(d *dayMark) {
	if d == nil || len(s.days) > 0 && s.days[len(s.days)-1].Date >= d.Date {
		return
	}
	s.days = append(s.days[max(0, len(s.days)+1-maxDays):], *d)
}

// setStops takes over where trailing stops stood. Those of orders that are no longer open
// are ignored.
func (s *state) setStops(stops map[string]exact.Decimal) {
	for id, stop := range stops {
		if i, ok := s.place[id]; ok {
			s.orders[i] = s.orders[i].withStop(stop)
		}
	}
}
