package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// structures are swings and the zones that they leave.
var structures = []Indicator{
	// Of equal neighbours his rule says nothing; here a fractal must exceed them.
	{Name: "fractals", Title: "Fractals", Also: "fractal williams_fractals williams_fractal", Category: Pattern, Traits: Overlay,
		Doc:     "Williams' fractals: a high above, or a low below, all its neighbours. A fractal is known only when its later neighbours have closed; the dot and the signal stand on that bar, side bars after the extreme, at the price of the extreme.",
		Formula: "up: high[side] > every high of the side bars before and after it; down mirrored",
		Params:  []Param{bars("side", 2, "neighbours on each side", "length", "period", "n", "left", "right")},
		Events:  []Event{emits(PivotHigh, PivotLow)}, Memory: lengths(2, "side"),
		Draw: func(in Input) *Result {
			n := in.Int("side")
			return drawSwings(in.Series, n, n, [2]string{"Up", "Down"}, Dots, func(pivots []int, price []float64) []float64 {
				values := kernel.NaNs(len(price))
				for _, bar := range pivots {
					values[bar+n] = price[bar]
				}
				return values
			})
		}},
	{Name: "pivot_high_low", Title: "Swing levels", Also: "pivots_high_low swing_high_low swings swing_highs_lows swing_points", Category: Pattern, Traits: Overlay,
		Doc:     "Swing highs and lows: the price of the last high above, and of the last low below, all its neighbours, from the bar on that confirms it. They serve as resistance and support; signals mark the confirmation.",
		Formula: "high: high[right] > every high of the left bars before and the right bars after it; low mirrored",
		Params:  []Param{bars("left", 10, "bars before a swing that it must exceed", "length"), bars("right", 10, "bars after a swing that it must exceed; it is known so much later")},
		Events:  []Event{emits(PivotHigh, PivotLow)},
		// Swings are that many bars apart on average, but much more in a long trend.
		Memory: Memory{bars: func(a Args) int {
			width := a.Int("left") + a.Int("right")
			return max(width+1, min(30*width, MaxWarmup))
		}},
		Draw: func(in Input) *Result {
			left, right := in.Int("left"), in.Int("right")
			r := drawSwings(in.Series, left, right, [2]string{"High", "Low"}, Step, func(pivots []int, price []float64) []float64 { return lastSwing(pivots, price, right) })
			// A swing that is known is the same for every history that has its bars.
			r.Settles = max(kernel.FirstValid(r.Lines[0].Values), kernel.FirstValid(r.Lines[1].Values))
			return r
		}},
	{Name: "zigzag", Title: "ZigZag", Also: "zz zig_zag", Category: Pattern, Traits: Overlay | Repaints,
		Doc: "Zigzag: straight lines between turning points that lie at least some percent apart. The last leg, and where the line runs between two points, is known only later, so it repaints; " +
			"its signals do not: they stand on the bar where price had come back far enough.",
		Formula: "a high is a turning point once a low is deviation percent below it and depth/2 bars have followed; a low mirrored",
		Params: []Param{
			factor("deviation", 5, 0.01, 99, "percent price must come back", "percent", "threshold"),
			quiet(factorInt("depth", 0, 0, MaxLength, "half as many bars must follow an extreme before it counts")),
		},
		Events: []Event{emits(PivotHigh, PivotLow)},
		// A leg begins at the turn before it; with a small deviation 200 bars hold several.
		Memory: after(window("depth"), fixed(200)),
		Draw: func(in Input) *Result {
			points, signals := turningPoints(in.Series, in.Float("deviation")/100, in.Int("depth")/2)
			line := kernel.NaNs(in.Len())
			for k := 1; k < len(points); k++ {
				from, to := points[k-1], points[k]
				for i := from.bar; i <= to.bar; i++ {
					along := float64(i-from.bar) / float64(to.bar-from.bar)
					line[i] = from.price + float64(along*(to.price-from.price))
				}
			}
			return &Result{Lines: []Line{{Label: "ZigZag", Tone: Primary, Values: line}}, Signals: signals}
		}},
	{Name: "fibonacci_retracement", Title: "Fib", Also: "auto_fib fib fibonacci auto_fib_retracement", Category: Pattern, Traits: Overlay | Repaints,
		Memory:  visible,
		Doc:     "Fibonacci retracements of the swing between the highest high and the lowest low on display: how much of it price has taken back. 0 is the later of the two extremes, 1 the earlier.",
		Formula: "level = end + r * (start - end), r = 0, 0.236, 0.382, 0.5, 0.618, 0.786, 1",
		Params:  []Param{rangeBars()},
		Events:  newestTouch,
		Draw: func(in Input) *Result {
			all := in.Series // touches are looked for at the newest of all
			in.Series = recent(in)
			r := &Result{}
			if in.Len() == 0 {
				return r
			}
			high, low := furthest(in.High, 0, in.Len()-1, 1), furthest(in.Low, 0, in.Len()-1, -1)
			if high.price == low.price {
				return r
			}
			// If both are on one bar it counts as a rise.
			start, end := low.price, high.price
			if low.bar > high.bar {
				start, end = end, start
			}
			for _, part := range []float64{0, 0.236, 0.382, 0.5, 0.618, 0.786, 1} {
				r.HLines = append(r.HLines, HLine{Y: end + float64(part*(start-end)), Label: number(math.Round(1000*part)/10) + "%", Tone: Muted})
			}
			r.Signals = lastTouches(all, r.HLines)
			return r
		}},
	{Name: "market_structure", Title: "Structure", Also: "bos_choch smc structure", Category: Pattern, Traits: Overlay,
		Doc:     "Market structure: the last confirmed swing high and low, and closes beyond them. In the direction of the last break that is a break of structure (bos), against it a change of character (choch). Swings are known a few bars late and do not repaint.",
		Formula: "swing high: above left highs before and right highs after it; break up: close > last swing high, once per swing",
		Params:  []Param{bars("left", 5, "bars before a swing", "length"), bars("right", 5, "bars after a swing; then it is known")},
		// A break depends on the one before, which may be long ago; these bars hold several.
		Memory: after(fixed(300), lengths(20, "left"), lengths(20, "right")),
		Plots:  []Plot{{Label: "Swing high", Tone: Down, Style: Step}, {Label: "Swing low", Tone: Up, Style: Step}}, Events: []Event{own(structureBreaks, BOSUp, BOSDown, ChochUp, ChochDown)},
		Calc: func(in Input) Columns {
			left, right := in.Int("left"), in.Int("right")
			return Columns{lastSwing(only(pivots(in.High, left, right)), in.High, right), lastSwing(other(pivots(in.Low, left, right)), in.Low, right)}
		}},
	{Name: "fair_value_gap", Title: "FVG", Also: "fvg imbalance", Category: Pattern, Traits: Overlay,
		Doc:     "Fair value gaps: prices between the first and the third of three bars that do not overlap. The zones are those of the newest gap on each side that is not filled; a gap is filled when a bar reaches its far edge, and forgotten after some bars. Nothing repaints.",
		Formula: "up: low > high[2], the zone between them; down: high < low[2]; filled: low <= lower edge of an upward gap, high >= upper edge of a downward one",
		Params:  []Param{factor("minimum_size", 0, 0, 100, "smallest gap, in percent of the price", "threshold"), bars("lookback", 200, "bars after which a gap is forgotten")},
		Events:  []Event{emits(GapUp, GapDown, GapFilled)}, Memory: after(window("lookback"), fixed(2)),
		Draw: fairValueGaps},
	// The words are those of traders who follow Michael Huddleston (ICT); the rule
	// is ours, since published ones differ in which bar is the block.
	{Name: "order_block", Title: "Order block", Also: "order_blocks ob smc_order_block", Category: Pattern, Traits: Overlay,
		Doc:     "Order blocks: the last bar against a move that broke the structure. The zones are those of the newest block on each side that no close has gone through. block_touch fires when price first comes back to a block. Nothing repaints.",
		Formula: "up: close > last swing high; block: the last bar with close < open up to the lowest low between that swing and the break; ends: close < its low",
		Params:  swingParams(5, 200),
		Events:  []Event{emits(BlockUp, BlockDown, BlockTouch)}, Memory: structureMemory(3),
		Draw: bothSides(top("Down", BlockDown, Down), bottom("Up", BlockUp, Up), func(in Input, of side) *Result { return orderBlocks(in).result(of) })},
	{Name: "breaker_block", Title: "Breaker", Also: "breaker_blocks breaker", Category: Pattern, Traits: Overlay,
		Doc:     "Breaker blocks: order blocks that a close went through, which then act from the other side: a broken upward block is resistance, a broken downward one support. The zones are those of the newest breaker on each side, until a close goes back through it. Nothing repaints.",
		Formula: "as order_block; up: a downward block whose high a close exceeds; ends: close < its low",
		Params:  swingParams(5, 200),
		Events:  []Event{emits(BreakerUp, BreakerDown)}, Memory: structureMemory(4),
		Draw: bothSides(top("Up", BreakerUp, Up), bottom("Down", BreakerDown, Down), func(in Input, of side) *Result {
			broken := make(map[int][]priceZone)
			for _, z := range orderBlocks(in).ended {
				broken[z.known] = append(broken[z.known], priceZone{low: z.low, high: z.high, known: z.known})
			}
			walk := walkZones(in.Series, in.Int("lookback"), "", func(z *priceZone, i int) bool { return kernel.Compare(in.Close[i], z.low) < 0 },
				func(i int, _ []priceZone) []priceZone { return broken[i] })
			for k := range walk.begun { // broken downward blocks are marked at the edge that the close went through
				walk.begun[k].low = walk.begun[k].high
			}
			return walk.result(of)
		})},
	{Name: "liquidity_sweep", Title: "Sweeps", Also: "liquidity_sweeps stop_hunt liquidity", Category: Pattern, Traits: Overlay,
		Doc:     "Liquidity sweeps: a bar that trades beyond a swing high or low for the first time and closes back inside. The lines are the nearest swings that no bar has traded beyond. Nothing repaints.",
		Formula: "sweep of highs: high > swing high >= close, on the first bar with high > swing high; lows mirrored",
		Params:  swingParams(5, 200),
		Events:  []Event{emits(SweepHigh, SweepLow)}, Memory: structureMemory(1),
		Draw: bothSides(top("Highs", SweepHigh, Down), bottom("Lows", SweepLow, Up), sweeps)},
	{Name: "equal_highs_lows", Title: "EQH/EQL", Also: "eqh_eql equal_highs equal_lows", Category: Pattern, Traits: Overlay,
		Doc:     "Equal highs and lows: two swings in succession at nearly the same price, beyond which stops are thought to rest. The level is drawn from the bar that confirms the second swing until a bar trades beyond it. Nothing repaints.",
		Formula: "|swing high - swing high before| <= tolerance * mean true range of 14 bars; lows mirrored",
		Params:  append(swingParams(5, 200), tolerance(0.2)),
		Events:  []Event{emits(EqualHighs, EqualLows)}, Memory: structureMemory(2),
		Draw: bothSides(top("EQH", EqualHighs, Down), bottom("EQL", EqualLows, Up), equalHighs)},
	// The words are those of Sam Seiden's rally, base and drop; the thresholds are
	// ours, since he gives none.
	{Name: "supply_demand", Title: "Supply/demand", Also: "supply_demand_zones supply_and_demand", Category: Pattern, Traits: Overlay,
		Doc:     "Supply and demand zones: the quiet bars that price left by one large bar. The zones are those of the newest base on each side that no close has gone through; zone_touch fires when price first comes back. Nothing repaints.",
		Formula: "supply: open - close >= impulse * mean true range of the 14 bars before; zone: range of up to base quiet bars before it; ends: close > its high",
		Params: []Param{
			factor("impulse", 1.5, 0.1, 20, "body of the bar that leaves, in mean true ranges"), factorInt("base", 4, 1, 50, "most bars of a base"),
			quiet(bars("lookback", 200, "bars after which a zone is forgotten")),
		},
		Events: []Event{emits(SupplyZone, DemandZone, ZoneTouch)}, Memory: after(window("lookback"), window("base"), fixed(usualRange+1)),
		Draw: bothSides(top("Supply", SupplyZone, Down), bottom("Demand", DemandZone, Up), supplyZones)},
	{Name: "support_resistance", Title: "S/R", Also: "auto_support_resistance sr_levels support_and_resistance", Category: Pattern, Traits: Overlay,
		Doc:     "Support and resistance found from the bars: prices near which several swings turned. The lines are the nearest level above the close and the nearest below it. Breakouts are closes through the level of the bar before, level_touch a bar that reaches it and closes back. Nothing repaints.",
		Formula: "levels: means of groups of at least touches swings, each group no wider than tolerance mean true ranges",
		Params: append(swingParams(5, 300), tolerance(1),
			factorInt("touches", 2, 1, 20, "swings that make a level", "strength")),
		Memory: structureMemory(1),
		Plots:  []Plot{{Label: "Resistance", Tone: Down, Style: Step}, {Label: "Support", Tone: Up, Style: Step}},
		Events: []Event{own(levelBreaks, BreakUp, BreakDown, LevelTouch).meaning(
			"the close rises above the resistance of the bar before", "the close falls below the support of the bar before",
			"the bar reaches a level that the one before did not, and closes back")},
		Calc: func(in Input) Columns { return together(supportResistance(in)) }},
}

