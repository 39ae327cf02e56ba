package archive

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"wick/journal"
	"wick/journal/journaltest"
)

// small makes segments of eight records for a test.
func small(t testing.TB) {
	old := segmentRecords
	segmentRecords = 8
	t.Cleanup(func() { segmentRecords = old })
}

// made returns n records: order o-i with client id c-i, every third without.
func made(from, to int) (list []Record) {
	for i := from; i < to; i++ {
		r := Record{Keys: []string{fmt.Sprintf("o-%d", i)}, Body: fmt.Appendf(nil, `{"order":%d,"note":%q}`, i, strings.Repeat("x", i%50))}
		if i%3 != 0 {
			r.Keys = append(r.Keys, fmt.Sprintf("c-%d", i))
		}
		list = append(list, r)
	}
	return list
}

func open(t *testing.T, d journal.Disk, noted Head) *Archive {
	t.Helper()
	a, err := Open(d, "store", noted)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func add(t *testing.T, a *Archive, records []Record) {
	t.Helper()
	if err := a.Append(records); err != nil {
		t.Fatal(err)
	}
}

// holds checks that a has exactly these records, found in every way.
func holds(t *testing.T, a *Archive, want []Record) {
	t.Helper()
	var bodies [][]byte
	head, err := Check(a.disk, "store", func(r Record, _ Head) error {
		bodies = append(bodies, slices.Clone(r.Body))
		return nil
	})
	if err != nil || head != a.Head() || !slices.EqualFunc(bodies, want, func(b []byte, r Record) bool { return bytes.Equal(b, r.Body) }) {
		t.Fatalf("Check sees %d records up to %x, %v; want %d", len(bodies), head.Hash, err, len(want))
	}
	if got := a.Head().Records; got != uint64(len(want)) {
		t.Fatalf("%d records, want %d", got, len(want))
	}
	for _, r := range want {
		for _, key := range r.Keys {
			if got, ok, err := a.Lookup(key); err != nil || !ok || !bytes.Equal(got.Body, r.Body) {
				t.Fatalf("Lookup(%q) = %s, %t, %v; want %s", key, got.Body, ok, err, r.Body)
			}
		}
	}
	for i, r := range want {
		if got, err := a.At(uint64(i + 1)); err != nil || !bytes.Equal(got.Body, r.Body) {
			t.Fatalf("At(%d) = %s, %v; want %s", i+1, got.Body, err, r.Body)
		}
	}
	for _, none := range []int{0, len(want) + 1} {
		if got, err := a.At(uint64(none)); err == nil {
			t.Fatalf("At(%d) = %s, want an error", none, got.Body)
		}
	}
	if _, ok, err := a.Lookup("c-none"); ok || err != nil {
		t.Fatalf("an unknown key is found: %t, %v", ok, err)
	}
}

func TestAppendAndFind(t *testing.T) {
	small(t)
	d := journaltest.NewDisk()
	all := made(0, 61)
	for _, size := range []int{1, 7, 8, 9, 30, 61} { // appended in steps, opened anew each time
		a := open(t, d, Head{})
		add(t, a, all[:size])
		holds(t, a, all[:size])
		noted := a.Head()
		holds(t, open(t, d, noted), all[:size])
	}
}

func TestRefused(t *testing.T) {
	small(t)
	a := open(t, journaltest.NewDisk(), Head{})
	add(t, a, made(0, 3))
	for name, r := range map[string]Record{
		"no key":        {Body: []byte("{}")},
		"an empty key":  {Keys: []string{""}},
		"a long key":    {Keys: []string{strings.Repeat("k", 256)}},
		"a long body":   {Keys: []string{"o-9"}, Body: make([]byte, maxBody+1)},
		"another's key": {Keys: []string{"o-1"}, Body: []byte("other")},
		"256 keys":      {Keys: make([]string, 256)},
	} {
		if err := a.Append([]Record{{Keys: []string{"o-8"}}, r}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if err := a.Append([]Record{{Keys: []string{"o-1"}, Body: []byte("other")}}); !errors.Is(err, ErrExists) {
		t.Errorf("another record under a known key: %v", err)
	}
	holds(t, a, made(0, 3)) // nothing was added on the way
	add(t, a, slices.Repeat(made(2, 5), 2))
	holds(t, a, made(0, 5)) // each once, though they came twice in one call
}

// TestFaults lets the k-th call of the disk fail, for every k, with the process
// gone or the power cut there. The next start finds a good archive that holds
// all that was acknowledged; what was not is appended again.
func TestFaults(t *testing.T) {
	small(t)
	all := made(0, 40)
	steps := []int{5, 8, 9, 26, 40}
	for k, done := 1, false; !done; k += 1 + stride()/4 { // every fifth call with -short
		d := journaltest.NewDisk()
		d.FailAt, d.Forever = k, true
		var noted Head
		a, err := Open(d, "store", noted)
		for _, size := range steps {
			if err == nil {
				if err = a.Append(all[:size]); err == nil {
					noted = a.Head()
				}
			}
		}
		done = err == nil
		for _, keep := range []journaltest.Fate{journaltest.Dropped, journaltest.Kept, 1, 2} {
			after := d.Cut(keep)
			again := open(t, after, noted)
			if got := again.Head().Records; got < noted.Records {
				t.Fatalf("call %d, fate %d: %d records after it, %d were acknowledged", k, keep, got, noted.Records)
			}
			add(t, again, all[noted.Records:])
			holds(t, again, all)
			holds(t, open(t, after, again.Head()), all)
		}
	}
}

// TestFaultsAtStart lets the k-th call of a start fail that has an index to make
// and a torn end to cut: the next start finishes it.
func TestFaultsAtStart(t *testing.T) {
	small(t)
	first := journaltest.NewDisk()
	a := open(t, first, Head{})
	all := made(0, 20)
	add(t, a, all)
	delete(first.Files, indexName(1))
	grow := first.Files[segmentName(3)]
	grow.Data = append(grow.Data, grow.Data[headSize:headSize+30]...)
	for k, done := 1, false; !done; k++ {
		d := first.Cut(journaltest.Kept)
		d.FailAt, d.Forever = k, true
		_, err := Open(d, "store", a.Head())
		done = err == nil
		after := d.Cut(journaltest.Dropped)
		holds(t, open(t, after, a.Head()), all)
	}
}

// stride is 1: every case. With -short, as the race detector runs, it is 17: the
// detector has nothing to find in one goroutine and takes ten times as long.
func stride() int {
	if testing.Short() {
		return 17
	}
	return 1
}

// TestDamage flips a bit of every byte of every file: the archive is refused,
// or a look-up fails, or the answer is right; never another one.
func TestDamage(t *testing.T) {
	small(t)
	d := journaltest.NewDisk()
	a := open(t, d, Head{})
	all := made(0, 17) // two full segments and one that grows
	add(t, a, all)
	for name, c := range d.Files {
		for at := 0; at < len(c.Data); at += stride() {
			damaged := d.Cut(journaltest.Kept) // Open may write to it
			damaged.Files[name].Data[at] ^= 1 << (at % 8)
			got, err := Open(damaged, "store", a.Head())
			if err != nil {
				continue
			}
			for _, r := range all {
				for _, key := range r.Keys {
					if found, ok, err := got.Lookup(key); err == nil && ok && !bytes.Equal(found.Body, r.Body) || err == nil && !ok {
						t.Fatalf("%s, byte %d: Lookup(%q) = %s, %t", name, at, key, found.Body, ok)
					}
				}
			}
			if !strings.HasSuffix(name, ".seg") { // an index is made anew, and Check does not read it
				continue
			}
			if _, err := Check(damaged, "store", func(Record, Head) error { return nil }); err == nil {
				t.Fatalf("%s, byte %d: Check finds nothing", name, at)
			}
		}
	}
}

// TestPutTogether: files that are good but do not belong together are refused.
func TestPutTogether(t *testing.T) {
	small(t)
	d, other := journaltest.NewDisk(), journaltest.NewDisk()
	a, b := open(t, d, Head{}), open(t, other, Head{})
	add(t, a, made(0, 20))
	add(t, b, made(100, 120))
	foreign, err := Open(journaltest.NewDisk(), "another store", Head{})
	if err != nil {
		t.Fatal(err)
	}
	add(t, foreign, made(0, 20))
	for name, change := range map[string]func(m *journaltest.Disk){
		"a segment removed":         func(m *journaltest.Disk) { delete(m.Files, segmentName(2)) },
		"the last segment removed":  func(m *journaltest.Disk) { delete(m.Files, segmentName(3)) },
		"all removed":               func(m *journaltest.Disk) { clear(m.Files) },
		"a segment of other orders": func(m *journaltest.Disk) { m.Files[segmentName(2)] = other.Files[segmentName(2)] },
		"two segments swapped": func(m *journaltest.Disk) {
			m.Files[segmentName(1)], m.Files[segmentName(2)] = m.Files[segmentName(2)], m.Files[segmentName(1)]
		},
		"another store's": func(m *journaltest.Disk) { m.Files = foreign.disk.(*journaltest.Disk).Files },
		"another archive": func(m *journaltest.Disk) { m.Files = other.Files },
		"a record removed": func(m *journaltest.Disk) {
			c := m.Files[segmentName(3)]
			f, err := decode(c.Data[headSize:])
			if err != nil {
				t.Fatal(err)
			}
			c.Data = append(c.Data[:headSize], c.Data[headSize+f.size:]...)
		},
		"the last record cut off": func(m *journaltest.Disk) {
			c := m.Files[segmentName(3)]
			c.Data = c.Data[:len(c.Data)-10]
		},
	} {
		changed := d.Cut(journaltest.Kept)
		change(changed)
		if _, err := Open(changed, "store", a.Head()); err == nil {
			t.Errorf("%s: the archive opens", name)
		}
	}
	older := d.Cut(journaltest.Kept)
	holds(t, open(t, older, Head{}), made(0, 20)) // nothing noted: whatever is sound is taken
	newer := d.Cut(journaltest.Kept)
	newer.Files[segmentName(1)].Data[len(magic)] = version + 1
	if _, err := Open(newer, "store", a.Head()); err == nil || !strings.Contains(err.Error(), "later wick") {
		t.Errorf("a newer format: %v", err)
	}
}

// TestNotedInside: a head that was noted before the newest segments is found.
func TestNotedInside(t *testing.T) {
	small(t)
	d := journaltest.NewDisk()
	a := open(t, d, Head{})
	var heads []Head
	for i := range 30 {
		add(t, a, made(i, i+1))
		heads = append(heads, a.Head())
	}
	for _, h := range heads {
		open(t, d, h)
		h.Hash[3]++
		if _, err := Open(d, "store", h); err == nil {
			t.Errorf("a head with another hash at %d is taken", h.Records)
		}
	}
}

// TestCrowdedPages: a client can choose keys whose digests share a page. They
// run over into the next pages, and each is still found.
func TestCrowdedPages(t *testing.T) {
	var entries []entry
	for i := range 1000 {
		entries = append(entries, entry{1<<63 | uint64(i), int64(i)})
	}
	entries = append(entries, entry{^uint64(0), 5000}, entry{^uint64(0), 6000})
	table, pages := layPages(entries, 4)
	d := journaltest.NewDisk()
	d.Files["x"] = &journaltest.File{Data: append(make([]byte, pageSize), table...)}
	f, err := d.Open("x")
	if err != nil {
		t.Fatal(err)
	}
	ix := &index{file: f, planned: 4, pages: pages}
	for _, e := range entries[:1000] {
		if got, err := ix.find(e.digest, make([]byte, pageSize)); err != nil || len(got) != 1 || got[0] != e.at {
			t.Fatalf("find(%x) = %v, %v; want %d", e.digest, got, err, e.at)
		}
	}
	if got, err := ix.find(^uint64(0), make([]byte, pageSize)); err != nil || len(got) != 2 {
		t.Errorf("two records of one digest: %v, %v", got, err)
	}
	if got, err := ix.find(7, make([]byte, pageSize)); err != nil || got != nil {
		t.Errorf("an unknown digest: %v, %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	text, _ := appendFrame(nil, made(1, 2)[0], Head{Records: 3})
	f.Add(text)
	f.Add(text[:len(text)-1])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decode(b)
		if err != nil {
			return
		}
		again, _ := appendFrame(nil, got.record, got.before)
		if !bytes.Equal(again, b[:got.size]) {
			t.Errorf("%x decodes to %+v, which encodes to %x", b[:got.size], got, again)
		}
	})
}

// BenchmarkLookup asks for keys that are there and keys that are not, with ten
// full segments.
func BenchmarkLookup(b *testing.B) {
	small(b)
	segmentRecords = 1 << 12
	a, err := Open(journaltest.NewDisk(), "store", Head{})
	if err != nil {
		b.Fatal(err)
	}
	if err := a.Append(made(0, 10<<12)); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, key string }{{"known", "c-%d"}, {"unknown", "d-%d"}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := a.Lookup(fmt.Sprintf(c.key, 1+3*rand.IntN(10<<10))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestRebuild damages a record in a full segment and removes another segment:
// Rebuild keeps every record that is whole, and the old files. The power is cut at
// every call of it: a second one finishes with the same records.
func TestRebuild(t *testing.T) {
	small(t)
	store := journaltest.NewDisk()
	a := open(t, store, Head{})
	all := made(0, 44)
	add(t, a, all)
	per := a.sealed[0].records
	segment := store.Files[segmentName(2)].Data
	segment[bytes.Index(segment, all[per+3].Body)] ^= 1
	delete(store.Files, segmentName(4))
	want := slices.Concat(all[:per+3], all[per+4:3*per], all[4*per:])
	given := slices.Clone(store.Files[segmentName(2)].Data)
	crashes := store.Crashes([]journaltest.Fate{journaltest.Dropped, journaltest.Kept, 1}, new(atomic.Uint64), func() {
		if _, err := Rebuild(store, "store"); err != nil {
			t.Fatal(err)
		}
	})
	for i := 0; i < len(crashes); i += stride() {
		left, what := crashes[i].Disk, crashes[i].What
		kept, err := Rebuild(left, "store")
		if err != nil || kept != uint64(len(want)) {
			t.Fatalf("%s: %d records kept, want %d; %v", what, kept, len(want), err)
		}
		b := open(t, left, Head{})
		for _, r := range want {
			if got, ok, err := b.Lookup(r.Keys[0]); err != nil || !ok || !bytes.Equal(got.Body, r.Body) {
				t.Fatalf("%s: %q is %s, %t, %v", what, r.Keys[0], got.Body, ok, err)
			}
		}
		if _, err := Check(left, "store", func(Record, Head) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if old := left.Files[segmentName(2)+".damaged"]; old == nil || !bytes.Equal(old.Data, given) {
			t.Fatalf("%s: the damaged segment was not kept", what)
		}
	}
}

// TestRebuildOfTwo: a segment and the one that an earlier Rebuild put aside differ in a
// record. Rebuild keeps that of the segment, and adds the records that only the other has.
func TestRebuildOfTwo(t *testing.T) {
	small(t)
	d, aside := journaltest.NewDisk(), journaltest.NewDisk()
	add(t, open(t, d, Head{}), made(0, 4))
	other := made(0, 6)
	other[1].Body = []byte("changed")
	add(t, open(t, aside, Head{}), other)
	d.Files[segmentName(1)+damaged] = aside.Files[segmentName(1)]
	if kept, err := Rebuild(d, "store"); err != nil || kept != 6 {
		t.Errorf("%d records kept, %v; want 6", kept, err)
	}
	holds(t, open(t, d, Head{}), made(0, 6))
}

// TestSettled: Append looks only into segments that came after the noted head, so that
// adding to an archive of many records costs no more than to one of few. Here the pages
// of an older index are damaged, so that a look-up in it would fail.
func TestSettled(t *testing.T) {
	small(t)
	d := journaltest.NewDisk()
	a := open(t, d, Head{})
	add(t, a, made(0, 40))
	for at := pageSize; at < len(d.Files[indexName(1)].Data); at++ {
		d.Files[indexName(1)].Data[at] ^= 1
	}
	if err := open(t, d, Head{}).Append(made(40, 41)); err == nil {
		t.Error("with nothing noted the damaged index was not asked")
	}
	if err := open(t, d, a.Head()).Append(made(40, 41)); err != nil {
		t.Errorf("with all noted: %v", err)
	}
	later := open(t, d, Head{})
	if held, err := later.Holds(made(40, 41)[0].Keys[0]); !held || err != nil {
		t.Errorf("what is not settled is held: %v, %v", held, err)
	}
	later.Settle()
	if held, err := later.Holds(made(40, 41)[0].Keys[0]); held || err != nil {
		t.Errorf("what is settled is held: %v, %v", held, err)
	}
	if later.Append(made(41, 42)) != nil {
		t.Error("after Settle the damaged index was asked")
	}
}
