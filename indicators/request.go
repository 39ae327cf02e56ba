package indicators

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"wick/limit"
	"wick/market"
)

// Request is an indicator with its parameters settled.
type Request struct {
	// Key is the name it was asked for by, with "#2" and so on when the name
	// comes again: the key of its results.
	Key  string
	Ind  *Indicator
	Args Args
}

// Parse reads what a client sent: each item a name, or an object with "name"
// and parameters, either beside it or in an object "params".
func Parse(items []json.RawMessage) ([]Request, error) {
	requests := make([]Request, 0, len(items))
	seen := make(map[string]int)
	for _, item := range items {
		r, err := parseItem(item)
		if err != nil {
			return nil, err
		}
		seen[r.Key]++
		if n := seen[r.Key]; n > 1 {
			r.Key += "#" + strconv.Itoa(n)
		}
		requests = append(requests, r)
	}
	return requests, nil
}

// parseItem reads one item: a text is a name, an object has the name and parameters.
func parseItem(item json.RawMessage) (Request, error) {
	var name string
	var overrides map[string]json.RawMessage
	if err := json.Unmarshal(item, &name); err != nil {
		if err := json.Unmarshal(item, &overrides); err != nil {
			return Request{}, fmt.Errorf("%w: %s is neither a name nor an object with a name", ErrParam, limit.Clip(string(item)))
		}
		if err := json.Unmarshal(overrides["name"], &name); err != nil {
			return Request{}, fmt.Errorf(`%w: an indicator object needs "name", such as {"name":"rsi","length":21}`, ErrParam)
		}
		delete(overrides, "name")
		// Some clients put the parameters into an object of their own, "params".
		if err := unnest(overrides); err != nil {
			return Request{}, err
		}
	}
	r, err := New(name, overrides)
	if err != nil {
		return Request{}, err
	}
	return r, r.Missing()
}

// unnest lifts the members of an object "params" beside it.
func unnest(overrides map[string]json.RawMessage) error {
	raw, ok := overrides["params"]
	if !ok {
		return nil
	}
	delete(overrides, "params")
	var inner map[string]json.RawMessage
	if err := json.Unmarshal(raw, &inner); err != nil {
		return fmt.Errorf(`%w: "params" is not an object`, ErrParam)
	}
	for name, value := range inner {
		if beside, ok := overrides[name]; ok && string(beside) != string(value) {
			return fmt.Errorf(`%w: %s is given beside "params" and in it, with different values`, ErrParam, limit.Clip(name))
		}
		overrides[name] = value
	}
	return nil
}

// New returns a request for the indicator called name with some parameters
// overridden; a nil map leaves the defaults.
func New(name string, overrides map[string]json.RawMessage) (Request, error) {
	ind, err := Lookup(name)
	if err != nil {
		return Request{}, err
	}
	if overrides, err = ind.withLengths(name, overrides); err != nil {
		return Request{}, err
	}
	if overrides, err = ind.withPreset(overrides); err != nil {
		return Request{}, err
	}
	args, err := ind.Resolve(overrides)
	if err != nil {
		return Request{}, err
	}
	return Request{Key: strings.TrimSpace(name), Ind: ind, Args: args}, nil
}

// Missing reports an expression that r needs and that nobody gave: what a record
// has in its place is an example, which nobody should wait for by accident.
func (r Request) Missing() error {
	for _, p := range r.Ind.Params {
		if p.Required && !r.Args.given[p.Name] {
			return fmt.Errorf("%w: %s needs %q, such as {%q:%q}", ErrParam, r.Ind.Name, p.Name, p.Name, p.Text)
		}
	}
	return nil
}

// withLengths returns the overrides with the numbers that are written into the
// name, "EMA(20)", for the parameters that a label shows, in their order. What
// is given by name wins.
func (ind *Indicator) withLengths(name string, overrides map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	_, lengths := find(name)
	if len(lengths) == 0 {
		return overrides, nil
	}
	all := make(map[string]json.RawMessage)
	for _, p := range ind.Params {
		if len(lengths) > 0 && !p.Quiet && (p.Kind == Int || p.Kind == Number) {
			all[p.Name], lengths = json.RawMessage(lengths[0]), lengths[1:]
		}
	}
	if len(lengths) > 0 {
		return nil, fmt.Errorf("%w: %q gives %s more numbers than it has", ErrParam, limit.Clip(name), ind.Name)
	}
	// A parameter may be given under an alias: the number in the name goes.
	for key, raw := range overrides {
		if i := ind.param(key); i >= 0 {
			delete(all, ind.Params[i].Name)
		}
		all[key] = raw
	}
	return all, nil
}

