package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"wick/internal/address"
	"wick/internal/journal"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/oauth"
	"wick/oauth/fileledger"
	"wick/permit"
	"wick/sse"
	"wick/trade/book"
)

// serve runs the HTTP server until ctx ends. It opens what it needs in such an order
// that a failure leaves nothing behind: the sockets, the data directory, the
// login. Then it starts the goroutines. At the end it waits for them, for the
// streams and for the last write to disk.
func serve(ctx context.Context, c *config, source market.Source, logs loggers) (err error) {
	at, err := listen(c)
	if err != nil {
		return err
	}
	defer at.close()
	if err := prepareDir(c); err != nil {
		return err
	}
	login := "with the passphrase" // which the login overwrites
	if len(c.login.Passphrase) == 0 {
		login = "at once, for clients on this machine"
	}
	e, err := openApp(ctx, c, source, logs)
	switch {
	case err != nil && ctx.Err() != nil: // it was stopped while it waited for etcd
		return nil
	case err != nil:
		return err
	}
	defer func() { err = e.close(err) }()
	log := logs.part("wick")
	srv, err := e.newSite()
	if err != nil {
		return err
	}
	control, err := e.openControl(log)
	if err != nil {
		return err
	}
	// The memory in use now is that of the data directory, and stays in use. The limit of
	// memory comes on top of it.
	memory := newMemory(c.source == "sample")
	defer memory.release()
	e.conns.changed = memory.connections

	parts := []func(context.Context) error{control}
	for _, site := range at.site {
		parts = append(parts, func(ctx context.Context) error { return serveHTTP(ctx, srv, e.conns.listener(site)) })
	}
	if at.metrics != nil {
		e.meter.watch(e)
		log.Info("metrics", "address", "http://"+at.metrics.Addr().String()+"/metrics")
		parts = append(parts, func(ctx context.Context) error { return serveHTTP(ctx, e.meter.server(), at.metrics) })
	}
	said := []any{"url", c.baseURL + "/mcp", "login", login, "listen", at.site[0].Addr().String(), "source", c.source, "trade", c.trade}
	if c.hasPage() {
		page := c.baseURL + pagePath
		if key := e.login.PageKey(); key != "" { // for the owner's browser, once
			page += "?key=" + key
		}
		said = append(said, "page", page)
	}
	log.Info("serving", said...)
	err = e.run(ctx, parts...)
	<-e.hub.Close() // also streams that Shutdown did not wait for: each has a second to write its last event
	log.Info("stopped")
	return err
}

// sockets are where a process listens.
type sockets struct {
	site    []net.Listener // one, or the two of the loopback
	metrics net.Listener   // nil without --metrics
}

