package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
)

// Keys are the names under which an [Index] finds a record, and those of them whose
// subject ends with the record. The owner of the journal says which they are.
type Keys struct{ All, Ended []string }

// Index finds records of closed generations: those of all journals but the newest. It has
// one file for each, journal-N.idx, which can always be made anew from its journal:
//
//	head | filter | keys: digest uint64, offset uint32 | ended: the same, in the order of the records | crc32c
//
// in little endian. A digest is the first 8 bytes of the SHA-256 of a key, and the keys are
// sorted. A start reads heads and filters alone. The filters, two bytes for each key, stay
// in memory, so that a search reads only the tables of generations that have the key, and
// one in two thousand of the others. Nothing is trusted that a checksum does not cover: a
// damaged file is an error, and never a wrong answer.
//
// Its methods may be called from many goroutines, but Update only from one at a time.
type Index struct {
	disk Disk
	keys func(kind byte, payload []byte) (Keys, error)
	out  *slog.Logger

	mu    sync.RWMutex
	parts []*indexPart // by generation; guarded by mu, like read
	read  struct {     // the generation that Ended read last
		*indexPart
		table, data []byte
	}
}

// indexPart is what stays in memory of the index of one generation.
type indexPart struct {
	n      int
	keys   int // in the table
	ended  int
	before int // ended in earlier generations
	filter []byte
}

const (
	indexMagic  = "wick index 1\n"
	indexHead   = len(indexMagic) + sha256.Size + 8 + 3*4 + 4
	entrySize   = 8 + 4
	filterBytes = 2 // for each key
	filterBits  = 8 // that each key sets
)

func indexName(n int) string { return fmt.Sprintf("journal-%d.idx", n) }

// Digest returns the part of a key's hash that an index has.
func Digest(key string) uint64 {
	sum := sha256.Sum256([]byte(key))
	return binary.LittleEndian.Uint64(sum[:])
}

// OpenIndex returns the index of a directory's closed generations, and makes what is missing of
// it. Keys says under which names a record is found. It returns a [DamageError] if the
// journal of a generation is damaged or missing and there is no index of it, unless a
// recovery has noted that.
func OpenIndex(d Disk, keys func(kind byte, payload []byte) (Keys, error), out *slog.Logger) (*Index, error) {
	x := &Index{disk: d, keys: keys, out: out}
	return x, x.Update()
}

// Update adds the generations that were closed since.
func (x *Index) Update() error {
	names, err := x.disk.List()
	if err != nil {
		return err
	}
	g := findGenerations(names)
	if len(g.snapshots) == 0 {
		return nil
	}
	newest := g.snapshots[len(g.snapshots)-1]
	var closed []int
	for _, name := range names {
		n := max(generation(name, "journal-", ".wal"), generation(name, "journal-", ".idx"))
		if n > 0 && n < newest {
			closed = append(closed, n)
		}
	}
	slices.Sort(closed)
	closed = slices.Compact(closed)
	if x.parts == nil {
		if err := x.checkMissing(g.journals, closed, newest); err != nil {
			return err
		}
	}
	last := 0
	if len(x.parts) > 0 {
		last = x.parts[len(x.parts)-1].n
	}
	for _, n := range closed {
		if n <= last {
			continue
		}
		p, err := x.open(n, slices.Contains(g.journals, n))
		if err != nil {
			return err
		}
		x.mu.Lock()
		if len(x.parts) > 0 {
			p.before = x.parts[len(x.parts)-1].before + x.parts[len(x.parts)-1].ended
		}
		x.parts = append(x.parts, p)
		x.mu.Unlock()
	}
	return nil
}

