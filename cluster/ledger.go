package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"wick/cluster/etcd"
)

// Ledger is what the logins of all replicas share: which codes were used, and
// which tokens were revoked. It is an oauth.Ledger. Its keys go with leases, so
// nothing is left behind:
//
//	/wick/<store>/once/<id>            a code or a form that was used
//	/wick/<store>/login/epoch          the present epoch
//	/wick/<store>/login/revoked/<id>   a token that was revoked
//
// Every replica keeps what is below login in memory and is told when it changes.
// What ends while etcd does not answer has ended here at once, and is written as
// soon as etcd does, unless the process ends before.
type Ledger struct {
	node *Node

	mu       sync.Mutex
	epoch    string               // guarded by mu, like all below
	revision int64                // of etcd, at which this replica last changed the epoch: what was read before is old
	revoked  map[string]time.Time // and until when it is kept here, at least
	owed     map[string]time.Time // those of them that are not in etcd yet, and when they end by themselves
	begun    bool                 // the epoch is not in etcd yet
}

// maxRevoked is how many revoked tokens are kept; one more ends the epoch.
const maxRevoked = 500

// leaseSlack is how much longer than asked a key lives: clocks differ.
const leaseSlack = 5 * time.Minute

// OpenLedger reads the ledger, and makes it if there is none.
func (n *Node) OpenLedger(ctx context.Context) (*Ledger, error) {
	l := &Ledger{node: n, revoked: make(map[string]time.Time), owed: make(map[string]time.Time)}
	_, err := l.sync(ctx)
	if !errors.Is(err, errDamage) { // an etcd that has no room can still be read
		return l, err
	}
	key := n.key("login", "epoch")
	err = n.etcd.Call(ctx, "/v3/kv/txn", etcd.Txn{Compare: []etcd.Compare{etcd.IsNew(key)}, Success: []etcd.Operation{etcd.Put(key, []byte(rand.Text()))}}, new(etcd.TxnReply))
	if err == nil {
		_, err = l.sync(ctx)
	}
	return l, err
}

// Run keeps the ledger up to date until ctx ends, and calls changed when it is
// not what it was.
func (l *Ledger) Run(ctx context.Context, changed func()) error {
	bell := l.node.bell(ctx, l.node.key("login"))
	tick := time.NewTicker(5 * pollPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-bell:
		case <-tick.C:
			l.settle(ctx)
		}
		if news, err := l.sync(ctx); err == nil && news { // else the next look tries again; what is known stays
			changed()
		}
	}
}

// settle writes what could not be written before. What fails again is tried again.
func (l *Ledger) settle(ctx context.Context) {
	l.mu.Lock()
	epoch, begun, owed := l.epoch, l.begun, maps.Clone(l.owed)
	l.mu.Unlock()
	if begun && l.begin(ctx, epoch) != nil {
		return
	}
	for id, until := range owed {
		if l.write(ctx, id, until) != nil {
			return
		}
	}
}

