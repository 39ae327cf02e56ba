package server

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"wick/internal/journal"
	"wick/internal/metrics"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/oauth"
	"wick/permit"
	"wick/sse"
	"wick/trade"
	"wick/trade/book"
)

// app is the program with its parts put together. openApp makes it, run keeps it going and
// close ends it. Some fields are set after openApp, but before anyone is served; none changes
// after that.
type app struct {
	config  *config
	source  market.Source
	logs    loggers
	started time.Time

	hub      *sse.Hub
	gate     *permit.Gate
	trade    *trade.Engine // nil without --trade, like feed
	feed     *market.Feed
	meter    *meter   // nil without --metrics
	messages messages // nil without --notify-file
	replica  replicas
	protocol *mcp.Server // set by newProtocol

	login  *oauth.Server // nil over stdio, like conns and logins; set by logIn
	conns  *connections
	logins *journal.Dir // nil without --key-file

	// proves returns nil for the owner's passphrase, and an error for any other text. An
	// approval over the socket needs the passphrase. Without one proves is nil, and nothing
	// can be approved over the socket.
	proves func(guess string) error

	attached      *semaphore.Weighted // for conversations of other processes
	conversations atomic.Uint64
	ended         bool // endWhenBroken has ended it; owned by run, and read when run is over
}

// messages is what --notify-file adds: it tells the owner what happens. The rooms of
// messages and replicas may be left out of a binary, see core.go.
type messages interface {
	Open()
	Run(ctx context.Context) error         // sends what waits
	watchHealth(ctx context.Context) error // tells what fails
	heard(symbol, client string) []string  // the destinations that hear of an alert
	loggedIn(name, scope string, from netip.Addr)
	stopped() // tells the newest hash
	waiting() map[string]int
	letters() any
}

// replicas is what a process has to do with others on its journal: a replica with
// --cluster-file, else nothing.
type replicas interface {
	run(ctx context.Context) error // serves the others
	close()
	leads() bool // this process writes
	// whileLeading waits until this process leads, calls run with a context that ends with its
	// lead or with ctx, and returns what run returns.
	whileLeading(ctx context.Context, run func(context.Context) error) error
	hear() error // asks which logins have ended at others, so that they end here, too
	openLedger() (oauth.Ledger, error)
	wrap(all []mcp.Tool, resources []mcp.Resource) // to work on every replica
	ready(strict bool) readiness
	meter(m *metrics.Registry)
}

// alone is a process that shares its journal with no other.
type alone struct{}

func (alone) run(context.Context) error         { return nil }
func (alone) close()                            {}
func (alone) leads() bool                       { return true }
func (alone) hear() error                       { return nil }
func (alone) openLedger() (oauth.Ledger, error) { return nil, nil }
func (alone) wrap([]mcp.Tool, []mcp.Resource)   {}
func (alone) ready(bool) readiness              { return readiness{Ready: true, Role: "single"} }
func (alone) meter(*metrics.Registry)           {}
func (alone) whileLeading(ctx context.Context, run func(context.Context) error) error {
	return run(ctx)
}