// open returns the part of generation n, whose journal is there or not. It makes the index
// anew if it is not that of the journal.
func (x *Index) open(n int, there bool) (*indexPart, error) {
	var head Hash
	var size int64
	if there {
		var err error
		if head, size, err = x.identify(n); err != nil {
			return nil, err
		}
	}
	if f, err := x.disk.Open(indexName(n)); err == nil {
		p, of, bytes, err := readPart(f, n)
		f.Close()
		switch {
		case err == nil && (!there || of == head && bytes == size):
			return p, nil
		case err == nil && (of == head || head == Hash{}) && bytes > size:
			// What the journal has lost, the index still knows: to ask for it is an error.
			x.out.Warn("a journal is shorter than its index says: put it back from a copy", "file", x.disk.Path(journalName(n)))
			return p, nil
		case !there:
			return nil, fmt.Errorf("%s is damaged: %w, and %s, from which it could be made anew, is missing", x.disk.Path(indexName(n)), err, journalName(n))
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return x.build(n)
}

// identify returns the hash of the header of a journal, and its size.
func (x *Index) identify(n int) (h Hash, size int64, err error) {
	f, err := x.disk.Open(journalName(n))
	if err != nil {
		return h, 0, err
	}
	defer f.Close()
	size, err = f.Size()
	if err != nil {
		return h, 0, err
	}
	r, err := readFrame(f, 0, 0)
	if err != nil {
		return h, size, nil // it has an index of before it was damaged, or none
	}
	return sha256.Sum256(r.body), size, nil
}

// readFrame reads the record at an offset of a file.
func readFrame(f File, at int64, link int) (frame, error) {
	b := make([]byte, 1<<10) // most records are shorter
	n, err := f.ReadAt(b, at)
	r, bad := decodeFrame(b[:n], link)
	if errors.Is(bad, errShort) && err == nil {
		b = make([]byte, frameHead+maxRecord)
		n, _ = f.ReadAt(b, at)
		r, bad = decodeFrame(b[:n], link)
	}
	return r, bad
}

// build makes the index of generation n from its journal.
func (x *Index) build(n int) (*indexPart, error) {
	j := readJournal(x.disk, n)
	if j.fault != nil && !j.torn() {
		d := damageOf(x.disk.Path(journalName(n)), int64(j.good), j.after.Seq, j.fault)
		if d == nil {
			return nil, j.fault
		}
		if !x.noted(span{n, n}) {
			return nil, d
		}
	}
	var keys, ended []indexEntry
	for _, r := range j.records {
		k, err := x.keys(r.kind, r.payload)
		if err != nil {
			return nil, damageOf(x.disk.Path(journalName(n)), int64(r.at), r.seq-1, err)
		}
		for _, key := range k.All {
			keys = append(keys, indexEntry{Digest(key), uint32(r.at)})
		}
		for _, key := range k.Ended {
			ended = append(ended, indexEntry{Digest(key), uint32(r.at)})
		}
	}
	slices.SortFunc(keys, func(a, b indexEntry) int {
		return cmp.Or(cmp.Compare(a.digest, b.digest), cmp.Compare(a.offset, b.offset))
	})
	keys = slices.Compact(keys)
	p := &indexPart{n: n, keys: len(keys), ended: len(ended), filter: make([]byte, max(8, filterBytes*len(keys)))}
	for _, e := range keys {
		for i := range filterBits {
			at := p.bit(e.digest, i)
			p.filter[at/8] |= 1 << (at % 8)
		}
	}
	text := append([]byte(indexMagic), j.began.Hash[:]...)
	text = binary.LittleEndian.AppendUint64(text, uint64(len(j.data)))
	for _, v := range []int{len(p.filter), len(keys), len(ended)} {
		text = binary.LittleEndian.AppendUint32(text, uint32(v))
	}
	sum := crc32.Update(crc32.Checksum(text, castagnoli), castagnoli, p.filter)
	text = append(binary.LittleEndian.AppendUint32(text, sum), p.filter...)
	start := len(text)
	for _, e := range slices.Concat(keys, ended) {
		text = binary.LittleEndian.AppendUint64(text, e.digest)
		text = binary.LittleEndian.AppendUint32(text, e.offset)
	}
	text = binary.LittleEndian.AppendUint32(text, crc32.Checksum(text[start:], castagnoli))
	return p, WriteAtomic(x.disk, indexName(n), text)
}

// indexEntry is a key and where the record begins that has it.
type indexEntry struct {
	digest uint64
	offset uint32
}

// readPart reads the head and the filter of an index, and returns the hash of the header of
// the journal that it is of, and the size of that.
func readPart(f File, n int) (p *indexPart, of Hash, size int64, err error) {
	b := make([]byte, 32<<10)
	got, _ := f.ReadAt(b, 0) // a short file gives io.EOF
	if b = b[:got]; len(b) < indexHead || string(b[:len(indexMagic)]) != indexMagic {
		return nil, of, 0, errors.New("it is no index of this version")
	}
	at := b[len(indexMagic):]
	of, size = Hash(at[:sha256.Size]), int64(binary.LittleEndian.Uint64(at[sha256.Size:]))
	at = at[sha256.Size+8:]
	length := int(binary.LittleEndian.Uint32(at))
	p = &indexPart{n: n, keys: int(binary.LittleEndian.Uint32(at[4:])), ended: int(binary.LittleEndian.Uint32(at[8:]))}
	if length > maxReplay {
		return nil, of, size, errLength
	}
	p.filter = make([]byte, length)
	if done := copy(p.filter, b[indexHead:]); done < length {
		if _, err := f.ReadAt(p.filter[done:], int64(indexHead+done)); err != nil {
			return nil, of, size, errShort
		}
	}
	sum := crc32.Update(crc32.Checksum(b[:indexHead-4], castagnoli), castagnoli, p.filter)
	if length == 0 || sum != binary.LittleEndian.Uint32(at[12:]) {
		return nil, of, size, errChecksum
	}
	return p, of, size, nil
}

// bit returns the i-th bit of the filter that a digest sets.
func (p *indexPart) bit(digest uint64, i int) int {
	return int((digest + uint64(i)*(digest>>32|1)) % uint64(8*len(p.filter)))
}

// may reports whether the generation may have a key with this digest.
func (p *indexPart) may(digest uint64) bool {
	for i := range filterBits {
		if at := p.bit(digest, i); p.filter[at/8]&(1<<(at%8)) == 0 {
			return false
		}
	}
	return true
}

// table returns the keys and the ended of a generation, as they are in the file.
func (x *Index) table(p *indexPart) ([]byte, error) {
	data, err := x.disk.Read(indexName(p.n))
	if err != nil {
		return nil, err
	}
	size, start := entrySize*(p.keys+p.ended), indexHead+len(p.filter)
	if len(data) != start+size+4 || crc32.Checksum(data[start:start+size], castagnoli) != binary.LittleEndian.Uint32(data[start+size:]) {
		return nil, fmt.Errorf("%s is damaged: remove it, and the next start makes it anew", x.disk.Path(indexName(p.n)))
	}
	return data[start : start+size], nil
}

// entry returns the i-th entry of a table.
func entry(table []byte, i int) indexEntry {
	b := table[entrySize*i:]
	return indexEntry{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])}
}

