package conversations

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// stream collects the lines of a response or of a process as they arrive.
type stream struct {
	t     *testing.T
	lines chan string
}

func streamOf(t *testing.T, r io.Reader) *stream {
	s := &stream{t, make(chan string, 1000)}
	go func() {
		defer close(s.lines)
		for in := bufio.NewReader(r); ; {
			line, err := in.ReadString('\n')
			if line != "" {
				s.lines <- strings.TrimSuffix(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

// until returns the lines up to the first that contains text. The last line of a stream is
// "(the end)".
func (s *stream) until(text string) (lines []string) {
	s.t.Helper()
	for late := time.After(10 * time.Second); ; {
		select {
		case line, open := <-s.lines:
			if !open {
				line = "(the end)"
			}
			if lines = append(lines, line); strings.Contains(line, text) {
				return lines
			}
			if !open {
				s.t.Fatalf("the stream ended before %q: %q", text, lines)
			}
		case <-late:
			s.t.Fatalf("%q did not come: %q", text, lines)
		}
	}
}

// Messages of the conversations about what changes.
const (
	watchAlerts   = `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"wick://alerts"}}`
	unwatchAlerts = `{"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"wick://alerts"}}`
	subscribe     = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"subscribe_notifications","arguments":{}}}`
	setAlert      = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"set_alert","arguments":{"symbol":"BTCUSDT","condition":{"price_above":99999}}}}`
	listen        = `{"jsonrpc":"2.0","id":"listening","method":"subscriptions/listen","params":{` + meta + `,"notifications":{"resourceSubscriptions":["wick://alerts","wick://none","wick://alerts"]}}}`
)

// client posts to a server with a token, and writes down what is said.
type client struct {
	t     *testing.T
	base  string
	token string
	id    string
	mask  *mask
	out   *strings.Builder
}

func newClient(t *testing.T) *client {
	p := newPlace(t)
	base := p.serve(t, append([]string{"--serve", "--port", "0"}, flags...)...)
	token, id := logIn(t, base)
	return &client{t, base, token, id, newMask(p), new(strings.Builder)}
}

func (c *client) request(ctx context.Context, method, path, kind, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Accept", "application/json, text/event-stream")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	return r
}

func (c *client) say(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(c.out, c.mask.text(line))
	}
}

// post sends a message and writes down its answer.
func (c *client) post(message string) {
	status, _, body := do(c.t, http.DefaultClient, c.request(c.t.Context(), "POST", "/mcp", "application/json", message))
	c.say("> "+message, status[:3]+" "+body)
}

// open sends a request whose answer is a stream, and writes down its head.
func (c *client) open(ctx context.Context, r *http.Request) *stream {
	w, err := http.DefaultClient.Do(r.WithContext(ctx))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { w.Body.Close() })
	c.say(w.Status)
	for _, name := range slices.Sorted(keys(w.Header)) {
		if name != "Date" {
			c.say(name + ": " + strings.Join(w.Header[name], " | "))
		}
	}
	return streamOf(c.t, w.Body)
}

func (c *client) revoke() {
	w, err := http.PostForm(c.base+"/revoke", url.Values{"token": {c.token}, "client_id": {c.id}})
	if err != nil {
		c.t.Fatal(err)
	}
	w.Body.Close()
}

// TestStream: a client of the older era is told on its stream that a resource which it
// watches has changed; a revoked token ends the stream.
func TestStream(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	s := c.open(t.Context(), c.request(t.Context(), "GET", "/mcp", "", ""))
	c.post(watchAlerts)
	c.post(subscribe)
	c.post(setAlert)
	c.say(s.until("notifications/resources/updated")...)
	c.post(unwatchAlerts)
	c.revoke()
	c.say(s.until("(the end)")...)
	record(t, "stream", c.out.String())
}

// TestListen: a client of the newer era is told the same in the answer to its request, whose
// last line is the reply.
func TestListen(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	r := c.request(t.Context(), "POST", "/mcp", "application/json", listen)
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", "subscriptions/listen")
	s := c.open(t.Context(), r)
	c.say(s.until("acknowledged")...)
	c.post(setAlert)
	c.say(s.until("notifications/resources/updated")...)
	c.revoke()
	c.say(s.until("(the end)")...)
	record(t, "listen", c.out.String())
}

// TestStreamStdio: over stdio both are lines between the replies, and a listener that is
// cancelled gets no reply.
func TestStreamStdio(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	command := p.command(ctx, append([]string{"--mcp"}, flags...)...)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	s, m, out := streamOf(t, answers), newMask(p), new(strings.Builder)
	say := func(line, until string) {
		if line != "" {
			fmt.Fprintf(in, "%s\n", line)
			fmt.Fprintf(out, "> %s\n", m.text(line))
		}
		for _, answer := range s.until(until) {
			fmt.Fprintf(out, "< %s\n", m.text(answer))
		}
	}
	say(watchAlerts, `"id":1`)
	say(setAlert, `"id":3`)
	say("", "notifications/resources/updated")
	say(unwatchAlerts, `"id":4`)
	say(listen, "acknowledged")
	say(setAlert, `"id":3`)
	say("", "notifications/resources/updated")
	say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"listening"}}`+"\n"+`{"jsonrpc":"2.0","id":6,"method":"ping"}`, `"id":6`)
	say(strings.Replace(listen, "listening", "again", 1), "acknowledged")
	in.Close()
	say("", "(the end)")
	if err := command.Wait(); err != nil {
		t.Errorf("wick ended: %v", err)
	}
	record(t, "stream-stdio", out.String())
}

// TestCrowded: a client whose unfinished bodies fill its share is told to wait.
func TestCrowded(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	const size = 1 << 20
	begin := func() { // a body of which the last byte never comes
		open, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { open.Close() })
		fmt.Fprintf(open, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", c.token, size)
		open.Write(bytes.Repeat([]byte(" "), size-1)) // fails if it is refused meanwhile
	}
	for range 4 {
		begin()
	}
	// The server may not have read all of the four yet, and may have refused one beside something
	// else that it held for the client at that moment.
	for n := range 1000 {
		if n%100 == 99 {
			begin()
		}
		body := strings.Repeat(" ", 30_000) + `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		status, header, answer := do(t, http.DefaultClient, c.request(t.Context(), "POST", "/mcp", "application/json", body))
		if status != "200 OK" {
			c.say(status, "Retry-After: "+header.Get("Retry-After"), answer)
			record(t, "crowded", c.out.String())
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("bodies beyond its share are taken from a client")
}
