package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"wick/permit"

	"wick/internal/journal"
	"wick/market"
	"wick/trade"
	"wick/trade/book"
	"wick/trade/live"
)

// command runs wick with args and returns what it printed.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := Run(t.Context(), args, env("HOME", t.TempDir()), nil, &out, io.Discard)
	return out.String(), err
}

// TestSilentControl: of a server that was asked and does not answer in time, nobody knows
// whether it did what was asked. It is not said that there is none.
func TestSilentControl(t *testing.T) {
	dir := t.TempDir()
	ln, err := listenControl(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close() // connections wait in the queue of the operating system
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	var said string
	err = askControl(ctx, dir, http.MethodPost, "/cancel", nil, &said)
	if err == nil || strings.Contains(err.Error(), "start it") || !strings.Contains(err.Error(), "may still do what was asked") {
		t.Errorf("a server that does not answer: %v, want that it may still do what was asked", err)
	}
}

// TestCancelGoesOn: the owner who asked for all orders to be cancelled has gone, and the broker
// is asked all the same.
func TestCancelGoesOn(t *testing.T) {
	asked := &cancelled{}
	e, err := trade.Open(trade.Options{Dir: t.TempDir(), Source: market.Sample{}, Venue: &live.Options{Broker: asked, Name: "test", Account: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	mux := http.NewServeMux()
	o := &app{trade: e, gate: permit.New(permit.Options{Above: -1})}
	o.ownerRoutes(mux, "", o.onSocket)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	reply := httptest.NewRecorder()
	mux.ServeHTTP(reply, httptest.NewRequestWithContext(ctx, http.MethodPost, "/cancel", nil))
	if reply.Code != http.StatusOK || asked.times != 1 {
		t.Errorf("status %d %s, and the broker was asked %d times, want 200 and once", reply.Code, reply.Body, asked.times)
	}
}

// cancelled is a broker that counts how often all orders are cancelled. It waits for nothing.
type cancelled struct {
	live.Broker
	times int
}

func (*cancelled) Money() book.Money { return book.NoMoney }

func (c *cancelled) CancelAll(ctx context.Context) (int, error) {
	if ctx.Err() == nil {
		c.times++
	}
	return 0, ctx.Err()
}

// TestClients: the owner of the data directory sees who is logged in, ends one
// login, whose stream ends with it, and then all of them.
func TestClients(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	first, second := p.login(t), p.login(t)
	firstStream, secondStream := p.openStream(t, first), p.openStream(t, second)
	info, err := os.Stat(filepath.Join(dir, controlName))
	if err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Fatalf("the socket: %v, %v", info, err)
	}

	out, err := command(t, "clients", "--data-dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	const at = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`
	row := regexp.MustCompile(`(?m)^([0-9a-f]{8})  test +charts trade +` + at + `  ` + at + ` +127\.0\.0\.1 +` + at + `$`)
	rows := row.FindAllStringSubmatch(out, -1)
	if len(rows) != 2 || !strings.HasPrefix(out, "ID ") || strings.Contains(out, first) {
		t.Fatalf("clients printed:\n%s", out)
	}
	if out, err := command(t, "revoke", rows[0][1], "--data-dir", dir); err != nil || out != "revoked "+rows[0][1]+", test\n" {
		t.Errorf("wick revoke: %q, %v", out, err)
	}
	if _, err := io.ReadAll(firstStream); err != nil { // it ends, by itself and at once
		t.Errorf("the stream broke: %v", err)
	}
	if got := p.ping(t, first); got != http.StatusUnauthorized {
		t.Errorf("the revoked token: %d, want 401", got)
	}
	if got := p.ping(t, second); got != http.StatusOK {
		t.Errorf("the other token: %d, want 200", got)
	}
	for _, id := range []string{"12", "x y&z", "ffffffff"} {
		if out, err := command(t, "revoke", id, "--data-dir", dir); err == nil || out != "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("revoke %q: %q, %v, want one line", id, out, err)
		}
	}
	if out, err := command(t, "revoke", "all", "--data-dir", dir); err != nil || out != "revoked all logins: 1\n" {
		t.Errorf("revoke all: %q, %v", out, err)
	}
	if _, err := io.ReadAll(secondStream); err != nil {
		t.Errorf("the second stream broke: %v", err)
	}
	p.terminate(t)
	if _, err := os.Lstat(filepath.Join(dir, controlName)); !os.IsNotExist(err) {
		t.Errorf("the socket outlives the server: %v", err)
	}
	for _, args := range [][]string{{"clients"}, {"revoke", "all"}} {
		if _, err := command(t, append(args, "--data-dir", dir)...); err == nil || !strings.Contains(err.Error(), "--data-dir") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v without a server: %v, want one line", args, err)
		}
	}
}

// ping makes a call with a token and returns the status.
func (h *running) ping(t *testing.T, token string) int {
	t.Helper()
	request, err := http.NewRequest("POST", h.base+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
}

// TestRevokeEndsStream: a client that gives its token back over HTTP ends its
// stream at once.
func TestRevokeEndsStream(t *testing.T) {
	h := start(t, "--serve", "--trade")
	var client string
	token := h.loginAs(t, &client)
	stream := h.openStream(t, token)
	r, err := http.Post(h.base+"/revoke", "application/x-www-form-urlencoded", strings.NewReader("token="+token+"&client_id="+client))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Errorf("POST /revoke: %s", r.Status)
	}
	if _, err := io.ReadAll(stream); err != nil {
		t.Errorf("the stream broke: %v", err)
	}
	if got := h.ping(t, token); got != http.StatusUnauthorized {
		t.Errorf("the revoked token: %d, want 401", got)
	}
}

// TestControlSocket: what a crash left behind is replaced, another server's
// socket and a file that is no socket are not.
func TestControlSocket(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, controlName)
	ln, err := listenControl(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listenControl(dir); err == nil || !strings.Contains(err.Error(), "another wick") {
		t.Errorf("a second server: %v", err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	ln.Close() // as a crash does
	ln, err = listenControl(dir)
	if err != nil {
		t.Fatalf("after a crash: %v", err)
	}
	ln.Close()
	if err := os.WriteFile(name, []byte("thesis"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listenControl(dir); err == nil {
		t.Error("a file was replaced by the socket")
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "thesis" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

// startAt serves with a base URL of its own and returns the address it listens
// on.
func startAt(t *testing.T, environment func(string) string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log, ended := &syncBuffer{}, make(chan error, 1)
	go func() {
		ended <- Run(ctx, append(args, "--serve", "--data-dir", t.TempDir()), environment, nil, io.Discard, log)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	listening := regexp.MustCompile(`serving .*=(127\.[0-9.]+:[0-9]+)`)
	for {
		if m := listening.FindStringSubmatch(log.String()); m != nil {
			return m[1]
		}
		select {
		case err := <-ended:
			t.Fatalf("wick did not start: %v\n%s", err, log)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestStrictTransport: browsers are told to stay with https, on every answer,
// when the published address is https, and not otherwise.
func TestStrictTransport(t *testing.T) {
	t.Parallel()
	public := "http://" + startAt(t, env("WICK_PASSPHRASE", "correct horse battery"), "--port", "0", "--base-url", "https://wick.example.com")
	for _, path := range []string{"/", "/authorize", "/mcp", "/.well-known/oauth-authorization-server", "/nothing"} {
		r, err := http.Get(public + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if got := r.Header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
			t.Errorf("%s: Strict-Transport-Security %q", path, got)
		}
		if got := r.Header.Get("Cross-Origin-Opener-Policy"); got != "" { // web clients log in by a popup
			t.Errorf("%s: Cross-Origin-Opener-Policy %q", path, got)
		}
	}
	r, err := http.Get(start(t, "--serve").base)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if got := r.Header.Get("Strict-Transport-Security"); got != "" {
		t.Errorf("on plain loopback: %q", got)
	}
}

// TestSecondLoopback: another address of this machine works with its base URL,
// login and call included.
func TestSecondLoopback(t *testing.T) {
	probe, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	address := probe.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	probe.Close()
	if _, err := command(t, "--serve", "--listen", "127.0.0.2", "--port", port); err == nil || !strings.Contains(err.Error(), "--base-url http") && !strings.Contains(err.Error(), "set --base-url") {
		t.Errorf("without a base URL: %v", err)
	}
	if got := startAt(t, env(), "--listen", "127.0.0.2", "--port", port, "--base-url", "http://"+address); got != address {
		t.Fatalf("listening on %s, want %s", got, address)
	}
	h := &running{base: "http://" + address}
	if got := h.ping(t, h.login(t)); got != http.StatusOK {
		t.Errorf("a call: %d, want 200", got)
	}
}

// TestBothLoopbacks: browsers take localhost for ::1 before 127.0.0.1, so wick answers on both,
// and does not start beside another program that could be shown in its place.
func TestBothLoopbacks(t *testing.T) {
	other, err := net.Listen("tcp", "[::1]:0")
	if err != nil { // there is no IPv6 here, so nobody can be in the way
		return
	}
	address := other.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if _, err := command(t, "--serve", "--port", port, "--data-dir", t.TempDir()); err == nil || !strings.Contains(err.Error(), address+" cannot be listened on") {
		t.Errorf("beside %s: %v", address, err)
	}
	startAt(t, env(), "--port", port, "--base-url", "http://127.0.0.1:"+port) // which leads nowhere else
	other.Close()
	first := startAt(t, env(), "--port", "0")
	_, port, _ = net.SplitHostPort(first)
	for _, address := range []string{first, net.JoinHostPort("::1", port)} {
		response, err := http.Get("http://" + address + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	if _, err := command(t, "--serve", "--listen", "::1", "--port", port, "--data-dir", t.TempDir()); err == nil {
		t.Error("a second wick started on the same port")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(free.Addr().String())
	free.Close()
	for listen, host := range map[string]string{"127.0.0.1": "[::1]", "::1": "127.0.0.1", "127.0.0.2": "localhost", "localhost": "127.0.0.2"} { // what is published would be somebody else's
		if _, err := command(t, "--serve", "--listen", listen, "--port", port, "--base-url", "http://"+host+":"+port, "--data-dir", t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not where http://"+host) {
			t.Errorf("listening on %s, with %s published: %v", listen, host, err)
		}
	}
}

// TestAuditNamesClient: wick audit says which client placed an order, by the name
// and the short id that wick clients shows.
func TestAuditNamesClient(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	token := p.login(t)
	p.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.01}`)
	clients, err := command(t, "clients", "--data-dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(clients, "\n")
	id, _, _ := strings.Cut(row, " ")
	out, err := command(t, "audit", "--data-dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	by := regexp.MustCompile(`order_placed .*"by":\{"name":"test","client":"[0-9a-f]+…?","id":"` + id + `"\}`)
	if len(id) != 8 || !by.MatchString(out) {
		t.Errorf("clients shows %s, wick audit prints:\n%s", id, out)
	}
}

// serveOn starts a server that should end by itself, and returns its error. One that
// serves is stopped, without an error.
func serveOn(t *testing.T, dir string, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return Run(ctx, append(args, "--port", "0", "--data-dir", dir), os.Getenv, strings.NewReader(""), io.Discard, io.Discard)
}

// TestLongDataDirectory: of a directory whose socket has a longer path than the system takes,
// the log of the server, its owner's commands and a further host name the cause and the bound.
func TestLongDataDirectory(t *testing.T) {
	for _, over := range []int{0, 1} {
		dir := filepath.Join(t.TempDir(), "d")
		dir += strings.Repeat("d", maxSocket+over-len(filepath.Join(dir, controlName)))
		p := start(t, "--trade", "--data-dir", dir)
		_, clients := command(t, "clients", "--data-dir", dir)
		_, halt := command(t, "halt", "on", "--data-dir", dir)
		host := startHost(t, dir)
		cause := fmt.Sprintf("and the system takes %d at most: start wick with a --data-dir of at most %d bytes", maxSocket, maxSocket-10)
		if over == 0 {
			host.ask("ping", "{}", &struct{}{})
			if clients != nil || halt != nil || strings.Contains(p.log.String(), cause) {
				t.Errorf("a path of %d bytes: %v, %v\n%s", len(dir), clients, halt, p.log)
			}
			continue
		}
		for what, said := range map[string]string{"clients": fmt.Sprint(clients), "halt": fmt.Sprint(halt), "a host": fmt.Sprint(<-host.ended), "the log": p.log.String()} {
			if !strings.Contains(said, cause) {
				t.Errorf("%s with a path of %d bytes: %s, want %q", what, len(dir), said, cause)
			}
		}
	}
}

// TestHeldDirectory: a server on a directory that another wick has ends at once, whichever
// of the two trades: its owner could not list its logins, end one, or halt it. What wrote
// no lock, such as a server without --trade, holds it by its socket, and what has no socket
// by its lock. What is refused has written nothing.
func TestHeldDirectory(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := writeKey(key, io.Discard); err != nil {
		t.Fatal(err)
	}
	others := []string{"--serve", "--serve --trade", "--serve --trade --recover=yes", "--serve --key-file " + key}
	for _, first := range []string{"--serve --trade", "--mcp --trade", "--serve"} {
		dir := t.TempDir()
		if first == "--mcp --trade" {
			h := startHost(t, dir)
			h.ask("ping", "{}", &struct{}{})
		} else {
			start(t, append(strings.Fields(first), "--data-dir", dir)...)
		}
		before := fileNames(t, dir)
		for _, other := range others {
			err := serveOn(t, dir, strings.Fields(other)...)
			if !errors.Is(err, journal.ErrHeld) || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s beside %s: %v, want one line that the directory is held", other, first, err)
			}
			if after := fileNames(t, dir); after != before {
				t.Errorf("%s beside %s: the directory has %s, before it had %s", other, first, after, before)
			}
		}
	}
	dir := t.TempDir()
	held, err := journal.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := serveOn(t, dir, "--serve"); !errors.Is(err, journal.ErrHeld) {
		t.Errorf("beside a wick without a socket: %v, want that the directory is held", err)
	}
	// Over stdio, beside a server that keeps no book: wick halt would reach that server.
	dir = t.TempDir()
	start(t, "--serve", "--data-dir", dir)
	if err := <-startHost(t, dir).ended; !errors.Is(err, journal.ErrHeld) || fileNames(t, dir) != controlName {
		t.Errorf("a host beside --serve: %v, and the directory has %s; want that the directory is held", err, fileNames(t, dir))
	}
}

// fileNames returns the names of what is in a directory.
func fileNames(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

// TestHaltOff: without a halt trading goes on, unless something else holds it, and then the
// answer says what.
func TestHaltOff(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	p := startProcess(t, dir, "--cash", "1000", "--fee-rate", "0.01", "--max-daily-loss", "0.05")
	if out, err := command(t, "halt", "off", "--data-dir", dir); err != nil || out != "trading goes on\n" {
		t.Errorf("at first: %q, %v", out, err)
	}
	p.call(t, p.login(t), "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.002"}`) // for about 120, and 1.2 of fees
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		out, err := command(t, "halt", "off", "--data-dir", dir)
		if out == "there is no halt, but trading is reduced: only orders that shrink a position are taken\n" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("after the loss: %q, %v", out, err)
		}
	}
	if err := os.Rename(dir, dir+"-elsewhere"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		out, err := command(t, "halt", "off", "--data-dir", dir+"-elsewhere")
		if err != nil && strings.Contains(err.Error(), "no order is taken until wick is started again: the journal is broken") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("with a broken journal: %q, %v", out, err)
		}
	}
}

// TestHaltBesideStdio: the owner halts a wick that speaks over stdio as one that serves. What
// needs a login is refused in one line that says why: there is none. Once wick halt on was
// answered with "404 page not found", and orders went on.
func TestHaltBesideStdio(t *testing.T) {
	const order = `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.01}`
	dir := t.TempDir()
	h := startHost(t, dir)
	h.ask("ping", "{}", &struct{}{})
	if out, err := command(t, "halt", "on", "--data-dir", dir); err != nil || !strings.HasPrefix(out, "trading is halted") {
		t.Fatalf("halt on: %q, %v", out, err)
	}
	if got := h.call("place_order", order); !strings.Contains(got, "halted") {
		t.Errorf("an order after wick halt on: %s", got)
	}
	if out, err := command(t, "halt", "off", "--data-dir", dir); err != nil || out != "trading goes on\n" {
		t.Errorf("halt off: %q, %v", out, err)
	}
	if got := h.call("place_order", order); !strings.Contains(got, `"filled"`) {
		t.Errorf("an order after wick halt off: %s", got)
	}
	if out, err := command(t, "halt", "cancel", "--data-dir", dir); err != nil || !strings.Contains(out, "cancelled") {
		t.Errorf("halt cancel: %q, %v", out, err)
	}
	for args, want := range map[string]string{
		"clients": "no logins", "revoke all": "no logins", "revoke 12345678": "no logins", "accept-positions": "broker",
	} {
		out, err := command(t, append(strings.Fields(args), "--data-dir", dir)...)
		if err == nil || out != "" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q, %v, want one line about %s", args, out, err, want)
		}
	}
}
