package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// What the flood is made of.
const (
	registrations = 100_000
	halfOpen      = 10_000
	slow          = 500 // heads, and as many bodies
	bad           = 100 // huge messages, and as many deep ones
	charts        = 1_000

	maxGrowth = 64 << 20 // of memory, by strangers, and by charts beyond those that are let in
)

// flood does all at once what strangers can do, then asks for more charts than
// can be drawn, then looks whether everything is as before.
func flood(t *target) error {
	token, err := t.login("192.0.2.1")
	if err != nil {
		return err
	}
	if _, _, err := t.call(token, "generate_chart", `{"width":1440,"height":768}`); err != nil {
		return err
	}
	before, err := t.sample()
	if err != nil {
		return err
	}
	fmt.Println("before:          ", before)

	owner, peak := watchOwner(t, token), watchMemory(t)
	strangers(t)
	high := peak.reset()
	fmt.Printf("strangers:        %.1f MiB at the peak, growth %.1f MiB; %v\n", mib(high), mib(high-before.memory), owner)
	if high-before.memory > maxGrowth {
		err = fmt.Errorf("strangers made memory grow by %.1f MiB, more than %d", mib(high-before.memory), maxGrowth>>20)
	}
	processors, e := t.metric("wick_processors")
	if e != nil {
		return e
	}
	for range 10 { // as many at a time as are let in
		manyCharts(t, token, 2*int(processors))
	}
	bound := peak.reset()
	drawn, busy, failed := manyCharts(t, token, charts)
	high = peak.stop()
	owner.stop()
	fmt.Printf("largest charts:   %d drawn, %d told to come back, %d failed; %.1f MiB at the peak, %.1f MiB with %d at a time; %v\n",
		drawn, busy, failed, mib(high), mib(bound), 2*int(processors), owner)
	switch {
	case err != nil:
		return err
	case high-bound > maxGrowth:
		return fmt.Errorf("charts made memory grow by %.1f MiB beyond those that are let in, more than %d", mib(high-bound), maxGrowth>>20)
	case owner.failed.Load() > 0 || failed > 0 || drawn == 0:
		return fmt.Errorf("%d of the owner's calls and %d charts failed: %v", owner.failed.Load(), failed, owner.last.Load())
	}
	return recovered(t, token, before)
}

// strangers floods the server and returns when the registrations are done. The
// connections that say nothing, or too little, are held meanwhile.
func strangers(t *target) {
	address, _ := url.Parse(t.base)
	stop := make(chan struct{})
	var held, workers sync.WaitGroup
	var dropped atomic.Int64
	hold := func(n int, opening string) {
		for range n {
			c, err := net.Dial("tcp", address.Host)
			if err != nil {
				dropped.Add(1)
				continue
			}
			io.WriteString(c, opening)
			held.Go(func() { <-stop; c.Close() })
		}
	}
	start := time.Now()
	workers.Go(func() { hold(halfOpen, "") })
	workers.Go(func() { hold(slow, "POST /mcp HTTP/1.1\r\nHost: "+address.Host+"\r\nX-Slow: ") })
	workers.Go(func() {
		hold(slow, "POST /mcp HTTP/1.1\r\nHost: "+address.Host+"\r\nContent-Type: application/json\r\nContent-Length: 16000\r\n\r\n{"+strings.Repeat(" ", 15000))
	})
	workers.Go(func() { badMessages(t) })
	statuses := register(t, &workers)
	workers.Wait()
	fmt.Printf("flood:            %d registrations in %.1f s, answered %s; %d connections that say too little (%d refused); %d huge and deep messages\n",
		registrations, time.Since(start).Seconds(), statuses, halfOpen+2*slow, dropped.Load(), 2*bad)
	close(stop)
	held.Wait()
}

// tally counts answers by status.
type tally struct {
	mu sync.Mutex
	n  map[int]int
}

func (c *tally) add(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[int]int)
	}
	c.n[status]++
}

func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(c.n)
}

// register registers clients, each from an address of its own so that no rate
// limit helps the server.
func register(t *target, workers *sync.WaitGroup) *tally {
	var next atomic.Int64
	statuses := &tally{}
	for range 8 {
		workers.Go(func() {
			for n := next.Add(1); n <= registrations; n = next.Add(1) {
				_, status, err := t.register(fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255))
				if err != nil {
					status = 0 // a connection that was dropped to make room
				}
				statuses.add(status)
			}
		})
	}
	return statuses
}

// badMessages sends what is too large and what is too deep. The answers do not
// matter; that the server is there afterwards does.
func badMessages(t *target) {
	huge := `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 2<<20) + `"}`
	deep := strings.Repeat(`[`, 15000)
	for i := range 2 * bad {
		body := huge
		if i%2 == 0 {
			body = deep
		}
		t.send("POST", "/mcp", "application/json", "", "", strings.NewReader(body))
	}
}

// manyCharts asks for n of the largest charts, all at once.
func manyCharts(t *target, token string, n int) (drawn, busy, failed int) {
	const largest = `{"bars":5000,"width":4096,"height":4096,"indicators":["ema_stack","rsi","macd","bbands","adx","stoch","cci","mfi","obv","atr","willr","roc","aroon","supertrend","ichimoku","keltner"]}`
	statuses := &tally{}
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			_, status, err := t.call(token, "generate_chart", largest)
			if err != nil {
				status = 0
			}
			statuses.add(status)
		})
	}
	all.Wait()
	return statuses.n[http.StatusOK], statuses.n[http.StatusServiceUnavailable], n - statuses.n[http.StatusOK] - statuses.n[http.StatusServiceUnavailable]
}

// recovered waits until the server is as it was, apart from memory that the Go
// runtime keeps for next time.
func recovered(t *target, token string, before sample) error {
	start := time.Now()
	var after sample
	for time.Since(start) < time.Minute {
		time.Sleep(time.Second)
		var err error
		if after, err = t.sample(); err != nil {
			return err
		}
		if after.goroutines <= before.goroutines+70 && after.descriptors <= before.descriptors+70 {
			break // as many as our own idle connections
		}
	}
	fmt.Printf("after %2.0f s:       %v\n", time.Since(start).Seconds(), after)
	if after.goroutines > before.goroutines+70 || after.descriptors > before.descriptors+70 {
		return fmt.Errorf("a minute later there are still %d goroutines and %d descriptors", after.goroutines, after.descriptors)
	}
	if _, status, err := t.call(token, "generate_chart", `{}`); err != nil || status != http.StatusOK {
		return fmt.Errorf("the owner's chart afterwards: %d, %w", status, err)
	}
	if _, err := t.login("192.0.2.2"); err != nil {
		return fmt.Errorf("a new login afterwards: %w", err)
	}
	fmt.Println("recovered: the owner's token works, a new client can log in")
	return nil
}
