package archive

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Record is what the archive keeps.
type Record struct {
	// Keys are the names under which Lookup finds the record: 1 to 255 keys of at most
	// 255 bytes each. No other record may have the same first key.
	Keys []string
	Body []byte // at most 64 KiB
}

// maxBody bounds a record's body in bytes.
const maxBody = 64 << 10

// check returns an error if a frame cannot hold the record.
func (r Record) check() error {
	if len(r.Keys) == 0 || len(r.Keys) > 255 || len(r.Body) > maxBody {
		return fmt.Errorf("a record with %d keys and %d bytes: 1 to 255 keys and at most %d bytes are kept", len(r.Keys), len(r.Body), maxBody)
	}
	for _, key := range r.Keys {
		if len(key) == 0 || len(key) > 255 {
			return fmt.Errorf("a key of %d bytes: 1 to 255 are kept", len(key))
		}
	}
	return nil
}

// Head is the end of the chain: how many records there are and the hash of the newest.
// A caller stores it and gives it to [Open] later, which refuses an archive that does not
// have it. The zero Head means that none was stored.
type Head struct {
	Records uint64
	Hash    [sha256.Size]byte
}

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
	maxFrame   = frameFixed + 255*256 + maxBody
	maxAppend  = 16 << 20 // bytes of one write at most; so a torn end is never longer
)

var (
	// Errors of decode and walk. A crash may leave a short record at the end of the last
	// segment, which is cut off; see torn.
	errShort    = errors.New("the file ends inside a record")
	errLength   = errors.New("the length of a record is impossible")
	errChecksum = errors.New("the checksum does not match")
	errChain    = errors.New("the record does not follow the one before it")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends the record that follows h and returns the new head.
func appendFrame(b []byte, r Record, h Head) ([]byte, Head) {
	// Room for the length and the checksum, which are computed last.
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

// checksum returns the CRC of a frame, or of a page of an index, without the four bytes
// that hold it, which are the second four.
func checksum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:4], castagnoli), castagnoli, b[8:])
}

// frame is a decoded record with its place in the chain: the head before it, as it says
// itself, and the head after it.
type frame struct {
	record        Record // shares memory with what was decoded
	before, after Head
	size          int // bytes of the whole frame
}

// decode reads the frame at the start of b. It returns errShort if b may be the beginning
// of a longer frame, so that the caller can try again with more bytes. It checks every
// length before it reads or allocates by it.
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

// parseRecord reads keys and body. b has at least one byte, the number of keys, because
// frameFixed includes it.
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

// readFrame reads the frame at an offset. It first reads as many bytes as are enough for
// most records, and only if that is too short as many as a record can have.
func readFrame(f io.ReaderAt, at int64) (frame, error) {
	for _, size := range []int{4 << 10, frameHead + maxFrame} {
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
