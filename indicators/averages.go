package indicators

import (
	"math"
	"slices"
	"strconv"

	"wick/indicators/kernel"
	"wick/market"
)

// averages are lines over the price that follow it. The first depend on their length and the
// price alone: their signals are the closes that cross them, or their turns if they are smooth enough.
var averages = []Indicator{
	{Name: "sma", Title: "SMA", Also: "moving_average simple_ma moving_average_simple", Category: Trend, Form: movable,
		Doc:     "Simple moving average: the mean of the last prices. As in TA-Lib, with TradingView's usual length.",
		Formula: "SMA = (x[0] + … + x[n-1]) / n",
		Params:  []Param{length(20), source(), offset()}, Memory: after(averageOf("sma", "length"), window("offset")), Of: kernel.SMA},
	{Name: "ema", Title: "EMA", Also: "exp_ma xma exponential_ma exponential_moving_average moving_average_exponential", Category: Trend, Form: movable,
		Doc:     "Exponential moving average: every older price weighs less by the same factor. As in TA-Lib, seeded with the mean of the first n prices.",
		Formula: "EMA = EMA[1] + 2/(n+1) * (x - EMA[1])",
		Params:  []Param{length(20), source(), offset()}, Memory: after(averageOf("ema", "length"), window("offset")), Of: kernel.EMA},
	{Name: "wma", Title: "WMA", Also: "lwma linear_weighted weighted_ma weighted_moving_average moving_average_weighted", Category: Trend, Form: movable,
		Doc:     "Weighted moving average: weights fall in a straight line from the newest price to the oldest. As in TA-Lib.",
		Formula: "WMA = (n*x[0] + (n-1)*x[1] + … + x[n-1]) / (n*(n+1)/2)",
		Params:  []Param{length(20), source(), offset()}, Memory: after(averageOf("wma", "length"), window("offset")), Of: kernel.WMA},
	{Name: "dema", Title: "DEMA", Also: "double_ema moving_average_double", Category: Trend, Form: crossed,
		Doc:     "Double exponential average: twice an exponential average less the average of it, which cancels most of its lag. As in TA-Lib.",
		Formula: "DEMA = 2*EMA(x) - EMA(EMA(x))",
		Params:  []Param{length(20), source()}, Memory: averageOf("dema", "length"), Of: kernel.DEMA},
	{Name: "tema", Title: "TEMA", Also: "triple_ema moving_average_triple", Category: Trend, Form: crossed,
		Doc:     "Triple exponential average: three exponential averages in a row, combined so that most of the lag cancels. As in TA-Lib.",
		Formula: "TEMA = 3*e1 - 3*e2 + e3, e1 = EMA(x), e2 = EMA(e1), e3 = EMA(e2)",
		Params:  []Param{length(20), source()}, Memory: averageOf("tema", "length"), Of: kernel.TEMA},
	{Name: "trima", Title: "TRIMA", Also: "triangular_ma tma", Category: Trend, Form: crossed,
		Doc:     "Triangular average: a simple average of a simple average, so that the middle of the window weighs most. As in TA-Lib.",
		Formula: "TRIMA = SMA(SMA(x, (n+1)/2), n/2+1), divisions rounded down",
		Params:  []Param{length(20), source()}, Memory: averageOf("trima", "length"), Of: kernel.TRIMA},
	{Name: "rma", Title: "RMA", Also: "smma wilder wilders wilder_ma wsma modified_ma smoothed_ma smoothed_moving_average", Category: Trend, Form: crossed,
		Doc:     "Wilder's smoothed moving average, the one inside RSI and ATR: slower than an exponential average of the same length. Seeded with the mean of the first values, as TradingView's ta.rma.",
		Formula: "RMA = RMA[1] + (x - RMA[1]) / n",
		Params:  []Param{length(14), source()}, Memory: averageOf("rma", "length"), Of: kernel.RMA},
	{Name: "zlema", Title: "ZLEMA", Also: "zlma zero_lag_ema zero_lag", Category: Trend, Form: crossed,
		Doc:     "Zero lag exponential average: an exponential average of the price plus its change over half the length, which cancels most of the lag. Seeded as in Tulip, with the last price before the lag is full.",
		Formula: "ZLEMA = EMA(2x - x[lag]), lag = (n-1)/2 rounded down",
		Params:  []Param{length(20), source()}, Memory: ema("length"), Of: zlema},
	{Name: "tsf", Title: "TSF", Also: "time_series_forecast", Category: Trend, Form: crossed,
		Doc:     "Time series forecast: the least-squares line through the last prices, one bar further. As in TA-Lib.",
		Formula: "TSF = a + b*n, a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
		Params:  []Param{lengthFrom(2, 14), source()},
		Of: func(x []float64, n int) []float64 {
			end, slope := kernel.Regression(x, n)
			return kernel.Offset(end, slope, 1)
		}},
	{Name: "midpoint", Title: "Midpoint", Category: Trend, Form: crossed,
		Doc:     "Middle between the highest and the lowest of the last prices. As in TA-Lib.",
		Formula: "midpoint = (highest(x, n) + lowest(x, n)) / 2",
		Params:  []Param{length(14), source()},
		Of:      func(x []float64, n int) []float64 { return kernel.Midway(kernel.Highest(x, n), kernel.Lowest(x, n)) }},
	{Name: "midprice", Title: "Midprice", Category: Trend, Form: crossed,
		Doc:     "Middle between the highest high and the lowest low of the last bars. As in TA-Lib.",
		Formula: "midprice = (highest(high, n) + lowest(low, n)) / 2",
		Params:  []Param{length(14)}, Line: func(in Input) []float64 { return kernel.MidRange(in.Series, in.Int("length")) }},
	{Name: "lsma", Title: "LSMA", Also: "linreg linearreg linear_regression epma least_squares_ma linear_regression_curve", Category: Trend, Form: bending,
		Doc:     "Least-squares average: the end of the straight line that fits the last prices best. TA-Lib's LINEARREG, with TradingView's length 25.",
		Formula: "LSMA = a + b*(n-1), a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
		Params:  []Param{lengthFrom(2, 25), source()}, Of: func(x []float64, n int) []float64 { return only(kernel.Regression(x, n)) }},
	{Name: "hma", Title: "HMA", Also: "hull hull_ma hull_moving_average moving_average_hull", Category: Trend, Form: bending,
		Doc:     "Hull moving average: a weighted average that takes back its own lag, smooth and quick. Half length and square root are rounded down, as at TradingView.",
		Formula: "HMA = WMA(2 * WMA(x, n/2) - WMA(x, n), √n)",
		Params:  []Param{length(9), source()}, Memory: averageOf("hma", "length"), Of: kernel.HMA},
	// The weight follows the market, and in one without a trend the oscillator is about
	// 1/√n: the line forgets its start by a factor e every n^1.5 / 2 bars.
	{Name: "vidya", Title: "VIDYA", Also: "variable_index_dynamic variable_index_dynamic_average", Category: Trend, Form: bending,
		Doc:     "Variable index dynamic average of Chande: an exponential average whose weight is scaled by the absolute momentum oscillator, so it stands still in a sideways market. Starts from the first price.",
		Formula: "VIDYA = VIDYA[1] + 2/(n+1) * |CMO(n)|/100 * (x - VIDYA[1]), CMO from sums of gains and losses",
		Params:  []Param{length(14), source()}, Memory: Memory{bars: func(a Args) int { return int(9*math.Pow(a.Float("length"), 1.5)) + 100 }},
		Of: func(x []float64, n int) []float64 { return vidya(x, n, n, 0) }},
	{Name: "kama", Title: "KAMA", Also: "kaufman ama", Category: Trend, Traits: Overlay,
		Doc:     "Kaufman's adaptive average: quick when the price goes straight, slow when it wanders. As in TA-Lib, with Kaufman's length 10.",
		Formula: "KAMA = KAMA[1] + c² * (x - KAMA[1]), c = er*(2/(fast+1) - 2/(slow+1)) + 2/(slow+1), er = |x - x[n]| / sum of n |x - x[1]|",
		Params:  []Param{length(10), bars("fast", 2, "length at full efficiency"), bars("slow", 30, "length when the price goes nowhere"), source()},
		Memory:  after(window("length"), Memory{bars: func(a Args) int { return kernel.KAMAMemory(a.Float("slow")) }}),
		Plots:   []Plot{over("KAMA")}, Events: []Event{price("KAMA"), turnsOf("KAMA")},
		Calc: func(in Input) Columns {
			return Columns{kernel.KAMA(in.source(), in.Int("length"), in.Float("fast"), in.Float("slow"))}
		}},
	{Name: "mama", Title: "MAMA", Also: "mesa_adaptive mesa_adaptive_ma", Category: Trend, Traits: Overlay,
		Doc:     "Ehlers' MESA adaptive average and its follower FAMA: the slower the phase of the dominant cycle turns, the closer they keep to the price. As in TA-Lib.",
		Formula: "MAMA = a*x + (1-a)*MAMA[1], FAMA with a/2; a = fast limit / change of phase in degrees, at least the slow limit",
		Params:  []Param{factor("fast_limit", 0.5, 0.01, 0.99, "largest weight of the newest price", "fast"), factor("slow_limit", 0.05, 0.01, 0.99, "smallest weight", "slow"), source()},
		// FAMA's weight is at least half the slow limit: so many bars leave e^-12 of its start.
		Memory: Memory{bars: func(a Args) int { return int(25/a.Float("slow_limit")) + kernel.HilbertWarmup }},
		Plots:  []Plot{over("MAMA"), over("FAMA")}, Events: []Event{lines("MAMA", "FAMA")},
		Calc: func(in Input) Columns {
			return together(kernel.MAMA(in.source(), in.Float("fast_limit"), in.Float("slow_limit")))
		}},
	{Name: "t3", Title: "T3", Also: "tillson tillson_t3", Category: Trend, Form: bending,
		Doc:     "Tillson's T3: six exponential averages in a row, combined into a smooth line with little lag. As in TA-Lib.",
		Formula: "T3 = -v³*e6 + (3v²+3v³)*e5 + (-6v²-3v-3v³)*e4 + (1+3v+v³+3v²)*e3",
		Params:  []Param{length(5), factor("factor", 0.7, 0, 1, "volume factor: 0 is smooth, 1 is quick", "v"), source()},
		Memory:  averageOf("t3", "length"),
		Line:    func(in Input) []float64 { return kernel.T3(in.source(), in.Int("length"), in.Float("factor")) }},
	{Name: "ma", Title: "MA", Category: Trend, Form: crossed,
		Doc:     "Moving average of any kind: sma, ema, wma, dema, tema, trima, kama, mama (which sets its own length) or t3. As in TA-Lib.",
		Formula: "the average that type names, over n prices",
		Params:  []Param{length(20), averageType("type", "sma", "kind of average", "matype", "kind"), source()},
		Memory:  averageBy("type", "length"),
		Line:    func(in Input) []float64 { return kernel.Average(in.Choice("type"), in.source(), in.Int("length")) }},
	// TA-Lib's MAVP, whose lengths come from the caller; a chart has no such column, so
	// the cycle gives them.
	{Name: "mavp", Title: "MAVP", Also: "variable_period_ma ma_variable_period", Category: Trend, Form: crossed,
		Doc: "Moving average of a length that changes from bar to bar. TA-Lib takes the lengths from its caller; here they are the period of the dominant cycle (ht_dcperiod), " +
			"within the bounds, so that one whole cycle is averaged.",
		Formula: "MAVP[i] = average of the last p[i] prices, p = cycle period, minimum ≤ p ≤ maximum",
		Params:  []Param{bars("minimum", 2, "shortest length"), factorInt("maximum", 30, 1, kernel.LongestCycle, "longest length"), averageType("type", "sma", "kind of average", "matype", "kind"), source()},
		Memory:  after(cycleMemory, averageBy("type", "maximum")),
		Line: func(in Input) []float64 {
			x := in.source()
			return mavp(x, kernel.CyclePeriod(x), in.Int("minimum"), in.Int("maximum"), in.Choice("type"))
		}},
	{Name: "alma", Title: "ALMA", Also: "arnaud_legoux arnaud_legoux_ma", Category: Trend, Form: crossed,
		Doc:     "Arnaud Legoux moving average: bell-shaped weights whose peak lies near the newest bar. The peak is not rounded to a bar, as at TradingView by default.",
		Formula: "ALMA = Σ w[j] * x[j] / Σ w[j], w[j] = exp(-(j - offset*(n-1))² / (2 (n/sigma)²)), j = n-1 is the newest bar",
		Params:  []Param{length(9), factor("offset", 0.85, 0, 1, "where the peak lies, 1 = newest bar"), factor("sigma", 6, 0.1, 100, "sharpness of the peak"), source()},
		Line: func(in Input) []float64 {
			n := in.Int("length")
			return kernel.Convolve(in.source(), bell(n, in.Float("offset")*float64(n-1), float64(n)/in.Float("sigma")))
		}},
	{Name: "vwma", Title: "VWMA", Also: "volume_weighted_ma volume_weighted_moving_average", Category: Trend, Traits: Overlay,
		Doc:     "Volume weighted moving average: bars with more volume count for more. Above the simple average when volume came with higher prices. No value where the window traded nothing.",
		Formula: "VWMA = Σ x * volume / Σ volume over n bars",
		Params:  []Param{length(20), source()},
		Plots:   []Plot{over("VWMA"), unseen("SMA")}, Events: []Event{lines("VWMA", "SMA").crossedBy("the line", "the simple average of as many bars")},
		Calc: func(in Input) Columns {
			x, n := in.source(), in.Int("length")
			return Columns{volumeWeighted(in.Series, x, n), kernel.SMA(x, n)}
		}},
	{Name: "mcginley", Title: "McGinley", Also: "mcgd mcginley_dynamic dynamic md", Category: Trend, Form: crossed,
		Doc:     "McGinley dynamic: an average that quickens when the price falls below it and slows when it runs ahead. Starts from the first price. The factor k is 1 as at TradingView; 0.6, McGinley's own advice, is Skender's and others' choice.",
		Formula: "MD = MD[1] + (x - MD[1]) / (k * n * (x / MD[1])⁴)",
		Params:  []Param{length(14), factor("k", 1, 0.1, 2, "factor of the length, 1 or 0.6", "constant"), source()},
		Memory:  wilder("length"),
		Line: func(in Input) []float64 {
			x, n := in.source(), in.Float("k")*float64(in.Int("length"))
			// The divisor is kept at 1 or more: below it one step would overshoot the price, and after a
			// crash the fourth power would throw the line to infinity.
			out := kernel.NaNs(len(x))
			first := kernel.FirstValid(x)
			if first == len(x) {
				return out
			}
			value := x[first]
			out[first] = value
			for i := first + 1; i < len(x); i++ {
				// At 0 there is no ratio; the divisor is then 1, and the line jumps to the price.
				ratio := 0.0
				if value != 0 {
					ratio = x[i] / value
				}
				value += (x[i] - value) / max(1, n*ratio*ratio*ratio*ratio)
				out[i] = value
			}
			return out
		}},
	{Name: "swma", Title: "SWMA", Also: "symmetric_weighted_ma symmetrically_weighted_ma", Category: Trend, Form: crossed,
		Doc:     "Symmetrically weighted moving average of four bars, the middle two counting double: it removes jitter at a lag of a bar and a half. As TradingView's ta.swma.",
		Formula: "SWMA = (x + 2x[1] + 2x[2] + x[3]) / 6",
		Params:  []Param{source()}, Memory: fixed(4), Line: func(in Input) []float64 { return kernel.SWMA(in.source()) }},
	{Name: "frama", Title: "FRAMA", Also: "fractal_adaptive fractal_adaptive_ma", Category: Trend, Traits: Overlay,
		Doc:     "Fractal adaptive moving average of Ehlers: an exponential average that quickens when price moves in a line and slows when it fills its range. Of hl2; an odd length is raised by one, because the window is halved.",
		Formula: "D = (ln(N1 + N2) - ln N3) / ln 2, N the ranges per bar of both halves and of the whole; weight = e^(-4.6 (D - 1)), 0.01 to 1",
		Params:  []Param{bars("length", 16, "bars in the window", "period", "len")},
		// In a market that fills its range the weight is 0.01, and 500 bars leave less than a hundredth.
		Memory: after(window("length"), fixed(500)), Plots: []Plot{over("FRAMA")}, Events: []Event{price("FRAMA")},
		Calc: func(in Input) Columns {
			half := (in.Int("length") + 1) / 2
			out, x := kernel.NaNs(in.Len()), kernel.MedianPrice(in.Series)
			// The older half is the same column half a window ago.
			top, bottom := kernel.Highest(in.High, half), kernel.Lowest(in.Low, half)
			for i := 2*half - 1; i < len(out); i++ {
				// Two halves that each cover the whole range fill it: dimension 2, the smallest
				// weight. Two that share it evenly make a line: dimension 1, the weight 1.
				recent, older := top[i]-bottom[i], top[i-half]-bottom[i-half]
				whole := max(top[i], top[i-half]) - min(bottom[i], bottom[i-half])
				weight := 1.0 // of a window without range: there is nothing to smooth
				if recent+older > 0 {
					// ln(N1+N2) - ln(N3), with the factors 1/half and 1/(2 half) taken out
					dimension := math.Log(2*(recent+older)/whole) / math.Ln2
					weight = max(0.01, min(1, math.Exp(-4.6*(dimension-1))))
				}
				if i == 2*half-1 {
					out[i] = x[i]
					continue
				}
				out[i] = out[i-1] + float64(weight*(x[i]-out[i-1]))
			}
			return Columns{out}
		}},
	{Name: "super_smoother", Title: "SSF", Also: "ssf supersmoother ehlers_super_smoother", Category: Trend, Form: crossed,
		Doc:     "Super smoother of Ehlers: a two-pole filter that removes cycles shorter than its length with little lag. Of the mean of two prices, as he published it; begins with the price itself.",
		Formula: "y = c1 * (x + x[1]) / 2 + c2 * y[1] + c3 * y[2]; a = e^(-√2 π / n), c2 = 2 a cos(√2 π / n), c3 = -a², c1 = 1 - c2 - c3",
		Params:  []Param{bars("length", 10, "shortest cycle that passes", "period", "len"), source()},
		// The filter forgets by e^-4.4 every length.
		Memory: lengths(6, "length"),
		Of: func(x []float64, n int) []float64 {
			// It shows nothing before it has seen n values: the start has not faded by then.
			out := kernel.NaNs(len(x))
			// Ehlers' two-pole Butterworth filter: c2 and c3 feed back the last two outputs,
			// and c1 is what is left, so that a level price passes unchanged.
			angle := math.Sqrt2 * math.Pi / float64(n)
			decay := math.Exp(-angle)
			c2, c3 := 2*decay*math.Cos(angle), -decay*decay
			c1 := 1 - c2 - c3
			var y, y1, y2 float64
			first := kernel.FirstValid(x)
			for i := first; i < len(x); i++ {
				if i < first+2 {
					y = x[i]
				} else {
					y = float64(c1*(x[i]+x[i-1])/2) + float64(c2*y1) + float64(c3*y2)
				}
				y1, y2 = y, y1
				if i >= first+n-1 {
					out[i] = y
				}
			}
			return out
		}},
	{Name: "zlsma", Title: "ZLSMA", Also: "zero_lag_lsma", Category: Trend, Form: crossed,
		Doc:     "Zero lag least squares moving average: the end of a regression line plus how far it lies from its own. After veryfid's script.",
		Formula: "L = LSMA(x, n); ZLSMA = 2L - LSMA(L, n)",
		Params:  []Param{length(32), source()},
		Memory:  lengths(2, "length"),
		Line: func(in Input) []float64 {
			once := only(kernel.Regression(in.source(), in.Int("length")))
			return kernel.Minus(kernel.Scaled(once, 2), only(kernel.Regression(once, in.Int("length"))))
		}},
	{Name: "trama", Title: "TRAMA", Also: "trend_regularity_ma", Category: Trend, Traits: Overlay,
		Doc:     "Trend regularity adaptive average: it moves the faster, the more of the last bars made a new high or low of the window, and stands still while none does. After LuxAlgo's script; extremes that are not known yet count as none.",
		Formula: "w = (share of the last n bars with a new highest high or lowest low of n)²; TRAMA = TRAMA[1] + w * (x - TRAMA[1])",
		Params:  []Param{lengthFrom(2, 99), source()},
		// The weight is the square of a share and often small, so the start is remembered for long.
		Memory: lengths(60, "length"), Plots: []Plot{over("TRAMA")}, Events: []Event{price("TRAMA")},
		Calc: func(in Input) Columns {
			x, n := in.source(), in.Int("length")
			top, bottom := kernel.Highest(in.High, n), kernel.Lowest(in.Low, n)
			// 1 on the bars that made a new extreme; the mean of it over the window is the share.
			fresh := make([]float64, len(x))
			for i := n; i < len(x); i++ {
				if kernel.Compare(top[i], top[i-1]) > 0 || kernel.Compare(bottom[i], bottom[i-1]) < 0 {
					fresh[i] = 1
				}
			}
			share := kernel.Scaled(kernel.RollingSum(fresh, n), 1/float64(n))
			first := max(n-1, kernel.FirstValid(x)+1)
			out := kernel.Unknown(len(x), first)
			for i := first; i < len(x); i++ {
				before := x[i-1]
				if i > first {
					before = out[i-1]
				}
				out[i] = before + float64(share[i]*share[i]*(x[i]-before))
			}
			return Columns{out}
		}},
	{Name: "nadaraya_watson", Title: "NW", Also: "nw kernel_regression", Category: Trend, Traits: Overlay,
		Doc:     "Nadaraya-Watson estimate with a Gaussian kernel over the bars up to this one: a smooth average that weighs the newest bars most. It does not repaint, unlike scripts that smooth both ways.",
		Formula: "Σ w[j] * x[j] / Σ w[j], w[j] = exp(-j² / (2 h²)), j bars ago, over n bars",
		Params:  []Param{lengthFrom(2, 100), factor("bandwidth", 8, 0.1, 500, "bars h after which a weight has fallen to 0.61", "h"), source()},
		Plots:   []Plot{over("NW")}, Events: []Event{own(func(d *drawing) []Signal {
			line := d.of("NW")
			return append(markAt(line, PriceUp, PriceDown, across(d.Close, line)), marked(line, TurnUp, TurnDown, bends(line, noSize))...)
		}, TurnUp, TurnDown, PriceUp, PriceDown).needing(turnBars)},
		Calc: func(in Input) Columns {
			n := in.Int("length")
			// Half a bell, whose peak is the newest bar.
			return Columns{kernel.Convolve(in.source(), bell(n, float64(n-1), in.Float("bandwidth")))}
		}},
	{Name: "ema_stack", Title: "EMA", Category: Trend, Traits: Overlay,
		Doc:     "Four exponential averages of the close, fast to slow. In a trend they lie in order: rising when the fastest is on top. As in TA-Lib, each seeded with the mean of its first closes.",
		Formula: "EMA = EMA[1] + 2/(n+1) * (close - EMA[1])",
		Params:  []Param{bars("length1", 8, "fastest average", "fast"), bars("length2", 21, "second average"), bars("length3", 50, "third average"), bars("length4", 200, "slowest average", "slow"), source()},
		Events:  []Event{emits(StackUp, StackDown)}, Memory: ema("length1", "length2", "length3", "length4"),
		Draw: stacked(func(Args) string { return "ema" })},
	// Which is the fast one is up to the lengths given: with fast 200 and slow 50 the
	// crosses are reversed.
	{Name: "ma_cross", Title: "MA cross", Also: "moving_average_cross", Category: Trend, Traits: Overlay,
		Doc:     "Two moving averages, and where they cross. With 50 and 200 simple averages the crosses are the golden and the death cross.",
		Formula: "MA(x, fast), MA(x, slow)",
		Params:  []Param{bars("fast", 9, "fast average", "short"), bars("slow", 21, "slow average", "long"), averageType("ma_type", "sma", "kind of average", "type"), source()},
		Memory:  averageBy("ma_type", "fast", "slow"), Plots: []Plot{mainly("Fast"), second("Slow")}, Events: []Event{lines("Fast", "Slow")},
		Calc: func(in Input) Columns {
			kind, x := in.Choice("ma_type"), in.source()
			return Columns{kernel.Average(kind, x, in.Int("fast")), kernel.Average(kind, x, in.Int("slow"))}
		}},
	{Name: "ma_ribbon", Title: "MA ribbon", Also: "ribbon moving_average_ribbon", Category: Trend, Traits: Overlay,
		Doc:     "Four moving averages of one kind, fast to slow. Signals mark where all of them come into rising or falling order. TradingView's lengths.",
		Formula: "MA(x, n) for four n",
		Params: []Param{
			bars("length1", 20, "fastest average", "fast"), bars("length2", 50, "second average"), bars("length3", 100, "third average"),
			bars("length4", 200, "slowest average", "slow"), averageType("ma_type", "sma", "kind of average", "type"), source(),
		},
		Events: []Event{emits(StackUp, StackDown)}, Memory: averageBy("ma_type", "length1", "length2", "length3", "length4"),
		Draw: stacked(func(a Args) string { return a.Choice("ma_type") })},
	{Name: "gmma", Title: "GMMA", Also: "guppy guppy_mma guppy_multiple_moving_average", Category: Trend, Traits: Overlay,
		Doc:     "Guppy multiple moving averages: six fast and six slow exponential averages, traders against investors. A group that fans out is sure of itself; one that narrows is not. Each average is seeded with the mean of its first prices.",
		Formula: "EMA(x, n) for n = 3 5 8 10 12 15 and 30 35 40 45 50 60",
		Params:  []Param{source()},
		Events:  []Event{emits(CrossUp, CrossDown).meaning("the lowest fast average crosses the highest slow one from below", "the highest fast average crosses the lowest slow one from above")},
		Memory:  fixed(kernel.EMAMemory * 60),
		Draw: func(in Input) *Result {
			x := in.source()
			r := &Result{}
			for k, n := range []int{3, 5, 8, 10, 12, 15, 30, 35, 40, 45, 50, 60} {
				tone := Primary
				if k >= 6 {
					tone = Second
				}
				r.Lines = append(r.Lines, Line{Label: strconv.Itoa(n), Tone: tone, Values: kernel.EMA(x, n)})
			}
			r.Signals = groupCrossings(r.Lines[:6], r.Lines[6:])
			return r
		}},
	{Name: "alligator", Title: "Alligator", Also: "williams_alligator", Category: Trend, Traits: Overlay,
		Doc:     "Williams' alligator: three smoothed averages of the median price, moved forward. Entwined lines sleep; lines in order, lips above teeth above jaw, eat in a rising market, and the reverse in a falling one. Each line is moved forward, so a bar shows what older bars computed.",
		Formula: "jaw = RMA(hl2, 13)[8], teeth = RMA(hl2, 8)[5], lips = RMA(hl2, 5)[3]",
		Params:  alligatorParams(), Memory: alligatorMemory,
		// The fastest first: the order that a stack has.
		Plots:  []Plot{{Label: "Lips", Tone: Up}, {Label: "Teeth", Tone: Down}, mainly("Jaw")},
		Events: []Event{event("Lips", StackUp, StackDown, func(d *drawing) func(int) int { return stacksOf(d.columns) }), lines("Lips", "Teeth")},
		Calc: func(in Input) Columns {
			jaw, teeth, lips := alligator(in)
			return Columns{lips, teeth, jaw}
		}},
}

