package main

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// owner calls the server all the time, as the owner's client would, on
// connections kept and new.
type owner struct {
	calls, failed, slowest atomic.Int64
	last                   atomic.Value // the last failure's text
	done                   chan struct{}
	wait                   sync.WaitGroup
}

func watchOwner(t *target, token string) *owner {
	o := &owner{done: make(chan struct{})}
	fresh := *t
	fresh.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, t := range []*target{t, &fresh} {
		o.wait.Go(func() {
			for {
				select {
				case <-o.done:
					return
				case <-time.After(50 * time.Millisecond):
				}
				start := time.Now()
				status, err := t.ping(token)
				if _, tool, e := t.call(token, "list_indicators", `{"query":"rsi"}`); e != nil || tool != http.StatusServiceUnavailable {
					status, err = max(status, tool), errors.Join(err, e) // 503 is an answer: the owner's own charts fill all slots
				}
				o.calls.Add(2)
				o.slowest.Store(max(o.slowest.Load(), int64(time.Since(start))))
				if err != nil || status != http.StatusOK {
					o.failed.Add(1)
					o.last.Store(fmt.Sprint(status, err))
				}
			}
		})
	}
	return o
}

func (o *owner) stop() {
	close(o.done)
	o.wait.Wait()
}

func (o *owner) String() string {
	return fmt.Sprintf("the owner's %d calls: %d failed, slowest %v", o.calls.Load(), o.failed.Load(), time.Duration(o.slowest.Load()).Round(time.Millisecond))
}

// peak follows the highest resident memory.
type peak struct {
	high atomic.Int64
	done chan struct{}
	wait sync.WaitGroup
}

func watchMemory(t *target) *peak {
	p := &peak{done: make(chan struct{})}
	p.wait.Go(func() {
		for {
			select {
			case <-p.done:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if n, err := t.memory(); err == nil && n > p.high.Load() {
				p.high.Store(n)
			}
		}
	})
	return p
}

// reset returns the peak so far and begins anew.
func (p *peak) reset() int64 { return p.high.Swap(0) }

func (p *peak) stop() int64 {
	close(p.done)
	p.wait.Wait()
	return p.high.Load()
}
