// Command e2e measures what a client of wick's binary waits for: charts and
// summaries over HTTP, orders of many clients at once, the start, memory at rest and
// with the largest pictures, and the size of the binary:
//
//	go run ./e2e -wick ../../wick
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"wick/bench/contest"
	"wick/test/harness"
)

var (
	wick    = flag.String("wick", "../../wick", "wick's `binary`")
	seconds = flag.Int("seconds", 5, "how long each measurement lasts")
	only    = flag.String("only", "", "the one `step` to run: size, start, idle, calls, orders or crowd")
)

func main() {
	flag.Parse()
	fmt.Println(contest.Machine())
	for _, step := range []struct {
		name string
		run  func() error
	}{{"size", size}, {"start", start}, {"idle", idle}, {"calls", calls}, {"orders", orders}, {"crowd", crowd}} {
		if *only != "" && *only != step.name {
			continue
		}
		if err := step.run(); err != nil {
			contest.Fail(err)
		}
	}
}

func size() error {
	info, err := os.Stat(*wick)
	if err != nil {
		return err
	}
	fmt.Printf("%-46s %8.2f MB\n", "binary, stripped", float64(info.Size())/1e6)
	return nil
}

// start measures from the start of the process to its first answer.
func start() error {
	var took []time.Duration
	for range 7 {
		d, err := startOnce()
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	slices.Sort(took)
	fmt.Printf("%-46s %8.1f ms, best %.1f\n", "start to first answer, --trade, median of 7",
		float64(took[3].Microseconds())/1000, float64(took[0].Microseconds())/1000)
	return nil
}

func startOnce() (time.Duration, error) {
	home, err := os.MkdirTemp("", "wick-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(home)
	ln, err := net.Listen("tcp", "127.0.0.1:0") // to find a free port
	if err != nil {
		return 0, err
	}
	addr := ln.Addr().String()
	ln.Close()
	_, port, _ := strings.Cut(addr, ":")
	cmd := exec.Command(*wick, "--serve", "--trade", "--port", port)
	cmd.Env = []string{"HOME=" + home}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	for time.Since(began) < 10*time.Second {
		if _, err := contest.Get("http://" + addr + "/"); err == nil {
			return time.Since(began), nil
		}
		time.Sleep(200 * time.Microsecond)
	}
	return 0, fmt.Errorf("wick did not answer on %s", addr)
}

func idle() error {
	for _, args := range [][]string{nil, {"--trade"}} {
		p, err := contest.Wick(*wick, args...)
		if err != nil {
			return err
		}
		time.Sleep(2 * time.Second)
		now, _ := p.RSS()
		p.Stop()
		fmt.Printf("%-46s %8.1f MiB\n", strings.TrimSpace("resident at rest, --serve "+strings.Join(args, " ")), float64(now)/(1<<20))
	}
	return nil
}

// login starts a wick with more arguments and gets a token.
func login(args ...string) (*contest.Process, string, error) {
	p, err := contest.Wick(*wick, append([]string{"--trade"}, args...)...)
	if err != nil {
		return nil, "", err
	}
	c, err := p.Login("bench")
	if err != nil {
		p.Stop()
		return nil, "", err
	}
	return p, c.Token, nil
}

// calls measures charts: one client alone for the latency, a few at once for
// the rate.
func calls() error {
	p, token, err := login()
	if err != nil {
		return err
	}
	defer p.Stop()
	for _, job := range []struct{ name, arguments string }{
		{"generate_chart", `{"symbol":"BTCUSDT","indicators":["ema_stack","rsi","macd"]}`},
		{"generate_chart, format=summary", `{"symbol":"BTCUSDT","indicators":["ema_stack","rsi","macd"],"format":"summary"}`},
		{"generate_chart, format=series", `{"symbol":"BTCUSDT","indicators":["ema_stack","rsi","macd"],"format":"series"}`},
	} {
		message := harness.Message("generate_chart", job.arguments)
		_, reply, err := contest.Post(p.Base, token, message)
		if err != nil {
			return err
		}
		for _, connections := range []int{1, 4} {
			l, err := contest.Wrk(p, connections, time.Duration(*seconds)*time.Second, token, message)
			if err != nil {
				return err
			}
			fmt.Printf("%-32s %7d bytes %2d at once %8.2f CPU ms %8.0f/s, p50 %.1f ms, p99 %.1f ms, %d errors\n", job.name, len(reply), connections,
				l.PerRequest()/1000, l.Rate(), l.P50/1000, l.P99/1000, l.Errors)
		}
	}
	return nil
}

// orders has 64 clients place market orders, each with an id of its own, and looks
// at the position afterwards: every order that was answered was filled.
func orders() error {
	rules, err := os.CreateTemp("", "wick-rules-")
	if err != nil {
		return err
	}
	defer os.Remove(rules.Name())
	defer rules.Close()
	fmt.Fprintln(rules, "max-order-rate 1000000")
	p, token, err := login("--paper-file", rules.Name(), "--max-position-notional", "1000000000")
	if err != nil {
		return err
	}
	defer p.Stop()
	const size = 0.0001
	l, err := contest.Wrk(p, 64, time.Duration(*seconds)*time.Second, token,
		harness.Message("place_order", fmt.Sprintf(`{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":%v,"client_order_id":"n%s"}`, size, contest.Number)))
	if err != nil {
		return err
	}
	_, reply, err := contest.Post(p.Base, token, harness.Message("get_positions", "{}"))
	if err != nil {
		return err
	}
	var held float64
	if _, rest, ok := strings.Cut(string(reply), `\"quantity\":`); !ok {
		return fmt.Errorf("no position: %.300s", reply)
	} else if _, err := fmt.Sscan(strings.FieldsFunc(rest, func(r rune) bool { return r == ',' })[0], &held); err != nil {
		return err
	}
	fmt.Printf("%-46s %8.0f/s, %.2f CPU ms, p50 %.1f ms, p99 %.1f ms, %d errors, %.0f filled with those of the first second\n", "place_order, 64 clients at once",
		l.Rate(), l.PerRequest()/1000, l.P50/1000, l.P99/1000, l.Errors, held/size)
	return nil
}

// crowd asks for a hundred of the largest pictures at once.
func crowd() error {
	p, token, err := login()
	if err != nil {
		return err
	}
	defer p.Stop()
	message := harness.Message("generate_chart", `{"symbol":"BTCUSDT","width":4096,"height":4096}`)
	var (
		all sync.WaitGroup
		mu  sync.Mutex
	)
	statuses := make(map[int]int)
	began := time.Now()
	for range 100 {
		all.Go(func() {
			status, _, err := contest.Post(p.Base, token, message)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				status = 0
			}
			statuses[status]++
		})
	}
	all.Wait()
	_, peak := p.RSS()
	fmt.Printf("%-46s %8.0f MiB at most, %d answered, %d refused, %d lost, in %.1f s\n", "100 charts of 4096x4096 at once", float64(peak)/(1<<20),
		statuses[http.StatusOK], statuses[http.StatusServiceUnavailable], statuses[0], time.Since(began).Seconds())
	return nil
}
