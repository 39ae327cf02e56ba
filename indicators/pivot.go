package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indPivot = pivotEntry(Indicator{
	Name: "pivot", Title: "Pivot", Also: []string{"pivot_points_standard"}, Aliases: []string{"pivot_points", "pivots", "pivot_standard", "standard_pivots", "floor_pivots", "pivot_traditional"},
	Doc:     "Floor traders' pivot points: levels of support and resistance from high, low and close of the period before. As at TradingView, whose type Classic is the entry pivot_classic.",
	Formula: "P = (h + l + c) / 3; R1 = 2P - l; S1 = 2P - h; R2, S2 = P ± (h - l); R3 = h + 2(P - l); S3 = l - 2(h - P)",
}, 3, func(p market.Bar, _ float64) []float64 {
	return floorLevels(p, (p.High+p.Low+p.Close)/3)
})

// pivotEntry completes a record of pivot points. levels returns the pivot and
// then, for each of pairs, a resistance and a support, from the whole period
// before and the open of the new one.
func pivotEntry(ind Indicator, pairs int, levels func(before market.Bar, open float64) []float64) Indicator {
	ind.Category, ind.Overlay = Price, true
	ind.Doc += " With period auto, bars up to 15 minutes look at the day before, up to 12 hours the week, up to 3 days the month, longer ones the year, all in UTC. level_touch fires when a bar first reaches a level of its period; breakouts are closes beyond R1 and S1."
	ind.Params = []Param{pivotPeriod()}
	ind.Signals = pivotLabels()
	ind.History = pivotHistory
	names := []string{"P"}
	for k := range pairs {
		digit := string(rune('1' + k))
		names = append(names, "R"+digit, "S"+digit)
	}
	ind.Compute = func(s *market.Series, a Args) *Result { return periodLevels(s, a, names, levels) }
	return ind
}

// periodLevels draws the levels that the whole period before and the open of the new one
// give, under these names: a middle one and then pairs of an upper and a lower one.
func periodLevels(s *market.Series, a Args, names []string, levels func(before market.Bar, open float64) []float64) *Result {
	var lines []Line
	for k, name := range names {
		tone := [2]Tone{Up, Down}[k%2]
		if k == 0 {
			tone = Accent
		}
		lines = append(lines, Line{Label: name, Tone: tone, Style: Step, Values: kernel.NaNs(s.Len())})
	}
	starts := pivotLevels(s, periodOf(a.Choice("period"), s.Interval), lines, levels)
	return &Result{Lines: lines, Signals: pivotSignals(s, lines, starts)}
}

// pivotPeriod returns the parameter that says which period the levels come from.
func pivotPeriod() Param {
	p := choice("period", "whose high, low and close are taken", "auto", "day", "week", "month", "year")
	p.Aliases = []string{"timeframe", "session"}
	return p
}

// pivotLabels returns what pivotSignals may emit.
func pivotLabels() []string {
	return []string{shape.PriceUp, shape.PriceDown, shape.BreakUp, shape.BreakDown, shape.LevelTouch}
}

// pivotHistory covers the whole period before, and this one up to the first bar.
func pivotHistory(a Args, iv market.Interval) int64 {
	return 2 * periodSeconds[periodOf(a.Choice("period"), iv)]
}

// floorLevels returns the levels of the floor traders around pp.
func floorLevels(p market.Bar, pp float64) []float64 {
	return []float64{
		pp, 2*pp - p.Low, 2*pp - p.High, pp + (p.High - p.Low), pp - (p.High - p.Low),
		p.High + 2*(pp-p.Low), p.Low - 2*(p.High-pp),
	}
}

// around returns pp and then centre plus and minus each part of reach. Each part
// gives two levels, in the order of the lines: resistance first.
func around(pp, centre, reach float64, parts ...float64) []float64 {
	out := []float64{pp}
	for _, part := range parts {
		out = append(out, centre+float64(part*reach), centre-float64(part*reach))
	}
	return out
}

// pivotLevels fills in the lines and returns for each bar whether it is the first of
// its period. The levels hold for the whole period, so that nothing repaints.
func pivotLevels(s *market.Series, period string, lines []Line, levels func(market.Bar, float64) []float64) []bool {
	starts := periodStarts(s, period)
	var current market.Bar // the period so far
	var now []float64      // its levels, none in the first
	for i := range starts {
		b := s.Bar(i)
		// The bars of the period are gathered into one. When the next period begins,
		// that one gives its levels; the first period has none before it.
		switch {
		case i == 0:
			current = b
		case starts[i]:
			now = levels(current, b.Open)
			current = b
		default:
			current.High, current.Low, current.Close = max(current.High, b.High), min(current.Low, b.Low), b.Close
		}
		for k, v := range now {
			lines[k].Values[i] = v
		}
	}
	return starts
}

// pivotSignals marks first touches of any level, and closes that cross the
// pivot or leave the first pair. A level that moves with a new period crosses
// nothing.
func pivotSignals(s *market.Series, lines []Line, starts []bool) []Signal {
	var signals []Signal
	// Which levels of this period were touched already.
	touched := make([]bool, len(lines))
	for i := 1; i < s.Len(); i++ {
		// A new period has new levels, none of them touched. The comparisons with NaN,
		// before there are levels, are false.
		for k, l := range lines {
			y := l.Values[i]
			touched[k] = touched[k] && !starts[i]
			if kernel.Difference(s.Low[i], y) <= 0 && kernel.Difference(y, s.High[i]) <= 0 && !touched[k] {
				signals = append(signals, shape.Mark(i, y, shape.LevelTouch, Muted))
				touched[k] = true
			}
		}
		if starts[i] {
			continue
		}
		before, now, p, r1, s1 := s.Close[i-1], s.Close[i], lines[0].Values[i], lines[1].Values[i], lines[2].Values[i]
		// cross marks a close that passes y, or reaches it, from one side to the other.
		cross := func(y float64, up, down string) {
			switch {
			case kernel.Compare(before, y) < 0 && kernel.Compare(now, y) >= 0 && up != "":
				signals = append(signals, shape.Mark(i, y, up, Up))
			case kernel.Compare(before, y) > 0 && kernel.Compare(now, y) <= 0 && down != "":
				signals = append(signals, shape.Mark(i, y, down, Down))
			}
		}
		cross(p, shape.PriceUp, shape.PriceDown)
		cross(r1, shape.BreakUp, "")
		cross(s1, "", shape.BreakDown)
	}
	return signals
}
