package journaltest

import (
	"crypto/sha256"
	"encoding/binary"
)

// Frame is one record of a journal file.
type Frame struct {
	Seq     uint64
	Kind    byte
	Before  [sha256.Size]byte // hash of the record before; zero in the first record of a file
	Payload []byte
	Hash    [sha256.Size]byte // of this record
	Size    int               // bytes of the whole record
}

// Frames takes a journal file of the present format apart. It is a second reader
// beside the journal's own, written from the description of the format, and
// checks nothing: it panics if the file does not end with a whole record.
func Frames(data []byte) (frames []Frame) {
	for len(data) > 0 {
		size := 8 + int(binary.LittleEndian.Uint32(data))
		f := Frame{Seq: binary.LittleEndian.Uint64(data[8:]), Kind: data[16], Hash: sha256.Sum256(data[8:size]), Size: size}
		if f.Payload = data[17:size]; f.Kind != 1 { // the header has the hash in its payload
			f.Before = [sha256.Size]byte(f.Payload)
			f.Payload = f.Payload[sha256.Size:]
		}
		frames, data = append(frames, f), data[size:]
	}
	return frames
}