// mavp returns at every bar the average over as many bars as lengths says
// there, kept between least and most. As in TA-Lib nothing is shown before the
// longest average could be, and the seeds of the others wait for it.
func mavp(x, lengths []float64, least, most int, kind string) []float64 {
	least = min(least, most)
	// The longest average decides where the result begins, whether or not it is ever picked.
	longest := kernel.Average(kind, x, most)
	byLength := map[int][]float64{most: longest}
	start := max(kernel.FirstValid(longest), kernel.FirstValid(lengths))
	out := kernel.Unknown(len(x), start)
	for i := start; i < len(x); i++ {
		n := min(max(int(lengths[i]), least), most)
		// Each length that occurs is computed once, its seed moved so that it ends on
		// the bar on which that of the longest does.
		if byLength[n] == nil {
			byLength[n] = kernel.Average(kind, kernel.Skip(x, kernel.AverageLookback(kind, most)-kernel.AverageLookback(kind, n)), n)
		}
		out[i] = byLength[n][i]
	}
	return out
}

// bell returns n weights whose sum is 1, in the shape of a normal distribution of
// the given width around peak, which need not be a whole number.
func bell(n int, peak, width float64) []float64 {
	w := make([]float64, n)
	var sum float64
	for j := range w {
		d := (float64(j) - peak) / width
		w[j] = math.Exp(-d * d / 2)
		sum += w[j]
	}
	for j := range w {
		w[j] /= sum
	}
	return w
}

