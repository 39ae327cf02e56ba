package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"slices"
	"sort"
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
	parts []*indexPart // by generation; guarded by mu
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
	First   uint64 // the journal goes on after this record; 0 if the history begins with it
	Last    uint64 // its last record
	Keys    uint32 // in the table
	Endings uint32
}

const (
	indexMagic  = "wick index 3\n"
	headSize    = len(indexMagic) + sha256.Size + 2*8 + 2*4 + 4
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
// recovery did without it.
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
	var last indexPart
	if len(x.parts) > 0 {
		last = *x.parts[len(x.parts)-1]
	}
	newest := slices.Max(journals)
	journals = slices.DeleteFunc(journals, func(n int) bool { return n <= last.n })
	past, gone := readPast(x.disk, journals), 0
	all := slices.Compact(slices.Sorted(slices.Values(append(generations(names, "journal-", ".idx"), journals...))))
	for _, n := range all {
		if n <= last.n || n >= newest {
			continue
		}
		there := slices.Contains(journals, n)
		p, err := x.open(n, there, past)
		if err == nil {
			err = x.join(last, n, p.First, past)
		}
		if past.excuses(n, err) {
			continue
		} else if err != nil {
			return err
		}
		if !there && n > past.recovered {
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
	return x.join(last, newest, past.first(newest), past)
}

// join returns an error if records are missing between a part and generation n, which goes on after
// record first, unless a recovery did without them, or if it repeats some.
func (x *Index) join(last indexPart, n int, first uint64, past past) error {
	if first == 0 || first == last.Last || first > last.Last && n <= past.recovered {
		return nil
	}
	return damage(x.disk, journalName(last.n+1), -1, last.Last,
		fmt.Errorf("%w, and so is its index: the finished orders up to record %d, and their client_order_ids, are not known", ErrMissing, first))
}

// open returns the part of generation n, whose journal may be missing. It makes the index anew
// if it does not match the journal. If the journal cannot be read, the index still has its keys,
// and to ask for one of them is an error.
func (x *Index) open(n int, there bool, past past) (*indexPart, error) {
	p, bad := readPart(x.disk, n)
	h, good := past.heads[n]
	switch {
	case bad == nil && (!good || p.Of == h.at.Hash):
		return p, nil
	case there, errors.Is(bad, fs.ErrNotExist):
		return x.build(n, past)
	}
	return nil, fmt.Errorf("%s is damaged: %w, and %s, from which it could be made anew, is missing", x.disk.Path(indexName(n)), bad, journalName(n))
}

// build makes the index of generation n from its journal.
func (x *Index) build(n int, past past) (*indexPart, error) {
	j := past.read(x.disk, n)
	if j.good == 0 {
		return nil, damage(x.disk, journalName(n), 0, 0, j.fault)
	} else if j.fault != nil && !past.excuses(n, j.fault) {
		return nil, damage(x.disk, journalName(n), j.good, j.after().Seq, j.fault)
	}
	var keys, ended []indexEntry
	for _, r := range j.records[1:] {
		k, err := x.keys(r.Kind, r.Payload)
		if err != nil {
			return nil, damage(x.disk, journalName(n), r.at, r.Seq-1, err)
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
	p := &indexPart{n: n, indexHead: indexHead{j.records[0].Hash, past.first(n), j.after().Seq, uint32(len(keys)), uint32(len(ended))}}
	p.filter = make([]byte, p.filterSize())
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
func readPart(d Reader, n int) (*indexPart, error) {
	b := make([]byte, headSize)
	if _, err := d.ReadAt(indexName(n), b, 0); err != nil && err != io.EOF {
		return nil, err
	} else if string(b[:len(indexMagic)]) != indexMagic {
		return nil, errors.New("it is no index of this version")
	}
	p := &indexPart{n: n}
	binary.Decode(b[len(indexMagic):], binary.LittleEndian, &p.indexHead) // it is long enough
	if p.Keys > maxReplay/entrySize {
		return nil, errLength
	}
	p.filter = make([]byte, p.filterSize())
	if _, err := d.ReadAt(indexName(n), p.filter, int64(headSize)); err != nil {
		return nil, errShort
	}
	sum := crc32.Update(crc32.Checksum(b[:headSize-4], castagnoli), castagnoli, p.filter)
	if sum != binary.LittleEndian.Uint32(b[headSize-4:]) {
		return nil, errChecksum
	}
	return p, nil
}

func (p *indexPart) filterSize() int { return max(8, filterBytes*int(p.Keys)) }

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
func (p *indexPart) table(d Reader) ([]byte, error) {
	data, err := d.Read(indexName(p.n))
	if err != nil {
		return nil, err
	}
	size, start := entrySize*int(p.Keys+p.Endings), headSize+len(p.filter)
	if len(data) != start+size+4 || crc32.Checksum(data[start:start+size], castagnoli) != binary.LittleEndian.Uint32(data[start+size:]) {
		return nil, fmt.Errorf("%s is damaged: remove it, and the next start makes it anew", d.Path(indexName(p.n)))
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
		table, err := p.table(x.disk)
		if err != nil {
			return nil, err
		}
		first := sort.Search(int(p.Keys), func(i int) bool { return entry(table, i).digest >= digest })
		for ; first < int(p.Keys) && entry(table, first).digest == digest; first++ {
			offset, k := entry(table, first).offset, Keys{}
			r, err := readFrame(x.disk, journalName(p.n), int64(offset), linkSize)
			if err = x.spoilt(p.n, offset, err); err == nil {
				k, err = x.keys(r.Kind, r.Payload)
			}
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

// spoilt says which record err, if it is not nil, is about.
func (x *Index) spoilt(n int, offset uint32, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s at byte %d is damaged: %w", x.disk.Path(journalName(n)), offset, err)
}

// Through returns the sequence of the last record in the index.
func (x *Index) Through() uint64 {
	for _, last := range slices.Backward(x.all()) {
		return last.Last
	}
	return 0
}

// Len returns how many endings the index has: one for each key that a record has ended.
func (x *Index) Len() int {
	for _, last := range slices.Backward(x.all()) {
		return last.before + int(last.Endings)
	}
	return 0
}

// Ending is the record that ended the subject of a key, such as an order.
type Ending struct {
	Digest uint64                // of the key
	Read   func() (Entry, error) // reads the record that ended it
}

// Endings goes through the first n endings, the last of them first.
func (x *Index) Endings(n int) iter.Seq2[Ending, error] {
	return func(yield func(Ending, error) bool) {
		for _, p := range slices.Backward(x.all()) {
			count := min(n-p.before, int(p.Endings))
			if count <= 0 {
				continue
			}
			table, err := p.table(x.disk)
			if err != nil {
				yield(Ending{}, err)
				return
			}
			data := sync.OnceValues(func() ([]byte, error) { return x.disk.Read(journalName(p.n)) }) // its neighbours are asked for, too
			for i := count - 1; i >= 0; i-- {
				e := entry(table, int(p.Keys)+i)
				read := func() (r Entry, err error) {
					b, err := data()
					if err == nil {
						r, err = decodeFrame(b[min(int(e.offset), len(b)):], linkSize)
					}
					return r, x.spoilt(p.n, e.offset, err)
				}
				if !yield(Ending{e.digest, read}, nil) {
					return
				}
			}
		}
	}
}

// CheckIndex returns an error if an index in a directory is damaged. It only reads.
func CheckIndex(d Reader) error {
	names, err := d.List()
	for _, n := range generations(names, "journal-", ".idx") {
		p, err := readPart(d, n)
		if err == nil {
			_, err = p.table(d)
		} else if !errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is damaged: %w; remove it, and the next start makes it anew", d.Path(indexName(n)), err)
		}
		if err != nil {
			return err
		}
	}
	return err
}
