package book

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/indicators"
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/market"
)

// When is the rule that an order waits for. Until the rule becomes true on a closed bar the order
// is in this book alone, wherever it goes then: it has a place among the open orders, no price
// reaches it, and it counts against nothing but the number of orders. Then it comes, under its id,
// through every check as if it were placed at that moment, and is filled, open or rejected.
//
// The bar is the one on which an alert on the rule fires: both are judged as the [Alert] that
// [Order.Rule] returns. That the rule has become true is a step of its own, so that a crash before
// the order comes loses nothing: the next process finds an order with a Bar.
type When struct {
	Rule     string          `json:"rule"`
	Interval market.Interval `json:"interval"` // of a request: empty means the engine's first
	Now      bool            `json:"now,omitempty"`
	Skip     bool            `json:"skip_late,omitempty"`   // it ends if the rule becomes true while wick is not watching, or wick ends before the order came
	Worst    exact.Decimal   `json:"worst_price,omitempty"` // of a market order: it is filled at no worse price; of a request zero means the band of the price

	From    *Time `json:"from,omitempty"`     // with Now: bars that closed by then do not count; nil means since it was placed
	Bar     *Time `json:"bar,omitempty"`      // start of the bar on which the rule became true, or with Now was true
	Late    bool  `json:"late,omitempty"`     // it came on a later bar than that
	ActedAt *Time `json:"acted_at,omitempty"` // when it came; nil while it waits, and if it never did

	// Request is what comes. It is in the journal while the order waits, and clients do not see it.
	Request *OrderRequest `json:"request,omitempty"`
}

// normalizeWhen brings the rule of r into one spelling. The price of a market order is the worst that
// it may be filled at.
func (r *OrderRequest) normalizeWhen() error {
	if r.When == nil {
		return nil
	}
	w := *r.When
	w.Rule = strings.Join(strings.Fields(w.Rule), " ") // on one line where a person reads it
	switch r.When = &w; {
	case r.Replaces != "":
		return Refuse("bad_when", "when is for a new order, and replaces changes another: cancel that one and place this without replaces")
	case w.Rule == "": // how long it may be the language says
		return Refuse("bad_when", `when is a rule, such as "rsi(14) crosses above 30"`)
	case r.Type == Market && r.Price > 0:
		w.Worst, r.Price = r.Price, 0
	}
	return nil
}

// Look notes how the rule stood on the newest closed bar, for an order that comes at once if it is true
// already: on that bar, or as soon as it becomes true on a later one.
func (w *When) Look(st *Standing) error {
	if st == nil || st.True == nil {
		return Later.Refuse("no_data", "whether the rule is true on the newest closed bar is not known now; without now the order waits for the next time it becomes true")
	}
	start, err := time.Parse(time.RFC3339, st.Bar)
	closed := time.Unix(w.Interval.Next(start.Unix()), 0).UTC()
	w.Bar, w.From = nil, &Time{closed}
	if *st.True {
		w.Bar, w.From = &Time{start.UTC()}, nil
	}
	return err
}

// Condition returns the condition of an alert on the rule.
func (w *When) Condition() Condition { return ruled(w.Rule) }

func ruled(rule string) Condition {
	text, _ := json.Marshal(rule)
	return Condition{Type: IndicatorSignal, Indicator: "rule", Signal: indicators.BecomesTrue, Params: map[string]json.RawMessage{"when": text}}
}

// Waits reports whether the order that r asks for is to wait for a rule.
func (r *OrderRequest) Waits() bool { return r.When != nil && r.When.Bar == nil }

// Acts returns the order that comes by r because its rule has become true, nil for a request of a
// client.
func (r *OrderRequest) Acts() *Order { return r.acts }

// Pending reports whether o waits for its rule, or for the bar on which it comes.
func (o *Order) Pending() bool {
	return o != nil && o.When != nil && o.When.ActedAt == nil && !o.Status.Terminal()
}

// Came returns when o came, to be filled or sent: when it was placed or, if it waited for a rule,
// after that.
func (o *Order) Came() Time {
	if o.When != nil && o.When.ActedAt != nil {
		return *o.When.ActedAt
	}
	return o.CreatedAt
}

// Rule returns the alert by whose firing o comes, which is in no list of alerts: on the rule, and
// once that has become true on every bar that closes from then on. It is nil unless o waits for it.
func (o *Order) Rule() *Alert {
	if !o.Pending() {
		return nil
	}
	a := &Alert{ID: o.ID, Symbol: o.Symbol, Interval: o.When.Interval, Condition: o.When.Condition(), CreatedAt: o.CreatedAt, ExpiresAt: o.ExpiresAt}
	switch {
	case o.When.Bar != nil:
		a.Condition, a.Repeat, a.CreatedAt = ruled("close > 0"), EachBar, o.UpdatedAt
	case o.When.From != nil:
		a.CreatedAt = *o.When.From
	}
	return a
}

// Comes returns the request by which o, whose rule has become true, comes.
func (o *Order) Comes() OrderRequest {
	r, w := *o.When.Request, *o.When
	w.Request = nil
	r.When, r.Label, r.sent, r.acts = &w, o.Label, o.Asked, o
	if o.ExpiresAt != nil { // that of a day order is the end of the day on which it was placed
		r.ExpiresAt = o.ExpiresAt.Time
	}
	return r
}

