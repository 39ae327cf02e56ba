package trade

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"wick/sse"
	"wick/trade/book"
)

// Page is the part of the polling queue that a caller asks for.
type Page struct {
	// Offset skips so many of the notifications that were read before and are asked for
	// again. Those that nobody has read are never skipped: each call goes on where the
	// last one ended.
	Offset int

	Limit int // most notifications to return; zero for as many as fit into Size
	Size  int // about how many bytes of JSON they may have without a Limit
}

// Notifications returns what a reader has not read yet of the polling queue, as far as the
// page goes, and how many are left. Each reader has a place of its own in the queue: what
// another has read stays for it, for an hour after the first has read it. What is returned
// is written down as read before. If again is set, it first returns once more what the
// reader read within the last hour, so that a lost answer loses no alert. Two calls of a
// reader at the same time get different ones: the decision is made under mu.
func (e *Engine) Notifications(reader string, again bool, p Page) (read []book.Notification, left int, err error) {
	var notes []*book.Notification
	var n int // of them are read now
	err = e.Do(func(s *book.State) error {
		at := now()
		old, unread := s.ReadBy(reader, at)
		if again {
			notes = old
		}
		// What was read before comes first and may be skipped; what is new never is.
		notes = notes[min(p.Offset, len(notes)):]
		known := len(notes) // those that were read before
		notes = append(slices.Clip(notes), unread...)
		if n = p.cut(notes); n <= known {
			return nil
		}
		return e.book.Propose(book.KindDrained, &book.Event{At: at, Through: notes[n-1].Seq, By: &book.Who{ID: book.ShortReader(reader)}})
	})
	if err != nil {
		return nil, 0, err
	}
	read = make([]book.Notification, 0, n)
	for _, note := range notes[:n] {
		read = append(read, *note)
	}
	return read, len(notes) - n, nil
}

// cut returns how many of the notifications the page holds, at least one if there are
// any.
func (p Page) cut(notes []*book.Notification) int {
	size := 0
	for i, note := range notes {
		text, err := json.Marshal(note)
		if err != nil {
			panic("trade: " + err.Error()) // it came from the journal, as JSON
		}
		size += len(text)
		if p.Limit > 0 && i == p.Limit || p.Limit <= 0 && i > 0 && size > p.Size {
			return i
		}
	}
	return len(notes)
}

// Fired returns the notifications that nobody has read yet, and before them those that
// were read and are less than an hour old, oldest first. It marks none as read.
func (e *Engine) Fired() ([]book.Notification, error) {
	fired := []book.Notification{}
	err := e.View(func(s *book.State) {
		at := now()
		for _, d := range s.Drained {
			if d.TriggeredAt.Age(at) < sse.QueueTTL {
				fired = append(fired, *d.Notification)
			}
		}
		for _, note := range s.Polling {
			fired = append(fired, *note)
		}
	})
	return fired, err
}

// AlertsVersion returns a text that changes with every change of what Alerts and Fired
// return, also if only time has passed. It does not wait for the disk.
func (e *Engine) AlertsVersion() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, waiting, fired := now(), 0, len(e.book.Polling)
	for _, a := range e.book.Alerts {
		if !a.Over(at) {
			waiting++
		}
	}
	for _, d := range e.book.Drained {
		if d.TriggeredAt.Age(at) < sse.QueueTTL {
			fired++
		}
	}
	return fmt.Sprint(e.book.Alerted, waiting, fired)
}

// PendingNotifications returns how many notifications wait to be polled by a reader. It does
// not wait for the disk.
func (e *Engine) PendingNotifications(reader string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, unread := e.book.ReadBy(reader, now())
	return len(unread)
}

// tidy writes down how far subscribers have got, and what the account is worth when a
// new day begins. Once a minute, or when a trailing stop has moved, it writes how far the
// market was judged, and ends alerts that have expired. It also drops queued
// notifications that are older than an hour. None of this is urgent: a mark that a crash
// loses only repeats a delivery or a judgement, and what is too old is not shown anyway.
// It is dropped up to a minute late, so that there is one such record a minute and not
// one a second.
func (e *Engine) tidy() error {
	marks := e.hub.Settled(maxMarks)
	return e.Do(func(s *book.State) (err error) {
		at := now()
		if len(marks) > 0 {
			err = e.book.Propose(book.KindDelivered, &book.Event{At: at, Marks: marks})
		}
		if err == nil && s.Subs.Stale(at.Add(-time.Minute)) {
			err = e.book.Propose(book.KindExpired, &book.Event{At: at})
		}
		moved := slices.ContainsFunc(sorted(s.Open), func(symbol string) bool { return len(e.book.Drawn(symbol)) > 0 })
		if err == nil && (moved || at.Sub(e.notedAt.Time) >= book.SeenPeriod) {
			if err = e.noteSeen(at); err == nil {
				err = e.forget(at)
			}
		}
		if err == nil {
			err = e.book.NoteDay(at)
		}
		return err
	})
}
