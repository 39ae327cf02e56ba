package trade

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"wick/internal/journal"
	"wick/trade/book"
)

// haltName is the file by which the owner stops trading.
const haltName = "HALT"

// refreshTrading works out the trading state, from the file HALT, the daily loss and what
// is known of the broker, and writes a change down. It refuses if it cannot find out whether
// the file is there, or what it says; until it can, no resting order is filled either. It
// runs every second and before every order, so the file counts from the next order on.
func (e *Engine) refreshTrading() error {
	e.halting.Lock()
	defer e.halting.Unlock()
	return e.judgeTrading()
}

// judgeTrading is refreshTrading for callers that hold halting, from the look at the file to
// the step: otherwise who looked before the file was made, or removed, could undo what
// followed from that.
func (e *Engine) judgeTrading() error {
	shared := e.options.Shared != nil
	asked, err := readHalt(e.options.Dir)
	if err := e.noteHalt(err); err != nil {
		return err
	}
	var ev *book.Event // nil if nothing changes
	err = e.Do(func(s *book.State) error {
		// An earlier leader may have had the file, or was told to halt: that there is no file
		// here says nothing, and a halt lasts until it is lifted. Only reducing with the day of a
		// loss is the breaker's, unless the owner asked for it as well.
		if shared && (s.Trading == book.Halted || asked == book.Active && (s.Tripped == "" || s.ByOwner)) {
			asked = s.Trading
		}
		// The step that would be written, if it is a change. What the broker or a loss restricted
		// ends without the owner's file.
		by := &book.Who{Name: "nothing restricts it any more"}
		if asked != book.Active || e.haltFile {
			by.Name = "owner, by the file HALT"
		}
		e.haltFile = asked != book.Active
		ev = &book.Event{At: now(), Trading: asked, ByOwner: shared && asked == book.Reducing, By: by}
		// A file that halts wins over everything else. Without a file the daily loss may
		// restrict trading, and what is known of the broker may restrict it further.
		if asked == book.Active {
			e.book.Breaker(ev)
		}
		e.book.Restrict(ev)
		e.book.KeepTripped(ev)
		news := e.differsAnew(ev)
		if s.Trading == ev.Trading && s.Tripped == ev.Tripped && s.ByOwner == ev.ByOwner && !news {
			ev = nil
			return errIdle
		}
		return e.proposeTrading(ev)
	})
	if err == nil && ev != nil {
		e.log.Warn("trading state changed", "state", string(ev.Trading), "by", ev.By.Name)
	}
	return err
}

// noteHalt notes whether the file HALT could be looked at. If it could not, unread says why,
// and noteHalt returns the refusal of new orders. The trading state stays as it is, because
// it is not known that the owner halted trading, but resting orders are held as by a halt.
// Once it can be looked at again, how far the market was judged is on disk as after a halt.
func (e *Engine) noteHalt(unread error) error {
	before := false
	err := e.Do(func(*book.State) error {
		before, e.book.HaltUnread = e.book.HaltUnread, unread != nil
		if before && unread == nil {
			return e.noteSeen(now())
		}
		return errIdle
	})
	if unread == nil {
		return err
	}
	if !before {
		e.log.Error("whether trading is halted cannot be told: no order is taken", "error", unread)
	}
	return book.Refuse("halt_unknown", "whether trading is halted cannot be told: %v", unread)
}

// proposeTrading proposes ev, which changes the trading state.
// Prices that came while orders were held back must not fill them after a restart, so the
// end of a restriction writes down first how far the market was judged. Called with mu
// held.
func (e *Engine) proposeTrading(ev *book.Event) error {
	if e.book.Trading != book.Active {
		if err := e.noteSeen(now()); err != nil {
			return err
		}
	}
	return e.book.Propose(book.KindTrading, ev)
}

// differsAnew reports whether ev must be written even if it leaves the trading state as it
// is: the broker's positions have begun to differ while the daily loss restricts trading
// already, and otherwise the owner would not be told. Called with mu held.
func (e *Engine) differsAnew(ev *book.Event) bool {
	if ev.Trading == book.Halted {
		return false
	}
	before := e.differed
	e.differed = e.book.Remote.Unlike()
	return e.differed && !before && ev.Tripped != ""
}

// SetHalt halts trading by writing the file HALT, or lets it go on by removing it,
// and returns when the change is in the journal. With several replicas the leader halts by
// the journal alone, because the next leader has other files.
func (e *Engine) SetHalt(halt bool) error {
	if e.follows() {
		if err := e.askHalt(halt); err != nil {
			return err
		}
		_ = e.Confirm(context.Background()) // for Status, which says what trading may do; if etcd does not answer, the change is made all the same
		return nil
	}
	e.halting.Lock() // two at a time would write the same file
	defer e.halting.Unlock()
	shared := e.options.Shared != nil
	var err error
	switch {
	case !halt:
		if err = os.Remove(filepath.Join(e.options.Dir, haltName)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	case !shared:
		// What halts already is left alone: it may be a folder, a link, or a pipe that nobody reads.
		if state, unknown := readHalt(e.options.Dir); unknown != nil || state != book.Halted {
			err = journal.WriteAtomic(e.disk, haltName, nil) // a power cut must not undo it
		}
	}
	switch {
	case err != nil:
		return err
	case shared:
		return e.setHaltShared(halt)
	}
	return e.judgeTrading()
}

// askHalt has the leader halt trading or let it go on. Asking twice does no harm, so a
// leader that does not answer, such as one that is paused, is asked again: if it has died,
// another leads before the last try ends.
func (e *Engine) askHalt(halt bool) error {
	var failure error
	for range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		err := e.options.Shared.Ask(ctx, AskHalt, halt, nil)
		late := ctx.Err() != nil
		cancel()
		if err == nil {
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

// setHaltShared is the step of SetHalt for the leader on a shared log.
func (e *Engine) setHaltShared(halt bool) error {
	ev := &book.Event{At: now(), Trading: book.Active, By: &book.Who{Name: "owner"}}
	err := e.Do(func(*book.State) error {
		if halt {
			ev.Trading = book.Halted
			e.book.KeepTripped(ev)
		} else {
			e.book.Breaker(ev)
		}
		return e.proposeTrading(ev)
	})
	if err == nil {
		e.log.Warn("trading state changed", "state", string(ev.Trading), "by", ev.By.Name)
	}
	return err
}

// maxHalt bounds the file HALT that is read, in bytes. A longer one halts.
const maxHalt = 4096

// readHalt returns the state that the file HALT in dir asks for. A file with the word
// reducing in it lets orders through that shrink a position; anything else of that name
// halts, also a directory, a link or a file that may not be read. No link is followed, so
// that SetHalt never writes to a file elsewhere. Other errors are returned, and orders are
// refused with them: a process that has run out of descriptors must not say that the owner
// halted trading.
func readHalt(dir string) (book.TradingState, error) {
	name := filepath.Join(dir, haltName)
	// Lstat follows no link and needs no descriptor: only if it finds nothing is there nothing.
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return book.Active, nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > maxHalt: // is not read: opening a pipe would wait for its writer
		return book.Halted, nil
	}
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission): // it was there: if it is gone by now, the next look says so
		return book.Halted, nil
	case err != nil:
		return "", err
	case strings.EqualFold(strings.TrimSpace(string(text)), string(book.Reducing)):
		return book.Reducing, nil
	}
	return book.Halted, nil
}
