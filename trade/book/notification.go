package book

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/indicators"
	"wick/internal/exact"
	"wick/market"
	"wick/sse"
)

// Notification says that an alert fired: the params of the specified
// notifications/alert_triggered, for push and polling alike.
type Notification struct {
	AlertID     string          `json:"alert_id"`
	Symbol      string          `json:"symbol"`
	Interval    market.Interval `json:"interval"` // may be empty
	Condition   FiredCondition  `json:"condition"`
	Value       json.Number     `json:"value"` // the price or the signal's value when it fired; text, so no float enters the journal
	TriggeredAt Time            `json:"triggered_at"`
	BarTime     *Time           `json:"bar_time,omitempty"`  // start of the bar that made it fire
	Bar         *Prices         `json:"bar,omitempty"`       // its prices, of a signal
	Late        bool            `json:"late,omitempty"`      // that bar closed while wick was not watching: it was off or paused, or another replica led
	Synthetic   bool            `json:"synthetic,omitempty"` // the prices are invented

	// Values are the numbers that a rule compared on that bar, or the lines and histograms of
	// another indicator.
	Values map[string]json.RawMessage `json:"values,omitempty"`

	Note    string `json:"note,omitempty"`    // the alert's
	Message string `json:"message,omitempty"` // all of it in one sentence, for people

	// Order is set if this says that an order ended, not that an alert fired. Of the members
	// above the JSON then has symbol, triggered_at, synthetic and message.
	Order *Order   `json:"order,omitempty"`
	Ended []string `json:"ended,omitempty"` // ids of the other orders that ended in the same step

	// Seq is the sequence of the record that made it: unique in the store,
	// rising, the same after a restart. Epoch is the one in which the record was made.
	Seq   uint64 `json:"-"`
	Epoch string `json:"-"`
}

// queued returns n as the queues of subscriptions have it.
func (n *Notification) queued() *sse.Entry {
	return &sse.Entry{Seq: n.Seq, Epoch: n.Epoch, At: n.TriggeredAt.Time, Note: n}
}

// Kind names what happened: alert_triggered, or of an order order_filled if all or a part of
// it was filled, else order_cancelled or order_rejected.
func (n *Notification) Kind() string {
	switch {
	case n.Order == nil:
		return "alert_triggered"
	case n.Order.FilledQuantity > 0:
		return "order_filled"
	}
	return "order_" + string(n.Order.Status)
}

// MarshalJSON writes a fired alert in the shape that the specification gives. An order has a
// shape of its own, which begins with a type.
func (n Notification) MarshalJSON() ([]byte, error) {
	if n.Order == nil {
		type alert Notification
		return encode(alert(n))
	}
	return encode(struct {
		Type        string   `json:"type"`
		Symbol      string   `json:"symbol"`
		Order       *Order   `json:"order"`
		Ended       []string `json:"ended,omitempty"`
		TriggeredAt Time     `json:"triggered_at"`
		Synthetic   bool     `json:"synthetic,omitempty"`
		Message     string   `json:"message"`
	}{n.Kind(), n.Symbol, n.Order, n.Ended, n.TriggeredAt, n.Synthetic, n.Message})
}

// EndNotification says that an order ended, and which others ended with it.
func EndNotification(o *Order, ended []*Order, at Time) *Notification {
	public := o.Public()
	n := &Notification{Symbol: o.Symbol, Order: &public, TriggeredAt: at, Synthetic: o.Synthetic}
	name := strings.ToUpper(string(o.Type[:1])) + strings.ReplaceAll(string(o.Type[1:]), "_", " ")
	why := ""
	if len(o.Why) > 0 {
		why = ": " + o.Words()
	}
	if o.FilledQuantity == 0 {
		n.Message = fmt.Sprintf("%s order %s: %s %s of %s was %s%s.", name, o.ID, o.Side, o.Quantity, o.Symbol, o.Status, why)
	} else {
		n.Message = fmt.Sprintf("%s order %s: %s %s of %s filled at %s.", name, o.ID, o.Side, o.FilledQuantity, o.Symbol, *o.AveragePrice)
	}
	switch {
	case o.FilledQuantity == 0 || o.FilledQuantity == o.Quantity:
	case o.Status == StatusFilled: // as a broker says
		n.Message += fmt.Sprintf(" It was for %s in all.", o.Quantity)
	default:
		n.Message += fmt.Sprintf(" It was for %s in all; the rest was %s%s.", o.Quantity, o.Status, why)
	}
	switch {
	case !o.exits():
	case o.Role == RoleTakeProfit && o.Type.HasStop(): // it took the place of one
		n.Message += " It was an exit of " + o.Group + "."
	default:
		n.Message += " It was the " + strings.ReplaceAll(string(o.Role), "_", " ") + " of " + o.Group + "."
	}
	for _, other := range ended {
		n.Ended = append(n.Ended, other.ID)
	}
	if len(ended) > 0 {
		n.Message += " With it ended: " + strings.Join(n.Ended[:min(len(ended), maxNamedOrders)], ", ")
		if more := len(ended) - maxNamedOrders; more > 0 {
			n.Message += fmt.Sprintf(" and %d more", more)
		}
		n.Message += "."
	}
	if o.Synthetic {
		n.Message += Invented
	}
	return n
}

