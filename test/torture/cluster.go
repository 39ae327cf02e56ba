//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"wick/test/harness"
)

// members is how many etcd members and how many replicas there are.
const members = 3

// site is three replicas on three etcd members, with a proxy between each replica and each
// member.
type site struct {
	wick, etcd, dir string
	seed            uint64
	rng             *rand.Rand
	oracle          *oracle
	history         *history
	listener        *client // whose token works at every replica

	etcds    [members]*harness.Process
	peers    [members]string
	ports    [members]string
	replicas [members]*replicaProcess
	proxies  [members][members]*proxy // by replica and member

	faults    map[string]int
	failovers []time.Duration
}

// replicaProcess is one replica over all of its lives.
type replicaProcess struct {
	site *site
	n    int
	base string // its URL

	mu      sync.Mutex
	process *harness.Process // guarded by mu, like all below
	stopped bool             // for good
	lives   int
}

// tortureCluster kills replicas and members and cuts connections, under load, and
// compares after every fault what the replicas say with what was acknowledged.
func tortureCluster(wick, etcd, dir string, kills, clients int, seed uint64, historyName string) error {
	s := &site{wick: wick, etcd: etcd, dir: dir, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), oracle: newOracle(), faults: make(map[string]int)}
	if historyName != "" {
		s.history = &history{began: time.Now()}
	}
	defer s.stop()
	if err := s.start(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	listening.Go(func() { s.listen(ctx) })
	began := time.Now()
	for round := range kills {
		if err := s.round(round, kills, clients); err != nil {
			return fmt.Errorf("after fault %d (%v): %w", round, s.faults, err)
		}
		if (round+1)%10 == 0 {
			fmt.Printf("%d faults in %s: %s; %v\n", round+1, time.Since(began).Round(time.Second), s.oracle, s.faults)
		}
	}
	c, err := s.anybody("reader")
	if err == nil {
		err = s.oracle.settle(c, allOrders)
	}
	if err != nil {
		return err
	}
	slices.Sort(s.failovers)
	fmt.Printf("%d faults in %s: %s\n%v\n", kills, time.Since(began).Round(time.Second), s.oracle, s.faults)
	if n := len(s.failovers); n > 0 {
		fmt.Printf("a write after the leader was killed: p50 %s, p99 %s, longest %s of %d\n", s.failovers[n/2].Round(time.Millisecond),
			s.failovers[n*99/100].Round(time.Millisecond), s.failovers[n-1].Round(time.Millisecond), n)
	}
	fmt.Println("nothing acknowledged was lost, nothing was doubled, nothing that was refused was done")
	if s.history != nil {
		return s.history.write(historyName)
	}
	return nil
}

// start starts everything and subscribes the listener.
func (s *site) start() error {
	free, err := harness.FreePorts(3 * members)
	if err != nil {
		return err
	}
	copy(s.ports[:], free)
	copy(s.peers[:], free[members:])
	for i := range members {
		if err := s.startEtcd(i); err != nil {
			return err
		}
	}
	if err := harness.Run(s.wick, "key", filepath.Join(s.dir, "key")); err != nil {
		return err
	}
	for i := range members {
		for j := range members {
			p, err := newProxy(s.ports[j])
			if err != nil {
				return err
			}
			s.proxies[i][j] = p
		}
		r := &replicaProcess{site: s, n: i, base: "http://" + strings.Replace(free[2*members+i], "127.0.0.1", "localhost", 1)}
		s.replicas[i] = r
		go r.keep()
	}
	if err := s.awaitLeader(time.Minute); err != nil {
		return err
	}
	c, err := s.anybody("listener")
	if err != nil {
		return err
	}
	s.listener = c
	return subscribed(c, false)
}

