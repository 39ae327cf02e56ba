package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"wick/chart"
	"wick/indicators"
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

// maxDestinations is how many bytes --notify-file may have.
const maxDestinations = 1 << 20

// readDestinations reads --notify-file. It holds secrets, so like the passphrase
// it must not be open to others.
func readDestinations(name string) ([]*notify.Destination, error) {
	text, err := readPrivate(name, maxDestinations)
	if err != nil {
		return nil, fmt.Errorf("--notify-file: %w", err)
	}
	if len(text) > maxDestinations {
		return nil, fmt.Errorf("--notify-file: %s is longer than %d bytes", name, maxDestinations)
	}
	destinations, err := notify.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--notify-file %s: %w", name, err)
	}
	return destinations, nil
}

// settleNotify checks the flags about notifications and reads the file.
func (c *config) settleNotify() (err error) {
	switch {
	case c.notifyFile == "" && c.notifyTest == "":
		return nil
	case c.notifyFile == "":
		return errors.New("--notify-test needs --notify-file")
	case !c.trade && c.notifyTest == "":
		return errors.New("--notify-file needs --trade: what waits to be sent is kept in its journal")
	}
	c.destinations, err = readDestinations(c.notifyFile)
	return err
}

// testFlag is --notify-test: alone it means every destination, else the one named.
type testFlag string

// testAll is what the flag package passes for a flag without a value.
const testAll testFlag = "true"

// String returns what Set was given.
func (f *testFlag) String() string { return string(*f) }

// IsBoolFlag lets --notify-test stand without a value.
func (f *testFlag) IsBoolFlag() bool { return true }

// Set takes the name of a destination. "true", which stands for no value, means all of
// them.
func (f *testFlag) Set(text string) error {
	if *f = testFlag(text); text == "false" {
		*f = ""
	}
	return nil
}

// testNotify sends one message to the destinations that --notify-test names, and
// writes what came back.
func testNotify(ctx context.Context, c *config, source market.Source, out io.Writer) error {
	draw := painter(source)
	var failed error
	found := false
	for _, d := range c.destinations {
		if c.notifyTest != testAll && d.Name != string(c.notifyTest) {
			continue
		}
		found = true
		// Each message has an ID of its own: some services drop one that they have
		// seen.
		now := time.Now().UTC()
		e := notify.Event{ID: fmt.Sprintf("test-%d", now.UnixNano()), At: now, Kind: "test", Text: "wick can reach you here: this is a test"}
		var picture []byte
		if d.Picture {
			var err error
			e.Chart = chartOf(c.symbols[0], string(c.intervals[0]), now, nil, "")
			// The message goes out without its picture, as a real one would.
			if picture, err = draw(ctx, e); err != nil {
				fmt.Fprintf(out, "%s: no picture: %v\n", d.Name, err)
			}
		}
		m := notify.NewMessage([]*notify.Event{&e})
		m.Picture = picture
		if failure := d.Send(ctx, m); failure != nil {
			fmt.Fprintf(out, "%s: failed: %s\n", d.Name, failure.Reason)
			failed = errors.New("not every destination took its message")
			continue
		}
		fmt.Fprintf(out, "%s: sent\n", d.Name)
	}
	if !found {
		return fmt.Errorf("--notify-test: no destination is called %q", limit.Clip(string(c.notifyTest)))
	}
	return failed
}

// openNotifier returns the notifier of the destinations, or nil without any. It
// writes to the journal of e, which must be open when it runs.
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
	o.Outbox = outbox{e.notifier, string(c.intervals[0])}
}

// outbox tells the notifier of the steps of the journal.
type outbox struct {
	*notify.Notifier
	interval string // of pictures of what has none of its own
}

