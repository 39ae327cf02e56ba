// Package cluster keeps the journal of several wicks in etcd, so that the loss of
// a machine loses nothing that was acknowledged. It is used only under --cluster.
//
// # Nouns
//
//   - A replica is one wick. All replicas of a store follow the same log: each
//     applies the same records in the same order and so has the same state.
//   - The leader is the replica that may append. It holds the key lead, which
//     goes with a lease of a few seconds; who finds the key absent may create it.
//   - A [Node] is a replica's end of it: a [journal.Log] on etcd, with the
//     election and the way to the leader.
//
// # What is in etcd
//
//	/wick/<store>/lead             who leads: an id and an address
//	/wick/<store>/lead/tail        the sequence of the last record
//	/wick/<store>/log/<sequence>   a batch of records, the frames of a journal file
//	/wick/<store>/snap/<sequence>/<part>   a snapshot, compressed, in parts
//	/wick/<store>/snapshot         which of them counts
//
// # Why two leaders cannot both write
//
// Append is one transaction: it compares the revision at which this replica
// created lead, and that the next sequence is not taken, and only then puts. A
// leader that was paused and replaced fails the first comparison, whatever it
// believes about its lease. The lease decides who tries, and nothing else. When
// the answer of a transaction is lost it is sent again: the second one either
// stores the batch, or fails and shows that the first has.
//
// # Why there is no bus
//
// All that replicas must tell each other is in etcd already, and each of them looks
// there: what fired, and how far subscribers have got, are records of the log; which
// logins have ended is in the [Ledger]; whether a watched resource has changed each
// replica sees in its own state. A second path for the same news could be ahead of
// the log or lose some of it, and every reader would have to decide which to
// believe. What has no path is what only hints: that a client watches a resource is
// known to the replica that it told.
//
// # One term per process
//
// A replica that has led and lost it does not follow again: its state holds steps
// that were decided and not stored. It answers reads, refuses writes, and ends as
// soon as etcd answers again, to be started anew as a follower.
//
// # Security considerations
//
// Whoever can write to etcd can change the book, so etcd's port is guarded by TLS
// with client certificates, and by a user with a password if it has users. What
// comes from it is bounded, and records and snapshots have checksums and hashes
// that must follow each other. Replicas speak to each other in messages sealed
// with the secret of the cluster's file; see hop.go.
package cluster

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"wick/cluster/etcd"
	"wick/journal"
)

// Options configure a Node.
type Options struct {
	Endpoints []string // URLs of etcd's members
	Store     string   // names the keys of this cluster; letters, digits and dashes

	TLS            *tls.Config // for https; nil means the system's certificates
	User, Password string      // of etcd; empty if it has no users

	Advertise string // URL at which the other replicas reach this one's Handler
	Secret    []byte // that the replicas share

	// Patience is how long Ask waits for a leader while there is none.
	Patience time.Duration

	Log *slog.Logger // nil discards
}

// DefaultTTL is how long a leader that went without a goodbye keeps others from
// leading. etcd grants no lease that is shorter than about two seconds.
const DefaultTTL = 4 * time.Second

// ErrNotLeader reports a write on a replica that follows.
var ErrNotLeader = errors.New("this replica follows: writes are for the leader")

var (
	// errDeposed reports that another replica leads now. What was refused with it
	// is not stored.
	errDeposed = errors.New("another replica leads now: this one does not write any more")
	// errUnreachable reports that no majority of etcd answers.
	errUnreachable = errors.New("no majority of etcd answers: nothing can be written, what is shown may be out of date; try again")
	// errDamage marks what is in etcd and cannot be right: another try would not help.
	errDamage = errors.New("damaged log in etcd")
)

// Bounds of what is kept in etcd, which together stay below 256 MiB: two
// snapshots of at most maxSnapshot bytes, the batches since the last one and those
// between it and the one before.
const (
	maxBatch    = 256 << 10 // bytes of a batch, beyond which the next begins; a transaction may have 1.5 MB
	pageBatches = 32        // batches that are read at once; fewer where that takes too long
	dueBytes    = 4 << 20   // of batches, after which a snapshot is due; more if the last one was large
	dueMost     = 32 << 20
	dueBatches  = 20_000   // after which one is due however small they are
	fullBytes   = 48 << 20 // of batches without a snapshot, after which nothing more is taken
)

