package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// What one client does with its token.
const (
	charts    = 1_000 // of the largest size, all at once
	series    = 60    // batches of twenty, whose answers it does not read
	stalled   = 400   // bodies of 1 MiB that never end
	idle      = 4_200 // connections, more than the server may have files
	hammering = 150   // connections that ask for small charts, one after the other
)

// greedy does all of it at once and returns how its largest charts were
// answered.
func greedy(t *target, token string) *tally {
	h := newHolders(t)
	one := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"generate_chart","arguments":{"bars":2000,"format":"series"}}}`
	batch := "[" + strings.Repeat(one+",", 19) + one + "]"
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	var holding sync.WaitGroup
	holding.Go(func() { h.hold(series, h.post(token, len(batch), batch)) })
	holding.Go(func() { h.hold(stalled, h.post(token, 1<<20, strings.Repeat(" ", 1<<20-1))) })
	holding.Go(func() { h.hold(idle, h.post(token, len(ping), ping)) })
	stop := make(chan struct{})
	var hammers sync.WaitGroup
	var small tally
	for range hammering {
		hammers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, status, err := t.call(token, "generate_chart", `{"width":320,"height":240}`)
				small.add(status, err)
			}
		})
	}
	holding.Wait()
	pictures := manyCharts(t, token)
	close(stop)
	hammers.Wait()
	fmt.Printf("greedy:         %d unread batches of series, %d stalled bodies, %d idle connections (%d refused);\n                small charts on %d connections, answered %v\n",
		series, stalled, idle, h.refused.Load(), hammering, &small)
	h.release()
	return pictures
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
			for err != nil && again.Add(1) < 10*charts { // closed before its token was read, to make room
				_, status, err = t.call(token, "generate_chart", [2]string{drawn, refused}[i%2])
			}
			statuses.add(status, err)
		})
	}
	all.Wait()
	fmt.Printf("largest charts: %d, answered %v, %d asked again\n", charts, statuses, again.Load())
	return statuses
}
