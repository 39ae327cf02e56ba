package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// A frame is one record as it stands in a file:
//
//	length uint32 | crc32c uint32 | sequence uint64 | kind uint8 | payload JSON
//
// in little endian. The length counts what follows the checksum, and the
// checksum covers exactly that. The sequence rises by one from record to
// record, which finds lost and doubled blocks that a checksum cannot.
const (
	frameHead  = 8        // length and checksum
	frameFixed = 9        // sequence and kind
	maxRecord  = 64 << 10 // bytes after the checksum; checked before anything is allocated
	maxPayload = maxRecord - frameFixed
	sector     = 512 // what a disk writes whole or not at all
)

// kindHeader is the kind of the first record of every file, which is ours. All
// other kinds are the owner's.
const kindHeader = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends one record to b. The payload is at most maxPayload long.
func appendFrame(b []byte, seq uint64, kind byte, payload []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(frameFixed+len(payload)))
	b = binary.LittleEndian.AppendUint32(b, 0) // the checksum, once there is something to sum
	b = binary.LittleEndian.AppendUint64(b, seq)
	b = append(append(b, kind), payload...)
	binary.LittleEndian.PutUint32(b[start+4:], crc32.Checksum(b[start+frameHead:], castagnoli))
	return b
}

// frame is one decoded record; payload shares memory with what was decoded.
type frame struct {
	seq     uint64
	kind    byte
	payload []byte
	size    int // bytes of the whole frame
}

var (
	errShort    = errors.New("the file ends inside the record")
	errLength   = errors.New("the length is impossible")
	errChecksum = errors.New("the checksum does not match")
)

// decodeFrame reads the record at the start of b. It allocates nothing, so a
// damaged length cannot make it take memory.
func decodeFrame(b []byte) (frame, error) {
	if len(b) < frameHead {
		return frame{}, errShort
	}
	length := binary.LittleEndian.Uint32(b)
	if length < frameFixed || length > maxRecord {
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
		seq: binary.LittleEndian.Uint64(body), kind: body[8],
		payload: body[frameFixed:], size: frameHead + int(length),
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
func torn(data []byte, at int, cause error) bool {
	tail := data[at:]
	if validFollows(tail) || fitsToEnd(tail) {
		return false
	}
	return errors.Is(cause, errShort) || zeroSector(data, at) || allZero(tail)
}

// validFollows reports whether a whole record begins anywhere after the start of
// tail. Payloads are JSON objects, so the first byte of one is looked at before
// the checksum: sums from every place of an unlucky file would take minutes.
func validFollows(tail []byte) bool {
	const payloadAt = frameHead + frameFixed
	for i := 1; i+payloadAt < len(tail); i++ {
		if tail[i+payloadAt] == '{' {
			if _, err := decodeFrame(tail[i:]); err == nil {
				return true
			}
		}
	}
	return false
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
