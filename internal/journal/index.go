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
// Its methods may be called from many goroutines, but Update only from one at a time. A nil
// index has nothing.
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
	before int // ended in earlier generations
	indexHead
	filter []byte
}

// indexHead is the beginning of an index, between the magic text and a checksum of all that
// and of the filter.
type indexHead struct {
	Of      Hash   // the header of the journal
	Size    uint64 // of the journal
	First   uint64 // the journal goes on after this record; 0 if the history begins with it
	Last    uint64 // its last record
	Filter  uint32 // bytes of the filter
	Keys    uint32 // in the table
	Endings uint32
}

const (
	indexMagic  = "wick index 2\n"
	headSize    = len(indexMagic) + sha256.Size + 3*8 + 3*4 + 4
	entrySize   = 8 + 4
	filterBytes = 2 // for each key
	filterBits  = 8 // that each key sets
)

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
	journals := generations(names, "journal-", ".wal")
	if len(journals) == 0 {
		return nil
	}
	newest := journals[len(journals)-1]
	closed := slices.Compact(slices.Sorted(slices.Values(append(generations(names, "journal-", ".idx"), journals...))))
	closed = closed[:slices.Index(closed, newest)]
	var last indexPart
	if len(x.parts) > 0 {
		last = *x.parts[len(x.parts)-1]
		journals = journals[slices.Index(journals, newest):]
	}
	noted, gone := readNoted(x.disk, journals), 0
	for _, n := range closed {
		if good, cut := noted.cuts[n]; n <= last.n || cut && good == 0 {
			continue
		}
		there := slices.Contains(names, journalName(n))
		p, err := x.open(n, there, noted)
		if err != nil {
			return err
		}
		if err := x.join(last, p.First, n, noted); err != nil {
			return err
		}
		if !there && !noted.has(gap{p.First, p.Last}) {
			gone++
		}
		p.before = last.before + int(last.Endings)
		x.mu.Lock()
		x.parts = append(x.parts, p)
		x.mu.Unlock()
		last = *p
	}
	if gone > 0 {
		x.out.Warn("earlier journals are missing: put them back from a copy. No open order, alert or position needs them, but the finished orders in them cannot be shown, and the history is incomplete",
			"directory", x.disk.Path(""), "files", gone)
	}
	_, first, err := x.identify(newest)
	if err != nil {
		return err
	}
	return x.join(last, first, newest, noted)
}

// join returns an error if records are missing between a part and generation n, which goes
// on after record first, unless a recovery has noted it.
func (x *Index) join(last indexPart, first uint64, n int, noted noted) error {
	if g := (gap{last.Last, first}); first != 0 && g.After != g.Next && !noted.has(g) {
		return &DamageError{File: x.disk.Path(journalName(last.n + 1)), Offset: -1, Seq: g.After,
			Err: fmt.Errorf("%w, and so is its index: the finished orders up to record %d, and their client_order_ids, are not known", ErrMissing, g.Next)}
	}
	return nil
}

// open returns the part of generation n, whose journal is there or not. It makes the index
// anew if it is not that of the journal.
func (x *Index) open(n int, there bool, noted noted) (*indexPart, error) {
	p, bad := x.readPart(n)
	if bad == nil && !there {
		return p, nil
	}
	if bad != nil && !errors.Is(bad, fs.ErrNotExist) && !there {
		return nil, fmt.Errorf("%s is damaged: %w, and %s, from which it could be made anew, is missing", x.disk.Path(indexName(n)), bad, journalName(n))
	}
	of, _, err := x.identify(n)
	if err != nil {
		return nil, err
	}
	if bad == nil && p.Of == of.Of && p.Size == of.Size {
		return p, nil
	}
	built, err := x.build(n, noted)
	if err != nil && bad == nil && !Unreadable(err) && (of.Of == p.Of || of.Of == Hash{}) {
		// What the journal has lost, the index still knows: to ask for it is an error.
		x.out.Warn("a journal is damaged: put it back from a copy", "file", x.disk.Path(journalName(n)), "error", err)
		return p, nil
	}
	return built, err
}

// identify returns the hash of the header of a journal and its size, and after which record
// it goes on. A header that cannot be read has no hash.
func (x *Index) identify(n int) (h indexHead, first uint64, err error) {
	f, err := x.disk.Open(journalName(n))
	if err != nil {
		return h, 0, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return h, 0, err
	}
	h.Size = uint64(size)
	if r, err := readFrame(f, 0, 0); err == nil {
		h.Of = sha256.Sum256(r.body)
		first = beginning(r)
	}
	return h, first, nil
}