// openApp opens the trading engine and its data directory if c asks for it. It starts
// no goroutine; run does. When ctx ends, openApp no longer waits for etcd.
func openApp(ctx context.Context, c *config, source market.Source, logs loggers) (*app, error) {
	e := &app{config: c, source: source, logs: logs, started: time.Now(), hub: sse.NewHub(tools.EncodeAlert), replica: alone{}, attached: semaphore.NewWeighted(maxAttached)}
	if c.metrics != "" {
		e.meter = newMeter()
	}
	log := logs.part("Trade")
	asking := c.asking
	asking.Log = log
	if len(c.login.Passphrase) == 0 { // a program logs in under as many names as it likes
		asking.Payer, asking.Nobody = "everybody", true
		if c.trade && asking.Above >= 0 && !asking.InClient {
			log.Warn("nobody can say yes to an order that needs one: set --passphrase-file or, on paper, --approve-in-client", "confirm_above", asking.Above.String())
		}
	}
	if c.serve { // over stdio there is no page to approve on
		asking.Page = c.baseURL + oauth.ApprovePath
	}
	e.gate = permit.New(asking)
	if !c.trade {
		return e, nil
	}
	e.feed = market.NewFeed(source, log)
	e.feed.Band = c.priceBand
	o := c.engine
	o.Dir, o.Source, o.Feed, o.Log, o.Hub, o.Works = c.dataDir, source, e.feed, log, e.hub, e.subscribes
	o.Quoted, o.Grid = !c.set["half-spread in --"+inPaper], c.gridOf
	if c.recover {
		o.Recover = func(r trade.Recovery) error {
			for line := range strings.Lines(r.String()) {
				log.Warn("recovering: " + strings.TrimSpace(line))
			}
			return nil
		}
	}
	if e.meter != nil {
		o.Notify = func(book.Notification, []string) { e.meter.fired() }
	}
	// The notifier, the cluster and the broker are parts of the engine's options, so
	// they are opened before it.
	e.openMessages(&o)
	err := e.openReplica(&o)
	if err != nil {
		return e, err
	}
	defer context.AfterFunc(ctx, e.replica.close)() // trade.Open of a replica waits for etcd; closing it ends that wait
	if o.Venue, err = openVenue(c, log); err != nil {
		return e, err
	}
	if e.trade, err = trade.Open(o); err == nil && e.gate.Asks() { // of which a replica has none
		err = e.trade.CountPlaced(e.gate.Count)
	}
	if err == nil && e.messages != nil && !c.clustered() { // before the first request; a replica opens it when it leads
		e.messages.Open()
	}
	return e, err
}

// instructions tell a client's model what the server is for.
const instructions = "wick draws charts, computes technical indicators, and under --trade keeps a paper trading account with alerts. " +

	"Start with generate_chart (format=summary is cheapest to read); list_indicators names the indicators and their signals. " +
	"A condition of your own, such as rsi(14) < 30 and close > ema(200)@1d, is the indicator rule: generate_chart shades it, get_indicators scans many symbols for it, " +
	"set_alert waits for it, and the indicator backtest says what trading it would have made. " +
	"Data marked synthetic is invented and says nothing about a real market."

// newProtocol makes the server of the protocol, the same over both transports. The tools are
// wrapped twice: first to work on every replica, and around that to be counted and timed.
func (e *app) newProtocol() {
	d := tools.Deps{Source: e.source, Watchlists: e.config.watchlists, Engine: e.trade, Hub: e.hub, Gate: e.gate, Renders: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0)))}
	said := instructions
	if e.meter != nil {
		d.Painted = func(took time.Duration) { e.meter.renders(took.Seconds()) }
	}
	if e.trade != nil {
		said += tools.BrokerInstructions(e.trade)
	}
	if e.messages != nil {
		d.Messages = e.messages.heard
		if len(d.Messages("", "")) > 0 { // without the names of the destinations: a client reads this before it has logged in
			said += " A fired alert is also sent to the owner as a message, whether or not a client is connected."
		}
	}
	resources := tools.Resources(d)
	if e.config.clustered() { // not for the resources: those that are out of date are refused
		d.Outdated = func(ctx context.Context) string { return outdated(ctx, e.trade) }
	}
	all := tools.All(d)
	if e.config.hasPage() {
		all, resources = withChat(all, resources)
	}
	e.replica.wrap(all, resources)
	e.protocol = mcp.NewServer(mcp.Options{
		Name: "wick", Title: "wick: charts, alerts, paper trading", Version: buildVersion(), Icons: tools.Icon(), Instructions: said,
		Tools: e.meter.tools(all), Resources: resources, Prompts: tools.Prompts(), Complete: tools.Complete(d),
		Ring: e.hub.Ring, May: e.may, Valid: e.valid, Log: e.logs.part("MCP"),
	})
	e.hub.Changes = e.protocol.Changes
}