// volumeWeighted returns the mean of the last n values of x, each weighted by the
// volume of its bar, and NaN where nothing was traded.
func volumeWeighted(s *market.Series, x []float64, n int) []float64 {
	return kernel.Quotient(kernel.RollingSum(kernel.Times(x, s.Volume), n), kernel.RollingSum(s.Volume, n))
}

// zlema returns the zero lag average of x. It is shown from bar n-1 on, like
// every average of n bars.
func zlema(x []float64, n int) []float64 {
	out := kernel.NaNs(len(x))
	lag := (n - 1) / 2
	first := kernel.FirstValid(x)
	if len(x)-first < n {
		return out
	}
	// Tulip's seed: the price before the first one that has a price lag bars ago.
	value := x[first+max(0, lag-1)]
	for i := first + lag; i < len(x); i++ {
		// The price is moved ahead by its own change over the lag, then averaged.
		value += float64(2 / float64(n+1) * (float64(2*x[i]) - x[i-lag] - value))
		if i >= first+n-1 {
			out[i] = value
		}
	}
	return out
}

// vidya returns the exponential average of x whose weight is 2/(n+1) times the size of
// Chande's oscillator over the given number of changes. It starts from the price of the
// bar seed, and is shown from the bar on where the oscillator begins.
func vidya(x []float64, n, changes, seed int) []float64 {
	moves := kernel.Change(x, 1)
	net, gross := kernel.RollingSum(moves, changes), kernel.RollingSum(kernel.Absolute(moves), changes)
	out := kernel.Unknown(len(x), changes)
	weight := 2 / float64(n+1)
	for i := changes; i < len(x); i++ {
		before := out[i-1]
		if i == changes {
			before = x[seed]
		}
		// The share of the changes that led somewhere scales the weight: a price that
		// goes nowhere, or does not move at all, leaves the line where it is.
		out[i] = before
		if gross[i] > 0 {
			out[i] += float64(weight * math.Abs(net[i]) / gross[i] * (x[i] - before))
		}
	}
	return out
}

