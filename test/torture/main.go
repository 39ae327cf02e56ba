//go:build unix

// Torture kills the real binary with SIGKILL, again and again, while several
// clients place, replace and cancel orders of every kind, set and cancel alerts,
// poll notifications and read a push stream, under logins that a key file keeps and that
// expire and are revoked: at random, when a generation of the
// journal ends, while it starts, and while it recovers. In between it fills the
// disk, if it may, and puts a backup back. After every start an oracle outside the
// process compares what wick says with what it has acknowledged: nothing
// acknowledged may be lost, nothing may be there twice, nothing may be there that
// nobody asked for, positions must follow exactly from the orders, orders
// keep their terms, and when one of several orders that exclude each other is filled,
// none of the others stays open. At the end the whole history is verified.
//
// With -notify it is killed in the middle of firings to four destinations, which
// must each get every message, in order; see notify.go.
//
// With -broker its orders go to a fake of Alpaca, which must execute each at most
// once and agree with the book after every start; see broker.go.
//
// With -cluster three replicas work on three etcd members, and are killed, paused
// and cut off; see cluster.go.
//
// Usage: torture -wick ./wick -kills 300 [-dir DIRECTORY]
//
// The disk is filled only if the directory is on a file system of its own of at most
// a few gigabytes, such as a tmpfs.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"wick/test/harness"
)

func main() {
	wick := flag.String("wick", "./wick", "the binary to torture")
	kills := flag.Int("kills", 300, "how often to kill it under load")
	clients := flag.Int("clients", 6, "how many clients trade at once")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the random operations")
	notify := flag.Bool("notify", false, "kill it in the middle of firings to four destinations instead")
	cluster := flag.Bool("cluster", false, "three replicas on three etcd members instead: kill, pause and cut them off")
	atBroker := flag.Bool("broker", false, "orders go to a fake of Alpaca instead, which is checked against the book")
	etcd := flag.String("etcd", "/usr/bin/etcd", "etcd, for -cluster")
	history := flag.String("history", "", "with -cluster: a `file` for the history of some orders and alerts, to be checked by test/e2e/cluster")
	small := flag.String("dir", "", "a directory on a small file system, which is filled at times")
	flag.Parse()
	dir, err := os.MkdirTemp(*small, "wick-torture-")
	switch {
	case err != nil:
	case *cluster:
		err = tortureCluster(*wick, *etcd, dir, *kills, *clients, *seed, *history)
	case *atBroker:
		err = tortureBroker(*wick, dir, *kills, *clients, *seed)
	case *notify:
		err = tortureNotify(*wick, dir, *kills, *seed)
	default:
		err = torture(*wick, dir, *kills, *clients, *seed, *small != "")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "torture: %v (seed %d, state in %s)\n", err, *seed, dir)
		os.Exit(1)
	}
	os.RemoveAll(dir)
}

// torture runs the rounds and prints the figures.
func torture(wick, dir string, kills, clients int, seed uint64, small bool) error {
	r := &run{
		wick: wick, dir: filepath.Join(dir, "state"), backup: filepath.Join(dir, "backup"), small: small,
		rng: rand.New(rand.NewPCG(seed, 1)), oracle: newOracle(),
	}
	var err error
	if r.logins, err = newLogins(wick, dir, r.dir); err != nil {
		return err
	}
	if !small {
		fmt.Println("without -dir the disk is never filled")
	}
	began := time.Now()
	var starting time.Duration
	for round := range kills + 1 {
		before := time.Now()
		p, err := start(wick, r.dir, r.logins.flags...)
		if err != nil {
			return fmt.Errorf("start %d: %w", round, err)
		}
		starting += time.Since(before)
		if err := r.play(p, round, kills, clients, seed); err != nil {
			p.Kill()
			return fmt.Errorf("after kill %d: %w", round, err)
		}
		p.Kill()
		if round < kills {
			if err := r.between(); err != nil {
				return err
			}
		}
		if round > 0 && round%20 == 0 {
			fmt.Printf("%d kills: %s\n", round, r.oracle)
		}
	}
	if err := verifyHistory(wick, r.dir); err != nil {
		return err
	}
	fmt.Printf("%d orders came by their rules, %d of them late\n", r.oracle.came, r.oracle.late)
	fmt.Printf("%d kills in %s, mean start %s: %s\n%s\n%s\norders: %s\nnothing acknowledged was lost, nothing was doubled, no order was left behind, and the history is sound\n",
		kills, time.Since(began).Round(time.Second), (starting / time.Duration(kills+1)).Round(time.Millisecond), r.oracle, r.harms, r.logins, r.oracle.counts())
	return nil
}

// play is one life of the process: it checks what the process remembers, then sends orders
// until a random moment. The last life is only checked.
func (r *run) play(p *harness.Process, round, kills, clients int, seed uint64) error {
	o := r.oracle
	if err := r.logins.change(p, r.rng.IntN(15)); err != nil {
		return err
	}
	listener, err := r.logins.listener(p.Base)
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	if err := subscribed(listener, round > 0); err != nil {
		return err
	}
	look, err := looker(p.Base)
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	if err := o.compare(look, newestOrders); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var streams, traders sync.WaitGroup
	defer streams.Wait()
	defer cancel()
	streams.Go(func() { r.logins.listen(ctx, o, listener, p.Base) })
	if round == kills {
		return o.settle(look, newestOrders)
	}
	for i := range clients {
		c, err := r.logins.trader(p, fmt.Sprint("trader", i))
		if err != nil {
			return fmt.Errorf("login: %w", err)
		}
		rng := rand.New(rand.NewPCG(seed, uint64(round)<<8|uint64(i)))
		traders.Go(func() {
			for ctx.Err() == nil && o.operate(c, rng, fmt.Sprintf("r%d-c%d", round, i)) {
				time.Sleep(time.Duration(rng.IntN(4000)) * time.Microsecond) // 300 kills stay within some hundred MB
			}
		})
	}
	err = r.load()
	p.Kill()
	traders.Wait()
	if err != nil {
		return err
	}
	return o.problem()
}
