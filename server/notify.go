//go:build !core

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"wick/internal/limit"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/notify"
	"wick/trade"
	"wick/trade/book"
)

// silence is how long a data source may leave questions unanswered before the
// owner gets a message.
const silence = 10 * time.Minute

// messageConfig is what --notify-file says.
type messageConfig struct {
	destinations []*notify.Destination
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
	source, err := openSource(t.config, t.env)
	if err != nil {
		return err
	}
	draw, found := painter(source), false
	var failed error
	for _, d := range t.destinations {
		if name := t.word(0); name != "" && d.Name != name {
			continue
		}
		found = true
		// Each message has an ID of its own: some services drop one that they have seen.
		now := time.Now().UTC()
		e := notify.Event{ID: fmt.Sprintf("test-%d", now.UnixNano()), At: now, Kind: "test", Text: "wick can reach you here: this is a test"}
		m := notify.NewMessage([]*notify.Event{&e})
		if d.Picture {
			e.Chart = chartOf(t.engine.Symbols[0], t.engine.Intervals[0], now, nil, "")
			// If drawing fails, the message goes out without its picture, as a real one would.
			if m.Picture, err = draw(ctx, e); err != nil {
				fmt.Fprintf(t.shown, "%s: no picture: %v\n", d.Name, err)
			}
		}
		said := "sent"
		if failure := d.Send(ctx, m); failure != nil {
			said, failed = "failed: "+failure.Reason, errors.New("not every destination took its message")
		}
		fmt.Fprintf(t.shown, "%s: %s\n", d.Name, said)
	}
	if !found {
		return fmt.Errorf("notify-test: no destination is called %q", limit.Clip(t.word(0)))
	}
	return failed
}

// messenger sends the owner messages about what happens. As the outbox of the journal it makes an
// event of each step that the owner may want to know about: a sentence for a lock screen, and the
// arguments for a picture.
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
		options.Count = func(destination, outcome string) { e.meter.notified(destination, outcome) }
	}
	m := &messenger{notify.New(options), e}
	e.messages, o.Outbox = m, m
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

// heard returns the destinations that get an alert.
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
	if m.app.replica.leads() {
		m.Tell(event)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	m.app.replica.(*replica).node.Ask(ctx, askTell, event, nil)
}

// Apply is part of trade.Outbox: the engine calls it for each step, in order, also when
// it reads the journal at a start. It does no I/O, because the journal waits for it. What
// it makes depends on the step alone, so that reading the journal again makes the same
// events.
func (m *messenger) Apply(s book.Step) error {
	// A record is what the notifier itself wrote down. All else is a step of the engine,
	// which the owner may want to know about.
	if s.Record != nil {
		return m.Notifier.Apply(s.ID, s.Seq, s.Record)
	}
	e := notify.Event{ID: s.ID, Seq: s.Seq, At: s.At.Time}
	if s.By != nil {
		e.Client = s.By.Name
	}
	if detail := m.describe(&e, s); detail != nil {
		var err error
		if e.Detail, err = json.Marshal(detail); err != nil {
			return err
		}
	}
	m.Happened(e)
	return nil
}

// describe sets what e says about a step, and returns the alert or the order that the
// step is about, else nil. A step is a fired alert, an order that came to its end, a loss,
// or a change of what trading may do.
func (m *messenger) describe(e *notify.Event, s book.Step) (detail any) {
	switch {
	case s.Notification != nil:
		n := s.Notification
		e.Kind, e.Symbol, e.Text, e.Chart, detail = notify.Alert, n.Symbol, n.Message, m.alertChart(n), n
		if n.Note != "" { // the client's own text
			e.Text += fmt.Sprintf(" %q", n.Note)
		}
	case s.Order != nil:
		order := *s.Order
		e.Kind, e.Symbol, e.Text, detail = orderKinds[order.Status], order.Symbol, orderText(order), order
		// Whoever is told of fills is also told of the filled part of an order whose rest was
		// cancelled or rejected.
		if e.Kind != notify.Fill && order.FilledQuantity > 0 {
			e.Kind, e.Also = notify.Fill, e.Kind
		}
		if s.Again {
			e.Text = fmt.Sprintf("%s: of the order to %s %s: %s%s", order.Symbol, order.Side, grouped(order.Quantity.String()), order.Reason, orderTags(order))
			break
		}
		// The end of an order is the time of a fill only if the order was filled.
		if order.Status == book.StatusFilled {
			e.Chart = chartOf(order.Symbol, m.interval(), e.At, nil, markAt(e.At, m.interval(), string(order.Side)))
		}
	case s.Lost && s.Trading == book.Halted:
		e.Kind, e.Text = notify.Loss, "The account has lost what it may in a day (--max-daily-loss), while trading is halted"
	case s.Lost:
		e.Kind, e.Text = notify.Loss, "The account has lost what it may in a day (--max-daily-loss): until 00:00 UTC only orders that shrink a position are taken"
	default:
		e.Kind, e.Text = notify.Halt, haltTexts[s.Trading]
		if s.Why != "" && s.Trading != book.Active { // when trading goes on again there is no reason to give
			e.Text += " (" + s.Why + ")"
		}
	}
	return detail
}

// orderKinds are the kinds of event, by the status of an order that came to its end, if
// nothing of it or all of it was filled.
var orderKinds = map[book.OrderStatus]notify.Kind{
	book.StatusFilled: notify.Fill, book.StatusCancelled: notify.Cancel, book.StatusRejected: notify.Reject,
}

// haltTexts tell the owner what a state of trading means.
var haltTexts = map[book.TradingState]string{
	book.Active: "Trading goes on: all orders are taken again", book.Reducing: "Trading is reduced: only orders that shrink a position are taken",
	book.Halted: "Trading is halted: no orders are taken",
}