// Label returns the title with the parameters, as a legend shows it.
func (r Request) Label() string { return r.Args.label() }

// Reading returns r for who reads the newest n bars of a result only. What Compute
// then returns may begin with a later bar than the first (see [Result.Begin]), and
// lack signals before those n bars.
func (r Request) Reading(n int) Request {
	if r.Args.of["source"] == nil { // else it runs over parts of the bars
		r.Args.newest = n
	}
	return r
}

// Compute runs the indicator over s and returns its lines and signals, labelled. If its
// source is another indicator, it runs over that one's line.
func (r Request) Compute(s *market.Series) *Result {
	if inner := r.Args.of["source"]; inner != nil {
		return r.computeOf(*inner, s)
	}
	result := r.Ind.Compute(s, r.Args)
	addZoneEntries(result, r.Args)
	result.Overlay = result.Overlay || r.Ind.Overlay
	if result.Label == "" {
		result.Label = r.Label()
	}
	return result
}

// Warmup returns how many bars of the interval before the first one shown should be
// computed too, so that the first value shown is what a longer chart would show there.
func (r Request) Warmup(iv market.Interval) int {
	if inner := r.Args.of["source"]; inner != nil {
		return r.withoutSource().Warmup(iv) + inner.Warmup(iv)
	}
	switch {
	case r.Ind.VisibleOnly:
		return 0
	// Bars of unknown length cannot be counted by the calendar.
	case r.Ind.History != nil && !iv.Valid():
		return 0
	case r.Ind.History != nil:
		return int(r.Ind.History(r.Args, iv)/iv.Seconds()) + 1
	case r.Ind.Warmup != nil:
		return r.Ind.Warmup(r.Args) + divergenceWarmup(r.Args)
	}
	return defaultWarmup(r.Args) + divergenceWarmup(r.Args)
}

// Settled reports whether so many bars before the first one shown are enough:
// with fewer, the values shown may differ from those of a longer history by more
// than a part in a million. Lengths near the upper bound can ask for more bars
// than a source has. What accumulates since a moment that a client chose is what
// it is.
func (r Request) Settled(before int, iv market.Interval) bool {
	return before >= r.Warmup(iv) || r.Ind.Since != nil && r.Ind.Since(r.Args) != 0
}

// ShownBars is how many bars a chart shows unless it is asked for another
// number. MaxWarmup is how many are loaded before them at most: ten pages of the
// busiest service.
const (
	ShownBars = 200
	MaxWarmup = 10_000
)

// WarmupAt is like Warmup for a chart whose newest bar starts at the given
// moment, in unix seconds: an indicator that accumulates since a moment needs all
// bars since then.
func (r Request) WarmupAt(iv market.Interval, newest int64) int {
	if inner := r.Args.of["source"]; inner != nil {
		return r.withoutSource().WarmupAt(iv, newest) + inner.WarmupAt(iv, newest)
	}
	if r.Ind.Since == nil || r.Ind.Since(r.Args) == 0 || !iv.Valid() {
		return r.Warmup(iv)
	}
	bars := int(max(0, newest-r.Ind.Since(r.Args))/iv.Seconds()) + 1
	if r.Ind.History != nil { // what it computes there must be warm
		bars += r.Warmup(iv)
	}
	return bars
}

// Slides reports whether what r shows at a bar depends on which bar a chart
// begins with, so that it changes when the chart moves on.
func (r Request) Slides() bool {
	if inner := r.Args.of["source"]; inner != nil && inner.Slides() {
		return true
	}
	return r.Ind.VisibleOnly || r.Ind.Since != nil && r.Ind.Since(r.Args) == 0
}

// defaultWarmup allows for chains of exponential averages, whose memory of
// where they began fades by e every length/2 bars: after ten lengths less than
// a part in a hundred million is left.
func defaultWarmup(a Args) int {
	sum := 0
	for i, p := range a.ind.Params {
		if p.Kind == Int {
			sum += int(a.values[i])
		}
	}
	return 10 * sum
}

// sortedKeys returns the keys in order, so that errors do not depend on the map's.
func sortedKeys(m map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(m)) }