// What the studies of structure share. Each rule is written once, for highs, and applied
// to lows by turning the bars upside down. None looks ahead: a swing counts from the bar
// that confirms it. Nothing older than the parameter "lookback" counts, so that a chart
// shows the same wherever its history begins.

// swing is a high above its neighbours, known some bars later.
type swing struct {
	bar, known int
	price      float64
}

// swingHighs returns the swing highs of s in order. They are in the order of their
// bars, in which they also become known.
func swingHighs(s *market.Series, left, right int) []swing {
	var out []swing
	for _, bar := range only(pivots(s.High, left, right)) {
		out = append(out, swing{bar, bar + right, s.High[bar]})
	}
	return out
}

// upsideDown returns s with prices negated: its highs are the lows of s. A negated
// price is exact, so turning back gives the prices of s to the last bit.
func upsideDown(s *market.Series) *market.Series {
	return &market.Series{
		Symbol: s.Symbol, Interval: s.Interval, Time: s.Time, Volume: s.Volume,
		Open: kernel.Scaled(s.Open, -1), High: kernel.Scaled(s.Low, -1), Low: kernel.Scaled(s.High, -1), Close: kernel.Scaled(s.Close, -1),
	}
}

// turn is a swing of either kind.
type turn struct {
	swing
	high bool
}

