package sse

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// nullWriter takes what a stream writes and tells a counter.
type nullWriter struct {
	header http.Header
	events *sync.WaitGroup
}

func (w *nullWriter) Header() http.Header              { return w.header }
func (w *nullWriter) WriteHeader(int)                  {}
func (w *nullWriter) Flush()                           {}
func (w *nullWriter) SetWriteDeadline(time.Time) error { return nil }

func (w *nullWriter) Write(p []byte) (int, error) {
	if p[0] == 'i' { // "id: ", the beginning of events
		w.events.Done()
	}
	return len(p), nil
}

// The hub alone: one entry to a thousand streams, without the connections.
func BenchmarkBroadcast(b *testing.B) {
	const streams = 1000
	var h Hub
	var events, handlers sync.WaitGroup
	ctx, cancel := context.WithCancel(b.Context())
	names := make([]string, streams)
	for i := range names {
		names[i] = fmt.Sprint("subscriber", i)
		h.Open(names[i])
		handlers.Go(func() {
			h.Serve(&nullWriter{make(http.Header), &events}, request(ctx, ""), names[i], time.Time{})
		})
	}
	frame := []byte(`{"jsonrpc":"2.0","method":"notifications/alert_triggered","params":{"alert_id":"a1","symbol":"BTCUSDT"}}`)
	b.ReportAllocs()
	var seq uint64
	for b.Loop() {
		seq++
		events.Add(streams)
		h.Send(Entry{Seq: seq, Frame: frame}, names...)
		events.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*streams), "ns/delivery")
	cancel()
	handlers.Wait()
}

// One entry to a thousand streams over loopback connections, until the last
// client has read it.
func BenchmarkBroadcastTCP(b *testing.B) {
	const streams = 1000
	h := &Hub{}
	srv := serve(b, h)
	var read sync.WaitGroup
	names := make([]string, streams)
	for i := range names {
		names[i] = fmt.Sprint("subscriber", i)
		h.Open(names[i])
		conn := dial(b, srv, names[i])
		defer conn.Close()
		go func() {
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "data: ") {
					read.Done()
				}
			}
		}()
	}
	for h.Streams() < streams {
		time.Sleep(time.Millisecond)
	}
	b.ReportAllocs()
	var seq uint64
	for b.Loop() {
		seq++
		read.Add(streams)
		h.Send(Entry{Seq: seq, Frame: []byte(`{"n":1}`)}, names...)
		read.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*streams), "ns/delivery")
}

// dial opens a stream with as little memory on the client's side as can be.
func dial(t testing.TB, srv *httptest.Server, name string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n", name)
	return conn
}

// The memory of an idle stream beside that of a handler which writes the same
// head and waits, both with their connections in this process.
func BenchmarkIdleStream(b *testing.B) {
	for b.Loop() {
		bare := memoryPerStream(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("X-Accel-Buffering", "no")
			w.Write([]byte(": open\n\n"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		h := &Hub{}
		hub := memoryPerStream(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.Serve(w, r, strings.TrimPrefix(r.URL.Path, "/"), time.Time{})
		}))
		b.ReportMetric(bare, "bare-B/stream")
		b.ReportMetric(hub, "hub-B/stream")
		b.ReportMetric(hub-bare, "more-B/stream")
	}
}

// memoryPerStream opens a thousand streams, each of a name of its own, and
// returns what one costs in heap and stacks.
func memoryPerStream(b *testing.B, handler http.Handler) float64 {
	const streams = 1000
	srv := httptest.NewServer(handler)
	defer srv.Close() // waits for the handlers
	used := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := used()
	conns := make([]net.Conn, streams)
	for i := range conns {
		conns[i] = dial(b, srv, fmt.Sprint("subscriber", i))
		if _, err := conns[i].Read(make([]byte, 1)); err != nil { // the head is there
			b.Fatal(err)
		}
	}
	after := used()
	for _, conn := range conns {
		conn.Close()
	}
	return (float64(after) - float64(before)) / streams
}
