package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wick/test/harness"
)

// quietTime is how long the owner's calls are timed while nothing else happens.
const quietTime = 3 * time.Second

// calls makes calls all the time, as a client would, on kept and on new connections.
type calls struct {
	whose string
	done  chan struct{}
	wait  sync.WaitGroup

	mu    sync.Mutex
	took  []time.Duration // of each call; guarded by mu, like the next
	worst string          // which took longest
	high  time.Duration   // how long that was
	fails []error
}

func watchCalls(t *target, whose, token string) *calls {
	o := &calls{whose: whose, done: make(chan struct{})}
	for kind, t := range map[string]*target{"kept": t.over(&http.Transport{}), "new": t.over(&http.Transport{DisableKeepAlives: true})} {
		o.wait.Go(func() {
			defer t.HTTP.CloseIdleConnections()
			for {
				select {
				case <-o.done:
					return
				case <-time.After(50 * time.Millisecond):
				}
				o.round(t, token, kind)
			}
		})
	}
	return o
}

// round makes one call of each kind: one of the protocol, one of a tool that
// reads, one of a tool that draws, and two of tools that write to the journal.
func (o *calls) round(t *target, token, kind string) {
	o.time("ping", kind, func() (int, error) { return t.ping(token) })
	o.time("list_indicators", kind, func() (int, error) {
		_, status, err := t.call(token, "list_indicators", `{"query":"rsi"}`)
		return status, err
	})
	o.time("generate_chart", kind, func() (int, error) {
		_, status, err := t.call(token, "generate_chart", `{"width":320,"height":240}`)
		return status, err
	})
	var id string
	o.time("set_alert", kind, func() (int, error) {
		text, status, err := t.call(token, "set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":900000000}}`)
		_, id, _ = strings.Cut(text, `"alert_id":"`)
		id, _, _ = strings.Cut(id, `"`)
		if err == nil && id == "" {
			err = fmt.Errorf("answered %.200q", text)
		}
		return status, err
	})
	o.time("cancel_alert", kind, func() (int, error) {
		text, status, err := t.call(token, "cancel_alert", `{"alert_id":"`+id+`"}`)
		if err == nil && !strings.Contains(text, `"ok":true`) {
			err = fmt.Errorf("answered %.200q", text)
		}
		return status, err
	})
}

// time makes a call and remembers how long it took and whether it failed.
func (o *calls) time(name, kind string, call func() (status int, err error)) {
	start := time.Now()
	status, err := call()
	took := time.Since(start)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.took = append(o.took, took); took > o.high {
		o.high, o.worst = took, name+" on a "+kind+" connection"
	}
	if err != nil || status != http.StatusOK {
		o.fails = append(o.fails, fmt.Errorf("%s's %s: status %d, %v", o.whose, name, status, err))
	}
}

// report is how the calls fared.
type report struct {
	whose, worst          string
	calls, failed         int
	median, late, slowest time.Duration // late is what one call in a hundred exceeds
	err                   error         // the last failure
}

// after lets the calls go on for a while, then stops and reports.
func (o *calls) after(d time.Duration) report {
	time.Sleep(d)
	close(o.done)
	o.wait.Wait()
	slices.Sort(o.took)
	n := len(o.took)
	r := report{whose: o.whose, worst: o.worst, calls: n, failed: len(o.fails), median: o.took[n/2], late: o.took[n*99/100], slowest: o.took[n-1]}
	if r.failed > 0 {
		r.err = o.fails[r.failed-1]
	}
	return r
}

func (r report) String() string {
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	return fmt.Sprintf("%s's %d calls: %d failed, half within %v, 99 %% within %v, slowest %v (%s)",
		r.whose, r.calls, r.failed, round(r.median), round(r.late), round(r.slowest), r.worst)
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
			if n, _ := harness.Memory(t.pid); n > p.high.Load() {
				p.high.Store(n)
			}
		}
	})
	return p
}

func (p *peak) stop() int64 {
	close(p.done)
	p.wait.Wait()
	return p.high.Load()
}

// logins logs in again and again with one client, from this machine and from an
// address that has logged in before.
type logins struct {
	done   chan struct{}
	wait   sync.WaitGroup
	n      int // owned by the goroutine until wait is over, like failed
	failed []error
}

func watchLogins(t *target) (*logins, error) {
	c := t.over(&http.Transport{DisableKeepAlives: true}).as("again", "192.0.2.1")
	if err := c.Register(); err != nil {
		return nil, err
	}
	l := &logins{done: make(chan struct{})}
	l.wait.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-l.done:
				return
			case <-time.After(3 * time.Second):
			}
			c.From = [2]string{"", "192.0.2.1"}[n%2]
			if err := c.Authorize(t.passphrase); err != nil {
				l.failed = append(l.failed, fmt.Errorf("a login from %q: %w", c.From, err))
			}
			l.n++
		}
	})
	return l, nil
}

// stop ends the logins and returns the failures.
func (l *logins) stop() error {
	close(l.done)
	l.wait.Wait()
	return errors.Join(l.failed...)
}

func (l *logins) String() string {
	return fmt.Sprintf("%d logins from this machine and from a known address: %d failed", l.n, len(l.failed))
}