// outdated waits until etcd confirms that this replica is up to date, and returns "", or a
// note that it may not be.
func outdated(ctx context.Context, engine *trade.Engine) string {
	if stale := engine.Confirm(ctx); stale != nil {
		return fmt.Sprintf("This is as of record %d of this replica, and may be out of date: %v", engine.Applied(), stale)
	}
	return ""
}

// run starts everything that goes on without a request, such as the engine and the watch
// over resources, and what serves requests. It waits until ctx ends and all of it has
// stopped. The first part that fails ends the others, and run returns its error. At the end it
// waits for attached hosts, which may still have written to the journal.
func (e *app) run(ctx context.Context, parts ...func(ctx context.Context) error) error {
	parts = append(parts, e.protocol.Watch, e.replica.run)
	if e.trade != nil {
		parts = append(parts, e.trade.Run)
	}
	if e.trade != nil && e.config.exitWhenBroken {
		parts = append(parts, e.endWhenBroken)
	}
	if e.messages != nil {
		parts = append(parts, func(ctx context.Context) error { return e.replica.whileLeading(ctx, e.messages.Run) },
			func(ctx context.Context) error { return e.replica.whileLeading(ctx, e.messages.watchHealth) })
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, part := range parts {
		g.Go(func() error { return part(ctx) })
	}
	err := g.Wait()
	e.attached.Acquire(context.Background(), maxAttached)
	return err
}

// close writes what is left to write and unlocks the data directory. It takes the error with which
// the process ends, nil if it was asked to end, and returns it joined with its own. If there is
// none, it sends the owner the hash of all that was written.
func (e *app) close(err error) error {
	if e.trade != nil {
		closing := e.trade.Close()
		if !e.ended { // otherwise the journal is broken, and endWhenBroken has returned the reason
			err = errors.Join(err, closing)
		}
		if err == nil && e.messages != nil && !e.config.clustered() {
			e.messages.stopped()
		}
	}
	if e.logins != nil {
		e.logins.Close() // all in it was synced when it was written
	}
	return err
}

// brokenPeriod is how often endWhenBroken checks the journal.
const brokenPeriod = time.Second

// endWhenBroken returns an error, which ends the process, once the journal is broken and
// a new start would help. While the disk is full or the directory is gone it would not
// help, so the process goes on to answer reads.
func (e *app) endWhenBroken(ctx context.Context) error {
	tick := time.NewTicker(brokenPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if reason, restart := e.trade.Broken(); restart {
				e.ended = true
				return fmt.Errorf("ending, so that wick is started again (--exit-when-broken): %w", reason)
			}
		}
	}
}

// valid reports whether a caller's token still works. A local or attached host has none.
func (e *app) valid(caller string) bool {
	return e.login == nil || caller == tools.StdioCaller.ID || e.login.Valid(caller)
}

// subscribes reports whether the token of a subscription was not revoked. That of a local
// host never is.
func (e *app) subscribes(s *sse.Subscription) bool {
	return s.Caller == tools.StdioCaller.ID || e.login != nil && e.login.Works(s.Login)
}

// may asks the gate whether a caller of the protocol may do something. Without --trade the
// tools of the account refuse everybody themselves, since no login could help.
func (e *app) may(ctx context.Context, c mcp.Caller, action string) error {
	if need := permit.Needs(action); e.trade == nil && (need == permit.Read || need == permit.Trade) {
		return nil
	}
	_, err := e.gate.May(ctx, tools.AskingAs(c), permit.Action{Name: action}, nil)
	if refused := (*permit.Refused)(nil); errors.As(err, &refused) && refused.Scope != "" && refused.Door == permit.HTTP {
		return mcp.ScopeError(err.Error())
	}
	return err
}

// answer takes the owner's answer to the question about an order, and has it written to the
// journal before it counts.
func (e *app) answer(ctx context.Context, c permit.Caller, id string, yes bool) error {
	_, err := e.gate.May(ctx, c, permit.Action{Name: "approve", Answer: &permit.Answer{ID: id, Yes: yes}},
		func(said permit.Evidence) error { return e.trade.RecordAnswer(mcp.Encode(said)) })
	return err
}
