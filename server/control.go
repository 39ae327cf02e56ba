package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"wick/internal/journal"
	"wick/internal/limit"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/permit"
)

// controlName is the name of the socket in the data directory by which the owner speaks
// to a running server. Whoever can open it owns the directory, so no token is needed.
const controlName = "wick.sock"

// maxSocket is how long the path of a socket may be, in bytes: 107 on Linux and Windows, 103
// on macOS.
const maxSocket = len(syscall.RawSockaddrUnix{}.Path) - 1

// socketName returns the path of the socket in a data directory. It is an error if the
// system takes no path of that length: no wick on that directory has a socket then.
func socketName(dir string) (string, error) {
	name := filepath.Join(dir, controlName)
	if len(name) > maxSocket {
		return "", fmt.Errorf("the path of the socket, %s, has %d bytes, and the system takes %d at most: start wick with a --data-dir of at most %d bytes; "+
			"until then a file HALT in the directory stops trading", name, len(name), maxSocket, maxSocket-len("/"+controlName))
	}
	return name, nil
}

// listenControl opens the socket for this user alone, in a directory that is there. It
// replaces a socket that a crash left behind, but not one that another server answers on,
// nor a file that is not a socket.
func listenControl(dir string) (net.Listener, error) {
	name, err := socketName(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(name); err == nil {
		if info.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("%s is not a socket of wick", name)
		}
		// Only a connection shows whether a socket is served or was left behind by a crash.
		if err := checkSilent(dir); err != nil {
			return nil, err
		}
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return listenPrivate(name)
}

// openControl opens the socket and returns what serves on it, to whoever can open it: the
// owner's questions, and under --trade other processes that attach. It is an error if another
// wick has the directory: by its socket the owner would reach that one, and could neither list
// the logins of this one nor end them, nor halt its trading. Without a socket for another
// reason all else goes on, and the log says what will not work.
func (e *app) openControl(log *slog.Logger) (serve func(ctx context.Context) error, err error) {
	ln, err := listenControl(e.config.dataDir)
	switch {
	case errors.Is(err, journal.ErrHeld):
		return nil, err
	case err != nil:
		log.Warn("wick clients, revoke and halt, and further hosts over stdio will not work: no control socket", "error", err)
		return func(context.Context) error { return nil }, nil
	}
	return func(ctx context.Context) error {
		mux := http.NewServeMux()
		if e.trade != nil {
			mux.HandleFunc("POST /attach", func(w http.ResponseWriter, r *http.Request) { e.attach(ctx, w, r) })
		}
		e.ownerRoutes(mux, "", e.onSocket)
		return serveHTTP(ctx, bounded(mux), ln)
	}, nil
}

// checkSilent returns an error if a server answers on the socket of a directory.
func checkSilent(dir string) error {
	conn, err := net.Dial("unix", filepath.Join(dir, controlName))
	if err != nil {
		return nil // there is no socket, or it was left behind
	}
	conn.Close()
	return held(dir)
}

// held is the error of a directory that another wick has.
func held(dir string) error {
	return fmt.Errorf("state directory %s: %w; stop that one or choose another directory", dir, journal.ErrHeld)
}

// dialControl connects to a socket, if it is this user's alone: what is sent there may be the
// passphrase, and what comes back is believed.
func dialControl(ctx context.Context, name string) (net.Conn, error) {
	err := privateDir(filepath.Dir(name))
	if info, none := os.Lstat(name); err == nil && none == nil {
		err = private(name, info, 0o022, "open it; start the wick behind it again")
	}
	if errors.Is(err, errShared) {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, "unix", name)
}

// viaSocket sends a request to the wick behind a socket: plain HTTP, whatever the host in
// the URL says. The headers of the answer may take as long as patience.
func viaSocket(ctx context.Context, name, method, path string, form url.Values, head http.Header, patience time.Duration) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://wick"+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header = head
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return dialControl(ctx, name) }
	return (&http.Transport{DialContext: dial, DisableKeepAlives: true, ResponseHeaderTimeout: patience}).RoundTrip(request)
}

