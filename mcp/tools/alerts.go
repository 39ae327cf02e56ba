package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/market"
	"wick/mcp"
	"wick/trade"
	"wick/trade/book"
)

// maxNote is how many characters a person's own words about an alert may have.
const maxNote = 200

// alertRequest is the request of set_alert. The engine takes the interval as a text,
// because only the engine knows the default. Here it is first read as an interval, so
// that any usual spelling is accepted.
type alertRequest struct {
	book.AlertRequest
	interval market.Interval
	short    map[string]json.RawMessage // members of a condition that were given beside it
}

// args declares the arguments of set_alert: what to wait for, how often to fire, until
// when, and what makes a retry safe.
func (r *alertRequest) args() []arg {
	r.short = make(map[string]json.RawMessage)
	return []arg{
		symbol(&r.Symbol, "Such as BTCUSDT; not needed for a time, or a profit of the day or the account."),
		text(&r.Changes, "alert_id", "Change this alert: what is left out stays.", maxID),
		condition(&r.Condition),
		r.member("when", `"type":"string"`, "In place of condition: a rule; fires when a bar closes on which it becomes true."),
		r.member("at", `"type":"string"`, "In place of condition: a time, such as 2026-11-20T15:30."),
		r.member("daily", `"type":"string"`, "In place of condition: a time of every day, such as 15:30."),
		r.member("timezone", `"type":"string"`, "Of at and daily, such as America/New_York. Default UTC."),
		r.member("weekdays", `"type":"array","items":{"type":"string","enum":["mon","tue","wed","thu","fri","sat","sun"]}`, "For daily: only on these."),
		r.member("profit_above", `"type":"number"`, "In place of condition: a profit at or above this."),
		r.member("profit_below", `"type":"number"`, "At or below; a loss is below zero."),
		r.member("of", `"type":"string","enum":["position","day","account"]`, "Whose profit: the open position in symbol, the account since the first look of the day in UTC, or in all."),
		interval(&r.interval, "Bars for rules and signals. Default: the engine's first interval.", ""),
		text(&r.Note, "note", "Your own words, which come back when it fires.", maxNote),
		word(&r.Repeat, "repeat", "once: then it is gone. each_time: whenever it comes true anew. each_bar: on every bar on which it holds. Except with each_bar, a rule that is true already must first become untrue.", book.Once, book.Repeats()...),
		text(&r.Cooldown, "cooldown", "With repeat: rest so long after firing, such as 4h.", 20),
		moment(&r.ExpiresAt, "expires_at", "Fires no more after this"+deadline, true),
		text(&r.ClientAlertID, "client_alert_id", ownID, 48),
	}
}

// member declares a member of a condition that may be given in its place.
func (r *alertRequest) member(name, schema, doc string) arg {
	return arg{name: name, doc: doc, schema: members(schema), set: func(v json.RawMessage) error {
		r.short[name] = v
		return nil
	}}
}

// check puts the condition together from what was given in its place, and asks for what is missing.
func (r *alertRequest) check(given sent) error {
	var wrong error
	switch {
	case given["condition"] != nil && len(r.short) > 0:
		return errors.New("condition says all that an alert waits for: put the others into it, or leave it out")
	case len(r.short) > 0:
		if when := r.short["when"]; when != nil { // the short form of a rule
			delete(r.short, "when")
			r.short["rule"] = when
		}
		if r.Changes != "" {
			r.Members = r.short
			break
		}
		wrong = json.Unmarshal(mcp.Encode(r.short), &r.Condition)
		if no, refused := errors.AsType[*book.Refusal](wrong); refused { // without the advice, which all of them get
			wrong = fmt.Errorf("%s: %s", no.Code, no.Text)
		}
	case given["condition"] == nil && r.Changes == "":
		wrong = errors.New(`condition is required, such as {"price_above":65000} or {"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold"}}`)
	}
	if r.Changes != "" {
		if given["repeat"] == nil {
			r.Repeat = "" // not its default: it stays as it is
		}
		return wrong
	}
	if r.Symbol == "" && (r.Condition.Type == "" || r.Condition.NeedsSymbol()) {
		wrong = errors.Join(wrong, errors.New("symbol is required, such as BTCUSDT"))
	}
	return wrong
}