// startEtcd starts member i. Started again, the member continues with its data.
func (s *site) startEtcd(i int) error {
	out, err := os.OpenFile(filepath.Join(s.dir, fmt.Sprintf("etcd%d.log", i)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	var all []string
	for j, peer := range s.peers {
		all = append(all, fmt.Sprintf("e%d=http://%s", j, peer))
	}
	client, peer := "http://"+s.ports[i], "http://"+s.peers[i]
	s.etcds[i], err = harness.Spawn(out, out, s.etcd, "--name", fmt.Sprintf("e%d", i), "--data-dir", filepath.Join(s.dir, fmt.Sprintf("etcd%d", i)),
		"--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", strings.Join(all, ","), "--initial-cluster-state", "new")
	return err
}

// stop ends every process.
func (s *site) stop() {
	for _, r := range s.replicas {
		if r != nil {
			r.mu.Lock()
			r.stopped = true
			if r.process != nil {
				r.process.Signal(syscall.SIGCONT)
				r.process.Kill()
			}
			r.mu.Unlock()
		}
	}
	for _, p := range s.etcds {
		if p != nil {
			p.Kill()
		}
	}
}

// keep starts the replica again whenever it ends, as systemd does.
func (r *replicaProcess) keep() {
	var endpoints []string
	for _, p := range r.site.proxies[r.n] {
		endpoints = append(endpoints, "http://"+p.address)
	}
	out, err := os.OpenFile(filepath.Join(r.site.dir, fmt.Sprintf("wick%d.log", r.n)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err) // the directory is ours
	}
	defer out.Close()
	file := filepath.Join(r.site.dir, fmt.Sprintf("cluster%d.txt", r.n))
	if err := os.WriteFile(file, []byte("secret 0123456789abcdef0123456789abcdef\nlisten 127.0.0.1:0\netcd "+strings.Join(endpoints, ",")+"\n"), 0o600); err != nil {
		panic(err)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(r.base, "http://"), ":")
	for {
		r.mu.Lock()
		if r.stopped {
			r.mu.Unlock()
			return
		}
		p, err := spawn(r.site.wick, filepath.Join(r.site.dir, fmt.Sprintf("wick%d", r.n)), out, "--port", port, "--cluster-file", file,
			"--key-file", filepath.Join(r.site.dir, "key"), "--base-url", "http://"+published)
		if err != nil {
			panic(err) // the binary was there a moment ago
		}
		r.process = p
		r.lives++
		r.mu.Unlock()
		p.Wait()
		time.Sleep(200 * time.Millisecond)
	}
}

// signal sends the replica's process a signal.
func (r *replicaProcess) signal(what syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil {
		r.process.Signal(what)
	}
}

// published is the name of the service that the replicas are.
const published = "localhost:9315"

// login returns a client that is logged in at the replica.
func (r *replicaProcess) login(name string) (*client, error) {
	c := harness.New(r.base, name)
	c.Host = published
	return &client{Client: c}, c.LogIn("")
}

// role asks a replica what it is.
func (r *replicaProcess) role() string {
	said, _ := harness.Ready(r.base, false) // none of one that does not answer
	return said.Role
}

// leader returns the replica that says it leads, or nil.
func (s *site) leader() *replicaProcess {
	for _, r := range s.replicas {
		if r.role() == "leader" {
			return r
		}
	}
	return nil
}

// awaitLeader waits until all replicas answer and one leads.
func (s *site) awaitLeader(most time.Duration) error {
	for deadline := time.Now().Add(most); ; time.Sleep(50 * time.Millisecond) {
		leaders, followers := 0, 0
		for _, r := range s.replicas {
			switch r.role() {
			case "leader":
				leaders++
			case "follower":
				followers++
			}
		}
		if leaders == 1 && followers == members-1 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d leaders and %d followers after %s", leaders, followers, most)
		}
	}
}

// anybody logs in at a random replica that answers.
func (s *site) anybody(name string) (*client, error) {
	var last error
	for range 100 {
		r := s.replicas[rand.IntN(members)]
		c, err := r.login(name)
		if err == nil {
			return c, nil
		}
		last = err
		time.Sleep(100 * time.Millisecond)
	}
	return nil, last
}

// round sends orders to the replicas, does one kind of harm, waits until all replicas
// answer again, and compares.
func (s *site) round(round, kills, clients int) error {
	ctx, cancel := context.WithCancel(context.Background())
	var traders sync.WaitGroup
	for i := range clients {
		rng := rand.New(rand.NewPCG(s.seed, uint64(round)<<8|uint64(i)))
		traders.Go(func() { s.trade(ctx, rng, fmt.Sprintf("r%d-c%d", round, i)) })
	}
	time.Sleep(time.Duration(300+s.rng.IntN(700)) * time.Millisecond)
	err := s.harm(round, kills)
	if err == nil {
		err = s.awaitLeader(90 * time.Second)
	}
	cancel()
	traders.Wait()
	if err == nil {
		err = s.oracle.problem()
	}
	if err == nil {
		err = s.verify()
	}
	return err
}

// trade is one client: it uses one replica for a while, or until that one fails,
// then another.
func (s *site) trade(ctx context.Context, rng *rand.Rand, prefix string) {
	c, err := s.anybody("trader")
	if err != nil {
		return
	}
	for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
		c.Base = s.replicas[rng.IntN(members)].base
		for n := 0; ctx.Err() == nil && n < 20; n++ {
			if s.history != nil && rng.IntN(3) == 0 {
				s.history.operate(c, rng)
			} else if !s.oracle.operate(c, rng, prefix) {
				break
			}
			time.Sleep(time.Duration(rng.IntN(20000)) * time.Microsecond)
		}
	}
}