// allTurns returns the swing highs and lows of s in the order of their bars.
func allTurns(s *market.Series, left, right int) []turn {
	var out []turn
	for _, w := range swingHighs(s, left, right) {
		out = append(out, turn{w, true})
	}
	for _, w := range swingHighs(upsideDown(s), left, right) {
		w.price = -w.price
		out = append(out, turn{w, false})
	}
	slices.SortStableFunc(out, func(a, b turn) int { return a.bar - b.bar })
	return out
}

// side is one of the two sides of a study: how its lines begin and its signals are called.
type side struct {
	name, label string
	tone        Tone
	under       bool // it is computed on the bars upside down
}

func top(name, label string, tone Tone) side    { return side{name, label, tone, false} }
func bottom(name, label string, tone Tone) side { return side{name, label, tone, true} }

// edges returns the names of a lower and an upper line, which change places upside down.
func (of side) edges(lower, upper string) (string, string) {
	if of.under {
		lower, upper = upper, lower
	}
	return of.name + lower, of.name + upper
}

// bothSides draws a study on the bars and on the bars upside down, for the sides that are computed
// there, and returns the lines and signals of both in the prices of the bars.
func bothSides(first, second side, study func(in Input, of side) *Result) func(in Input) *Result {
	return func(in Input) *Result {
		r := &Result{}
		for _, of := range []side{first, second} {
			view, sign := in, 1.0
			if of.under {
				view, sign = Input{upsideDown(in.Series), in.Args}, -1
			}
			// Only lines, fills and signals are turned back: no study of structure has more.
			drawn := study(view, of)
			for _, l := range drawn.Lines { // their fills share these columns
				for i := range l.Values {
					l.Values[i] *= sign
				}
			}
			for k := range drawn.Signals {
				drawn.Signals[k].Y *= sign
			}
			r.Lines, r.Fills, r.Signals = append(r.Lines, drawn.Lines...), append(r.Fills, drawn.Fills...), append(r.Signals, drawn.Signals...)
		}
		return r
	}
}

