package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"wick/cluster/etcd"
	"wick/internal/journal"
)

// pollPeriod is how often a replica reads etcd. A reader who asks for more than that waits for
// no period: see Tail.
const pollPeriod = 200 * time.Millisecond

// Follow applies to s what the leader appends, until this replica leads itself. It then
// returns a context that ends when this replica leads no longer. The caller must read
// the log once more before it appends, because the leader before may have written until
// the last moment. If ctx ends first, Follow returns its error.
func (n *Node) Follow(ctx context.Context, s journal.State) (lead context.Context, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tick := time.NewTicker(pollPeriod)
	defer tick.Stop()
	reachable := true
	for {
		err := n.catchUp(ctx, s)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errDamage):
			return nil, err
		case (err == nil) != reachable:
			if reachable = err == nil; reachable {
				n.log.Info("etcd answers again")
			} else {
				n.log.Warn("etcd does not answer", "error", err)
			}
		}
		// Only a replica that has everything tries to lead.
		if err == nil && n.vacant() {
			t, err := n.campaign(ctx)
			n.noteHurdle(err)
			if t != nil {
				return t.ctx, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-n.behind:
		case <-tick.C:
		}
	}
}

// noteHurdle notes why this replica cannot lead, for the errors of askOnce. It logs a
// reason that is not the same as before.
func (n *Node) noteHurdle(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil && (n.hurdle == nil || n.hurdle.Error() != err.Error()) {
		n.log.Warn("no leader, and this replica cannot become it", "error", err)
	}
	n.hurdle = err
}

// vacant reports whether there was no leader when etcd was last read.
func (n *Node) vacant() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.leader.ID == ""
}

// campaign tries to create the key lead. It returns nil if another replica was
// quicker.
func (n *Node) campaign(ctx context.Context) (*term, error) {
	self := leader{n.id, n.options.Advertise}
	text, _ := json.Marshal(self) // texts can always be encoded
	// The lease counts here from before the request, so that it ends here no later than
	// in etcd.
	asked := time.Now()
	lease, err := n.etcd.Grant(ctx, int64(n.ttl/time.Second))
	if err != nil {
		return nil, err
	}
	key := n.key("lead")
	reply, err := n.etcd.Once(ctx, etcd.Txn{
		Compare: []etcd.Compare{etcd.IsNew(key)},
		Success: []etcd.Operation{{Put: &etcd.PutRequest{Key: key, Value: text, Lease: lease.ID}}},
	})
	if err != nil || !reply.Succeeded {
		return nil, errors.Join(err, n.etcd.Revoke(ctx, lease.ID)) // this also removes the key, if it was created after all
	}
	// Every later write compares this revision, and so fails once another replica leads.
	t := &term{revision: reply.Header.Revision, lease: lease.ID}
	t.ctx, t.end = context.WithCancelCause(n.life)
	n.mu.Lock()
	n.term = t
	n.setLeader(self)
	n.mu.Unlock()
	n.tasks.Go(func() { n.hold(t, asked.Add(time.Duration(lease.TTL)*time.Second)) })
	n.log.Info("this replica leads", "record", n.point.Seq)
	return t, nil
}

// hold keeps the lease of a term alive. If it cannot do so by the time at which the lease
// may have ended, it ends the term. That is not what protects the log, which is the
// comparison in every transaction: it only stops a replica that cannot write any more
// from believing that it leads.
func (n *Node) hold(t *term, until time.Time) {
	tick := time.NewTicker(n.ttl / 4)
	defer tick.Stop()
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-tick.C:
		}
		// The lease counts from before the request, as in campaign.
		asked := time.Now()
		left, err := n.etcd.KeepAlive(t.ctx, t.lease)
		switch {
		case err == nil && left == 0:
			t.end(errDeposed)
			n.log.Warn("this replica leads no more: its lease has ended")
			return
		case err == nil:
			until = asked.Add(left)
			n.note(0, 0)
		case time.Now().After(until):
			t.end(errUnreachable)
			n.log.Warn("this replica leads no more: its lease cannot be held", "error", err)
			return
		}
	}
}

// Tail returns the sequence of the last record that any replica had appended when Tail
// was called, or of a later one. It asks a majority of etcd. If this replica does not have that
// record, it reads the log at once.
func (n *Node) Tail(ctx context.Context) (uint64, error) {
	return n.tails.ask(ctx, func() (tail uint64, err error) {
		ctx, cancel := context.WithTimeout(n.life, etcd.Attempt)
		defer cancel()
		reply, err := n.etcd.Do(ctx, etcd.Get(n.key("lead", "tail")))
		if err != nil {
			return 0, fmt.Errorf("%w (%w)", errUnreachable, err)
		}
		if tail, err = readTail(reply.Value(0)); err == nil {
			n.note(0, tail)
		}
		return tail, err
	})
}

// question is a request to etcd that many callers make at the same time. The answer to one
// that is under way may be older than a call, so callers that come meanwhile share the next.
type question[T any] struct {
	turn  chan struct{} // has room for one: whoever has put something into it may send, and owns what follows
	sent  atomic.Uint64 // requests so far
	value T             // the answer to the newest
	err   error
}

// errNotAsked is the answer to a request that did not end, because it panicked.
var errNotAsked = errors.New("etcd was not asked")

// ask returns what send returns, called after ask was, by this caller or by one that waited
// with it. If ctx ends while ask waits for others, ask returns its error; how long send takes
// is send's concern.
func (q *question[T]) ask(ctx context.Context, send func() (T, error)) (none T, err error) {
	before := q.sent.Load()
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case q.turn <- struct{}{}:
	}
	defer func() { <-q.turn }()
	if q.sent.CompareAndSwap(before, before+1) { // otherwise another request was sent since
		q.err = errNotAsked
		q.value, q.err = send()
	}
	return q.value, q.err
}
