package indicators

import (
	"cmp"
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// trends measure the direction and the strength of a trend.
var trends = []Indicator{
	{Name: "plus_di", Title: "+DI", Also: "pdi di_plus", Category: Trend, Form: turning,
		Doc:     "Wilder's plus directional indicator: upward movement in percent of the true range. As in TA-Lib; with length 1 a fraction, not a percentage.",
		Formula: "+DI = 100 * +DM(n) / TR(n)",
		Params:  []Param{length(14)}, Memory: wilder("length"),
		Line: func(in Input) []float64 { return only(kernel.DirectionalIndicators(in.Series, in.Int("length"))) }},
	{Name: "minus_di", Title: "-DI", Also: "mdi di_minus", Category: Trend, Form: turning,
		Doc:     "Wilder's minus directional indicator: downward movement in percent of the true range. As in TA-Lib; with length 1 a fraction, not a percentage.",
		Formula: "-DI = 100 * -DM(n) / TR(n)",
		Params:  []Param{length(14)}, Memory: wilder("length"),
		Line: func(in Input) []float64 { return other(kernel.DirectionalIndicators(in.Series, in.Int("length"))) }},
	{Name: "plus_dm", Title: "+DM", Also: "dm_plus", Category: Trend, Form: turning,
		Doc:     "Wilder's plus directional movement: how far highs reach above the high before, where lows reach out less. A decaying sum over n bars, in price. As in TA-Lib.",
		Formula: "+DM(n) = +DM(n)[1] - +DM(n)[1]/n + d, d = high - high[1] if that is positive and more than low[1] - low, else 0",
		Params:  []Param{length(14)}, Memory: wilder("length"),
		Line: func(in Input) []float64 {
			return kernel.WilderSum(only(kernel.Movements(in.Series)), in.Int("length"))
		}},
	{Name: "minus_dm", Title: "-DM", Also: "dm_minus", Category: Trend, Form: turning,
		Doc:     "Wilder's minus directional movement: how far lows reach below the low before, where highs reach out less. A decaying sum over n bars, in price. As in TA-Lib.",
		Formula: "-DM(n) = -DM(n)[1] - -DM(n)[1]/n + d, d = low[1] - low if that is positive and more than high - high[1], else 0",
		Params:  []Param{length(14)}, Memory: wilder("length"),
		Line: func(in Input) []float64 {
			return kernel.WilderSum(other(kernel.Movements(in.Series)), in.Int("length"))
		}},
	{Name: "adx", Title: "ADX", Also: "dmi average_directional_index directional_movement", Category: Trend,
		Doc: "Wilder's average directional index, the strength of the trend, with +DI and -DI, its direction. As in TA-Lib, which seeds the sums of movement with n-1 bars; " +
			"the variant pine seeds averages with n, as TradingView. After about 200 bars the two agree.",
		Formula: "±DI = 100 * ±DM(n) / TR(n); DX = 100 * |+DI - -DI| / (+DI + -DI); ADX = Wilder average of DX",
		Params: []Param{
			lengthFrom(2, 14), choice("variant", "whose seeds", "talib", "pine"), quiet(factorInt("smoothing", 0, 0, MaxLength, "bars of the average of DX, 0 for the length")),
			quiet(factor("threshold", 25, 0, 100, "ADX from which a crossing counts", "level", "trend")),
		},
		// The ADX smooths what was smoothed already, so its start is forgotten later than
		// that of one Wilder average.
		Memory: lengths(32, "length", "smoothing"),
		Plots:  []Plot{mainly("ADX"), {Label: "+DI", Tone: Up}, {Label: "-DI", Tone: Down}}, Levels: func(a Args) []float64 { return []float64{a.Float("threshold"), 20} },
		// Crossings count in a market that trends; a NaN, before the ADX begins, is no trend.
		Events: []Event{own(func(d *drawing) []Signal {
			adx, level := d.of("ADX"), d.Float("threshold")
			signals := crossings(d.of("+DI"), d.of("-DI"), CrossUp, CrossDown)
			return slices.DeleteFunc(signals, func(sig Signal) bool { return !(adx[sig.Bar] >= level) })
		}, CrossUp, CrossDown).meaning(
			"+DI crosses -DI from below while the ADX is not below its threshold",
			"+DI crosses -DI from above while the ADX is not below its threshold")},
		Calc: func(in Input) Columns {
			plus, minus, adx := kernel.Directional(in.Series, in.Int("length"), cmp.Or(in.Int("smoothing"), in.Int("length")), in.Choice("variant"))
			return Columns{adx, plus, minus}
		}},
	{Name: "adxr", Title: "ADXR", Also: "average_directional_index_rating", Category: Trend, Form: trending,
		Doc:     "Directional movement rating: the mean of the ADX now and n-1 bars ago. As in TA-Lib.",
		Formula: "ADXR = (ADX + ADX[n-1]) / 2",
		// One length more than the ADX: the older of the two values lies so far back.
		Memory: lengths(33, "length"), Params: []Param{lengthFrom(2, 14)},
		Line: func(in Input) []float64 {
			n := in.Int("length")
			_, _, adx := kernel.Directional(in.Series, n, n, "talib")
			return kernel.Midway(adx, kernel.Shift(adx, n-1))
		}},
	{Name: "dx", Title: "DX", Also: "directional_movement_index", Category: Trend, Form: trending,
		Doc:     "Directional movement index: how far +DI and -DI lie apart, 0 to 100. Its Wilder average is the ADX. As in TA-Lib.",
		Formula: "DX = 100 * |+DI - -DI| / (+DI + -DI)",
		Memory:  wilder("length"), Params: []Param{lengthFrom(2, 14)},
		Line: func(in Input) []float64 {
			return kernel.DirectionalIndex(kernel.DirectionalIndicators(in.Series, in.Int("length")))
		}},
	{Name: "aroon", Title: "Aroon", Category: Trend,
		Doc:     "Chande's Aroon: how recent the highest high and the lowest low of the last n+1 bars are, 100 for this bar, 0 for n bars ago. As in TA-Lib and TradingView.",
		Formula: "up = 100 * (n - bars since highest high) / n; down with the lowest low",
		Params:  []Param{length(14), quiet(factor("strong", 70, 0, 100, "upper level", "upper")), quiet(factor("weak", 30, 0, 100, "lower level", "lower"))},
		Plots:   []Plot{{Label: "Up", Tone: Up}, {Label: "Down", Tone: Down}}, Events: []Event{lines("Up", "Down").crossedBy("Up", "Down")}, Levels: func(a Args) []float64 { return []float64{a.Float("strong"), a.Float("weak")} }, Between: [2]float64{0, 100},
		Calc: func(in Input) Columns { return together(aroon(in.Series, in.Int("length"))) }},
	{Name: "aroonosc", Title: "Aroon Osc", Also: "aroon_oscillator aroon_osc", Category: Trend, Form: aroundZero,
		Doc:     "Aroon oscillator: Aroon up less Aroon down, -100 to 100. As in TA-Lib.",
		Formula: "Aroon oscillator = Aroon up - Aroon down",
		Params:  []Param{length(14)}, Levels: constant(50, 0, -50), Between: [2]float64{-100, 100},
		Line: func(in Input) []float64 { return kernel.Minus(aroon(in.Series, in.Int("length"))) }},
	{Name: "vortex", Title: "Vortex", Also: "vi vortex_indicator", Category: Trend,
		Doc:     "Vortex of Botes and Siepman: how far highs climb from the low before, and lows fall from the high before, each in parts of the true range. The upper line leads the trend.",
		Formula: "VI+ = Σ|high - low[1]| / ΣTR, VI- = Σ|low - high[1]| / ΣTR over n bars",
		Params:  []Param{length(14)},
		Plots:   []Plot{{Label: "VI+", Tone: Up}, {Label: "VI-", Tone: Down}}, Events: []Event{lines("VI+", "VI-").crossedBy("VI+", "VI-")}, Levels: constant(1),
		Calc: func(in Input) Columns {
			n := in.Int("length")
			ups, downs := kernel.Absolute(kernel.Minus(in.High, kernel.Shift(in.Low, 1))), kernel.Absolute(kernel.Minus(in.Low, kernel.Shift(in.High, 1)))
			// Windows without range have no value.
			span := kernel.RollingSum(kernel.TrueRange(in.Series), n)
			return Columns{kernel.Quotient(kernel.RollingSum(ups, n), span), kernel.Quotient(kernel.RollingSum(downs, n), span)}
		}},
	{Name: "ichimoku", Title: "Ichimoku", Also: "ichi ikh ichimoku_cloud ichimoku_kinko_hyo", Category: Trend, Traits: Overlay,
		Doc: "Ichimoku Kinko Hyo: conversion and base line, the middles of the range of 9 and 26 bars, and the cloud between two leading spans. As at TradingView the cloud is moved forward: a bar shows the spans computed " +
			"displacement-1 bars before it, so nothing here looks ahead. twist_up and twist_down fire where the spans cross, that is when the cloud to come changes colour. The lagging span is the close, " +
			"drawn displacement-1 bars before its own; its crossings are signals of the entry chikou.",
		Formula: "conversion = (max(high, 9) + min(low, 9)) / 2; base the same of 26; span A = (conversion + base) / 2; span B = the same of 52",
		Params:  []Param{bars("conversion", 9, "conversion line"), bars("base", 26, "base line"), bars("span_b", 52, "second leading span"), displacement()},
		Events:  []Event{emits(CrossUp, CrossDown, CloudUp, CloudDown, TwistUp, TwistDown)},
		Memory:  after(window("conversion", "base", "span_b"), window("displacement")),
		Draw: func(in Input) *Result {
			conversion, base := kernel.MidRange(in.Series, in.Int("conversion")), kernel.MidRange(in.Series, in.Int("base"))
			spanA, spanB := kernel.Midway(conversion, base), kernel.MidRange(in.Series, in.Int("span_b"))
			// The spans as they are computed now are the cloud to come, whose part beyond the last bar
			// is kept. After the shift they are the cloud of this bar.
			aheadA, aheadB := lastOf(spanA, in.Int("displacement")-1), lastOf(spanB, in.Int("displacement")-1)
			cloudA, cloudB := kernel.Shift(spanA, in.Int("displacement")-1), kernel.Shift(spanB, in.Int("displacement")-1)
			return &Result{
				Lines: []Line{
					{Label: "Conversion", Tone: Primary, Values: conversion}, {Label: "Base", Tone: Second, Values: base},
					{Label: "Span A", Tone: Up, Values: cloudA, Ahead: aheadA}, {Label: "Span B", Tone: Down, Values: cloudB, Ahead: aheadB},
					{Label: "Lagging", Tone: Accent, Values: in.Close, Back: drawnBack(in.Args)},
				},
				Fills: []Fill{{Y1: cloudA, Y2: cloudB, Tone: Up, Below: Down, Ahead1: aheadA, Ahead2: aheadB}},
				Signals: slices.Concat(crossings(conversion, base, CrossUp, CrossDown), crossings(spanA, spanB, TwistUp, TwistDown),
					crossings(in.Close, kernel.Greater(cloudA, cloudB), CloudUp, ""), crossings(in.Close, kernel.Lesser(cloudA, cloudB), "", CloudDown)),
			}
		}},
	{Name: "chikou", Title: "Chikou", Also: "chikou_span lagging_span", Category: Trend, Traits: Overlay,
		Doc:     "Lagging span of Ichimoku: the close, drawn displacement-1 bars before its own, as at TradingView, to compare two prices by eye. The values are those of their own bars, so nothing looks ahead. The signals fire where the close crosses the close it is compared with.",
		Formula: "chikou = close, drawn displacement - 1 bars back",
		Params:  []Param{displacement()}, Memory: window("displacement"),
		Plots: []Plot{{Label: "Chikou", Tone: Accent, Back: drawnBack}}, Events: []Event{own(func(d *drawing) []Signal {
			return crossings(d.Close, kernel.Shift(d.Close, drawnBack(d.Args)), PriceUp, PriceDown)
		}, PriceUp, PriceDown).crossedBy("the close", "the one that lies displacement - 1 bars back")},
		Calc: func(in Input) Columns { return Columns{in.Close} }},
	{Name: "vhf", Title: "VHF", Also: "vertical_horizontal_filter", Category: Trend,
		Doc:     "Vertical horizontal filter of White: the range of the closes over the way they went. High in a trend, low in a range. The range is that of the last n closes, one fewer than the n changes join.",
		Formula: "VHF = (highest - lowest of the last n closes) / Σ|Δclose| over n changes",
		Params:  []Param{length(28), quiet(factor("level", 0.35, 0, 1, "level of a trend", "threshold")), source()},
		Plots:   []Plot{mainly("VHF")}, Events: []Event{levelOf("VHF", "level", 1, ModeTrend, ModeCycle)}, Levels: func(a Args) []float64 { return []float64{a.Float("level")} },
		Of: func(x []float64, n int) []float64 {
			return kernel.Ratio(kernel.Minus(kernel.Highest(x, n), kernel.Lowest(x, n)), kernel.RollingSum(kernel.Absolute(kernel.Change(x, 1)), n), 1)
		}},
	{Name: "chop_zone", Title: "Chop Zone", Also: "chopzone", Category: Trend,
		Doc:     "Chop zone: the angle at which an exponential average climbs, in degrees, with a bar of time as wide as a 25th of the range of 30 bars is high. Beyond 5 degrees the market trends; between it chops. The angle is what TradingView's colours stand for.",
		Formula: "angle = atan((EMA - EMA[1]) / hlc3 * 25 * lowest low / (highest high - lowest low)) in degrees",
		Params:  []Param{bars("length", 30, "bars of the range", "period", "len", "window"), bars("ema", 34, "exponential average"), quiet(factor("level", 5, 0, 90, "degrees of a trend", "threshold"))},
		Memory:  after(window("length"), ema("ema")),
		Plots:   []Plot{histogram("Angle")}, Events: []Event{goesBeyond("Angle", "the angle"), zero("Angle")}, Levels: plusMinus,
		Calc: func(in Input) Columns {
			n := in.Int("length")
			hi, lo, step, price := kernel.Highest(in.High, n), kernel.Lowest(in.Low, n), kernel.Change(kernel.EMA(in.Close, in.Int("ema")), 1), kernel.TypicalPrice(in.Series)
			out := kernel.NaNs(in.Len())
			for i := max(kernel.FirstValid(hi), kernel.FirstValid(step)); i < len(out); i++ {
				out[i] = 0
				if hi[i] > lo[i] && price[i] > 0 {
					out[i] = math.Atan(step[i]/price[i]*25*lo[i]/(hi[i]-lo[i])) * 180 / math.Pi
				}
			}
			return Columns{out}
		}},
	{Name: "choppiness", Title: "CHOP", Also: "chop choppiness_index", Category: Volatility, Traits: Beyond,
		Doc: "Choppiness index of Dreiss: how much of their way bars lose within their range. 0 to 100, and more across gaps, which count as way but not as range. Above 61.8 the market goes sideways, below 38.2 it trends. As at TradingView; " +
			"the variant true_range measures the range from gap to gap, with the close before each bar.",
		Formula: "CHOP = 100 * log(ΣTR / (highest high - lowest low)) / log(n) over n bars",
		Params: []Param{
			lengthFrom(2, 14), choice("variant", "what counts as the range", "high_low", "true_range"),
			quiet(factor("lower", 38.2, 0, 100, "level of a trend")), quiet(factor("upper", 61.8, 0, 100, "level of a sideways market")),
		},
		Plots: []Plot{mainly("CHOP")}, Events: []Event{levelOf("CHOP", "lower", 1, "", ModeTrend), levelOf("CHOP", "upper", 1, ModeCycle, "")}, Levels: func(a Args) []float64 { return []float64{a.Float("upper"), 50, a.Float("lower")} }, Between: [2]float64{0, 100},
		Calc: func(in Input) Columns {
			n, hi, lo := in.Int("length"), in.High, in.Low
			if in.Choice("variant") == "true_range" {
				// The first bar has no close before it and drops out with the NaN.
				before := kernel.Shift(in.Close, 1)
				hi, lo = kernel.Greater(hi, before), kernel.Lesser(lo, before)
			}
			way, reach := kernel.RollingSum(kernel.TrueRange(in.Series), n), kernel.Minus(kernel.Highest(hi, n), kernel.Lowest(lo, n))
			straight := math.Log(float64(n))
			return Columns{kernel.Each(kernel.Quotient(way, reach), func(v float64) float64 {
				if v > 0 {
					return 100 * math.Log(v) / straight
				}
				return nan
			})}
		}},
	{Name: "qstick", Title: "QStick", Also: "q_stick", Category: Momentum, Form: aroundZero,
		Doc:     "QStick of Chande: the average body of the last candles, above zero when they rose on balance.",
		Formula: "QStick = SMA(close - open, n)",
		Params:  []Param{length(14)},
		Line:    func(in Input) []float64 { return kernel.SMA(kernel.Minus(in.Close, in.Open), in.Int("length")) }},
	{Name: "correlation_trend", Title: "CTI", Also: "cti trend_strength_index correlation_trend_indicator", Category: Trend,
		Doc:     "Correlation trend indicator of Ehlers: how well the prices of the window lie on a straight line, 1 rising, -1 falling, 0 without trend or movement.",
		Formula: "CTI = correlation of x with time over n bars",
		Params:  []Param{lengthFrom(2, 12), quiet(factor("level", 0.5, 0, 1, "level of a trend", "threshold")), source()},
		Plots:   []Plot{mainly("CTI")}, Events: []Event{goesBeyond("CTI", "the line"), zero("CTI")}, Levels: plusMinus, Between: [2]float64{-1, 1},
		Of: func(x []float64, n int) []float64 {
			// A correlation is a slope measured in deviations on both axes.
			// The deviation of the numbers 1 to n is the root of (n² - 1)/12.
			perBar := math.Sqrt((float64(n)*float64(n) - 1) / 12)
			return kernel.Clamp(kernel.Ratio(other(kernel.Regression(x, n)), kernel.StdDev(x, n), perBar), -1, 1)
		}},
	{Name: "efficiency_ratio", Title: "ER", Also: "er kaufman_efficiency", Category: Statistics,
		Doc:     "Kaufman's efficiency ratio: how far price got, as a share of the way it went, over n changes. 1 is a straight line, 0 no progress; a price that did not move has no ratio.",
		Formula: "ER = |x - x[n]| / Σ |x - x[1]| over n bars",
		Params:  []Param{length(10), source()},
		Plots:   []Plot{mainly("ER")}, Events: []Event{crossesAt("ER", 0.6, ModeTrend, ""), crossesAt("ER", 0.3, "", ModeCycle)}, Levels: constant(0.6, 0.3), Between: [2]float64{0, 1},
		Calc: func(in Input) Columns {
			x, n := in.source(), in.Int("length")
			way := kernel.RollingSum(kernel.Absolute(kernel.Change(x, 1)), n)
			// Between 0.3 and 0.6 the market keeps the mode it was in. Rounding could exceed 1.
			return Columns{kernel.Clamp(kernel.Quotient(kernel.Absolute(kernel.Change(x, n)), way), 0, 1)}
		}},
	{Name: "td_sequential", Title: "TD", Also: "td_seq tds td_setup", Category: Pattern, Traits: Overlay,
		Doc: "DeMark's sequential, the plain counts. A buy setup is nine closes in a row, each below the one four bars before; after it a countdown counts closes at or below the low two bars before, " +
			"not necessarily in a row, to thirteen, unless a sell setup is completed first. Selling mirrored. A signal stands on the last bar of each.",
		Formula: "setup: close < close[4], 9 in a row; countdown: close <= low[2], 13 in all",
		Params:  []Param{factorInt("setup", 9, 2, 50, "closes in a row of a setup"), factorInt("countdown", 13, 2, 50, "closes of a countdown")},
		// A countdown may take long; after this many bars a newer setup has decided.
		Memory: after(lengths(20, "setup"), lengths(20, "countdown")),
		Plots:  []Plot{}, Events: []Event{own(func(d *drawing) []Signal { return sequential(d.Series, d.Int("setup"), d.Int("countdown")) }, SetupBuy, SetupSell, CountdownBuy, CountdownSell)},
		Calc: func(in Input) Columns { return Columns{} }},
}

// only and other return the first and the second of two columns.
func only[T any](a, _ T) T  { return a }
func other[T any](_, b T) T { return b }

// Wilder's directional movement: of two bars, which one reaches further out on
// which side, smoothed and set in proportion to the true range.

// trending completes the record of one line for the strength of a trend, 0 to 100. It
// marks where the line passes 25, from which a market counts as trending. The two lines at
// 25 and 20 are the levels that Wilder's readers use.
func trending(ind *Indicator, label string) {
	ind.Levels = constant(25, 20)
	panel(crossesAt(label, 25, ModeTrend, ModeCycle))(ind, label)
}

// aroon returns how recent the extremes of the last n+1 bars are. Of equal
// extremes the latest counts.
func aroon(s *market.Series, n int) (up, down []float64) {
	up, down = kernel.Unknown(s.Len(), n), kernel.Unknown(s.Len(), n)
	hi, lo := kernel.ExtremeAt(s.High, n+1, 1, true), kernel.ExtremeAt(s.Low, n+1, -1, true)
	for i := n; i < s.Len(); i++ {
		up[i] = 100 * float64(n-(i-hi[i])) / float64(n)
		down[i] = 100 * float64(n-(i-lo[i])) / float64(n)
	}
	return up, down
}

// displacement returns how far the cloud is moved forward. As at TradingView this bar
// counts, so 26 is a shift by 25.
func displacement() Param {
	return bars("displacement", 26, "bars the cloud is moved, this bar counted", "offset", "shift")
}

// drawnBack returns how far the lagging span is moved back. As for the cloud this bar counts.
func drawnBack(a Args) int { return a.Int("displacement") - 1 }

// lastOf returns the last n values of x, or all when there are fewer: what a
// shift by n moves beyond the last bar.
func lastOf(x []float64, n int) []float64 { return x[max(0, len(x)-n):] }

// sequential counts setups and the countdown that the last completed one began, perhaps on the same
// bar. A setup in the same direction does not start a countdown anew. One countdown runs at a time.
func sequential(s *market.Series, setup, countdown int) []Signal {
	var signals []Signal
	run := kernel.Streak(s.Close, 4)
	way, count := 0, 0 // side and state of the countdown
	for i := 4; i < s.Len(); i++ {
		// A setup is complete on one bar, also if the run goes on.
		switch int(run[i]) {
		case -setup:
			signals = append(signals, Mark(i, s.Low[i], SetupBuy, Up))
			if way <= 0 {
				way, count = 1, 0
			}
		case setup:
			signals = append(signals, Mark(i, s.High[i], SetupSell, Down))
			if way >= 0 {
				way, count = -1, 0
			}
		}
		if way > 0 && s.Close[i] <= s.Low[i-2] || way < 0 && s.Close[i] >= s.High[i-2] {
			count++
		}
		if way == 0 || count < countdown {
			continue
		}
		if way > 0 {
			signals = append(signals, Mark(i, s.Low[i], CountdownBuy, Up))
		} else {
			signals = append(signals, Mark(i, s.High[i], CountdownSell, Down))
		}
		way, count = 0, 0
	}
	return signals
}
