package trade

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"wick/limit"
)

// snapshot is the whole state as a JSON object, but for the store's name and the
// sequence, which the journal keeps beside it. A notification stands in it once,
// however many queues hold it.
type snapshot struct {
	Trading       TradingState        `json:"trading"`
	Orders        []*Order            `json:"orders"`
	Positions     map[string]holding  `json:"positions"`
	Alerts        []*Alert            `json:"alerts"`
	Named         []*Alert            `json:"named_alerts,omitempty"` // gone ones whose client_alert_id is remembered
	Notifications []*entry            `json:"notifications"`
	Polling       []uint64            `json:"polling"`
	Drained       []drainMark         `json:"drained"`
	Subscriptions []*Subscription     `json:"subscriptions"`
	Queues        map[string][]uint64 `json:"queues"`
}

// drainMark is an entry that was read by polling, and when.
type drainMark struct {
	Seq uint64 `json:"seq"`
	At  Time   `json:"at"`
}

// encode returns the state as the JSON of a snapshot.
func (s *state) encode() ([]byte, error) {
	v := snapshot{
		Trading: s.trading, Orders: s.orders,
		Positions: s.holdings, Alerts: s.sortedAlerts(), Queues: make(map[string][]uint64),
	}
	for _, a := range s.named {
		if s.alerts[a.ID] == nil {
			v.Named = append(v.Named, a)
		}
	}
	slices.SortFunc(v.Named, func(a, b *Alert) int { return compareIDs(a.ID, b.ID) })
	entries := make(map[uint64]*entry)
	seqs := func(queue []*entry) []uint64 {
		var out []uint64
		for _, e := range queue {
			entries[e.Seq] = e
			out = append(out, e.Seq)
		}
		return out
	}
	v.Polling = seqs(s.polling)
	for _, d := range s.drained {
		entries[d.Seq] = d.entry
		v.Drained = append(v.Drained, drainMark{d.Seq, d.at})
	}
	for id, queue := range s.queues {
		if len(queue) > 0 {
			v.Queues[id] = seqs(queue)
		}
	}
	bySeq := func(a, b *entry) int { return cmp.Compare(a.Seq, b.Seq) }
	v.Notifications = slices.SortedFunc(maps.Values(entries), bySeq)
	v.Subscriptions = slices.SortedFunc(maps.Values(s.subs), func(a, b *Subscription) int { return cmp.Compare(a.ID, b.ID) })
	return json.Marshal(v)
}

// decodeState reads what encode wrote; no text at all is an empty state.
func decodeState(store string, seq uint64, text []byte) (*state, error) {
	v := snapshot{Trading: Active}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, err
		}
	}
	return v.state(store, seq)
}

// state builds the lists and indexes that a snapshot leaves out. What does not
// fit together is an error, though a checksum stands before it: a start must
// not panic over what somebody edited.
func (v *snapshot) state(store string, seq uint64) (*state, error) {
	s := newState(store)
	s.seq, s.trading = seq, v.Trading
	var err error
	check := func(e error) { err = cmp.Or(err, e) }
	for _, o := range v.Orders {
		check(s.setOrder(kindPlaced, &event{Order: o}))
	}
	maps.Copy(s.holdings, v.Positions)
	for _, a := range v.Named {
		s.name(a)
	}
	for _, a := range v.Alerts {
		check(s.setAlert(kindAlertSet, a))
	}
	for _, sub := range v.Subscriptions {
		check(s.subscribe(sub))
	}
	entries := make(map[uint64]*entry)
	for _, e := range v.Notifications {
		if e != nil && e.Notification != nil {
			e.Notification.Seq = e.Seq
			entries[e.Seq] = e
		}
	}
	find := func(seq uint64) *entry {
		if entries[seq] == nil {
			check(fmt.Errorf("notification %d is in a queue and nowhere else", seq))
		}
		return entries[seq]
	}
	for _, seq := range v.Polling {
		s.polling = append(s.polling, find(seq))
	}
	for _, d := range v.Drained {
		s.drained = append(s.drained, drained{find(d.Seq), d.At})
	}
	for id, seqs := range v.Queues {
		if s.subs[id] == nil {
			check(fmt.Errorf("a queue of the unknown subscription %q", limit.Clip(id)))
		}
		for _, seq := range seqs {
			s.queues[id] = append(s.queues[id], find(seq))
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}