// Apply is part of trade.Outbox.
func (o outbox) Apply(s trade.Step) error {
	// A record of our own: what the notifier itself wrote down. All else is a step of
	// the engine, of which the owner may want to know.
	if s.Record != nil {
		return o.Notifier.Apply(s.ID, s.Seq, s.Record)
	}
	e := notify.Event{ID: s.ID, Seq: s.Seq, At: s.At.Time}
	if s.By != nil {
		e.Client = s.By.Name
	}
	var detail any
	switch {
	case s.Notification != nil:
		n := s.Notification
		e.Kind, e.Symbol, e.Text, e.Chart, detail = notify.Alert, n.Symbol, alertText(n, s.Price), o.alertChart(n), n
	case s.Order != nil:
		// Who placed it is told as the event's client; the detail leaves it out.
		order := *s.Order
		order.By = nil
		e.Kind, e.Symbol, e.Text, detail = orderKinds[order.Status], order.Symbol, orderText(order), order
		if order.Status == trade.StatusFilled {
			e.Chart = chartOf(order.Symbol, o.interval, e.At, nil, markAt(e.At, o.interval, string(order.Side)))
		}
	case s.Lost:
		e.Kind, e.Text = notify.Loss, "The account has lost what it may in a day (--max-daily-loss): until 00:00 UTC only orders that shrink a position are taken"
	default:
		e.Kind, e.Text = notify.Halt, haltTexts[s.Trading]
		if s.Why != "" && s.Trading != trade.Active { // what lets it go on is that nothing is in the way any more
			e.Text += " (" + s.Why + ")"
		}
	}
	if detail != nil {
		var err error
		if e.Detail, err = json.Marshal(detail); err != nil {
			return err
		}
	}
	o.Happened(e)
	return nil
}

// orderKinds are the kinds of event by what became of an order.
var orderKinds = map[trade.OrderStatus]notify.Kind{
	trade.StatusFilled: notify.Fill, trade.StatusCancelled: notify.Cancel, trade.StatusRejected: notify.Reject,
}

// haltTexts tell the owner what a state of trading means.
var haltTexts = map[trade.TradingState]string{
	trade.Active: "Trading goes on: all orders are taken again", trade.Reducing: "Trading is reduced: only orders that shrink a position are taken",
	trade.Halted: "Trading is halted: no orders are taken",
}

// alertText says for a lock screen that an alert fired, such as "BTCUSDT 4h:
// RSI(14) leaves oversold at 31.2, price 64,210 (paper)".
func alertText(n *trade.Notification, price string) string {
	var b strings.Builder
	b.WriteString(n.Symbol)
	value, c := grouped(n.Value.String()), n.Condition
	switch c.Type {
	case trade.PriceAbove:
		fmt.Fprintf(&b, ": %s, at or above %s", value, grouped(c.Threshold.String()))
	case trade.PriceBelow:
		fmt.Fprintf(&b, ": %s, at or below %s", value, grouped(c.Threshold.String()))
	default:
		// The label of the indicator has its parameters; one that the catalogue no
		// longer knows keeps its name.
		label := c.Indicator
		if r, err := indicators.New(c.Indicator, c.Params); err == nil {
			label = r.Label()
		}
		words := chart.SignalName(strings.TrimPrefix(c.Signal, c.Indicator+"_")) // the label names the indicator
		fmt.Fprintf(&b, " %s: %s", n.Interval, strings.Join(strings.Fields(label+" "+c.Line+" "+words+" "+c.Level.String()), " "))
		fmt.Fprintf(&b, " at %s", value)
		if price != "" {
			fmt.Fprintf(&b, ", price %s", grouped(price))
		}
	}
	b.WriteString(tags(n.Synthetic))
	if n.Late {
		b.WriteString(", late: wick was not running then")
	}
	if n.Note != "" {
		fmt.Fprintf(&b, " %q", n.Note)
	}
	return b.String()
}

// orderTags is tags for an order: one at a broker elsewhere says where.
func orderTags(o trade.Order) string {
	if o.Account != "" {
		return " (" + o.Broker + ")"
	}
	return tags(o.Synthetic)
}

// tags says what an event is worth: no money moved, and the prices may be
// invented.
func tags(synthetic bool) string {
	if synthetic {
		return " (paper, invented prices)"
	}
	return " (paper)"
}

