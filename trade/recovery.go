package trade

import (
	"fmt"
	"strings"

	"wick/journal"
)

// Recovery says what a recovery keeps of a damaged directory and what it gives
// up.
type Recovery struct {
	Orders, OpenOrders, Alerts, Subscriptions int // kept

	LostOrders, LostAlerts int  // placed and set in records that cannot be kept
	LostRecords            int  // all such records
	LostSince              Time // the time of the first of them

	Archive error // what is wrong with the archive, which is made anew; nil if nothing is

	Journal journal.Recovery
}

// recovery sums up what the journal found; s is the state that is kept, and d the
// directory.
func recovery(d journal.Disk, s *state, r journal.Recovery) Recovery {
	out := Recovery{
		Archive: checkArchive(d, s),
		Orders:  len(s.orders) + int(s.archived.Records), OpenOrders: s.openCount, Alerts: len(s.alerts),
		Subscriptions: s.book().Len(), LostRecords: len(r.Lost), Journal: r,
	}
	for _, lost := range r.Lost {
		switch kind(lost.Kind) {
		case kindPlaced, kindIntent:
			out.LostOrders++
		case kindAlertSet:
			out.LostAlerts++
		}
		if ev, err := decodeEvent(lost.Payload); err == nil && out.LostSince.IsZero() {
			out.LostSince = ev.At
		}
	}
	return out
}

// String returns some lines for the owner.
func (r Recovery) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kept: %d orders (%d open), %d alerts, %d subscriptions, up to record %d\n",
		r.Orders, r.OpenOrders, r.Alerts, r.Subscriptions, r.Journal.Seq)
	for _, a := range r.Journal.Aside {
		fmt.Fprintf(&b, "damaged: %s from byte %d, %d bytes: %v\n", a.File, a.Offset, a.Bytes, a.Err)
	}
	if r.Archive != nil {
		fmt.Fprintf(&b, "archive: %v; it is made anew from its records that are whole and from the journals, and its old files are kept\n", r.Archive)
	}
	switch {
	case len(r.Journal.Aside) == 0 && r.Archive != nil:
		b.WriteString("given up: no record of the journal\n")
	case len(r.Journal.Aside) == 0:
		b.WriteString("given up: nothing, no file is damaged\n")
	case r.LostRecords == 0:
		b.WriteString("given up: no record that can be read; what the damaged bytes held cannot be said\n")
	default:
		fmt.Fprintf(&b, "given up: %d records that can be read, from %s on, among them %d new orders and %d new alerts; "+
			"what the damaged bytes held cannot be said\n", r.LostRecords, r.LostSince.Format(timeLayout), r.LostOrders, r.LostAlerts)
	}
	return b.String()
}
