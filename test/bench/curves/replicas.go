package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"wick/e2e/cluster/site"
	"wick/test/harness"
)

// replicas starts an etcd and n wicks. Orders go to all in turn. Processes are measured by the
// kernel, in steps of 10 ms.
func replicas(n int, m *meter) error {
	if _, err := os.Stat(*etcd); err != nil {
		fmt.Println("no curve over replicas:", err)
		return nil
	}
	dir, err := os.MkdirTemp("", "wick-curves-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := site.Site{Dir: dir}
	defer s.Stop()
	store, wicks, err := serve(&s, n)
	if err != nil {
		return err
	}
	client, err := wicks[0].Login("curves")
	if err != nil {
		return err
	}
	used := func() (sum time.Duration) {
		for _, p := range wicks {
			sum += harness.CPU(p.Pid)
		}
		return sum
	}
	// during adds what wicks and etcd have used meanwhile, for each of the times that do does it.
	during := func(name string, times int, do func() error) error {
		before, stored := used(), harness.CPU(store.Pid)
		if err := do(); err != nil {
			return err
		}
		each := func(d time.Duration) float64 { return max(d, 10*time.Millisecond).Seconds() / float64(times) }
		m.add(name+", all wicks", false, each(used()-before))
		m.add(name+", etcd", false, each(harness.CPU(store.Pid)-stored))
		return nil
	}
	const orders, idle = 500, 5
	if err := during("an order", orders, func() error {
		for i := range orders {
			if _, err := site.Call(wicks[i%n], client, "place_order",
				fmt.Sprintf(`{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.00000001","client_order_id":"%s"}`, rand.Text())); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := during("an idle second", idle, func() error { time.Sleep(idle * time.Second); return nil }); err != nil {
		return err
	}
	var resident float64
	for _, p := range wicks {
		now, _ := harness.Memory(p.Pid)
		resident += float64(now)
	}
	m.add("resident, all wicks", true, resident)
	now, _ := harness.Memory(store.Pid)
	m.add("resident, etcd", true, float64(now))
	return nil
}

// serve starts an etcd and n wicks on it.
func serve(s *site.Site, n int) (store *harness.Process, wicks []*harness.Process, err error) {
	free, err := harness.FreePorts(2)
	if err != nil {
		return nil, nil, err
	}
	url, peer := "http://"+free[0], "http://"+free[1]
	store, err = s.Run("etcd", *etcd, "--data-dir", filepath.Join(s.Dir, "etcd"), "--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	if err == nil {
		err = s.Secrets(*wick, "")
	}
	for i := 0; i < n && err == nil; i++ {
		var p *harness.Process
		if p, err = s.Serve(*wick, fmt.Sprint("replica", i), s.Replica(url)...); err == nil {
			err = site.Await(p)
			wicks = append(wicks, p)
		}
	}
	return store, wicks, err
}