// conditionSchema describes the conditions that are objects of their own; the name of the member says which one
// it is. A schema can say "exactly one of" only with a combinator such as oneOf, which
// some vendors refuse, so the description says it.
const conditionSchema = `"type":"object","properties":{` +
	`"price_above":{"type":"number","description":"The price is at or above this."},` +
	`"price_below":{"type":"number","description":"The price is at or below this."},` +
	`"indicator_signal":{"type":"object","description":"A bar closes with this signal; further members are the indicator's parameters.",` +
	`"properties":{"indicator":{"type":"string","description":"A name from list_indicators."},` +
	`"signal":{"type":"string","description":"As list_indicators names [...] lists them: rsi_oversold, rsi_overbought, bull_div and bear_div of rsi, cross_up and cross_down of macd or ma_cross. Or crosses_above or crosses_below, with a level. ` + leaving + `."},` +
	`"level":{"type":"number","description":"The value that the line is to cross."},` +
	`"line":{"type":"string","description":"Which line; default: the first."},` +
	`"params":{"type":"object","description":"Parameters that are called signal, level or line."}},` +
	`"required":["indicator","signal"]}}`

// condition declares what an alert waits for, an object with one member. The engine's own
// type reads it, and its refusals say what would be right.
func condition(p *book.Condition) arg {
	return arg{name: "condition", doc: "What it waits for, by one of these members.", schema: members(conditionSchema), set: func(v json.RawMessage) error {
		v, err := spelled("condition", v)
		if err != nil {
			return err
		}
		err = json.Unmarshal(v, p)
		if _, refused := errors.AsType[*book.Refusal](err); err != nil && !refused { // the text names types of Go
			return errors.New(`condition is not an object such as {"price_above":65000}`)
		}
		return err
	}}
}

// setAlert defines set_alert. The reply says whether the condition is true now and how
// far away the market is, so that a model sees a mistake at once. If a retry finds
// its first alert ended, the reply says that instead.
func (h *handlers) setAlert() tool {
	return define(mcp.Tool{
		Name:  "set_alert",
		Title: "Set an alert",
		Description: "Set an alert on a price, on an indicator's signal, on a rule such as " +
			`when: "rsi(14) < 30 and close > ema(200)@1d", on a time or on a profit. ` +
			"A rule may say ema(50) crosses above ema(200), close:ETHUSDT > sma(20)@1d:ETHUSDT, close < 0.95 * close[24], high@1d (of the newest closed day: yesterday's high); list_indicators names [rule] teaches the language. " +
			"The reply says whether it is true now and with which values. Read what fired with get_notifications.",
	}, refuses, (*alertRequest).args, (*alertRequest).check, func(ctx context.Context, c mcp.Call, r *alertRequest) (*mcp.Result, error) {
		r.Who, r.Interval = who(c), string(r.interval)
		alert, err := h.Engine.SetAlert(ctx, r.AlertRequest)
		if err != nil {
			return nil, h.orSimilar(ctx, r.Symbol, err)
		}
		if alert.Ended != "" {
			return mcp.JSON(alertReply{listedAlert: h.listed(alert), Meaning: alert.Meaning(), Hint: alert.Hint(nil)}), nil
		}
		now := h.Engine.Standing(ctx, alert)
		return mcp.JSON(alertReply{h.listed(alert), alert.Meaning(), now, alert.Hint(now), h.slow(alert), h.goesTo(alert, r.Who.Name)}), nil
	})
}

// alertReply is an alert with what its signal means and how the market stands to it. The
// meaning is there because labels are short: rsi_overbought is when the line leaves the
// zone, not when it enters it.
type alertReply struct {
	listedAlert
	Meaning string         `json:"meaning,omitempty"`
	Now     *book.Standing `json:"now,omitempty"`
	Hint    string         `json:"hint,omitempty"`
	Warning string         `json:"warning,omitempty"`

	// GoesTo says where it is told that it fired: queue, which get_notifications reads, push to a
	// subscription, phone for the owner's destinations.
	GoesTo []string `json:"goes_to,omitempty"`
}