// stacked returns the Draw of an entry with four averages of a kind, of length1
// to length4, and signals where they come into order: by their lengths, in whatever
// order those were given.
func stacked(kind func(Args) string) func(in Input) *Result {
	return func(in Input) *Result {
		x, r := in.source(), &Result{}
		var lengths []int
		for _, name := range []string{"length1", "length2", "length3", "length4"} {
			n := in.Int(name)
			lengths = append(lengths, n)
			r.Lines = append(r.Lines, Line{Label: strconv.Itoa(n), Values: kernel.Average(kind(in.Args), x, n)})
		}
		var fastFirst [][]float64
		unread := in.unread(1)
		for _, n := range slices.Sorted(slices.Values(lengths)) {
			fastFirst = append(fastFirst, r.Lines[slices.Index(lengths, n)].Values[unread:])
		}
		r.Signals = later(unread, marked(fastFirst[0], StackUp, StackDown, stacksOf(fastFirst)))
		return r
	}
}

// groupCrossings marks the bars on which all lines of fast have come to lie above all
// lines of slow, or below them all. It is enough to compare the edges of the groups:
// the lowest fast line with the highest slow one, and the other way round.
func groupCrossings(fast, slow []Line) []Signal {
	bars := len(fast[0].Values)
	fastLow, fastHigh := edges(fast, bars)
	slowLow, slowHigh := edges(slow, bars)
	return append(crossings(fastLow, slowHigh, CrossUp, ""), crossings(fastHigh, slowLow, "", CrossDown)...)
}

