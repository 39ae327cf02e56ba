package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/internal/metrics"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/oauth"
	"wick/permit"
	"wick/sse"
	"wick/trade"
)

// openApp opens the trading engine and its data directory if c asks for it. It starts
// no goroutine; run does. The fields protocol and, over HTTP, valid are set later, before
// anyone is served. When ctx ends, openApp no longer waits for etcd.
func openApp(ctx context.Context, c *config, source market.Source, log *slog.Logger) (*app, error) {
	e := &app{hub: sse.NewHub(tools.EncodeAlert), exitWhenBroken: c.exitWhenBroken, lists: c.watchlists, chat: c.hasPage()}
	if c.metrics != "" {
		e.meter = newMeter()
	}
	asking := permit.Options{Above: c.confirmAbove, InClient: c.approveInClient, Log: log}
	if len(c.passphrase) == 0 { // a program logs in under as many names as it likes
		asking.Payer = "everybody"
		if c.trade && c.confirmAbove >= 0 && !c.approveInClient {
			log.Warn("nobody can say yes to an order that needs one: set --passphrase-file or, on paper, --approve-in-client", "confirm_above", c.confirmAbove.String())
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
	return e, e.openTrade(ctx, c, source, log)
}

// openTrade opens the trading engine and what belongs to it.
func (e *app) openTrade(ctx context.Context, c *config, source market.Source, log *slog.Logger) error {
	o := trade.Options{
		Dir: c.dataDir, Source: source, Feed: e.feed, Account: c.account, Limits: c.limits,
		FeeRate: c.feeRate, MakerFeeRate: c.makerFee, Slippage: c.slippage, HalfSpread: c.halfSpread, Quoted: !c.set["half-spread in --"+inPaper], Grid: c.gridOf, MaxPriceAge: c.maxPriceAge, Symbols: c.symbols, Intervals: c.intervals,
		Recover: c.recoverTo(log), Log: log, Hub: e.hub, Works: e.subscribes, Notify: e.fired,
	}
	// The notifier, the cluster and the broker are parts of the engine's options, so
	// they are opened before it.
	e.openMessages(c, source, &o)
	err := e.openReplica(c, &o)
	if err != nil {
		return err
	}
	if e.replica != nil { // trade.Open of a replica waits for etcd; closing it ends that wait
		defer context.AfterFunc(ctx, e.replica.close)()
	}
	if o.Venue, err = openVenue(c, log); err != nil {
		return err
	}
	if e.trade, err = trade.Open(o); err == nil && e.gate.Asks() { // of which a replica has none
		err = e.trade.CountPlaced(time.Now().Add(-time.Hour), e.gate.Count)
	}
	if err == nil && e.messages != nil && e.replica == nil { // before the first request; a replica opens it when it leads
		e.messages.Open()
	}
	return err
}

// run starts everything that goes on without a request, such as the engine and the watch
// over resources, and waits until ctx ends and all of it has stopped. The first of these
// that fails ends the others, and run returns its error.
func (e *app) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.protocol.Watch(ctx) })
	if e.trade != nil {
		g.Go(func() error { return e.trade.Run(ctx) })
	}
	if e.trade != nil && e.exitWhenBroken {
		g.Go(func() error { return e.endWhenBroken(ctx) })
	}
	if e.messages != nil {
		g.Go(func() error { return e.whileLeading(ctx, e.messages.Run) })
		g.Go(func() error { return e.whileLeading(ctx, e.messages.watchHealth) })
	}
	if e.replica != nil {
		g.Go(func() error { return e.replica.run(ctx, e) })
	}
	return g.Wait()
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

// replicas is what --cluster-file adds: this process is one of several.
type replicas interface {
	run(ctx context.Context, e *app) error // serves the others
	close()
	leads() bool                                                             // this process writes
	whileLeading(ctx context.Context, run func(context.Context) error) error // see app.whileLeading
	hear() error                                                             // which logins have ended elsewhere
	openLedger() (oauth.Ledger, error)
	join(login *oauth.Server)
	wrap(e *app, all []mcp.Tool, resources []mcp.Resource) ([]mcp.Tool, []mcp.Resource) // to work on every replica
	ready(e *app, strict bool) readiness
	meter(m *metrics.Registry)
}

// leads reports whether this process writes: it alone does without replicas.
func (e *app) leads() bool { return e.replica == nil || e.replica.leads() }

// whileLeading waits until this process leads, calls run with a context that ends with its
// lead or with ctx, and returns what run returns.
func (e *app) whileLeading(ctx context.Context, run func(context.Context) error) error {
	if e.replica == nil {
		return run(ctx)
	}
	return e.replica.whileLeading(ctx, run)
}

// hear asks which logins have ended at other replicas, so that they end here, too.
func (e *app) hear() error {
	if e.replica == nil {
		return nil
	}
	return e.replica.hear()
}

// outdated waits until etcd confirms that this replica is up to date, and returns "", or a
// note that it may not be.
func outdated(ctx context.Context, engine *trade.Engine) string {
	if stale := engine.Confirm(ctx); stale != nil {
		return fmt.Sprintf("This is as of record %d of this replica, and may be out of date: %v", engine.Applied(), stale)
	}
	return ""
}

// loggedIn tells the owner that somebody logged in. The login calls it.
func (e *app) loggedIn(name, scope string, from netip.Addr) {
	if e.messages != nil {
		e.messages.loggedIn(name, scope, from)
	}
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

// recoverTo returns the function that is called with what a recovery does, and writes it
// to the log. Without --recover=yes it returns nil.
func (c *config) recoverTo(log *slog.Logger) func(trade.Recovery) error {
	if !c.recover {
		return nil
	}
	return func(r trade.Recovery) error {
		for line := range strings.Lines(r.String()) {
			log.Warn("recovering: " + strings.TrimSpace(line))
		}
		return nil
	}
}
