package trade

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"wick/exact"
	"wick/indicators"
	"wick/limit"
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

// unmarshalSignal reads the value of indicator_signal. Members beside the
// indicator and the signal are parameters of the indicator; they stay as text
// until the catalogue reads them, so that a number keeps all its digits.
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
