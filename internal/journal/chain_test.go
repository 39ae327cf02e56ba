package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// longStore returns a disk with four generations that was stopped cleanly in the
// middle, and its texts.
func longStore(t *testing.T) (*journaltest.Disk, []string) {
	t.Helper()
	d, texts := newStore(t), script(60, 5)
	if acked := run(d, texts); acked != len(texts) {
		t.Fatalf("%d notes on a good disk", acked)
	}
	return d, texts
}

// walk returns what Walk finds, and all hashes it tells.
func walk(d journal.Reader) (h journal.History, hashes []journal.Hash, err error) {
	h, err = journal.Walk(d, func(e journal.Entry) error {
		hashes = append(hashes, e.Hash)
		return nil
	})
	return h, hashes, err
}

// newest returns the newest generation of a disk.
func newest(d *journaltest.Disk) (n int) {
	for d.Files[fmt.Sprintf("snapshot-%d.state", n+1)] != nil || d.Files[fmt.Sprintf("journal-%d.wal", n+1)] != nil {
		n++
	}
	return n
}

// TestHistory follows the hashes by the description of the format, over
// rotations and a clean stop: each record has the hash of the one before, each
// header that of the last record and of its snapshot, and Walk ends with the
// last of them.
func TestHistory(t *testing.T) {
	d, texts := longStore(t)
	var before [sha256.Size]byte
	records := 0
	for n := 1; n <= newest(d); n++ {
		for i, f := range journaltest.Frames(d.Files[fmt.Sprintf("journal-%d.wal", n)].Data) {
			var h struct{ Before, Snapshot string }
			switch {
			case i > 0 && f.Before != before:
				t.Fatalf("journal %d, record %d: hash %x, want %x", n, f.Seq, f.Before, before)
			case f.Kind == 255: // the end of the file is not part of the history
				continue
			case f.Kind == kindNote:
				records++
			case json.Unmarshal(f.Payload, &h) != nil || n > 1 && h.Before != fmt.Sprintf("%x", before):
				t.Fatalf("header of journal %d: %s, want %x", n, f.Payload, before)
			}
			if s := d.Files[fmt.Sprintf("snapshot-%d.state", n)]; i == 0 && s != nil {
				wal := d.Files[fmt.Sprintf("journal-%d.wal", n)].Data
				if state, ok := bytes.CutPrefix(s.Data, wal[:f.Size]); !ok || h.Snapshot != fmt.Sprintf("%x", sha256.Sum256(state)) {
					t.Errorf("header of journal %d: another snapshot than %s", n, h.Snapshot)
				}
			}
			before = f.Hash
		}
	}
	h, _, err := walk(d)
	if err != nil || h.Head != before || h.Last != uint64(len(texts)) || records != len(texts) || h.First != 0 || len(h.Notes) > 0 {
		t.Errorf("%d records, head %x; Walk: %+v, %v", records, before, h, err)
	}
}

// TestCleanCut: if whole records are cut off the end, the rest is a good history by
// itself. Only a hash that was noted before shows that it was longer.
func TestCleanCut(t *testing.T) {
	d, _ := smallStore(t)
	whole, _, err := walk(d)
	if err != nil {
		t.Fatal(err)
	}
	f := d.Files[journal1]
	f.Data = f.Data[:len(f.Data)-len(lastRecord(f.Data))]
	cut, hashes, err := walk(d)
	if err != nil || cut.Last != 3 || slices.Contains(hashes, whole.Head) || !slices.Contains(hashes, cut.Head) {
		t.Errorf("after the cut: %+v, %v; the old head %s is in it: %t", cut, err, whole.Head, slices.Contains(hashes, whole.Head))
	}
}

