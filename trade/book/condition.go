package book

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wick/indicators"
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/market"
)

// ConditionType names what an alert waits for.
type ConditionType string

// The conditions there are.
const (
	PriceAbove      ConditionType = "price_above"      // the price is at or above the threshold
	PriceBelow      ConditionType = "price_below"      // the price is at or below the threshold
	IndicatorSignal ConditionType = "indicator_signal" // a closed bar has the signal
	ProfitAbove     ConditionType = "profit_above"     // a profit is at or above the threshold
	ProfitBelow     ConditionType = "profit_below"     // a profit is at or below the threshold
	AtTime          ConditionType = "at"               // clocks show a time on one day
	Daily           ConditionType = "daily"            // clocks show a time of day
)

// ConditionTypes are the words for the conditions there are, by which subscriptions name them, too.
var ConditionTypes = []string{string(PriceAbove), string(PriceBelow), string(IndicatorSignal), string(ProfitAbove), string(ProfitBelow), string(AtTime), string(Daily)}

// How a condition is watched: a price with every update, a signal on every bar that closes, and
// the others once a second.
func (c Condition) OnPrice() bool  { return c.Type == PriceAbove || c.Type == PriceBelow }
func (c Condition) OnSignal() bool { return c.Type == IndicatorSignal }
func (c Condition) OnProfit() bool { return c.Type == ProfitAbove || c.Type == ProfitBelow }
func (c Condition) OnTime() bool   { return c.Type == AtTime || c.Type == Daily }

// NeedsSymbol reports whether c is about one market.
func (c Condition) NeedsSymbol() bool {
	return c.OnPrice() || c.OnSignal() || c.OnProfit() && c.Of == OfPosition
}

// Scope says what a profit is counted of.
type Scope string

// The scopes there are.
const (
	OfPosition Scope = "position" // of the open position in the alert's symbol, not realized
	OfDay      Scope = "day"      // of the account since the day began, in UTC
	OfAccount  Scope = "account"  // of the account in all
)

// Condition is what an alert waits for. Its JSON has one key, the type:
// {"price_above": 65000}, or {"indicator_signal": {"indicator": "rsi",
// "signal": "rsi_oversold", "length": 21}}. Beside a profit there is what it is of, as in
// {"profit_below": -500, "of": "day"}, and beside a time the place whose clocks show it. Parameters of the indicator stand beside the
// signal or in an object "params". With the signal "crosses_above" or "crosses_below"
// there is a "level" that a line of the indicator is to reach, and there may be the name
// of the "line"; parameters of these names then stand in "params".
type Condition struct {
	Type      ConditionType
	Threshold exact.Decimal // of a price or a profit
	Of        Scope         // of a profit
	Moment    Moment        // of a time
	Indicator string        // as the client named it
	Signal    string
	Level     json.Number // of crosses_above and crosses_below, as it was written; else empty
	Line      string      // which line crosses it; empty means the first
	Params    map[string]json.RawMessage
}

// The signals that every indicator with lines has: a line crosses a level that the client
// chooses.
const (
	CrossesAbove = "crosses_above"
	CrossesBelow = "crosses_below"
)

// Crosses reports whether c waits for a line to cross a level.
func (c Condition) Crosses() bool { return c.Signal == CrossesAbove || c.Signal == CrossesBelow }

// maxParams bounds the JSON of an indicator_signal with its parameters, in bytes.
const maxParams = 1024

