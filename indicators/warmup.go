package indicators

import (
	"wick/market"
	"wick/rules"
)

// Warmup returns how many bars of the interval before the first one shown should be
// computed too, so that the first value shown is what a longer chart would show there.
func (r Request) Warmup(iv market.Interval) int {
	if inner := r.Args.of; inner != nil {
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

// Settled reports whether before bars before the first one shown are enough: with fewer,
// the values shown may differ by more than a part in a million from those of a longer
// history. Lengths near the upper bound can need more bars than a source has. An indicator
// that accumulates since a moment which the client chose is always settled.
func (r Request) Settled(before int, iv market.Interval) bool {
	needed := r.Warmup(iv)
	if len(r.Args.exprs) > 0 { // Warmup loads more, so that rules can share what they compute
		needed = r.Args.need(iv)[rules.Place{}]
	}
	return before >= needed || r.Ind.Since != nil && r.Ind.Since(r.Args) != 0
}

// need returns, for each place, the least number of bars that the expressions need before
// the first one shown.
func (a Args) need(iv market.Interval) map[rules.Place]int {
	need := make(map[rules.Place]int)
	for _, list := range a.exprs {
		for _, e := range list {
			for place, n := range e.Warmup(string(iv)) {
				need[place] = max(need[place], n)
			}
		}
	}
	return need
}

// ShownBars is how many bars a chart shows by default. MaxWarmup is how many bars are
// loaded before them at most: ten requests to the service that is used most.
const (
	ShownBars = 200
	MaxWarmup = 10_000
)

// WarmupAt is like Warmup for a chart whose newest bar starts at the given
// moment, in unix seconds: an indicator that accumulates since a moment needs all
// bars since then.
func (r Request) WarmupAt(iv market.Interval, newest int64) int {
	if inner := r.Args.of; inner != nil {
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
	if inner := r.Args.of; inner != nil && inner.Slides() {
		return true
	}
	return r.Ind.VisibleOnly || r.Ind.Since != nil && r.Ind.Since(r.Args) == 0
}

// Endless returns which parameter makes r, or the indicator that is its source, run from the
// first bar loaded, and the value that it needs, such as "anchor to day"; "" if none does.
// What depends on its values would be true or false by how many bars were loaded.
func (r Request) Endless() (set string) {
	if r.Ind.Endless != nil {
		set = r.Ind.Endless(r.Args)
	}
	if inner := r.Args.of; inner != nil && set == "" {
		return inner.Endless()
	}
	return set
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
