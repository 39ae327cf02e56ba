package trade

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"wick/journal"
)

// recovery sums up what the journal r has found in the directory d; s is the state that
// will be kept. It returns an error if a file cannot be read: records that cannot be
// counted must not be given up.
func recovery(d journal.Disk, s *state, r journal.Recovery) (Recovery, error) {
	out := Recovery{
		Archive: checkArchive(d, s),
		Orders:  len(s.orders) + int(s.archived.Records), OpenOrders: s.openCount, Alerts: len(s.alerts),
		Subscriptions: s.subs.Len(), Journal: r,
	}
	// Only damage is repaired. A file that cannot be read at all may be undamaged, and is
	// left alone.
	if notDamaged(out.Archive) {
		return out, out.Archive
	}
	if out.Archive != nil {
		kept, lost, missing, err := salvageArchive(d, s)
		if err != nil {
			return out, err
		}
		out.Orders, out.LostArchived, out.LostWhen = len(s.orders)+kept, lost, missing.String()
	}
	return out, nil
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
	b := book{disk: d}
	files := journal.NewFiles(d, journal.FileOptions{Recover: func(found journal.Recovery) (err error) {
		if r, err = recovery(d, b.ahead, found); err == nil {
			err = errShown
		}
		return err
	}}, log)
	if _, err = journal.Open(files, (*onDisk)(&b), log); errors.Is(err, errShown) {
		err = nil
	}
	return r, err
}

// String returns what is kept and given up, in several lines for the owner.
func (r Recovery) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kept: %d orders (%d open), %d alerts, %d subscriptions, up to record %d\n",
		r.Orders, r.OpenOrders, r.Alerts, r.Subscriptions, r.Journal.Seq)
	for _, a := range r.Journal.Aside {
		if errors.Is(a.Err, journal.ErrMissing) {
			fmt.Fprintf(&b, "missing: %s\n", a.File)
		} else {
			fmt.Fprintf(&b, "damaged: %s from byte %d, %d bytes: %v\n", a.File, a.Offset, a.Bytes, a.Err)
		}
	}
	for _, err := range r.Journal.History {
		fmt.Fprintf(&b, "history: %v; no order, alert or position needs it, but wick audit cannot show what was in it\n", err)
	}
	if r.Archive != nil {
		fmt.Fprintf(&b, "damaged: %v; the archive is made anew from its records that are whole and from the journals and snapshots, and its old files are kept\n", strings.TrimSuffix(r.Archive.Error(), archiveAdvice))
	}
	r.givenUp(&b)
	return b.String()
}

// givenUp writes to b what a recovery cannot keep, in words for the owner.
func (r Recovery) givenUp(b *strings.Builder) {
	if r.LostArchived > 0 {
		fmt.Fprintf(b, "given up: %d finished orders of the archive, from %s: no file has them any more. The positions count them. "+
			"Their client_order_ids are not known either: an order that a client sends again under one of them would be filled again\n", r.LostArchived, r.LostWhen)
	}
	journals := slices.ContainsFunc(r.Journal.Aside, func(a journal.Aside) bool { return !a.Snapshot() })
	switch {
	case journals:
		fmt.Fprintf(b, "given up: every record after %d. The positions do not count them, and an order that a client sends again is placed anew; what is damaged stays in the files that are set aside\n", r.Journal.Seq)
	case len(r.Journal.Aside) > 0:
		b.WriteString("given up: nothing, the journals hold all that the snapshot held\n")
	case r.LostArchived == 0 && (r.Archive != nil || len(r.Journal.History) > 0):
		b.WriteString("given up: no order, alert or position\n")
	case r.LostArchived == 0:
		b.WriteString("given up: nothing, no file is damaged\n")
	}
}