// UnmarshalJSON reads the JSON with one key, and settles the spelling of a signal. It checks
// the shape only; [Condition.Check] refuses what makes no sense. Members of an
// indicator_signal beside the indicator and the signal are parameters of the indicator; they
// stay as text until the catalogue reads them, so that a number keeps all its digits.
func (c *Condition) UnmarshalJSON(text []byte) error {
	const want = `write one of {"price_above": 65000}, {"price_below": 60000}, {"indicator_signal": {"indicator": "rsi", "signal": "rsi_oversold"}}, {"indicator_signal": {"indicator": "rule", "when": "rsi(14) < 30", "signal": "becomes_true"}}`
	const wantSignal = `indicator_signal needs "indicator" and "signal", both strings, such as {"indicator": "rsi", "signal": "rsi_oversold"}`
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return Refuse("bad_condition", "the condition %q is not an object; %s", limit.Clip(string(text)), want)
	}
	// A member that is null counts as left out: models fill in every key that they
	// know.
	maps.DeleteFunc(keys, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	take := func(key string) json.RawMessage {
		v := keys[key]
		delete(keys, key)
		return v
	}
	switch {
	case keys[string(ProfitAbove)] != nil || keys[string(ProfitBelow)] != nil:
		if of := take("of"); of != nil && json.Unmarshal(of, &c.Of) != nil {
			return badScope(string(of))
		}
	case keys[string(AtTime)] != nil || keys[string(Daily)] != nil:
		at := cmp.Or(string(keys[string(AtTime)]), string(keys[string(Daily)]))
		var err error
		if c.Moment, err = readMoment(json.RawMessage(at), take("timezone"), take("weekdays")); err != nil {
			return err
		}
	}
	if len(keys) != 1 {
		return Refuse("bad_condition", "the condition has %d keys, exactly one is right; %s", len(keys), want)
	}
	key := slices.Collect(maps.Keys(keys))[0]
	value := keys[key]
	switch *c = (Condition{Type: ConditionType(key), Of: c.Of, Moment: c.Moment}); {
	case key == "rule": // models write the short form of a rule
		*c = Condition{Type: IndicatorSignal, Indicator: "rule", Signal: indicators.BecomesTrue, Params: map[string]json.RawMessage{"when": value}}
		return nil
	case c.OnTime():
		return nil
	case c.OnPrice() || c.OnProfit():
		var err error
		if c.Threshold, err = exact.Parse(value); err != nil {
			return Refuse("bad_threshold", "%s: %v", key, err)
		}
		return nil
	case c.Type != IndicatorSignal:
		return Refuse("bad_condition", "unknown condition %q; %s", limit.Clip(key), want)
	case len(value) > maxParams:
		return Refuse("bad_condition", "indicator_signal has %d bytes, at most %d are taken", len(value), maxParams)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil || json.Unmarshal(members["indicator"], &c.Indicator) != nil {
		return Refuse("bad_condition", wantSignal)
	}
	if signal := string(members["signal"]); (signal == "" || signal == "null") && c.isRule() {
		members["signal"] = json.RawMessage(`"` + indicators.BecomesTrue + `"`)
	}
	if json.Unmarshal(members["signal"], &c.Signal) != nil || c.Indicator == "" || c.Signal == "" { // null, which leaves a string empty
		return Refuse("bad_condition", wantSignal)
	}
	// Models write "Crosses above" for crosses_above.
	c.Signal = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(c.Signal)), " ", "_")
	c.Signal = cmp.Or(writtenOut[c.Signal], c.Signal)
	delete(members, "indicator")
	delete(members, "signal")
	if c.Crosses() {
		level := strings.Trim(string(members["level"]), `"`) // models send numbers as strings, too
		if v, err := strconv.ParseFloat(level, 64); err != nil || math.IsInf(v, 0) || json.Unmarshal([]byte(level), &c.Level) != nil {
			return Refuse("bad_level", `%s needs "level", a number, such as {"indicator": "rsi", "signal": "crosses_above", "level": 70}; got %q`,
				c.Signal, limit.Clip(level))
		}
		if line := members["line"]; line != nil && json.Unmarshal(line, &c.Line) != nil {
			return Refuse("bad_line", `"line" is %s, the name of a line is right`, limit.Clip(string(line)))
		}
		delete(members, "level")
		delete(members, "line")
	}
	if len(members) > 0 {
		c.Params = members
	}
	return nil
}

// writtenOut maps names of signals that people write out to the signals.
var writtenOut = map[string]string{"bullish_divergence": "bull_div", "bearish_divergence": "bear_div"}

// badScope refuses what a profit is to be of.
func badScope(of string) error {
	return Refuse("bad_condition", "of %s is not one of position, day, account, such as {\"profit_below\": -500, \"of\": \"day\"}", limit.Clip(of))
}

// MarshalJSON writes c as clients send it: an object whose one key is the type, and what belongs
// to a profit or a time.
func (c Condition) MarshalJSON() ([]byte, error) {
	switch {
	case c.OnProfit():
		return json.Marshal(map[string]any{string(c.Type): c.Threshold, "of": c.Of})
	case c.OnTime():
		members := map[string]any{string(c.Type): c.Moment.Time}
		if c.Moment.Zone != "" {
			members["timezone"] = c.Moment.Zone
		}
		if len(c.Moment.Weekdays) > 0 {
			members["weekdays"] = c.Moment.Weekdays
		}
		return json.Marshal(members)
	case !c.OnSignal():
		return json.Marshal(map[ConditionType]exact.Decimal{c.Type: c.Threshold})
	}
	members := map[string]any{"indicator": c.Indicator, "signal": c.Signal}
	if c.Crosses() {
		members["level"] = c.Level
	}
	if c.Line != "" {
		members["line"] = c.Line
	}
	for name, value := range c.Params {
		members[name] = value
	}
	return encode(map[ConditionType]any{c.Type: members})
}

// encode returns v as JSON in which the signs of a rule, such as >, stand as they are: escaped, each
// would cost a model six characters.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// goesWith names the members of a condition that stand beside its type, and the types that have them.
var goesWith = map[string][]ConditionType{"of": {ProfitAbove, ProfitBelow}, "timezone": {AtTime, Daily}, "weekdays": {Daily}}

// With returns c with some of its members changed. If it is of another type then, what goes with that
// stays: a daily time of New York that is moved is still of New York.
func (c Condition) With(members map[string]json.RawMessage) (after Condition, err error) {
	text, _ := json.Marshal(c)
	var all map[string]json.RawMessage
	_ = json.Unmarshal(text, &all) // we wrote it
	another := slices.ContainsFunc(slices.Collect(maps.Keys(members)), func(name string) bool { return goesWith[name] == nil })
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool {
		return another && !slices.ContainsFunc(goesWith[name], func(t ConditionType) bool { return members[string(t)] != nil })
	})
	maps.Copy(all, members)
	text, _ = json.Marshal(all)
	return after, json.Unmarshal(text, &after)
}

