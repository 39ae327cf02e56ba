package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/rules"
	"wick/market"
)

// Memory says how much of the past the values of an entry depend on, and so how many bars
// before the first one shown are loaded. The zero Memory is a window of the parameter
// "length", or the bar alone if there is none. What signals need beyond it follows from the
// Events.
type Memory struct {
	bars    func(a Args) int                       // how many bars before a bar still matter to it
	seconds func(a Args, iv market.Interval) int64 // of an entry that follows the calendar, in place of bars

	// Where the history begins matters for good: begins says in which way. Of an entry that
	// accumulates from a moment since returns that, in unix seconds; 0 means the first bar
	// loaded. Of an entry that usually forgets, endless returns which parameter keeps it from
	// that and the value that it needs, such as "anchor to day"; "" if none does.
	begins  remains
	since   func(a Args) int64
	endless func(a Args) string

	// Of an entry that only an event makes independent of where its history began, settles
	// returns the bar of that event, see [Result.Settles].
	settles func(d *drawing) int
}

// remains says what an entry keeps of where its history begins.
type remains uint8

const (
	_ remains = iota // nothing: it forgets
	// onlyVisible entries describe the bars of a chart as a whole, such as a volume profile: they
	// are computed only from those, without warm-up.
	onlyVisible
	// Running totals begin at the first bar loaded. Only their changes have a meaning. Those of
	// products, which multiply and do not add, are ratios.
	runningTotal
	runningProduct
)

// visible is the Memory of an entry that describes the bars of a chart as a whole.
var visible = Memory{begins: onlyVisible}

// total and product return m of an entry whose line adds up, or multiplies, from the first
// bar loaded.
func (m Memory) total() Memory   { m.begins = runningTotal; return m }
func (m Memory) product() Memory { m.begins = runningProduct; return m }

// VisibleOnly reports whether the entry describes the bars of a chart as a whole.
func (ind *Indicator) VisibleOnly() bool { return ind.Memory.begins == onlyVisible }

// IsTotal reports whether only changes of the entry have a meaning.
func (ind *Indicator) IsTotal() bool { return ind.Memory.begins >= runningTotal }

// fixed is the Memory of an entry that depends on n bars before, whatever its parameters.
func fixed(n int) Memory { return Memory{bars: func(Args) int { return n }} }

// lengths is the Memory of so many times the longest of the named parameters. A window needs
// one of them. An exponential average always depends a little on its start: its memory is so
// many lengths that this can no longer be seen. So is Wilder's.
func lengths(times int, params ...string) Memory {
	return Memory{bars: func(a Args) int {
		n := 0
		for _, p := range params {
			n = max(n, a.Int(p))
		}
		return times * n
	}}
}
func window(params ...string) Memory { return lengths(1, params...) }
func ema(params ...string) Memory    { return lengths(kernel.EMAMemory, params...) }
func wilder(params ...string) Memory { return lengths(kernel.WilderMemory, params...) }

// averageOf is the Memory of a kind of average, averageBy of the kind that the parameter kind
// names. The longest of the named lengths decides.
func averageOf(kind string, params ...string) Memory {
	n := window(params...)
	return Memory{bars: func(a Args) int { return kernel.AverageWarmup(kind, n.bars(a)) }}
}
func averageBy(kind string, params ...string) Memory {
	n := window(params...)
	return Memory{bars: func(a Args) int { return kernel.AverageWarmup(a.Choice(kind), n.bars(a)) }}
}

// after is the Memory of computations of which each takes what the one before returned:
// their memories add up. Of computations side by side the longest decides.
func after(parts ...Memory) Memory {
	return joined(parts, func(a, b int) int { return a + b })
}
func longest(parts ...Memory) Memory {
	return joined(parts, func(a, b int) int { return max(a, b) })
}
func joined(parts []Memory, join func(a, b int) int) Memory {
	return Memory{bars: func(a Args) (n int) {
		for _, m := range parts {
			n = join(n, m.bars(a))
		}
		return n
	}}
}

// cycleMemory is the Memory of the dominant cycle.
var cycleMemory = fixed(kernel.HilbertWarmup)

// Warmup returns how many bars of the interval before the first one shown should be
// computed too, so that the first value shown is what a longer chart would show there.
func (r Request) Warmup(iv market.Interval) int {
	if inner := r.Args.of; inner != nil {
		return r.withoutSource().Warmup(iv) + inner.Warmup(iv)
	}
	m := r.Ind.Memory
	switch {
	case m.begins == onlyVisible:
		return 0
	case m.seconds != nil && !iv.Valid(): // bars of unknown length cannot be counted by the calendar
		return 0
	case m.seconds != nil:
		return int(m.seconds(r.Args, iv)/iv.Seconds()) + 1
	case m.bars == nil && r.Ind.index("length") >= 0:
		m.bars = window("length").bars
	case m.bars == nil:
		m.bars = fixed(0).bars
	}
	if m.begins >= runningTotal || m.since != nil { // its signals too depend on where it began
		return m.bars(r.Args) + divergenceWarmup(r.Args)
	}
	back := 1 // most signals compare a bar with the one before
	for _, e := range r.Ind.Events {
		if e.back != nil {
			back = max(back, e.back(r.Args))
		}
	}
	return m.bars(r.Args) + back + divergenceWarmup(r.Args)
}

// since returns the moment that r accumulates from, in unix seconds; 0 if it does not, or from
// the first bar loaded.
func (r Request) since() int64 {
	if r.Ind.Memory.since == nil {
		return 0
	}
	return r.Ind.Memory.since(r.Args)
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
	return before >= needed || r.since() != 0
}

// need returns, for each place, the least number of bars that the expressions need before
// the first one shown.
func (a Args) need(iv market.Interval) map[rules.Place]int {
	need := make(map[rules.Place]int)
	for e := range a.expressions() {
		for place, n := range e.Warmup(string(iv)) {
			need[place] = max(need[place], n)
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
	if r.since() == 0 || !iv.Valid() {
		return r.Warmup(iv)
	}
	bars := int(max(0, newest-r.since())/iv.Seconds()) + 1
	if r.Ind.Memory.seconds != nil { // what it computes there must be warm
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
	return r.Ind.VisibleOnly() || r.Ind.Memory.since != nil && r.since() == 0
}

// Endless returns which parameter makes r, or the indicator that is its source, run from the
// first bar loaded, and the value that it needs, such as "anchor to day"; "" if none does.
// What depends on its values would be true or false by how many bars were loaded.
func (r Request) Endless() (set string) {
	if r.Ind.Memory.endless != nil {
		set = r.Ind.Memory.endless(r.Args)
	}
	if inner := r.Args.of; inner != nil && set == "" {
		return inner.Endless()
	}
	return set
}
