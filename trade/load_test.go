package trade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// smallStore returns a disk after a few operations without a clean stop, and
// the state then.
func smallStore(t *testing.T) (*memDisk, string) {
	d := newMemDisk()
	e, err := open(scriptOptions(), d)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if _, err := e.Place(ctx, OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: one, ClientOrderID: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.SetAlert(ctx, AlertRequest{Symbol: "AAA", Condition: Condition{Type: PriceAbove, Threshold: 90 * one}}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Subscribe(ctx, "caller", "client", Filter{}); err != nil {
		t.Fatal(err)
	}
	price(e, "AAA", 100)
	return d, encoded(t, e.shown)
}

func tryLoad(d disk, recover bool) (*state, error) {
	l, err := newLoader(d, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	load := l.load
	if recover {
		load = l.recover
	}
	s, _, err := load()
	return s, err
}

// TestEveryBitFlip flips each bit of the journal and of the snapshot. A start
// must refuse every one, and change nothing; with recovery it must come up with
// a true prefix.
func TestEveryBitFlip(t *testing.T) {
	d, _ := smallStore(t)
	flips := 0
	for _, name := range []string{journalName(1), snapshotName(1)} {
		for bit := 0; bit < 8*len(d.files[name].data); bit += stride() {
			c := d.cut(kept)
			c.files[name].data[bit/8] ^= 1 << (bit % 8)
			before := c.String()
			s, err := tryLoad(c, false)
			var damage *DamageError
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
// keeps the records before it and puts the rest aside.
func TestTornTail(t *testing.T) {
	d, _ := smallStore(t)
	whole := d.files[journalName(1)].data
	first, err := decodeFrame(whole)
	if err != nil {
		t.Fatal(err)
	}
	borders := []int{first.size}
	for at := first.size; at < len(whole); {
		f, err := decodeFrame(whole[at:])
		if err != nil {
			t.Fatal(err)
		}
		at += f.size
		borders = append(borders, at)
	}
	for cut := first.size; cut < len(whole); cut++ {
		c := d.cut(kept)
		c.files[journalName(1)].data = slices.Clone(whole[:cut])
		s, err := tryLoad(c, false)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		records := 0
		for records+1 < len(borders) && borders[records+1] <= cut {
			records++
		}
		if s.seq != uint64(records) || len(c.files[journalName(1)].data) != borders[records] {
			t.Fatalf("cut at %d: %d records, file of %d bytes; want %d and %d", cut, s.seq, len(c.files[journalName(1)].data), records, borders[records])
		}
		torn, _ := c.read("journal-1.torn")
		if !bytes.Equal(torn, whole[borders[records]:cut]) && cut != borders[records] {
			t.Fatalf("cut at %d: %d bytes were kept aside, want %d", cut, len(torn), cut-borders[records])
		}
	}
}

// TestZeroTail fills the end with zeros, as file systems do that grow a file
// before they write it.
func TestZeroTail(t *testing.T) {
	for _, zeros := range []int{1, 8, 16, sector, 4096} {
		d, want := smallStore(t)
		d.files[journalName(1)].data = append(d.files[journalName(1)].data, make([]byte, zeros)...)
		s, err := tryLoad(d, false)
		if err != nil || encoded(t, s) != want {
			t.Errorf("%d zeros at the end: %v", zeros, err)
		}
	}
}

// TestDamage is a matrix of what can happen to the files between two starts.
func TestDamage(t *testing.T) {
	journal, snap := journalName(1), snapshotName(1)
	for _, c := range []struct {
		name    string
		harm    func(d *memDisk)
		says    string
		recover bool // whether --recover can help
	}{
		{"journal missing", func(d *memDisk) { delete(d.files, journal) }, journal, true},
		{"journal empty", func(d *memDisk) { d.files[journal].data = nil }, journal, true},
		{"journal all zero", func(d *memDisk) { clear(d.files[journal].data) }, journal, true},
		{"snapshot missing", func(d *memDisk) { delete(d.files, snap) }, "it continues " + snap, true},
		{"snapshot empty", func(d *memDisk) { d.files[snap].data = nil }, snap, true},
		{"record missing in the middle", func(d *memDisk) { dropRecord(d.files[journal], 2) }, "sequence 3 follows 1", true},
		{"record doubled", func(d *memDisk) { f := d.files[journal]; f.data = append(f.data, lastRecord(f.data)...) }, "follows", true},
		{"journal of another store", func(d *memDisk) {
			other := newMemDisk()
			open(scriptOptions(), other)
			d.files[journal] = other.files[journal]
		}, "of store", true},
		{"later format", func(d *memDisk) {
			line, _, _ := bytes.Cut(d.files[snap].data, []byte("\n"))
			line = append(bytes.Replace(line, []byte(`"format":1`), []byte(`"format":9`), 1), '\n')
			d.files[snap].data = append(line, trailer(line, 0)...)
		}, "later wick", true},
		{"both snapshot and journal head gone", func(d *memDisk) { delete(d.files, snap); d.files[journal].data[20] ^= 1 }, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := smallStore(t)
			c.harm(d)
			before := d.String()
			if c.says != "" {
				_, err := tryLoad(d, false)
				if err == nil || !strings.Contains(err.Error(), c.says) || d.String() != before {
					t.Errorf("start: %v; want an error that says %q and an untouched directory", err, c.says)
				}
			}
			s, err := tryLoad(d, true)
			if (err == nil) != c.recover {
				t.Fatalf("recovery: %v", err)
			}
			if err == nil {
				want := encoded(t, s)
				if s, err = tryLoad(d, false); err != nil || encoded(t, s) != want {
					t.Errorf("start after the recovery: %v", err)
				}
			}
		})
	}
}

func dropRecord(f *memFile, i int) {
	at := 0
	for range i {
		r, _ := decodeFrame(f.data[at:])
		at += r.size
	}
	r, _ := decodeFrame(f.data[at:])
	f.data = slices.Delete(f.data, at, at+r.size)
}

func lastRecord(data []byte) []byte {
	for {
		r, _ := decodeFrame(data)
		if r.size == len(data) {
			return slices.Clone(data)
		}
		data = data[r.size:]
	}
}

// TestRecoverLosesNothing damages the newest snapshot only: the generation
// before it and both journals give the same state.
func TestRecoverLosesNothing(t *testing.T) {
	d := newStore(t)
	var want string
	bubble(t, func(ctx context.Context) {
		s := &script{}
		run(ctx, d, 80, 3)
		s.e, _ = open(scriptOptions(), d)
		want = encoded(t, s.e.shown)
	})
	newest := 0
	for name := range d.files {
		newest = max(newest, generation(name, "snapshot-", ".json"))
	}
	d.files[snapshotName(newest)].data[100] ^= 1
	if _, err := tryLoad(d, false); err == nil {
		t.Fatal("a damaged snapshot was passed over")
	}
	s, err := tryLoad(d, true)
	if err != nil || encoded(t, s) != want {
		t.Errorf("recovered %v\n%s\nwant\n%s", err, encoded(t, s), want)
	}
	if d.files[snapshotName(newest)+".damaged"] == nil {
		t.Error("the damaged snapshot was not set aside")
	}
}

// fullDisk is a file that has no room left for the next write.
type fullDisk struct {
	*memDisk
	full bool
}

type fullFile struct {
	file
	disk *fullDisk
}

func (d *fullDisk) create(name string) (file, error) {
	f, err := d.memDisk.create(name)
	return &fullFile{f, d}, err
}

func (f *fullFile) Write(b []byte) (int, error) {
	if f.disk.full {
		n, _ := f.file.Write(b[:len(b)/2])
		return n, syscall.ENOSPC
	}
	return f.file.Write(b)
}

// TestDiskFull: nothing is acknowledged that is not on disk, reads go on, and
// after room was made a start has all that was.
func TestDiskFull(t *testing.T) {
	d := &fullDisk{memDisk: newMemDisk()}
	e, err := open(scriptOptions(), d)
	if err != nil {
		t.Fatal(err)
	}
	order := OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: one}
	if _, err := e.Place(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	want := encoded(t, e.shown)
	d.full = true
	for range 2 {
		if _, err := e.Place(t.Context(), order); !errors.Is(err, ErrStorage) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "make room") {
			t.Errorf("order on a full disk: %v", err)
		}
		d.full = false // room does not bring it back: the file's end is in doubt
	}
	if len(e.Orders(false)) != 1 || e.Status().Journal != "broken" || e.Status().Reason == "" {
		t.Errorf("reads after the failure: %+v", e.Status())
	}
	if err := e.Close(); !errors.Is(err, ErrStorage) {
		t.Errorf("Close after the failure: %v", err)
	}
	s, err := tryLoad(d, false)
	if err != nil || encoded(t, s) != want {
		t.Errorf("start after the failure: %v", err)
	}
}

// TestDirectory shows modes, the lock, and a directory that cannot be written.
func TestDirectory(t *testing.T) {
	o := testOptions(t)
	os.Chmod(o.Dir, 0o755)
	e := openTest(t, o)
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "another wick is running on it") || strings.Contains(err.Error(), "\n") {
		t.Errorf("second process: %v", err)
	}
	if _, err := e.Subscribe(t.Context(), "caller", "client", Filter{}); err != nil {
		t.Fatal(err)
	}
	filepath.WalkDir(o.Dir, func(path string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	openTest(t, o).Close() // the lock is free again

	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	o.Dir = file
	if _, err := Open(o); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file for a directory: %v", err)
	}
}

// readOnlyDisk refuses all writes, as a read-only file system does.
type readOnlyDisk struct{ *memDisk }

func (readOnlyDisk) create(string) (file, error) { return nil, fmt.Errorf("create: %w", syscall.EROFS) }
func (readOnlyDisk) open(string) (file, error)   { return nil, fmt.Errorf("open: %w", syscall.EROFS) }

func TestReadOnly(t *testing.T) {
	stored, want := smallStore(t)
	for _, d := range []*memDisk{newMemDisk(), stored} {
		if _, err := open(scriptOptions(), readOnlyDisk{d}); !errors.Is(err, syscall.EROFS) {
			t.Errorf("start on a read-only directory: %v", err)
		}
	}
	if s, err := tryLoad(stored, false); err != nil || encoded(t, s) != want {
		t.Errorf("start after it became writable: %v", err)
	}
}

func TestAudit(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	defer e.Close()
	if _, err := e.Place(t.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: one}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Audit(o.Dir, &out); err != nil { // beside the process that owns it
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], " 0 header ") || !strings.Contains(lines[1], " 1 started ") ||
		!strings.Contains(lines[2], ` 2 order_placed {"at":`) {
		t.Errorf("audit:\n%s", out.String())
	}
}
