package cluster

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"wick/internal/journal"
)

// snapshotName is the value of the key snapshot, which names the current snapshot. A
// name without parts stands for a new, empty store.
type snapshotName struct {
	Store string `json:"store"`
	Seq   uint64 `json:"seq"`
	Parts int    `json:"parts"`
	Size  int64  `json:"size"` // bytes of all parts
	Sum   string `json:"sum"`  // their SHA-256
}

// check returns an error for a name that no version of wick writes.
func (s snapshotName) check() error {
	if s.Store == "" || len(s.Store) > 64 || s.Size < 0 || s.Size > maxSnapshot || int64(s.Parts) != (s.Size+partSize-1)/partSize || s.Parts == 0 && s.Seq > 0 {
		return errors.New("no name of a snapshot")
	}
	return nil
}

const (
	partSize    = 512 << 10
	maxSnapshot = 48 << 20 // bytes of a compressed snapshot
	maxUnpacked = 1 << 30  // bytes of a snapshot when it is unpacked
)

// pack returns a snapshot of the state at a point, compressed, and its name.
func pack(p journal.Point, state []byte) ([]byte, snapshotName, error) {
	text := journal.EncodeSnapshot(p, state)
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(text) // a buffer takes everything
	w.Close()
	packed := out.Bytes()
	sum := sha256.Sum256(packed)
	name := snapshotName{Store: p.Store, Seq: p.Seq, Parts: (len(packed) + partSize - 1) / partSize, Size: int64(len(packed)), Sum: hex.EncodeToString(sum[:])}
	if len(packed) > maxSnapshot || len(text) > maxUnpacked {
		return nil, name, fmt.Errorf("a snapshot of %d bytes, at most %d are kept in etcd", len(packed), maxSnapshot)
	}
	return packed, name, nil
}

// unpack checks a snapshot that pack has made, and returns its point and state.
func unpack(packed []byte, name snapshotName) (journal.Point, []byte, error) {
	if sum := sha256.Sum256(packed); hex.EncodeToString(sum[:]) != name.Sum {
		return journal.Point{}, nil, errors.New("its hash is not the one in its name")
	}
	in, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return journal.Point{}, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(in, maxUnpacked))
	if err != nil {
		return journal.Point{}, nil, err
	}
	point, state, err := journal.DecodeSnapshot(text, "the snapshot")
	if err == nil && (point.Store != name.Store || point.Seq != name.Seq) {
		err = fmt.Errorf("it is of record %d of store %.40q", point.Seq, point.Store)
	}
	return point, state, err
}
