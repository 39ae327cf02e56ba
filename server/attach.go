package server

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"wick/internal/limit"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/permit"
)

// maxAttached is how many other processes may be attached to this one at a time.
const maxAttached = 16

// attach turns a request on the control socket into a conversation, as over standard input
// and output, with the local client as its caller, until ctx ends. Who asks is a front: wick
// --mcp --trade, started by another host on the same data directory. It cannot open the
// directory, because this process holds it, so it passes its standard input to this process
// and the replies to its standard output.
func (e *app) attach(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	owner := permit.Caller{Name: "owner", Door: permit.Socket, Scopes: permit.Scopes{permit.Owner}}
	if _, err := e.gate.May(r.Context(), owner, permit.Action{Name: "attach"}, nil); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if why := e.config.differs(r.URL.Query()); why != "" {
		http.Error(w, why, http.StatusConflict)
		return
	}
	if ctx.Err() != nil || !e.attached.TryAcquire(1) {
		http.Error(w, fmt.Sprintf("%d others are attached to the wick on this data directory: end one of them", maxAttached), http.StatusServiceUnavailable)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		e.attached.Release(1)
		http.Error(w, "this connection cannot be taken over", http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	defer e.attached.Release(1)   // before the front sees the end: another may come in its place
	conn.SetDeadline(time.Time{}) // the deadlines of the HTTP server are meant for a request, not for hours
	// After the answer to the upgrade the connection carries lines of JSON-RPC, both ways.
	if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: wick\r\n\r\n"); err != nil {
		return
	}
	s := &stdio{out: conn}
	// An error only says how the front ended, so it is dropped.
	s.farewell(ctx, func() error { return e.converse(ctx, buffered.Reader, s, e.config.attached()) })
}

// attached returns the caller of a host that attaches. It may trade if this process has no
// passphrase and moves no real money, or if its owner said so: a login would have been
// asked for the passphrase, and a host is asked for nothing.
func (c *config) attached() mcp.Caller {
	caller := tools.StdioCaller
	caller.Door = string(permit.Attach)
	if (len(c.login.Passphrase) > 0 || c.realMoney()) && !c.attachTrade {
		caller.Scope = "charts read"
	}
	return caller
}

// agreed returns the settings that a front has to agree about with the process that it
// attaches to, by their spelling. Only those that were set count: a default is not the
// operator's choice. But whoever leaves --broker out means wick's own book, and must not
// trade elsewhere in that belief.
func (c *config) agreed() url.Values {
	given := make(url.Values)
	for _, s := range c.settings() {
		if name := s.Spelling(); s.Shared && s.Name != inPaper && (c.set[name] || s.Name == "broker") {
			given.Set(name, c.values[name])
		}
	}
	return given
}

// differs says which setting of a front is not ours, whose money it is first, or returns an
// empty text if all agree.
func (c *config) differs(given url.Values) (why string) {
	for _, s := range c.settings() {
		name := s.Spelling()
		if s.Shared && (given.Has(name) || s.Name == "broker") && given.Get(name) != c.values[name] && (why == "" || s.Name == "broker") {
			why = fmt.Sprintf("%s is %s here and %s at the wick that runs on this data directory: it decides about prices, orders or money, so both must have the same",
				name, cmp.Or(limit.Clip(given.Get(name)), "not set"), cmp.Or(c.values[name], "not set"))
		}
	}
	return why
}

// attachTo makes this process a front of the one that holds the data directory: it
// passes stdin on to that process and writes the replies to stdout, and looks at neither.
// It returns nil when the input or ctx has ended and all replies are written, and an error
// if something else ended it: the other process, or one of the two streams of this one.
func attachTo(ctx context.Context, c *config, stdin io.Reader, stdout io.Writer) error {
	conn, replies, err := dialAttach(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	// When this process is told to end, it sends no more requests. Those that it has sent
	// are answered, as long as farewell waits.
	defer context.AfterFunc(ctx, func() { conn.CloseWrite() })()
	ended := make(chan error, 1)
	go func() { // if the other process ends, this stays in a read of standard input, which nothing can wake
		in := &notingWriter{Writer: conn}
		_, err := io.Copy(in, stdin)
		if err != nil {
			err = fmt.Errorf("standard input cannot be read: %w", err)
		}
		if in.err == nil { // otherwise the other process, not the input, has ended
			ended <- err
		}
		conn.CloseWrite() // the other side answers what is left and closes
	}()
	out := &notingWriter{Writer: stdout}
	_, err = io.Copy(out, replies)
	select {
	case cause := <-ended: // then the replies end for that reason, as usual
		return cmp.Or(cause, err)
	default:
	}
	if ctx.Err() != nil {
		return nil
	}
	return out.or(errors.New("the wick that this one was attached to has ended: start this one again, and it takes over the data directory"))
}

// dialAttach asks the process that holds the data directory for a conversation, with the
// settings that were given here. It returns the connection and a reader of it, which may hold
// the first lines already. It tries to connect for five seconds: if two hosts start together,
// the other process may have the directory already, but not yet the socket.
func dialAttach(ctx context.Context, c *config) (*net.UnixConn, *bufio.Reader, error) {
	socket, err := socketName(c.dataDir)
	if err != nil {
		return nil, nil, err
	}
	dialed, err := dialControl(ctx, socket)
	for n := 0; n < 50 && err != nil && ctx.Err() == nil && !errors.Is(err, errShared); n++ {
		time.Sleep(100 * time.Millisecond)
		dialed, err = dialControl(ctx, socket)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("another wick is running on this data directory and does not answer on %s: stop it or choose another --data-dir (%w)", socket, err)
	}
	conn := dialed.(*net.UnixConn) // "unix" gives no other
	// The request is written by hand: net/http's client cannot close one direction of an
	// upgraded connection, which is how a front says that its input has ended.
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprintf(conn, "POST /attach?%s HTTP/1.1\r\nHost: wick\r\nConnection: Upgrade\r\nUpgrade: wick\r\nContent-Length: 0\r\n\r\n", c.agreed().Encode())
	replies := bufio.NewReader(conn)
	response, err := http.ReadResponse(replies, nil)
	switch {
	case err != nil:
		err = fmt.Errorf("the wick that runs on this data directory did not answer: %w", err)
	// A process that cannot be attached to does not have this path.
	case response.StatusCode == http.StatusNotFound:
		err = errors.New("the wick that runs on this data directory lets no other attach: it is of another version, or runs without --trade; stop it or choose another --data-dir")
	case response.StatusCode != http.StatusSwitchingProtocols:
		err = refusal(response)
	default:
		conn.SetDeadline(time.Time{})
		return conn, replies, nil
	}
	conn.Close()
	return nil, nil, err
}

// notingWriter notes why the first write that failed did: io.Copy does not say which of
// its two sides failed, and who prints many lines looks at no error of theirs.
type notingWriter struct {
	io.Writer
	err error
}

func (w *notingWriter) Write(p []byte) (n int, err error) {
	n, err = w.Writer.Write(p)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// or returns why standard output could not be written, else err.
func (w *notingWriter) or(err error) error {
	if w.err != nil {
		return fmt.Errorf("standard output cannot be written: %w", w.err)
	}
	return err
}
