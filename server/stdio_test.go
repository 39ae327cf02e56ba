package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/market"
)

// deafHost is a host in a bubble that has sent some requests, one by one, and reads
// nothing of the replies yet. Lists are long, and answered by one goroutine: in a bubble
// no two may wait for a lock.
type deafHost struct {
	in    *io.PipeWriter
	out   *io.PipeReader
	ended chan error
}

// startDeaf starts wick --mcp with such a host.
func startDeaf(t *testing.T, requests int) *deafHost {
	t.Helper()
	in, send := io.Pipe()
	receive, out := io.Pipe()
	h := &deafHost{send, receive, make(chan error, 1)}
	dir := t.TempDir()
	go func() {
		h.ended <- Run(t.Context(), []string{"--mcp", "--data-dir", dir}, env("HOME", dir), in, out, io.Discard)
		out.Close()
		in.Close() // lets go whoever reads it
	}()
	for i := range requests {
		fmt.Fprintf(send, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", i)
	}
	return h
}

// TestDeafHostEnds: when the host of a process sends no more and takes nothing, the
// process ends with an error instead of staying for ever with the data directory.
func TestDeafHostEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startDeaf(t, 20)
		h.in.Close()
		err := <-h.ended
		if want := fmt.Sprintf("has taken less than %d bytes in %v", hostPiece, hostPatience); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ended with %v, want one that it %s", err, want)
		}
		h.out.Close() // lets go the writer that was left behind
	})
}

// TestSlowHost: a host that reads slowly gets every reply, however long that takes, and one
// that has not ended its side may be as slow as it likes.
func TestSlowHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startDeaf(t, 20)
		time.Sleep(time.Hour) // it is stopped, and has not ended
		if len(h.ended) > 0 {
			t.Fatalf("ended with %v", <-h.ended)
		}
		h.in.Close()
		var got bytes.Buffer
		for part := make([]byte, hostPiece); ; time.Sleep(hostPatience - time.Second) {
			n, err := io.ReadFull(h.out, part)
			if got.Write(part[:n]); err != nil {
				break
			}
		}
		if err := <-h.ended; err != nil {
			t.Error(err)
		}
		if n := bytes.Count(got.Bytes(), []byte("\n")); n != 20 {
			t.Errorf("%d replies, want 20", n)
		}
		for i := range 20 {
			if !bytes.Contains(got.Bytes(), fmt.Appendf(nil, `"id":%d,`, i)) {
				t.Errorf("no reply to %d", i)
			}
		}
	})
}

// TestBusyAfterInput: a call that takes long is no fault of the host.
func TestBusyAfterInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &stdio{in: strings.NewReader("a line\n"), out: &out}
		err := s.farewell(t.Context(), func() error {
			io.ReadAll(s)
			time.Sleep(time.Hour)
			_, err := io.WriteString(s, "its reply\n")
			return err
		})
		if err != nil || out.String() != "its reply\n" {
			t.Errorf("%v, %q", err, &out)
		}
	})
}

// TestAheadBound: from a host that does not read, only a bounded amount is read ahead, and
// none of it is lost.
func TestAheadBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		input := strings.Repeat("0123456789abcde\n", 4*maxAhead/16)
		rest := strings.NewReader(input)
		receive, out := io.Pipe()
		s := &stdio{in: rest, out: out}
		var got []byte
		done := make(chan error)
		go func() {
			done <- s.farewell(t.Context(), func() (err error) {
				io.WriteString(s, "x")
				got, err = io.ReadAll(s)
				return err
			})
		}()
		time.Sleep(time.Hour)
		if n := len(input) - rest.Len(); n < maxAhead || n > maxAhead+64<<10 {
			t.Errorf("%d bytes were read ahead", n)
		}
		receive.Read(make([]byte, 1))
		if err := <-done; err != nil || string(got) != input {
			t.Errorf("%v; %d of %d bytes came", err, len(got), len(input))
		}
	})
}

// TestFrontLost: a front whose host does not read notices that the process behind it has
// ended, and gives up with an error that says so.
func TestFrontLost(t *testing.T) {
	t.Parallel()
	c := standIn(t, func(conn *net.UnixConn, _ *bufio.Reader) { io.WriteString(conn, strings.Repeat("reply\n", 1000)) })
	in, _ := io.Pipe()
	receive, out := io.Pipe() // takes nothing
	lost := make(chan error, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- attachTo(t.Context(), c, in, out, func(err error) { lost <- err })
	}()
	if err := <-lost; err != errLost {
		t.Errorf("told %v", err)
	}
	receive.Close()
	<-ended
	in.Close()
}

// TestDeafFront: once the process behind a front is gone, its host has as much time as any
// other to read what is left. Then the front ends, with an error that says why.
func TestDeafFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, _ := io.Pipe()
		receive, out := io.Pipe()
		s := &stdio{in: in, out: out}
		time.AfterFunc(time.Minute, func() { s.end(errLost) })
		start := time.Now()
		err := s.farewell(context.Background(), func() error {
			_, err := io.WriteString(s, "what is left")
			return err
		})
		if took := time.Since(start); err != errLost || took < time.Minute+hostPatience || took > time.Minute+hostPatience+2*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		receive.Close()
		in.Close()
	})
}

// heldSource is a source whose bars of symbols that begin with HELD wait until they are
// released.
type heldSource struct {
	market.Source
	asked   chan string // receives each such symbol
	release chan struct{}
}

func (s heldSource) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if strings.HasPrefix(q.Symbol, "HELD") {
		s.asked <- q.Symbol
		select {
		case <-s.release:
		case <-ctx.Done():
		}
	}
	return s.Source.Bars(ctx, q)
}

// TestStopFinishesCalls: a process that is told to end finishes the calls of its host and
// of attached ones, and reads no further ones. No reply says that an order failed which
// was placed.
func TestStopFinishesCalls(t *testing.T) {
	t.Parallel()
	sample, err := market.Open("sample", env())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := heldSource{sample, make(chan string, 100), make(chan struct{})}
	c := parse(t, env("HOME", dir), "--mcp", "--trade", "--data-dir", dir)
	first := runHost(t, func(ctx context.Context, in io.Reader, out, log io.Writer) error {
		return serveStdio(ctx, c, source, newLoggers(log, "text"), in, out)
	})
	first.call("get_orders", `{}`) // it has the directory now
	hosts := []*host{first, startHost(t, dir)}
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"symbol":%q,%s}}}`
	for i, h := range hosts {
		chart, order := fmt.Sprintf("HELD%dUSDT", 2*i), fmt.Sprintf("HELD%dUSDT", 2*i+1)
		h.say(fmt.Sprintf(call, 2, "generate_chart", chart, `"format":"summary"`))
		h.say(fmt.Sprintf(call, 3, "place_order", order, `"side":"buy","type":"market","quantity":1`))
		for seen := map[string]bool{}; !seen[chart] || !seen[order]; {
			seen[<-source.asked] = true
		}
	}
	first.stop()
	time.Sleep(100 * time.Millisecond) // for what would cancel the calls
	close(source.release)
	for i, h := range hosts {
		var got strings.Builder
		for h.lines.Scan() {
			got.WriteString(h.lines.Text())
		}
		if said := got.String(); strings.Contains(said, "isError") || !strings.Contains(said, `total_volume`) || !strings.Contains(said, `\"status\":\"filled\"`) {
			t.Errorf("host %d: %s", i, said)
		}
	}
	if err := <-first.ended; err != nil {
		t.Error(err)
	}
	<-hosts[1].ended
}