// edges returns the lowest and the highest of the lines at each bar. NaN in any line
// makes both edges NaN, so nothing crosses before the slowest line begins.
func edges(lines []Line, bars int) (lo, hi []float64) {
	lo, hi = make([]float64, bars), make([]float64, bars)
	for i := range lo {
		lo[i], hi[i] = lines[0].Values[i], lines[0].Values[i]
		for _, l := range lines[1:] {
			lo[i], hi[i] = min(lo[i], l.Values[i]), max(hi[i], l.Values[i])
		}
	}
	return lo, hi
}

// alligatorParams returns the length of each of the three lines and how far it is moved
// forward, which may be 0.
func alligatorParams() []Param {
	shift := func(name string, def float64) Param {
		return atLeast(0, bars(name, def, "bars the line is moved forward"))
	}
	return []Param{
		bars("jaw", 13, "slow average"), shift("jaw_shift", 8),
		bars("teeth", 8, "middle average"), shift("teeth_shift", 5),
		bars("lips", 5, "fast average"), shift("lips_shift", 3),
	}
}

// alligatorMemory is the memory of the line that needs the most, its shift included.
var alligatorMemory = longest(after(wilder("jaw"), window("jaw_shift")), after(wilder("teeth"), window("teeth_shift")), after(wilder("lips"), window("lips_shift")))