// interval is that of pictures of events that have none of their own.
func (m *messenger) interval() market.Interval { return m.app.config.engine.Intervals[0] }

// orderTags returns what the text of an order adds about its money and prices: the broker
// elsewhere, or that no money moved, and that prices were invented.
func orderTags(o book.Order) string {
	switch {
	case o.Account != "":
		return " (" + o.Broker + ")"
	case o.Synthetic:
		return " (paper, invented prices)"
	}
	return " (paper)"
}

// orderText says what became of an order that ended: what of it was bought or sold, and
// what became of the rest. A broker may call an order filled without saying how much of it,
// or at what price.
func orderText(o book.Order) string {
	all := grouped(o.Quantity.String())
	if o.FilledQuantity == 0 {
		text := fmt.Sprintf("%s: order to %s %s %s", o.Symbol, o.Side, all, o.Status)
		if o.Status != book.StatusFilled && o.Reason != "" {
			text += ": " + o.Reason
		}
		return text + orderTags(o)
	}
	verb := map[book.Side]string{book.Buy: "bought", book.Sell: "sold"}[o.Side]
	text := fmt.Sprintf("%s: %s %s", o.Symbol, verb, grouped(o.FilledQuantity.String()))
	part := o.FilledQuantity < o.Quantity
	if part {
		text += " of " + all
	}
	if o.AveragePrice != nil {
		text += " at " + grouped(o.AveragePrice.String())
	}
	if part && o.Status != book.StatusFilled {
		text += "; the rest was " + string(o.Status)
		if o.Reason != "" {
			text += ": " + o.Reason
		}
	}
	return text + orderTags(o)
}

// grouped writes a decimal number with a comma between thousands. It works on the text,
// so no digit is lost.
func grouped(number string) string {
	if strings.Contains(number, "e") {
		return number // its digits are few
	}
	whole, fraction, _ := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}

// alertChart returns the arguments, as chartOf does, for the picture of a fired alert:
// its symbol, interval and indicator up to that time, with a mark at the bar or the price
// that made it fire.
func (m *messenger) alertChart(n *book.Notification) json.RawMessage {
	at, c, interval, marks := n.TriggeredAt.Time, n.Condition, m.interval(), ""
	var indicator map[string]any
	switch {
	case n.Symbol == "":
		return nil
	case c.Type == book.IndicatorSignal:
		interval, indicator = n.Interval, map[string]any{"name": c.Indicator}
		if len(c.Params) > 0 {
			indicator["params"] = c.Params
		}
		if n.BarTime != nil {
			marks = markAt(n.BarTime.Time, interval, "fired")
		}
	case c.Type == book.PriceAbove || c.Type == book.PriceBelow:
		// A price alert has no bar of its own: its level is drawn, and the bar that was forming
		// is marked.
		marks = fmt.Sprintf(`{"type":"level","price":%s,"text":"alert"},`, c.Threshold) + markAt(at, interval, "fired")
	}
	return chartOf(n.Symbol, interval, at, indicator, marks)
}

// markAt returns a mark of the bar that was forming at an instant, with a text: a zone as wide
// as the bar and as high as any price.
func markAt(at time.Time, iv market.Interval, text string) string {
	start := time.Unix(iv.Start(at.Unix()), 0).UTC().Format(time.RFC3339)
	return fmt.Sprintf(`{"type":"zone","price":1e-8,"price2":1e9,"time":%q,"time2":%q,"text":%q}`, start, start, text)
}

// chartOf returns the arguments of generate_chart for a picture of a phone's width, up
// to an instant. They are kept with the event, and the picture is drawn when it is
// sent. The indicator may be nil; marks are JSON objects with commas between.
func chartOf(symbol string, interval market.Interval, until time.Time, indicator map[string]any, marks string) json.RawMessage {
	arguments := map[string]any{
		"symbol": symbol, "interval": interval, "bars": 60, "to": until.UTC().Format(time.RFC3339), "indicators": []any{},
		"width": 480, "height": 600, "pixel_ratio": 2, "format": "png", "marks": json.RawMessage("[" + marks + "]"),
	}
	if indicator != nil {
		arguments["indicators"] = []any{indicator}
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return nil // marks that are not JSON: the message goes without a picture
	}
	return text
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
	told := make(map[string]bool)
	for {
		if since := time.Since(m.Hashed()); !m.app.config.clustered() && (since >= hashPeriod || since < 0) { // less than 0 if the clock was set back
			m.Tell(m.journalHash())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, event := range changes(told, m.app.trade.Status().Journal, m.app.feed.Ages(), time.Now().UTC()) {
			m.Tell(event)
		}
	}
}

// changes returns what is new since the owner was told: that the journal broke, that a data
// source fell silent, or that it answers again. Told has what is wrong, by the name of the
// source, and "" for the journal, which stays broken until the process is started again. The
// ages say how long ago each source answered.
func changes(told map[string]bool, journal string, ages map[string]time.Duration, now time.Time) (events []notify.Event) {
	tell := func(what string, wrong bool, kind notify.Kind, text string) {
		if told[what] != wrong {
			told[what] = wrong
			events = append(events, notify.Event{At: now, Kind: kind, Text: text})
		}
	}
	if journal != "ok" {
		tell("", true, notify.Storage, "Storage failed: wick takes no orders and fires no alerts until it is started again")
	}
	for name, age := range ages {
		if age >= silence {
			tell(name, true, notify.Silent, fmt.Sprintf("%s has not answered for %.0f minutes: alerts on its prices wait", name, age.Minutes()))
		} else {
			tell(name, false, notify.Silent, name+" answers again")
		}
	}
	return events
}
