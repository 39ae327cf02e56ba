package book

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"wick/sse"
)

// Snapshot is the whole state as a JSON object, except for the store's name and the
// sequence, which the journal keeps beside it.
type Snapshot struct {
	Kept
	Alerts        []*Alert            `json:"alerts"`
	Named         []*Alert            `json:"named_alerts,omitempty"` // that have ended and whose client_alert_id is remembered
	Notifications []*kept             `json:"notifications"`          // those that any list or queue has
	Subscriptions []*sse.Subscription `json:"subscriptions"`
	Marks         map[string]uint64   `json:"marks,omitempty"` // how far each queue is delivered
}

// kept is a notification with the lists and queues that have it.
type kept struct {
	Seq          uint64        `json:"seq"`
	Epoch        string        `json:"epoch,omitempty"`
	Notification *Notification `json:"notification"`
	Fired        bool          `json:"fired,omitempty"`
	Unread       bool          `json:"unread,omitempty"`
	ReadAt       *Time         `json:"read_at,omitempty"` // when it was first read by polling
	Queues       []string      `json:"queues,omitempty"`  // of these subscriptions
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
	notes := make(map[uint64]*kept)
	of := func(n *Notification) *kept {
		if notes[n.Seq] == nil {
			notes[n.Seq] = &kept{Seq: n.Seq, Epoch: n.Epoch, Notification: n}
		}
		return notes[n.Seq]
	}
	for _, n := range s.Fired {
		of(n).Fired = true
	}
	for _, n := range s.Polling {
		of(n).Unread = true
	}
	for _, d := range s.Drained {
		of(d.Notification).ReadAt = &d.readAt
	}
	queues, marks := s.Subs.Queues()
	for _, id := range sorted(queues) {
		for _, e := range queues[id] {
			n := of(e.Note.(*Notification))
			n.Queues = append(n.Queues, id)
		}
	}
	v.Notifications, v.Subscriptions, v.Marks = slices.Collect(maps.Values(notes)), s.Subs.Select(nil), marks
	return v
}

// Encode returns the JSON of the snapshot. It takes a while, and needs no lock.
func (v *Snapshot) Encode() ([]byte, error) {
	slices.SortFunc(v.Alerts, ByAge)
	slices.SortFunc(v.Named, ByAge)
	slices.SortFunc(v.Notifications, func(a, b *kept) int { return cmp.Compare(a.Seq, b.Seq) })
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
	s.Trading, s.Tripped, s.ByOwner, s.Epoch, s.Outbox, s.Venue = v.Trading, v.Tripped, v.ByOwner, v.Epoch, v.Outbox, v.Venue
	// The first error is kept, and the rest is read all the same.
	var err error
	check := func(e error) { err = cmp.Or(err, e) }
	for _, o := range v.Orders {
		check(s.setOrders(KindPlaced, &Event{Order: o}))
	}
	s.Seq, s.Ordered, s.Alerted = seq, seq, seq // from here on: orders of a snapshot are in the index
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
	for _, sub := range v.Subscriptions {
		if sub == nil {
			return nil, errors.New("a subscription is missing")
		}
		check(s.Subs.Apply(sse.Record{Subscribed: sub}))
	}
	for _, k := range v.Notifications {
		if k == nil || k.Notification == nil {
			return nil, errors.New("a notification is missing")
		}
		n := k.Notification
		n.Seq, n.Epoch = k.Seq, k.Epoch
		if k.Fired {
			s.Fired = append(s.Fired, n)
		}
		if k.Unread {
			s.Polling = append(s.Polling, n)
		}
		if k.ReadAt != nil {
			s.Drained = append(s.Drained, Drained{n, *k.ReadAt})
		}
		check(s.Subs.Apply(sse.Record{Fired: n.queued(), To: k.Queues}))
	}
	if s.Subs.SetMarks(v.Marks); err != nil {
		return nil, err
	}
	return s, nil
}