// maxNamedOrders is how many orders a message names; its list has all.
const maxNamedOrders = 5

// Invented ends a message about prices that no market made.
const Invented = " The data is invented."

// FiredCondition is a Condition in the shape of a notification.
type FiredCondition struct {
	Type      ConditionType  `json:"type"`
	Threshold *exact.Decimal `json:"threshold,omitempty"`
	Of        Scope          `json:"of,omitempty"`       // of a profit
	Time      string         `json:"time,omitempty"`     // of at and daily, as it was set, like the two below
	Zone      string         `json:"timezone,omitempty"` //
	Weekdays  []string       `json:"weekdays,omitempty"` //
	Indicator string         `json:"indicator,omitempty"`
	Signal    string         `json:"signal,omitempty"`
	Level     json.Number    `json:"level,omitempty"`
	Line      string         `json:"line,omitempty"`

	Params map[string]json.RawMessage `json:"params,omitempty"` // of the indicator, as they were set
}

// Trigger is what makes an alert fire.
type Trigger struct {
	Value     json.Number // the price or the signal's value
	Bar       int64       // start of the bar, in unix seconds; 0 if it was a price that is not late
	At        int64       // when the market did it, in unix milliseconds: the bar closed, or the price was seen
	Late      bool        // as in Notification
	Price     string      // the newest price of the symbol; "0" if it is out of range
	Synthetic bool

	Values map[string]json.RawMessage // of a signal, as in a Notification
	Prices *Prices
}

// Prices are those of a bar.
type Prices struct {
	Open   json.Number `json:"open"`
	High   json.Number `json:"high"`
	Low    json.Number `json:"low"`
	Close  json.Number `json:"close"`
	Volume json.Number `json:"volume"`
}

// MaxFirings is how many notifications of one alert may follow from one update. After
// a downtime thousands of bars may come with the first update, and an alert that
// repeats could fire on each of them. Nobody reads that many, a queue keeps no more than
// sse.QueueCap, and nobody can trade while they are written down.
const MaxFirings = 100

// Notification builds what a tells its subscribers. At is when it fired, and t.At when
// the market did what it waited for.
func (a *Alert) Notification(t Trigger, at Time) *Notification {
	bar := time.Unix(t.Bar, 0).UTC()
	n := &Notification{AlertID: a.ID, Symbol: a.Symbol, Interval: a.Interval, Value: t.Value, TriggeredAt: at,
		Late: t.Late, Bar: t.Prices, Values: t.Values, Synthetic: t.Synthetic, Note: a.Note, Message: a.Sentence(t, bar.Format("2006-01-02 15:04 UTC"))}
	if t.Late {
		n.Message += " This comes late: wick was not watching then."
	}
	if t.Synthetic {
		n.Message += Invented
	}
	if t.Bar != 0 {
		n.BarTime = &Time{bar}
	}
	c := &a.Condition
	switch n.Condition.Type = c.Type; {
	case c.OnTime():
		n.Condition.Time, n.Condition.Zone, n.Condition.Weekdays = c.Moment.Time, c.Moment.Zone, c.Moment.Weekdays
		return n
	case !c.OnSignal():
		n.Condition.Threshold, n.Condition.Of = &c.Threshold, c.Of
		return n
	}
	params, _ := indicators.Flat(c.Params) // read when it was set
	n.Condition = FiredCondition{Type: c.Type, Indicator: c.Indicator, Signal: c.Signal, Level: c.Level, Line: c.Line, Params: params}
	return n
}

