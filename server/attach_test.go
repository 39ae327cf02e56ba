package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// host is a program that speaks to wick --mcp --trade over its standard input and
// output.
type host struct {
	t      *testing.T
	stop   context.CancelFunc
	in     *io.PipeWriter
	lines  *bufio.Scanner
	ended  chan error
	log    *syncBuffer
	pushed []string // what came before a reply
}

func startHost(t *testing.T, dir string, args ...string) *host {
	t.Helper()
	return runHost(t, func(ctx context.Context, in io.Reader, out, log io.Writer) error {
		return Run(ctx, append([]string{"--mcp", "--trade", "--data-dir", dir}, args...), env("HOME", dir), in, out, log)
	})
}

// runHost calls run as if it were a process, and returns the host that speaks to it. The
// test ends only when the process has: its files are in a directory that is removed then.
func runHost(t *testing.T, run func(ctx context.Context, in io.Reader, out, log io.Writer) error) *host {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	in, write := io.Pipe()
	read, out := io.Pipe()
	done := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		read.Close() // a reply that nobody reads must not hold it up
		<-done
	})
	h := &host{t: t, stop: cancel, in: write, lines: bufio.NewScanner(read), ended: make(chan error, 1), log: &syncBuffer{}}
	h.lines.Buffer(nil, 1<<20)
	go func() {
		h.ended <- run(ctx, in, out, h.log)
		out.Close()
		in.Close()
		close(done)
	}()
	return h
}

// ask sends a request and decodes its result; pushes before it are kept for heard.
func (h *host) ask(method, params string, result any) {
	h.t.Helper()
	fmt.Fprintf(h.in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params)
	for h.lines.Scan() {
		var m struct {
			ID     int
			Result json.RawMessage
		}
		err := json.Unmarshal(h.lines.Bytes(), &m)
		if err == nil && m.ID == 1 {
			err = json.Unmarshal(m.Result, result)
		}
		if err != nil {
			h.t.Fatalf("%q: %v", h.lines.Text(), err)
		}
		if m.ID == 1 {
			return
		}
		h.pushed = append(h.pushed, h.lines.Text())
	}
	h.t.Fatalf("no reply to %s %s: %v\n%s", method, params, h.lines.Err(), h.log)
}

// texts runs a tool and returns its texts.
func (h *host) texts(tool, arguments string) (texts []string) {
	h.t.Helper()
	var r struct{ Content []struct{ Text string } }
	h.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments), &r)
	for _, c := range r.Content {
		texts = append(texts, c.Text)
	}
	return texts
}

// call runs a tool and returns its first text.
func (h *host) call(tool, arguments string) string {
	h.t.Helper()
	return h.texts(tool, arguments)[0]
}

