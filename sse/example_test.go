package sse_test

import (
	"context"
	"fmt"

	"wick/sse"
)

// An entry waits in the mailbox until someone reads it.
func Example() {
	var hub sse.Hub
	hub.Open("alice")
	hub.Send(sse.Entry{Seq: 7, Frame: []byte(`{"alert":"BTCUSDT above 70000"}`)}, "alice", "bob")
	fmt.Println("pending:", hub.Pending("alice"), hub.Pending("bob"))

	ctx, stop := context.WithCancel(context.Background())
	err := hub.Deliver(ctx, "alice", func(id string, frame []byte) error {
		fmt.Printf("%s %s\n", id, frame)
		stop() // one is enough
		return nil
	})
	fmt.Println("pending:", hub.Pending("alice"), err)
	// Output:
	// pending: 1 0
	// alice-7 {"alert":"BTCUSDT above 70000"}
	// pending: 0 <nil>
}
