package journal

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
)

// This file is for logs that keep the same records and snapshots as [Files], but not
// in files.

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

// Import makes a store in the directory d, which must have no journal. It begins with the
// state after record seq of a store, does not have the records before, and goes on with
// the given ones.
func Import(d Disk, store string, seq uint64, state []byte, records []Record) error {
	names, err := d.List()
	if err != nil {
		return err
	}
	if g := findGenerations(names); len(g.snapshots)+len(g.journals) > 0 {
		return fmt.Errorf("%s has a journal already: choose an empty directory", d.Path(""))
	}
	f := &Files{disk: d, out: slog.New(slog.DiscardHandler), at: PointAfter(store, seq)}
	err = f.next(state, nil, nil)
	for part := range slices.Chunk(records, 1000) {
		if err == nil {
			_, err = f.Append(f.at.Seq+1, part)
		}
	}
	return errors.Join(err, f.Close())
}