// goesTo returns the kinds of places at which a client's alert is told.
func (h *handlers) goesTo(a book.Alert, client string) []string {
	kinds := []string{"queue"}
	if h.Engine.Pushed(a) {
		kinds = append(kinds, "push")
	}
	if h.Messages != nil && len(h.Messages(a.Symbol, client)) > 0 {
		kinds = append(kinds, "phone")
	}
	return kinds
}

// listedAlert is an alert as replies show it.
type listedAlert struct {
	book.Alert
	Synthetic bool `json:"synthetic,omitempty"` // the prices it waits for are invented
}

// listed returns an alert as replies show it. They say whether its prices are invented,
// so that nobody takes a signal on them for one of a real market.
func (h *handlers) listed(a book.Alert) listedAlert {
	return listedAlert{a, h.Engine.Synthetic(a.Symbol)}
}

// activeAlerts returns the alerts that can still fire, oldest first: of one market, or of all if
// symbol is empty.
func (h *handlers) activeAlerts(symbol string) (alerts []listedAlert, err error) {
	active, err := h.Engine.Alerts(symbol)
	for _, a := range active {
		alerts = append(alerts, h.listed(a))
	}
	return alerts, err
}

// slow returns a warning if the source of a price alert cannot be asked often, else an
// empty text. The alert may fire late, but it does not miss a price: the highs and lows
// in between are checked when they arrive.
func (h *handlers) slow(a book.Alert) string {
	// A signal waits for a bar to close, so a few seconds more do not matter to it, nor to a profit.
	period := h.Engine.Period(a.Symbol)
	if !a.Condition.OnPrice() || period <= 10*time.Second {
		return ""
	}
	return fmt.Sprintf("prices of %s come about every %s, so this alert may fire that much later: the source allows no more requests for as many symbols as are watched",
		a.Symbol, period.Round(time.Second))
}

// listAlerts defines list_alerts: the alerts of every client, not only the caller's,
// since all of them may trade in the one account. It also lists what has fired, which
// get_notifications tells each login once.
func (h *handlers) listAlerts() tool {
	type request struct {
		symbol, state string
		from          time.Time
		page
	}
	return define(mcp.Tool{
		Name:  "list_alerts",
		Title: "Active alerts",
		Description: "Alerts that can still fire, newest first. " +
			"state=fired: the newest 10,000 firings instead, read or not, also of alerts that are gone.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
	}, reports, func(r *request) []arg {
		return append([]arg{
			symbol(&r.symbol, "Only this symbol."),
			word(&r.state, "state", "What can still fire, or what has.", "active", "active", "fired"),
			moment(&r.from, "from", "Fired, or of active ones set, at this time or later: a date or a time in UTC (2026-01-31 14:30).", false).also("since"),
		}, r.page.args()...)
	}, nil, func(_ context.Context, c mcp.Call, r *request) (*mcp.Result, error) {
		if r.symbol == everything { // as in place_order
			r.symbol = ""
		}
		if r.state == "fired" {
			fired, err := h.Engine.History(r.symbol, r.from)
			return onPage(r.page, fired, err)
		}
		alerts, err := h.activeAlerts(r.symbol)
		return onPage(r.page, slices.DeleteFunc(alerts, func(a listedAlert) bool { return a.CreatedAt.Before(r.from) }), err)
	})
}

// onPage answers list_alerts with a page of items.
func onPage[T any](p page, items []T, err error) (*mcp.Result, error) {
	text, n, left := cut(p, items)
	more := ""
	if left > 0 {
		more = fmt.Sprintf("%d more of %d", left, len(items))
	}
	return answer(text, "list_alerts", more, p.offset+n, book.Time{}), err
}

