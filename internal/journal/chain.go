package journal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Hash is the SHA-256 of a record. Each record holds the hash of the record before it,
// so a hash depends on all records before it: nobody can change, remove or add one
// without changing every later hash. Snapshots are part of the history too: the header
// of a journal file holds the hash of its snapshot file.
type Hash [sha256.Size]byte

// String returns the hash as 64 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText is String for the files.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what String returned.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("%.80q is no hash: it has %d hexadecimal digits", text, 2*len(h))
	}
	copy(h[:], b)
	return nil
}

// origin is the hash that the history of a store begins with, after record seq.
// That is 0, except in a store from a version of wick that kept no history.
func origin(store string, seq uint64) Hash {
	return sha256.Sum256(fmt.Appendf(nil, "wick journal %s after record %d", store, seq))
}

// Point is a place in the history of a store: after the record Seq, whose hash is
// Hash.
type Point struct {
	Store string // the random name of the store
	Seq   uint64
	Hash  Hash
}

// NewPoint returns the beginning of a new store.
func NewPoint() Point {
	var id [8]byte
	rand.Read(id[:]) // never fails
	return PointAfter(hex.EncodeToString(id[:]), 0)
}

// PointAfter returns the beginning of a history that goes on after record seq of a store
// and does not have the earlier records.
func PointAfter(store string, seq uint64) Point { return Point{store, seq, origin(store, seq)} }

// errChain reports that a record, or the one before it, was changed.
var errChain = errors.New("it does not follow the record before it: that one has a different hash")