// Suspend returns the order that r asks for as it waits for its rule. Tried is what would have
// become of it now, while the market is at q: it is refused for what no market and no position
// could change.
func (b *Book) Suspend(r OrderRequest, q Quote, tried error, at Time) (*Order, error) {
	if no := (*Refusal)(nil); errors.As(tried, &no) {
		changes := no.Retry == Later || Codes[no.Code].priced || slices.Contains([]Code{"reduce_only", "bad_side", "no_short", "no_position"}, no.Code)
		if !changes || q.Price == 0 {
			return nil, tried
		}
	}
	o, err := b.order(&r, q, at)
	if err := cmp.Or(err, b.checkTrading(true)); err != nil {
		return nil, err
	}
	if r.StopLoss != (Exit{}) {
		o.StopLoss = &r.StopLoss
	}
	if r.TakeProfit != (Exit{}) {
		o.TakeProfit = &r.TakeProfit
	}
	err = b.Grid(r.Symbol).check(&r)
	if err == nil {
		err = b.checkOpen(r, o, 0)
	}
	if err == nil {
		err = b.checkPace(r, at)
	}
	if err != nil {
		return nil, err
	}
	w, kept := *r.When, r
	if o.By != nil {
		kept.Who = *o.By
	}
	if kept.When = nil; kept.Approval != nil { // it is used now: only what it covers holds on
		kept.Approval = &Approval{Evidence: r.Approval.Evidence, Quantity: r.Approval.Quantity, Price: r.Approval.Price}
	}
	if r.Type == Market && w.Worst == 0 {
		low, high := collar(q.Price, o.Side)
		if w.Worst = low; o.Side == Buy {
			w.Worst = high
		}
	}
	w.Request = &kept
	o.When, o.UpdatedAt, o.ExpiresAt, o.Account, o.ReduceOnly = &w, at, b.expiry(r, at), "", r.ReduceOnly || r.All
	o.Explain(Because(WaitsRule, w.Rule, string(w.Interval)))
	if r.Approval != nil {
		o.Evidence, err = r.Approval.Evidence, r.Approval.covers(o, 0, at)
	}
	return o, err
}

// tooFar refuses to fill o at a price that is worse than the worst that it may have.
func (o *Order) tooFar(fill exact.Decimal) error {
	if o.When == nil || o.When.Worst == 0 || fill == 0 || o.Side == Buy && fill <= o.When.Worst || o.Side == Sell && fill >= o.When.Worst {
		return nil
	}
	return Refuse("worst_price", "its rule became true while the market was at %s, and the worst price that it may have is %s", fill, o.When.Worst)
}

// Becomes takes the step that the rule of o, which waits for that, has become true on the bar of t,
// or that a bar has closed since. If the bar closed while wick was not watching the order does not
// come now, but when the next one closes; else the caller has it come.
func (b *Book) Becomes(o *Order, t Trigger, at Time) error {
	w := *o.When
	known := w.Bar != nil
	if !known {
		w.Bar = &Time{time.Unix(t.Bar, 0).UTC()}
	}
	bar := w.Bar.Format(time.RFC3339)
	switch {
	case w.Skip && (known || t.Late):
		_, err := b.Cancel(o, Who{}, Because(TooLate, bar), at)
		return err
	case known && (w.Late || t.Late):
		return nil
	}
	w.Late = known || t.Late
	after := *o
	after.When, after.UpdatedAt = &w, at
	if after.Explain(Because(RuleTrue, w.Rule, bar)); t.Late {
		after.Explain(Because(WaitsBar, bar, string(w.Interval)))
	}
	return b.Propose(KindOrderChanged, &Event{At: at, Order: &after})
}

// Reject takes the step that o, which waited for its rule, came and was refused. If its time is over by
// then, it is cancelled.
func (b *Book) Reject(o *Order, why error, at Time) error {
	if o.Expired(at.UnixMilli()) {
		_, err := b.Cancel(o, Who{}, Because(Expired), at)
		return err
	}
	ev, _ := b.outcome(o, Report{Status: StatusRejected, Reason: refusedBy(why)}, at) // fills nothing, so cannot fail
	return b.ProposeOrders(KindOrderRejected, ev, 0, false)
}

// DryRunOf returns what clients see of the dry run of o, which would wait for its rule. Ev is what
// would become of it now, and tried why it would be refused.
func DryRunOf(o *Order, ev *Event, tried error) Placed {
	now := "be open"
	switch {
	case tried != nil:
		now = "be refused: " + limit.Line(tried.Error(), 300)
	case ev.Order.AveragePrice != nil:
		now = fmt.Sprintf("be filled at %s", ev.Order.AveragePrice)
	case ev.Order.Status.Terminal():
		now = "end unfilled"
	}
	o.Explain(Because(DryRunWhen, o.When.Rule, string(o.When.Interval), now))
	p := Placed{Order: o.Public()}
	p.ID = ""
	return p
}
