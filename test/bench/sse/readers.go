package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wick/bench/contest"
)

// readers are the clients of one server.
type readers struct {
	conns   []net.Conn
	reading int            // how many of them are read
	seen    sync.WaitGroup // events still to be read
	lost    atomic.Int64   // connections that broke

	mu        sync.Mutex
	latencies []time.Duration // of the round under way
}

// open opens n streams. With stalled there is one more, first, that is never
// read beyond its head.
func open(base string, n int, stalled bool) (*readers, error) {
	r := &readers{}
	if stalled {
		if _, err := r.dial(base); err != nil {
			return nil, err
		}
	}
	for range n {
		conn, err := r.dial(base)
		if err != nil {
			r.close()
			return nil, err
		}
		go r.read(conn)
		r.reading++
	}
	// Not every hub sends the headers before the first event, so the only way to wait is
	// to let some time pass.
	time.Sleep(time.Second + time.Duration(n)*100*time.Microsecond)
	return r, nil
}

func (r *readers) dial(base string) (net.Conn, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		return nil, err
	}
	r.conns = append(r.conns, conn)
	fmt.Fprintf(conn, "GET /stream?stream=all HTTP/1.1\r\nHost: localhost\r\n\r\n")
	return conn, nil
}

// read notes how old each event is when it arrives. An event is found by the time that it
// contains, so it does not matter what else a hub writes.
func (r *readers) read(conn net.Conn) {
	mark := []byte(`"sent":`)
	buffer := make([]byte, 0, 4096)
	for {
		if len(buffer) == cap(buffer) {
			buffer = slices.Grow(buffer, cap(buffer))
		}
		n, err := conn.Read(buffer[len(buffer):cap(buffer)])
		if err != nil {
			r.lost.Add(1)
			return
		}
		buffer = buffer[:len(buffer)+n]
		now := time.Now().UnixNano()
		rest := buffer
		for {
			at := bytes.Index(rest, mark)
			if at < 0 || len(rest) < at+len(mark)+20 { // 19 digits and what follows
				break
			}
			digits := rest[at+len(mark):][:19]
			sent, _ := strconv.ParseInt(string(digits), 10, 64)
			r.note(time.Duration(now - sent))
			rest = rest[at+len(mark)+20:]
		}
		buffer = append(buffer[:0], rest[max(0, len(rest)-len(mark)-20):]...) // an event may come in two parts
	}
}

func (r *readers) note(d time.Duration) {
	r.mu.Lock()
	r.latencies = append(r.latencies, d)
	r.mu.Unlock()
	r.seen.Done()
}

func (r *readers) close() {
	for _, c := range r.conns {
		c.Close()
	}
}

// round is what was seen of the events of some kind.
type round struct {
	latencies []time.Duration
	cpu       time.Duration // of the server
}

// publish sends a number of bursts of n events, each when all of the last have
// been read, and adds what it sees to the round.
func (r *readers) publish(p *contest.Process, to *round, bursts, n int) error {
	r.latencies = r.latencies[:0]
	before := p.CPU()
	for range bursts {
		r.seen.Add(n * r.reading)
		reply, err := http.Post(p.Base+"/publish?n="+strconv.Itoa(n), "", nil)
		if err != nil {
			return err
		}
		io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
		if err := r.wait(); err != nil {
			return err
		}
	}
	to.cpu += p.CPU() - before
	to.latencies = append(to.latencies, r.latencies...)
	return nil
}

// wait waits until all events have been read, for at most a minute.
func (r *readers) wait() error {
	done := make(chan struct{})
	go func() { r.seen.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-time.After(time.Minute):
		return fmt.Errorf("events are missing after a minute; %d streams broke", r.lost.Load())
	}
}

// percentile returns a latency in milliseconds.
func (r *round) percentile(p int) float64 {
	slices.Sort(r.latencies)
	return float64(r.latencies[(len(r.latencies)-1)*p/100].Microseconds()) / 1000
}

// each returns the server's CPU microseconds per delivery.
func (r *round) each() float64 {
	return float64(r.cpu.Microseconds()) / float64(len(r.latencies))
}
