// Package cluster keeps the journal of several wicks in etcd, so that the loss of
// a machine loses nothing that was acknowledged. It is used only under --cluster-file.
//
// # Nouns
//
//   - A replica is one wick. All replicas of a store follow the same log: each
//     applies the same records in the same order and so has the same state.
//   - The leader is the replica that may append. It owns the key lead, which etcd
//     removes when a lease of a few seconds ends. A replica that finds no such key may
//     create it, and leads then.
//   - A [Node] is what one replica uses: a [journal.Log] on etcd, the election, and
//     the requests to the leader.
//
// # What is in etcd
//
//	/wick/<store>/lead             who leads: an id and an address
//	/wick/<store>/lead/tail        the sequence of the last record
//	/wick/<store>/log/<sequence>   a batch of records, the frames of a journal file
//	/wick/<store>/snap/<sequence>/<part>   a snapshot, compressed, in parts
//	/wick/<store>/snapshot         which snapshot is the current one
//
// # Why two leaders cannot both write
//
// Append is one transaction for each batch. It stores the batch only if the key lead
// still has the revision at which this replica created it, and if the next sequence is
// not taken. A leader that was paused and replaced fails the first comparison, even if
// it believes that its lease is good. The lease only decides who tries to lead. If the
// answer to a transaction is lost, the transaction is sent again: the second one either
// stores the batch, or fails and shows that the first one has stored it.
//
// # Why there is no bus
//
// Everything that replicas must tell each other is in etcd already, and each of them
// reads it there. Which alerts fired, and how far subscribers have got, are records of
// the log. Which logins have ended is in the [Ledger]. Whether a watched resource has
// changed, each replica sees in its own state. A second way for the same news could be
// ahead of the log or lose some of it, and every reader would have to decide which one
// to believe. What replicas do not share is which client watches which resource: only
// the replica that the client told knows that.
//
// # One term per process
//
// A replica that has lost the leadership does not follow again: its state may have
// steps that were decided and not stored. It answers reads, refuses writes, and ends as
// soon as etcd answers again, so that it is started anew as a follower.
//
// # Security considerations
//
// A program that can write to etcd can change the book, so etcd's port must be guarded
// by TLS with client certificates, and by a user with a password if etcd has users. What
// is read from etcd is bounded. Records and snapshots have checksums, and each record
// has the hash of the one before. Replicas speak to each other over TLS, with a key made from
// a secret that they share; see hop.go.
package cluster

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wick/cluster/etcd"
	"wick/internal/journal"
)

// Options configure a Node.
type Options struct {
	Endpoints []string // URLs of etcd's members
	Store     string   // names the keys of this cluster; letters, digits and dashes

	TLS            *tls.Config // for https; nil means the system's certificates
	User, Password string      // of etcd; empty if it has no users

	Advertise string // address and port at which the other replicas reach this one's Listener
	Secret    []byte // the secret that the replicas share

	// Patience is how long Ask waits for a leader while there is none.
	Patience time.Duration

	Log *slog.Logger // nil discards
}

// DefaultTTL is how long a leader that ended without giving its lease back prevents
// others from leading. etcd grants no lease that is shorter than about two seconds.
const DefaultTTL = 4 * time.Second

// ErrNotLeader reports a write on a replica that follows.
var ErrNotLeader = errors.New("this replica follows: writes are for the leader")

var (
	// errDeposed reports that another replica leads now. A record that was refused with
	// this error is not stored.
	errDeposed = errors.New("another replica leads now: this one does not write any more")
	// errUnreachable reports that no majority of etcd answers.
	errUnreachable = errors.New("no majority of etcd answers: nothing can be written, what is shown may be out of date; try again")
	// errDamage reports that something in etcd cannot be right. To try again would not
	// help.
	errDamage = errors.New("damaged log in etcd")
)

// Bounds of what is kept in etcd. Together it stays below 256 MiB: two snapshots of at
// most maxSnapshot bytes, the batches since the last one, and those between it and the
// one before.
const (
	maxBatch    = 256 << 10 // bytes, after which a batch is complete; a transaction may have 1.5 MB
	pageBatches = 32        // batches that are read at once; fewer if that fails
	dueBytes    = 4 << 20   // bytes of batches, after which a snapshot is due; more if the last one was large
	dueMost     = 32 << 20  // bytes of batches, after which a snapshot is due however large the last one was
	dueBatches  = 20_000    // batches, after which a snapshot is due however small they are
	fullBytes   = 48 << 20  // bytes of batches without a snapshot, after which nothing is accepted
)

