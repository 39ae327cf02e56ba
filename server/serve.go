package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/internal/address"
	"wick/internal/journal"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/oauth"
	"wick/permit"
	"wick/sse"
	"wick/trade"
)

// instructions tell a client's model what the server is for.
const instructions = "wick draws charts, computes technical indicators, and under --trade keeps a paper trading account with alerts. " +

	"Start with generate_chart (format=summary is cheapest to read); list_indicators names the indicators and their signals. " +
	"A condition of your own, such as rsi(14) < 30 and close > ema(200)@1d, is the indicator rule: generate_chart shades it, get_indicators scans many symbols for it, " +
	"set_alert waits for it, and the indicator backtest says what trading it would have made. " +
	"Data marked synthetic is invented and says nothing about a real market."

// serve runs the HTTP server until ctx ends. It opens what it needs in such an order
// that a failure leaves nothing behind: the sockets, the data directory, the
// login. Then it starts the goroutines. At the end it waits for them, for the
// streams and for the last write to disk.
func serve(ctx context.Context, c *config, source market.Source, logs loggers) error {
	site, err := net.Listen("tcp", net.JoinHostPort(c.listen, strconv.Itoa(c.port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %d is in use: stop what listens there, or choose another --port", c.port)
	case err != nil:
		return fmt.Errorf("--listen %s --port %d: %w", c.listen, c.port, err)
	}
	defer site.Close()
	// The port may be 0, so what is published is known only now.
	if err := c.publish(site.Addr().(*net.TCPAddr).Port); err != nil {
		return err
	}
	var metrics net.Listener // nil without --metrics
	if c.metrics != "" {
		if metrics, err = listenFew("--metrics", c.metrics, maxMetricsConns); err != nil {
			return err
		}
		defer metrics.Close()
	}
	if err := prepareDir(c); err != nil {
		return err
	}
	if err := checkFree(c.dataDir); err != nil {
		return err
	}
	kept, err := openLogins(c)
	if err != nil {
		return err
	}
	defer kept.close()
	e, err := openApp(ctx, c, source, logs.part("Trade"))
	switch {
	case err != nil && ctx.Err() != nil: // it was stopped while it waited for etcd
		return nil
	case err != nil:
		return err
	}
	control, err := openControl(c, logs.part("wick"))
	if err == nil {
		err = serveApp(ctx, c, source, e, kept, logs, site, metrics, control)
	}
	return e.close(err)
}

// serveApp makes the service and runs it until ctx ends. Control, by which its owner speaks to
// it, is nil where it could not be opened.
func serveApp(ctx context.Context, c *config, source market.Source, e *app, kept *keptLogins, logs loggers, site, metrics, control net.Listener) error {
	if control != nil {
		defer control.Close()
	}
	s, err := newService(c, source, e, kept, logs)
	if err != nil {
		return err
	}
	return s.run(ctx, site, metrics, control)
}

// service is the HTTP server with everything behind it.
type service struct {
	config *config
	source market.Source
	app    *app
	conns  *connections
	owner  *owner
	http   *http.Server
	log    *slog.Logger
}

// run serves until ctx ends or something fails, and waits for all that it started.
func (s *service) run(ctx context.Context, site, metrics, control net.Listener) error {
	// The memory in use now is that of the data directory, and stays in use. The limit of
	// memory comes on top of it.
	c, e, log := s.config, s.app, s.log
	memory := newMemory(c.source == "sample")
	defer memory.release()
	s.conns.changed = memory.connections

	g, ctx := errgroup.WithContext(ctx) // one that fails ends all the others
	f := newFronts(ctx, c, e)
	if metrics != nil {
		e.meter.watch(e, s.conns, s.source, time.Now())
		log.Info("metrics", "address", "http://"+metrics.Addr().String()+"/metrics")
		g.Go(func() error { return serveHTTP(ctx, e.meter.server(), metrics) })
	}
	if control != nil {
		g.Go(func() error { return serveHTTP(ctx, controlServer(s.owner, f), control) })
	}
	said := []any{"url", c.baseURL + "/mcp", "login", c.howToLogIn(), "listen", site.Addr().String(), "source", c.source, "trade", c.trade}
	if key := s.owner.login.PageKey(); key != "" { // for the owner's browser, once
		said = append(said, "page", c.baseURL+pagePath+"?key="+key)
	}
	log.Info("serving", said...)
	g.Go(func() error { return e.run(ctx) })
	g.Go(func() error { return serveHTTP(ctx, s.http, s.conns.listener(site)) })
	err := g.Wait()
	// At the end it waits for attached hosts, then for streams. All of them may still have
	// written to the journal, which the caller closes after that.
	f.done.Wait()
	<-e.hub.Close() // also those that Shutdown did not wait for: each stream has a second to write its last event
	log.Info("stopped")
	return err
}

// newService returns the HTTP server with the login and all routes, those of the owner
// included. It does not listen yet. Its uptime is counted from here.
func newService(c *config, source market.Source, e *app, kept *keptLogins, logs loggers) (*service, error) {
	login, err := newLogin(c, e, kept, logs.part("OAuth"))
	if err != nil {
		return nil, err
	}
	conns := newConnections(maxFiles())
	started := time.Now()
	o := &owner{app: e, login: login, dir: c.dataDir, proves: login.Proves, health: func() healthDoc { return health(c, e, started) }}
	handler, err := routes(c, source, e, o, conns, logs)
	if err != nil {
		return nil, err
	}
	log := logs.part("wick")
	srv := newHTTPServer(handler, conns, log)
	srv.RegisterOnShutdown(func() { // Shutdown ends no streams
		e.protocol.Close()
		e.hub.Close()
	})
	return &service{config: c, source: source, app: e, conns: conns, owner: o, http: srv, log: log}, nil
}

// controlServer serves the owner's questions, and under --trade other processes that
// attach, to whoever can open the socket.
func controlServer(o *owner, f *fronts) *http.Server {
	mux := http.NewServeMux()
	if f.app.trade != nil {
		mux.HandleFunc("POST /attach", f.attach)
	}
	o.routes(mux, "", o.onSocket)
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes}
}

// newLogin returns the login, and sets e.valid, by which the app asks it which callers'
// tokens work. It overwrites the passphrase of c. What the login must not forget is in
// etcd for a replica, in the data directory with a key file, and otherwise in memory
// alone.
func newLogin(c *config, e *app, kept *keptLogins, log *slog.Logger) (*oauth.Server, error) {
	path := ""
	if c.hasPage() {
		path = pagePath
	}
	var ledger oauth.Ledger // nil if logins end with the process
	var err error
	switch {
	case e.replica != nil:
		ledger, err = e.replica.openLedger()
	case kept != nil:
		ledger = kept.ledger
	}
	if err != nil {
		return nil, err
	}
	var questions oauth.Questions // nil if there are none
	if e.trade != nil && e.gate.Asks() {
		questions = orderPage{e}
	}
	login, err := oauth.New(oauth.Options{
		BaseURL: c.baseURL, Passphrase: c.passphrase, PassphraseFrom: c.passphraseFrom, Loopback: address.Loopback(c.listen),
		Trade: c.trade, Money: e.moneyText(), OwnPage: path, TrustedProxies: c.proxies, Documents: c.documents, DocumentsAt: c.documentsAt,
		Keys: c.keys, Ledger: ledger, Questions: questions, OnRevoke: e.revoked, OnLogin: e.loggedIn, Log: log,
	})
	e.valid = func(caller string) bool { // an attached host has no token
		return caller == tools.StdioCaller.ID || login.Valid(caller)
	}
	e.works = login.Works
	if e.replica != nil {
		e.replica.join(login)
	}
	return login, err
}

// orderPage is what the page of the login asks of the gate: see [oauth.Questions].
type orderPage struct{ app *app }

func (a orderPage) Question(id string) (lines []string, approved, ok bool) {
	return a.app.gate.Question(id)
}

// Answer is called once the page has checked the passphrase, which it asks for with a yes.
func (a orderPage) Answer(ctx context.Context, id string, yes bool, from string) error {
	c := permit.Caller{Name: "owner", Door: permit.Page, Address: from, Scopes: permit.Scopes{permit.Owner}}
	if yes {
		c.Scopes = append(c.Scopes, permit.Person)
	}
	return a.app.answer(ctx, c, id, yes)
}

// moneyText returns what the consent page says about where orders go.
func (e *app) moneyText() string {
	if e.trade == nil {
		return "Paper trading: no real money."
	}
	switch v, atBroker := e.trade.Venue(); {
	case !atBroker:
		return "Paper trading: no real money."
	case v.Money == trade.RealMoney:
		return fmt.Sprintf("Real money: orders are sent to %s, account %s.", v.Broker, masked(v.Account))
	default:
		return fmt.Sprintf("Orders are sent to the paper account %s at %s: no real money.", masked(v.Account), v.Broker)
	}
}

// routes puts the protocol, the login and the health document on one mux,
// behind the policy on hosts and origins.
func routes(c *config, source market.Source, e *app, o *owner, conns *connections, logs loggers) (http.Handler, error) {
	login := o.login
	policy, err := mcp.NewPolicy(c.baseURL, c.origins)
	if err != nil {
		return nil, err
	}
	h := newEndpoint(e, source, o, conns, logs)
	mux := http.NewServeMux()
	h.Routes(mux)
	login.Routes(mux)
	if c.hasPage() {
		policy.Own = ownerPath + "/"
		pageRoutes(mux, c, o, h.Authenticate)
	}
	// From the inside out: the pages for people; the policy on hosts and origins, which lets
	// no other origin reach the pages of the login; the probes, which answer before hosts
	// are checked; the header for https; and the count of every request.
	people := welcome(mux, login, c.baseURL+"/mcp", o.health)
	site := policy.Wrap(people, oauth.AuthorizePath, oauth.ApprovePath)
	return e.meter.requestsOf(strictTransport(c.baseURL, e.probes(site))), nil
}

// newEndpoint returns the protocol over HTTP. This is where oauth and mcp meet: mcp
// asks who sent a request, and gets a caller whose names it does not interpret.
func newEndpoint(e *app, source market.Source, o *owner, conns *connections, logs loggers) *mcp.HTTP {
	login := o.login
	// A challenge names the path of the request, because each path has its own metadata.
	return &mcp.HTTP{
		Server: newMCP(e, source, logs),
		Authenticate: func(r *http.Request) (mcp.Caller, error) {
			c, err := authenticate(login, conns, r)
			if e.replica != nil { // the leader judges the token anew
				_, c.Token, _ = strings.Cut(r.Header.Get("Authorization"), " ")
			}
			return c, err
		},
		Challenge: func(w http.ResponseWriter, r *http.Request, err error) {
			if err == mcp.ErrScope {
				err = oauth.ErrInsufficientScope
			}
			login.Challenge(w.Header(), r.URL.Path, err)
		},
		Stream: e.stream,
		Listen: func(ctx context.Context, w http.ResponseWriter, l *mcp.Stream) error {
			return sse.Serve(ctx, w, listener{l})
		},
		Health:  func() any { return o.health() },
		Address: func(r *http.Request) string { return login.ClientIP(r).String() },
		Log:     logs.part("MCP"),
	}
}

// authenticate returns the caller whose token r carries. From then on the connection
// counts as the token's. It returns ErrTooMany if the token has too many of them.
func authenticate(login *oauth.Server, conns *connections, r *http.Request) (mcp.Caller, error) {
	grant, err := login.Authenticate(r)
	if err != nil {
		return mcp.Caller{}, err
	}
	if !conns.claim(r, grant.ID, grant.Client) {
		return mcp.Caller{}, mcp.ErrTooMany
	}
	return callerOf(grant, permit.HTTP, login.ClientIP(r)), nil
}

// callerOf returns the caller that a token stands for.
func callerOf(g oauth.Grant, door permit.Door, from netip.Addr) mcp.Caller {
	return mcp.Caller{ID: g.ID, Client: g.Client, Name: g.Name, Scope: g.Scope, Login: g.Login, Expires: g.Expires, Door: string(door), Address: from.String()}
}

// newMCP returns the server of the protocol, the same over both transports, and sets
// e.protocol. The tools are wrapped twice: first to work on every replica, and around that
// to be counted and timed.
func newMCP(e *app, source market.Source, logs loggers) *mcp.Server {
	d := e.deps(source)
	resources := tools.Resources(d)
	if e.replica != nil { // not for the resources: replicated refuses those that are out of date
		d.Outdated = func(ctx context.Context) string { return outdated(ctx, e.trade) }
	}
	all := tools.All(d)
	said := instructions
	if e.trade != nil {
		said += tools.BrokerInstructions(e.trade)
	}
	// Without the names of the destinations: a client reads this before it has logged in.
	if e.messages != nil && len(e.messages.heard("", "")) > 0 {
		said += " A fired alert is also sent to the owner as a message, whether or not a client is connected."
	}
	if e.chat {
		all, resources = withChat(all, resources)
	}
	if e.replica != nil {
		all, resources = e.replica.wrap(e, all, resources)
	}
	e.protocol = mcp.NewServer(mcp.Options{
		Name: "wick", Title: "wick: charts, alerts, paper trading", Version: buildVersion(), Icons: tools.Icon(), Instructions: said,
		Tools: e.meter.tools(all), Resources: resources, Prompts: tools.Prompts(), Complete: tools.Complete(d),
		Ring: e.hub.Ring, May: e.may, Valid: e.valid, Log: logs.part("MCP"),
	})
	e.hub.Changes = e.protocol.Changes
	return e.protocol
}

// serveStdio holds one conversation over standard input and output. There is no
// login: whoever starts the process is its owner. If another process holds the data
// directory, this one becomes a front of it.
func serveStdio(ctx context.Context, c *config, source market.Source, logs loggers, stdin io.Reader, stdout io.Writer) error {
	// A server without --trade has no lock and no book to attach to, but its socket is the
	// one by which the owner would halt this process.
	if c.trade {
		if err := prepareDir(c); err != nil {
			return err
		}
		if journal.Free(c.dataDir) == nil {
			if err := checkSilent(c.dataDir); err != nil {
				return err
			}
		}
	}
	e, err := openApp(ctx, c, source, logs.part("Trade"))
	if errors.Is(err, journal.ErrHeld) {
		if c.recover {
			return fmt.Errorf("--recover=yes needs the data directory to itself: %w", err)
		}
		logs.part("wick").Info("attaching to the wick that runs on this data directory", "directory", c.dataDir)
		s := &stdio{out: stdout}
		return s.farewell(ctx, func() error { return attachTo(ctx, c, stdin, s) })
	}
	if err != nil {
		return err
	}
	newMCP(e, source, logs)
	return e.close(runStdio(ctx, c, e, logs.part("wick"), stdin, stdout))
}

// runStdio runs the conversation over stdio, and, as the HTTP server does, the engine and
// the control socket for the owner and for further hosts. When the input ends, the
// conversation ends, and with it everything else.
func runStdio(ctx context.Context, c *config, e *app, log *slog.Logger, stdin io.Reader, stdout io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	f := newFronts(ctx, c, e)
	if c.trade {
		control, err := openControl(c, log)
		if err != nil {
			return err
		}
		if control != nil {
			g.Go(func() error {
				return serveHTTP(ctx, controlServer(&owner{app: e, dir: c.dataDir, proves: oauth.Prover(c.passphrase)}, f), control)
			})
		}
	}
	g.Go(func() error { return e.run(ctx) })
	g.Go(func() error {
		defer cancel() // the conversation is over, and with it the process
		s := &stdio{out: stdout}
		return s.farewell(ctx, func() error { return e.converse(ctx, stdin, s, tools.StdioCaller) })
	})
	err := g.Wait()
	f.done.Wait()
	return err
}