// swingParams returns the widths of a swing and how long things are remembered.
func swingParams(width, lookback float64) []Param {
	return []Param{
		bars("left", width, "bars before a swing that it must exceed", "length"),
		bars("right", width, "bars after a swing that it must exceed; then it is known"),
		quiet(bars("lookback", lookback, "bars after which a swing or zone is forgotten")),
	}
}

// tolerance returns the parameter that says how near two prices are the same.
func tolerance(def float64) Param {
	return quiet(factor("tolerance", def, 0, 10, "how far apart counts as equal, in average true ranges", "threshold"))
}

// structureMemory is the memory of chains of things in which each may be as old as
// lookback, and for the swing at the beginning. An order block depends on a swing, a breaker
// on a block, and so on; chain is the number of links.
func structureMemory(chain int) Memory {
	return after(lengths(chain, "lookback"), lengths(chain, "left"), lengths(chain, "right"), fixed(usualRange))
}

// usualRange is how many bars make the usual true range of a bar, by which the
// rules measure what is near and what is far.
const usualRange = 14

// trueRangeMean returns the plain mean of the last true ranges. Wilder's average always
// depends on where it began, and a threshold must not.
func trueRangeMean(s *market.Series) []float64 { return kernel.SMA(kernel.TrueRange(s), usualRange) }

// priceZone is a range of prices that counts from the bar known on. Order blocks,
// supply and demand, and fair value gaps are zones.
type priceZone struct {
	low, high  float64
	bar, known int // the bar it comes from, and the bar from which it counts
	touched    bool
}

