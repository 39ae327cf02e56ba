// Command sse compares wick's hub with r3labs/sse and tmaxmax/go-sse, and the
// memory of an idle stream with that of a bare net/http handler that waits:
//
//	go run ./sse
//
// Each server is a process of its own, and so are its streams' readers, which
// are in this one. Two things are measured: single events, each sent when all
// have read the one before (latency, and what a delivery costs alone), and
// bursts of a hundred (what it costs when there is much to say). In a last
// round one of wick's streams is never read.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"wick/bench/harness"
)

var (
	serve = flag.String("serve", "", "be the `server` of that name")
	sizes = flag.String("streams", "1000,5000,10000", "`numbers` of streams")
)

func main() {
	flag.Parse()
	if *serve != "" {
		if err := serveHub(*serve); err != nil {
			harness.Fail(err)
		}
		return
	}
	fmt.Println(harness.Machine())
	fmt.Printf("%-8s %-18s %9s %9s %9s %9s %9s %12s %12s\n", "streams", "", "KiB idle", "RSS MiB", "p50 ms", "p99 ms", "worst ms", "CPU us single", "CPU us burst")
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			harness.Fail(err)
		}
		for _, c := range []struct {
			name    string
			stalled bool
		}{{"bare", false}, {"wick", false}, {"wick", true}, {"r3labs", false}, {"tmaxmax", false}} {
			if err := measure(c.name, n, c.stalled); err != nil {
				fmt.Fprintf(os.Stderr, "%s with %d streams: %v\n", c.name, n, err)
			}
		}
	}
}

// measure runs one server with n streams and prints its line.
func measure(name string, n int, stalled bool) error {
	p, err := harness.Self("-serve", name)
	if err != nil {
		return err
	}
	defer p.Stop()
	before, err := settle(p)
	if err != nil {
		return err
	}
	r, err := open(p.Base, n, stalled)
	if err != nil {
		return err
	}
	defer r.close()
	after, err := settle(p)
	if err != nil {
		return err
	}
	idle := float64(after-before) / float64(n) / 1024
	if stalled {
		name += ", one stalled"
	}
	if name == "bare" {
		rss, _ := p.RSS()
		fmt.Printf("%-8d %-18s %9.1f %9.0f\n", n, name, idle, mib(rss))
		return nil
	}
	rounds := max(10, 300_000/n)
	if _, err := r.publish(p, 5, 1); err != nil { // the first write of a stream grows its stack
		return err
	}
	single, err := r.publish(p, rounds, 1)
	if err != nil {
		return err
	}
	_, rss := p.RSS() // the bursts leave a hundred events in every mailbox
	burst, err := r.publish(p, max(2, rounds/100), 100)
	if err != nil {
		return err
	}
	fmt.Printf("%-8d %-18s %9.1f %9.0f %9.1f %9.1f %9.1f %12.2f %12.2f\n", n, name, idle, mib(rss),
		single.percentile(50), single.percentile(99), single.percentile(100), single.each, burst.each)
	return nil
}

func mib(bytes int) float64 { return float64(bytes) / (1 << 20) }

// settle has the server give back what it does not use and returns the bytes
// of its heap and stacks.
func settle(p *harness.Process) (int, error) {
	text, err := harness.Get(p.Base + "/memory")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
