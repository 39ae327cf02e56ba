package oauth

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// pipeListener hands out the far ends of pipes: a network inside a bubble.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l pipeListener) Close() error { return nil }

func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// A body that trickles in is given up after ten seconds; without that, a few
// hundred connections that send a byte a minute keep everyone else out.
func TestSlowBody(t *testing.T) {
	for path, status := range map[string]int{"/register": 400, "/token": 400, "/authorize": 400, "/favicon.svg": 405, serverDocument: 405, "/.well-known/x": 404} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t)
			srv := &http.Server{Handler: h.mux}
			listener := make(pipeListener)
			go srv.Serve(listener)
			defer srv.Close()
			defer close(listener)
			client, server := net.Pipe()
			listener <- server
			defer client.Close()

			start := time.Now()
			fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", path)
			reply, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatal(err)
			}
			if reply.StatusCode != status || time.Since(start) != bodyTime {
				t.Errorf("%s: status %d after %v, want %d after %v", path, reply.StatusCode, time.Since(start), status, bodyTime)
			}
		})
	}
}
