// Package delivery decides who still has to get which notification. It is the
// only place that knows whether a subscriber has got an alert.
//
// Every subscription has one queue, ordered by the sequence numbers of the
// journal. An open stream empties it; without one it is the offline queue. There
// is no second queue and so no hand-over between two in which something could
// be lost or doubled.
//
// # The life of a notification
//
// Fired: the alert's owner writes one record to the journal that says that the
// alert is gone, what to tell, and which subscriptions get it.
//
// Queued: when that record is on disk it is applied, and the notification is an
// [Entry] at the end of those queues. It stays for [QueueTTL], whatever happens
// to it, unless [QueueCap] newer ones push it out. So a client that names the
// event it saw last gets exactly what came after it, also after a restart.
//
// Written: the newest stream of the subscription's caller takes what waits and
// writes it. While it writes, no other stream may take. If the write fails, the
// entries wait again; if it succeeds they are that stream's, and no other stream
// gets them while it is open. A client that comes back with Last-Event-ID takes
// back what was written to its lost stream after that event.
//
// Settled: one second after the write, if the stream is still open then, the
// entries count as delivered. Once a second [Hub.Settled] collects how far each
// queue has got, and the journal's owner writes these marks down in one record.
// After a restart everything above the mark waits again: nothing after a clean
// stop, the last seconds after a crash.
//
// # The two halves
//
// A [Book] is the durable half: a pure fold over [Record] values, with no clock
// and no lock. Replaying the same records gives the same book. A [Hub] is the
// running half: a book, the open streams, and what was written to which of them.
// The hub changes its book by records alone.
//
// Beside notifications a caller may be sent remarks ([Hub.Tell]), such as that
// something it watches has changed. They wait in memory, only the newest of a kind,
// and have no ids: a client that misses one learns the same by asking.
//
// # Security considerations
//
// Callers are authenticated before they get here; their names are digests and
// are only compared. A caller has at most [MaxPerCaller] streams, all callers
// together [MaxStreams]. Last-Event-ID moves a reader within its own queue and
// nowhere else. A subscription passes to another token only if the client is
// the same and its own token has ended ([Hub.Held]).
package delivery

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
	// MaxPerCaller is how many streams a caller may have. One more ends the
	// oldest: after a broken connection the server may believe for minutes in
	// streams that are gone, and they must not keep their owner out.
	MaxPerCaller = 4

	// MaxStreams is how many streams there may be in all.
	MaxStreams = 16384

	// settleAfter is how long a stream must stay open after a write for it to
	// count as received.
	settleAfter = time.Second
)

// Caller is who opens a stream or owns a subscription.
type Caller struct {
	ID      string    // of the token, as a digest
	Client  string    // of the program, as a digest that outlives its tokens
	Expires time.Time // when the token ends; zero means never

	// Valid reports whether the token still works. It is asked once a stream or
	// a subscription is noted as the caller's, so that a token which is revoked
	// at that moment is not missed. Nil means that it does.
	Valid func() bool
}

// valid reports whether the caller's token still works.
func (c Caller) valid() bool { return c.Valid == nil || c.Valid() }

// Filter says which alerts a subscription wants. It is kept here and not read: whoever
// fires an alert says which subscriptions get it.
type Filter struct {
	Symbols    []string `json:"symbols"`
	AlertTypes []string `json:"alert_types"`
}

// Subscription is a caller's wish to be sent what passes its filter. It is
// never changed: a change is another value with the same ID.
type Subscription struct {
	ID        string `json:"id"` // for life: callers change, event ids must not
	Caller    string `json:"caller"`
	Client    string `json:"client"`
	Filter    Filter `json:"filter"`
	CreatedAt string `json:"created_at"` // as the journal writes times: in UTC and of one length, so the texts sort
}

// Entry is a notification as all queues that hold it share it.
type Entry struct {
	Seq   uint64    // of the journal's record: rising, and the same after a restart
	Epoch string    // of the process that wrote it: tells it from one that a restored backup made under the same sequence
	At    time.Time // when it fired
	Note  any       // what is told; NewHub's encode makes an event's data of it

	data   []byte // made when the entry is first sent; guarded by the hub's lock, like suffix
	suffix string // see eventID
}

// old reports whether the entry has had its time. One that seems to come from
// the future, because the clock was set back, is new.
func (e *Entry) old(now time.Time) bool { return now.Sub(e.At) >= QueueTTL }

// eventID returns the id of the event by which a subscription gets an entry:
// unique among all streams of a client, and the same whenever it is sent. Entries
// of versions that knew no epochs have none in it. The hub's lock is held.
func (e *Entry) eventID(subscription string) string {
	if e.suffix == "" { // the same for all subscriptions
		e.suffix = "-" + strconv.FormatUint(e.Seq, 10)
		if e.Epoch != "" {
			e.suffix = "-" + e.Epoch + e.suffix
		}
	}
	return subscription + e.suffix
}