// zoneWalk is what a walk over the bars with zones on one side of the market finds.
type zoneWalk struct {
	low, high    []float64   // edges of the newest zone at each bar
	begun, ended []priceZone // all there were; those that ended, known from that bar on
	touches      []Signal
}

// walkZones goes over the bars with the zones that count. A zone counts from the bar for which
// begins, which is told the others, returned it, until it is older than age bars or ends says
// so. The first bar that comes up to a zone gives a signal, if touch is a label.
func walkZones(s *market.Series, age int, touch string, ends func(z *priceZone, i int) bool, begins func(i int, open []priceZone) []priceZone) zoneWalk {
	w := zoneWalk{low: kernel.NaNs(s.Len()), high: kernel.NaNs(s.Len())}
	var open []priceZone // the newest last
	for i := range s.Len() {
		kept := 0
		for k := range open {
			z := &open[k]
			if i-z.known > age {
				continue
			}
			if ends(z, i) {
				z.known = i
				w.ended = append(w.ended, *z)
				continue
			}
			// A zone is touched once; its low is the edge that a rising price meets first.
			if touch != "" && !z.touched && kernel.Compare(s.High[i], z.low) >= 0 {
				z.touched = true
				w.touches = append(w.touches, Mark(i, z.low, touch, Muted))
			}
			if kept++; kept <= k {
				open[kept-1] = *z
			}
		}
		open = open[:kept]
		news := begins(i, open)
		open, w.begun = append(open, news...), append(w.begun, news...)
		if n := len(open); n > 0 {
			w.low[i], w.high[i] = open[n-1].low, open[n-1].high
		}
	}
	return w
}

// result draws the edges as a filled zone, and marks where zones began.
func (w zoneWalk) result(of side) *Result {
	lower, upper := of.edges(" low", " high")
	r := &Result{
		Lines:   []Line{{Label: lower, Tone: of.tone, Style: Step, Values: w.low}, {Label: upper, Tone: of.tone, Style: Step, Values: w.high}},
		Fills:   []Fill{{Y1: w.high, Y2: w.low, Tone: of.tone}},
		Signals: slices.Grow(w.touches, len(w.begun)),
	}
	for _, z := range w.begun {
		r.Signals = append(r.Signals, Mark(z.known, z.low, of.label, of.tone))
	}
	return r
}

// lineThrough returns the price at bar i of the straight line through two swings. It
// is taken from the later swing on, near which it is mostly asked for.
func lineThrough(a, b swing, i int) float64 {
	return b.price + float64((b.price-a.price)*(float64(i-b.bar)/float64(b.bar-a.bar)))
}

// isNaN is math.IsNaN, for files that need nothing else of package math.
func isNaN(v float64) bool { return v != v }

// turningPoints returns the alternating highs and lows from which price came
// back by at least a fraction of itself on a bar at least wait bars later, then the extreme of the leg under way;
// and a signal for each on the bar that confirmed it. Of a bar that makes a new
// extreme and comes back within itself the new extreme counts: which came first
// is not known.
func turningPoints(s *market.Series, fraction float64, wait int) (points []swing, signals []Signal) {
	if s.Len() == 0 {
		return nil, nil
	}
	// The extremes of the leg under way. Until the first turn both are followed.
	high, low := swing{bar: 0, price: s.High[0]}, swing{bar: 0, price: s.Low[0]}
	leg := 0 // 1 up, -1 down, 0 not yet known
	for i := 1; i < s.Len(); i++ {
		rises, falls := s.High[i] > high.price, s.Low[i] < low.price
		switch {
		// In a rise, or before the first turn: a new high moves the extreme, a fall far enough confirms it.
		case leg >= 0 && rises:
			high = swing{bar: i, price: s.High[i]}
		case leg >= 0 && i-high.bar >= wait && kernel.Compare(s.Low[i], high.price-float64(fraction*math.Abs(high.price))) <= 0:
			points, signals = append(points, high), append(signals, Mark(i, high.price, PivotHigh, Down))
			leg, low = -1, furthest(s.Low, high.bar+1, i, -1)
			continue
		}
		switch {
		case leg <= 0 && falls:
			low = swing{bar: i, price: s.Low[i]}
		case leg <= 0 && i-low.bar >= wait && kernel.Compare(s.High[i], low.price+float64(fraction*math.Abs(low.price))) >= 0:
			points, signals = append(points, low), append(signals, Mark(i, low.price, PivotLow, Up))
			leg, high = 1, furthest(s.High, low.bar+1, i, 1)
		}
	}
	switch {
	// The extreme so far ends the line, although no bar has confirmed it: this part repaints.
	case leg > 0:
		points = append(points, high)
	case leg < 0:
		points = append(points, low)
	}
	return points, signals
}