// askControl puts a question to the server that runs on the data directory and decodes its
// answer, JSON, into the value that into points to. An answer with another status than 200 is
// an error with the text of its body. A broker may take ten seconds to answer, and a leader
// twenty, so it waits as long as a reply over HTTP may take.
func askControl(ctx context.Context, dir, method, path string, form url.Values, into any) error {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	name, err := socketName(dir)
	if err != nil {
		return err
	}
	response, err := viaSocket(ctx, name, method, path, form, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, replyTimeout)
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("the wick on %s has not answered yet, and may still do what was asked: look at its log, or ask again (%w)", name, err)
	case errors.Is(err, errShared):
		return fmt.Errorf("nothing was sent: %w", err)
	case err != nil:
		return fmt.Errorf("no wick --serve or --mcp --trade answers on %s: start it, or name its --data-dir (%w)", name, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refusal(response)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// refusal returns the text of a response as an error, or as much of it as came.
func refusal(r *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(r.Body, 4096))
	return errors.New(strings.TrimSpace(string(text)))
}

// maxAttached is how many other processes may be attached to this one at a time.
const maxAttached = 16

// attach turns a request on the control socket into a conversation, as over standard input
// and output, with the local client as its caller, until ctx ends. The process that asks is
// called a front: a wick --mcp --trade that another host started on the same data directory. It
// cannot open the directory, because this process has locked it, so it passes its standard input
// to this process and the replies to its standard output.
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
// passphrase and moves no real money, or if its owner set --attach-trade: a login has to give
// the passphrase, and a host gives none.
func (c *config) attached() mcp.Caller {
	caller := tools.StdioCaller
	caller.Door = string(permit.Attach)
	if (len(c.login.Passphrase) > 0 || c.realMoney()) && !c.attachTrade {
		caller.Scope = "charts read"
	}
	return caller
}

// agreed returns the settings that must be the same in a front and in the process that it
// attaches to, by their spelling. It leaves out those that were not set, since a default is not
// the operator's choice, except --broker: who leaves that out expects the paper account, and must
// not trade at a broker by mistake.
func (c *config) agreed() url.Values {
	given := make(url.Values)
	for _, s := range c.settings() {
		if name := s.Spelling(); s.Shared && (c.set[name] || s.Name == "broker") {
			given.Set(name, c.values[name])
		}
	}
	return given
}

// differs returns a sentence about a setting that a front has otherwise than this process, or an
// empty text if there is none. If the broker differs, the sentence is about that.
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

// attachTo makes this process a front of the one that has locked the data directory: it
// passes stdin on to that process and writes the replies to stdout, both as they are.
// It returns nil when the input or ctx has ended and all replies are written, and an error
// if something else ended it: the other process, or one of the two streams of this one.
func attachTo(ctx context.Context, c *config, stdin io.Reader, stdout io.Writer) error {
	conn, err := dialAttach(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	// When ctx ends, no more requests are sent. Those that were sent are still answered, as
	// long as farewell waits.
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
	_, err = io.Copy(out, conn)
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

// duplex is a connection of which either side can close its direction alone.
type duplex interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// dialAttach asks the process that holds the data directory for a conversation, with the
// settings that were given here. It tries to connect for five seconds: if two hosts start
// together, the other process may have the directory already, but not yet the socket.
func dialAttach(ctx context.Context, c *config) (duplex, error) {
	socket, err := socketName(c.dataDir)
	if err != nil {
		return nil, err
	}
	var response *http.Response
	for n := 0; ; n++ {
		response, err = viaSocket(ctx, socket, http.MethodPost, "/attach?"+c.agreed().Encode(), nil, http.Header{"Connection": {"Upgrade"}, "Upgrade": {"wick"}}, 5*time.Second)
		if dialing := (*net.OpError)(nil); n == 50 || ctx.Err() != nil || !errors.As(err, &dialing) || dialing.Op != "dial" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("another wick is running on this data directory and does not answer on %s: stop it or choose another --data-dir (%w)", socket, err)
	case response.StatusCode == http.StatusSwitchingProtocols:
		return response.Body.(duplex), nil // net/http promises the write, and a socket can be closed by halves
	}
	defer response.Body.Close()
	// A process that cannot be attached to does not have this path.
	if response.StatusCode == http.StatusNotFound {
		return nil, errors.New("the wick that runs on this data directory lets no other attach: it is of another version, or runs without --trade; stop it or choose another --data-dir")
	}
	return nil, refusal(response)
}

// notingWriter keeps the error of the first write that failed. io.Copy does not say whether
// its reader or its writer failed, and a command that prints many lines checks no error of Fprintln.
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
