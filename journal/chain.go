package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash is a place in the history of a store: the SHA-256 of a record, which
// holds the hash of the record before it, and so of all before it. Nobody can
// change, remove or add an earlier record and keep a later hash. Snapshots are
// part of the history too: the header of a journal file holds the hash of its
// snapshot file.
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

// chained is the first format whose records hold the hash of the one before.
const chained = 2

// linkSize returns how many bytes of each record in a file of a format are the
// hash of the record before.
func linkSize(format int) int {
	if format < chained {
		return 0
	}
	return sha256.Size
}
