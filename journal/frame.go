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
	maxRecord  = 64 << 10 // bytes after the checksum; checked before anything is allocated
	maxPayload = maxRecord - frameFixed - sha256.Size
	sector     = 512 // bytes that a disk writes as a whole or not at all
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

// frame is one decoded record; it shares memory with what was decoded.
type frame struct {
	seq     uint64
	kind    byte
	link    []byte // hash of the record before; empty in a header
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
