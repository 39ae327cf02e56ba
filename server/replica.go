//go:build !core

package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/cluster"
	"wick/internal/journal"
	"wick/internal/metrics"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/notify"
	"wick/oauth"
	"wick/permit"
	"wick/sse"
	"wick/trade"
	"wick/trade/book"
)

// replica is what --cluster-file adds: this process is one of several on one journal. One of
// them leads: it alone writes, sends messages and decides which alerts fire. The others
// follow its log, answer requests that only read, and pass those that write to the leader.
// A replica that loses the lead ends, because what it had under way may not be what the
// next leader finds.
type replica struct {
	app      *app
	node     *cluster.Node
	listener net.Listener    // for the questions of the others
	ledger   *cluster.Ledger // of the logins of all replicas

	writers map[string]mcp.Handler // the handlers of the tools that change something, by name; set before anyone is served

	led  chan struct{}   // closed when this process begins to lead
	term context.Context // ends when this process leads no more; set before led is closed

	passed atomic.Uint64 // calls that were passed to the leader
}

// maxReplicaConns bounds the connections to another replica, as listenFew does. There are
// a few replicas, and each keeps up to 64 connections for its questions. When there is no
// room for a connection, the oldest is closed.
const maxReplicaConns = 512

func (r *replica) whileLeading(ctx context.Context, run func(ctx context.Context) error) error {
	select {
	case <-ctx.Done():
		return nil
	case <-r.led:
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.term, cancel)()
	return run(ctx)
}

// run answers the questions of the other replicas and keeps the ledger up to date until ctx
// ends. Logins that were revoked at another replica lose their streams at this one.
func (r *replica) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return serveHTTP(ctx, r.server(), r.node.Listener(r.listener)) })
	g.Go(func() error { return r.ledger.Run(ctx, func() { r.app.login.Sweep() }) })
	return g.Wait()
}

// close ends the connection to etcd, and whatever waits for it.
func (r *replica) close() { r.node.Close() }

func (r *replica) openLedger() (_ oauth.Ledger, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r.ledger, err = r.node.OpenLedger(ctx)
	return r.ledger, err
}

// leads reports whether this process writes. A process that has just won the election
// does not write yet: it first reads what the previous leader has left.
func (r *replica) leads() bool {
	select {
	case <-r.led:
		return r.node.Status().Leads
	default:
		return false
	}
}

// What a follower asks of the leader, in addition to what the engine asks.
const (
	askTool = "tool" // run a tool: a toolCall
	askTell = "tell" // tell the owner: a notify.Event
)

