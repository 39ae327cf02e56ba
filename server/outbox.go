//go:build !core

package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"wick/market"
	"wick/notify"
	"wick/trade/book"
)

// outbox tells the notifier of the steps of the journal. Of each step that the owner may
// want to know about it makes an event, with a sentence for a lock screen and the
// arguments for a picture.
type outbox struct {
	*notify.Notifier
	interval market.Interval // of the picture, for events that have no interval of their own
}

// Apply is part of trade.Outbox: the engine calls it for each step, in order, also when
// it reads the journal at a start. It does no I/O, because the journal waits for it. What
// it makes depends on the step alone, so that reading the journal again makes the same
// events.
func (o outbox) Apply(s book.Step) error {
	// A record is what the notifier itself wrote down. All else is a step of the engine,
	// which the owner may want to know about.
	if s.Record != nil {
		return o.Notifier.Apply(s.ID, s.Seq, s.Record)
	}
	e := notify.Event{ID: s.ID, Seq: s.Seq, At: s.At.Time}
	if s.By != nil {
		e.Client = s.By.Name
	}
	if detail := o.describe(&e, s); detail != nil {
		var err error
		if e.Detail, err = json.Marshal(detail); err != nil {
			return err
		}
	}
	o.Happened(e)
	return nil
}

// describe sets what e says about a step, and returns the alert or the order that the
// step is about, else nil. A step is a fired alert, an order that came to its end, a loss,
// or a change of what trading may do.
func (o outbox) describe(e *notify.Event, s book.Step) (detail any) {
	switch {
	case s.Notification != nil:
		n := s.Notification
		e.Kind, e.Symbol, e.Text, e.Chart, detail = notify.Alert, n.Symbol, n.Message, o.alertChart(n), n
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
			e.Chart = chartOf(order.Symbol, o.interval, e.At, nil, markAt(e.At, o.interval, string(order.Side)))
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
func (o outbox) alertChart(n *book.Notification) json.RawMessage {
	at, c := n.TriggeredAt.Time, n.Condition
	// A price alert has no bar of its own: its level is drawn, and the bar that was forming
	// is marked.
	if c.Type != book.IndicatorSignal {
		return chartOf(n.Symbol, o.interval, at, nil, fmt.Sprintf(`{"type":"level","price":%s,"text":"alert"},`, c.Threshold)+markAt(at, o.interval, "fired"))
	}
	indicator := map[string]any{"name": c.Indicator}
	if len(c.Params) > 0 {
		indicator["params"] = c.Params
	}
	if n.BarTime == nil {
		return chartOf(n.Symbol, n.Interval, at, indicator, "")
	}
	return chartOf(n.Symbol, n.Interval, at, indicator, markAt(n.BarTime.Time, n.Interval, "fired"))
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