// cancelAlert defines cancel_alert: one alert, which the reply holds, those of a symbol, several
// by their ids, or all. Anybody who may trade can cancel any alert: they are the account's, not
// a client's.
func (h *handlers) cancelAlert() tool {
	return define(mcp.Tool{
		Name:        "cancel_alert",
		Cost:        mcp.Waiting,
		Title:       "Cancel an alert",
		Description: "Cancel an alert by its alert_id, several by ids, those of a symbol, or all.",
		Annotations: mcp.Annotations{Destructive: true, Idempotent: true},
	}, refuses, func(r *chosen) []arg {
		return []arg{
			text(&r.id, "alert_id", "As set_alert returned it.", maxID),
			words(&r.ids, "ids", "In place of alert_id: several.", maxPage).also("alert_ids"),
			symbol(&r.symbol, "In place of alert_id: all alerts on it."),
			boolean(&r.all, "all", "In place of alert_id: every alert."),
		}
	}, func(r *chosen, _ sent) error { return r.check("alert_id", "set_alert", "ids, symbol") }, func(_ context.Context, c mcp.Call, r *chosen) (*mcp.Result, error) {
		if r.id == "" {
			// Only the ids, since there may be a thousand. It is no error if there are none: a
			// client that cancels all alerts wants none to wait.
			cancelled, unknown, err := h.Engine.CancelAlerts(who(c), r.symbol, r.ids)
			if err != nil {
				return nil, err
			}
			return mcp.JSON(struct {
				OK        bool     `json:"ok"`
				Cancelled int      `json:"cancelled"`
				Alerts    []string `json:"alert_ids"`
				Unknown   []string `json:"unknown,omitempty"` // of ids: no active alert has them
			}{true, len(cancelled), append([]string{}, cancelled...), unknown}), nil
		}
		alert, err := h.Engine.CancelAlert(who(c), r.id)
		if err != nil {
			return nil, err
		}
		return mcp.JSON(struct {
			OK bool `json:"ok"`
			book.Alert
		}{true, alert}), nil
	})
}

// getNotifications defines get_notifications. It empties the queue, and so is not
// announced as read-only. Each login has its own place in the queue: what one has read waits
// for the others, for an hour.
func (h *handlers) getNotifications() tool {
	type request struct {
		again bool
		page
	}
	return define(mcp.Tool{
		Name:        "get_notifications",
		Title:       "Fired alerts",
		Description: "Read the alerts that fired since the last call, oldest first. Each login reads for itself.",
	}, reports, func(r *request) []arg {
		page := r.page.args()
		page[1].doc = "With again: how many to skip. Without, each call goes on where the last one ended."
		return append([]arg{boolean(&r.again, "again", "Also what was read within the last hour, should a reply have been lost.")}, page...)
	}, nil, func(_ context.Context, c mcp.Call, r *request) (*mcp.Result, error) {
		fired, left, err := h.Engine.Notifications(c.Caller.Key(), r.again, trade.Page{Offset: r.offset, Limit: r.limit, Size: replySize})
		if err != nil {
			return nil, fmt.Errorf("the queue could not be read, nothing is lost: %w", err)
		}
		result := mcp.JSON(fired)
		if left > 0 {
			how := " wait: call get_notifications again" // what was not returned is still in the queue
			if r.again {
				how = fmt.Sprintf(", read before or not: call get_notifications again with again=true and offset=%d", r.offset+len(fired))
			}
			result.Content = append(result.Content, mcp.Content{Text: fmt.Appendf(nil, "%d more notifications%s for the next ones; limit, up to %d, returns more at once.", left, how, maxPage)})
		}
		return result, nil
	})
}

// maxFilter is how many items a filter of a subscription may list.
const maxFilter = 100

// filterReply is a subscription's filter as clients see it. Each member is a list or the
// word "all", which stands for the engine's empty list: that lets everything through.
type filterReply struct {
	Symbols    any `json:"symbols"`
	AlertTypes any `json:"alert_types"`
}

// showFilter returns a filter as clients see it.
func showFilter(f trade.Filter) filterReply {
	reply := filterReply{everything, everything}
	if len(f.Symbols) > 0 {
		reply.Symbols = f.Symbols
	}
	if len(f.AlertTypes) > 0 {
		reply.AlertTypes = f.AlertTypes
	}
	return reply
}

