package trade

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"wick/archive"
	"wick/journal"
)

// Audit writes what a state directory knows to w, oldest first and one line
// each: time, sequence, what happened, and the details as JSON. First come the
// orders in the archive, then the orders and alerts of the oldest snapshot, whose
// own records are gone, then every record of every journal there is.
//
// It only reads, so it may run beside the process that owns the directory; a
// record that process is writing at that moment ends the output quietly.
func Audit(dir string, w io.Writer) error {
	d, out := journal.ReadOnly(dir), bufio.NewWriter(w)
	first := true
	err := journal.Walk(dir, func(r journal.Entry) error {
		if first { // its store is the archive's
			first = false
			if err := auditArchive(d, r.Payload, out); err != nil {
				return err
			}
		}
		return auditEntry(r, out)
	})
	return errors.Join(err, out.Flush())
}

// auditArchive writes the orders of the archive, and those of an earlier
// version's file that no start has taken over yet. Head is the beginning of the
// oldest snapshot or journal, which names the store.
func auditArchive(d journal.Disk, head []byte, out *bufio.Writer) error {
	var h struct{ Store string }
	if err := json.Unmarshal(head, &h); err != nil {
		return err
	}
	line := func(o *Order) error {
		auditLine(out, o.UpdatedAt, 0, "order_archived", o)
		return nil
	}
	_, err := archive.Check(d, h.Store, func(r archive.Record, _ archive.Head) error {
		o := new(Order)
		if err := json.Unmarshal(r.Body, o); err != nil {
			return err
		}
		return line(o)
	})
	if err != nil {
		return err
	}
	f, err := d.Open(oldArchive)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if at, err := readOldArchive(f, line); err != nil {
		return fmt.Errorf("%s is damaged at byte %d: %w", d.Path(oldArchive), at, err)
	}
	return nil
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
