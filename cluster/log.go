package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"wick/cluster/etcd"
	"wick/internal/journal"
)

// Read brings s to the newest state. The first call loads the snapshot, and makes
// a new store if there is none.
func (n *Node) Read(s journal.State) (uint64, error) {
	deadline := time.Now().Add(readTimeout)
	for tries := 0; ; tries++ {
		err := n.catchUp(n.life, s)
		switch {
		case err == nil:
			return n.point.Seq, nil
		case errors.Is(err, errDamage) || etcd.IsFinal(err) || n.life.Err() != nil || time.Now().After(deadline):
			return 0, err
		case tries == 0:
			n.log.Warn("etcd does not answer yet", "error", err)
		}
		n.rest(n.life, retryPause)
	}
}

const (
	readTimeout = time.Minute            // how long a start waits for etcd
	retryPause  = 100 * time.Millisecond // between two attempts
)

// rest waits for d, or until ctx ends.
func (n *Node) rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// catchUp applies all batches that are in etcd now. If the next batch was removed,
// because this replica is too far behind, it begins again with the snapshot.
func (n *Node) catchUp(ctx context.Context, s journal.State) error {
	for {
		page, err := n.page(ctx)
		if err != nil {
			return err
		}
		switch {
		// The cases are: etcd has no store yet; nothing was read yet, or this replica is
		// too far behind; it is another store; an older state was put back into etcd; all
		// batches are applied; and finally there are batches to apply.
		case page.snapshot.Store == "":
			// A name without parts stands for a new store, unless another replica has made one meanwhile.
			text, _ := json.Marshal(snapshotName{Store: journal.NewPoint().Store}) // texts and numbers can always be encoded
			_, err = n.etcd.PutIf(ctx, etcd.IsNew(n.key("snapshot")), n.key("snapshot"), text)
		case n.point.Store == "" || page.snapshot.Seq > n.point.Seq && (len(page.batches) == 0 || !n.isNext(page.batches[0])):
			err = n.load(ctx, s, page.snapshot)
		case page.snapshot.Store != n.point.Store:
			err = fmt.Errorf("%w: the store is %.40q and was %q", errDamage, page.snapshot.Store, n.point.Store)
		case max(page.tail, page.snapshot.Seq) < n.point.Seq:
			err = fmt.Errorf("%w: it ends with record %d and had record %d: an earlier state was put back, start every replica again", errDamage, max(page.tail, page.snapshot.Seq), n.point.Seq)
		case len(page.batches) == 0:
			n.snap = page.snapshot
			n.note(n.point.Seq, page.tail)
			return nil
		default:
			err = n.apply(s, page.batches)
		}
		if err != nil {
			return err
		}
	}
}

// page is what one transaction read of the store, all at the same moment.
type page struct {
	snapshot snapshotName
	batches  []etcd.KeyValue // those after the last record that was applied
	tail     uint64
}

// page reads the next batches, the name of the current snapshot, and who leads.
func (n *Node) page(ctx context.Context) (p page, err error) {
	reply, err := n.etcd.Do(ctx, etcd.Get(n.key("snapshot")), etcd.Get(n.key("lead")), etcd.Get(n.key("lead", "tail")),
		etcd.Operation{Range: &etcd.RangeRequest{Key: n.key("log", number(n.point.Seq+1)), End: etcd.After(n.key("log/")), Limit: n.pages}})
	if err != nil {
		// Perhaps the page was too large to be answered in time: read less the next time.
		n.pages = max(n.pages/2, 1)
		return p, err
	}
	n.pages = min(2*n.pages, pageBatches)
	if text := reply.Value(0); text != nil {
		if err := json.Unmarshal(text, &p.snapshot); err != nil || !p.snapshot.ok() {
			return p, fmt.Errorf("%w: %s says %.80q", errDamage, n.key("snapshot"), text)
		}
	}
	var lead leader
	if text := reply.Value(1); text != nil {
		if err := json.Unmarshal(text, &lead); err != nil {
			return p, fmt.Errorf("%w: %s says %.80q", errDamage, n.key("lead"), text)
		}
	}
	if p.tail, err = readTail(reply.Value(2)); err != nil {
		return p, err
	}
	p.batches = reply.Values(3)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.setLeader(lead)
	n.heard, n.tail = time.Now(), max(n.tail, p.tail)
	return p, nil
}

// readTail reads the value of the key lead/tail; a store without records has none.
func readTail(text []byte) (uint64, error) {
	if text == nil {
		return 0, nil
	}
	tail, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: the last sequence is said to be %.80q", errDamage, text)
	}
	return tail, nil
}

// isNext reports whether a batch begins with the record after the last one.
func (n *Node) isNext(b etcd.KeyValue) bool {
	return bytes.Equal(b.Key, n.key("log", number(n.point.Seq+1)))
}

// apply applies batches to s in their order. A batch that is empty, cannot be replayed
// or does not follow the last record is damage.
func (n *Node) apply(s journal.State, batches []etcd.KeyValue) (err error) {
	for _, b := range batches {
		if !n.isNext(b) || len(b.Value) == 0 {
			return fmt.Errorf("%w: %.80q, of %d bytes, follows record %d", errDamage, b.Key, len(b.Value), n.point.Seq)
		}
		if n.point, err = journal.Replay(s, b.Value, n.point); err != nil {
			return fmt.Errorf("%w: %s: %w", errDamage, b.Key, err)
		}
		n.bytes += int64(len(b.Value))
		n.batches++
	}
	n.note(n.point.Seq, 0)
	return nil
}