// resum changes a state, and gives the snapshot the header that fits it, as somebody would
// who wants the change to stay unseen.
func resum(d *journaltest.Disk, name, from, to string) {
	f := d.Files[name]
	first := 8 + int(binary.LittleEndian.Uint32(f.Data))
	state := bytes.Replace(f.Data[first:], []byte(from), []byte(to), 1)
	was, is := sha256.Sum256(f.Data[first:]), sha256.Sum256(state)
	body := bytes.Replace(f.Data[8:first], fmt.Appendf(nil, "%x", was), fmt.Appendf(nil, "%x", is), 1)
	head := binary.LittleEndian.AppendUint32(slices.Clone(f.Data[:4]), crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	f.Data = slices.Concat(head, body, state)
}

// TestHistoryDamage changes a history in all the ways in which checksums can be made to
// match; walk names the file each time, and a start refuses the files that it reads.
func TestHistoryDamage(t *testing.T) {
	for _, c := range []struct {
		name   string
		harm   func(d *journaltest.Disk, n int)
		file   string // with %d for the newest generation
		refuse bool   // by a start
	}{
		{"first journal gone", func(d *journaltest.Disk, _ int) { delete(d.Files, journal1) }, "journal-1.wal", false},
		{"middle journal gone", func(d *journaltest.Disk, _ int) { delete(d.Files, "journal-2.wal") }, "journal-2.wal", false},
		{"newest journal gone", func(d *journaltest.Disk, n int) { delete(d.Files, fmt.Sprintf("journal-%d.wal", n)) }, "journal-%d.wal", true},
		{"newest snapshot gone", func(d *journaltest.Disk, n int) { delete(d.Files, fmt.Sprintf("snapshot-%d.state", n)) }, "snapshot-%d.state", true},
		{"both newest gone", func(d *journaltest.Disk, n int) {
			delete(d.Files, fmt.Sprintf("snapshot-%d.state", n))
			delete(d.Files, fmt.Sprintf("journal-%d.wal", n))
		}, "journal-", true},
		{"record changed", func(d *journaltest.Disk, n int) { forge(d.Files[fmt.Sprintf("journal-%d.wal", n)], 2) }, "journal-%d.wal", true},
		{"old record changed", func(d *journaltest.Disk, _ int) { forge(d.Files["journal-2.wal"], 2) }, "journal-2.wal", false},
		{"record missing", func(d *journaltest.Disk, n int) { dropRecord(d.Files[fmt.Sprintf("journal-%d.wal", n)], 2) }, "journal-%d.wal", true},
		{"old record missing", func(d *journaltest.Disk, _ int) { dropRecord(d.Files["journal-2.wal"], 2) }, "journal-2.wal", false},
		{"snapshot changed", func(d *journaltest.Disk, n int) {
			resum(d, fmt.Sprintf("snapshot-%d.state", n), `"texts":["0`, `"texts":["9`)
		}, "-%d.", true},
		{"journal of another store", func(d *journaltest.Disk, n int) {
			other := journaltest.NewDisk()
			open(other, journal.FileOptions{})
			d.Files[journal1] = other.Files[journal1]
		}, "journal-1.wal", false},
		{"empty", func(d *journaltest.Disk, _ int) { clear(d.Files) }, "there is no journal", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := longStore(t)
			j, _, err := open(d, journal.FileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for seq := uint64(61); seq <= 64; seq++ { // the newest generation has records too
				if err := write(j, seq, fmt.Sprint(seq)); err != nil {
					t.Fatal(err)
				}
			}
			n := newest(d)
			c.harm(d, n)
			file := c.file
			if strings.Contains(file, "%") {
				file = fmt.Sprintf(file, n)
			}
			before := d.String()
			if _, _, err := walk(d); err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("Walk: %v; want an error about %s", err, file)
			}
			looked := journal.Load(d, new(notes), math.MaxUint64)
			if d.String() != before {
				t.Error("looking changed the directory")
			}
			_, started := load(d, false)
			for what, err := range map[string]error{"Load": looked, "start": started} {
				if (err != nil) != c.refuse && c.name != "empty" {
					t.Errorf("%s: %v; want it refused: %t", what, err, c.refuse)
				}
			}
		})
	}
}

