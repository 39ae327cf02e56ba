package cluster

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"wick/cluster/etcd"
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

// ok reports whether wick may have written this name.
func (s snapshotName) ok() bool {
	return s.Store != "" && len(s.Store) <= 64 && s.Size >= 0 && s.Size <= maxSnapshot && int64(s.Parts) == (s.Size+partSize-1)/partSize && (s.Parts > 0 || s.Seq == 0)
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

// load restores s from a snapshot. The log is then read from the record after it.
func (n *Node) load(ctx context.Context, s journal.State, name snapshotName) error {
	if n.point.Store != "" {
		n.log.Warn("this replica was left behind and begins again with a snapshot", "record", n.point.Seq, "snapshot", name.Seq)
	}
	// A new store has no parts: it begins empty.
	point, state := journal.PointAfter(name.Store, 0), []byte(nil)
	if name.Parts > 0 {
		packed, err := n.parts(ctx, name)
		if err != nil {
			return err
		}
		if point, state, err = unpack(packed, name); err != nil {
			return fmt.Errorf("%w: snapshot %d: %w", errDamage, name.Seq, err)
		}
	}
	if err := s.Restore(point.Store, point.Seq, state); err != nil {
		return fmt.Errorf("%w: snapshot %d: %w", errDamage, name.Seq, err)
	}
	n.point, n.snap, n.bytes, n.batches = point, name, 0, 0
	n.note(point.Seq, 0)
	return nil
}

// parts reads the parts of a snapshot and returns them joined.
func (n *Node) parts(ctx context.Context, name snapshotName) (packed []byte, err error) {
	for i := range name.Parts {
		reply, err := n.etcd.Do(ctx, etcd.Get(n.key("snap", number(name.Seq), number(uint64(i)))))
		if err != nil {
			return nil, err
		}
		part := reply.Value(0)
		if part == nil {
			return nil, errors.New("the snapshot was replaced while it was read")
		}
		// More bytes than the name says are damage, which the hash will show: stop reading.
		if packed = append(packed, part...); int64(len(packed)) > name.Size {
			break
		}
	}
	return packed, nil
}

// Snapshot stores the state after the last record: first the parts, then the name, which
// makes it the current snapshot. Then it removes what this one replaces. If something
// fails before the name is put, the snapshot before stays the current one.
func (n *Node) Snapshot(state []byte) error {
	t := n.leading()
	switch {
	case t == nil:
		return ErrNotLeader
	case n.snap.Parts > 0 && n.snap.Seq == n.point.Seq:
		return nil // nothing was appended since the current snapshot: its parts must not be overwritten
	}
	packed, name, err := pack(n.point, state)
	if err == nil {
		err = n.putSnapshot(t.ctx, packed, name, etcd.IsOurs(n.key("lead"), t.revision))
	}
	switch {
	case errors.Is(err, errDeposed):
		t.end(errDeposed)
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", journal.ErrRetry, err)
	}
	before := n.snap.Seq
	n.snap, n.bytes, n.batches = name, 0, 0
	if err := n.trim(t.ctx, before, name.Seq); err != nil {
		n.log.Warn("what a snapshot has replaced is not removed: the next one tries again", "error", err)
	}
	return nil
}

// Import makes a new store that begins with the state at p. It returns an error if there
// is a store already.
func (n *Node) Import(ctx context.Context, p journal.Point, state []byte) error {
	packed, name, err := pack(p, state)
	if err == nil {
		err = n.putSnapshot(ctx, packed, name, etcd.IsNew(n.key("snapshot")))
	}
	if errors.Is(err, errDeposed) {
		err = fmt.Errorf("etcd has a store %q already: choose another store in --cluster-file", n.options.Store)
	}
	return err
}

// putSnapshot stores the parts and then the name of a snapshot. It returns errDeposed if
// the condition does not hold at one of these writes.
func (n *Node) putSnapshot(ctx context.Context, packed []byte, name snapshotName, condition etcd.Compare) error {
	text, _ := json.Marshal(name) // texts and numbers can always be encoded
	store := func(key, value []byte) error {
		held, err := n.etcd.PutIf(ctx, condition, key, value)
		if err == nil && !held {
			err = errDeposed
		}
		return err
	}
	for i := range name.Parts {
		part := packed[i*partSize : min((i+1)*partSize, len(packed))]
		if err := store(n.key("snap", number(name.Seq), number(uint64(i))), part); err != nil {
			return err
		}
	}
	return store(n.key("snapshot"), text)
}

// trim removes the parts of snapshots before the one at seq, and the batches up to the
// snapshot before that. It leaves the batches since then, so that a replica that is a
// little behind can go on with them. A replica that has lost the leadership meanwhile
// does no harm here: a later leader does not need these keys either. Then trim has etcd
// forget the earlier revisions.
func (n *Node) trim(ctx context.Context, before, seq uint64) error {
	reply, err := n.etcd.Do(ctx,
		etcd.Operation{Delete: &etcd.DeleteRequest{Key: n.key("snap/"), End: n.key("snap", number(seq))}},
		etcd.Operation{Delete: &etcd.DeleteRequest{Key: n.key("log/"), End: n.key("log", number(before+1))}})
	if err != nil {
		return err
	}
	return n.etcd.Compact(ctx, reply.Header.Revision)
}
