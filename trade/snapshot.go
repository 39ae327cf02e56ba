package trade

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
)

// format is the version of what is on disk. A store of a later version is
// refused: this program would read it wrongly.
const format = 1

// snapshot is the whole state in one file. A notification stands in it once,
// however many queues hold it.
type snapshot struct {
	Format        int                 `json:"format"`
	N             int                 `json:"n"` // the journal that continues it
	Store         string              `json:"store"`
	Seq           uint64              `json:"seq"`
	At            Time                `json:"at"`
	Trading       TradingState        `json:"trading"`
	Orders        []*Order            `json:"orders"`
	Positions     map[string]holding  `json:"positions"`
	Alerts        []*Alert            `json:"alerts"`
	Notifications []*entry            `json:"notifications"`
	Polling       []uint64            `json:"polling"`
	Drained       []drainMark         `json:"drained"`
	Subscriptions []*Subscription     `json:"subscriptions"`
	Queues        map[string][]uint64 `json:"queues"`
}

type drainMark struct {
	Seq uint64 `json:"seq"`
	At  Time   `json:"at"`
}

// encode writes the state as a snapshot file: one line of JSON, then one line
// with its checksum and the number of records it stands for.
func (s *state) encode(n int, at Time) ([]byte, error) {
	v := snapshot{
		Format: format, N: n, Store: s.store, Seq: s.seq, At: at, Trading: s.trading, Orders: s.orders,
		Positions: s.holdings, Alerts: s.sortedAlerts(), Queues: make(map[string][]uint64),
	}
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
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode snapshot: %w", err)
	}
	text = append(text, '\n')
	return append(text, trailer(text, s.seq)...), nil
}

func trailer(text []byte, records uint64) []byte {
	return fmt.Appendf(nil, "{\"crc32c\":\"%08x\",\"records\":%d}\n", crc32.Checksum(text, castagnoli), records)
}

var errSnapshot = errors.New("damaged snapshot")

// decodeSnapshot reads what encode wrote. The last line is compared byte by
// byte with what it must be, so no flipped bit in it goes unseen either.
func decodeSnapshot(data []byte, n int) (*state, error) {
	end := bytes.IndexByte(data, '\n') + 1
	var v snapshot
	if end == 0 || json.Unmarshal(data[:end], &v) != nil || !bytes.Equal(data[end:], trailer(data[:end], v.Seq)) {
		return nil, fmt.Errorf("%w: the checksum at its end does not match", errSnapshot)
	}
	if v.Format > format {
		return nil, fmt.Errorf("written by a later wick (format %d, this one knows %d): start that one", v.Format, format)
	}
	if v.N != n {
		return nil, fmt.Errorf("%w: it says it is number %d", errSnapshot, v.N)
	}
	return v.state()
}

// state builds the lists and indexes that a snapshot leaves out. What does not
// fit together is an error, though a checksum stands before it: a start must
// not panic over what somebody edited.
func (v *snapshot) state() (*state, error) {
	s := newState(v.Store)
	s.seq, s.trading = v.Seq, v.Trading
	var err error
	check := func(e error) { err = cmp.Or(err, e) }
	for _, o := range v.Orders {
		check(s.setOrder(kindPlaced, &event{Order: o}))
	}
	maps.Copy(s.holdings, v.Positions)
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
			check(fmt.Errorf("a queue of the unknown subscription %q", clip(id)))
		}
		for _, seq := range seqs {
			s.queues[id] = append(s.queues[id], find(seq))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSnapshot, err)
	}
	return s, nil
}
