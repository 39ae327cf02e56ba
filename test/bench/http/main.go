// Command http measures what one MCP request costs the server: wick's binary,
// mcp-go, the official Go SDK, and as the floor a bare net/http handler that
// answers as many constant bytes as wick does, with and without a log line like
// wick's. Servers run as processes of
// their own and take turns, so that whatever else the machine does affects them
// in the same way; wrk makes the load:
//
//	go run ./http -wick ../../wick
//
// The peers offer wick's own list of tools, check a bearer token and log
// nothing; wick logs every request.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"time"

	"wick/bench/contest"
	"wick/test/harness"
)

// job is one request that is made again and again.
type job struct{ name, message string }

var jobs = []job{
	{"initialize", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`},
	{"tools/list", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}`},
	{"small call", harness.Message("list_alerts", "{}")},
	{"large call", harness.Message("list_indicators", "{}")},
}

var (
	wick    = flag.String("wick", "../../wick", "wick's `binary`")
	seconds = flag.Int("seconds", 2, "how long a turn lasts")
	turns   = flag.Int("turns", 3, "how many `times` each has its turn")
	only    = flag.String("only", "", "the one `request` to make, such as \"small call\"")
	serve   = flag.String("serve", "", "be the `server` of that name")
	peer    = flag.String("peer", "", "`file` that says what a peer serves")
	size    = flag.Int("size", 0, "`bytes` of the floor's answer")
)

func main() {
	flag.Parse()
	var err error
	switch *serve {
	case "":
		err = compare()
	case "bare":
		err = contest.Serve(contest.Floor(*size))
	case "floor":
		err = serveFloor()
	default:
		err = servePeer()
	}
	if err != nil {
		contest.Fail(err)
	}
}

func serveFloor() error {
	h, err := contest.Logged(contest.Floor(*size))
	if err != nil {
		return err
	}
	return contest.Serve(h)
}

func servePeer() error {
	p, err := contest.ReadPeer(*peer)
	if err != nil {
		return err
	}
	h, err := p.Handler(*serve)
	if err != nil {
		return err
	}
	return contest.Serve(h)
}

// contestant is a running server.
type contestant struct {
	name string
	*contest.Process
}

func compare() error {
	fmt.Println(contest.Machine())
	ours, err := contest.Wick(*wick, "--trade")
	if err != nil {
		return err
	}
	defer ours.Stop()
	login, err := ours.Login("bench")
	if err != nil {
		return err
	}
	token := login.Token
	imitated, err := contest.PeerOf(ours.Base, token)
	if err != nil {
		return err
	}
	file, err := imitated.Write()
	if err != nil {
		return err
	}
	defer os.Remove(file)
	rivals := []contestant{{"wick", ours}}
	own, err := begin("wick", func() (*contest.Process, error) { return contest.Wick(*wick, "--trade") }, beginning{})
	if err != nil {
		return err
	}
	for _, name := range []string{"mcp-go", "go-sdk"} {
		start := func() (*contest.Process, error) { return contest.Self("-serve", name, "-peer", file) }
		if _, err := begin(name, start, own); err != nil {
			return err
		}
		p, err := start()
		if err != nil {
			return err
		}
		defer p.Stop()
		rivals = append(rivals, contestant{name, p})
	}
	for _, j := range jobs {
		if *only != "" && *only != j.name {
			continue
		}
		if err := j.run(rivals, token); err != nil {
			return err
		}
	}
	return nil
}

// beginning is how long a server takes until it listens, and what it holds in memory then.
type beginning struct{ ms, mib float64 }

// begin starts a server five times and prints the least. Ours is wick's.
func begin(name string, start func() (*contest.Process, error), ours beginning) (b beginning, err error) {
	b = beginning{math.Inf(1), math.Inf(1)}
	for range 5 {
		began := time.Now()
		p, err := start()
		if err != nil {
			return b, err
		}
		b.ms = min(b.ms, time.Since(began).Seconds()*1000)
		time.Sleep(time.Second)
		now, _ := p.RSS()
		b.mib = min(b.mib, float64(now)/(1<<20))
		p.Stop()
	}
	fmt.Printf("%-8s listens after %6.1f ms, %6.1f MiB resident\n", name, b.ms, b.mib)
	contest.Behind("the start, ms", name, b.ms, ours.ms)
	contest.Behind("MiB resident at rest", name, b.mib, ours.mib)
	return b, nil
}

// run measures one job with all contestants, and the floor of its size.
func (j job) run(rivals []contestant, token string) error {
	status, reply, err := contest.Post(rivals[0].Base, token, j.message)
	if err != nil || status != 200 {
		return fmt.Errorf("%s: wick answered %d %.200s %v", j.name, status, reply, err)
	}
	var floors []contestant
	for _, name := range []string{"floor", "bare"} {
		floor, err := contest.Self("-serve", name, "-size", fmt.Sprint(len(reply)))
		if err != nil {
			return err
		}
		defer floor.Stop()
		floors = append(floors, contestant{name, floor})
	}
	fmt.Printf("\n%s, %d bytes\n%11s %-8s %12s %8s %8s %10s %10s %8s\n", j.name, len(reply),
		"connections", "", "CPU us/req", "x floor", "x wick", "requests/s", "p99 ms", "errors")
	all := append(floors, rivals...)
	for _, connections := range []int{32, 256} {
		loads := make([]contest.Load, len(all))
		for range *turns {
			for i, c := range all {
				l, err := contest.Wrk(c.Process, connections, time.Duration(*seconds)*time.Second, token, j.message)
				if err != nil {
					return err
				}
				loads[i].Add(l)
			}
		}
		base, own := loads[0].PerRequest(), loads[len(floors)].PerRequest()
		for i, c := range all {
			l := loads[i]
			fmt.Printf("%11d %-8s %12.1f %8.2f %8.2f %10.0f %10.2f %8d\n", connections, c.name, l.PerRequest(), l.PerRequest()/base, l.PerRequest()/own,
				l.Rate(), l.P99/1000, l.Errors)
			if i > len(floors) {
				contest.Behind(fmt.Sprintf("%s over %d connections, us of CPU", j.name, connections), c.name, l.PerRequest(), own)
			}
		}
	}
	return nil
}
