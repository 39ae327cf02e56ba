package trade

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"wick/internal/journal"
	"wick/trade/book"
)

// Audit writes the history that a state directory holds to w, oldest first and one
// line per entry: time, sequence, what happened, and the details as JSON. It has every
// record of every journal there is. If the first records are gone, the orders and alerts
// of the oldest snapshot stand in their place.
//
// It checks all that [Verify] checks. It writes everything that can be read and then
// returns the first damage, with its file and offset. It only reads, so it may run
// beside the process that owns the directory.
func Audit(dir string, w io.Writer) error {
	out := bufio.NewWriter(w)
	v, err := inspect(dir, func(r journal.Entry) error { return auditEntry(r, out) })
	for _, note := range v.History.Notes {
		auditLine(out, now(), v.History.Last, "note", note)
	}
	return errors.Join(err, out.Flush())
}

// AuditTail returns the last lines of [Audit] that fit into so many bytes. It reads the end
// of the history alone.
func AuditTail(dir string, most int) (lines []string, err error) {
	entries, err := journal.Newest(journal.ReadOnly(dir), most)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	out := bufio.NewWriter(&text)
	for _, r := range slices.Backward(entries) {
		if err := errors.Join(auditEntry(r, out), out.Flush()); err != nil {
			return nil, err
		}
		if most -= text.Len(); most < 0 {
			break
		}
		lines = append(lines, strings.TrimSuffix(text.String(), "\n"))
		text.Reset()
	}
	slices.Reverse(lines)
	return lines, nil
}

// Verified is what [Verify] found: the journal's history, damaged or not.
type Verified struct {
	History journal.History
	Found   *journal.Entry // the record with the hash that was asked for; nil if there is none
}

// Verify checks everything that a start checks, and beyond that every record of
// every file: that each follows the one before it, from the first to the last,
// and that the snapshots belong to them. Find is a hash that was written down
// earlier, or zero: if Found is set, that record and all before it are as they
// were then.
func Verify(dir string, find journal.Hash) (Verified, error) {
	var found *journal.Entry
	v, err := inspect(dir, func(r journal.Entry) error {
		if r.Hash == find && find != (journal.Hash{}) {
			r.Payload, found = nil, &r
		}
		return nil
	})
	v.Found = found
	return v, err
}

// inspect reads all of a directory and changes nothing. It calls visit for every entry of
// the journal. Damage does not keep it from reading the rest: all that was found is in the
// history's Damage, and the error is the first of it. It may run beside the process that
// writes.
func inspect(dir string, visit func(journal.Entry) error) (v Verified, err error) {
	d := journal.ReadOnly(dir)
	_, refused := newestState(d)
	v.History, err = journal.Walk(d, visit)
	index := journal.CheckIndex(d)
	if index != nil {
		v.History.Damage = append(v.History.Damage, index)
	}
	if refused != nil && len(v.History.Damage) == 0 { // why a start would fail, if no other damage explains it
		v.History.Damage = append(v.History.Damage, refused)
	}
	return v, cmp.Or(err, index, refused)
}

// records calls each with every record of the history of a directory and its event, or with a
// snapshot and its state: the records before that are gone.
func records(dir string, each func(journal.Entry, *book.Event, *book.State) error) error {
	_, err := inspect(dir, func(r journal.Entry) (err error) {
		var ev *book.Event
		var s *book.State
		switch r.Kind {
		case journal.KindHeader:
			return nil
		case 0:
			s, err = book.DecodeState("", r.Seq, r.Payload)
		default:
			ev, err = book.DecodeEvent(r.Payload)
		}
		if err == nil {
			err = each(r, ev, s)
		}
		if err != nil {
			err = fmt.Errorf("%s: record %d: %w", r.File, r.Seq, err)
		}
		return err
	})
	return err
}

// newestState reads the newest state as a start does, without changing anything. The
// process that owns the directory may begin a new generation of files meanwhile, so an
// error counts only after three tries.
func newestState(d journal.Reader) (s *book.State, err error) {
	for range 3 {
		if s, err = readState(d, math.MaxUint64); err == nil {
			return s, nil
		}
	}
	return nil, err
}

// auditEntry writes a record. Of a snapshot it writes the orders and alerts: nothing else is left of
// those that were made before it.
func auditEntry(r journal.Entry, out *bufio.Writer) error {
	if r.Kind == 0 {
		s, err := book.DecodeState("", r.Seq, r.Payload)
		if err != nil {
			return fmt.Errorf("%s: %w", r.File, err)
		}
		for _, o := range s.Orders {
			auditLine(out, o.UpdatedAt, r.Seq, "order_kept", o)
		}
		for _, a := range s.SortedAlerts() {
			auditLine(out, a.CreatedAt, r.Seq, "alert_kept", a)
		}
		return nil
	}
	name := "header"
	if r.Kind != journal.KindHeader {
		name = book.Kind(r.Kind).String()
	}
	var stamp struct{ At book.Time }
	json.Unmarshal(r.Payload, &stamp) // without a time the line is still worth having
	auditLine(out, stamp.At, r.Seq, name, json.RawMessage(r.Payload))
	return nil
}

// auditLine writes one line. The writer keeps its first error for Flush.
func auditLine(out *bufio.Writer, at book.Time, seq uint64, name string, details any) {
	text, err := json.Marshal(details)
	if err != nil { // our own types can always be encoded
		panic(err)
	}
	fmt.Fprintf(out, "%s %d %s %s\n", at.Format(book.TimeLayout), seq, name, text)
}

// recovery sums up what the journal r has found; s is the state that will be kept.
func recovery(s *book.State, r journal.Recovery) Recovery {
	return Recovery{Orders: len(s.Orders), OpenOrders: s.OpenCount, Alerts: len(s.Alerts), Subscriptions: s.Subs.Len(), Journal: r}
}

// ShowRecovery returns what a recovery of a directory would keep and give up. It
// changes nothing, and fails if another process uses the directory.
func ShowRecovery(dir string) (Recovery, error) {
	if err := journal.Free(dir); err != nil {
		return Recovery{}, err
	}
	var b store
	r, err := journal.Salvage(journal.ReadOnly(dir), (*onDisk)(&b))
	if err != nil {
		return Recovery{}, err
	}
	return recovery(b.book.State, r), nil
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
