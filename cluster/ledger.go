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

// Ledger is what the logins of all replicas share: which codes were used, and which
// tokens were revoked. It is an oauth.Ledger. Keys of codes and tokens have leases, so
// that etcd removes them when they are no longer needed:
//
//	/wick/<store>/once/<id>            a code or a form that was used
//	/wick/<store>/login/epoch          the present epoch
//	/wick/<store>/login/revoked/<id>   a token that was revoked
//
// Every replica keeps what is below login in memory, and reads it each pollPeriod. If a login is ended while etcd does not answer, it ends at this replica at
// once, and at the others when etcd answers again. If this process stops before that, the
// others never learn of it.
type Ledger struct {
	node *Node

	mu       sync.Mutex
	epoch    string               // guarded by mu, like all below
	revision int64                // etcd's revision of what is known: what was read at an earlier one is out of date
	revoked  map[string]time.Time // revoked tokens, and until when at least they are kept here
	owed     map[string]time.Time // revoked tokens that are not in etcd yet, and when they expire
	begun    bool                 // the epoch began here and is not in etcd yet
	news     bool                 // logins have ended at another replica since Run last called changed

	syncs question[struct{}] // for Confirm
}

// maxRevoked is how many revoked tokens are kept. One more ends the epoch, and with it
// all logins.
const maxRevoked = 500

// leaseSlack is how much longer than needed a key is kept, because clocks differ.
const leaseSlack = 5 * time.Minute

// OpenLedger reads the ledger, and makes it if there is none.
func (n *Node) OpenLedger(ctx context.Context) (*Ledger, error) {
	l := &Ledger{node: n, revoked: make(map[string]time.Time), owed: make(map[string]time.Time), syncs: question[struct{}]{turn: make(chan struct{}, 1)}}
	defer l.hasNews() // all of it is, and nobody has logged in here yet
	err := l.sync(ctx)
	// Write only if there is no ledger yet: an etcd that has no room can still be read.
	if !errors.Is(err, errDamage) {
		return l, err
	}
	key := n.key("login", "epoch")
	if _, err = n.etcd.PutIf(ctx, etcd.IsNew(key), key, []byte(rand.Text())); err == nil {
		err = l.sync(ctx)
	}
	return l, err
}

// Run keeps the ledger up to date until ctx ends, and calls changed when another replica
// has ended logins.
func (l *Ledger) Run(ctx context.Context, changed func()) error {
	tick := time.NewTicker(pollPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			l.settle(ctx)
		}
		// After an error what is known stays, and the next round tries again.
		if err := l.sync(ctx); err == nil && l.hasNews() {
			changed()
		}
	}
}

// hasNews reports whether logins have ended that this replica did not know of, once.
func (l *Ledger) hasNews() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	news := l.news
	l.news = false
	return news
}

// Confirm asks a majority of etcd which logins have ended: after it, Revoked knows of
// every one whose end was acknowledged at any replica before the call.
func (l *Ledger) Confirm() error {
	_, err := l.syncs.ask(l.node.life, func() (struct{}, error) {
		ctx, cancel := context.WithTimeout(l.node.life, 2*etcd.Attempt)
		defer cancel()
		return struct{}{}, l.sync(ctx)
	})
	return err
}

// settle writes to etcd what could not be written before. What fails again is tried in
// the next round.
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

// sync reads what is in etcd now, and sets news if logins have ended that this replica
// did not know of.
func (l *Ledger) sync(ctx context.Context) error {
	n := l.node
	prefix := n.key("login", "revoked/")
	reply, err := n.etcd.Do(ctx, etcd.Get(n.key("login", "epoch")),
		etcd.Operation{Range: &etcd.RangeRequest{Key: prefix, End: etcd.After(prefix), Limit: 2 * maxRevoked}})
	if err != nil {
		return err
	}
	epoch := string(reply.Value(0))
	if epoch == "" || len(epoch) > 32 {
		return fmt.Errorf("%w: the epoch of the logins is %.40q", errDamage, epoch)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun || reply.Header.Revision < l.revision {
		return nil // this was read before the epoch that began here was in etcd, or before what is known
	}
	if epoch != l.epoch {
		l.news = true
		clear(l.revoked)
	}
	l.epoch, l.revision = epoch, reply.Header.Revision
	now := time.Now()
	maps.DeleteFunc(l.revoked, func(_ string, until time.Time) bool { return now.After(until) })
	for _, kv := range reply.Values(1) {
		id := string(kv.Key[min(len(prefix), len(kv.Key)):])
		l.news = l.news || l.revoked[id].IsZero()
		l.revoked[id] = later(l.revoked[id], now.Add(leaseSlack)) // the next sync, well before that, extends it
	}
	return nil
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// create puts a key with a lease that ends leaseSlack after until, if the comparisons
// hold. It reports whether they did.
func (l *Ledger) create(ctx context.Context, key []byte, until time.Time, compares ...etcd.Compare) (bool, error) {
	lease, err := l.node.etcd.Grant(ctx, max(int64((time.Until(until)+leaseSlack)/time.Second), 60))
	if err != nil {
		return false, err
	}
	reply, err := l.node.etcd.Once(ctx, etcd.Txn{
		Compare: compares, Success: []etcd.Operation{{Put: &etcd.PutRequest{Key: key, Value: []byte("1"), Lease: lease.ID}}},
	})
	if err == nil && !reply.Succeeded {
		err = l.node.etcd.Revoke(ctx, lease.ID) // no key uses it
	}
	return reply.Succeeded, err
}

// TakeOnce takes an id, and returns true to at most one caller at all replicas. If
// etcd's answer is lost no caller gets the id, and the client has to log in again.
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
		return nil // it is kept for longer already, or the token has expired
	}
	ctx, cancel := context.WithTimeout(l.node.life, 2*etcd.Attempt)
	defer cancel()
	return l.write(ctx, id, until)
}

// write puts a revoked id into etcd. If that fails it notes the id in owed.
func (l *Ledger) write(ctx context.Context, id string, until time.Time) error {
	_, err := l.create(ctx, l.node.key("login", "revoked", id), until)
	l.mu.Lock()
	defer l.mu.Unlock()
	if delete(l.owed, id); err != nil && time.Now().Before(until) {
		l.owed[id] = until
	}
	return err
}

// Revoked reports whether an id was revoked, or whether epoch is not the present one.
func (l *Ledger) Revoked(id, epoch string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return epoch != l.epoch || !l.revoked[id].IsZero()
}

// Epoch returns the present epoch, as it was last read from etcd or began here.
func (l *Ledger) Epoch() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch
}

// NextEpoch ends the present epoch, and with it all logins, at all replicas. The list of
// revoked tokens is emptied, because no older token works any more.
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

// begin puts an epoch that has begun here into etcd, and removes the revoked tokens.
func (l *Ledger) begin(ctx context.Context, epoch string) error {
	prefix := l.node.key("login", "revoked/")
	reply, err := l.node.etcd.Do(ctx, etcd.Put(l.node.key("login", "epoch"), []byte(epoch)),
		etcd.Operation{Delete: &etcd.DeleteRequest{Key: prefix, End: etcd.After(prefix)}})
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