// Node is one replica's end of the log. As a [journal.Log] it is used by one
// goroutine at a time; its other methods may be called from many.
type Node struct {
	options Options
	log     *slog.Logger
	etcd    *etcd.Client
	sealer  *sealer
	id      string // of this process

	ttl      time.Duration // of the leader's lease: DefaultTTL but in tests
	dueAfter int64         // bytes of batches: dueBytes but in tests

	// Owned by whoever reads or appends.
	point   journal.Point // the last record read or appended
	bytes   int64         // of batches since the snapshot
	batches int           // since the snapshot
	pages   int64         // how many of them are read at once
	snap    snapshotName  // the newest that is known

	life  context.Context // ends with Close
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu      sync.Mutex
	term    *term     // while this replica leads; guarded by mu, like all below
	leader  leader    // as last read
	hurdle  error     // why this replica could not become it when there was none, or nil
	tail    uint64    // the newest sequence that was heard of
	applied uint64    // the newest that was read or appended
	heard   time.Time // when etcd last answered
	asking  *question // the look at the tail that is under way, or nil
	next    *question // the one after it
}

// term is the time in which this replica leads.
type term struct {
	revision int64 // at which it created the key lead
	lease    int64
	ctx      context.Context // ends when the lease cannot be held
	end      context.CancelFunc
}

// leader is the value of the key lead.
type leader struct {
	ID  string `json:"id"`
	URL string `json:"url"`
}

// question is one look at the tail, which all who came before it began share.
type question struct {
	done chan struct{}
	tail uint64
	err  error
}

// New returns a node. It opens no connection before it is used.
func New(o Options) (*Node, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if !nameOK(o.Store) {
		return nil, fmt.Errorf("store %.80q: letters, digits and dashes, at most 40", o.Store)
	}
	client, err := etcd.New(etcd.Options{Endpoints: o.Endpoints, TLS: o.TLS, User: o.User, Password: o.Password})
	if err != nil {
		return nil, err
	}
	// It works, and an operator may have reasons; it is told at every start.
	if plain := client.Plain(); len(plain) > 0 {
		o.Log.Warn("etcd is reached without TLS: whoever is on the way can read and change everything", "members", plain)
	}
	sealer, err := newSealer(o.Secret)
	if err != nil {
		return nil, err
	}
	var id [8]byte
	rand.Read(id[:]) // never fails
	n := &Node{options: o, log: o.Log, etcd: client, sealer: sealer, id: hex.EncodeToString(id[:]), ttl: DefaultTTL, dueAfter: dueBytes, pages: pageBatches}
	n.life, n.end = context.WithCancel(context.Background())
	return n, nil
}

// nameOK reports whether a store may be called so.
func nameOK(name string) bool {
	return name != "" && len(name) <= 40 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

// key returns the key of a part of the store.
func (n *Node) key(parts ...string) []byte {
	return []byte("/wick/" + n.options.Store + "/" + strings.Join(parts, "/"))
}

// number writes a sequence so that keys sort by it.
func number(seq uint64) string { return fmt.Sprintf("%020d", seq) }

// Status is how a replica is doing.
type Status struct {
	Leads   bool          `json:"leads"`
	Leader  string        `json:"leader"`  // the address of the leader; empty if none is known
	Applied uint64        `json:"applied"` // the last record that this replica has
	Tail    uint64        `json:"tail"`    // the last that it has heard of
	Silence time.Duration `json:"-"`       // since etcd last answered
}

// Lag returns how many records this replica has heard of and not applied.
func (s Status) Lag() uint64 { return max(s.Tail, s.Applied) - s.Applied }

// Reachable reports whether etcd has answered lately.
func (s Status) Reachable() bool { return s.Silence < silence }

// silence is how long etcd may give no answer before it counts as unreachable.
const silence = 3 * time.Second

// Status returns how this replica is doing.
func (n *Node) Status() Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := Status{Leads: n.term != nil && n.term.ctx.Err() == nil, Leader: n.leader.URL, Applied: n.applied, Tail: n.tail, Silence: time.Hour}
	if !n.heard.IsZero() {
		s.Silence = time.Since(n.heard)
	}
	return s
}

// leading returns the term that this replica leads, nil while it follows.
func (n *Node) leading() *term {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.term
}

// note remembers that etcd has answered, and how far the log was applied here and goes
// there. Neither number falls: answers may overtake each other.
func (n *Node) note(applied, tail uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard = time.Now()
	n.applied, n.tail = max(n.applied, applied), max(n.tail, tail)
}

// bell returns a channel that gets a value whenever a key that begins with prefix
// changes, until ctx ends. Changes that nobody has heard of yet are one value.
func (n *Node) bell(ctx context.Context, prefix []byte) <-chan struct{} {
	bell := make(chan struct{}, 1)
	n.tasks.Go(func() {
		n.etcd.Watch(ctx, prefix, func() {
			select {
			case bell <- struct{}{}:
			default:
			}
		})
	})
	return bell
}
