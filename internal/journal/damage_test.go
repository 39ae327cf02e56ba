package journal_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// TestEveryBitFlip flips each bit of the journal and of the snapshot. A start
// must refuse every one, and change nothing.
func TestEveryBitFlip(t *testing.T) {
	d, _ := smallStore(t)
	flips := 0
	for _, name := range []string{journal1, snapshot1} {
		for bit := 0; bit < 8*len(d.Files[name].Data); bit += stride() {
			c := d.Cut(journaltest.Kept)
			c.Files[name].Data[bit/8] ^= 1 << (bit % 8)
			before := c.String()
			s, err := load(c, false)
			var damage *journal.DamageError
			if !errors.As(err, &damage) {
				t.Fatalf("%s with bit %d flipped was read: %v, %v", name, bit, s, err)
			}
			if !strings.Contains(err.Error(), name) || c.String() != before {
				t.Fatalf("%s with bit %d flipped: the error does not name the file, or the directory changed: %v", name, bit, err)
			}
			flips++
		}
	}
	t.Logf("%d flips, all refused", flips)
}

// TestTornTail cuts the journal at every byte: the cut is a crash, so a start
// keeps the records before it and cuts off the rest.
func TestTornTail(t *testing.T) {
	d, _ := smallStore(t)
	whole := d.Files[journal1].Data
	var borders []int
	at := 0
	for _, f := range journaltest.Frames(whole) {
		at += f.Size
		borders = append(borders, at)
	}
	for cut := borders[0]; cut < len(whole); cut++ {
		c := d.Cut(journaltest.Kept)
		c.Files[journal1].Data = slices.Clone(whole[:cut])
		s, err := load(c, false)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		records := 0
		for records+1 < len(borders) && borders[records+1] <= cut {
			records++
		}
		if s.seq != uint64(records) || len(c.Files[journal1].Data) != borders[records] {
			t.Fatalf("cut at %d: %d records, file of %d bytes; want %d and %d", cut, s.seq, len(c.Files[journal1].Data), records, borders[records])
		}
	}
}

// TestTornHeader: a newest journal that ends inside its first record is damage and
// refused. No crash leaves it: the header is on disk before the journal has its name.
func TestTornHeader(t *testing.T) {
	d, _ := smallStore(t)
	whole := d.Files[journal1].Data
	for cut := range journaltest.Frames(whole)[0].Size {
		c := d.Cut(journaltest.Kept)
		c.Files[journal1].Data = slices.Clone(whole[:cut])
		if _, err := load(c, false); err == nil || !strings.Contains(err.Error(), "its first record") {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

// TestZeroTail fills the end with zeros, as file systems do that grow a file
// before they write it.
func TestZeroTail(t *testing.T) {
	for _, zeros := range []int{1, 8, 16, journaltest.Sector, 4096} {
		d, want := smallStore(t)
		d.Files[journal1].Data = append(d.Files[journal1].Data, make([]byte, zeros)...)
		s, err := load(d, false)
		if err != nil || s.String() != want {
			t.Errorf("%d zeros at the end: %v", zeros, err)
		}
	}
}

// TestZeroSector zeroes each sector that the last record touches, as a power cut
// leaves it when the file grew but that sector was never written: the first one,
// which it shares with the record before, those in the middle, and the last,
// which the file does not fill. All are torn tails.
func TestZeroSector(t *testing.T) {
	for length := range 24 {
		d := newStore(t)
		j, _, err := open(d, journal.FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{"first", strings.Repeat("y", 300+length*20), strings.Repeat("z", 1800)}
		for i, text := range texts {
			if err := write(j, uint64(i)+1, text); err != nil {
				t.Fatal(err)
			}
		}
		data := d.Files[journal1].Data
		at := len(data) - len(lastRecord(data))
		for from := at; from < len(data); {
			end := min((from/journaltest.Sector+1)*journaltest.Sector, len(data))
			c := d.Cut(journaltest.Kept)
			clear(c.Files[journal1].Data[from:end])
			s, err := load(c, false)
			if err != nil || !slices.Equal(s.texts, texts[:2]) {
				t.Errorf("record from %d to %d, zeros from %d to %d: %v", at, len(data), from, end, err)
			}
			from = end
		}
	}
}

// TestDamage is a matrix of what can happen to the files between two starts.
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name    string
		harm    func(d *journaltest.Disk)
		says    string
		recover bool // whether --recover can help
	}{
		{"journal missing", func(d *journaltest.Disk) { delete(d.Files, journal1) }, journal1, true},
		{"journal empty", func(d *journaltest.Disk) { d.Files[journal1].Data = nil }, journal1, true},
		{"journal all zero", func(d *journaltest.Disk) { clear(d.Files[journal1].Data) }, journal1, true},
		{"snapshot missing", func(d *journaltest.Disk) { delete(d.Files, snapshot1) }, snapshot1, true},
		{"snapshot empty", func(d *journaltest.Disk) { d.Files[snapshot1].Data = nil }, snapshot1, true},
		{"record missing in the middle", func(d *journaltest.Disk) { dropRecord(d.Files[journal1], 2) }, "sequence 3 follows 1", true},
		{"record doubled", func(d *journaltest.Disk) { f := d.Files[journal1]; f.Data = append(f.Data, lastRecord(f.Data)...) }, "follows", true},
		{"record the owner refuses", func(d *journaltest.Disk) {
			f := d.Files[journal1]
			frames := journaltest.Frames(f.Data)
			last := frames[len(frames)-1]
			f.Data = slices.Concat(f.Data[:len(f.Data)-last.Size], frame(4, kindNote, string(last.Before[:])+`{"text":"impossible"}`))
		}, "an impossible step", true},
		{"journal of another store", func(d *journaltest.Disk) {
			other := journaltest.NewDisk()
			open(other, journal.FileOptions{})
			d.Files[journal1] = other.Files[journal1]
		}, "journal-1.wal", true},
		{"both snapshot and journal head gone", func(d *journaltest.Disk) { delete(d.Files, snapshot1); d.Files[journal1].Data[20] ^= 1 }, "the checksum does not match", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := smallStore(t)
			c.harm(d)
			before := d.String()
			if _, err := load(d, false); err == nil || !strings.Contains(err.Error(), c.says) || d.String() != before {
				t.Errorf("start: %v; want an error that says %q and an untouched directory", err, c.says)
			}
			s, err := load(d, true)
			if (err == nil) != c.recover {
				t.Fatalf("recovery: %v", err)
			}
			if err == nil {
				want := s.String()
				if s, err = load(d, false); err != nil || s.String() != want {
					t.Errorf("start after the recovery: %v", err)
				}
			}
		})
	}
}

// TestOtherFormat: what another version wrote, a later one or one from before the first
// release, is not damaged. A start and a recovery refuse it, say who wrote it, advise no
// recovery and change nothing.
func TestOtherFormat(t *testing.T) {
	for n, who := range map[int]string{9: "a later wick", 2: "a wick from before the first release", 1: "a wick from before the first release"} {
		other := fmt.Sprintf(`{"magic":"wick journal","format":%d,"n":"of another kind"}`, n)
		for name, change := range map[string]func(d *journaltest.Disk){
			"snapshot": func(d *journaltest.Disk) { d.Files[snapshot1].Data = frame(0, 1, other) },
			"journal":  func(d *journaltest.Disk) { d.Files[journal1].Data = frame(0, 1, other) },
			"journal of the next": func(d *journaltest.Disk) {
				d.Files["journal-2.wal"] = &journaltest.File{Data: frame(4, 1, other)}
			},
		} {
			d, _ := smallStore(t)
			change(d)
			before := d.String()
			for _, recover := range []bool{false, true} {
				_, err := load(d, recover)
				var format *journal.FormatError
				if !errors.As(err, &format) || format.Format != n || !strings.Contains(err.Error(), who) || strings.Contains(err.Error(), "recover") || d.String() != before {
					t.Errorf("%s of format %d, recover %t: %v", name, n, recover, err)
				}
			}
		}
	}
}

// frame builds a record from the description of the format.
func frame(seq uint64, kind byte, payload string) []byte {
	body := append([]byte{byte(seq), 0, 0, 0, 0, 0, 0, 0, kind}, payload...)
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	head := []byte{byte(len(body)), 0, 0, 0, byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)}
	return append(head, body...)
}