// listen reads the push stream at one replica after the other.
func (s *site) listen(ctx context.Context) {
	for ctx.Err() == nil {
		s.listener.Base = s.replicas[rand.IntN(members)].base
		s.oracle.listen(ctx, s.listener)
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// verify compares at a random replica.
func (s *site) verify() error {
	for {
		c, err := s.anybody("reader")
		if err != nil {
			return err
		}
		err = s.oracle.compare(c, allOrders)
		if transport := (*url.Error)(nil); !errors.As(err, &transport) {
			return err
		}
		if err := s.awaitLeader(90 * time.Second); err != nil { // an earlier leader may have ended meanwhile
			return err
		}
	}
}

// harm does one kind of harm and repairs what a person would repair.
func (s *site) harm(round, kills int) error {
	losses := max(kills/3, 1)
	switch {
	case round%losses == losses-1:
		return s.loseMajority()
	case round%7 == 6:
		s.faults["member killed"]++
		i := s.rng.IntN(members)
		s.etcds[i].Kill()
		time.Sleep(time.Duration(s.rng.IntN(2000)) * time.Millisecond)
		return s.startEtcd(i)
	}
	victim := s.replicas[s.rng.IntN(members)]
	if s.rng.IntN(2) == 0 {
		if l := s.leader(); l != nil {
			victim = l
		}
	}
	switch n := s.rng.IntN(10); {
	case n < 5:
		return s.kill(victim)
	case n < 7:
		s.faults["paused beyond the lease"]++
		victim.signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(4500+s.rng.IntN(2500)) * time.Millisecond)
		victim.signal(syscall.SIGCONT)
	case n < 9:
		s.faults["cut from etcd"]++
		s.between(victim, func(p *proxy) { p.set(true, 0) })
		time.Sleep(time.Duration(200+s.rng.IntN(7000)) * time.Millisecond)
		s.between(victim, func(p *proxy) { p.set(false, 0) })
	default:
		s.faults["delayed"]++
		s.between(victim, func(p *proxy) { p.set(false, time.Duration(50+s.rng.IntN(400))*time.Millisecond) })
		time.Sleep(3 * time.Second)
		s.between(victim, func(p *proxy) { p.set(false, 0) })
	}
	return nil
}

// between does something to the proxies of a replica.
func (s *site) between(r *replicaProcess, do func(*proxy)) {
	for _, p := range s.proxies[r.n] {
		do(p)
	}
}

// kill sends SIGKILL. If the victim leads, kill measures how long it takes until an order
// is acknowledged again.
func (s *site) kill(victim *replicaProcess) error {
	leads := victim == s.leader()
	var c *client
	var err error
	if leads {
		s.faults["leader killed"]++
		other := s.replicas[(victim.n+1)%members]
		if c, err = other.login("prober"); err != nil {
			leads = false
		}
	} else {
		s.faults["follower killed"]++
	}
	began := time.Now()
	victim.signal(syscall.SIGKILL)
	for i := 0; leads; i++ {
		id := fmt.Sprintf("probe-%d-%d", began.UnixNano(), i)
		s.oracle.mu.Lock()
		s.oracle.orders[id] = &orderNote{}
		s.oracle.mu.Unlock()
		var got order
		err := c.call("place_order", map[string]any{"symbol": "BTCUSDT", "side": "buy", "type": "market", "quantity": "0.00000001", "client_order_id": id}, &got)
		if err == nil {
			s.oracle.acknowledge(got)
			s.failovers = append(s.failovers, time.Since(began))
			return nil
		}
		if time.Since(began) > time.Minute {
			return fmt.Errorf("no order is taken a minute after the leader was killed: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// loseMajority kills two members for longer than a lease. Meanwhile an order must
// not be acknowledged, and reads must go on.
func (s *site) loseMajority() error {
	s.faults["majority lost"]++
	c, err := s.anybody("reader") // a login needs the majority
	if err != nil {
		return err
	}
	a := s.rng.IntN(members)
	b := (a + 1) % members
	s.etcds[a].Kill()
	s.etcds[b].Kill()
	time.Sleep(6 * time.Second)
	read := false
	for _, r := range s.replicas {
		c.Base = r.base
		var orders []order
		read = c.call("get_orders", map[string]any{"limit": 1}, &orders) == nil && c.stale || read
	}
	time.Sleep(2 * time.Second)
	if err := errors.Join(s.startEtcd(a), s.startEtcd(b)); err != nil {
		return err
	}
	if !read {
		return errors.New("no replica answers a read without a majority")
	}
	return nil
}

// proxy passes connections on to one member, cuts them or delays what they carry.
type proxy struct {
	address, to string

	mu    sync.Mutex
	cut   bool // guarded by mu, like all below
	delay time.Duration
	open  map[net.Conn]bool
}

func newProxy(to string) (*proxy, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{address: ln.Addr().String(), to: to, open: make(map[net.Conn]bool)}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go p.pass(c)
		}
	}()
	return p, nil
}

// set changes what the proxy does. A cut drops what is on the way, too.
func (p *proxy) set(cut bool, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.delay = cut, delay
	if cut {
		for c := range p.open {
			c.Close()
		}
	}
}

func (p *proxy) state() (bool, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut, p.delay
}

func (p *proxy) pass(c net.Conn) {
	defer c.Close()
	if cut, _ := p.state(); cut {
		return
	}
	there, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer there.Close()
	p.mu.Lock()
	p.open[c], p.open[there] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, c)
		delete(p.open, there)
	}()
	go func() {
		p.copy(there, c)
		there.Close()
		c.Close()
	}()
	p.copy(c, there)
}

// copy copies from one connection to the other, with the delay that is set at the moment.
func (p *proxy) copy(to io.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			_, delay := p.state()
			time.Sleep(delay)
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
