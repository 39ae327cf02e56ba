package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/market"
)

// deafHost is a host in a bubble that sends some requests, one by one, ends its side, and
// reads nothing of the replies yet. Lists are long, and answered by one goroutine: in a bubble
// no two may wait for a lock.
type deafHost struct {
	out   *io.PipeReader
	ended chan error
}

// startDeaf starts wick --mcp with such a host.
func startDeaf(t *testing.T, requests int) *deafHost {
	t.Helper()
	in, send := io.Pipe()
	receive, out := io.Pipe()
	h := &deafHost{receive, make(chan error, 1)}
	dir := t.TempDir()
	go func() {
		h.ended <- Run(t.Context(), []string{"--mcp", "--data-dir", dir}, env("HOME", dir), in, out, io.Discard)
		out.Close()
		in.Close() // lets go whoever reads it
	}()
	go func() {
		for i := range requests {
			fmt.Fprintf(send, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", i)
		}
		send.Close()
	}()
	return h
}

// TestDeafHostEnds: when the host of a process takes nothing of its replies, the process
// ends with an error instead of staying for ever with the data directory.
func TestDeafHostEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startDeaf(t, 20)
		err := <-h.ended
		if want := fmt.Sprintf("has read less than %d bytes in %v", hostPiece, hostPatience); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ended with %v, want one that it %s", err, want)
		}
		h.out.Close() // lets go the writer that was left behind
	})
}

// TestSlowHost: a host that reads slowly gets every reply, however long that takes.
func TestSlowHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startDeaf(t, 20)
		var got bytes.Buffer
		for part := make([]byte, hostPiece); ; time.Sleep(hostPatience - 2*time.Second) {
			n, err := io.ReadFull(h.out, part)
			if got.Write(part[:n]); err != nil {
				break
			}
		}
		if err := <-h.ended; err != nil {
			t.Error(err)
		}
		for i := range 20 {
			if !bytes.Contains(got.Bytes(), fmt.Appendf(nil, `"id":%d,`, i)) {
				t.Errorf("no reply to %d", i)
			}
		}
	})
}

// TestBusyHost: a call that takes long is no fault of the host.
func TestBusyHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &stdio{out: &out}
		err := s.farewell(t.Context(), func() error {
			time.Sleep(time.Hour)
			_, err := io.WriteString(s, "its reply\n")
			return err
		})
		if err != nil || out.String() != "its reply\n" {
			t.Errorf("%v, %q", err, &out)
		}
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
