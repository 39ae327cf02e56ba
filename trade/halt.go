package trade

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"wick/internal/journal"
	"wick/internal/limit"
	"wick/trade/book"
)

// haltName is the file by which the owner stops trading.
const haltName = "HALT"

// brake works out what trading may do. An engine has one.
type brake struct {
	store    *store
	progress *progress
	dir      string // that the file HALT is in

	halting  sync.Mutex // held from a look at the file HALT, or a change of it, to the step that follows
	haltFile bool       // the last look at the file found one; guarded by the store's mu, like differed
	differed bool       // the broker's positions differed when trading was last found not to be halted
}

// refreshTrading works out the trading state, from the file HALT, the daily loss and what
// is known of the broker, and writes a change down. It runs every second and before every order, so
// the file counts from the next order on.
func (b *brake) refreshTrading() error {
	b.halting.Lock()
	defer b.halting.Unlock()
	return b.judgeTrading()
}

// judgeTrading is refreshTrading for callers that hold halting, from the look at the file to
// the step: otherwise who looked before the file was made, or removed, could undo what
// followed from that.
func (b *brake) judgeTrading() error {
	asked, unread := readHalt(b.dir)
	return b.changeTrading(func(s *book.State) (*book.Event, error) {
		// An earlier leader may have had the file, or was told to halt: that there is no file
		// here says nothing, and a halt lasts until it is lifted. Only reducing with the day of a
		// loss is the breaker's, unless the owner asked for it as well.
		if b.store.peers != nil && (s.Trading == book.Halted || asked == book.Active && (s.Tripped == "" || s.ByOwner)) {
			asked = s.Trading
		}
		// The step that would be written, if it is a change. What the broker or a loss restricted
		// ends without the owner's file.
		by := &book.Who{Name: "nothing restricts it any more"}
		if asked != book.Active || b.haltFile {
			by.Name = "owner, by the file HALT"
		}
		if unread != nil {
			by.Name = "the file HALT, which cannot be read: " + limit.Line(unread.Error(), 200)
		}
		b.haltFile = asked != book.Active
		ev := &book.Event{At: now(), Trading: asked, ByOwner: b.store.peers != nil && asked == book.Reducing, By: by}
		// A file that halts wins over everything else.
		b.store.book.Restrict(ev)
		// That the broker's positions have begun to differ is written even if the daily loss
		// restricts trading already: otherwise the owner would not be told.
		news := false
		if ev.Trading != book.Halted {
			before := b.differed
			b.differed = b.store.book.Remote.Unlike()
			news = b.differed && !before && ev.Tripped != ""
		}
		if s.Trading == ev.Trading && s.Tripped == ev.Tripped && s.ByOwner == ev.ByOwner && !news {
			return nil, nil
		}
		return ev, nil
	})
}

// changeTrading takes the step that decide returns, which changes the trading state, and logs
// it; nil for none. Prices that came while orders were held back must not fill them after a
// restart, so the end of a restriction writes down first how far the market was judged.
func (b *brake) changeTrading(decide func(s *book.State) (*book.Event, error)) error {
	var ev *book.Event
	err := b.store.Do(func(s *book.State) (err error) {
		before := s.Seq
		if ev, err = decide(s); err == nil && ev == nil && s.Seq == before {
			return errIdle
		}
		if err == nil && ev != nil && s.Trading != book.Active {
			err = b.progress.noteSeen(now())
		}
		if err == nil && ev != nil {
			err = b.store.book.Propose(book.KindTrading, ev)
		}
		return err
	})
	if err == nil && ev != nil {
		b.store.log.Warn("trading state changed", "state", string(ev.Trading), "by", ev.By.Name)
	}
	return err
}

// SetHalt halts trading by writing the file HALT, or lets it go on by removing it,
// and returns when the change is in the journal. With several replicas the leader halts by
// the journal alone, because the next leader has other files.
func (b *brake) SetHalt(halt bool) error {
	if b.store.follows() {
		return b.askHalt(halt)
	}
	b.halting.Lock()
	defer b.halting.Unlock()
	var err error
	switch {
	case !halt:
		if err = os.Remove(filepath.Join(b.dir, haltName)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	case b.store.peers == nil:
		// What halts already is left alone: it may be a folder, a link, or a pipe that nobody reads.
		if state, unread := readHalt(b.dir); unread != nil || state != book.Halted {
			err = journal.WriteAtomic(b.store.disk, haltName, nil) // a power cut must not undo it
		}
	}
	switch {
	case err != nil:
		return err
	case b.store.peers == nil:
		return b.judgeTrading()
	}
	return b.changeTrading(func(*book.State) (*book.Event, error) {
		ev := &book.Event{At: now(), Trading: book.Active, By: &book.Who{Name: "owner"}}
		if halt {
			ev.Trading = book.Halted
		}
		b.store.book.Restrict(ev)
		return ev, nil
	})
}

// askHalt has the leader halt trading or let it go on. Asking twice does no harm, so a
// leader that does not answer, such as one that is paused, is asked again: if it has died,
// another leads before the last try ends.
func (b *brake) askHalt(halt bool) (failure error) {
	for range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		err := b.store.peers.Ask(ctx, AskHalt, halt, nil)
		late := ctx.Err() != nil
		cancel()
		if err == nil {
			_ = b.store.Confirm(context.Background()) // for Status, which says what trading may do; if etcd does not answer, the change is made all the same
			return nil
		}
		if !errors.Is(failure, journal.ErrUnknown) { // otherwise a try before this one may have been acted on
			failure = err
		}
		if !late {
			break
		}
	}
	return failure
}

// maxHalt bounds the file HALT that is read, in bytes. A longer one halts.
const maxHalt = 4096

// readHalt returns the state that the file HALT in dir asks for. A file with the word
// reducing in it lets orders through that shrink a position; anything else of that name
// halts, also a directory or a link. No link is followed, so that SetHalt never writes to a file
// elsewhere. What cannot be looked at or read halts as well, with the reason.
func readHalt(dir string) (book.TradingState, error) {
	name := filepath.Join(dir, haltName)
	// Lstat follows no link and needs no descriptor: only if it finds nothing is there nothing.
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return book.Active, nil
	case err != nil:
		return book.Halted, err
	case !info.Mode().IsRegular() || info.Size() > maxHalt: // is not read: opening a pipe would wait for its writer
		return book.Halted, nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) { // it was there: if it is gone by now, the next look says so
		err = nil
	}
	if strings.EqualFold(strings.TrimSpace(string(text)), string(book.Reducing)) {
		return book.Reducing, nil
	}
	return book.Halted, err
}
