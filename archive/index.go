package archive

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"

	"wick/journal"
)

// An index is a file of pages. The first page says which segment it belongs to:
//
//	magic [8] | version uint32 | planned pages uint32 | records uint64 | size of the segment uint64 |
//	hash of the segment's head [32] | hash of its last record [32] | crc32c uint32
//
// The others hold entries, sorted by digest:
//
//	entries uint32 | crc32c uint32 | for each entry: digest uint64, offset uint64
//
// The value of a digest decides its home page. If a page is full, further entries go to
// the next page, so a look-up that finds a full page reads the next one too. Pages are
// about two thirds full, so nearly every look-up reads one page. After the pages come
// the offsets of all records in their order, uint64 each, for [Archive.At]; [Check]
// compares them with the records.
const (
	indexMagic  = "wickindx"
	pageSize    = 4096
	pageEntries = (pageSize - 8) / 16
	perPage     = 160 // entries that a page has on average
	indexFixed  = len(indexMagic) + 4 + 4 + 8 + 8 + sha256.Size + sha256.Size
)

func indexName(n int) string { return fmt.Sprintf("archive-%08d.idx", n) }

// entry says that a record with a key of this digest begins at an offset of the
// segment.
type entry struct {
	digest uint64
	at     int64
}

// home returns the page, of so many, where a digest belongs: the high half of their
// product, which spreads the digests evenly over the pages.
func home(digest, pages uint64) uint64 {
	page, _ := bits.Mul64(digest, pages)
	return page
}

// makeIndex writes the index of a full segment under its name.
func makeIndex(d journal.Disk, store string, s *segment, last [sha256.Size]byte, recent map[uint64][]int64) (*index, error) {
	entries := make([]entry, 0, 2*s.records)
	for digest, offsets := range recent {
		for _, at := range offsets {
			entries = append(entries, entry{digest, at})
		}
	}
	// The file is written under another name, synced and renamed, so an index file is
	// always complete.
	text, planned, pages := layIndex(store, s, last, entries)
	name := indexName(s.number)
	if err := journal.WriteAtomic(d, name, text); err != nil {
		return nil, err
	}
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	return &index{f, name, planned, pages, last}, nil
}

// layIndex returns the content of the index file of a segment, and how many pages were
// planned and how many there are. It sorts entries. The same segment always gives the
// same index.
func layIndex(store string, s *segment, last [sha256.Size]byte, entries []entry) (text []byte, planned, pages uint64) {
	slices.SortFunc(entries, func(a, b entry) int {
		// Of equal digests the newest record first, since Lookup returns that one.
		return cmp.Or(cmp.Compare(a.digest, b.digest), cmp.Compare(b.at, a.at))
	})
	planned = uint64(len(entries)/perPage + 1)
	head := indexHead(store, s, planned, last)
	text = append(head, make([]byte, pageSize-len(head))...)
	table, pages := layPages(entries, planned)
	text = append(text, table...)
	for _, at := range s.offsets {
		text = binary.LittleEndian.AppendUint64(text, uint64(at))
	}
	return text, planned, pages
}

// layPages puts sorted entries into pages and returns the pages and their number. There
// are more than planned if the last of those are too full.
func layPages(entries []entry, planned uint64) (table []byte, pages uint64) {
	for len(entries) > 0 || pages < planned {
		n := 0
		// As many as fit of the entries whose home is this page, or an earlier one that was
		// full.
		for n < len(entries) && n < pageEntries && home(entries[n].digest, planned) <= pages {
			n++
		}
		table = appendPage(table, entries[:n])
		entries, pages = entries[n:], pages+1
	}
	return table, pages
}

// appendPage appends one page with its count, its checksum and at most pageEntries
// entries; the rest of it is zero.
func appendPage(table []byte, entries []entry) []byte {
	page := make([]byte, pageSize)
	binary.LittleEndian.PutUint32(page, uint32(len(entries)))
	for i, e := range entries {
		binary.LittleEndian.PutUint64(page[8+16*i:], e.digest)
		binary.LittleEndian.PutUint64(page[16+16*i:], uint64(e.at))
	}
	binary.LittleEndian.PutUint32(page[4:], checksum(page))
	return append(table, page...)
}

// indexHead returns the first bytes of an index. They name the store, the segment, its
// length and its last record, so that the index fits no other segment.
func indexHead(store string, s *segment, planned uint64, last [sha256.Size]byte) []byte {
	b := []byte(indexMagic)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(planned))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.records))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.size))
	owner := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", store, s.number, s.first))
	b = append(append(b, owner[:]...), last[:]...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// openIndex opens the index of a segment and sets the segment's length and number of
// records from it. It returns nil if there is no index or a bad one, which can be made
// anew.
func openIndex(d journal.Disk, store string, s *segment) *index {
	f, err := d.Open(indexName(s.number))
	if err != nil {
		return nil
	}
	head := make([]byte, indexFixed+4)
	_, short := f.ReadAt(head, 0)
	at := len(indexMagic) + 4
	planned := uint64(binary.LittleEndian.Uint32(head[at:]))
	of := &segment{number: s.number, first: s.first,
		records: int(binary.LittleEndian.Uint64(head[at+4:])), size: int64(binary.LittleEndian.Uint64(head[at+12:]))}
	last := [sha256.Size]byte(head[indexFixed-sha256.Size:])
	size, err := f.Size()
	length, e := s.data.Size()
	// The table is what lies between the first page and the offsets of the records. The
	// head is compared with one made from its own numbers, which checks its checksum and
	// the store at once.
	table := size - pageSize - 8*int64(of.records)
	if short != nil || err != nil || e != nil || table%pageSize != 0 || uint64(table/pageSize) < planned || of.size > length ||
		string(head) != string(indexHead(store, of, planned, last)) {
		_ = f.Close() // it was only read
		return nil
	}
	s.records, s.size = of.records, of.size
	return &index{f, indexName(s.number), planned, uint64(table / pageSize), last}
}

// find returns the offsets that the index has for a digest. It reads into b,
// which has the length of a page.
func (ix *index) find(digest uint64, b []byte) (offsets []int64, err error) {
	for page := home(digest, ix.planned); page < ix.pages; page++ {
		if _, err := ix.file.ReadAt(b, int64(page+1)*pageSize); err != nil {
			return nil, err
		}
		n := binary.LittleEndian.Uint32(b)
		if n > pageEntries || checksum(b) != binary.LittleEndian.Uint32(b[4:]) {
			return nil, &damageError{ix.name, int64(page+1) * pageSize, fmt.Errorf("%w; remove this file, and the next start makes it anew", errChecksum)}
		}
		for i := range int(n) {
			if binary.LittleEndian.Uint64(b[8+16*i:]) == digest {
				offsets = append(offsets, int64(binary.LittleEndian.Uint64(b[16+16*i:])))
			}
		}
		if n < pageEntries {
			return offsets, nil
		}
	}
	return offsets, nil
}