// furthest returns the highest price (side 1) or the lowest (side -1) of the bars from and
// to and those between them, the earliest of equals.
func furthest(price []float64, from, to int, side float64) swing {
	at := from
	for i := from; i <= to; i++ {
		if side*price[i] > side*price[at] {
			at = i
		}
	}
	return swing{bar: at, price: price[at]}
}

// drawSwings returns a line for the swing highs and one for the swing lows, of the values that
// are made of them, and marks each swing on the bar on which it becomes known. A high has the
// tone Down: there the price turned down.
func drawSwings(s *market.Series, left, right int, names [2]string, style Style, values func(pivots []int, price []float64) []float64) *Result {
	r := &Result{}
	add := func(pivots []int, price []float64, name, label string, tone Tone) {
		r.Lines = append(r.Lines, Line{Label: name, Tone: tone, Style: style, Values: values(pivots, price)})
		for _, bar := range pivots {
			r.Signals = append(r.Signals, Mark(bar+right, price[bar], label, tone))
		}
	}
	add(only(pivots(s.High, left, right)), s.High, names[0], PivotHigh, Down)
	add(other(pivots(s.Low, left, right)), s.Low, names[1], PivotLow, Up)
	return r
}

// lastSwing returns at each bar the price of the last swing known there.
func lastSwing(pivots []int, price []float64, right int) []float64 {
	out := kernel.NaNs(len(price))
	for k, bar := range pivots {
		// A swing holds until the next one is known, not until it happens.
		until := len(price)
		if k+1 < len(pivots) {
			until = pivots[k+1] + right
		}
		for i := bar + right; i < until; i++ {
			out[i] = price[bar]
		}
	}
	return out
}

// structureBreaks marks the first close beyond each swing.
func structureBreaks(d *drawing) (signals []Signal) {
	high, low := d.of("Swing high"), d.of("Swing low")
	up, down := BOSUp, BOSDown        // what the next break is: the first has no trend to turn
	brokenHigh, brokenLow := nan, nan // swings that were broken already
	for i, c := range d.Close {
		switch {
		case kernel.Compare(c, high[i]) > 0 && high[i] != brokenHigh:
			signals = append(signals, Mark(i, high[i], up, Up))
			up, down, brokenHigh = BOSUp, ChochDown, high[i]
		case kernel.Compare(c, low[i]) < 0 && low[i] != brokenLow:
			signals = append(signals, Mark(i, low[i], down, Down))
			up, down, brokenLow = ChochUp, BOSDown, low[i]
		}
	}
	return signals
}

// fairValueGaps draws the gaps that are at least as large as a part of the price and at most
// lookback bars old. Several gaps may be open at a time; a bar that fills more than one gives
// one signal.
func fairValueGaps(in Input) *Result {
	filled, least := make([]float64, in.Len()), in.Float("minimum_size")/100
	r := bothSides(bottom("Up", GapUp, Up), top("Down", GapDown, Down), func(view Input, of side) *Result {
		ends := func(z *priceZone, i int) bool { return kernel.Compare(view.High[i], z.high) >= 0 }
		walk := walkZones(view.Series, in.Int("lookback"), "", ends, func(i int, _ []priceZone) []priceZone {
			if i < 2 || kernel.Compare(view.High[i], view.Low[i-2]) >= 0 || view.Low[i-2]-view.High[i] < least*in.Close[i] {
				return nil
			}
			return []priceZone{{low: view.High[i], high: view.Low[i-2], known: i}}
		})
		for _, z := range walk.ended {
			filled[z.known] = 1
		}
		for k := range walk.begun { // marked at the edge from which the price came
			walk.begun[k].low = walk.begun[k].high
		}
		return walk.result(of)
	})(in)
	r.Lines[0], r.Lines[1] = r.Lines[1], r.Lines[0] // the lower edge first, which is the upper one upside down
	r.Fills[0].Y1, r.Fills[0].Y2 = r.Fills[0].Y2, r.Fills[0].Y1
	r.Signals = append(toned(Muted, marked(in.Close, GapFilled, "", func(i int) int { return int(filled[i]) })), r.Signals...)
	return r
}

