package indicators

import (
	"maps"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// chartPatterns are lines and figures through swings.
var chartPatterns = []Indicator{
	{Name: "trend_lines", Title: "Trend lines", Also: "trendlines trend_line auto_trendlines", Category: Pattern, Traits: Overlay,
		Doc:     "Trend lines found from the bars: a falling line through the last two swing highs and a rising one through the last two swing lows, drawn on from where they are known until a close breaks them. Nothing repaints.",
		Formula: "falling: through two swing highs in succession, the second lower, no close between them above the line; broken: close > line",
		Params:  swingParams(5, 200),
		Events:  []Event{emits(BreakUp, BreakDown).meaning("the close rises above the falling line", "the close falls below the rising line")},
		Memory:  structureMemory(2),
		Draw: func(in Input) *Result {
			falling, rising := formed(in, fallingLine)
			upper, _, breaks := follow(in, falling, BreakUp, "")
			_, lower, falls := follow(in, rising, "", BreakDown)
			return &Result{
				Lines:   []Line{{Label: "Resistance", Tone: Down, Values: upper}, {Label: "Support", Tone: Up, Values: lower}},
				Signals: append(breaks, falls...),
			}
		}},
	{Name: "trend_channel", Title: "Channel", Also: "parallel_channel auto_channel price_channel_trend", Category: Pattern, Traits: Overlay,
		Doc:     "Trend channel found from the bars: a line through the last two falling swing highs, or rising swing lows, and its parallel through the furthest extreme between them. Breakouts are closes that leave it. Nothing repaints.",
		Formula: "falling: the line of trend_lines and its parallel through the lowest low between the swings, measured from the line; rising mirrored",
		Params:  swingParams(5, 200),
		Events:  []Event{emits(BreakUp, BreakDown).meaning("the close rises above the channel", "the close falls below the channel")},
		Memory:  structureMemory(2),
		Draw: func(in Input) *Result {
			found, rising := formed(in, fallingChannel)
			maps.Copy(found, rising)
			upper, lower, signals := follow(in, found, BreakUp, BreakDown)
			return &Result{
				Lines: []Line{
					{Label: "Middle", Tone: Muted, Values: kernel.Midway(upper, lower)}, {Label: "Upper", Tone: Band, Values: upper}, {Label: "Lower", Tone: Band, Values: lower},
				},
				Fills: []Fill{{Y1: upper, Y2: lower, Tone: Band}}, Signals: signals,
			}
		}},
	{Name: "double_top_bottom", Title: "Double top/bottom", Also: "double_top double_bottom", Category: Pattern, Traits: Overlay,
		Doc:     "Double tops and bottoms: two swings at nearly the same price with a valley between them. The lines are the tops and the neckline of the newest one in the making; the signal fires when a close goes through the neckline. Nothing repaints.",
		Formula: "|top2 - top1| <= tolerance * R and min(top1, top2) - lowest low between >= depth * R; R: mean true range of 14 bars; complete: close < neckline",
		Params:  append(swingParams(5, 100), tolerance(1), depth(2)),
		Events:  []Event{emits(DoubleTop, DoubleBottom)}, Memory: structureMemory(2),
		Draw: func(in Input) *Result {
			return formations(in, doubleTop, [4]string{"Tops", "Neckline of tops", "Bottoms", "Neckline of bottoms"}, DoubleTop, DoubleBottom)
		}},
	{Name: "head_shoulders", Title: "Head & shoulders", Also: "head_and_shoulders inverse_head_shoulders", Category: Pattern, Traits: Overlay,
		Doc:     "Head and shoulders, and the inverse: three swings of which the middle one stands out and the outer ones are nearly equal. The lines are the head and the neckline of the newest one in the making; the signal fires when a close goes through the neckline. Nothing repaints.",
		Formula: "head - shoulder >= depth * R for both, |shoulder2 - shoulder1| <= tolerance * R; R: mean true range of 14 bars; complete: close < neckline",
		Params:  append(swingParams(5, 150), tolerance(1.5), depth(1)),
		Events:  []Event{emits(HeadShoulders, InverseHeadShoulders)}, Memory: structureMemory(2),
		Draw: func(in Input) *Result {
			return formations(in, headShoulders, [4]string{"Head", "Neckline", "Inverse head", "Inverse neckline"}, HeadShoulders, InverseHeadShoulders)
		}},
	{Name: "triangle", Title: "Triangle", Also: "triangles ascending_triangle descending_triangle", Category: Pattern, Traits: Overlay,
		Doc:     "Triangles: two swing highs and two swing lows in turn between lines that meet, with level or falling highs and level or rising lows. The lines are those of the newest triangle, from the bar that confirms its last swing on; breakouts are closes outside it. Nothing repaints.",
		Formula: "high2 - high1 <= tolerance * R, low2 - low1 >= -tolerance * R, and the lines converge by more than tolerance * R; R: mean true range of 14 bars",
		Params:  append(swingParams(5, 150), tolerance(0.5)),
		Events:  []Event{emits(BreakUp, BreakDown).meaning("the close rises above the triangle", "the close falls below the triangle")},
		Memory:  structureMemory(2),
		Draw: func(in Input) *Result {
			found, usual := make(map[int]formation), trueRangeMean(in.Series)
			turns := allTurns(in.Series, in.Int("left"), in.Int("right"))
			for k, t := range turns {
				if f, ok := triangleOf(turns[:k+1], in.Args, usual[t.known]); ok {
					found[t.known] = f
				}
			}
			upper, lower, signals := follow(in, found, BreakUp, BreakDown)
			return &Result{
				Lines:   []Line{{Label: "Upper", Tone: Down, Values: upper}, {Label: "Lower", Tone: Up, Values: lower}},
				Fills:   []Fill{{Y1: upper, Y2: lower, Tone: Band}},
				Signals: signals,
			}
		}},
	{Name: "flag", Title: "Flag", Also: "flags bull_flag bear_flag pennant", Category: Pattern, Traits: Overlay,
		Doc:     "Flags: a steep move, the pole, and a short rest after it that gives back at most half. The lines are the edge that a close must pass and the furthest that the rest has come back; the signal fires on that close. Nothing repaints.",
		Formula: "pole: high - lowest low of the pole bars before >= height * R at that high; flag: flag to 4 * flag bars within the upper half of the pole; R: mean true range of the 14 bars before the pole",
		Params: []Param{
			factorInt("pole", 8, 1, 100, "most bars of the pole"), factorInt("flag", 5, 2, 100, "least bars of the flag"),
			quiet(factor("height", 4, 0.5, 50, "least height of the pole, in mean true ranges")),
		},
		Events: []Event{emits(FlagUp, FlagDown)}, Memory: after(window("pole"), lengths(4, "flag"), fixed(usualRange+1)),
		Draw: bothSides(top("Bull flag", FlagUp, Up), bottom("Bear flag", FlagDown, Down), flags)},
}

// formation is what swings make: an upper and a lower edge, each the straight line through two
// points, or none.
type formation struct {
	since        int // bar of its last swing
	upper, lower [2]swing
	meet         bool // it ends where the edges meet
}

// edge returns the price of an edge at bar i, NaN if there is none.
func edge(line [2]swing, i int) float64 {
	if line[0].bar == line[1].bar {
		return nan
	}
	return lineThrough(line[0], line[1], i)
}

// levelEdge returns an edge that stays at a price.
func levelEdge(price float64) [2]swing {
	return [2]swing{{bar: 0, price: price}, {bar: 1, price: price}}
}

// formed returns the formations that find sees in the swing highs known so far, the newest last,
// by the bar on which they become known; and those of the bars upside down, turned back. find
// is told the mean true range of that bar too.
func formed(in Input, find func(s *market.Series, highs []swing, a Args, reach float64) (formation, bool)) (tops, bottoms map[int]formation) {
	found := [2]map[int]formation{{}, {}}
	for side, view := range []*market.Series{in.Series, upsideDown(in.Series)} {
		highs, usual := swingHighs(view, in.Int("left"), in.Int("right")), trueRangeMean(in.Series)
		for k := 1; k < len(highs); k++ {
			f, ok := find(view, highs[:k+1], in.Args, usual[highs[k].known])
			if !ok {
				continue
			}
			if side == 1 {
				f.upper, f.lower = f.lower, f.upper
				for _, line := range []*[2]swing{&f.upper, &f.lower} {
					line[0].price, line[1].price = -line[0].price, -line[1].price
				}
			}
			found[side][highs[k].known] = f
		}
	}
	return found[0], found[1]
}

// follow returns the edges of the newest formation at each bar, from the one on which it becomes
// known. A close above the upper edge ends it, with a signal of the label up, and one below the
// lower edge, with the label down; without a label it ends silently. It also ends lookback bars
// after its last swing. The bar that ends it is its last.
func follow(in Input, found map[int]formation, up, down string) (upper, lower []float64, signals []Signal) {
	upper, lower = kernel.NaNs(in.Len()), kernel.NaNs(in.Len())
	var f formation
	live := false
	for i, c := range in.Close {
		before, was := f, live
		if newer, ok := found[i]; ok {
			f, live = newer, true
		}
		hi, lo := edge(f.upper, i), edge(f.lower, i)
		if live = live && i-f.since <= in.Int("lookback") && !(f.meet && kernel.Compare(hi, lo) <= 0); !live {
			continue
		}
		upper[i], lower[i] = hi, lo
		above, below := kernel.Compare(c, hi) > 0, kernel.Compare(c, lo) < 0
		if live = !above && !below; below && down != "" {
			signals = append(signals, Mark(i, lo, down, Down))
		} else if above && up != "" {
			signals = append(signals, Mark(i, hi, up, Up))
		}
		// A line that jumped to another formation is broken, so that nothing joins the two. Only the
		// values of that bar are lost.
		if was && before != f {
			upper[i], lower[i] = nan, nan
		}
	}
	return upper, lower, signals
}

// fallingLine returns the line through the last two swing highs, if it falls and no close
// between them lies above it.
func fallingLine(s *market.Series, highs []swing, a Args, _ float64) (f formation, ok bool) {
	from, to := highs[len(highs)-2], highs[len(highs)-1]
	return formation{since: to.bar, upper: [2]swing{from, to}}, linesUp(s, from, to, a.Int("lookback"))
}

// linesUp reports whether two swing highs make a falling line: at most within bars
// apart, the second one lower, and no close between them above the line.
func linesUp(s *market.Series, from, to swing, within int) bool {
	if to.bar-from.bar > within || kernel.Compare(to.price, from.price) >= 0 {
		return false
	}
	for i := from.bar + 1; i < to.bar; i++ {
		if kernel.Compare(s.Close[i], lineThrough(from, to, i)) > 0 {
			return false
		}
	}
	return true
}

// fallingChannel returns the falling line and its parallel through the low that lies furthest
// below it; the two are one where no low does.
func fallingChannel(s *market.Series, highs []swing, a Args, reach float64) (f formation, ok bool) {
	f, ok = fallingLine(s, highs, a, reach)
	from, to, width := f.upper[0], f.upper[1], 0.0
	for i := from.bar; ok && i <= to.bar; i++ {
		width = min(width, s.Low[i]-lineThrough(from, to, i))
	}
	from.price, to.price = from.price+width, to.price+width
	f.lower = [2]swing{from, to}
	return f, ok
}

// depth returns the parameter that says how far a pattern must stand out.
func depth(def float64) Param {
	return quiet(factor("depth", def, 0, 50, "least height of the pattern, in mean true ranges"))
}

// doubleTop returns the double top that the last of highs completes. Its upper edge is the price
// that ends it, the lower one the neckline. Reach is the mean true range.
func doubleTop(s *market.Series, highs []swing, a Args, reach float64) (f formation, ok bool) {
	first, second := highs[len(highs)-2], highs[len(highs)-1]
	neck := furthest(s.Low, first.bar+1, second.bar-1, -1)
	height := min(first.price, second.price) - neck.price
	ok = second.bar-first.bar <= a.Int("lookback") && nearEqual(first.price, second.price, a.Float("tolerance")*reach) &&
		kernel.Compare(height, a.Float("depth")*reach) >= 0
	return formation{since: second.bar, upper: levelEdge(max(first.price, second.price)), lower: levelEdge(neck.price)}, ok
}

// formations draws the newest pattern in the making on each side, the price that ends it and its
// neckline, which the close that completes it goes through. The names are those of the lines.
func formations(in Input, find func(*market.Series, []swing, Args, float64) (formation, bool), names [4]string, top, bottom string) *Result {
	tops, bottoms := formed(in, find)
	limit, neckline, falls := follow(in, tops, "", top)
	inverse, floor, rises := follow(in, bottoms, bottom, "")
	return &Result{Signals: append(falls, rises...), Lines: []Line{
		{Label: names[0], Tone: Down, Style: Step, Values: limit}, {Label: names[1], Tone: Accent, Values: neckline},
		{Label: names[2], Tone: Up, Style: Step, Values: floor}, {Label: names[3], Tone: Accent, Values: inverse},
	}}
}

// headShoulders returns the pattern that the last of highs completes, as doubleTop does.
func headShoulders(s *market.Series, highs []swing, a Args, reach float64) (f formation, ok bool) {
	if len(highs) < 3 {
		return f, false
	}
	left, head, right := highs[len(highs)-3], highs[len(highs)-2], highs[len(highs)-1]
	least := a.Float("depth") * reach
	ok = right.bar-left.bar <= a.Int("lookback") && nearEqual(left.price, right.price, a.Float("tolerance")*reach) &&
		kernel.Compare(head.price-left.price, least) >= 0 && kernel.Compare(head.price-right.price, least) >= 0
	neckline := [2]swing{furthest(s.Low, left.bar+1, head.bar-1, -1), furthest(s.Low, head.bar+1, right.bar-1, -1)}
	return formation{since: right.bar, upper: levelEdge(head.price), lower: neckline}, ok
}

// triangleOf returns the triangle of the last four turns, if they make one. A
// triangle may have one level side: then the other must converge by more than the
// tolerance alone.
func triangleOf(turns []turn, a Args, reach float64) (f formation, ok bool) {
	if len(turns) < 4 {
		return f, false
	}
	last := turns[len(turns)-4:]
	// Highs and lows must take turns, so there are two of each.
	var highs, lows []swing
	for i, t := range last {
		if i > 0 && t.high == last[i-1].high {
			return f, false
		}
		if t.high {
			highs = append(highs, t.swing)
		} else {
			lows = append(lows, t.swing)
		}
	}
	slack := a.Float("tolerance") * reach
	falls, rises := highs[0].price-highs[1].price, lows[1].price-lows[0].price
	ok = last[3].bar-last[0].bar <= a.Int("lookback") && kernel.Compare(falls, -slack) >= 0 && kernel.Compare(rises, -slack) >= 0 &&
		kernel.Compare(falls+rises, slack) > 0
	return formation{since: last[3].bar, upper: [2]swing(highs), lower: [2]swing(lows), meet: true}, ok
}

// flags follows the flag after the newest pole. One flag at a time: a new pole takes
// the place of the flag under way.
func flags(in Input, of side) *Result {
	least, most := in.Int("flag"), 4*in.Int("flag")
	edge, floor := kernel.NaNs(in.Len()), kernel.NaNs(in.Len())
	poles := poleHeights(in)
	r := &Result{}
	top := -1 // bar of the pole's high, -1 if there is no pole
	for i := range in.Len() {
		if !isNaN(poles[i]) {
			top = i // the newest pole counts
			continue
		}
		if top < 0 {
			continue
		}
		// The furthest that the rest has come back since the pole, and the highest high
		// of the last bars before this one, which this close must pass.
		lowest, upper := slices.Min(in.Low[top+1:i+1]), slices.Max(in.High[min(i-1, max(top+1, i-least)):i])
		if i-top > least { // before that the flag is too short to be drawn or to break out
			edge[i], floor[i] = upper, lowest
		}
		done := i-top > least && kernel.Compare(in.Close[i], upper) > 0
		if done {
			r.Signals = append(r.Signals, Mark(i, upper, of.label, of.tone))
		}
		if done || i-top >= most || kernel.Compare(in.High[i], in.High[top]) > 0 || kernel.Compare(in.High[top]-lowest, poles[top]/2) > 0 {
			top = -1
		}
	}
	lowest, highest := of.edges(" bottom", " top")
	r.Lines = []Line{{Label: highest, Tone: Accent, Style: Step, Values: edge}, {Label: lowest, Tone: of.tone, Style: Step, Values: floor}}
	r.Fills = []Fill{{Y1: edge, Y2: floor, Tone: Band}}
	return r
}

// poleHeights returns the height of the pole that ends at each bar, NaN where
// none does: a high above those of the pole bars before it.
func poleHeights(in Input) []float64 {
	out, usual, n := kernel.NaNs(in.Len()), trueRangeMean(in.Series), in.Int("pole")
	for i := n + 1; i < in.Len(); i++ {
		// The pole may begin at any of the n bars before. Its height is measured by the
		// ranges before all of them, which the pole itself has not widened.
		height := in.High[i] - slices.Min(in.Low[i-n:i])
		if slices.Max(in.High[i-n:i]) <= in.High[i] && usual[i-n-1] > 0 && kernel.Compare(height, in.Float("height")*usual[i-n-1]) >= 0 {
			out[i] = height
		}
	}
	return out
}