// listen opens the sockets, and notes what is published: the port may be 0, so it is known only
// then. If it fails, none is left open.
func listen(c *config) (s sockets, err error) {
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	site, err := net.Listen("tcp", net.JoinHostPort(c.listen, strconv.Itoa(c.port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return s, fmt.Errorf("port %d is in use: stop what listens there, or choose another --port", c.port)
	case err != nil:
		return s, fmt.Errorf("--listen %s --port %d: %w", c.listen, c.port, err)
	}
	s.site = append(s.site, site)
	address := site.Addr().(*net.TCPAddr)
	if err := c.publish(address.Port); err != nil {
		return s, err
	}
	if site, err = c.listenBeside(address); site != nil {
		s.site = append(s.site, site)
	}
	if err == nil && c.metrics != "" {
		s.metrics, err = listenFew("--metrics", c.metrics, maxMetricsConns)
	}
	return s, err
}

// close closes what is open.
func (s sockets) close() {
	for _, site := range s.site {
		site.Close()
	}
	if s.metrics != nil {
		s.metrics.Close()
	}
}

// newSite returns the HTTP server that strangers reach, which does not listen yet: the
// protocol, the login, the health document and the owner's page on one mux, behind the policy
// on hosts and origins.
func (e *app) newSite() (*http.Server, error) {
	if err := e.logIn(); err != nil {
		return nil, err
	}
	policy, err := mcp.NewPolicy(e.config.baseURL, e.config.origins)
	if err != nil {
		return nil, err
	}
	e.conns = newConnections(maxFiles())
	e.newProtocol()
	// This is where oauth and mcp meet: mcp asks who sent a request, and gets a caller whose
	// names it does not interpret.
	h := &mcp.HTTP{
		Server: e.protocol, Authenticate: e.authenticate,
		// A challenge names the path of the request, because each path has its own metadata.
		Challenge: func(w http.ResponseWriter, r *http.Request, err error) {
			switch err {
			case mcp.ErrScope:
				err = oauth.ErrInsufficientScope
			case mcp.ErrRevoked:
				err = oauth.ErrInvalidToken
			}
			e.login.Challenge(w.Header(), r.URL.Path, err)
		},
		Stream: e.stream,
		Listen: func(ctx context.Context, w http.ResponseWriter, l *mcp.Stream) error {
			return sse.Serve(ctx, w, listener{l})
		},
		Health:  func() any { return e.health() },
		Address: func(r *http.Request) string { return e.login.ClientIP(r).String() },
		Log:     e.logs.part("MCP"),
	}
	mux := http.NewServeMux()
	h.Routes(mux)
	e.login.Routes(mux)
	if e.config.hasPage() {
		policy.Own = ownerPath + "/"
		e.pageRoutes(mux, h.Authenticate)
	}
	// From the inside out: the pages for people; the policy on hosts and origins, which lets
	// no other origin reach the pages of the login; the probes, which answer before hosts
	// are checked; the header for https; and the count of every request.
	site := e.probes(policy.Wrap(e.welcome(mux), oauth.AuthorizePath, oauth.ApprovePath))
	if strings.HasPrefix(e.config.baseURL, "https://") {
		site = strictTransport(site)
	}
	srv := newHTTPServer(e.meter.requestsOf(site), e.conns, e.logs.part("wick"))
	srv.RegisterOnShutdown(func() { // Shutdown ends no streams
		e.protocol.Close()
		e.hub.Close()
	})
	return srv, nil
}

// logIn opens the login. It overwrites the passphrase. What the login must not forget is in
// etcd for a replica, in the data directory with a key file, and otherwise in memory alone.
func (e *app) logIn() (err error) {
	c := e.config
	o := c.login
	o.BaseURL, o.Loopback, o.Trade, o.Money, o.Log = c.baseURL, address.Loopback(c.listen), c.trade, e.moneyText(), e.logs.part("OAuth")
	o.OnRevoke = func(token string) { e.protocol.Sessions.Revoke(token) }
	o.OnLogin = func(name, scope string, from netip.Addr) {
		if e.messages != nil {
			e.messages.loggedIn(name, scope, from)
		}
	}
	if c.hasPage() {
		o.OwnPage = pagePath
	}
	switch {
	case c.clustered():
		o.Ledger, err = e.replica.openLedger()
	case len(c.login.Keys) > 0:
		// It fails if another process has the ledger open: two processes with the same key, each
		// with a copy of the ledger, would both accept the same code.
		if e.logins, err = journal.OpenWithin(c.dataDir, loginsName); err == nil {
			o.Ledger, err = fileledger.Open(e.logins)
		}
	}
	if err != nil {
		return err
	}
	if e.trade != nil && e.gate.Asks() {
		o.Questions = orderPage{e}
	}
	if e.login, err = oauth.New(o); err == nil {
		e.proves = e.login.Proves
	}
	return err
}

// orderPage is what the page of the login asks of the gate: see [oauth.Questions].
type orderPage struct{ *app }

func (a orderPage) Question(id string) (lines []string, approved, ok bool) {
	return a.gate.Question(id)
}

// Answer is called once the page has checked the passphrase, which it asks for with a yes.
func (a orderPage) Answer(ctx context.Context, id string, yes bool, from string) error {
	c := permit.Caller{Name: "owner", Door: permit.Page, Address: from, Scopes: permit.Scopes{permit.Owner}}
	if yes {
		c.Scopes = append(c.Scopes, permit.Person)
	}
	return a.answer(ctx, c, id, yes)
}

// moneyText returns what the consent page says about where orders go.
func (e *app) moneyText() string {
	if e.trade != nil {
		switch v, atBroker := e.trade.Venue(); {
		case atBroker && v.Money == book.RealMoney:
			return fmt.Sprintf("Real money: orders are sent to %s, account %s.", v.Name, masked(v.Account))
		case atBroker:
			return fmt.Sprintf("Orders are sent to the paper account %s at %s: no real money.", masked(v.Account), v.Name)
		}
	}
	return "Paper trading: no real money."
}

// authenticate returns the caller whose token r carries. From then on the connection
// counts as the token's. It returns ErrTooMany if the token has too many of them.
func (e *app) authenticate(r *http.Request) (mcp.Caller, error) {
	from := e.login.ClientIP(r)
	grant, err := e.login.Authenticate(r, from)
	if err != nil {
		return mcp.Caller{}, err
	}
	if !e.conns.claim(r, grant.ID, grant.Client) {
		return mcp.Caller{}, mcp.ErrTooMany
	}
	c := callerOf(grant, permit.HTTP, from)
	if e.config.clustered() { // the leader judges the token anew
		_, c.Token, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	}
	return c, nil
}

// callerOf returns the caller that a token stands for.
func callerOf(g oauth.Grant, door permit.Door, from netip.Addr) mcp.Caller {
	return mcp.Caller{ID: g.ID, Client: g.Client, Name: g.Name, Scope: g.Scope, Login: g.Login, Expires: g.Expires, Door: string(door), Address: from.String()}
}

// stream serves one SSE stream until it ends. If the caller may trade, it first
// gets back the subscription that its client had under an earlier token.
func (e *app) stream(w http.ResponseWriter, r *http.Request, c mcp.Caller) error {
	caller := tools.Subscriber(c)
	var claim func() error
	if e.trade != nil && e.may(r.Context(), c, "subscribe_notifications") == nil {
		claim = func() error { return e.trade.Claim(caller) }
	}
	return e.hub.Serve(w, r, caller, claim)
}

// listener is an mcp.Stream as sse writes it: events without ids, since the
// protocol of listeners knows no resuming.
type listener struct{ *mcp.Stream }

// Next returns the lines that wait, each as an event of its own.
func (l listener) Next() (events []sse.Event) {
	for _, line := range l.Stream.Next() {
		events = append(events, sse.Event{Data: line})
	}
	return events
}

// Bounds of the HTTP servers. The one that strangers reach has all of them; those for
// metrics, the owner's socket and other replicas have some of them.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second // for head and body, even if a refusal leaves the body unread; calls and streams may last longer
	replyTimeout      = 30 * time.Second // from the head of a request to the end of its reply; replies to tokens and streams have deadlines of their own
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 20 << 10        // the first line included, and with it the query of /authorize
	headerSlack       = 4 << 10         // what net/http allows beyond MaxHeaderBytes
	shutdownTimeout   = 4 * time.Second // the whole stop takes less than five
)

// bounded returns a server with the bounds that all of them have.
func bounded(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes - headerSlack,
		DisableGeneralOptionsHandler: true, // else OPTIONS * would be answered before the host is checked
	}
}

// newHTTPServer returns the server that strangers reach. A reply that takes longer than
// replyTimeout must set a deadline of its own: streams do so with every write, and replies
// to requests with a token when they begin.
func newHTTPServer(handler http.Handler, conns *connections, log *slog.Logger) *http.Server {
	srv := bounded(conns.handler(handler))
	srv.WriteTimeout, srv.ErrorLog = replyTimeout, slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	srv.ConnState, srv.ConnContext = conns.state, conns.context
	return srv
}

// serveHTTP serves until ctx ends, then stops within shutdownTimeout. It returns an error
// only if serving ended by itself, and closes ln in either case.
func serveHTTP(ctx context.Context, srv *http.Server, ln net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// Requests under way may finish; ctx, which has ended, would cut them off at once.
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		srv.Close() // whoever has not finished by now is cut off
	}
	<-failed
	return nil
}

// strictTransport tells browsers to use https for a year: a first request over plain http
// could be answered by somebody else. It does not include subdomains, which may belong to
// others.
func strictTransport(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}