// orderBlocks walks over the downward order blocks of s.
func orderBlocks(in Input) zoneWalk {
	age, lows := in.Int("lookback"), swingHighs(upsideDown(in.Series), in.Int("left"), in.Int("right"))
	next := 0              // first swing low not known yet
	last := swing{bar: -1} // the last known one that is not broken: a swing is broken once
	ends := func(z *priceZone, i int) bool { return kernel.Compare(in.Close[i], z.high) > 0 }
	return walkZones(in.Series, age, BlockTouch, ends, func(i int, open []priceZone) []priceZone {
		for ; next < len(lows) && lows[next].known <= i; next++ {
			last = lows[next]
		}
		// Swing lows come from the bars turned upside down, so their prices are negative.
		from := last.bar
		if from < 0 || i-from > age || kernel.Compare(in.Close[i], -last.price) >= 0 {
			return nil
		}
		last.bar = -1
		// The move began at its highest high, the latest of equal ones.
		top := i
		for k := i; k >= from; k-- {
			if in.High[k] > in.High[top] {
				top = k
			}
		}
		for top >= from && in.Close[top] <= in.Open[top] { // only a rising bar can be a block of a fall
			top--
		}
		// Two breaks may lead to the same bar; it is a block once. A close that has not
		// left the block yet would touch it at once, so it forms none.
		known := slices.ContainsFunc(open, func(z priceZone) bool { return z.bar == top })
		if top < from || known || kernel.Compare(in.Close[i], in.Low[top]) >= 0 {
			return nil
		}
		return []priceZone{{low: in.Low[top], high: in.High[top], bar: top, known: i}}
	})
}

// sweeps follows the swing highs that no bar has traded beyond.
func sweeps(in Input, of side) *Result {
	line := kernel.NaNs(in.Len())
	r := &Result{Lines: []Line{{Label: of.name, Tone: of.tone, Style: Step, Values: line}}}
	highs, next := swingHighs(in.Series, in.Int("left"), in.Int("right")), 0
	var open []swing // not traded beyond
	for i := range in.Len() {
		swept := nan // the highest swing that this bar took
		// One signal, at the highest, stands for all that the bar takes.
		open = slices.DeleteFunc(open, func(w swing) bool {
			taken := kernel.Compare(in.High[i], w.price) > 0
			if taken && !(swept > w.price) {
				swept = w.price
			}
			return taken || i-w.bar > in.Int("lookback")
		})
		// Compare is 0 for NaN, which means that no swing was taken.
		if kernel.Compare(in.Close[i], swept) <= 0 && !isNaN(swept) {
			r.Signals = append(r.Signals, Mark(i, swept, of.label, of.tone))
		}
		// Swings are added after the bar was judged: this bar, one of those that made them
		// known, lies below them.
		for ; next < len(highs) && highs[next].known <= i; next++ {
			if i-highs[next].bar <= in.Int("lookback") {
				open = append(open, highs[next])
			}
		}
		for _, w := range open {
			if !(line[i] <= w.price) { // NaN too
				line[i] = w.price
			}
		}
	}
	return r
}

// equalHighs draws the level of the newest equal highs. Only swings next to each
// other are compared, so a third equal one moves the level on.
func equalHighs(in Input, of side) *Result {
	line, usual := kernel.NaNs(in.Len()), trueRangeMean(in.Series)
	r := &Result{Lines: []Line{{Label: of.name, Tone: of.tone, Style: Step, Values: line}}}
	highs, next := swingHighs(in.Series, in.Int("left"), in.Int("right")), 0
	level, since := nan, 0 // level now, and the bar of its second swing
	for i := range in.Len() {
		if kernel.Compare(in.High[i], level) > 0 || i-since > in.Int("lookback") {
			level = nan
		}
		// Of the swings that become known now, each is compared with the one before it,
		// unless the two, or the newer one and this bar, are too far apart. A level
		// that was passed before it was known never begins.
		for ; next < len(highs) && highs[next].known <= i; next++ {
			if next == 0 || highs[next].bar-highs[next-1].bar > in.Int("lookback") || i-highs[next].bar > in.Int("lookback") {
				continue
			}
			first, second := highs[next-1].price, highs[next].price
			if nearEqual(first, second, in.Float("tolerance")*usual[i]) && !beyond(in.Series, highs[next-1].bar, i, max(first, second)) {
				level, since = max(first, second), highs[next].bar
				r.Signals = append(r.Signals, Mark(i, level, of.label, of.tone))
			}
		}
		line[i] = level
	}
	return r
}

// nearEqual reports whether two prices differ by no more than reach. It is false
// while the reach is not known. The second comparison lets a distance count that
// exceeds the reach by rounding only.
func nearEqual(x, y, reach float64) bool {
	away := max(x-y, y-x)
	// Compare is 0 for NaN, which is why the reach is asked.
	return away <= reach || kernel.Compare(away, reach) == 0 && !isNaN(reach)
}

// beyond reports whether a bar after from, up to to, trades above the price.
func beyond(s *market.Series, from, to int, price float64) bool {
	return slices.ContainsFunc(s.High[from+1:to+1], func(high float64) bool { return kernel.Compare(high, price) > 0 })
}