// all returns the generations.
func (x *Index) all() []*indexPart {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.parts
}

// Generations returns how many generations the index has.
func (x *Index) Generations() int { return len(x.all()) }

// Find returns the records that have a key, oldest first.
func (x *Index) Find(key string) (found []Entry, err error) {
	digest := Digest(key)
	for _, p := range x.all() {
		if !p.may(digest) {
			continue
		}
		table, err := x.table(p)
		if err != nil {
			return nil, err
		}
		first, last := 0, p.keys // of the first entry that is not smaller
		for first < last {
			if mid := (first + last) / 2; entry(table, mid).digest < digest {
				first = mid + 1
			} else {
				last = mid
			}
		}
		for ; first < p.keys && entry(table, first).digest == digest; first++ {
			r, err := x.at(p.n, entry(table, first).offset)
			if err != nil {
				return nil, err
			}
			k, err := x.keys(r.Kind, r.Payload)
			if err != nil {
				return nil, err
			}
			if slices.Contains(k.All, key) { // two keys may have the same digest
				found = append(found, r)
			}
		}
	}
	return found, nil
}

// at returns the record at an offset of a journal.
func (x *Index) at(n int, offset uint32) (Entry, error) {
	name := journalName(n)
	f, err := x.disk.Open(name)
	if err != nil {
		return Entry{}, err
	}
	defer f.Close()
	r, err := readFrame(f, int64(offset), linkSize)
	if err != nil {
		return Entry{}, fmt.Errorf("%s at byte %d is damaged: %w", x.disk.Path(name), offset, err)
	}
	return Entry{File: name, Seq: r.seq, Kind: r.kind, Payload: r.payload}, nil
}

// Len returns how many endings the index has: one for each key that a record has ended.
func (x *Index) Len() int {
	parts := x.all()
	if len(parts) == 0 {
		return 0
	}
	last := parts[len(parts)-1]
	return last.before + last.ended
}

