package main

import (
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	r3labs "github.com/r3labs/sse/v2"
	tmaxmax "github.com/tmaxmax/go-sse"

	"wick/bench/contest"
	"wick/sse"
)

// frame is an event of usual length that carries the time it was sent at.
func frame() string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/alert_triggered","params":{"sent":%d,"alert_id":"a1","symbol":"BTCUSDT",`+
		`"type":"price_above","threshold":65000,"value":65001.5,"interval":"4h","triggered_at":"2026-01-01T00:00:00.000Z"}}`, time.Now().UnixNano())
}

// serveHub serves GET /stream by one of the hubs, and POST /publish, which
// sends a number of events to every stream.
func serveHub(name string) error {
	var stream http.Handler
	send := func() {}
	switch name {
	case "bare":
		stream = http.HandlerFunc(bare)
	case "wick":
		stream, send = wickHub()
	case "r3labs":
		hub := r3labs.New()
		hub.AutoReplay = false // or it keeps every event for ever
		hub.CreateStream("all")
		stream = hub
		send = func() { hub.Publish("all", &r3labs.Event{ID: []byte("1"), Data: []byte(frame())}) }
	case "tmaxmax":
		hub := &tmaxmax.Server{}
		stream = hub
		send = func() {
			m := &tmaxmax.Message{}
			m.AppendData(frame())
			hub.Publish(m)
		}
	default:
		return fmt.Errorf("no hub %q", name)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /stream", stream)
	mux.HandleFunc("POST /publish", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		for range n {
			send()
		}
	})
	mux.HandleFunc("GET /memory", func(w http.ResponseWriter, r *http.Request) {
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Fprintln(w, m.HeapAlloc+m.StackInuse)
	})
	return contest.Serve(mux)
}

// bare opens a stream and waits: what net/http itself needs.
func bare(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Write([]byte(": open\n\n"))
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// wickHub gives every stream a subscription of its own, as tokens have, and
// applies what the journal would.
func wickHub() (http.Handler, func()) {
	hub := sse.NewHub(func(note any) []byte { return []byte(note.(string)) })
	var (
		mu    sync.Mutex
		names []string
		seq   uint64
	)
	stream := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		name := "subscriber" + strconv.Itoa(len(names))
		names = append(names, name)
		hub.Apply(sse.Record{Subscribed: &sse.Subscription{ID: name, Caller: name}})
		mu.Unlock()
		hub.Serve(w, r, sse.Caller{ID: name}, nil)
	}
	send := func() {
		mu.Lock()
		defer mu.Unlock()
		seq++
		now := time.Now()
		hub.Apply(sse.Record{At: now, Fired: &sse.Entry{Seq: seq, At: now, Note: frame()}, To: names})
	}
	return http.HandlerFunc(stream), send
}