// Append stores records in one or several batches. It returns when they are on
// disk at a majority of etcd's members.
func (n *Node) Append(first uint64, records []journal.Record) (due bool, err error) {
	t := n.leading()
	switch {
	case t == nil:
		return false, ErrNotLeader
	case first != n.point.Seq+1:
		return false, fmt.Errorf("record %d cannot follow record %d", first, n.point.Seq)
	case n.bytes >= fullBytes:
		return false, fmt.Errorf("the cluster holds %d MiB since its last snapshot, which could not be written: look into the log", n.bytes>>20)
	}
	// A batch is stored once it has maxBatch bytes or the last record. Each one is a
	// transaction of its own.
	at, hash := n.point, n.point.Hash
	var batch []byte
	for i := range records {
		batch, hash = journal.AppendRecords(batch, at.Seq+1, hash, records[i:i+1])
		at.Seq++
		if len(batch) < maxBatch && i < len(records)-1 {
			continue
		}
		if err := n.store(t, n.point.Seq+1, at.Seq, batch); err != nil {
			if n.point.Seq >= first { // an earlier batch of the same group is stored
				err = fmt.Errorf("%w: %w", journal.ErrUnknown, err)
			}
			return false, err
		}
		n.point.Seq, n.point.Hash = at.Seq, hash
		n.bytes += int64(len(batch))
		n.batches++
		batch = nil
	}
	n.note(n.point.Seq, n.point.Seq)
	return n.due(), nil
}

// due reports whether enough was appended since the last snapshot for a new one.
func (n *Node) due() bool {
	return n.bytes >= min(max(n.dueAfter, 2*n.snap.Size), dueMost) || n.batches >= dueBatches
}

// store puts one batch, which has the records first to last. If an answer is lost it
// sends the transaction again, for as long as this replica leads. The comparison makes
// sure that the batch is stored only once.
func (n *Node) store(t *term, first, last uint64, batch []byte) error {
	key, lead, tail := n.key("log", number(first)), n.key("lead"), n.key("lead", "tail")
	request := etcd.Txn{
		Compare: []etcd.Compare{etcd.IsOurs(lead, t.revision), etcd.IsNew(key)},
		Success: []etcd.Operation{etcd.Put(key, batch), etcd.Put(tail, strconv.AppendUint(nil, last, 10))},
		Failure: []etcd.Operation{etcd.Get(key), etcd.Get(tail)},
	}
	// Once an answer was lost, a refusal is only about the last attempt: an earlier one
	// may have stored the batch. An etcd that is full may have stored it, too.
	doubt := false
	for {
		if cause := context.Cause(t.ctx); cause != nil && !doubt {
			return cause // nothing was sent
		} else if cause != nil {
			// If etcd says that the lease has ended, the batch is there or never will be.
			ctx, cancel := context.WithTimeout(n.life, etcd.Attempt)
			defer cancel()
			reply, err := n.etcd.Do(ctx, request.Failure...)
			if cause != errDeposed || err != nil {
				return fmt.Errorf("%w: %w", journal.ErrUnknown, errUnreachable)
			}
			return judge(reply, batch, first, t)
		}
		reply, err := n.etcd.Once(t.ctx, request)
		switch {
		case err == nil && reply.Succeeded:
			return nil
		case err == nil:
			return judge(reply, batch, first, t)
		case !etcd.IsFull(err) && etcd.IsRefusal(err) && !doubt:
			return err
		case !etcd.IsFull(err):
			doubt = true
		default:
			there, lost := n.etcd.Do(t.ctx, request.Failure...)
			switch doubt = doubt || lost != nil; {
			case lost == nil && bytes.Equal(there.Value(0), batch):
				return nil
			case !doubt:
				return err
			}
		}
		n.rest(t.ctx, retryPause)
	}
}

// judge returns what a failed comparison means: nil if an earlier attempt has stored the
// batch, and otherwise that another replica leads.
func judge(reply etcd.TxnReply, batch []byte, first uint64, t *term) error {
	there := reply.Value(0)
	if bytes.Equal(there, batch) {
		return nil
	}
	t.end(errDeposed)
	tail, err := readTail(reply.Value(1))
	if there == nil && (err != nil || tail >= first) { // a batch was there and is removed: it may have been ours
		return fmt.Errorf("%w: %w", journal.ErrUnknown, errDeposed)
	}
	return errDeposed
}

// Head returns the hash of the last record.
func (n *Node) Head() journal.Hash { return n.point.Hash }

// Check returns an error if this replica does not lead any more.
func (n *Node) Check() error {
	t := n.leading()
	if t == nil {
		return ErrNotLeader
	}
	return context.Cause(t.ctx)
}

// Close gives up the leadership, so that another replica need not wait for the end of
// the lease, and ends all goroutines of the node.
func (n *Node) Close() error {
	if t := n.leading(); t != nil {
		t.end(errDeposed)
		ctx, cancel := context.WithTimeout(n.life, etcd.Attempt)
		defer cancel()
		if err := n.etcd.Revoke(ctx, t.lease); err != nil {
			n.log.Warn("the leadership could not be given back: another replica waits for the end of its lease", "error", err)
		}
	}
	n.end()
	n.tasks.Wait()
	n.etcd.Close()
	return nil
}
