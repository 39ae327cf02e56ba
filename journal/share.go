package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
)

// This file is for logs that keep the same records and snapshots as [Files], but not
// in files.

// Replay applies the frames in data to s, which has the state at p, and returns the
// point after the last frame that it applied. It returns an error for a frame that does
// not follow the one before, and for one that is not whole: such logs store no part of a
// frame.
func Replay(s State, data []byte, p Point) (Point, error) {
	for at := 0; at < len(data); {
		r, err := decodeFrame(data[at:], sha256.Size)
		switch {
		case err != nil:
		case r.seq != p.Seq+1:
			err = fmt.Errorf("sequence %d follows %d", r.seq, p.Seq)
		case Hash(r.link) != p.Hash:
			err = errChain
		case r.kind == KindHeader || r.kind == kindEnd:
			err = fmt.Errorf("a record of kind %d, which only files have", r.kind)
		}
		var event any
		if err == nil {
			event, err = s.Decode(r.kind, r.payload)
		}
		if err == nil {
			err = s.Apply(r.seq, r.kind, event)
		}
		if err != nil {
			return p, fmt.Errorf("record %d: %w", p.Seq+1, err)
		}
		p.Seq, p.Hash = r.seq, r.hash()
		at += r.size
	}
	return p, nil
}

// EncodeSnapshot returns a snapshot of the state at p, with a checksum.
func EncodeSnapshot(p Point, state []byte) ([]byte, error) {
	return encodeSnapshot(snapshotHead{format, sharedGeneration, p.Store, p.Seq, stamp(), p.Hash}, state)
}

// sharedGeneration is the generation in the head of a snapshot that is not in a
// directory. Such snapshots have no generations.
const sharedGeneration = 1

// DecodeSnapshot reads what EncodeSnapshot returned; name is for error texts.
func DecodeSnapshot(data []byte, name string) (Point, []byte, error) {
	head, state, err := decodeSnapshot(data, name, sharedGeneration)
	if err == nil && (head.Store == "" || head.Before == (Hash{})) {
		err = errors.New("it names no store, or no record")
	}
	return Point{head.Store, head.Seq, head.Before}, state, err
}

// Import makes a store in the directory d, which must have no journal. It begins with
// the state after record seq of a store, and does not have the records before.
func Import(d Disk, store string, seq uint64, state []byte) error {
	names, err := d.List()
	if err != nil {
		return err
	}
	if g := findGenerations(names); len(g.snapshots)+len(g.journals) > 0 {
		return fmt.Errorf("%s has a journal already: choose an empty directory", d.Path(""))
	}
	f := &Files{disk: d, store: store, seq: seq}
	if err := f.next(state, nil, nil); err != nil {
		return err
	}
	return f.Close()
}
