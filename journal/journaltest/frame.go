package journaltest

import "encoding/binary"

// Frame is one record of a journal file.
type Frame struct {
	Seq     uint64
	Kind    byte
	Payload []byte
	Size    int // bytes of the whole record
}

// Frames takes a journal file apart. It is a second reader beside the journal's
// own, written from the description of the format, and checks nothing: it
// panics if the file does not end with a whole record.
func Frames(data []byte) (frames []Frame) {
	for len(data) > 0 {
		size := 8 + int(binary.LittleEndian.Uint32(data))
		frames = append(frames, Frame{binary.LittleEndian.Uint64(data[8:]), data[16], data[17:size], size})
		data = data[size:]
	}
	return frames
}
