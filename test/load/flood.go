package main

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// maxGrowth is how many bytes resident memory may grow beyond what charts in progress can
// hold according to docs/limits.md.
const maxGrowth = 64 << 20

// flood does everything at once that strangers can do and that a greedy client can do with
// its token. Meanwhile the owner and a second client go on working, and the owner logs in
// again and again. Then it checks whether everything is as before.
func flood(t *target) error {
	tokens := make(map[string]string)
	for _, name := range []string{"owner", "second", "greedy"} {
		token, err := t.login(name, "192.0.2.1")
		if err != nil {
			return fmt.Errorf("login of %s: %w", name, err)
		}
		tokens[name] = token
	}
	if _, _, err := t.call(tokens["owner"], "generate_chart", `{}`); err != nil {
		return err
	}
	quiet := watchCalls(t, "owner", tokens["owner"]).after(quietTime)
	before, err := t.rest()
	if err != nil {
		return err
	}
	fmt.Printf("before:         %v\n                %v\n", before, quiet)
	bound, err := t.metric("wick_render_bytes_max")
	if err != nil {
		return err
	}

	owner, second := watchCalls(t, "owner", tokens["owner"]), watchCalls(t, "second", tokens["second"])
	logins, err := watchLogins(t)
	if err != nil {
		return err
	}
	peak := watchMemory(t)
	var all sync.WaitGroup
	var pictures *tally
	stop := make(chan struct{})
	all.Go(func() { strangers(t, stop) })
	all.Go(func() { pictures = greedy(t, tokens["greedy"]) })
	all.Wait()
	close(stop)
	busy, beside := owner.after(0), second.after(0)
	loginErr := logins.stop()
	growth := peak.stop() - before.memory
	beyond := growth - int64(bound)
	fmt.Printf("meanwhile:      %v\n                %v\n                %v\n", busy, beside, logins)
	fmt.Printf("memory:         grew by %.1f MiB: %.1f MiB beyond the %.1f MiB of charts under way\n", mib(growth), mib(beyond), mib(int64(bound)))
	if beyond > maxGrowth {
		err = fmt.Errorf("memory grew by %.1f MiB beyond the charts, more than %d", mib(beyond), maxGrowth>>20)
	}
	drawn, refused := pictures.n[http.StatusOK], pictures.n[http.StatusServiceUnavailable]+pictures.n[http.StatusTooManyRequests]
	switch {
	case drawn == 0 || refused == 0:
		err = errors.Join(err, fmt.Errorf("%d charts were drawn and %d told to come back: both must occur", drawn, refused))
	case drawn+refused != charts:
		err = errors.Join(err, fmt.Errorf("%d charts were not answered", charts-drawn-refused))
	}
	return errors.Join(err, quiet.err, busy.err, beside.err, loginErr, recovered(t, tokens["owner"], before, quiet))
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

// recovered waits until the server is as it was before, except for memory that the Go
// runtime keeps, and checks that it is as fast as before.
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
	again := watchCalls(t, "owner", token).after(quietTime)
	fmt.Printf("after %3.0f s:    %v\n                %v\n", time.Since(start).Seconds(), after, again)
	switch {
	case after.goroutines > before.goroutines || after.descriptors > before.descriptors:
		return fmt.Errorf("two minutes later there are still %d goroutines and %d descriptors", after.goroutines, after.descriptors)
	case again.median > 2*quiet.median+time.Millisecond:
		return fmt.Errorf("half of the owner's calls now take more than %v, before %v", again.median, quiet.median)
	}
	if _, status, err := t.call(token, "generate_chart", `{}`); err != nil || status != http.StatusOK {
		return fmt.Errorf("the owner's chart afterwards: status %d, %v", status, err)
	}
	if _, err := t.login("late", "192.0.2.1"); err != nil { // a new place may have to wait: strangers have just guessed
		return fmt.Errorf("a new login afterwards: %w", err)
	}
	fmt.Println("recovered: the owner's token works, a new client can log in from a known address")
	return again.err
}
