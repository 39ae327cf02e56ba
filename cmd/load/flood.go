package main

import (
	"errors"
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

	maxGrowth = 64 << 20 // of resident memory, beyond what charts under way can hold by docs/limits.md
)

// flood does all at once what strangers can do and asks for more charts than
// can be drawn, while the owner works on; then it looks whether everything is
// as before.
func flood(t *target) error {
	token, err := t.login("192.0.2.1")
	if err != nil {
		return err
	}
	if _, _, err := t.call(token, "generate_chart", `{}`); err != nil {
		return err
	}
	quiet := watchOwner(t, token).after(quietTime)
	before, err := t.rest()
	if err != nil {
		return err
	}
	fmt.Printf("before:         %v\n                %v\n", before, quiet)
	bound, err := t.metric("wick_render_bytes_max")
	if err != nil {
		return err
	}

	owner, peak := watchOwner(t, token), watchMemory(t)
	var all sync.WaitGroup
	var pictures *tally
	all.Go(func() { strangers(t) })
	all.Go(func() { pictures = manyCharts(t, token) })
	all.Wait()
	busy := owner.after(0)
	growth := peak.stop() - before.memory
	beyond := growth - int64(bound)
	fmt.Printf("meanwhile:      %v\n", busy)
	fmt.Printf("memory:         grew by %.1f MiB: %.1f MiB beyond the %.1f MiB of charts under way\n", mib(growth), mib(beyond), mib(int64(bound)))
	if beyond > maxGrowth {
		err = fmt.Errorf("memory grew by %.1f MiB beyond the charts, more than %d", mib(beyond), maxGrowth>>20)
	}
	switch drawn, refused := pictures.n[http.StatusOK], pictures.n[http.StatusServiceUnavailable]; {
	case drawn == 0 || refused == 0:
		err = errors.Join(err, fmt.Errorf("%d charts were drawn and %d told to come back: both must occur", drawn, refused))
	case drawn+refused != charts:
		err = errors.Join(err, fmt.Errorf("%d charts were not answered", charts-drawn-refused))
	}
	return errors.Join(err, quiet.err, busy.err, recovered(t, token, before, quiet))
}

// strangers floods the server and returns when the registrations are done. The
// connections that say nothing, or too little, are held meanwhile.
func strangers(t *target) {
	address, _ := url.Parse(t.base)
	stop := make(chan struct{})
	var held, workers sync.WaitGroup
	var refused atomic.Int64
	hold := func(n int, opening string) {
		for range n {
			c, err := net.Dial("tcp", address.Host)
			if err != nil {
				refused.Add(1)
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
	fmt.Printf("flood:          %d registrations in %.1f s, answered %v; %d connections that say too little (%d refused); %d huge and deep messages\n",
		registrations, time.Since(start).Seconds(), statuses, halfOpen+2*slow, refused.Load(), 2*bad)
	close(stop)
	held.Wait()
}

// tally counts answers by status.
type tally struct {
	mu sync.Mutex
	n  map[int]int // 0 for none: the connection was closed
}

func (c *tally) add(status int, err error) {
	if err != nil {
		status = 0
	}
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
				statuses.add(status, err)
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

// manyCharts asks for the largest charts there are, all at once. Half of them
// show so much that their file is refused when the picture has been painted.
func manyCharts(t *target, token string) *tally {
	const drawn = `{"bars":5000,"width":4096,"height":4096}`
	const refused = `{"bars":5000,"width":4096,"height":4096,"indicators":["ema_stack","rsi","macd","bbands","adx","stoch","cci","mfi","obv","atr","willr","roc","aroon","supertrend","ichimoku","keltner"]}`
	statuses := &tally{}
	var again atomic.Int64
	var all sync.WaitGroup
	for i := range charts {
		all.Go(func() {
			_, status, err := t.call(token, "generate_chart", [2]string{drawn, refused}[i%2])
			for err != nil && again.Add(1) < charts { // closed before its token was read, to make room
				_, status, err = t.call(token, "generate_chart", [2]string{drawn, refused}[i%2])
			}
			statuses.add(status, err)
		})
	}
	all.Wait()
	fmt.Printf("largest charts: %d, answered %v, %d asked again\n", charts, statuses, again.Load())
	return statuses
}

// recovered waits until the server is as it was before, apart from memory that
// the Go runtime keeps for next time, and sees that it is as quick.
func recovered(t *target, token string, before sample, quiet report) error {
	start := time.Now()
	var after sample
	for time.Since(start) < 2*time.Minute {
		var err error
		if after, err = t.rest(); err != nil {
			return err
		}
		if after.goroutines <= before.goroutines && after.descriptors <= before.descriptors {
			break
		}
		time.Sleep(time.Second)
	}
	again := watchOwner(t, token).after(quietTime)
	fmt.Printf("after %3.0f s:    %v\n                %v\n", time.Since(start).Seconds(), after, again)
	switch {
	case after.goroutines > before.goroutines || after.descriptors > before.descriptors:
		return fmt.Errorf("two minutes later there are still %d goroutines and %d descriptors", after.goroutines, after.descriptors)
	case again.median > 2*quiet.median+time.Millisecond:
		return fmt.Errorf("half of the owner's calls now take more than %v, before %v", again.median, quiet.median)
	}
	if _, status, err := t.call(token, "generate_chart", `{}`); err != nil || status != http.StatusOK {
		return fmt.Errorf("the owner's chart afterwards: %d, %w", status, err)
	}
	if _, err := t.login("192.0.2.2"); err != nil {
		return fmt.Errorf("a new login afterwards: %w", err)
	}
	fmt.Println("recovered: the owner's token works, a new client can log in")
	return again.err
}
