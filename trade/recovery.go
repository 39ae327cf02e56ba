package trade

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"wick/internal/journal"
	"wick/trade/book"
)

// recovery sums up what the journal r has found; s is the state that will be kept.
func recovery(s *book.State, r journal.Recovery) Recovery {
	return Recovery{Orders: len(s.Orders), OpenOrders: s.OpenCount, Alerts: len(s.Alerts), Subscriptions: s.Subs.Len(), Journal: r}
}

// errShown ends a recovery after it has said what it would do.
var errShown = errors.New("shown")

// ShowRecovery returns what a recovery of a directory would keep and give up. It
// changes nothing, and fails if another process uses the directory.
func ShowRecovery(dir string) (r Recovery, err error) {
	if err := journal.Free(dir); err != nil {
		return r, err
	}
	d, log := journal.ReadOnly(dir), slog.New(slog.DiscardHandler)
	b := store{disk: d}
	files := journal.NewFiles(d, journal.FileOptions{Recover: func(found journal.Recovery) error {
		r = recovery(b.book.State, found)
		return errShown
	}}, log)
	if _, err = journal.Open(files, (*onDisk)(&b), log); errors.Is(err, errShown) {
		err = nil
	}
	return r, err
}

// String returns what is kept and given up, in several lines for the owner.
func (r Recovery) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kept: %d orders (%d open), %d alerts, %d subscriptions, up to record %d, and the older finished orders in earlier journals\n",
		r.Orders, r.OpenOrders, r.Alerts, r.Subscriptions, r.Journal.Seq)
	given := false
	for _, f := range r.Journal.Faults {
		if given = given || !f.Snapshot; errors.Is(f.Err, journal.ErrMissing) {
			fmt.Fprintf(&b, "missing: %s\n", f.File)
		} else {
			fmt.Fprintf(&b, "damaged: %s from byte %d, %d bytes: %v\n", f.File, f.Offset, f.Bytes, f.Err)
		}
	}
	for _, err := range r.Journal.History {
		fmt.Fprintf(&b, "history: %v; no open order, alert or position needs it, but finished orders that only it has cannot be shown, and wick audit cannot show what was in it. An order that a client sends again under the client_order_id of one of those may be filled again\n", err)
	}
	switch {
	case given:
		fmt.Fprintf(&b, "given up: every record after %d. The positions do not count them, and an order that a client sends again is placed anew; the files stay as they are\n", r.Journal.Seq)
	case len(r.Journal.Faults) > 0:
		b.WriteString("given up: nothing, the journals hold all that the snapshot held\n")
	case len(r.Journal.History) > 0:
		b.WriteString("given up: no open order, alert or position\n")
	default:
		b.WriteString("given up: nothing, no file is damaged\n")
	}
	return b.String()
}
