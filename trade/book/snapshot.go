package book

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"wick/sse"
)

// Snapshot is the whole state as a JSON object, except for the store's name and the
// sequence, which the journal keeps beside it. Each notification is in it once, however
// many queues have it.
type Snapshot struct {
	Kept
	Alerts        []*Alert            `json:"alerts"`
	Named         []*Alert            `json:"named_alerts,omitempty"` // that have ended and whose client_alert_id is remembered
	Notifications []*Entry            `json:"notifications"`
	Polling       []uint64            `json:"polling"`
	Drained       []drainMark         `json:"drained"`
	Fired         []uint64            `json:"fired,omitempty"`
	Subscriptions []*sse.Subscription `json:"subscriptions"`
	Queues        map[string][]uint64 `json:"queues"`
	Marks         map[string]uint64   `json:"marks,omitempty"` // how far each queue is delivered
}

// drainMark is an entry that was read by polling, and when.
type drainMark struct {
	Seq uint64 `json:"seq"`
	At  Time   `json:"at"`
}

// Snapshot returns the state as it is now. The two share only what never changes: orders,
// alerts and notifications are replaced, not changed.
func (s *State) Snapshot() *Snapshot {
	v := &Snapshot{Kept: s.Kept, Alerts: slices.AppendSeq([]*Alert{}, maps.Values(s.Alerts))}
	v.Orders, v.Done, v.Days = slices.Clone(s.Orders), slices.Clone(s.Done), slices.Clone(s.Days)
	v.Holdings, v.Trades, v.Labels, v.Seen, v.Places = maps.Clone(s.Holdings), maps.Clone(s.Trades), maps.Clone(s.Labels), maps.Clone(s.Seen), maps.Clone(s.Places)
	for _, a := range s.Named {
		if s.Alerts[a.ID] == nil {
			v.Named = append(v.Named, a)
		}
	}
	// Each notification once, whichever lists have it.
	entries := make(map[uint64]*Entry)
	for _, e := range s.Polling {
		entries[e.Seq] = e
		v.Polling = append(v.Polling, e.Seq)
	}
	for _, d := range s.Drained {
		entries[d.Seq] = d.Entry
		v.Drained = append(v.Drained, drainMark{d.Seq, d.readAt})
	}
	for _, e := range s.Fired {
		entries[e.Seq] = e
		v.Fired = append(v.Fired, e.Seq)
	}
	queued := s.Subs.Snapshot(func(e *sse.Entry) {
		entries[e.Seq] = &Entry{e.Seq, Time{e.At}, e.Note.(*Notification), e.Epoch}
	})
	v.Subscriptions, v.Queues, v.Marks = queued.Subscriptions, queued.Queues, queued.Marks
	v.Notifications = slices.Collect(maps.Values(entries))
	return v
}

// Encode returns the JSON of the snapshot. It takes a while, and needs no lock.
func (v *Snapshot) Encode() ([]byte, error) {
	slices.SortFunc(v.Alerts, ByAge)
	slices.SortFunc(v.Named, ByAge)
	slices.SortFunc(v.Notifications, func(a, b *Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	return json.Marshal(v)
}

// DecodeState reads what [Snapshot.Encode] wrote, and makes the lists and indexes that it leaves out; an
// empty text gives an empty state. It returns an error if parts contradict each other. A
// checksum guards a snapshot, but somebody may have edited both, and a start must not panic then.
func DecodeState(store string, seq uint64, text []byte) (*State, error) {
	v := Snapshot{Kept: Kept{Trading: Active}}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, err
		}
	}
	s := NewState(store)
	s.Seq, s.Ordered, s.Alerted = seq, seq, seq
	s.Trading, s.Tripped, s.ByOwner, s.Epoch, s.Outbox, s.Venue = v.Trading, v.Tripped, v.ByOwner, v.Epoch, v.Outbox, v.Venue
	// The first error is kept, and the rest is read all the same.
	var err error
	check := func(e error) { err = cmp.Or(err, e) }
	for _, o := range v.Orders {
		check(s.setOrders(KindPlaced, &Event{Order: o}))
	}
	maps.Copy(s.Holdings, v.Holdings)
	maps.Copy(s.Seen, v.Seen)
	maps.Copy(s.Labels, v.Labels)
	for symbol, t := range v.Trades {
		if s.Trades[symbol] = t; t == nil {
			check(errors.New("an open trade is missing"))
		}
	}
	for _, t := range v.Done {
		if s.Done = append(s.Done, t); t == nil || t.ClosedAt == nil {
			check(errors.New("a closed trade is missing"))
		}
	}
	maps.Copy(s.Places, v.Places)
	for i := range v.Days {
		s.SetDay(&v.Days[i])
	}
	for _, a := range v.Named {
		if a == nil {
			check(errors.New("an alert that has ended is missing"))
			continue
		}
		s.Name(a)
	}
	for _, a := range v.Alerts {
		check(s.alertChanged(KindAlertSet, &Event{Alert: a}))
	}
	// A list that names a notification which is not in the snapshot is an error. The nil
	// entry is never used, because the error discards the state.
	entries := make(map[uint64]*Entry)
	for _, e := range v.Notifications {
		if e != nil && e.Notification != nil {
			e.Notification.Seq = e.Seq
			entries[e.Seq] = e
		}
	}
	find := func(seq uint64) *Entry {
		if entries[seq] == nil {
			check(fmt.Errorf("notification %d is in a queue and nowhere else", seq))
		}
		return entries[seq]
	}
	for _, seq := range v.Polling {
		s.Polling = append(s.Polling, find(seq))
	}
	for _, seq := range v.Fired {
		s.Fired = append(s.Fired, find(seq))
	}
	for _, d := range v.Drained {
		s.Drained = append(s.Drained, Drained{find(d.Seq), d.At})
	}
	subs, wrong := sse.Restore(sse.Snapshot{Subscriptions: v.Subscriptions, Queues: v.Queues, Marks: v.Marks}, func(seq uint64) *sse.Entry {
		if e := entries[seq]; e != nil {
			return &sse.Entry{Seq: seq, Epoch: e.Epoch, At: e.At.Time, Note: e.Notification}
		}
		return nil
	})
	s.Subs = subs
	if check(wrong); err != nil {
		return nil, err
	}
	return s, nil
}
