package trade

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"wick/archive"
	"wick/delivery"
	"wick/journal"
)

// Audit writes what a state directory knows to w, oldest first and one line
// each: time, sequence, what happened, and the details as JSON. First come the
// orders in the archive, then every record of every journal there is. If the
// first records are gone, the orders and alerts of the oldest snapshot stand in
// their place.
//
// It checks all that [Verify] checks, and returns the first damage with its file
// and offset after what could be read before it. It only reads, so it may run
// beside the process that owns the directory.
func Audit(dir string, w io.Writer) error {
	out := bufio.NewWriter(w)
	line := func(order []byte) error {
		fmt.Fprintf(out, "%s 0 order_archived %s\n", updatedAt(order), order)
		return nil
	}
	v, err := inspect(dir, line, func(r journal.Entry) error { return auditEntry(r, out) })
	for _, note := range v.History.Notes {
		auditLine(out, now(), v.History.Last, "note", note)
	}
	return errors.Join(err, out.Flush())
}

// updatedAt returns the time in the JSON of an order. It is found by its name and
// not decoded, which would take most of the time that an export of millions of
// orders takes; no other text of an order can hold its unescaped quotes.
func updatedAt(order []byte) []byte {
	_, after, _ := bytes.Cut(order, []byte(`"updated_at":"`))
	at, _, _ := bytes.Cut(after, []byte(`"`))
	return at
}

// Verified is what [Verify] found: the journal's history and the archive's end, damaged
// or not.
type Verified struct {
	History journal.History
	Archive archive.Head
	Found   *journal.Entry // what has the hash that was asked for; nil if nothing has
}

// Verify checks everything that a start checks, and beyond that every record of
// every file: that each follows the one before it, from the first to the last,
// and that the snapshots and the archive belong to them. Find is a hash that
// was written down earlier, or zero: if Found is set, that record and all before
// it are as they were then.
func Verify(dir string, find journal.Hash) (Verified, error) {
	var found *journal.Entry
	v, err := inspect(dir, func([]byte) error { return nil }, func(r journal.Entry) error {
		if r.Hash == find && find != (journal.Hash{}) {
			r.Payload, found = nil, &r
		}
		return nil
	})
	v.Found = found
	return v, err
}

// inspect reads all of a directory and changes nothing. It calls archived for the JSON
// of every order of the archive and visit for every entry of the journal. A damaged
// journal or archive does not keep it from reading the rest: all that was found is in
// the history's Damage, and the error is the first of it. It may run beside the
// process that writes.
func inspect(dir string, archived func(order []byte) error, visit func(journal.Entry) error) (v Verified, err error) {
	d := journal.ReadOnly(dir)
	state, refused := newestState(d)
	// If the newest state cannot be read, nothing is known of what the archive must
	// have.
	noted := archive.Head{}
	if refused == nil {
		noted = state.archived
	}
	// The archive is read when the first record has told which store this is.
	first := true
	var damaged error // the archive
	v.History, err = journal.Walk(d, func(r journal.Entry) error {
		if first { // its store is the archive's
			first = false
			var h struct{ Store string }
			if err := json.Unmarshal(r.Payload, &h); err != nil {
				return err
			}
			v.Archive, damaged = readArchive(d, h.Store, noted, archived)
		}
		return visit(r)
	})
	for _, found := range []error{damaged, refused} { // a start's refusal is told if nothing else says why
		if found != nil && (found == damaged || len(v.History.Damage) == 0) {
			v.History.Damage = append(v.History.Damage, found)
		}
	}
	return v, cmp.Or(err, damaged, refused)
}

// newestState reads the newest state as a start does, without changing anything. The
// process that owns the directory may begin a new generation meanwhile, so an
// error counts only if it stays.
func newestState(d journal.Disk) (s *state, err error) {
	for range 3 {
		b := book{disk: d, hub: delivery.NewHub(nil)}
		log := slog.New(slog.DiscardHandler)
		files := journal.NewFiles(d, journal.FileOptions{Look: true}, log)
		if _, err = journal.Open(files, (*onDisk)(&b), log); err == nil {
			return b.shown, nil
		}
	}
	return nil, err
}

// auditEntry writes a record, or what a snapshot holds.
func auditEntry(r journal.Entry, out *bufio.Writer) error {
	if r.Kind == 0 {
		return auditSnapshot(r, out)
	}
	name := "header"
	if r.Kind != journal.KindHeader {
		name = kind(r.Kind).String()
	}
	var stamp struct{ At Time }
	json.Unmarshal(r.Payload, &stamp) // without a time the line is still worth having
	auditLine(out, stamp.At, r.Seq, name, json.RawMessage(r.Payload))
	return nil
}

// auditSnapshot writes the orders and alerts of a snapshot: of those made before
// it there is nothing else.
func auditSnapshot(r journal.Entry, out *bufio.Writer) error {
	s, err := decodeState("", r.Seq, r.Payload)
	if err != nil {
		return fmt.Errorf("%s: %w", r.File, err)
	}
	for _, o := range s.orders {
		auditLine(out, o.UpdatedAt, r.Seq, "order_kept", o)
	}
	for _, a := range s.sortedAlerts() {
		auditLine(out, a.CreatedAt, r.Seq, "alert_kept", a)
	}
	return nil
}

// auditLine writes one line. The writer keeps its first error for Flush.
func auditLine(out *bufio.Writer, at Time, seq uint64, name string, details any) {
	text, err := json.Marshal(details)
	if err != nil { // our own types always can be
		panic(err)
	}
	fmt.Fprintf(out, "%s %d %s %s\n", at.Format(timeLayout), seq, name, text)
}
