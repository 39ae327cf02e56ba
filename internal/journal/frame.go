package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// A frame is one record as it stands in a file:
//
//	length uint32 | crc32c uint32 | sequence uint64 | kind uint8 | before [32] | payload JSON
//
// in little endian. The length counts what follows the checksum, and the
// checksum covers exactly that. The sequence rises by one from record to record. That
// shows lost and doubled blocks, which a checksum cannot. Before is the [Hash] of the
// record before, and a record's own hash is the SHA-256 of what its checksum covers.
//
// The first record of a file, its header, has no such hash in its frame, so that it can
// be read before the format is known: its payload has the hash instead. So the functions
// below take the length of the hash, 0 or linkSize, or the hash itself, as link.
const (
	frameHead  = 8 // length and checksum
	frameFixed = 9 // sequence and kind
	linkSize   = sha256.Size
	maxRecord  = 96 << 10 // bytes after the checksum; checked before anything is allocated
	maxPayload = maxRecord - frameFixed - sha256.Size
	maxHeader  = 16 << 20 // the same of a header, which names every damaged journal after a recovery
	sector     = 512      // bytes that a disk writes as a whole or not at all
)

// The kinds of records that are ours. All others are the owner's.
const (
	KindHeader = 1   // the first record of every journal file
	kindEnd    = 255 // the last record of a file that another one continues
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends one record to b. Link is the hash of the record before, or
// nil; the payload is at most maxPayload long.
func appendFrame(b []byte, seq uint64, kind byte, link, payload []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(frameFixed+len(link)+len(payload)))
	b = binary.LittleEndian.AppendUint32(b, 0) // room for the checksum, which is computed last
	b = binary.LittleEndian.AppendUint64(b, seq)
	b = append(append(append(b, kind), link...), payload...)
	binary.LittleEndian.PutUint32(b[start+4:], crc32.Checksum(b[start+frameHead:], castagnoli))
	return b
}

// Entry is a record of a journal, or a snapshot, which has the kind 0. It shares memory with
// what it was read from.
type Entry struct {
	File    string
	Seq     uint64
	Kind    byte
	Payload []byte // of a snapshot, the JSON of its state
	Hash    Hash   // of a snapshot, that of its header

	link []byte // hash of the record before; empty in a header
	size int    // bytes of the whole frame
	at   int    // where it begins in its file
}

var (
	errShort    = errors.New("the file ends inside the record")
	errLength   = errors.New("the length is impossible")
	errChecksum = errors.New("the checksum does not match")
)

// decodeFrame reads the record at the start of b. It allocates nothing, so a
// damaged length cannot make it take memory.
func decodeFrame(b []byte, link int) (Entry, error) {
	if len(b) < frameHead {
		return Entry{}, errShort
	}
	length := binary.LittleEndian.Uint32(b)
	most := uint32(maxRecord)
	if link == 0 {
		most = maxHeader
	}
	if length < uint32(frameFixed+link) || length > most {
		return Entry{}, errLength
	}
	if uint64(len(b)) < frameHead+uint64(length) {
		return Entry{}, errShort
	}
	body := b[frameHead : frameHead+int(length)]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return Entry{}, errChecksum
	}
	return Entry{
		Seq: binary.LittleEndian.Uint64(body), Kind: body[8], Payload: body[frameFixed+link:],
		Hash: sha256.Sum256(body), link: body[frameFixed : frameFixed+link], size: frameHead + int(length),
	}, nil
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
	fitsToEnd := len(tail) >= frameHead+frameFixed && crc32.Checksum(tail[frameHead:], castagnoli) == binary.LittleEndian.Uint32(tail[4:])
	if fitsToEnd || nextFrame(tail, 1) < len(tail) {
		return false
	}
	return errors.Is(cause, errShort) || zeroSector(data, at) || allZero(tail)
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

func allZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// readFrame reads the record at an offset of a file.
func readFrame(d Reader, name string, at int64, link int) (Entry, error) {
	b := make([]byte, 1<<10) // most records are shorter
	n, err := d.ReadAt(name, b, at)
	r, bad := decodeFrame(b[:n], link)
	if errors.Is(bad, errShort) && err == nil {
		b = make([]byte, frameHead+binary.LittleEndian.Uint32(b)) // decodeFrame has checked the length
		n, err = d.ReadAt(name, b, at)
		r, bad = decodeFrame(b[:n], link)
	}
	if bad != nil && err != nil && err != io.EOF { // a short file gives io.EOF
		return r, err
	}
	r.File, r.at = name, int(at)
	return r, bad
}