// supplyZones draws the newest zone that large falling bars left. The threshold is
// the mean of the bars before: a large bar must not raise what it is measured by.
func supplyZones(in Input, of side) *Result {
	usual := trueRangeMean(in.Series)
	ends := func(z *priceZone, i int) bool { return kernel.Compare(in.Close[i], z.high) > 0 }
	walk := walkZones(in.Series, in.Int("lookback"), ZoneTouch, ends, func(i int, _ []priceZone) []priceZone {
		if i == 0 || !(usual[i-1] > 0) || kernel.Compare(in.Open[i]-in.Close[i], in.Float("impulse")*usual[i-1]) < 0 {
			return nil
		}
		// Backwards over the quiet bars before bar i. A close that is still within the base has
		// not left it.
		z := priceZone{known: i, low: math.Inf(1), high: math.Inf(-1)}
		for k := i - 1; k >= max(0, i-in.Int("base")) && kernel.Compare(in.High[k]-in.Low[k], usual[i-1]) <= 0; k-- {
			z.low, z.high, z.bar = min(z.low, in.Low[k]), max(z.high, in.High[k]), k
		}
		if math.IsInf(z.low, 0) || kernel.Compare(in.Close[i], z.low) >= 0 {
			return nil
		}
		return []priceZone{z}
	})
	return walk.result(of)
}

// supportResistance returns the nearest level not below each close, and the
// nearest not above it.
func supportResistance(in Input) (above, below []float64) {
	above, below = kernel.NaNs(in.Len()), kernel.NaNs(in.Len())
	// With one width for both, the order of their bars is that in which they are known and forgotten.
	turns, usual := allTurns(in.Series, in.Int("left"), in.Int("right")), trueRangeMean(in.Series)
	first, next := 0, 0          // the swings that count are turns[first:next]
	var prices, levels []float64 // prices are those of the swings that count, in order
	for i := range in.Len() {
		from, to := first, next
		for ; next < len(turns) && turns[next].known <= i; next++ {
			at, _ := slices.BinarySearch(prices, turns[next].price)
			prices = slices.Insert(prices, at, turns[next].price)
		}
		for ; first < next && i-turns[first].bar > in.Int("lookback"); first++ {
			at, _ := slices.BinarySearch(prices, turns[first].price)
			prices = slices.Delete(prices, at, at+1)
		}
		// Measured where the newest swing became known, so that the levels stay until the
		// swings change.
		if from != first || to != next {
			levels = levelsOf(prices, in.Float("tolerance")*usual[turns[next-1].known], in.Int("touches"))
		}
		// One that the price stands on is both, so that the next close passes it.
		for _, y := range levels {
			side := kernel.Compare(y, in.Close[i])
			if side <= 0 {
				below[i] = y
			}
			if side >= 0 {
				above[i] = y
				break
			}
		}
	}
	return above, below
}

// levelsOf returns the levels that swings at these prices make, which are in order: those that as
// many as touches lie within reach of.
func levelsOf(prices []float64, reach float64, touches int) []float64 {
	var levels []float64
	for from := 0; from < len(prices); {
		to, sum := from, 0.0 // sum of distances from the lowest
		for ; to < len(prices) && (to == from || nearEqual(prices[to], prices[from], reach)); to++ {
			sum += prices[to] - prices[from]
		}
		if to-from >= touches {
			levels = append(levels, prices[from]+sum/float64(to-from))
		}
		from = to
	}
	return levels
}

// levelBreaks marks closes through the levels of the bar before, since a close through one makes
// it the nearest on the other side, and bars that reach one, which the bar before did not, and
// close back.
func levelBreaks(d *drawing) []Signal {
	s, up, down := d.Series, kernel.Shift(d.of("Resistance"), 1), kernel.Shift(d.of("Support"), 1)
	way := func(i int) int {
		return either(kernel.Compare(s.Close[i], up[i]) > 0, kernel.Compare(s.Close[i], down[i]) < 0)
	}
	back := func(i int) int { // a NaN compares as equal and gives none
		if i == 0 || way(i) != 0 {
			return 0
		}
		return either(kernel.Compare(s.High[i], up[i]) >= 0 && kernel.Compare(s.High[i-1], up[i]) < 0,
			kernel.Compare(s.Low[i], down[i]) <= 0 && kernel.Compare(s.Low[i-1], down[i]) > 0)
	}
	touches := append(marked(up, LevelTouch, "", back), marked(down, "", LevelTouch, back)...)
	return slices.Concat(marked(up, BreakUp, "", way), marked(down, "", BreakDown, way), toned(Muted, touches))
}
