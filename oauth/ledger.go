package oauth

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Ledger remembers the little that sealed codes and tokens do not contain: which were used
// and which were revoked. All processes that share
// a [Key] share one ledger, and a process that is started again finds the ledger
// of the one before it. Package oauthtest has the tests that every implementation
// passes.
//
// Ids are texts of at most 80 letters, digits and hyphens, epochs of at most 32. The ids
// of TakeOnce and those of Revoke are two separate sets. All methods may be called at
// once from many goroutines, of many processes.
type Ledger interface {
	// TakeOnce takes an id. Until the given time it reports true to exactly one
	// caller, of all callers in all processes, even if processes end and start in
	// between. When it returns true, that is durable. After that time the answer
	// may be anything: callers refuse the id by then.
	//
	// An error means that this caller does not have the id. The id may still be
	// taken, by a write whose answer was lost; then a second call reports false. A
	// ledger that is full returns an error rather than forget an id.
	TakeOnce(id string, until time.Time) (first bool, err error)

	// Revoke makes Revoked report true for an id, at least until the given time.
	// When it returns nil, that is durable and holds in this process; the others
	// learn of it as soon as they can, and then call [Server.Sweep]. On an error
	// it holds in this process if that is possible, and may be forgotten.
	//
	// A ledger that is full goes to the next epoch instead: it never forgets a
	// revocation, and never refuses one.
	Revoke(id string, until time.Time) error

	// Revoked reports whether an id was revoked, or an epoch is not the present
	// one. It is called for every request, so it answers from memory and does not
	// wait. There is one exception: an implementation that learns of other processes'
	// epochs with a delay may look once, briefly, for an epoch that it does not know.
	Revoked(id, epoch string) bool

	// Epoch returns the present epoch, to which all that is sealed next belongs. It
	// answers from memory, like Revoked.
	Epoch() string

	// NextEpoch ends the present epoch, and with it all that was sealed in it. The
	// next one is random, so that no epoch comes a second time, even if the ledger was
	// lost and begun anew, or put back from an old copy. What was taken and revoked
	// before may be forgotten. Durability and errors are as for Revoke.
	NextEpoch() error
}

// errFull is the answer of a ledger that can take no more.
var errFull = errors.New("too many logins within a few minutes: try again later")

// Book is what a ledger remembers, as a value that can be written down.
type Book struct {
	Epoch   string           `json:"epoch"`
	Taken   map[string]int64 `json:"taken"`   // ids, and until when they are needed, in Unix seconds
	Revoked map[string]int64 `json:"revoked"` // the same
}

// NewBook returns an empty book in a new epoch.
func NewBook() Book {
	return Book{Epoch: rand.Text(), Taken: map[string]int64{}, Revoked: map[string]int64{}}
}

// Check returns an error for a book that no ledger can have written.
func (b Book) Check() error {
	if b.Epoch == "" || b.Taken == nil || b.Revoked == nil || len(b.Taken) > maxTaken || len(b.Revoked) > maxRevoked {
		return fmt.Errorf("the book has the epoch %q, %d ids taken and %d revoked: expected an epoch and at most %d and %d ids", b.Epoch, len(b.Taken), len(b.Revoked), maxTaken, maxRevoked)
	}
	return nil
}

// withRoom returns a copy of the book in which there is room for one more id of each kind,
// if an id has ended that can be removed. While there is room it removes none: a clock that
// runs ahead makes every id look ended, and once the clock is set back, a used code or a
// revoked login would work again.
func (b Book) withRoom(now time.Time) Book {
	room := func(all map[string]int64, most int) map[string]int64 {
		all = maps.Clone(all)
		if len(all) < most {
			return all
		}
		first := slices.MinFunc(slices.Collect(maps.Keys(all)), func(a, b string) int { return cmp.Compare(all[a], all[b]) })
		if all[first] <= now.Unix() {
			delete(all, first)
		}
		return all
	}
	return Book{b.Epoch, room(b.Taken, maxTaken), room(b.Revoked, maxRevoked)}
}

// BookLedger is the [Ledger] of one process: a book, of which every change is saved
// before it counts.
type BookLedger struct {
	save func(Book) error

	changing sync.Mutex // held through every change
	unsaved  bool       // the last book could not be saved; guarded by changing
	book     atomic.Pointer[Book]
}

// NewLedger returns a ledger that begins with a book and calls save with every later
// one. save returns once the book is durable; it is called by one goroutine at a time and
// must not change the book.
func NewLedger(b Book, save func(Book) error) *BookLedger {
	l := &BookLedger{save: save}
	l.book.Store(&b)
	return l
}

// TakeOnce implements [Ledger]. An id counts as taken only once it is written.
func (l *BookLedger) TakeOnce(id string, until time.Time) (first bool, err error) {
	l.changing.Lock()
	defer l.changing.Unlock()
	b := l.book.Load().withRoom(time.Now())
	if _, taken := b.Taken[id]; taken {
		return false, nil
	}
	if len(b.Taken) >= maxTaken {
		return false, errFull
	}
	b.Taken[id] = ceilUnix(until)
	if err := l.write(b); err != nil {
		return false, err // not taken: the caller may try again
	}
	l.book.Store(&b)
	return true, nil
}

// Revoke implements [Ledger]. The revocation holds in this process even if it cannot be
// written. If the book would grow too large, a new epoch begins instead, which revokes
// everything.
func (l *BookLedger) Revoke(id string, until time.Time) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	b := l.book.Load().withRoom(time.Now())
	if b.Revoked[id] >= ceilUnix(until) && !l.unsaved {
		return nil
	}
	b.Revoked[id] = max(b.Revoked[id], ceilUnix(until))
	if len(b.Revoked) > maxRevoked {
		b = NewBook()
	}
	l.book.Store(&b) // also if it cannot be written: a stolen token ends now
	return l.write(b)
}

// Revoked implements [Ledger]. It takes no lock, because every request calls it.
func (l *BookLedger) Revoked(id, epoch string) bool {
	b := l.book.Load()
	_, revoked := b.Revoked[id]
	return revoked || epoch != b.Epoch
}

// Epoch implements [Ledger].
func (l *BookLedger) Epoch() string { return l.book.Load().Epoch }

// NextEpoch implements [Ledger]. It begins a new book, which has a new epoch.
func (l *BookLedger) NextEpoch() error {
	l.changing.Lock()
	defer l.changing.Unlock()
	b := NewBook()
	l.book.Store(&b)
	return l.write(b)
}

// write saves a book. The caller holds changing.
func (l *BookLedger) write(b Book) error {
	err := l.save(b)
	l.unsaved = err != nil
	return err
}

// ceilUnix returns a time in whole seconds, rounded up: an entry may be kept too
// long, never too short.
func ceilUnix(t time.Time) int64 { return t.Add(time.Second - 1).Unix() }
