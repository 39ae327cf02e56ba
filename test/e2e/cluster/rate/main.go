// Rate measures what one, two and three replicas do beside a wick by itself: charts,
// reads of the account and orders a second with many clients on all of them at
// once, and the processor time of one such request, in the wicks and in etcd. Last
// it measures the transactions a second of etcd itself. It starts three etcd members
// and all wicks on this machine.
//
// Usage: rate -wick ./wick [-clients 64] [-for 5s]
package main

import (
	"crypto/rand"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"wick/e2e/cluster/site"
	"wick/test/harness"
)

// trial is what is measured: three etcd members, and wicks.
type trial struct {
	site.Site
	wick, etcd string
	members    []*harness.Process
	urls       []string // of the members
}

func main() {
	wick := flag.String("wick", "../../../wick", "the binary")
	etcd := flag.String("etcd", "/usr/bin/etcd", "etcd")
	clients := flag.Int("clients", 64, "clients at once")
	length := flag.Duration("for", 5*time.Second, "how long each measurement takes")
	flag.Parse()
	dir, err := os.MkdirTemp("", "wick-rate-")
	if err == nil {
		s := &trial{Site: site.Site{Dir: dir}, wick: *wick, etcd: *etcd}
		err = s.measureAll(*clients, *length)
		s.Stop()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "rate: %v (state in %s)\n", err, dir)
		os.Exit(1)
	}
	os.RemoveAll(dir)
}

// start starts the etcd members, and makes the files that replicas share.
func (s *trial) start() error {
	free, err := harness.FreePorts(6)
	if err != nil {
		return err
	}
	var peers, names []string
	for i := range 3 {
		s.urls, peers = append(s.urls, "http://"+free[i]), append(peers, "http://"+free[3+i])
		names = append(names, fmt.Sprintf("e%d=%s", i, peers[i]))
	}
	for i := range 3 {
		p, err := s.Run(fmt.Sprint("etcd", i), s.etcd, "--name", fmt.Sprint("e", i), "--data-dir", filepath.Join(s.Dir, fmt.Sprint("etcd", i)),
			"--listen-client-urls", s.urls[i], "--advertise-client-urls", s.urls[i], "--listen-peer-urls", peers[i], "--initial-advertise-peer-urls", peers[i],
			"--initial-cluster", strings.Join(names, ","))
		if err != nil {
			return err
		}
		s.members = append(s.members, p)
	}
	return s.Secrets(s.wick, "")
}

// measureAll measures a wick by itself, then one, two and three replicas, then etcd.
func (s *trial) measureAll(clients int, length time.Duration) error {
	if err := s.start(); err != nil {
		return err
	}
	single, err := s.Serve(s.wick, "single")
	if err == nil {
		err = site.Await(single)
	}
	if err != nil {
		return err
	}
	if err := s.load("a wick by itself", []*harness.Process{single}, clients, length); err != nil {
		return err
	}
	var wicks []*harness.Process
	for i := 1; i <= 3; i++ {
		p, err := s.Serve(s.wick, fmt.Sprint("replica", i), s.Replica(strings.Join(s.urls, ","))...)
		if err == nil {
			err = site.Await(p)
		}
		if err != nil {
			return err
		}
		wicks = append(wicks, p)
		if err := s.load(fmt.Sprint("replicas: ", i), wicks, clients, length); err != nil {
			return err
		}
	}
	value := base64.StdEncoding.EncodeToString(make([]byte, 300))
	var members []*harness.Client
	for _, url := range s.urls {
		members = append(members, harness.New(url, ""))
	}
	return s.measure("etcd alone", "transactions", nil, clients, length, func(i int) error {
		key := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "rate/%d", i))
		body := fmt.Sprintf(`{"success":[{"request_put":{"key":%q,"value":%q}}]}`, key, value)
		return members[i%len(members)].Post("/v3/kv/txn", "application/json", []byte(body), nil)
	})
}

// load measures the three kinds of requests on some wicks at once.
func (s *trial) load(who string, wicks []*harness.Process, clients int, length time.Duration) error {
	c, err := wicks[0].Login("rate")
	if err != nil {
		return err
	}
	for _, kind := range []struct{ what, tool, arguments string }{
		{"orders", "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.00000001","client_order_id":"ID"}`},
		{"reads of positions", "get_positions", `{}`},
		{"charts", "generate_chart", `{"symbol":"BTCUSDT","interval":"1h"}`},
	} {
		err := s.measure(who, kind.what, wicks, clients, length, func(i int) error {
			_, err := site.Call(wicks[i%len(wicks)], c, kind.tool, strings.ReplaceAll(kind.arguments, "ID", rand.Text()))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// measure calls do from many clients for a while and prints how often it worked, how
// long it took, and what processor time each took in the wicks and in etcd.
func (s *trial) measure(who, what string, wicks []*harness.Process, clients int, length time.Duration, do func(i int) error) error {
	before, members := cpu(wicks), cpu(s.members)
	took, failed, lasted := repeat(clients, length, do)
	after, membersAfter := cpu(wicks), cpu(s.members)
	n := len(took)
	if n == 0 {
		return fmt.Errorf("%s, %s: none worked; %v", who, what, failed)
	}
	slices.Sort(took)
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }
	fmt.Printf("%-17s %-19s %7.0f a second, p50 %8s, p99 %8s; processor time each: wick %6.2f ms, etcd %6.2f ms", who, what, float64(n)/lasted.Seconds(),
		took[n/2].Round(100*time.Microsecond), took[n*99/100].Round(100*time.Microsecond), each(after-before), each(membersAfter-members))
	for text, times := range failed {
		fmt.Printf("; %d times %.120s", times, text)
	}
	fmt.Println()
	return nil
}

// cpu returns the processor time that processes have used so far.
func cpu(all []*harness.Process) (sum time.Duration) {
	for _, p := range all {
		sum += harness.CPU(p.Pid)
	}
	return sum
}

// repeat calls do from many clients for a while. It returns how long those took that
// worked, how often which error came, and how long all of it lasted.
func repeat(clients int, length time.Duration, do func(i int) error) (took []time.Duration, failed map[string]int, lasted time.Duration) {
	var mu sync.Mutex
	failed = make(map[string]int)
	var wg sync.WaitGroup
	began := time.Now()
	for i := range clients {
		wg.Go(func() {
			for time.Since(began) < length {
				start := time.Now()
				err := do(i)
				mu.Lock()
				if err != nil {
					failed[err.Error()]++
				} else {
					took = append(took, time.Since(start))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return took, failed, time.Since(began)
}
