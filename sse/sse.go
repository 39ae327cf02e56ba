// Package sse brings notifications to subscribers over server-sent events. It is the only
// place that knows who still has to get which of them.
//
// Every subscription has one queue, ordered by the sequence numbers of the
// journal. An open stream empties it; without a stream it is the offline queue. There
// is no second queue, so nothing can be lost or doubled on the way from one queue to
// another.
//
// # The life of a notification
//
// Fired: the owner of the alerts (package trade) writes one record to the journal. It
// says that the alert has fired, what to send, and which subscriptions get it.
//
// Queued: when that record is on disk it is applied, and the notification is an
// [Entry] at the end of those queues. It stays there for [QueueTTL], delivered or not,
// unless [QueueCap] newer ones push it out. So a client that names the event it saw
// last gets exactly what came after it, also after a restart.
//
// Written: the newest stream of the subscription's caller takes the entries that wait
// and writes them. Meanwhile no other stream may take any. If the write fails, the
// entries wait again; if it succeeds, no other stream gets them while this one is open.
// If the client comes back with Last-Event-ID, the entries that were written to its
// lost stream after that event wait again.
//
// Settled: one second after the write, if the stream is still open then, the
// entries count as delivered. Once a second [Hub.Settled] collects how far each
// queue has got, and the journal's owner writes these marks down in one record.
// After a restart the entries above the mark wait again: none after a clean stop, and
// those of the last seconds after a crash.
//
// # The three parts
//
// A [Book] is the durable part: a pure fold over [Record] values, with no clock
// and no lock. Replaying the same records gives the same book. A [Hub] is the
// running part: a book, the open streams, and what was written to which of them.
// The hub changes its book by records alone. [Serve] writes one stream: it asks a [Source],
// of which the hub has one for each stream, what to write, writes it, flushes, and tells the
// source what was written. It sends a comment every 15 seconds, because clients and proxies
// drop a silent connection.
//
// Only the goroutine of the handler writes a stream. A source never touches the
// connection; it rings a bell when it has something. The heartbeat and the end of the
// stream ring the same bell, so that the goroutine waits for one channel. With thousands
// of streams to wake, most of the cost of a delivery is waking them, and to wait for one
// channel is cheapest.
//
// Besides notifications a stream writes lines of another part of the program
// ([Hub.Changes]), such as that something the caller watches has changed. They are not
// written down and have no ids: a client that misses one learns the same by asking.
//
// # Security considerations
//
// Callers are authenticated before they get here; their names are digests and
// are only compared. A caller has at most [MaxPerCaller] streams, all callers
// together [MaxStreams]. Last-Event-ID moves a reader within its own queue and
// nowhere else. A subscription passes to another token only if the client is
// the same and its own token, which the subscription names, has ended.
//
// A client that does not read is cut off when a write takes longer than nine to ten seconds,
// or one second when the stream is being ended, so no client can hold up a shutdown. Nothing
// that a client sends on an open stream is read. A line break in an id or in data could forge
// an event, so Serve panics on one: this program makes both, and never with a line break.
package sse

import (
	"strconv"
	"time"
)

// What the specification says about a queue.
const (
	QueueTTL = time.Hour // an entry's life
	QueueCap = 1000      // entries in a queue; the oldest leave first
)

const (
	// MaxPerCaller is how many streams a caller may have. One more ends the oldest:
	// after a connection breaks, the server may take its stream for open for minutes,
	// and such streams must not keep their owner out.
	MaxPerCaller = 4

	// MaxStreams is how many streams there may be in all.
	MaxStreams = 16384

	// settleAfter is how long a stream must stay open after a write before what was
	// written counts as received.
	settleAfter = time.Second
)

// Caller is who opens a stream or owns a subscription.
type Caller struct {
	ID      string    // of the token, as a digest
	Client  string    // of the program, as a digest that outlives its tokens
	Login   string    // by which the login knows the token after a restart; empty if it does not
	Expires time.Time // when the token ends; zero means never
}

// Filter says which alerts a subscription wants. This package only keeps it: the record
// of a fired alert says which subscriptions get it.
type Filter struct {
	Symbols    []string `json:"symbols"`
	AlertTypes []string `json:"alert_types"`
}

// Subscription is a caller's wish to be sent what passes its filter. It is
// never changed: a change is another value with the same ID.
type Subscription struct {
	ID     string `json:"id"` // never changes, since event ids contain it; the caller may change
	Caller string `json:"caller"`
	Client string `json:"client"`

	// The caller's token. As long as it works, no other token can claim the subscription.
	Login     string    `json:"login,omitempty"`
	TokenEnds time.Time `json:"token_ends,omitzero"` // zero means never

	Filter    Filter `json:"filter"`
	CreatedAt string `json:"created_at"` // in UTC and always of the same length, so that the texts sort by time
}

// Entry is a notification. All queues that hold it share one Entry.
type Entry struct {
	Seq   uint64    // of the journal's record: rising, and the same after a restart
	Epoch string    // of the process that wrote the record: after a backup is restored, another record may get the same Seq
	At    time.Time // when it fired
	Note  any       // its content; NewHub's encode makes the data of an event from it

	data []byte // made when the entry is first sent; guarded by the hub's lock
}

// old reports whether the entry is older than QueueTTL. An entry from the future,
// because the clock was set back, is not old.
func (e *Entry) old(now time.Time) bool { return now.Sub(e.At) >= QueueTTL }

// eventID returns the id of the event that brings an entry to a subscription: unique
// among all streams of a client, and the same whenever it is sent. It has no epoch if
// an early version of wick, which had none, wrote the entry.
func (e *Entry) eventID(subscription string) string {
	b := append(make([]byte, 0, 64), subscription...)
	if e.Epoch != "" {
		b = append(append(b, '-'), e.Epoch...)
	}
	return string(strconv.AppendUint(append(b, '-'), e.Seq, 10))
}