func dropRecord(f *journaltest.File, i int) {
	at := 0
	for n, r := range journaltest.Frames(f.Data) {
		if n == i {
			f.Data = slices.Delete(f.Data, at, at+r.Size)
			return
		}
		at += r.Size
	}
}

func lastRecord(data []byte) []byte {
	frames := journaltest.Frames(data)
	return slices.Clone(data[len(data)-frames[len(frames)-1].Size:])
}

// TestRecoverLosesNothing damages the newest snapshot only: the generation
// before it and both journals give the same state.
func TestRecoverLosesNothing(t *testing.T) {
	d, texts := newStore(t), script(80, 3)
	run(d, texts)
	newest := ""
	for name := range d.Files {
		if strings.HasPrefix(name, "snapshot-") && (len(name) > len(newest) || name > newest) {
			newest = name
		}
	}
	d.Files[newest].Data[100] ^= 1
	if _, err := load(d, false); err == nil {
		t.Fatal("a damaged snapshot was passed over")
	}
	s, err := load(d, true)
	if err != nil || !slices.Equal(s.texts, texts) {
		t.Errorf("recovered %d of %d notes, %v", len(s.texts), len(texts), err)
	}
}

// FuzzRead feeds any bytes to a start as its journal: it never panics, and what
// it keeps, the next start finds again.
func FuzzRead(f *testing.F) {
	d := journaltest.NewDisk()
	j, _, err := open(d, journal.FileOptions{})
	if err != nil {
		f.Fatal(err)
	}
	for seq := range uint64(3) {
		if err := write(j, seq+1, fmt.Sprint("text ", seq)); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(d.Files[journal1].Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		c := d.Cut(journaltest.Kept)
		c.Files[journal1].Data = slices.Clone(data)
		s, err := load(c, false)
		if err != nil {
			s, err = load(c, true)
		}
		if err != nil {
			t.Fatalf("%q cannot be recovered: %v", data, err)
		}
		if again, err := load(c, false); err != nil || again.String() != s.String() {
			t.Fatalf("%q was read as %q, then as %q, %v", data, s, again, err)
		}
	})
}
