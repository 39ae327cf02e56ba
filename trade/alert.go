package trade

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wick/exact"
	"wick/indicators"
	"wick/limit"
	"wick/market"
)

// ConditionType names what an alert waits for.
type ConditionType string

// The conditions there are.
const (
	PriceAbove      ConditionType = "price_above"      // the price reaches the threshold from wherever it is
	PriceBelow      ConditionType = "price_below"      // … or falls to it
	IndicatorSignal ConditionType = "indicator_signal" // a closed bar bears the signal
)

// Condition is what an alert waits for. Its JSON has one key, the type:
// {"price_above": 65000}, or {"indicator_signal": {"indicator": "rsi",
// "signal": "rsi_oversold", "length": 21}} with parameters as the indicator has
// them.
type Condition struct {
	Type      ConditionType
	Threshold exact.Decimal // of a price condition
	Indicator string        // as the client named it
	Signal    string
	Params    map[string]json.RawMessage
}

// maxParams bounds the text of an indicator's parameters, in bytes.
const maxParams = 1024

// UnmarshalJSON reads the one-key shape. It checks the shape only; SetAlert
// checks the sense.
func (c *Condition) UnmarshalJSON(text []byte) error {
	const want = `write one of {"price_above": 65000}, {"price_below": 60000}, {"indicator_signal": {"indicator": "rsi", "signal": "rsi_oversold"}}`
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return refuse("bad_condition", fixIt, "the condition %q is not an object; %s", limit.Clip(string(text)), want)
	}
	maps.DeleteFunc(keys, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	if len(keys) != 1 {
		return refuse("bad_condition", fixIt, "the condition has %d keys, exactly one is right; %s", len(keys), want)
	}
	for key, value := range keys {
		*c = Condition{Type: ConditionType(key)}
		switch c.Type {
		case PriceAbove, PriceBelow:
			threshold, err := exact.Parse(value)
			if err != nil {
				return refuse("bad_threshold", fixIt, "%s: %v", key, err)
			}
			c.Threshold = threshold
		case IndicatorSignal:
			return c.unmarshalSignal(value)
		default:
			return refuse("bad_condition", fixIt, "unknown condition %q; %s", limit.Clip(key), want)
		}
	}
	return nil
}

func (c *Condition) unmarshalSignal(value json.RawMessage) error {
	const want = `indicator_signal needs "indicator" and "signal", both strings, such as {"indicator": "rsi", "signal": "rsi_oversold"}`
	if len(value) > maxParams {
		return refuse("bad_condition", fixIt, "indicator_signal has %d bytes, at most %d are taken", len(value), maxParams)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil ||
		json.Unmarshal(members["indicator"], &c.Indicator) != nil || json.Unmarshal(members["signal"], &c.Signal) != nil {
		return refuse("bad_condition", fixIt, want)
	}
	delete(members, "indicator")
	delete(members, "signal")
	if len(members) > 0 {
		c.Params = members
	}
	return nil
}

// MarshalJSON writes the one-key shape.
func (c Condition) MarshalJSON() ([]byte, error) {
	if c.Type != IndicatorSignal {
		return json.Marshal(map[ConditionType]exact.Decimal{c.Type: c.Threshold})
	}
	members := map[string]any{"indicator": c.Indicator, "signal": c.Signal}
	for name, value := range c.Params {
		members[name] = value
	}
	return json.Marshal(map[ConditionType]any{c.Type: members})
}

// request returns the indicator that the condition asks for.
func (c Condition) request() (indicators.Request, error) {
	item := maps.Clone(c.Params)
	if item == nil {
		item = make(map[string]json.RawMessage)
	}
	name, err := json.Marshal(c.Indicator)
	if err != nil {
		return indicators.Request{}, err
	}
	item["name"] = name
	text, err := json.Marshal(item)
	if err != nil {
		return indicators.Request{}, err
	}
	requests, err := indicators.Parse([]json.RawMessage{text})
	if err != nil {
		return indicators.Request{}, err
	}
	return requests[0], nil
}

// check refuses a condition that makes no sense and settles the spelling of
// its signal.
func (c *Condition) check() error {
	switch c.Type {
	case PriceAbove, PriceBelow:
		if c.Threshold <= 0 {
			return refuse("bad_threshold", fixIt, "%s %s: the threshold must be above zero", c.Type, c.Threshold)
		}
		return nil
	case IndicatorSignal:
	default:
		return refuse("bad_condition", fixIt, "unknown condition %q: one of price_above, price_below, indicator_signal", limit.Clip(string(c.Type)))
	}
	request, err := c.request()
	if err != nil {
		return refuse("bad_indicator", fixIt, "%v", err)
	}
	signal := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(c.Signal)), " ", "_")
	if !slices.Contains(request.Ind.Signals, signal) {
		if len(request.Ind.Signals) == 0 {
			return refuse("bad_signal", fixIt, "%s emits no signals; choose an indicator that list_indicators shows with some", request.Ind.Name)
		}
		return refuse("bad_signal", fixIt, "%s never emits %q; its signals are %s",
			request.Ind.Name, limit.Clip(c.Signal), strings.Join(request.Ind.Signals, ", "))
	}
	c.Signal = signal
	return nil
}