// subscribe defines subscribe_notifications. It binds the subscription to the caller's
// token; a later token of the same client takes it over once this one has ended. A
// second call replaces the filters and keeps the queue.
func (h *handlers) subscribe() tool {
	type request struct{ symbols, types []string } // an alert must pass both
	return define(mcp.Tool{
		Name:  "subscribe_notifications",
		Title: "Subscribe to alerts",
		Description: "Have fired alerts pushed to this client as notifications/alert_triggered, over the SSE stream or stdio. " +
			"Calling again replaces the filters. While the client is away up to 1000 wait for an hour.",
		Annotations: mcp.Annotations{Idempotent: true},
	}, refuses, func(r *request) []arg {
		return []arg{
			words(&r.symbols, "symbols", "Only alerts of these symbols. Default: all.", maxFilter),
			words(&r.types, "alert_types", "Only these kinds. Default: all but order, the end of resting orders, pushed as notifications/order_filled, order_cancelled or order_rejected.", 10,
				append(slices.Clip(book.ConditionTypes), book.OrderAlerts)...),
		}
	}, nil, func(_ context.Context, c mcp.Call, r *request) (*mcp.Result, error) {
		// A list that contains "all" means all, whatever else is in it. The engine checks the
		// items.
		f := trade.Filter{Symbols: r.symbols, AlertTypes: r.types}
		if slices.Contains(r.symbols, everything) { // not in capitals: ALL is a stock
			f.Symbols = nil
		}
		if slices.ContainsFunc(r.types, func(s string) bool { return strings.EqualFold(s, everything) }) {
			f.AlertTypes = nil
		}
		s, err := h.Engine.Subscribe(Subscriber(c.Caller), f)
		if err != nil {
			return nil, err
		}
		note := ""
		if c.Listens {
			note = "In this version of the protocol a client asks to be told: send subscriptions/listen with the resource wick://alerts, or ask get_notifications."
		}
		return mcp.JSON(struct {
			Status string `json:"status"`
			filterReply
			Note string `json:"note,omitempty"`
		}{"subscribed", showFilter(s.Filter), note}), nil
	})
}

// unsubscribe defines unsubscribe_notifications. If there is no subscription, that is no
// error: the reply says that none was found.
func (h *handlers) unsubscribe() tool {
	return define(mcp.Tool{
		Name:        "unsubscribe_notifications",
		Title:       "Unsubscribe from alerts",
		Description: "End this client's subscription and drop what waits for it. Alerts stay active; get_notifications still reads them.",
		Annotations: mcp.Annotations{Destructive: true, Idempotent: true},
	}, reports, nil, nil, func(_ context.Context, c mcp.Call, _ *struct{}) (*mcp.Result, error) {
		had, err := h.Engine.Unsubscribe(c.Caller.ID)
		if err != nil {
			return nil, err
		}
		status := "not_found"
		if had {
			status = "unsubscribed"
		}
		return mcp.JSON(struct {
			Status string `json:"status"`
		}{status}), nil
	})
}

// listSubscriptions defines list_subscriptions. A client sees its own subscription
// only.
func (h *handlers) listSubscriptions() tool {
	return define(mcp.Tool{
		Name:        "list_subscriptions",
		Title:       "This client's subscription",
		Description: "This client's subscription: its filters, how many notifications wait, whether a stream is open.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Cost:        mcp.Cheap,
	}, reports, nil, nil, func(_ context.Context, c mcp.Call, _ *struct{}) (*mcp.Result, error) {
		s, waiting, connected := h.Hub.Status(c.Caller.ID)
		shown := filterReply{[]string{}, []string{}} // without a subscription nothing passes
		if s != nil {
			shown = showFilter(s.Filter)
		}
		return mcp.JSON(struct {
			Subscribed bool `json:"subscribed"`
			filterReply
			Waiting   int  `json:"offline_queue_size"`
			Connected bool `json:"connected"`
		}{s != nil, shown, waiting, connected}), nil
	})
}
