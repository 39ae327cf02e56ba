// Command sse compares wick's hub with r3labs/sse and tmaxmax/go-sse, and the
// memory of an idle stream with that of a bare net/http handler that waits:
//
//	go run ./sse
//
// Each server is a process of its own, and so are the readers of its streams. All
// run at the same time and take turns, so that whatever else the machine does
// affects them in the same way. Two things are measured: single events, each sent
// when all readers have read the one before (latency, and the cost of one
// delivery), and bursts of a hundred (the cost of a delivery among many). wick has
// two rows; in one of them one more stream is opened and never read.
package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"wick/bench/contest"
)

var (
	serve   = flag.String("serve", "", "be the `server` of that name")
	read    = flag.String("read", "", "be the readers of the `server` of that name, and its judge")
	stalled = flag.Bool("stalled", false, "with -read: leave one more stream unread")
	sizes   = flag.String("streams", "1000,5000,10000", "`numbers` of streams")
	turns   = flag.Int("turns", 20, "how many `times` each has its turn")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		contest.Fail(err)
	}
}

func run() error {
	if *serve != "" {
		return serveHub(*serve)
	}
	if *read == "" {
		fmt.Println(contest.Machine())
		fmt.Printf("%-8s %-18s %9s %9s %9s %9s %9s %12s %12s\n", "streams", "", "KiB idle", "RSS MiB", "p50 ms", "p99 ms", "worst ms", "CPU us single", "CPU us burst")
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		if *read != "" {
			return judge(*read, n, *stalled)
		}
		if err := compare(n); err != nil {
			return err
		}
	}
	return nil
}

// burstTurns is a small number, since a burst to ten thousand streams is a million
// deliveries.
const burstTurns = 3

// compare starts all hubs with n streams, gives each its turns and prints what
// their judges say.
func compare(n int) error {
	rows := []*row{{name: "bare"}, {name: "wick"}, {name: "wick", stalled: true}, {name: "r3labs"}, {name: "tmaxmax"}}
	for _, r := range rows {
		if err := r.start(n); err != nil {
			return fmt.Errorf("%v: %w", r, err)
		}
		defer r.stop()
	}
	var problems []error
	for turn := range *turns + burstTurns {
		order := "single"
		if turn >= *turns {
			order = "burst"
		}
		for _, r := range rows {
			problems = append(problems, r.tell(order))
		}
	}
	for _, r := range rows {
		problems = append(problems, r.tell("end"))
		fmt.Printf("%-8d %-18v %s\n", n, r, r.said)
	}
	for _, r := range rows[3:] {
		theirs, ours := strings.Fields(r.said), strings.Fields(rows[1].said)
		for i, what := range []string{"KiB of an idle stream", "MiB resident", "ms, p50", "ms, p99", "ms, the worst", "us of CPU for a single event", "us of CPU for one in a burst"} {
			if i < min(len(theirs), len(ours)) {
				contest.Behind(fmt.Sprintf("%d streams, %s", n, what), r.name, number(theirs[i]), number(ours[i]))
			}
		}
	}
	return errors.Join(problems...)
}

// number reads a figure of a row.
func number(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64) // a row that is no row has failed already
	return v
}
