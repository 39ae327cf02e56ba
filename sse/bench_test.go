package sse

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// One notification to a thousand streams over loopback connections, until the
// last client has read it.
func BenchmarkBroadcastTCP(b *testing.B) {
	const streams = 1000
	names := make([]string, streams)
	for i := range names {
		names[i] = fmt.Sprint("subscriber", i)
	}
	h := newHub(b, names...)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Serve(w, r, Caller{ID: strings.TrimPrefix(r.URL.Path, "/")}, nil)
	}))
	defer srv.Close()
	defer func() { <-h.Close() }()
	var read sync.WaitGroup
	for _, name := range names {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n", name)
		go func() {
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "data: ") {
					read.Done()
				}
			}
		}()
	}
	for open := 0; open < streams; _, open, _ = h.Stats() {
		time.Sleep(time.Millisecond)
	}
	b.ReportAllocs()
	var seq uint64
	for b.Loop() {
		seq++
		read.Add(streams)
		fire(b, h, seq, seq, names...)
		read.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*streams), "ns/delivery")
}
