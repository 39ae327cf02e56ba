package archive

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"wick/journal"
)

// A segment begins with a head of headSize bytes:
//
//	magic [8] | version uint32 | segment uint32 | first record uint64 |
//	SHA-256 of the store's identity [32] | hash of the record before [32] | crc32c uint32
//
// and goes on with frames:
//
//	length uint32 | crc32c uint32 | number uint64 | hash of the record before [32] |
//	keys uint8 | for each key: length uint8, text | body
//
// all in little endian. The length counts what follows the checksum; the
// checksum covers the length and all that follows it, and a record's hash is
// the SHA-256 of what follows the checksum.
const (
	magic      = "wickarch"
	version    = 1
	headSize   = len(magic) + 4 + 4 + 8 + sha256.Size + sha256.Size + 4
	frameHead  = 8
	frameFixed = 8 + sha256.Size + 1
	maxFrame   = frameFixed + 255*256 + MaxBody
	maxAppend  = 16 << 20 // bytes that one write adds at most, so a torn end is no longer
)

var (
	errShort    = errors.New("the file ends inside a record")
	errLength   = errors.New("the length of a record is impossible")
	errChecksum = errors.New("the checksum does not match")
	errChain    = errors.New("the record does not follow the one before it")
)

func appendSegmentHead(b []byte, store string, number int, first uint64, before [sha256.Size]byte) []byte {
	owner := sha256.Sum256([]byte(store))
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(number))
	b = binary.LittleEndian.AppendUint64(b, first)
	b = append(b, owner[:]...)
	b = append(b, before[:]...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// checkHead compares the head of a segment with the one that belongs there.
func (a *Archive) checkHead(s *segment) error {
	name := segmentName(s.number)
	got := make([]byte, headSize)
	if _, err := s.data.ReadAt(got, 0); err != nil {
		return &DamageError{name, 0, err}
	}
	if later(got) {
		return fmt.Errorf("%s is not damaged: %w (format %d, this one knows up to %d); start that one, or restore the copy from before it was installed",
			name, ErrLater, binary.LittleEndian.Uint32(got[len(magic):]), version)
	}
	want := appendSegmentHead(nil, a.store, s.number, s.first, a.head.Hash)
	if at := firstDifference(got, want); at < headSize {
		return &DamageError{name, int64(at), errors.New("its head is not the one that belongs here: another store's file, or not the next one")}
	}
	return nil
}

// later reports whether the head of a segment is one of a later version.
func later(head []byte) bool {
	return string(head[:len(magic)]) == magic && binary.LittleEndian.Uint32(head[len(magic):]) > version
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if i == len(b) || a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// appendFrame appends the record that follows h and returns the new head.
func appendFrame(b []byte, r Record, h Head) ([]byte, Head) {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, h.Records+1)
	b = append(b, h.Hash[:]...)
	b = append(b, byte(len(r.Keys)))
	for _, key := range r.Keys {
		b = append(append(b, byte(len(key))), key...)
	}
	b = append(b, r.Body...)
	frame := b[start:]
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-frameHead))
	binary.LittleEndian.PutUint32(frame[4:], checksum(frame))
	return b, Head{h.Records + 1, sha256.Sum256(frame[frameHead:])}
}

func checksum(frame []byte) uint32 {
	return crc32.Update(crc32.Checksum(frame[:4], castagnoli), castagnoli, frame[frameHead:])
}

// frame is a decoded record with its place in the chain: the head that it says
// it follows and the head that it makes.
type frame struct {
	record        Record // shares memory with what was decoded
	before, after Head
	size          int // bytes of the whole frame
}

// decode reads the frame at the start of b.
func decode(b []byte) (frame, error) {
	if len(b) < frameHead {
		return frame{}, errShort
	}
	length := binary.LittleEndian.Uint32(b)
	if length < uint32(frameFixed) || length > uint32(maxFrame) {
		return frame{}, errLength
	}
	size := frameHead + int(length)
	if len(b) < size {
		return frame{}, errShort
	}
	if b = b[:size]; checksum(b) != binary.LittleEndian.Uint32(b[4:]) {
		return frame{}, errChecksum
	}
	content := b[frameHead:]
	number := binary.LittleEndian.Uint64(content)
	r, err := parseRecord(content[8+sha256.Size:])
	return frame{
		record: r, size: size,
		before: Head{number - 1, [sha256.Size]byte(content[8:])},
		after:  Head{number, sha256.Sum256(content)},
	}, err
}

// parseRecord reads keys and body.
func parseRecord(b []byte) (Record, error) {
	n, b := int(b[0]), b[1:]
	r := Record{Keys: make([]string, 0, n)}
	for range n {
		if len(b) == 0 || len(b) < 1+int(b[0]) {
			return Record{}, errLength
		}
		end := 1 + int(b[0])
		r.Keys, b = append(r.Keys, string(b[1:end])), b[end:]
	}
	r.Body = b
	return r, r.check()
}

// readFrame reads the frame at an offset.
func readFrame(f io.ReaderAt, at int64) (frame, error) {
	for _, size := range []int{4 << 10, frameHead + maxFrame} { // most records fit into the first
		b := make([]byte, size)
		n, err := f.ReadAt(b, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return frame{}, err
		}
		got, err := decode(b[:n])
		if n < size || !errors.Is(err, errShort) {
			return got, err
		}
	}
	return frame{}, errShort
}

// walk calls each with every record of s, its offset and the head it makes.
// The record is the callee's until it returns. h is the head before the first.
// It returns the offset after the last good record, and the error that ended
// the walk.
func walk(s *segment, h Head, each func(at int64, r Record, h Head) error) (int64, error) {
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
		in.Discard(f.size) // it was just peeked
	}
	return at, nil
}

// torn returns nil if the bytes from an offset on are an append that a crash
// cut short, and else the cause: a record that is whole but does not belong
// there, or one with a whole record after it, was damaged later.
func torn(f journal.File, at int64, cause error) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	if errors.Is(cause, errChain) || size-at > maxAppend {
		return cause
	}
	b := make([]byte, size-at)
	if n, err := f.ReadAt(b, at); n < len(b) {
		return err
	}
	for i := 1; i < len(b); i++ {
		if _, err := decode(b[i:]); err == nil {
			return fmt.Errorf("%w, and good records follow it", cause)
		}
	}
	return nil
}