// orderText says what became of an order.
func orderText(o trade.Order) string {
	switch o.Status {
	case trade.StatusFilled:
		verb := map[trade.Side]string{trade.Buy: "bought", trade.Sell: "sold"}[o.Side]
		return fmt.Sprintf("%s: %s %s at %s%s", o.Symbol, verb, grouped(o.FilledQuantity.String()), grouped(o.AveragePrice.String()), orderTags(o))
	case trade.StatusRejected:
		return fmt.Sprintf("%s: order to %s %s rejected: %s%s", o.Symbol, o.Side, grouped(o.Quantity.String()), o.Reason, orderTags(o))
	}
	return fmt.Sprintf("%s: order to %s %s %s%s", o.Symbol, o.Side, grouped(o.Quantity.String()), o.Status, orderTags(o))
}

// grouped writes a decimal number with a comma between thousands.
func grouped(number string) string {
	whole, fraction, _ := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}

// alertChart returns the picture of a fired alert: its symbol, interval and
// indicator until then, with the bar or the price that made it fire marked.
func (o outbox) alertChart(n *trade.Notification) json.RawMessage {
	at, c := n.TriggeredAt.Time, n.Condition
	// A price alert has no bar of its own: its level is drawn, and the bar that was
	// forming.
	if c.Type != trade.IndicatorSignal {
		return chartOf(n.Symbol, o.interval, at, nil, fmt.Sprintf(`{"type":"level","price":%s,"text":"alert"},`, c.Threshold)+markAt(at, o.interval, "fired"))
	}
	indicator := map[string]any{"name": c.Indicator}
	if len(c.Params) > 0 {
		indicator["params"] = c.Params
	}
	if n.BarTime == nil {
		return chartOf(n.Symbol, string(n.Interval), at, indicator, "")
	}
	bar := n.BarTime.Format(time.RFC3339)
	return chartOf(n.Symbol, string(n.Interval), at, indicator, fmt.Sprintf(`{"type":"zone","price":1e-8,"price2":1e9,"time":%q,"time2":%q,"text":"fired"}`, bar, bar))
}

// markAt returns a mark of the bar that was forming at an instant, with a text.
func markAt(at time.Time, interval, text string) string {
	iv, err := market.ParseInterval(interval)
	if err != nil {
		return ""
	}
	bar := time.Unix(iv.Start(at.Unix()), 0).UTC().Format(time.RFC3339)
	return fmt.Sprintf(`{"type":"zone","price":1e-8,"price2":1e9,"time":%q,"time2":%q,"text":%q}`, bar, bar, text)
}

// chartOf returns the arguments of generate_chart for a picture of a phone's
// width, up to an instant.
func chartOf(symbol, interval string, until time.Time, indicator map[string]any, marks string) json.RawMessage {
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

// painter returns the function that draws pictures, one at a time, through the
// tool that clients call.
func painter(source market.Source) func(context.Context, notify.Event) ([]byte, error) {
	tool := tools.Chart(tools.Deps{Source: source, Renders: 1})
	return func(ctx context.Context, e notify.Event) ([]byte, error) {
		result, err := tool.Handle(ctx, mcp.Call{Arguments: e.Chart})
		if err != nil {
			return nil, err
		}
		return result.Content[0].Data, nil
	}
}

// loggedIn tells the owner that somebody logged in.
func (e *app) loggedIn(name, scope string, from netip.Addr) {
	if e.notifier != nil {
		e.tell(notify.Event{At: time.Now().UTC(), Kind: notify.Login, Client: name,
			Text: fmt.Sprintf("%q logged in from %s, may use: %s", limit.Clip(name), from, scope)})
	}
}

// healthPeriod is how often the journal and the data sources are checked.
const healthPeriod = 10 * time.Second

// watchHealth tells the owner when the journal or a data source fails, or a source
// answers again, until ctx ends.
func (e *app) watchHealth(ctx context.Context) error {
	tick := time.NewTicker(healthPeriod)
	defer tick.Stop()
	told := toldHealth{silent: make(map[string]bool)}
	for {
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
// silent, or that it answers again. Ages say how long ago each source answered.
func (l *toldHealth) changes(journal string, ages map[string]time.Duration, now time.Time) (events []notify.Event) {
	tell := func(kind notify.Kind, format string, args ...any) {
		events = append(events, notify.Event{At: now, Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	if journal != "ok" && !l.broken {
		l.broken = true
		tell(notify.Storage, "Storage failed: wick takes no orders and fires no alerts until it is started again")
	}
	// Each change is told once, in both directions.
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
