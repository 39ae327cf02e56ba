package trade

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzDecodeFrame reads any bytes. What is accepted must come back in the same
// bytes, and nothing longer than the input may come out.
func FuzzDecodeFrame(f *testing.F) {
	good, err := appendFrame(nil, 7, kindStarted, []byte(`{"at":"2026-01-02T03:04:05.678Z"}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(append(good, good...))
	f.Add(good[:len(good)-1])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		for at := 0; at < len(data); {
			r, err := decodeFrame(data[at:])
			if err != nil {
				torn(data, at, err)
				return
			}
			again, err := appendFrame(nil, r.seq, r.kind, r.payload)
			if err != nil || !bytes.Equal(again, data[at:at+r.size]) {
				t.Fatalf("%x was accepted and is written as %x, %v", data[at:at+r.size], again, err)
			}
			at += r.size
		}
	})
}

// FuzzReplay feeds any bytes to a start as its journal: it never panics, and
// what it calls good is a prefix that replays to the same state.
func FuzzReplay(f *testing.F) {
	d := newMemDisk()
	e, err := open(scriptOptions(), d)
	if err != nil {
		f.Fatal(err)
	}
	e.SetAlert(f.Context(), AlertRequest{Symbol: "AAA", Condition: Condition{Type: PriceAbove, Threshold: one}})
	e.Subscribe(f.Context(), "caller", "client", Filter{})
	price(e, "AAA", 100)
	e.Place(f.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: one})
	f.Add(d.files[journalName(1)].data)
	store := e.shown.store
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newState(store)
		good, records, err := s.replay(data, 1)
		if err == nil && good != len(data) {
			t.Fatalf("replayed %d of %d bytes without an error", good, len(data))
		}
		if good == 0 {
			return
		}
		again := newState(store)
		if _, n, err := again.replay(data[:good], 1); err != nil || n != records || again.seq != s.seq {
			t.Fatalf("the good part of %q has %d records to %d, then %d to %d, %v", data, records, s.seq, n, again.seq, err)
		}
	})
}

// FuzzSnapshot feeds any bytes to a start as its snapshot.
func FuzzSnapshot(f *testing.F) {
	d := newMemDisk()
	e, err := open(scriptOptions(), d)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := e.Place(f.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: one}); err != nil {
		f.Fatal(err)
	}
	text, err := e.shown.encode(1, Time{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("{}\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The checksum would stop nearly all: give the line a fitting one.
		if line, _, ok := bytes.Cut(data, []byte("\n")); ok {
			line = append(bytes.Clone(line), '\n')
			data = append(line, trailer(line, 0)...)
		}
		if s, err := decodeSnapshot(data, 1); err == nil {
			if _, err := s.encode(1, Time{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestRecordBound: a payload one byte too long is refused before it is framed,
// and a length one too high is no record, however long the file is.
func TestRecordBound(t *testing.T) {
	b, err := appendFrame(nil, 1, kindStarted, make([]byte, maxRecord-frameFixed))
	if err != nil {
		t.Fatalf("the longest record: %v", err)
	}
	if f, err := decodeFrame(b); err != nil || f.size != frameHead+maxRecord {
		t.Errorf("the longest record reads as %d bytes, %v", f.size, err)
	}
	if _, err := appendFrame(nil, 1, kindStarted, make([]byte, maxRecord-frameFixed+1)); err == nil {
		t.Error("a record one byte too long is taken")
	}
	binary.LittleEndian.PutUint32(b, maxRecord+1)
	if _, err := decodeFrame(append(b, 0)); !errors.Is(err, errLength) {
		t.Errorf("a length one too high: %v, want %v", err, errLength)
	}
}
