package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// scan returns the frames of data from the offset at on, up to the first that is not
// whole. The error says what is wrong with that one; it is nil if all are whole.
func scan(data []byte, at int) (frames []frame, bad error) {
	for at < len(data) {
		r, err := decodeFrame(data[at:], linkSize)
		if err != nil {
			if torn(data, at, err) {
				return frames, fmt.Errorf("%w: %w", errTorn, err)
			}
			return frames, err
		}
		frames = append(frames, r)
		at += r.size
	}
	return frames, nil
}

// scanFile is scan for a whole journal file, with its header as the first frame.
func scanFile(data []byte) (frames []frame, bad error) {
	first, err := decodeFrame(data, 0)
	if err != nil {
		return nil, err
	}
	rest, bad := scan(data, first.size)
	return append([]frame{first}, rest...), bad
}

var errTorn = errors.New("unfinished write at the end")

// torn reports whether the record at data[at:], which did not decode because of
// cause, is a write that a crash cut short, and not damage.
//
// Of a write that was never synced any part may reach the disk: either the file ends
// inside the record, or it has its full length, because the file system made it longer
// first, and has zeros where sectors were never written. Such a record was never
// acknowledged, so it may be dropped. A record that was once whole must not be dropped.
// So nothing counts as torn if a whole record follows somewhere behind it, because a
// crash leaves nothing behind its own write. Nor does it if the bytes up to the end of
// the file match the checksum: then only the length, which the checksum does not cover,
// was damaged and is now too large.
func torn(data []byte, at int, cause error) bool {
	tail := data[at:]
	if nextFrame(tail, 1) < len(tail) || fitsToEnd(tail) {
		return false
	}
	return errors.Is(cause, errShort) || zeroSector(data, at) || allZero(tail)
}

// holdsNone reports whether data, the content of a journal, has no record behind its
// header, which may itself be missing or an unfinished write. It returns false if a later
// version wrote the header.
func holdsNone(data []byte) bool {
	first, err := decodeFrame(data, 0)
	if err != nil {
		return len(behind(data, 0)) == 0 && torn(data, 0, err)
	}
	return first.kind == KindHeader && first.size == len(data) && checkFormat(first, "") == nil
}

// nextFrame returns where the next whole record begins at or after an offset, or
// the length of data if there is none. A payload is a JSON object, so nextFrame checks
// for its brace before it computes a checksum: checksums at every byte of a large file
// could take minutes.
func nextFrame(data []byte, at int) int {
	payloadAt := frameHead + frameFixed + linkSize
	for ; at+payloadAt < len(data); at++ {
		if data[at+payloadAt] == '{' {
			if _, err := decodeFrame(data[at:], linkSize); err == nil {
				return at
			}
		}
	}
	return len(data)
}

// behind returns the whole records of data from the offset at on, wherever they begin,
// headers included. Like nextFrame it looks for the brace of the payload before it
// computes a checksum.
func behind(data []byte, at int) (frames []frame) {
	for at < len(data) {
		size := 1
		for _, link := range []int{0, linkSize} {
			payloadAt := at + frameHead + frameFixed + link
			if payloadAt >= len(data) || data[payloadAt] != '{' {
				continue
			}
			if r, err := decodeFrame(data[at:], linkSize); err == nil {
				frames, size = append(frames, r), r.size
				break
			}
		}
		at += size
	}
	return frames
}

// fitsToEnd reports whether tail as a whole is one record that matches its checksum, no
// matter what its length says.
func fitsToEnd(tail []byte) bool {
	return len(tail) >= frameHead+frameFixed &&
		crc32.Checksum(tail[frameHead:], castagnoli) == binary.LittleEndian.Uint32(tail[4:])
}

// zeroSector reports whether a sector from at on was never written: all of its bytes
// between at and the end of the file are zero. Sectors are counted from the start of
// the file, as the disk counts them. The part of the first sector counts only if it
// has room for the whole length of the record, which is never zero; a shorter part may
// be zero in a good record, too. The part of the last sector may be of any length,
// because no payload ends with a zero.
func zeroSector(data []byte, at int) bool {
	const lengthSize = 4
	for start := at; start < len(data); {
		end := min((start/sector+1)*sector, len(data))
		if allZero(data[start:end]) && (start > at || end-start >= lengthSize) {
			return true
		}
		start = end
	}
	return false
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