// toolCall is a call that is passed to the leader: the client's own, with its own token,
// which the leader judges like any other.
type toolCall struct {
	Tool      string          `json:"tool"`
	Token     string          `json:"token"`
	From      netip.Addr      `json:"from"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// toolReply is the outcome of a toolCall.
type toolReply struct {
	Content []mcp.Content `json:"content"`
	IsError bool          `json:"is_error"`
	Failure string        `json:"failure,omitempty"` // the handler's error
	Code    int           `json:"code,omitempty"`    // of a JSON-RPC error
}

// atLeader returns the handler of a tool that writes: it runs the tool here if this process
// leads, else it has the leader run it. Before each write the leader asks whether the login
// has ended at any replica: what it or the one that passes the call on remembers may be out of
// date.
func (r *replica) atLeader(name string, handle mcp.Handler) mcp.Handler {
	return func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
		switch leads := r.leads(); {
		case !leads && c.Caller.Token == "":
			return nil, errors.New("nothing was done: another replica leads, and a host that attaches has no login to pass on; connect over HTTP, or attach to the leader")
		case !leads:
			from, _ := netip.ParseAddr(c.Caller.Address) // zero if there is none
			return r.pass(ctx, toolCall{Tool: name, Token: c.Caller.Token, From: from, Arguments: c.Arguments})
		case c.Caller.ID == tools.StdioCaller.ID: // an attached host has no login
			return handle(ctx, c)
		}
		if err := r.hear(); err != nil {
			return nil, err
		}
		if !r.app.login.Works(c.Caller.Login) {
			return nil, fmt.Errorf("nothing was done: %w", oauth.ErrInvalidToken)
		}
		return handle(ctx, c)
	}
}

// hear asks a majority of etcd.
func (r *replica) hear() error {
	if err := r.ledger.Confirm(); err != nil {
		return fmt.Errorf("nothing was done, since this replica could not ask etcd which logins have ended: %w", err)
	}
	return nil
}

// confirmed returns the handler of a tool that reads: it first waits until etcd confirms
// that this replica is up to date. Meanwhile a cheap one holds nothing but its connection,
// and any other one of the many slots for calls that wait. A read that cannot be
// confirmed is still answered, with a note that it may be out of date.
func confirmed(engine *trade.Engine, handle mcp.Handler) mcp.Handler {
	return func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
		note := outdated(ctx, engine)
		result, err := handle(ctx, c)
		if note == "" {
			return result, err
		}
		if err != nil { // "there is no such order" may be out of date too
			return nil, fmt.Errorf("%w\n%s", err, note)
		}
		result.Content = append(result.Content, mcp.Content{Text: []byte(note)})
		return result, nil
	}
}

// pass has the leader run a tool.
func (r *replica) pass(ctx context.Context, c toolCall) (*mcp.Result, error) {
	if !r.node.Status().Reachable() {
		return nil, errors.New("etcd does not answer, so this replica cannot know which logins have ended: nothing was done; try again, or at another replica")
	}
	r.passed.Add(1)
	// Ask waits for a leader about as long as an election takes. Its error says that nothing
	// was done, or that it is not known: an order can then be sent again with the same
	// client_order_id, and is placed only once. If the leader has changed, the next one's log
	// says whether it was done, and so does its answer to a call that has such an id.
	var reply toolReply
	var ids struct {
		Order string `json:"client_order_id"`
		Alert string `json:"client_alert_id"`
	}
	err := r.node.Ask(ctx, askTool, c, &reply)
	if errors.Is(err, cluster.ErrLeaderChanged) && json.Unmarshal(c.Arguments, &ids) == nil && ids.Order+ids.Alert != "" {
		// That the second time nothing was done says nothing of the first.
		if again := r.node.Ask(ctx, askTool, c, &reply); again == nil || errors.Is(again, journal.ErrUnknown) {
			err = again
		}
	}
	// What the tool returned at the leader becomes the same here: an error of the protocol,
	// a refusal in words, or a result.
	switch {
	case errors.Is(err, journal.ErrUnknown):
		return nil, fmt.Errorf("%w; an order only with the same client_order_id", err)
	case err != nil:
		return nil, err
	case reply.Code != 0:
		return nil, &mcp.Error{Code: reply.Code, Message: reply.Failure}
	case reply.Failure != "":
		return nil, errors.New(reply.Failure)
	}
	return &mcp.Result{Content: reply.Content, IsError: reply.IsError}, nil
}

// call runs a tool for a caller of another replica. The error of a tool is passed on in the
// reply; only what keeps a tool from running is an error.
func (r *replica) call(ctx context.Context, c toolCall) (*toolReply, error) {
	if err := r.hear(); err != nil {
		return nil, err
	}
	grant, err := r.app.login.Present(c.Token, c.From)
	if err != nil {
		return nil, fmt.Errorf("nothing was done: %w", err)
	}
	caller := callerOf(grant, permit.Replica, c.From)
	if _, err := r.app.gate.May(ctx, tools.AskingAs(caller), permit.Action{Name: c.Tool}, nil); err != nil {
		return nil, err
	}
	handle := r.writers[c.Tool]
	if handle == nil {
		return nil, fmt.Errorf("no tool %.40q to pass on", c.Tool)
	}
	result, err := handle(ctx, mcp.Call{Caller: caller, Arguments: c.Arguments})
	if err == nil {
		return &toolReply{Content: result.Content, IsError: result.IsError}, nil
	}
	reply := &toolReply{Failure: err.Error()}
	if protocol := (*mcp.Error)(nil); errors.As(err, &protocol) {
		reply.Code = protocol.Code
	}
	return reply, nil
}

// meter adds the numbers of a replica.
func (r *replica) meter(m *metrics.Registry) {
	m.Gauge("wick_cluster_leads", "1 when this replica leads.", func() float64 { return oneIf(r.node.Status().Leads) })
	m.Gauge("wick_cluster_leader_known", "1 when this replica knows a leader.", func() float64 { return oneIf(r.node.Status().Leader != "") })
	m.Gauge("wick_cluster_lag_records", "Records that this replica has heard of and not applied.", func() float64 { return float64(r.node.Status().Lag()) })
	m.Gauge("wick_cluster_etcd_silence_seconds", "Time since etcd last answered.", func() float64 { return r.node.Status().Silence.Seconds() })
	m.Total("wick_cluster_passed_total", "Calls that were passed to the leader.", func() float64 { return float64(r.passed.Load()) })
}

// maxLag is how many records a replica may be behind and still be ready.
const maxLag = 10_000

// ready says whether this process should get requests. It should even if no majority of
// etcd answers, because charts and reads still work. If strict is set it should not then:
// that is for monitoring that wakes people.
func (r *replica) ready(strict bool) readiness {
	s := r.node.Status()
	known, lag, reachable := s.Leader != "", s.Lag(), s.Reachable()
	doc := readiness{Ready: true, Role: "follower", Leader: &known, Lag: &lag, Etcd: &reachable}
	not := func(reason string) { doc.Ready, doc.Reason = false, reason }
	if r.leads() {
		doc.Role = "leader"
	} else if broken, _ := r.app.trade.Broken(); broken != nil {
		// A replica that has led cannot follow again: it ends. Until etcd answers it stays
		// ready, because it can still answer reads.
		doc.Role, doc.Ready, doc.Reason = "deposed", !reachable && !strict, "this replica has led and ends as soon as etcd answers"
	}
	switch {
	case reachable && lag > maxLag:
		not("this replica is far behind")
	case !strict || doc.Role == "deposed" && !reachable: // that etcd was not heard of for a while is no news of etcd
	case !reachable:
		not("no majority of etcd answers: nothing can be written")
	case !known:
		not("no replica leads")
	case doc.Ready && s.Refused:
		not("the leader refuses this replica: the log says why")
	}
	return doc
}

// openReplica makes this process a replica if c asks for it: it listens for the others,
// connects to etcd and sets the parts of the engine's options that are about sharing
// the journal. The engine begins to follow when it is opened.
func (e *app) openReplica(o *trade.Options) error {
	c := e.config
	if !c.clustered() {
		return nil
	}
	ln, err := listenFew("--cluster-file: listen", c.cluster.listen, maxReplicaConns)
	if err != nil {
		return err
	}
	c.cluster.Advertise = ln.Addr().String()
	node, err := c.node(o.Log)
	if err != nil {
		ln.Close()
		return err
	}
	r := &replica{app: e, node: node, listener: ln, writers: make(map[string]mcp.Handler), led: make(chan struct{})}
	e.replica = r
	// Leading is called once: a replica that loses the lead ends and is started anew.
	o.Shared, o.Leading = node, func(term context.Context) {
		r.term = term
		close(r.led)
	}
	return nil
}

// wrap makes the tools and resources of the account work on every replica: the
// leader runs those that change something, and those that read first wait until this
// replica has everything that was acknowledged anywhere.
func (r *replica) wrap(all []mcp.Tool, resources []mcp.Resource) {
	for i := range all {
		switch t := &all[i]; {
		case permit.Needs(t.Name) == permit.Charts:
		case t.Annotations.ReadOnly:
			t.Handle = confirmed(r.app.trade, t.Handle)
			if t.Cost == mcp.Normal {
				t.Cost = mcp.Waiting // for etcd
			}
		default:
			t.Cost = mcp.Waiting         // for the leader
			r.writers[t.Name] = t.Handle // for calls that others pass on
			t.Handle = r.atLeader(t.Name, t.Handle)
		}
	}
	for i := range resources {
		// What shows nothing of the account is the same on every replica and needs no
		// confirmation. A chart shows the account to those who may trade.
		if resource := &resources[i]; permit.Needs(resource.URI) == permit.Read || resource.Name == "chart" {
			read := resource.Read
			resource.Read = func(ctx context.Context, reading mcp.Reading) ([]mcp.Content, error) {
				// Unlike a tool's result, this is a document for programs, which would not
				// see a note that it may be out of date.
				var stale error
				if r.app.may(ctx, reading.Caller, "get_positions") == nil {
					reading.Aside(func() { stale = r.app.trade.Confirm(ctx) })
				}
				if stale != nil {
					return nil, stale
				}
				return read(ctx, reading)
			}
		}
	}
}

// server returns the HTTP server that answers the questions of other replicas.
func (r *replica) server() *http.Server {
	srv := bounded(r.node.Handler(r.answer))
	srv.IdleTimeout *= 2
	srv.ErrorLog = slog.NewLogLogger(r.app.logs.part("wick").Handler(), slog.LevelDebug) // the handshakes of strangers
	return srv
}

// answer does what another replica asks for: op, with the arguments in. Only the leader
// does so; any other replica returns ErrNotLeader, and the one that asked looks for the
// leader again. The node has authenticated the replica that asks; a call of a client comes
// with the client's own token.
func (r *replica) answer(ctx context.Context, op string, in json.RawMessage) (any, error) {
	e := r.app
	if !r.leads() {
		return nil, cluster.ErrNotLeader
	}
	if op == askTool {
		return asked(in, func(c toolCall) (any, error) { return r.call(ctx, c) })
	}
	peer := permit.Caller{Name: "replica", Door: permit.Replica, Scopes: permit.Scopes{permit.Peer, permit.Owner}}
	if _, err := e.gate.May(ctx, peer, permit.Action{Name: op}, nil); err != nil {
		return nil, fmt.Errorf("this replica may be of another version: %w", err)
	}
	switch op {
	case askTell:
		return asked(in, func(event notify.Event) (any, error) {
			if m, ok := e.messages.(*messenger); ok {
				m.Tell(event)
			}
			return nil, nil
		})
	case trade.AskClaim:
		return asked(in, func(c sse.Caller) (any, error) { return nil, e.trade.Claim(c) })
	case trade.AskMarks:
		return asked(in, func(marks map[string]uint64) (any, error) { return nil, e.trade.Mark(marks) })
	case trade.AskHalt:
		return asked(in, func(halt bool) (any, error) { return nil, e.trade.SetHalt(halt) })
	case trade.AskCancel:
		return asked(in, func(who book.Who) (any, error) { return nil, e.trade.CancelEverything(ctx, who) })
	}
	return nil, fmt.Errorf("this replica does not know how to %.20q: it is of another version", op)
}

// asked decodes the arguments of a question and calls do with them.
func asked[T any](in json.RawMessage, do func(T) (any, error)) (any, error) {
	var v T
	if err := json.Unmarshal(in, &v); err != nil {
		return nil, err
	}
	return do(v)
}

// clusterConfig is what the lines of --cluster-file say, which docs/cluster.md explains.
// Without members of etcd this is a process by itself. Advertise is where the others reach
// listen.
type clusterConfig struct {
	cluster.Options
	listen, ca, cert, key string
}

// clustered reports whether this process is one of several.
func (c *config) clustered() bool { return c.values["--"+inCluster] != "" }

// checkCluster finds what does not go with several replicas. Each of them must know the same
// logins and the same orders, so what only one of them would know is refused: a broker's
// stream, questions to a person, logins in memory.
func (c *config) checkCluster(env func(string) string) error {
	if !c.clustered() {
		return nil
	}
	c.cluster.listen = os.Expand(c.cluster.listen, env)
	host, _, err := net.SplitHostPort(c.cluster.listen)
	ip := net.ParseIP(host)
	switch {
	case c.recover:
		return errors.New("--recover repairs a directory: with --cluster-file the journal is in etcd")
	case !c.trade || c.mcp:
		return errors.New("--cluster-file belongs to --serve --trade: what it keeps is the account")
	case len(c.login.Keys) == 0:
		return errors.New("--cluster-file needs --key-file, the same at every replica: otherwise a login would be known to one of them alone")
	case c.atBroker():
		return errors.New("--broker does not work with --cluster-file: the next leader would not know what the one before had under way at the broker")
	case c.asking.Above >= 0:
		return errors.New("--confirm-above does not work with --cluster-file: a question would be known to one replica alone")
	// The other replicas are told this address, so it must not be one such as 0.0.0.0.
	case err != nil || host == "" || ip != nil && ip.IsUnspecified():
		return fmt.Errorf("--cluster-file: listen %q is no address with a port that the other replicas reach, such as 10.0.0.1:9317", c.cluster.listen)
	}
	return nil
}

// node returns the node of the cluster that this process is. The caller closes it. Package
// cluster checks that there are members of etcd and a secret that is long enough.
func (c *config) node(log *slog.Logger) (n *cluster.Node, err error) {
	o := c.cluster.Options
	o.Patience, o.Log = patience, log
	if (o.User == "") != (o.Password == "") {
		return nil, errors.New("--cluster-file: user and password belong together: one of them is missing")
	}
	if o.TLS, err = readTLS(filepath.Dir(c.values["--"+inCluster]), c.cluster.ca, c.cluster.cert, c.cluster.key); err == nil {
		n, err = cluster.New(o)
	}
	if err != nil {
		return nil, fmt.Errorf("--cluster-file: %w", err)
	}
	return n, nil
}

// patience is how long a write waits for a leader: a little longer than the lease of a
// leader that died, and shorter than clients wait for a call.
const patience = cluster.DefaultTTL + 3*time.Second

// exportStore copies the store from etcd into an empty directory.
func exportStore(ctx context.Context, t *task) error {
	return t.atStore(ctx, func(n *cluster.Node) (string, error) {
		err := trade.Give(n, t.words[0])
		return fmt.Sprintf("the store %s is in %s, up to record %d", t.cluster.Store, t.words[0], n.Status().Applied), err
	})
}

// importStore copies the store in a directory into etcd, as a snapshot after which the log
// begins. It refuses a store that is there already.
func importStore(ctx context.Context, t *task) error {
	if !t.clustered() {
		return errors.New("import needs --cluster-file")
	}
	return t.atStore(ctx, func(n *cluster.Node) (string, error) {
		store, seq, state, err := trade.Take(t.words[0])
		if err == nil {
			err = n.Import(ctx, journal.PointAfter(store, seq), state)
		}
		return fmt.Sprintf("%s is the store %s in etcd, up to record %d", t.words[0], t.cluster.Store, seq), err
	})
}

// atStore calls do with the store in etcd and prints what it says. If the owner interrupts
// the program, closing the node ends whatever it waits for.
func (t *task) atStore(ctx context.Context, do func(n *cluster.Node) (said string, err error)) error {
	n, err := t.node(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer n.Close()
	defer context.AfterFunc(ctx, func() { n.Close() })()
	said, err := do(n)
	if err == nil {
		_, err = fmt.Fprintln(t.shown, said)
	}
	return err
}

// readTLS reads the certificates; without any it returns nil. The file ca says which etcd
// to trust, in place of the system's authorities; with cert and key this process proves
// to etcd who it is. A name that is not absolute is one in dir.
func readTLS(dir, ca, cert, key string) (*tls.Config, error) {
	switch {
	case ca == "" && cert == "" && key == "":
		return nil, nil
	case (cert == "") != (key == ""):
		return nil, errors.New("cert and key belong together: one of them is missing")
	}
	var texts [3][]byte
	for i, name := range []string{ca, cert, key} {
		if name != "" && !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if name != "" {
			var err error
			if texts[i], err = readFile(name, maxCredentials, i == 2); err != nil { // the key is a secret
				return nil, err
			}
		}
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(texts[0]) {
			return nil, fmt.Errorf("%s has no certificate", ca)
		}
	}
	if cert == "" {
		return config, nil
	}
	pair, err := tls.X509KeyPair(texts[1], texts[2])
	config.Certificates = []tls.Certificate{pair}
	return config, err
}