// Node is what one replica uses of the cluster. As a [journal.Log] it is used by one
// goroutine at a time; its other methods may be called from many.
type Node struct {
	options Options
	log     *slog.Logger
	etcd    *etcd.Client
	tls     *tls.Config  // by which replicas know each other
	client  *http.Client // for questions to other replicas
	reading atomic.Int64 // bytes of questions that are being read
	id      string       // of this process

	ttl      time.Duration // of the leader's lease: DefaultTTL, except in tests
	dueAfter int64         // bytes of batches: dueBytes, except in tests

	// Owned by the goroutine that reads or appends.
	point   journal.Point // the last record read or appended
	bytes   int64         // bytes of batches since the snapshot
	batches int           // number of batches since the snapshot
	pages   int64         // how many batches are read at once
	snap    snapshotName  // the newest snapshot that is known

	tails  question[uint64] // for Tail
	behind chan struct{}    // rung when the log has more than this replica

	life  context.Context // ends with Close
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu      sync.Mutex
	term    *term              // while this replica leads; guarded by mu, like all below
	leader  leader             // as last read; setLeader sets it
	changed context.Context    // ends when another replica leads, or none
	depose  context.CancelFunc // ends changed
	hurdle  error              // why this replica could not become leader when there was none, or nil
	refused string             // the id of the leader that refused this replica's last question, or empty
	tail    uint64             // the newest sequence in etcd that this replica has heard of
	applied uint64             // the newest sequence that was read or appended here
	heard   time.Time          // when etcd last answered
}

// term is the time in which this replica leads.
type term struct {
	revision int64 // at which it created the key lead
	lease    int64
	ctx      context.Context         // ends when the lease cannot be held
	end      context.CancelCauseFunc // with errDeposed or errUnreachable
}

// leader is the value of the key lead. It names an address and no protocol: a question always
// goes over TLS, whatever is in etcd.
type leader struct {
	ID      string `json:"id"`
	Address string `json:"address"`
}

// New returns a node. It opens no connection before it is used.
func New(o Options) (*Node, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Store == "" || len(o.Store) > 40 || strings.Trim(o.Store, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return nil, fmt.Errorf("store %.80q: letters, digits and dashes, at most 40", o.Store)
	}
	client, err := etcd.New(etcd.Options{Endpoints: o.Endpoints, TLS: o.TLS, User: o.User, Password: o.Password})
	if err != nil {
		return nil, err
	}
	// Only a warning: it works, and an operator may have reasons for it.
	if plain := client.Plain(); len(plain) > 0 {
		o.Log.Warn("etcd is reached without TLS: whoever is on the way can read and change everything", "members", plain)
	}
	replicas, err := replicaTLS(o.Secret)
	if err != nil {
		return nil, err
	}
	var id [8]byte
	rand.Read(id[:]) // never fails
	n := &Node{options: o, log: o.Log, etcd: client, tls: replicas, client: newClient(replicas), id: hex.EncodeToString(id[:]), ttl: DefaultTTL, dueAfter: dueBytes, pages: pageBatches, tails: question[uint64]{turn: make(chan struct{}, 1)}, behind: make(chan struct{}, 1)}
	n.life, n.end = context.WithCancel(context.Background())
	n.changed, n.depose = context.WithCancel(n.life)
	return n, nil
}

// setLeader notes who leads, and ends the questions to the leader before. mu is held.
func (n *Node) setLeader(to leader) {
	if to.ID != n.leader.ID {
		n.depose()
		n.changed, n.depose = context.WithCancel(n.life)
	}
	n.leader = to
}

// key returns the key of a part of the store.
func (n *Node) key(parts ...string) []byte {
	return []byte("/wick/" + n.options.Store + "/" + strings.Join(parts, "/"))
}

// number writes a sequence so that keys sort by it.
func number(seq uint64) string { return fmt.Sprintf("%020d", seq) }

// Status is how a replica is doing.
type Status struct {
	Leads   bool
	Leader  string        // the address of the leader; empty if none is known
	Applied uint64        // the last record that this replica has
	Tail    uint64        // the last that it has heard of
	Silence time.Duration // since etcd last answered
	Refused bool          // the leader has refused the last question of this replica
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
	s := Status{Leads: n.term != nil && n.term.ctx.Err() == nil, Leader: n.leader.Address, Applied: n.applied, Tail: n.tail, Silence: time.Hour, Refused: n.refused != "" && n.refused == n.leader.ID}
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

// note remembers that etcd has answered, up to which record the log is applied here, and
// with which it ends in etcd. Neither number is ever lowered, since answers may come in
// another order than they were sent. If there is more in etcd, it has Follow read it.
func (n *Node) note(applied, tail uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard = time.Now()
	if n.applied, n.tail = max(n.applied, applied), max(n.tail, tail); n.applied < n.tail {
		select {
		case n.behind <- struct{}{}:
		default: // it was rung already
		}
	}
}