// Two hosts over stdio on one data directory have one book: the second attaches
// to the first, and gets pushes of its own subscription.
func TestAttachStdio(t *testing.T) {
	dir := t.TempDir()
	first := startHost(t, dir)
	first.call("place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.01,"client_order_id":"one"}`)
	second := startHost(t, dir)
	if got := second.call("get_orders", `{}`); !strings.Contains(got, `"one"`) {
		t.Errorf("the second host sees %s", got)
	}
	second.call("place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.02,"client_order_id":"two"}`)
	if got := first.call("get_orders", `{}`); !strings.Contains(got, `"two"`) {
		t.Errorf("the first host sees %s", got)
	}
	second.in.Close() // the end of its input ends the front alone
	if err := <-second.ended; err != nil {
		t.Errorf("the front: %v", err)
	}
	third := startHost(t, dir)
	third.call("get_orders", `{}`)
	first.in.Close()
	if err := <-first.ended; err != nil {
		t.Errorf("the engine: %v", err)
	}
	if err := <-third.ended; err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a front whose engine has gone: %v", err)
	}
	fourth := startHost(t, dir) // the directory is free again
	if got := fourth.call("get_orders", `{}`); !strings.Contains(got, `"two"`) {
		t.Errorf("the next host sees %s", got)
	}
	fourth.in.Close()
	<-fourth.ended
}

// A host over stdio attaches to wick --serve too and hears of its own alerts,
// and ends with a word when wick ends.
func TestAttachToServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startProcess(t, dir)
	h := startHost(t, dir)
	h.call("subscribe_notifications", `{}`)
	h.call("set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":0.5}}`)
	h.heard("notifications/alert_triggered")
	if got := h.call("list_subscriptions", `{}`); !strings.Contains(got, `"subscribed":true`) || !strings.Contains(got, `"connected":true`) {
		t.Errorf("subscription: %s", got)
	}
	p.terminate(t)
	if err := <-h.ended; err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a front whose engine has gone: %v", err)
	}
}

// A host that attaches has the source and the limits of the running process. A flag with another
// value is refused with a sentence; the same value is not.
func TestAttachFlags(t *testing.T) {
	dir := t.TempDir()
	first := startHost(t, dir, "--max-order-notional", "500")
	first.call("get_orders", `{}`)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--max-order-notional", "9000"}, "--max-order-notional is 9000 here and 500 at the wick that runs on this data directory: it decides"},
		{[]string{"--source", "kraken"}, "--source is kraken here and sample at"},
		{[]string{"--confirm-above", "10"}, "--confirm-above is 10 here and not set at the wick"},
		{[]string{"--paper-file", paperLines(t, "max-price-age 90s")}, "max-price-age in --paper-file is 90s here and not set at"},
		{[]string{"--paper-file", paperLines(t, "leverage 2")}, "leverage in --paper-file is 2 here and 1 at"},
	} {
		if err := <-startHost(t, dir, c.args...).ended; err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", c.args, err)
		}
	}
	same := startHost(t, dir, "--max-order-notional", "500", "--source", "sample")
	same.call("get_orders", `{}`)
	for _, h := range []*host{same, first} {
		h.in.Close()
		if err := <-h.ended; err != nil {
			t.Error(err)
		}
	}
}

// Fronts are bounded.
func TestAttachBound(t *testing.T) {
	dir := t.TempDir()
	start(t, "--trade", "--data-dir", dir)
	var last *host
	for range maxAttached {
		last = startHost(t, dir)
		last.call("get_orders", `{}`)
	}
	if err := <-startHost(t, dir).ended; err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d others are attached", maxAttached)) {
		t.Errorf("one more may attach: %v", err)
	}
	last.in.Close()
	<-last.ended
	startHost(t, dir).call("get_orders", `{}`) // takes the place of the one that left
}

// say sends a message.
func (h *host) say(message string) { fmt.Fprintln(h.in, message) }

// heard waits for a push that holds a text, unless it came before a reply.
func (h *host) heard(text string) {
	h.t.Helper()
	if !strings.Contains(strings.Join(h.pushed, "\n"), text) {
		h.hear(text)
	}
}

// hear returns the next line that holds a text, skipping others.
func (h *host) hear(text string) string {
	h.t.Helper()
	for h.lines.Scan() {
		if strings.Contains(h.lines.Text(), text) {
			return h.lines.Text()
		}
	}
	h.t.Fatalf("the output ended before %q: %v", text, h.lines.Err())
	return ""
}

// Hosts on one data directory have one account and one subscription to alerts, but
// conversations of their own: each cancels its own calls, watches its own
// resources, is told of those alone, and what it watched ends with it.
func TestAttachApart(t *testing.T) {
	t.Parallel()
	const (
		listen    = `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["wick://orders"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		cancel    = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
		subscribe = `{"jsonrpc":"2.0","id":8,"method":"resources/subscribe","params":{"uri":%q}}`
		updated   = "notifications/resources/updated"
	)
	dir := t.TempDir()
	first := startHost(t, dir)
	first.call("get_orders", `{}`)
	first.say(fmt.Sprintf(subscribe, "wick://positions"))
	first.hear(`"id":8`)
	first.say(listen)
	first.hear("acknowledged")

	for i := range 3 { // one after the other: each watches as many as one may
		h := startHost(t, dir)
		for n := range 64 {
			h.say(fmt.Sprintf(subscribe, fmt.Sprintf("wick://chart/N%dUSDT/4h", n)))
			if got := h.hear(`"id":8`); !strings.Contains(got, `"result"`) {
				t.Fatalf("host %d, resource %d: %s", i, n, got)
			}
		}
		h.say(listen)
		h.hear("acknowledged")
		h.say(cancel) // its own, of the same id as the first host's
		h.in.Close()
		if err := <-h.ended; err != nil {
			t.Fatal(err)
		}
	}
	second := startHost(t, dir)
	second.say(cancel) // there is no such call of its own
	second.call("place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.01}`)
	orders, positions := false, false
	for !orders || !positions {
		line := first.hear(updated)
		orders, positions = orders || strings.Contains(line, "wick://orders"), positions || strings.Contains(line, "wick://positions")
	}
	second.in.Close()
	for second.lines.Scan() {
		if strings.Contains(second.lines.Text(), updated) {
			t.Errorf("a host that watches nothing is told %s", second.lines.Text())
		}
	}
	<-second.ended
	first.in.Close()
	first.hear(`"resultType":"complete"`) // its listener is answered
	<-first.ended
}

// TestDeafHost: a host that does not read what it asked for holds up neither its own
// process nor the one it is attached to when they are to end.
func TestDeafHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startProcess(t, dir)
	front := startHost(t, dir)
	front.call("get_orders", `{}`)
	for range 60 { // two megabytes of replies: more than sockets hold
		front.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	}
	time.Sleep(300 * time.Millisecond) // for the writer to be stuck
	p.terminate(t)
	front.stop()
	select {
	case <-front.ended:
	case <-time.After(30 * time.Second): // it would stay for ever
		t.Error("the front of a host that does not read does not end")
	}
}

