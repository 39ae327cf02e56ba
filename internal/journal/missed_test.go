package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// TestMissingJournalIsSaid: a journal before the newest was deleted; without an index of it
// the start is refused, and with one a warning is logged with its name. A recovery shows it
// and notes it. After that nothing is said, and Walk reports no damage but an incomplete
// history. If the file is put back from a copy, the history is complete again.
func TestMissingJournalIsSaid(t *testing.T) {
	for _, gone := range [][]string{{"journal-1.wal"}, {"journal-2.wal"}, {"journal-1.wal", "journal-2.wal"}} {
		d, _ := longStore(t)
		kept := make(map[string]*journaltest.File)
		var out bytes.Buffer
		index := func() (string, error) {
			out.Reset()
			_, err := journal.OpenIndex(d, noKeys, slog.New(slog.NewTextHandler(&out, nil)))
			return out.String(), err
		}
		var damage *journal.DamageError
		if said, err := index(); err != nil || said != "" {
			t.Fatalf("%q, %v", said, err)
		}
		for _, name := range gone {
			kept[name] = d.Files[name]
			delete(d.Files, name)
		}
		if said, err := index(); err != nil || !strings.Contains(said, "earlier journals are missing") || !strings.Contains(said, fmt.Sprintf("files=%d", len(gone))) {
			t.Errorf("%v: the index says %q, %v", gone, said, err)
		}
		for _, name := range gone {
			delete(d.Files, strings.Replace(name, ".wal", ".idx", 1))
		}
		if said, err := index(); !errors.As(err, &damage) || !strings.HasPrefix(err.Error(), gone[0]) {
			t.Errorf("%v: without an index of it: %q, %v", gone, said, err)
		}
		h, _, err := walk(d)
		if err == nil || len(h.Damage) != 1 || !strings.Contains(err.Error(), gone[0]+", which goes on after record") {
			t.Errorf("%v: Walk says %v of %d faults", gone, err, len(h.Damage))
		}
		var r journal.Recovery
		if _, _, err := open(d, journal.FileOptions{Recover: func(got journal.Recovery) error { r = got; return nil }}); err != nil {
			t.Fatal(err)
		}
		if len(r.Faults) > 0 || len(r.History) != 1 || !strings.Contains(r.History[0].Error(), gone[0]) {
			t.Errorf("%v: the recovery says %+v", gone, r)
		}
		if h, _, err := walk(d); err != nil || h.Gaps != 1 || len(h.Notes) != 1 {
			t.Errorf("%v: after the recovery Walk says %+v, %v", gone, h, err)
		}
		if said, err := index(); err != nil || said != "" {
			t.Errorf("%v: after the recovery the index says %q, %v", gone, said, err)
		}
		for name, f := range kept {
			d.Files[name] = f
		}
		if h, _, err := walk(d); err != nil || h.Gaps > 0 {
			t.Errorf("%v: put back, Walk says %+v, %v", gone, h, err)
		}
	}
}

// noKeys is for an index that finds nothing.
func noKeys(byte, []byte) (journal.Keys, error) { return journal.Keys{}, nil }

// TestWalkGoesOn: one walk reports the first fault of every file, and visits the records
// before it and those of the other files.
func TestWalkGoesOn(t *testing.T) {
	d, texts := longStore(t)
	harm := func(name string, i int) (lost int) {
		f := d.Files[name]
		at := 0
		frames := journaltest.Frames(f.Data)
		for _, r := range frames[:i] {
			at += r.Size
		}
		for _, r := range frames[i:] {
			if r.Kind == kindNote {
				lost++
			}
		}
		f.Data[at+60] ^= 1
		return lost
	}
	lost := harm("journal-1.wal", 3) + harm("journal-2.wal", 0) + harm("journal-3.wal", 2) // 0 is the header
	d.Files["snapshot-4.state"].Data[50] ^= 1
	visited := 0
	h, err := journal.Walk(d, func(e journal.Entry) error {
		if e.Kind == kindNote {
			visited++
		}
		return nil
	})
	var said []string
	for _, err := range h.Damage {
		said = append(said, err.Error())
	}
	if err == nil || len(said) != 4 || !strings.HasPrefix(said[0], "journal-1.wal at byte") || !strings.HasPrefix(said[1], "journal-2.wal at byte 0") ||
		!strings.HasPrefix(said[2], "journal-3.wal at byte") || !strings.HasPrefix(said[3], "snapshot-4.state is damaged") {
		t.Errorf("told: %v\n%s", err, strings.Join(said, "\n"))
	}
	if visited != len(texts)-lost {
		t.Errorf("%d records visited, want all %d but %d", visited, len(texts), lost)
	}
}

// refusing is a disk of which one file cannot be read.
type refusing struct {
	journal.Disk
	name string
	err  error
}

func (d refusing) Read(name string) ([]byte, error) {
	if name == d.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: d.err}
	}
	return d.Disk.Read(name)
}

// TestUnreadableIsNotDamage: a file that cannot be read, for lack of permission or
// because the disk fails, may be good. Neither a start nor a recovery nor an audit calls
// it damaged, none advises a recovery, and a recovery gives nothing up.
func TestUnreadableIsNotDamage(t *testing.T) {
	for _, cause := range []error{syscall.EACCES, syscall.EIO, syscall.ESTALE} {
		for _, name := range []string{"journal-%d.wal", "snapshot-%d.state"} {
			d, _ := longStore(t)
			j, _, err := open(d, journal.FileOptions{})
			if err == nil {
				err = write(j, 61, "more")
			}
			if err != nil {
				t.Fatal(err)
			}
			before := d.String()
			r := refusing{d, fmt.Sprintf(name, newest(d)), cause}
			_, started := load(r, false)
			_, recovered := load(r, true)
			_, _, walked := walk(r)
			for what, err := range map[string]error{"start": started, "recovery": recovered, "Walk": walked} {
				var damage *journal.DamageError
				if err == nil || errors.As(err, &damage) || !errors.Is(err, cause) || strings.Contains(err.Error(), "recover show") {
					t.Errorf("%v, %s: %s gives %v", cause, r.name, what, err)
				}
			}
			if d.String() != before {
				t.Errorf("%v, %s: something was changed", cause, r.name)
			}
		}
	}
}

// TestBadSnapshotBreaksNoChain: a damaged snapshot hides nothing that is wrong with the
// journals: Walk reports it and the journals that are missing before it.
func TestBadSnapshotBreaksNoChain(t *testing.T) {
	d, _ := longStore(t)
	n := newest(d)
	for i := range n - 1 {
		delete(d.Files, fmt.Sprintf("journal-%d.wal", i+1))
		delete(d.Files, fmt.Sprintf("snapshot-%d.state", i+1))
	}
	d.Files[fmt.Sprintf("snapshot-%d.state", n)].Data[20] ^= 1
	h, _, err := walk(d)
	if err == nil || len(h.Damage) != 2 || !errors.Is(h.Damage[0], journal.ErrMissing) {
		t.Errorf("Walk says %v, want the snapshot and the missing journals", h.Damage)
	}
}
