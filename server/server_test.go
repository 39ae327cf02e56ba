package server

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections in memory, whose time a bubble can turn.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// converse gives the server a connection on which the client sends text and
// reads until the server ends it. It returns what came and when it ended.
func converse(t *testing.T, text string) (answer string, after time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				http.Error(w, "too slow", http.StatusRequestTimeout)
			}
		})
		srv := newHTTPServer(handler, newConnections(manyFiles), slog.New(slog.DiscardHandler))
		ln := make(pipes)
		go srv.Serve(ln)
		here, there := net.Pipe()
		ln <- there
		start := time.Now()
		go io.WriteString(here, text)
		all, err := io.ReadAll(bufio.NewReader(here))
		if err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
		answer, after = string(all), time.Since(start)
		here.Close()
		srv.Close()
	})
	return answer, after
}

// TestSlowRequests: a client that sends nothing, half a head or half a body is
// cut off when its time is up.
func TestSlowRequests(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"":                               readHeaderTimeout,
		"GET / HTTP/1.1\r\nHost: a\r\nX": readHeaderTimeout,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf": readTimeout,
	} {
		if _, after := converse(t, text); after < want || after > want+time.Second {
			t.Errorf("%q: cut off after %v, want %v", text, after, want)
		}
	}
}

// TestServerBounds: a kept connection without a further request is closed.
func TestServerBounds(t *testing.T) {
	answer, after := converse(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 200 ") || after != idleTimeout {
		t.Errorf("%q, closed after %v, want %v", answer, after, idleTimeout)
	}
}

// TestShutdownBound: what does not finish is cut off, and the stop takes no
// longer than it may.
func TestShutdownBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck })
		srv := newHTTPServer(handler, newConnections(manyFiles), slog.New(slog.DiscardHandler))
		ln := make(pipes, 1)
		here, there := net.Pipe()
		ln <- there
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- serveHTTP(ctx, srv, ln) }()
		io.WriteString(here, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		synctest.Wait()
		start := time.Now()
		stop()
		if err := <-done; err != nil || time.Since(start) != shutdownTimeout {
			t.Errorf("stopped after %v with %v, want %v", time.Since(start), err, shutdownTimeout)
		}
		if _, err := here.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the request that did not finish: %v, want its connection closed", err)
		}
		close(stuck)
	})
}

// TestHeaderBound: a head of exactly the bound is served, one byte more is
// refused.
func TestHeaderBound(t *testing.T) {
	const before, after = "GET / HTTP/1.1\r\nHost: a\r\nX: ", "\r\n\r\n"
	for size, want := range map[int]string{maxHeaderBytes: "HTTP/1.1 200 ", maxHeaderBytes + 1: "HTTP/1.1 431 "} {
		answer, _ := converse(t, before+strings.Repeat("x", size-len(before+after))+after)
		if !strings.HasPrefix(answer, want) {
			t.Errorf("a head of %d bytes: %.60q, want %s", size, answer, want)
		}
	}
}

// TestReplyTimeout: a client that does not take its reply is cut off, whatever
// part of the program answers; a handler may give itself longer.
func TestReplyTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		ended := make(chan error)
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			_, err := w.Write(make([]byte, 100_000)) // a pipe has no buffer
			took = time.Since(start)
			ended <- err
		})
		srv := newHTTPServer(handler, newConnections(manyFiles), slog.New(slog.DiscardHandler))
		ln := make(pipes)
		go srv.Serve(ln)
		here, there := net.Pipe()
		ln <- there
		io.WriteString(here, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		if err := <-ended; err == nil || took != replyTimeout {
			t.Errorf("the write ended after %v with %v, want an error after %v", took, err, replyTimeout)
		}
		here.Close()
		srv.Close()
	})
}