// Alert waits for its condition and is gone once it fired.
type Alert struct {
	ID        string          `json:"alert_id"`
	Symbol    string          `json:"symbol"`
	Interval  market.Interval `json:"interval"` // empty for price conditions
	Condition Condition       `json:"condition"`
	CreatedAt Time            `json:"created_at"`
}

// AlertRequest asks for an alert.
type AlertRequest struct {
	Symbol    string
	Interval  string // of an indicator condition; empty means the engine's first
	Condition Condition
}

// SetAlert makes an alert wait. When it returns without an error the alert is
// on disk and its symbol is watched.
func (e *Engine) SetAlert(ctx context.Context, r AlertRequest) (Alert, error) {
	symbol, err := market.ParseSymbol(r.Symbol)
	if err != nil {
		return Alert{}, refuse("bad_symbol", fixIt, "%v", err)
	}
	if err := r.Condition.check(); err != nil {
		return Alert{}, err
	}
	a := &Alert{Symbol: symbol, Condition: r.Condition}
	if a.Condition.Type == IndicatorSignal {
		if a.Interval, err = e.interval(r.Interval); err != nil {
			return Alert{}, err
		}
	}
	if err := e.ensure(ctx, symbol, a.Interval); err != nil {
		return Alert{}, err
	}
	if err := e.checkNeeds(ctx, a); err != nil {
		return Alert{}, err
	}
	e.mu.Lock()
	seq, err := e.addAlert(a)
	e.mu.Unlock()
	if err != nil {
		return Alert{}, err
	}
	return *a, e.commit(seq)
}

// checkNeeds refuses an alert on data from outside the bars that the source
// does not have: it could never fire.
func (e *Engine) checkNeeds(ctx context.Context, a *Alert) error {
	if a.Condition.Type != IndicatorSignal {
		return nil
	}
	request, err := a.Condition.request()
	if err != nil || len(request.Ind.Needs) == 0 {
		return err
	}
	s, err := e.options.Source.Bars(ctx, market.Query{Symbol: a.Symbol, Interval: a.Interval, Limit: 2, Extra: request.Ind.Needs})
	if err != nil {
		return fmt.Errorf("no data of %s for %s: %w", a.Symbol, request.Ind.Name, err)
	}
	for _, column := range request.Ind.Needs {
		if s.Extra[column] == nil {
			return refuse("no_data", never, "%s needs %s, which the source %s does not have for %s", request.Ind.Name, column, s.Source, a.Symbol)
		}
	}
	return nil
}

func (e *Engine) addAlert(a *Alert) (uint64, error) {
	if limit := e.limits.Alerts; len(e.ahead.alerts) >= limit {
		return 0, refuse("max_alerts", later, "%d alerts are active, which is the limit; cancel one with cancel_alert", limit)
	}
	a.CreatedAt = now()
	a.ID = e.newID("a")
	return e.propose(kindAlertSet, &event{At: a.CreatedAt, Alert: a})
}

// interval settles the interval of an indicator alert.
func (e *Engine) interval(text string) (market.Interval, error) {
	if text == "" {
		return e.options.Intervals[0], nil
	}
	iv, err := market.ParseInterval(text)
	if err != nil {
		return "", refuse("bad_interval", fixIt, "%v", err)
	}
	return iv, nil
}

// Alerts returns the active alerts, oldest first.
func (e *Engine) Alerts() []Alert {
	e.mu.Lock()
	defer e.mu.Unlock()
	alerts := make([]Alert, 0, len(e.shown.alerts))
	for _, a := range e.shown.sortedAlerts() {
		alerts = append(alerts, *a)
	}
	return alerts
}

// CancelAlert takes an active alert away before it fires.
func (e *Engine) CancelAlert(_ context.Context, id string) (Alert, error) {
	e.mu.Lock()
	a, seq := e.ahead.alerts[id], e.ahead.seq
	if a == nil {
		e.mu.Unlock()
		return Alert{}, e.refuseAfter(seq, refuse("unknown_alert", never, "no active alert has the id %q: it has fired, was cancelled or never was; "+
			"list_alerts shows the active ones and get_notifications those that fired", limit.Clip(id)))
	}
	seq, err := e.propose(kindAlertGone, &event{At: now(), Alert: a})
	e.mu.Unlock()
	if err != nil {
		return Alert{}, err
	}
	return *a, e.commit(seq)
}

// compareIDs orders ids of one kind by age: they end in a rising number.
func compareIDs(a, b string) int {
	if d := len(a) - len(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// newID returns an id that no other thing of this or any other store has: the
// next sequence under the store's name. Called with mu held.
func (e *Engine) newID(prefix string) string {
	return fmt.Sprintf("%s-%s-%d", prefix, e.ahead.store[:8], e.ahead.seq+1)
}
