package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzDecodeFrame reads any bytes; what is accepted must come back in the same
// bytes, and nothing longer than the input may come out.
func FuzzDecodeFrame(f *testing.F) {
	for _, link := range [][]byte{nil, make([]byte, 32)} {
		good := appendFrame(nil, 7, 2, link, []byte(`{"at":"2026-01-02T03:04:05.678Z"}`))
		f.Add(good, link != nil)
		f.Add(append(good, good...), link != nil)
		f.Add(good[:len(good)-1], link != nil)
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, true)
	f.Fuzz(func(t *testing.T, data []byte, hashes bool) {
		link := 0
		if hashes {
			link = linkSize
		}
		for at := 0; at < len(data); {
			r, err := decodeFrame(data[at:], link)
			if err != nil {
				torn(data, at, err)
				return
			}
			if again := appendFrame(nil, r.Seq, r.Kind, r.link, r.Payload); !bytes.Equal(again, data[at:at+r.size]) {
				t.Fatalf("%x was accepted and is written as %x", data[at:at+r.size], again)
			}
			at += r.size
		}
	})
}

// TestRecordBound: a payload one byte too long is refused before it is framed,
// and a length one too high is no record, however long the file is.
func TestRecordBound(t *testing.T) {
	long := bytes.Repeat([]byte("x"), maxPayload-len(`""`))
	r, err := NewRecord(2, string(long))
	if err != nil {
		t.Fatalf("the longest record: %v", err)
	}
	b := appendFrame(nil, 1, r.kind, make([]byte, 32), r.payload)
	if f, err := decodeFrame(b, 32); err != nil || f.size != frameHead+maxRecord {
		t.Errorf("the longest record reads as %d bytes, %v", f.size, err)
	}
	if _, err := NewRecord(2, string(long)+"x"); err == nil {
		t.Error("a record one byte too long is taken")
	}
	binary.LittleEndian.PutUint32(b, maxRecord+1)
	if _, err := decodeFrame(append(b, 0), 32); !errors.Is(err, errLength) {
		t.Errorf("a length one too high: %v, want %v", err, errLength)
	}
}
