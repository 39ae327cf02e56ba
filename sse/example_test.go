package sse_test

import (
	"context"
	"fmt"
	"time"

	"wick/sse"
)

// A notification waits in its queue until a stream of the caller takes it.
func Example() {
	hub := sse.NewHub(func(note any) []byte { return fmt.Appendf(nil, "%q", note) })
	hub.Apply(sse.Record{Subscribed: &sse.Subscription{ID: "s-1", Caller: "alice"}})
	entry := &sse.Entry{Seq: 7, At: time.Now(), Note: "BTCUSDT above 70000"}
	hub.Apply(sse.Record{At: entry.At, Fired: entry, To: []string{"s-1"}})
	_, waiting, _ := hub.Status("alice")
	fmt.Println("waiting:", waiting)

	ctx, stop := context.WithCancel(context.Background())
	err := hub.Push(ctx, "alice", func(e sse.Event) error {
		fmt.Printf("%s %s\n", e.ID, e.Data)
		stop() // one is enough
		return nil
	})
	_, waiting, _ = hub.Status("alice")
	fmt.Println("waiting:", waiting, err)
	// Output:
	// waiting: 1
	// s-1-7 "BTCUSDT above 70000"
	// waiting: 0 <nil>
}