// beginning returns after which record a journal with this header goes on: 0 if the history
// begins with it.
func beginning(r frame) uint64 {
	var h header
	if json.Unmarshal(r.payload, &h) == nil && h.Before == origin(h.Store, r.seq) {
		return 0
	}
	return r.seq
}

// build makes the index of generation n from its journal.
func (x *Index) build(n int, noted noted) (*indexPart, error) {
	j, _ := noted.read(x.disk, n)
	if j.fault != nil {
		return nil, damage(x.disk.Path(journalName(n)), int64(j.good), j.after.Seq, j.fault)
	}
	var keys, ended []indexEntry
	for _, r := range j.records {
		k, err := x.keys(r.kind, r.payload)
		if err != nil {
			return nil, damage(x.disk.Path(journalName(n)), int64(r.at), r.seq-1, err)
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
	p := &indexPart{n: n, filter: make([]byte, max(8, filterBytes*len(keys)))}
	of, first, err := x.identify(n)
	if err != nil {
		return nil, err
	}
	p.indexHead = indexHead{of.Of, of.Size, first, j.after.Seq, uint32(len(p.filter)), uint32(len(keys)), uint32(len(ended))}
	for _, e := range keys {
		for i := range filterBits {
			at := p.bit(e.digest, i)
			p.filter[at/8] |= 1 << (at % 8)
		}
	}
	text, _ := binary.Append([]byte(indexMagic), binary.LittleEndian, p.indexHead) // numbers can always be encoded
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

// readPart reads the head and the filter of the index of generation n.
func (x *Index) readPart(n int) (*indexPart, error) {
	f, err := x.disk.Open(indexName(n))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, 32<<10)
	got, _ := f.ReadAt(b, 0) // a short file gives io.EOF
	if b = b[:got]; len(b) < headSize || string(b[:len(indexMagic)]) != indexMagic {
		return nil, errors.New("it is no index of this version")
	}
	p := &indexPart{n: n}
	binary.Decode(b[len(indexMagic):headSize], binary.LittleEndian, &p.indexHead) // it is long enough
	if p.Filter == 0 || p.Filter > maxReplay {
		return nil, errLength
	}
	p.filter = make([]byte, p.Filter)
	if done := copy(p.filter, b[headSize:]); done < len(p.filter) {
		if _, err := f.ReadAt(p.filter[done:], int64(headSize+done)); err != nil {
			return nil, errShort
		}
	}
	sum := crc32.Update(crc32.Checksum(b[:headSize-4], castagnoli), castagnoli, p.filter)
	if sum != binary.LittleEndian.Uint32(b[headSize-4:]) {
		return nil, errChecksum
	}
	return p, nil
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
	size, start := entrySize*int(p.Keys+p.Endings), headSize+len(p.filter)
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
	if x == nil {
		return nil
	}
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
		first, last := 0, int(p.Keys) // of the first entry that is not smaller
		for first < last {
			if mid := (first + last) / 2; entry(table, mid).digest < digest {
				first = mid + 1
			} else {
				last = mid
			}
		}
		for ; first < int(p.Keys) && entry(table, first).digest == digest; first++ {
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
	return last.before + int(last.Endings)
}

// Ended returns the digest of the key that was the i-th to end, and a function that reads
// the record which ended it.
func (x *Index) Ended(i int) (digest uint64, read func() (Entry, error), err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.read.indexPart; p == nil || i < p.before || i >= p.before+int(p.Endings) {
		at, _ := slices.BinarySearchFunc(x.parts, i+1, func(p *indexPart, i int) int { return cmp.Compare(p.before+int(p.Endings), i) })
		p := x.parts[at]
		table, err := x.table(p)
		if err != nil {
			return 0, nil, err
		}
		x.read.indexPart, x.read.table, x.read.data = p, table, nil
	}
	p := x.read.indexPart
	e := entry(x.read.table, int(p.Keys)+i-p.before)
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
	for _, n := range generations(names, "journal-", ".idx") {
		p, err := x.readPart(n)
		if err == nil {
			_, err = x.table(p)
		} else if !errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is damaged: %w; remove it, and the next start makes it anew", d.Path(indexName(n)), err)
		}
		if err != nil {
			return err
		}
	}
	return err
}