// Sentence returns the first sentence of a message: what happened, and at which value. Bar
// is the start of the trigger's bar, as text.
func (a *Alert) Sentence(t Trigger, bar string) string {
	// A value other than the newest price was a high or low between two updates: the
	// sentence gives both.
	is, now := "is at", ""
	switch {
	case t.Late:
		is = "at " + bar + " was at"
	case t.Price == "0":
		is = "reached"
	case t.Value.String() != t.Price:
		is, now = "reached", ", and is at "+t.Price
	}
	switch a.Condition.Type {
	case AtTime, Daily:
		return a.Condition.Moment.sentence(t)
	case ProfitAbove, ProfitBelow:
		of := map[Scope]string{OfPosition: "the position in " + a.Symbol, OfDay: "the day", OfAccount: "the account"}[a.Condition.Of]
		beyond := map[ConditionType]string{ProfitAbove: "above", ProfitBelow: "below"}[a.Condition.Type]
		return fmt.Sprintf("The profit of %s is %s, at or %s %s.", of, t.Value, beyond, a.Condition.Threshold)
	case PriceAbove:
		return fmt.Sprintf("%s %s %s, at or above %s%s.", a.Symbol, is, t.Value, a.Condition.Threshold, now)
	case PriceBelow:
		return fmt.Sprintf("%s %s %s, at or below %s%s.", a.Symbol, is, t.Value, a.Condition.Threshold, now)
	}
	s := fmt.Sprintf("%s %s bar of %s: ", a.Symbol, a.Interval, bar)
	// If the catalogue no longer has the indicator, only the signal can be named.
	r, err := a.Condition.Request()
	if err != nil {
		return s + a.Condition.Signal + "."
	}
	if c := a.Condition; c.Crosses() {
		line := strings.TrimSpace(r.Label() + " " + c.Line)
		return fmt.Sprintf("%s%s %s %s (at %s).", s, line, strings.ReplaceAll(c.Signal, "_", " "), c.Level, t.Value)
	}
	if a.whileTrue() {
		is := "is true"
		if a.Condition.Signal != indicators.BecomesTrue {
			is = "is not true"
		}
		return fmt.Sprintf("%s%s %s (close at %s).", s, r.Label(), is, t.Value)
	}
	if meaning := r.Ind.Meaning(a.Condition.Signal); meaning != "" {
		return fmt.Sprintf("%s%s, %s (%s at %s).", s, r.Label(), meaning, a.Condition.Signal, t.Value)
	}
	return fmt.Sprintf("%s%s, %s at %s.", s, r.Label(), a.Condition.Signal, t.Value)
}

// Tell adds to ev the notification of the orders that it ends:
//   - Subscribers of orders hear of every end. A fill of a part ends nothing, and tells nobody.
//   - Who polls hears of the same as long as anybody is subscribed to the symbol's orders, and
//     else of an order that ends unfilled, or whose rest a broker elsewhere ends, unless the client
//     that placed it asked for the step: a stop that is gone leaves its position unprotected, whoever
//     is subscribed. On paper a rest ends because there is nothing left to close.
//   - An order that ends in the step that places it is told by the reply alone, unless it came
//     because its rule became true; those that end with it are told as above.
//   - A step makes one notification: of its order, or else of the first that ends with it. It
//     names the others.
//
// Asked says that a client asked for this step, and so has the reply.
func (s *State) Tell(k Kind, ev *Event, asked bool) {
	o := ev.Order
	ended := slices.DeleteFunc(ev.Changed(s.Order)[1:], func(other *Order) bool {
		return !other.Status.Terminal() || other.ID == o.Replaces && other.By.SameClient(o.By)
	})
	if k == KindPlaced && asked {
		if len(ended) == 0 {
			return
		}
		o, ended = ended[0], ended[1:]
	}
	if !o.Status.Terminal() {
		return
	}
	asked = asked && o.By.SameClient(ev.Order.By)
	lost := o.FilledQuantity == 0 || o.Account != "" && o.Status != StatusFilled
	if ev.To = s.subscribed(o.Symbol, func(types []string) bool { return slices.Contains(types, OrderAlerts) }); len(ev.To) > 0 || !asked && lost {
		ev.Notification = EndNotification(o, ended, ev.At)
	}
}

// Recipients returns the subscriptions that an alert's firing goes to, oldest
// first.
func (s *State) Recipients(a *Alert) []string {
	return s.subscribed(a.Symbol, func(types []string) bool {
		return len(types) == 0 || slices.Contains(types, string(a.Condition.Type))
	})
}

// subscribed returns the ids of the subscriptions whose filter names the symbol or no
// symbol, and whose list of types is wanted.
func (s *State) subscribed(symbol string, wanted func(types []string) bool) (to []string) {
	for _, sub := range s.Subs.Select(func(sub *sse.Subscription) bool {
		f := sub.Filter
		return wanted(f.AlertTypes) && (len(f.Symbols) == 0 || slices.Contains(f.Symbols, symbol))
	}) {
		to = append(to, sub.ID)
	}
	return to
}

// OrderAlerts is the alert type by which a subscription asks to hear of filled
// orders, too. An empty list of types does not include it.
const OrderAlerts = "order"