// Request returns the indicator that the condition asks for.
func (c Condition) Request() (indicators.Request, error) {
	params, err := indicators.Flat(c.Params)
	if err != nil {
		return indicators.Request{}, err
	}
	return indicators.New(c.Indicator, params)
}

// Meaning says in one line when the condition fires. It is empty for a price condition,
// whose type says it.
func (c Condition) Meaning() string {
	if !c.OnSignal() {
		return "" // Lookup is slow for a name that it does not know: it searches for similar ones
	}
	r, err := c.Request()
	if err != nil {
		return ""
	}
	meaning := r.Ind.Meaning(c.Signal)
	for _, slope := range r.Slopes() {
		meaning += fmt.Sprintf("; its line rises by %.8g a day, by the clock, not by the bar", slope)
	}
	return meaning
}

// Check refuses a condition that makes no sense, or that could never fire.
func (c *Condition) Check() error {
	switch c.Type {
	case PriceAbove, PriceBelow:
		if c.Threshold <= 0 {
			return Refuse("bad_threshold", "%s %s: the threshold must be above zero", c.Type, c.Threshold)
		}
		return nil
	case ProfitAbove, ProfitBelow:
		if c.Of != OfPosition && c.Of != OfDay && c.Of != OfAccount {
			return badScope(fmt.Sprintf("%q", string(c.Of)))
		}
		return nil
	case AtTime, Daily:
		return c.Moment.check(c.Type)
	case IndicatorSignal:
	default:
		return Refuse("bad_condition", "unknown condition %q: one of %s", limit.Clip(string(c.Type)), strings.Join(ConditionTypes, ", "))
	}
	// An indicator is checked by making the request for it, with the catalogue's own
	// messages.
	r, err := c.Request()
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		advice := ""
		params, _ := indicators.Flat(c.Params)
		if _, level := params["level"]; level {
			ind, unknown := indicators.Lookup(c.Indicator)
			if unknown == nil && !slices.ContainsFunc(ind.Params, func(p indicators.Param) bool { return p.Name == "level" }) {
				advice = `; a "level" goes with the signals ` + CrossesAbove + " and " + CrossesBelow
			}
		}
		return Refuse("bad_indicator", "%v%s", err, advice)
	}
	name, signals := r.Ind.Name, strings.Join(r.Ind.Signals, ", ")
	watchable := func() bool { // it has a line that can be watched cross a level
		_, err := r.Watch(r.Compute(&market.Series{}), "", 0)
		return err == nil && !r.Ind.IsTotal()
	}
	switch {
	// This comes before what could be mended: no other signal or parameter would help.
	case r.Ind.VisibleOnly():
		return Refuse("bad_indicator", "%s describes the bars on display, so its signals change with where a chart begins: no alert can wait for them", name)
	case c.Crosses() && r.Ind.IsTotal():
		return Refuse("bad_level", "%s begins anew at the first bar of a chart, so its level means nothing; its signals are %s", name, signals)
	case c.Crosses() && !watchable():
		return Refuse("bad_line", "%s has no lines to watch; its signals are %s", name, signals)
	case c.Crosses():
		return c.checkLevel(r)
	case !slices.Contains(r.Ind.Signals, c.Signal):
		if watchable() {
			signals += `, and with a "level" ` + CrossesAbove + ", " + CrossesBelow
		}
		return Refuse("bad_signal", "%s never emits %q; its signals are %s", name, limit.Clip(c.Signal), signals)
	case r.Silent(c.Signal) != "":
		return Refuse("bad_signal", "with these parameters %s never emits %q: set %s", name, c.Signal, r.Silent(c.Signal))
	}
	return nil
}

// checkLevel refuses a level that the line could not cross: to cross a level is to go beyond it,
// so a line crosses each end of its range one way only.
func (c *Condition) checkLevel(r indicators.Request) error {
	level, err := c.Level.Float64()
	if err != nil {
		return Refuse("bad_level", "%s: the level %q is not a number", c.Signal, limit.Clip(string(c.Level)))
	}
	if _, err := r.Watch(r.Compute(&market.Series{}), c.Line, level); err != nil {
		return Refuse("bad_line", "%v", err)
	}
	switch lo, hi, ok := r.Bounds(c.Line); {
	case ok && (level < lo || level > hi):
		return Refuse("bad_level", "%s never reaches %s: it lies between %g and %g", r.Ind.Name, limit.Clip(string(c.Level)), lo, hi)
	case ok && (level == hi && c.Signal == CrossesAbove || level == lo && c.Signal == CrossesBelow):
		return Refuse("bad_level", "%s never %s %s: it lies between %g and %g", r.Ind.Name, strings.ReplaceAll(c.Signal, "_", " "), limit.Clip(string(c.Level)), lo, hi)
	}
	return nil
}
