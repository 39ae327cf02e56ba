//go:build !core

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"wick/internal/limit"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/notify"
	"wick/trade"
)

// silence is how long a data source may leave questions unanswered before the
// owner is told.
const silence = 10 * time.Minute

// maxNotifyFile is how many bytes --notify-file may have.
const maxNotifyFile = 64 << 10

// setDestinations reads the destinations of messages. The file holds secrets, so like the
// one with the passphrase it must not be readable for others.
func (c *config) setDestinations(file string) error {
	text, err := readSecret(file, maxNotifyFile)
	if err == nil {
		c.destinations, err = notify.Parse(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// messageConfig is what --notify-file says.
type messageConfig struct {
	destinations []*notify.Destination
}

// messageSettings is the setting that names the file.
func (c *config) messageSettings() []Setting {
	return []Setting{
		{Shared: true, Name: "notify-file", Value: "file", Help: "file with destinations for messages to the owner, see docs/notify.md; mode 0600", set: c.setDestinations},
	}
}

// messageCommands is the command that tries the destinations.
func messageCommands() []Command {
	return []Command{
		{"notify-test", "[NAME]", "send one message to every destination of --notify-file, or to one, and say what came back", "notify-file source symbols intervals", testNotify},
	}
}

func (c *config) checkMessages() error {
	if len(c.destinations) > 0 && !c.trade {
		return errors.New("--notify-file needs --trade: what waits to be sent is kept in its journal")
	}
	return nil
}

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

// messenger tells the owner what happens.
type messenger struct {
	*notify.Notifier
	app *app
}

// openMessages makes the messenger of the destinations, if there are any, and sets
// o.Outbox, by which the engine tells it of every step. The notifier writes to the
// journal of e.trade, which is opened later, before the notifier runs.
func (e *app) openMessages(o *trade.Options) {
	c := e.config
	if len(c.destinations) == 0 {
		return
	}
	options := notify.Options{
		Destinations: c.destinations, Picture: painter(e.source), Log: o.Log,
		Write: func(record []byte) error { return e.trade.WriteOutbox(record) },
	}
	if e.meter != nil {
		options.Count = func(destination, outcome string) { e.meter.notified.Add(1, destination, outcome) }
	}
	m := &messenger{notify.New(options), e}
	e.messages, o.Outbox = m, outbox{m.Notifier, c.intervals[0]}
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

// heard returns the destinations that hear of an alert.
func (m *messenger) heard(symbol, client string) []string {
	return m.Hearing(notify.Event{Kind: notify.Alert, Symbol: symbol, Client: client})
}

// waiting returns how many events wait, by destination.
func (m *messenger) waiting() map[string]int {
	waiting, _ := m.Status()
	return waiting
}

// letters returns the messages that could not be delivered, the newest first.
func (m *messenger) letters() any {
	_, dead := m.Status()
	slices.Reverse(dead)
	return append([]notify.Dead{}, dead...)
}

// stopped tells the hash of all that was written.
func (m *messenger) stopped() { m.SendNow(m.journalHash()) }

// loggedIn tells that somebody logged in. A follower passes it to the leader, waits at most
// two seconds and ignores a failure: a login must not fail because a message does.
func (m *messenger) loggedIn(name, scope string, from netip.Addr) {
	event := notify.Event{At: time.Now().UTC(), Kind: notify.Login, Client: name,
		Text: fmt.Sprintf("%q logged in from %s, may use: %s", limit.Clip(name), from, scope)}
	if m.app.leads() {
		m.Tell(event)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	m.app.replica.(*replica).node.Ask(ctx, askTell, event, nil)
}

// healthPeriod is how often the journal and the data sources are checked.
const healthPeriod = 10 * time.Second

// hashPeriod is how often the owner gets the newest hash of the journal.
const hashPeriod = 24 * time.Hour

// journalHash returns the event of the newest hash of the journal, by which the owner can
// see later that nothing before it was changed or cut off. The same hash is the same message.
// The hash stands first, so that no bound of a service cuts it.
func (m *messenger) journalHash() notify.Event {
	seq, hash := m.app.trade.Head()
	return notify.Event{ID: "journal-" + hash.String(), At: time.Now().UTC(), Kind: notify.Journal, Detail: fmt.Appendf(nil, `{"record":%d,"hash":%q}`, seq, hash),
		Text: fmt.Sprintf("%s is the hash of the journal after record %d: keep it, for wick audit verify to find out whether anything up to there was changed or is gone", hash, seq)}
}

// watchHealth tells the owner when the journal or a data source fails, or a source
// answers again, until ctx ends. After a restart it tells everything that is wrong once
// more. It also tells the newest hash of the journal each hashPeriod, counted over restarts.
// What is in etcd has no history in which a hash could be looked up.
func (m *messenger) watchHealth(ctx context.Context) error {
	tick := time.NewTicker(healthPeriod)
	defer tick.Stop()
	told := toldHealth{silent: make(map[string]bool)}
	for {
		if since := time.Since(m.Hashed()); m.app.replica == nil && (since >= hashPeriod || since < 0) { // less than 0 if the clock was set back
			m.Tell(m.journalHash())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, event := range told.changes(m.app.trade.Status().Journal, m.app.feed.Ages(), time.Now().UTC()) {
			m.Tell(event)
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
