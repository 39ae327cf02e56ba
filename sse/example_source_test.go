package sse_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"wick/sse"
)

// greeting has one event, and ends the stream once it is written.
type greeting struct {
	bell    chan struct{}
	written bool
	end     func()
}

func (g *greeting) Bell() chan struct{} { return g.bell }
func (g *greeting) Wrote(int)           { g.written = true; g.end() }
func (g *greeting) Next() (events []sse.Event) {
	if g.written {
		return events
	}
	return append(events, sse.Event{ID: "7", Data: []byte(`{"alert":"BTCUSDT above 70000"}`)})
}

// A stream writes what its source has.
func ExampleServe() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := context.WithCancel(r.Context())
		sse.Serve(ctx, w, &greeting{bell: make(chan struct{}, 1), end: end})
	}))
	defer srv.Close()
	res, err := http.Get(srv.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := io.ReadAll(res.Body)
	fmt.Print(string(text))
	// Output:
	// : open
	//
	// id: 7
	// event: message
	// data: {"alert":"BTCUSDT above 70000"}
	//
	// retry: 2000
}
