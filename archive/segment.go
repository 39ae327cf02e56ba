package archive

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"wick/journal"
)

// segment is one segment file, and its index if it is full. Its fields are guarded by
// the archive's lock.
type segment struct {
	number  int
	first   uint64 // number of its first record
	records int
	size    int64 // bytes of good frames
	data    journal.File
	index   *index // nil while the segment grows

	offsets []int64 // of its records, in order; nil once the index has them
}

// index is the open index of a sealed segment.
type index struct {
	file    journal.File
	name    string
	planned uint64            // pages that can be the home of a digest
	pages   uint64            // all pages
	last    [sha256.Size]byte // hash of the segment's last record
}

func segmentName(n int) string { return fmt.Sprintf("archive-%08d.seg", n) }

// damageError reports a file that was changed since it was written.
type damageError struct {
	file   string
	offset int64 // of the first bad byte, as far as it is known
	err    error
}

func (e *damageError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %v", e.file, e.offset, e.err)
}

func (e *damageError) Unwrap() error { return e.err }

// ErrLater reports an archive that a later version of wick wrote. It is not damaged.
var ErrLater = errors.New("a later wick wrote it")

// segmentHead returns the first bytes of a segment: its number, its store, and the hash
// that its first record follows.
func segmentHead(store string, number int, first uint64, before [sha256.Size]byte) []byte {
	owner := sha256.Sum256([]byte(store))
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(number))
	b = binary.LittleEndian.AppendUint64(b, first)
	b = append(b, owner[:]...)
	b = append(b, before[:]...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// checkHead compares every byte of the head of a segment with what it must be. A head of
// a later version gets an error of its own, because the file is not damaged then.
func (s *segment) checkHead(store string, before [sha256.Size]byte) error {
	name := segmentName(s.number)
	got := make([]byte, headSize)
	if _, err := s.data.ReadAt(got, 0); err != nil {
		return &damageError{name, 0, err}
	}
	if later(got) {
		return fmt.Errorf("%s is not damaged: %w (format %d, this one knows up to %d); start that one, or restore the copy from before it was installed",
			name, ErrLater, binary.LittleEndian.Uint32(got[len(magic):]), version)
	}
	want := segmentHead(store, s.number, s.first, before)
	if at := firstDifference(got, want); at < headSize {
		return &damageError{name, int64(at), errors.New("its head is not the one that belongs here: another store's file, or not the next one")}
	}
	return nil
}

// later reports whether the head of a segment is one of a later version.
func later(head []byte) bool {
	return string(head[:len(magic)]) == magic && binary.LittleEndian.Uint32(head[len(magic):]) > version
}

// firstDifference returns the index of the first byte in which a differs from b, or the
// length of a.
func firstDifference(a, b []byte) int {
	for i := range a {
		if i == len(b) || a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// walk calls each with every record of s, its offset and the head after it. The memory of
// a record is used again after each returns. h is the head before the first record. walk
// returns the offset after the last good record, and the error that ended it.
func walk(s *segment, h Head, each func(at int64, r Record, h Head) error) (int64, error) {
	// A segment with an index ends where the index says.
	end, err := s.data.Size()
	if err != nil {
		return 0, err
	}
	if s.index != nil {
		end = s.size
	}
	at := int64(headSize)
	in := bufio.NewReaderSize(io.NewSectionReader(s.data, at, end-at), int(min(end, 1<<20)))
	for at < end {
		// Near the end of the file fewer bytes are left than the largest frame has; decode
		// says whether they are enough.
		b, err := in.Peek(int(min(end-at, int64(frameHead+maxFrame))))
		if err != nil {
			return at, err
		}
		f, err := decode(b)
		if err == nil && f.before != h {
			err = errChain
		}
		if err == nil {
			err = each(at, f.record, f.after)
		}
		if err != nil {
			return at, err
		}
		h, at = f.after, at+int64(f.size)
		in.Discard(f.size) // cannot fail: Peek has just returned these bytes
	}
	return at, nil
}

// torn returns nil if the bytes from an offset on, which cannot be read because of cause,
// are an append that a crash cut short. Otherwise it returns the cause: a whole record in
// the wrong place, or bytes with a whole record after them, are not what a crash leaves.
func torn(f journal.File, at int64, cause error) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	// A whole record in the wrong place was not cut short, and no append is longer than
	// maxAppend.
	if errors.Is(cause, errChain) || size-at > maxAppend {
		return cause
	}
	b := make([]byte, size-at)
	if n, err := f.ReadAt(b, at); n < len(b) {
		return err
	}
	// A crash can cut off only the end. If a whole record begins at any later byte, the
	// bytes before it were once good.
	for i := 1; i < len(b); i++ {
		if _, err := decode(b[i:]); err == nil {
			return fmt.Errorf("%w, and good records follow it", cause)
		}
	}
	return nil
}

// offset returns where the i-th record of the segment begins.
func (s *segment) offset(i int) (int64, error) {
	if i >= s.records {
		return 0, fmt.Errorf("%s has %d records and no %d", segmentName(s.number), s.records, i+1)
	}
	if s.index == nil {
		return s.offsets[i], nil
	}
	var b [8]byte
	if _, err := s.index.file.ReadAt(b[:], int64(s.index.pages+1)*pageSize+8*int64(i)); err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(b[:])), nil
}

// match reads the record at an offset and reports whether it has the key. It may have
// another one, since two keys may have the same digest.
func (s *segment) match(at int64, key string) (Record, bool, error) {
	f, err := readFrame(s.data, at)
	if err != nil {
		return Record{}, false, &damageError{segmentName(s.number), at, err}
	}
	if !slices.Contains(f.record.Keys, key) {
		return Record{}, false, nil
	}
	return f.record, true, nil
}