// alligator returns the three lines as they stand on each bar: values of as many bars
// ago as the line is moved forward.
func alligator(in Input) (jaw, teeth, lips []float64) {
	x := kernel.MedianPrice(in.Series)
	// A shift to the right shows older values and never later ones.
	line := func(name string) []float64 { return kernel.Shift(kernel.RMA(x, in.Int(name)), in.Int(name+"_shift")) }
	return line("jaw"), line("teeth"), line("lips")
}

// gatorSignals marks the bars on which the mouth falls asleep, both bars
// narrowing, and those on which it opens again, both widening.
func gatorSignals(upper, lower []float64) []Signal {
	state := 0 // 1 awake, -1 asleep, 0 until both sides have moved together once
	return marked(upper, SqueezeOff, SqueezeOn, func(i int) int {
		if i == 0 || isNaN(lower[i-1]) {
			return 0
		}
		// The lower bars are drawn downwards and are negative, so they widen as they fall. A bar
		// on which one side widens and the other narrows changes nothing.
		before := state
		if now := either(upper[i] > upper[i-1] && lower[i] < lower[i-1], upper[i] < upper[i-1] && lower[i] > lower[i-1]); now != 0 {
			state = now
		}
		if before == 0 || before == state {
			return 0
		}
		return state
	})
}