// forge changes the text of a record and gives it the checksum that fits.
func forge(f *journaltest.File, i int) {
	at := 0
	for n, r := range journaltest.Frames(f.Data) {
		if n == i {
			payload := slices.Clone(r.Payload)
			payload[bytes.IndexByte(payload, ':')+2] ^= 1
			body := slices.Concat(f.Data[at+8:at+17], r.Before[:], payload)
			sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
			copy(f.Data[at+4:], []byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)})
			copy(f.Data[at+8:], body)
			return
		}
		at += r.Size
	}
}

// TestWalkRefusesWhatStartRefuses flips bits in every file: where a start refuses
// the directory, Walk does too.
func TestWalkRefusesWhatStartRefuses(t *testing.T) {
	d, _ := longStore(t)
	flips := 0
	for name, f := range d.Files {
		for bit := 0; bit < 8*len(f.Data); bit += 661 * stride() {
			c := d.Cut(journaltest.Kept)
			c.Files[name].Data[bit/8] ^= 1 << (bit % 8)
			_, _, found := walk(c)
			if _, err := load(c, false); err != nil && found == nil {
				t.Fatalf("%s with bit %d flipped: a start says %v, Walk nothing", name, bit, err)
			}
			flips++
		}
	}
	t.Logf("%d flips", flips)
}

// TestRecoveryKeepsHistory: after a recovery the history is good up to the last record
// that was kept and goes on from there. It says that there was a recovery, and does not
// have the hash of a record that was given up. No file was changed.
func TestRecoveryKeepsHistory(t *testing.T) {
	d, _, good := damagedStore(t)
	before := d.Cut(journaltest.Kept)
	if _, err := load(d, true); err != nil {
		t.Fatal(err)
	}
	for name, f := range before.Files {
		if !bytes.Equal(d.Files[name].Data, f.Data) {
			t.Errorf("%s was changed", name)
		}
	}
	for round := range 3 {
		h, _, err := walk(d)
		if err != nil || h.Last != uint64(good+round) || len(h.Notes) < 1 || !strings.Contains(fmt.Sprint(h.Notes), "journal-2.wal at byte") {
			t.Fatalf("round %d: %+v, %v", round, h, err)
		}
		j, _, err := open(d, journal.FileOptions{})
		if err == nil {
			err = write(j, uint64(good+round+1), "more")
		}
		if err == nil {
			err = j.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNewestGone: the journal of the newest generation is deleted, its snapshot, or both; a
// start says what is missing instead of going on with the older state; a recovery keeps
// that and says what is gone. Nothing was written to the newest journal, so nothing is lost.
func TestNewestGone(t *testing.T) {
	for _, gone := range [][]string{{"journal-%d.wal"}, {"snapshot-%d.state"}, {"journal-%d.wal", "snapshot-%d.state"}} {
		d, texts := longStore(t)
		n := newest(d)
		var missing string
		for _, name := range gone {
			missing = fmt.Sprintf(name, n)
			delete(d.Files, missing)
		}
		missing = fmt.Sprintf(gone[0], n)
		var damage *journal.DamageError
		if _, err := load(d, false); !errors.As(err, &damage) || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "missing") {
			t.Errorf("%v: start: %v", gone, err)
		}
		if h, _, err := walk(d); err == nil || len(h.Damage) != 1 || !strings.Contains(err.Error(), missing) {
			t.Errorf("%v: Walk: %v", gone, h.Damage)
		}
		var r journal.Recovery
		_, s, err := open(d, journal.FileOptions{Recover: func(got journal.Recovery) error { r = got; return nil }})
		if err != nil || !slices.Equal(s.texts, texts) {
			t.Errorf("%v: recovery: %d notes, %+v, %v", gone, len(s.texts), r.Faults, err)
		}
		if len(r.Faults) > 1 || len(r.Faults) == 1 && (r.Faults[0].File != missing || !errors.Is(r.Faults[0].Err, journal.ErrMissing)) {
			t.Errorf("%v: recovery: %+v", gone, r.Faults)
		}
		if s, err := load(d, false); err != nil || !slices.Equal(s.texts, texts) {
			t.Errorf("%v: start after it: %v", gone, err)
		}
		if _, _, err := walk(d); err != nil {
			t.Errorf("%v: Walk after it: %v", gone, err)
		}
	}
}