// Ended returns the digest of the key that was the i-th to end, and a function that reads
// the record which ended it.
func (x *Index) Ended(i int) (digest uint64, read func() (Entry, error), err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.read.indexPart; p == nil || i < p.before || i >= p.before+p.ended {
		at, _ := slices.BinarySearchFunc(x.parts, i+1, func(p *indexPart, i int) int { return cmp.Compare(p.before+p.ended, i) })
		p := x.parts[at]
		table, err := x.table(p)
		if err != nil {
			return 0, nil, err
		}
		x.read.indexPart, x.read.table, x.read.data = p, table, nil
	}
	p := x.read.indexPart
	e := entry(x.read.table, p.keys+i-p.before)
	return e.digest, func() (Entry, error) { return x.near(p, e.offset) }, nil
}

// near is at for a record of the generation that Ended read last: it keeps that journal in
// memory, because its neighbours will be asked for too.
func (x *Index) near(p *indexPart, offset uint32) (Entry, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.read.indexPart != p {
		return x.at(p.n, offset)
	}
	if x.read.data == nil {
		data, err := x.disk.Read(journalName(p.n))
		if err != nil {
			return Entry{}, err
		}
		x.read.data = data
	}
	r, err := decodeFrame(x.read.data[min(int(offset), len(x.read.data)):], linkSize)
	if err != nil {
		return Entry{}, fmt.Errorf("%s at byte %d is damaged: %w", x.disk.Path(journalName(p.n)), offset, err)
	}
	return Entry{File: journalName(p.n), Seq: r.seq, Kind: r.kind, Payload: bytes.Clone(r.payload)}, nil
}

// CheckIndex returns an error if an index in a directory is damaged. It only reads.
func CheckIndex(d Disk) error {
	names, err := d.List()
	x := &Index{disk: d}
	for _, name := range names {
		n := generation(name, "journal-", ".idx")
		if n == 0 || err != nil {
			continue
		}
		f, failed := d.Open(name)
		if failed != nil {
			return failed
		}
		p, _, _, failed := readPart(f, n)
		if f.Close(); failed != nil {
			return fmt.Errorf("%s is damaged: %w; remove it, and the next start makes it anew", d.Path(name), failed)
		}
		_, err = x.table(p)
	}
	return err
}

// checkMissing returns an error if a generation before the newest has neither a journal nor
// an index, which closed lists, and warns of journals that are missing. Those that a recovery
// has noted as missing are no longer mentioned.
func (x *Index) checkMissing(journals, closed []int, newest int) error {
	for _, s := range absentBefore(closed, newest) {
		if !x.noted(s) {
			return &DamageError{File: x.disk.Path(journalName(s.First)), Offset: -1, Err: fmt.Errorf("%w, and so is its index: the finished orders in it, and their client_order_ids, are not known", ErrMissing)}
		}
	}
	first, count := 0, 0
	for _, s := range absentBefore(journals, newest) {
		if !x.noted(s) {
			first, count = cmp.Or(first, s.First), count+s.Last-s.First+1
		}
	}
	if count > 0 {
		x.out.Warn("earlier journals are missing: put them back from a copy. No open order, alert or position needs them, but the finished orders in them cannot be shown, and the history is incomplete",
			"file", x.disk.Path(journalName(first)), "files", count)
	}
	return nil
}

// absentBefore returns the generations before n that are not in a list.
func absentBefore(list []int, n int) (absent []span) {
	before := 0
	for _, there := range append(slices.Clone(list), n) {
		if there <= n && before < there-1 {
			absent = append(absent, span{before + 1, there - 1})
		}
		before = there
	}
	return absent
}

// noted reports whether recoveries have noted all journals of a span as missing or damaged,
// or whether the history begins after them.
func (x *Index) noted(s span) bool {
	names, err := x.disk.List()
	if err != nil {
		return false
	}
	var noted []span
	for i, n := range findGenerations(names).journals {
		f, err := x.disk.Open(journalName(n))
		if err != nil {
			continue
		}
		r, err := readFrame(f, 0, 0)
		f.Close()
		var h header
		if err != nil || json.Unmarshal(r.payload, &h) != nil {
			continue // an audit says why
		}
		if i == 0 && h.Before == origin(h.Store, r.seq) {
			noted = append(noted, span{1, n - 1})
		}
		noted = append(noted, h.gaps(n)...)
	}
	return slices.ContainsFunc(joined(noted), func(g span) bool { return g.covers(s) })
}