// sync reads what is in etcd now, and reports whether more has ended than was
// known here.
func (l *Ledger) sync(ctx context.Context) (news bool, err error) {
	n := l.node
	prefix := n.key("login", "revoked/")
	var reply etcd.TxnReply
	err = n.etcd.Call(ctx, "/v3/kv/txn", etcd.Txn{Success: []etcd.Operation{
		etcd.Get(n.key("login", "epoch")), {Range: &etcd.RangeRequest{Key: prefix, End: etcd.After(prefix), Limit: 2 * maxRevoked}},
	}}, &reply)
	if err != nil {
		return false, err
	}
	epoch := string(reply.Value(0))
	if epoch == "" || len(epoch) > 32 {
		return false, fmt.Errorf("%w: the epoch of the logins is %.40q", errDamage, epoch)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun || reply.Header.Revision < l.revision {
		return false, nil // it is of before the epoch that began here
	}
	if news = epoch != l.epoch; news {
		clear(l.revoked)
	}
	l.epoch = epoch
	now := time.Now()
	maps.DeleteFunc(l.revoked, func(_ string, until time.Time) bool { return now.After(until) })
	for _, kv := range reply.Values(1) {
		id := string(kv.Key[min(len(prefix), len(kv.Key)):])
		news = news || l.revoked[id].IsZero()
		l.revoked[id] = later(l.revoked[id], now.Add(leaseSlack)) // it is read again before that
	}
	return news, nil
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// create puts a key with a lease that ends some time after until. It reports
// whether the key is new.
func (l *Ledger) create(ctx context.Context, key []byte, until time.Time, compares ...etcd.Compare) (bool, error) {
	lease, err := l.node.etcd.Grant(ctx, max(int64((time.Until(until)+leaseSlack)/time.Second), 60))
	if err != nil {
		return false, err
	}
	var reply etcd.TxnReply
	err = l.node.etcd.Once(ctx, "/v3/kv/txn", etcd.Txn{
		Compare: compares, Success: []etcd.Operation{{Put: &etcd.PutRequest{Key: key, Value: []byte("1"), Lease: lease.ID}}},
	}, &reply)
	if err == nil && !reply.Succeeded {
		err = l.node.etcd.Revoke(ctx, lease.ID) // nothing hangs on it
	}
	return reply.Succeeded, err
}

// TakeOnce takes an id, and reports true to exactly one caller at all replicas.
// When the answer is lost nobody has the id: the client logs in again.
func (l *Ledger) TakeOnce(id string, until time.Time) (first bool, err error) {
	ctx, cancel := context.WithTimeout(l.node.life, 2*etcd.Attempt)
	defer cancel()
	key := l.node.key("once", id)
	return l.create(ctx, key, until, etcd.IsNew(key))
}

// Revoke makes Revoked report true for an id, here at once and at the others as
// soon as they hear of it.
func (l *Ledger) Revoke(id string, until time.Time) error {
	l.mu.Lock()
	kept := l.revoked[id]
	l.revoked[id] = later(kept, until.Add(leaseSlack))
	full := len(l.revoked) > maxRevoked
	l.mu.Unlock()
	switch {
	case full:
		return l.NextEpoch()
	case kept.After(until.Add(leaseSlack)) || time.Now().After(until):
		return nil // it stays longer, or has ended by itself
	}
	ctx, cancel := context.WithTimeout(l.node.life, 2*etcd.Attempt)
	defer cancel()
	return l.write(ctx, id, until)
}

// write puts a revoked id into etcd, or notes that it is not there.
func (l *Ledger) write(ctx context.Context, id string, until time.Time) error {
	_, err := l.create(ctx, l.node.key("login", "revoked", id), until)
	l.mu.Lock()
	defer l.mu.Unlock()
	if delete(l.owed, id); err != nil && time.Now().Before(until) {
		l.owed[id] = until
	}
	return err
}

// Revoked reports whether an id was revoked, or an epoch is not the present one.
func (l *Ledger) Revoked(id, epoch string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return epoch != l.epoch || !l.revoked[id].IsZero()
}

// Epoch returns the present epoch, as it was last read from etcd.
func (l *Ledger) Epoch() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch
}

// NextEpoch ends the present epoch at all replicas. What was revoked in it is
// removed: it has ended with the rest.
func (l *Ledger) NextEpoch() error {
	next := rand.Text()
	l.mu.Lock()
	l.epoch, l.begun = next, true
	clear(l.revoked)
	clear(l.owed)
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(l.node.life, 2*etcd.Attempt)
	defer cancel()
	return l.begin(ctx, next)
}

// begin puts an epoch that has begun here into etcd.
func (l *Ledger) begin(ctx context.Context, epoch string) error {
	// With the new epoch no older token works, so what was revoked one by one may be
	// forgotten.
	prefix := l.node.key("login", "revoked/")
	var reply etcd.TxnReply
	err := l.node.etcd.Call(ctx, "/v3/kv/txn", etcd.Txn{Success: []etcd.Operation{
		etcd.Put(l.node.key("login", "epoch"), []byte(epoch)),
		{Delete: &etcd.DeleteRequest{Key: prefix, End: etcd.After(prefix)}},
	}}, &reply)
	if err == nil && !reply.Succeeded {
		err = errors.New("etcd did not begin the next epoch")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && l.epoch == epoch {
		l.begun, l.revision = false, reply.Header.Revision
	}
	return err
}
