package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"golang.org/x/sync/semaphore"

	"wick/limit"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/notify"
	"wick/trade"
)

// silence is how long a data source may leave questions unanswered before the
// owner is told.
const silence = 10 * time.Minute

// resolveNotified puts the symbols that destinations ask for into the spelling of the
// source, which that of events is. It refuses what names no symbol there, since nothing
// would ever match it.
func (c *config) resolveNotified(source market.Source) (err error) {
	for _, d := range c.destinations {
		for i, text := range d.Filter.Symbols {
			if d.Filter.Symbols[i], err = market.Resolve(source, text); err != nil {
				return fmt.Errorf("--notify-file %s: the line of %s: symbols=: %w", c.values["--notify-file"], d.Name, err)
			}
		}
	}
	return nil
}

// testNotify sends one message to each destination, or to the one that is named, and writes
// a line for each that says what came of it. It tries each once, goes on after a failure,
// and returns an error if there was any.
func testNotify(ctx context.Context, t *task) error {
	if len(t.destinations) == 0 {
		return errors.New("notify-test needs --notify-file")
	}
	source, err := t.open()
	if err != nil {
		return err
	}
	draw := painter(source)
	var failed error
	found := false
	for _, d := range t.destinations {
		if name := t.word(0); name != "" && d.Name != name {
			continue
		}
		found = true
		if !sendTest(ctx, t.config, d, draw, t.shown) {
			failed = errors.New("not every destination took its message")
		}
	}
	if !found {
		return fmt.Errorf("notify-test: no destination is called %q", limit.Clip(t.word(0)))
	}
	return failed
}

// sendTest sends one message to a destination, writes what came of it, and reports
// whether the destination took it.
func sendTest(ctx context.Context, c *config, d *notify.Destination, draw func(context.Context, notify.Event) ([]byte, error), out io.Writer) bool {
	// Each message has an ID of its own: some services drop one that they have seen.
	now := time.Now().UTC()
	e := notify.Event{ID: fmt.Sprintf("test-%d", now.UnixNano()), At: now, Kind: "test", Text: "wick can reach you here: this is a test"}
	m := notify.NewMessage([]*notify.Event{&e})
	if d.Picture {
		var err error
		e.Chart = chartOf(c.symbols[0], c.intervals[0], now, nil, "")
		// If drawing fails, the message goes out without its picture, as a real one would.
		if m.Picture, err = draw(ctx, e); err != nil {
			fmt.Fprintf(out, "%s: no picture: %v\n", d.Name, err)
		}
	}
	if failure := d.Send(ctx, m); failure != nil {
		fmt.Fprintf(out, "%s: failed: %s\n", d.Name, failure.Reason)
		return false
	}
	fmt.Fprintf(out, "%s: sent\n", d.Name)
	return true
}

// openNotifier makes the notifier of the destinations, if there are any, and sets
// o.Outbox, by which the engine tells it of every step. The notifier writes to the
// journal of e.trade, which is opened later, before the notifier runs.
func (e *app) openNotifier(c *config, source market.Source, o *trade.Options) {
	if len(c.destinations) == 0 {
		return
	}
	options := notify.Options{
		Destinations: c.destinations, Picture: painter(source), Log: o.Log,
		Write: func(record []byte) error { return e.trade.WriteOutbox(record) },
	}
	if e.meter != nil {
		options.Count = func(destination, outcome string) { e.meter.notified.Add(1, destination, outcome) }
	}
	e.notifier = notify.New(options)
	o.Outbox = outbox{e.notifier, c.intervals[0]}
}

// painter returns the function that draws the pictures of events, one at a time,
// through the tool that clients call. It calls the tool without a caller, so nothing of
// an account is drawn.
func painter(source market.Source) func(context.Context, notify.Event) ([]byte, error) {
	tool := tools.Chart(tools.Deps{Source: source, Renders: semaphore.NewWeighted(1)})
	return func(ctx context.Context, e notify.Event) ([]byte, error) {
		result, err := tool.Handle(ctx, mcp.Call{Arguments: e.Chart})
		if err != nil {
			return nil, err
		}
		return result.Content[0].Data, nil
	}
}

// loggedIn tells the owner that somebody logged in. The login calls it. At a follower it
// waits at most two seconds for the leader, and ignores a failure: a login must not fail
// because a message does.
func (e *app) loggedIn(name, scope string, from netip.Addr) {
	e.tell(notify.Event{At: time.Now().UTC(), Kind: notify.Login, Client: name,
		Text: fmt.Sprintf("%q logged in from %s, may use: %s", limit.Clip(name), from, scope)})
}

// healthPeriod is how often the journal and the data sources are checked.
const healthPeriod = 10 * time.Second

// hashPeriod is how often the owner gets the newest hash of the journal.
const hashPeriod = 24 * time.Hour

// journalHash returns the event of the newest hash of the journal, by which the owner can
// see later that nothing before it was changed or cut off. The same hash is the same message.
// The hash stands first, so that no bound of a service cuts it.
func (e *app) journalHash() notify.Event {
	seq, hash := e.trade.Head()
	return notify.Event{ID: "journal-" + hash.String(), At: time.Now().UTC(), Kind: notify.Journal, Detail: fmt.Appendf(nil, `{"record":%d,"hash":%q}`, seq, hash),
		Text: fmt.Sprintf("%s is the hash of the journal after record %d: keep it, for wick --audit --verify to find out whether anything up to there was changed or is gone", hash, seq)}
}

// watchHealth tells the owner when the journal or a data source fails, or a source
// answers again, until ctx ends. After a restart it tells everything that is wrong once
// more. It also tells the newest hash of the journal each hashPeriod, counted over restarts.
// What is in etcd has no history in which a hash could be looked up.
func (e *app) watchHealth(ctx context.Context) error {
	tick := time.NewTicker(healthPeriod)
	defer tick.Stop()
	told := toldHealth{silent: make(map[string]bool)}
	for {
		if since := time.Since(e.notifier.Hashed()); e.replica == nil && (since >= hashPeriod || since < 0) { // less than 0 if the clock was set back
			e.notifier.Tell(e.journalHash())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, event := range told.changes(e.trade.Status().Journal, e.feed.Ages(), time.Now().UTC()) {
			e.notifier.Tell(event)
		}
	}
}

// toldHealth remembers what the owner was told, so that each change is told once.
type toldHealth struct {
	broken bool
	silent map[string]bool // data sources
}

// changes returns what is new: that the journal broke, that a data source fell
// silent, or that it answers again. The ages say how long ago each source answered. A
// broken journal stays broken until the process is started again, so there is no message
// that it works again.
func (l *toldHealth) changes(journal string, ages map[string]time.Duration, now time.Time) (events []notify.Event) {
	tell := func(kind notify.Kind, format string, args ...any) {
		events = append(events, notify.Event{At: now, Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	if journal != "ok" && !l.broken {
		l.broken = true
		tell(notify.Storage, "Storage failed: wick takes no orders and fires no alerts until it is started again")
	}
	// Each change is told once, whether a source falls silent or answers again.
	for name, age := range ages {
		switch {
		case age >= silence && !l.silent[name]:
			tell(notify.Silent, "%s has not answered for %.0f minutes: alerts on its prices wait", name, age.Minutes())
		case age < silence && l.silent[name]:
			tell(notify.Silent, "%s answers again", name)
		}
		l.silent[name] = age >= silence
	}
	return events
}
