package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// A frame is one record as it stands in a file:
//
//	length uint32 | crc32c uint32 | sequence uint64 | kind uint8 | before [32] | payload JSON
//
// in little endian. The length counts what follows the checksum, and the
// checksum covers exactly that. The sequence rises by one from record to
// record, which finds lost and doubled blocks that a checksum cannot. Before is
// the [Hash] of the record before, and a record's own hash is the SHA-256 of
// what its checksum covers.
//
// The first record of a file, its header, has no such hash in its frame, so that
// it can be read before the format is known: it is a member of its payload. The
// records of the first format have none at all. The functions below are
// therefore told how long it is, 0 or 32 bytes, as link.
const (
	frameHead  = 8        // length and checksum
	frameFixed = 9        // sequence and kind
	maxRecord  = 64 << 10 // bytes after the checksum; checked before anything is allocated
	maxPayload = maxRecord - frameFixed - sha256.Size
	sector     = 512 // what a disk writes whole or not at all
)

// The kinds of records that are ours. All others are the owner's.
const (
	kindHeader = 1   // the first record of every file
	kindEnd    = 255 // the last record of a file that another one continues
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends one record to b. Link is the hash of the record before, or
// nil; the payload is at most maxPayload long.
func appendFrame(b []byte, seq uint64, kind byte, link, payload []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(frameFixed+len(link)+len(payload)))
	b = binary.LittleEndian.AppendUint32(b, 0) // the checksum, once there is something to sum
	b = binary.LittleEndian.AppendUint64(b, seq)
	b = append(append(append(b, kind), link...), payload...)
	binary.LittleEndian.PutUint32(b[start+4:], crc32.Checksum(b[start+frameHead:], castagnoli))
	return b
}

// frame is one decoded record; it shares memory with what was decoded.
type frame struct {
	seq     uint64
	kind    byte
	link    []byte // hash of the record before; empty if the format has none
	payload []byte
	body    []byte // all of it that the checksum covers
	size    int    // bytes of the whole frame
}

// hash returns the record's place in the history.
func (r frame) hash() Hash { return sha256.Sum256(r.body) }

var (
	errShort    = errors.New("the file ends inside the record")
	errLength   = errors.New("the length is impossible")
	errChecksum = errors.New("the checksum does not match")
)

// decodeFrame reads the record at the start of b. It allocates nothing, so a
// damaged length cannot make it take memory.
func decodeFrame(b []byte, link int) (frame, error) {
	if len(b) < frameHead {
		return frame{}, errShort
	}
	length := binary.LittleEndian.Uint32(b)
	if length < uint32(frameFixed+link) || length > maxRecord {
		return frame{}, errLength
	}
	if uint64(len(b)) < frameHead+uint64(length) {
		return frame{}, errShort
	}
	body := b[frameHead : frameHead+int(length)]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return frame{}, errChecksum
	}
	return frame{
		seq: binary.LittleEndian.Uint64(body), kind: body[8], link: body[frameFixed : frameFixed+link],
		payload: body[frameFixed+link:], body: body, size: frameHead + int(length),
	}, nil
}

// torn reports whether the record at data[at:], which did not decode because of
// cause, is a write that a crash cut short, and not damage.
//
// A write that was never synced may reach the disk in any part: the file ends
// inside the record; or it has its full length, because the file system grew it
// first, and holds zeros where sectors were never written. Nobody was told that
// such a record exists, so it may be dropped. What must not be dropped is a
// record that was once whole. Hence nothing counts as torn when a whole record
// follows somewhere behind it (a crash leaves nothing behind its own write), nor
// when the bytes up to the end of the file fit the checksum: then only the
// length, which the checksum does not cover, was damaged, upwards.
func torn(data []byte, at, link int, cause error) bool {
	tail := data[at:]
	if validFollows(tail, link) || fitsToEnd(tail) {
		return false
	}
	return errors.Is(cause, errShort) || zeroSector(data, at) || allZero(tail)
}

// validFollows reports whether a whole record begins anywhere after the start of
// tail.
func validFollows(tail []byte, link int) bool { return nextFrame(tail, 1, link) < len(tail) }

// nextFrame returns where the next whole record begins at or after an offset, or
// the length of data if there is none. Payloads are JSON objects, so the first
// byte of one is looked at before the checksum: sums from every place of an
// unlucky file would take minutes.
func nextFrame(data []byte, at, link int) int {
	payloadAt := frameHead + frameFixed + link
	for ; at+payloadAt < len(data); at++ {
		if data[at+payloadAt] == '{' {
			if _, err := decodeFrame(data[at:], link); err == nil {
				return at
			}
		}
	}
	return len(data)
}

// fitsToEnd reports whether tail is one record under its checksum when its
// length is taken to reach to the end.
func fitsToEnd(tail []byte) bool {
	return len(tail) >= frameHead+frameFixed &&
		crc32.Checksum(tail[frameHead:], castagnoli) == binary.LittleEndian.Uint32(tail[4:])
}

// zeroSector reports whether a sector from at on was never written: it is zero,
// as far as it lies between at and the end of the file. Sectors are counted from
// the start of the file, as the disk counts them. The first one counts only if it
// has the whole length of the record, which is never zero: of a shorter piece a
// sound record may well have zeros. No payload ends with one, so the last
// sector may be of any length.
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