// standIn is the other process of fronts: it has the socket in the data directory of the
// config that it returns, and gives each connection, and what is read from it, to talk.
func standIn(t *testing.T, talk func(conn *net.UnixConn, lines *bufio.Reader)) *config {
	t.Helper()
	c := &config{dataDir: t.TempDir()}
	ln, err := net.Listen("unix", filepath.Join(c.dataDir, controlName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			lines := bufio.NewReader(conn)
			http.ReadRequest(lines)
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: wick\r\n\r\n")
			talk(conn.(*net.UnixConn), lines)
			conn.Close()
		}
	}()
	return c
}

// TestAttachLost: if the process behind a front ends, the front returns an error, even if
// it noticed while it passed a line on.
func TestAttachLost(t *testing.T) {
	t.Parallel()
	stdin := lostInput{strings.NewReader(""), make(chan struct{})}
	c := standIn(t, func(conn *net.UnixConn, _ *bufio.Reader) {
		conn.CloseRead() // what is handed over from now on fails
		<-stdin.lost
	})
	if err := attachTo(t.Context(), c, stdin, io.Discard); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("%v, want that the other has ended", err)
	}
}

// TestAttachEnded: a front that is told to end sends no more requests, and passes on the
// replies to those it has sent: the other process has carried them out.
func TestAttachEnded(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	c := standIn(t, func(conn *net.UnixConn, lines *bufio.Reader) {
		lines.ReadString('\n')
		end()
		io.Copy(io.Discard, lines) // it answers once the front has nothing more to say
		io.WriteString(conn, "placed\n")
	})
	input, asks := io.Pipe()
	go io.WriteString(asks, "place an order\n") // and then nothing, but the input goes on
	var out strings.Builder
	if err := attachTo(ctx, c, input, &out); err != nil || out.String() != "placed\n" {
		t.Errorf("%v after %q, want the reply", err, out.String())
	}
}

// TestAttachBroken: if a front's own input cannot be read, or its output not written, the
// error does not say that the process behind it has ended.
func TestAttachBroken(t *testing.T) {
	t.Parallel()
	c := standIn(t, func(conn *net.UnixConn, lines *bufio.Reader) {
		io.WriteString(conn, "line\n")
		io.Copy(io.Discard, lines)
	})
	broken := errors.New("input/output error")
	unwritten, output := io.Pipe()
	unwritten.CloseWithError(broken)
	input, unread := io.Pipe()
	// The first while the input goes on.
	if err := attachTo(t.Context(), c, input, output); err == nil || err.Error() != "standard output cannot be written: input/output error" {
		t.Errorf("an output that is broken: %v", err)
	}
	unread.CloseWithError(broken)
	if err := attachTo(t.Context(), c, input, io.Discard); err == nil || err.Error() != "standard input cannot be read: input/output error" {
		t.Errorf("an input that is broken: %v", err)
	}
}

// lostInput is an endless input of lines, and says when one could not be passed on.
type lostInput struct {
	io.Reader
	lost chan struct{}
}

// WriteTo is what io.Copy calls.
func (l lostInput) WriteTo(w io.Writer) (n int64, err error) {
	for err == nil {
		_, err = io.WriteString(w, "line\n")
	}
	close(l.lost)
	return 0, err
}

// TestFarewell: a conversation that goes on after the end of its context is left behind
// after the time that every stop may take, and sooner if nobody reads its replies. After
// that it writes nothing more.
func TestFarewell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		start := time.Now()
		release, late := make(chan struct{}), make(chan error, 1)
		s := &stdio{out: io.Discard}
		err := s.farewell(ctx, func() error {
			<-release
			_, err := io.WriteString(s, "too late")
			late <- err
			return err
		})
		if took := time.Since(start); err != nil || took != time.Minute+shutdownTimeout {
			t.Errorf("a call that goes on: %v after %v", err, took)
		}
		close(release)
		if err := <-late; err != io.ErrClosedPipe {
			t.Errorf("written after the end: %v", err)
		}

		unread, out := io.Pipe()
		start = time.Now()
		s = &stdio{out: out}
		err = s.farewell(ctx, func() error {
			_, err := io.WriteString(s, "a reply")
			return err
		})
		if took := time.Since(start); err != nil || took != frontFarewell {
			t.Errorf("a host that does not read: %v after %v", err, took)
		}
		unread.Close()
		if err := new(stdio).farewell(ctx, func() error { return io.EOF }); err != io.EOF {
			t.Errorf("%v, want what was returned", err)
		}
	})
}
