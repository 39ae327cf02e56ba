package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
)

// statistics are figures of the last prices or returns. Skew and kurtosis divide by n: the window
// is all there is, not a sample of more. The angle of a regression depends on the unit of the price:
// the same course at a tenth of the price is nearly flat.
var statistics = []Indicator{
	{Name: "variance", Title: "Variance", Also: "var", Category: Statistics, Form: volatile,
		Doc:     "Variance of the last prices (population: divided by n). As in TA-Lib.",
		Formula: "σ² = Σ(x - mean)² / n",
		Params:  []Param{lengthFrom(2, 20), source()}, Of: kernel.Variance},
	{Name: "avgdev", Title: "AvgDev", Also: "mad mean_deviation average_deviation", Category: Statistics, Form: volatile,
		Doc:     "Mean deviation: how far the last prices lie from their mean on average. As in TA-Lib.",
		Formula: "AvgDev = Σ|x - mean| / n",
		Params:  []Param{lengthFrom(2, 14), source()}, Of: kernel.MeanDeviation},
	{Name: "linreg_slope", Title: "Linreg Slope", Also: "linearreg_slope slope linear_regression_slope", Category: Statistics, Form: aroundZero, Label: "Slope",
		Doc:     "Slope of the least-squares line through the last prices, in price per bar. As in TA-Lib.",
		Formula: "slope = b, a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
		Params:  []Param{lengthFrom(2, 14), source()}, Of: func(x []float64, n int) []float64 { return other(kernel.Regression(x, n)) }},
	{Name: "linreg_angle", Title: "Linreg Angle", Also: "linearreg_angle", Category: Statistics, Form: aroundZero, Label: "Angle",
		Doc:     "Slope of the least-squares line through the last prices as an angle in degrees, a bar as wide as a price unit is high. As in TA-Lib.",
		Formula: "angle = atan(slope) in degrees",
		Params:  []Param{lengthFrom(2, 14), source()},
		Of: func(x []float64, n int) []float64 {
			_, slope := kernel.Regression(x, n)
			return kernel.Each(slope, func(v float64) float64 { return kernel.Degrees(math.Atan(v)) })
		}},
	{Name: "skew", Title: "Skew", Also: "skewness", Category: Statistics, Form: aroundZero,
		Doc:     "Skewness of the last prices: positive when the long tail is above the mean. Of the population (g1), not corrected for small samples.",
		Formula: "m3 / m2^1.5, m the central moments of x over n bars",
		Params:  []Param{lengthFrom(3, 30), source()}, Of: func(x []float64, n int) []float64 { return only(kernel.Moments(x, n)) }},
	{Name: "kurtosis", Title: "Kurtosis", Also: "excess_kurtosis", Category: Statistics, Form: aroundZero,
		Doc:     "Excess kurtosis of the last prices: positive when the tails are heavier than a normal distribution's. Of the population (g2), not corrected for small samples.",
		Formula: "m4 / m2² - 3, m the central moments of x over n bars",
		Params:  []Param{lengthFrom(4, 30), source()}, Of: func(x []float64, n int) []float64 { return other(kernel.Moments(x, n)) }},
	{Name: "linreg_intercept", Title: "Linreg Intercept", Also: "linearreg_intercept", Category: Statistics, Form: crossed, Label: "Intercept",
		Doc:     "Where the least-squares line through the last prices begins, at the oldest of them. As in TA-Lib.",
		Formula: "intercept = a, a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
		Params:  []Param{lengthFrom(2, 14), source()},
		Of: func(x []float64, n int) []float64 {
			end, slope := kernel.Regression(x, n)
			return kernel.Offset(end, slope, -float64(n-1))
		}},
	{Name: "sum", Title: "Sum", Also: "rolling_sum", Category: Statistics, Form: turning,
		Doc:     "Sum of the last prices. As in TA-Lib.",
		Formula: "sum = x[0] + … + x[n-1]",
		Params:  []Param{length(30), source()}, Of: kernel.RollingSum},
	{Name: "stddev", Title: "StdDev", Also: "stdev standard_deviation", Category: Statistics, Form: volatile,
		Doc:     "Standard deviation of the last prices (population: divided by n), times a factor. As in TA-Lib.",
		Formula: "σ = sqrt(Σ(x - mean)² / n) * mult",
		Params:  []Param{lengthFrom(2, 20), quiet(factor("mult", 1, 0.01, 100, "factor", "deviation")), source()},
		Line: func(in Input) []float64 {
			return kernel.Scaled(kernel.StdDev(in.source(), in.Int("length")), in.Float("mult"))
		}},
	{Name: "correl", Title: "Correlation", Also: "correlation correlation_coefficient", Category: Statistics, Form: aroundZero,
		Doc:     "Pearson's correlation of two columns of the bars, -1 to 1; by default of close and volume: does the volume follow the price? As in TA-Lib, which takes any two series; 0 where one does not move.",
		Formula: "r = cov(x, y) / (σx * σy) over n bars",
		Params:  []Param{lengthFrom(2, 30), source(), against("volume")}, Between: [2]float64{-1, 1},
		Line: func(in Input) []float64 {
			return correlation(in.source(), columnOf(in.Series, in.Choice("against")), in.Int("length"))
		}},
	// TA-Lib's order: the first column explains, the second is explained.
	{Name: "beta", Title: "Beta", Also: "beta_coefficient", Category: Statistics,
		Doc:     "Beta: how far the returns of one column move with those of another, by regression over n returns. As in TA-Lib, which takes any two series and by default, as here, regresses the low on the high; 0 where the latter does not move.",
		Formula: "β = cov(rx, ry) / var(rx), r = x/x[1] - 1",
		Params:  []Param{lengthFrom(2, 5), sourceOf("source", "high", "column whose returns explain", "x", "input"), against("low")},
		Plots:   []Plot{mainly("Beta")}, Events: []Event{crossesAt("Beta", 1, CrossUp, CrossDown).crossedBy("beta", "1")}, Levels: constant(1),
		Calc: func(in Input) Columns {
			return Columns{beta(in.source(), columnOf(in.Series, in.Choice("against")), in.Int("length"))}
		}},
	{Name: "max", Title: "Max", Also: "highest", Category: Statistics, Traits: Overlay,
		Doc:     "Highest of the last prices. As in TA-Lib.",
		Formula: "max = highest of x[0] … x[n-1]",
		Params:  []Param{length(30), source()}, Plots: []Plot{over("Max")}, Events: []Event{highs("Max")},
		Of: kernel.Highest},
	{Name: "min", Title: "Min", Also: "lowest", Category: Statistics, Traits: Overlay,
		Doc:     "Lowest of the last prices. As in TA-Lib.",
		Formula: "min = lowest of x[0] … x[n-1]",
		Params:  []Param{length(30), source()}, Plots: []Plot{over("Min")}, Events: []Event{lows("Min")},
		Of: kernel.Lowest},
	{Name: "minmax", Title: "MinMax", Also: "min_max", Category: Statistics, Traits: Overlay,
		Doc:     "Lowest and highest of the last prices. As in TA-Lib.",
		Formula: "min, max = lowest and highest of x[0] … x[n-1]",
		Params:  []Param{length(30), source()},
		Plots:   []Plot{{Label: "Max", Tone: Band}, {Label: "Min", Tone: Band}}, Shades: []Shade{{A: "Max", B: "Min", Tone: Band}}, Events: []Event{highs("Max"), lows("Min")},
		Calc: func(in Input) Columns {
			return Columns{kernel.Highest(in.source(), in.Int("length")), kernel.Lowest(in.source(), in.Int("length"))}
		}},
	{Name: "maxindex", Title: "Bars since max", Also: "max_index highestbars bars_since_high", Category: Statistics, Form: sinceExtreme(1, NewHigh, Up),
		Doc:     "How many bars ago the highest of the last prices was. TA-Lib's MAXINDEX gives its position from the first bar instead, which says nothing on a chart; which of equal prices counts is TA-Lib's rule.",
		Formula: "bars since the highest of x[0] … x[n-1]",
		Params:  []Param{length(30), source()}},
	{Name: "minindex", Title: "Bars since min", Also: "min_index lowestbars bars_since_low", Category: Statistics, Form: sinceExtreme(-1, NewLow, Down),
		Doc:     "How many bars ago the lowest of the last prices was. TA-Lib's MININDEX gives its position from the first bar instead; which of equal prices counts is TA-Lib's rule.",
		Formula: "bars since the lowest of x[0] … x[n-1]",
		Params:  []Param{length(30), source()}},
	{Name: "minmaxindex", Title: "Bars since extremes", Also: "minmax_index min_max_index", Category: Statistics,
		Doc:     "How many bars ago the lowest and the highest of the last prices were. TA-Lib's MINMAXINDEX gives their positions from the first bar instead; which of equal prices counts is TA-Lib's rule.",
		Formula: "bars since the lowest and the highest of x[0] … x[n-1]",
		Params:  []Param{length(30), source()},
		Plots:   []Plot{{Label: "Bars since max", Tone: Up}, {Label: "Bars since min", Tone: Down}}, Events: []Event{lines("Bars since min", "Bars since max").crossedBy("the line of the lowest price", "that of the highest")},
		Calc: func(in Input) Columns {
			x, n := in.source(), in.Int("length")
			return Columns{barsSince(kernel.ExtremeAt(x, n, 1, false)), barsSince(kernel.ExtremeAt(x, n, -1, false))}
		}},
	{Name: "zscore", Title: "Z-score", Also: "z_score", Category: Statistics,
		Doc:     "Z-score: how many deviations the price is from its average. Population deviation; no value where the window did not move.",
		Formula: "(x - SMA(x, n)) / σ(x, n)",
		Params:  slices.Concat([]Param{lengthFrom(2, 30)}, zone(-2, 2, -10, 10), []Param{source()}),
		Plots:   []Plot{mainly("Z")}, Events: []Event{leaves("Z", Oversold, Overbought), enters("Z", "")}, Levels: zoneLevels,
		Calc: func(in Input) Columns {
			x := in.source()
			mean, dev := kernel.SMA(x, in.Int("length")), kernel.StdDev(x, in.Int("length"))
			return Columns{kernel.Quotient(kernel.Minus(x, mean), dev)} // a window of equal prices has no deviation to measure by
		}},
	{Name: "hurst", Title: "Hurst", Also: "hurst_exponent", Category: Statistics, Form: swinging(0.5),
		Doc: "Hurst exponent: above 0.5 moves tend to go on, below it to turn back, at 0.5 price is a random walk. Estimated from how the mean square change of the logarithm grows " +
			"with the distance: 1, 2, 4 and 8 bars. No value where prices are not positive or do not move.",
		Formula: "H = half the slope of ln mean((ln x - ln x[d])², n) against ln d, by least squares over d = 1, 2, 4, 8",
		Params:  []Param{bars("length", 100, "bars in the window", "period", "len", "window"), source()},
		Memory:  after(window("length"), fixed(7)),
		Of: func(x []float64, n int) []float64 {
			// The distances are powers of 2, so ln d is 0, 1, 2, 3 times ln 2, and the
			// slope of least squares over four such points weighs them -3, -1, 1, 3.
			weights := [4]float64{-0.3, -0.1, 0.1, 0.3}
			slope := make([]float64, len(x))
			for k, w := range weights {
				logs := kernel.LogReturns(x, 1<<k)
				for i, v := range kernel.InRuns(kernel.Times(logs, logs), func(run []float64) []float64 { return kernel.SMA(run, n) }) {
					if v > 0 {
						slope[i] += float64(w * math.Log2(v))
					} else {
						slope[i] = nan
					}
				}
			}
			// The mean square grows with d to the power 2H.
			return kernel.Scaled(slope, 0.5)
		}},
	{Name: "drawdown", Title: "Drawdown", Also: "dd drawdown_percent", Category: Statistics, Memory: visible,
		Doc:     "Drawdown: how far the close is below its highest so far, in percent, counted from the first bar shown. A signal marks the bar that makes a new high after a drawdown.",
		Formula: "100 * (x / max(x) - 1)",
		Params:  []Param{source()},
		Plots:   []Plot{{Label: "Drawdown %", Tone: Down}}, Events: []Event{own(func(d *drawing) []Signal {
			y := d.of("Drawdown %")
			return markAt(y, NewHigh, "", kernel.CrossingsOf(y, []float64{0}).Reached) // it never crosses zero
		}, NewHigh).meaning("the price is back at its highest, or above it")}, Levels: constant(0),
		Calc: func(in Input) Columns {
			x := in.source()
			down := kernel.NaNs(len(x))
			// top begins at 0, so that prices below zero never make a peak.
			var top float64
			for i, v := range x {
				top = max(top, v)
				if top > 0 {
					down[i] = 100 * (v - top) / top
				}
			}
			return Columns{down}
		}},
	// Unlike drawdown it forgets: a fall from a high before the window does not count,
	// and the same bar has the same value on every chart.
	{Name: "max_drawdown", Title: "Max DD", Also: "mdd maximum_drawdown", Category: Statistics,
		Doc:     "Maximum drawdown of the last bars: the deepest fall from a high to a later low among them, in percent, 0 or below.",
		Formula: "min over i <= j in the last n bars of 100 * (x[j] / x[i] - 1)",
		Params:  []Param{length(252), source()},
		Plots:   []Plot{mainly("Max DD")}, Events: []Event{lows("Max DD").meaning("the deepest fall of the window becomes deeper")}, Levels: constant(0),
		Of: func(x []float64, n int) []float64 {
			first := kernel.FirstValid(x)
			out := kernel.Unknown(len(x), first+n-1)
			for i := first + n - 1; i < len(x); i++ {
				// Rescanned for each bar: a top that leaves changes every fall that was measured from it.
				top, worst := x[i-n+1], 0.0
				for _, v := range x[i-n+1 : i+1] {
					// fall < worst*top is fall/top < worst without a division.
					if v > top {
						top = v
					} else if fall := v - top; fall < worst*top && top > 0 {
						worst = fall / top
					}
				}
				out[i] = 100 * worst
			}
			return out
		}},
	{Name: "log_return", Title: "Log return", Also: "logret", Category: Statistics,
		Doc:     "Logarithmic return over some bars: returns that add up. No value where a price is not positive.",
		Formula: "ln(x / x[n])",
		Params:  []Param{length(1), source()},
		Plots:   []Plot{histogram("Log return")}, Events: []Event{silently(zero("Log return"))}, Levels: constant(0),
		Of: kernel.LogReturns},
	{Name: "percent_return", Title: "Return %", Also: "pctret pct_change", Category: Statistics,
		Doc:     "Return over some bars in percent. No value where the earlier price is not positive.",
		Formula: "100 * (x / x[n] - 1)",
		Params:  []Param{length(1), source()},
		Plots:   []Plot{histogram("Return %")}, Events: []Event{silently(zero("Return %"))}, Levels: constant(0),
		Of: func(x []float64, n int) []float64 {
			percent := kernel.NaNs(len(x))
			for i := n; i < len(x); i++ {
				if x[i-n] > 0 {
					percent[i] = 100 * (x[i] - x[i-n]) / x[i-n]
				}
			}
			return percent
		}},
	{Name: "percent_rank", Title: "%Rank", Also: "percentrank percentile_rank", Category: Statistics, Form: oscillator,
		Doc:     "Percent rank: which share of the last prices was at most as high as this one. As TradingView's ta.percentrank.",
		Formula: "100 * (number of x[1] … x[n] that are <= x) / n",
		Params:  slices.Concat([]Param{length(100)}, zone(10, 90, 0, 100), []Param{source()}),
		Line:    func(in Input) []float64 { return kernel.PercentRank(in.source(), in.Int("length"), true) }},
	{Name: "percentile", Title: "Percentile", Also: "percentile_nearest_rank", Category: Statistics, Form: crossed,
		Doc:     "Percentile of the last prices by nearest rank: the smallest of them that is not below the given share of them; 50 is the lower median. As in TA-Lib 0.8 and TradingView's ta.percentile_nearest_rank.",
		Formula: "the value at rank ceil(percent / 100 * n) of the last n values in order",
		Params:  []Param{length(30), factor("percent", 50, 0, 100, "share of the values, in percent", "percentile"), source()},
		Line: func(in Input) []float64 {
			x, n := in.source(), in.Int("length")
			out := kernel.NaNs(len(x))
			// Ranks count from 1; 0 percent is the smallest value.
			rank := max(1, int(math.Ceil(in.Float("percent")/100*float64(n)-1e-9))) // 7 % of 100 is 7.000000000000001
			kernel.InWindows(x, n, func(i int, values []float64, _ []int) { out[i] = values[rank-1] })
			return out
		}},
	{Name: "cumulative_sum", Title: "Cum", Also: "cumsum cum", Category: Statistics, Form: turning,
		Doc:     "Running sum of a price or of the volume from the first bar loaded, so only its changes mean anything. As TradingView's ta.cum.",
		Formula: "Σ x",
		Params:  []Param{defaultSource("volume")}, Memory: Memory{}.total(),
		Line: func(in Input) []float64 { return kernel.Cumulative(in.source()) }},
	{Name: "sharpe", Title: "Sharpe", Also: "sharpe_ratio", Category: Statistics, Form: aroundZero,
		Doc:     "Sharpe ratio of the last returns, a year: their mean over their deviation (population). Without a riskless rate; no value where they did not vary.",
		Formula: "mean(r, n) / σ(r, n) * √periods, r = x / x[1] - 1",
		Params:  returnParams(),
		Line: func(in Input) []float64 {
			returns := kernel.Rate(in.source(), 1, 1, -1)
			mean, variance := kernel.MeanVariance(returns, in.Int("length"))
			return perRisk(mean, variance, perYear(in))
		}},
	{Name: "sortino", Title: "Sortino", Also: "sortino_ratio", Category: Statistics, Form: aroundZero,
		Doc:     "Sortino ratio of the last returns, a year: their mean over the root of the mean square of the losses among them. The target is 0; no value where there was no loss.",
		Formula: "mean(r, n) / √(Σ min(r, 0)² / n) * √periods, r = x / x[1] - 1",
		Params:  returnParams(),
		Line: func(in Input) []float64 {
			returns := kernel.Rate(in.source(), 1, 1, -1)
			// Gains count as 0 in the mean square, and in the number it is divided by.
			losses := kernel.Lesser(returns, make([]float64, len(returns)))
			n := in.Int("length")
			return perRisk(kernel.SMA(returns, n), kernel.Scaled(kernel.RollingSum(kernel.Times(losses, losses), n), 1/float64(n)), perYear(in))
		}},
}

// How two columns move together. TA-Lib takes any two series; a chart has one
// symbol, so they are two of its columns.

// against returns the parameter for the second column of a comparison.
func against(def string) Param {
	return sourceOf("against", def, "column it is compared with", "other", "y", "second")
}

// correlation returns Pearson's coefficient of the last n values of x and y.
func correlation(x, y []float64, n int) []float64 {
	varX, varY, cov := kernel.Covariance(x, y, n)
	return kernel.Clamp(kernel.Ratio(cov, kernel.Each(kernel.Times(varX, varY), math.Sqrt), 1), -1, 1) // rounding may carry a perfect correlation past 1
}

// beta returns the slope of y's returns on x's over n returns.
func beta(x, y []float64, n int) []float64 {
	varX, _, cov := kernel.Covariance(kernel.Rate(x, 1, 1, -1), kernel.Rate(y, 1, 1, -1), n)
	return kernel.Ratio(cov, varX, 1)
}

// barsSince returns how many bars ago the bars in at were, counted from each bar, and
// NaN where at is -1.
func barsSince(at []int) []float64 {
	out := make([]float64, len(at))
	for i, k := range at {
		out[i] = float64(i - k)
		if k < 0 {
			out[i] = nan
		}
	}
	return out
}

// sinceExtreme completes the record of how many bars ago the highest (sign 1) or the
// lowest (sign -1) price of the window was, with a signal where that becomes this bar.
func sinceExtreme(sign float64, signal string, tone Tone) func(ind *Indicator, label string) {
	return func(ind *Indicator, label string) {
		ind.Line = func(in Input) []float64 {
			return barsSince(kernel.ExtremeAt(in.source(), in.Int("length"), sign, false))
		}
		panel(own(func(d *drawing) []Signal {
			y := d.of(label)
			return toned(tone, marked(y, signal, "", func(i int) int { return either(i > 0 && y[i] == 0 && y[max(0, i-1)] > 0, false) }))
		}, signal))(ind, label)
	}
}

// returnParams returns the parameters of ratios of returns.
func returnParams() []Param { return []Param{lengthFrom(2, 60), barsInYear(), source()} }

// perRisk returns mean / √variance * √periods, and no value where nothing varies.
func perRisk(mean, variance []float64, periods float64) []float64 {
	out := kernel.NaNs(len(mean))
	for i, m := range mean {
		if deviation := math.Sqrt(variance[i]); deviation > kernel.Rounding {
			out[i] = m / deviation * math.Sqrt(periods)
		}
	}
	return out
}

// cycles are those of the Hilbert transform.
var cycles = []Indicator{
	{Name: "ht_trendline", Title: "HT Trendline", Also: "instantaneous_trend instantaneous_trendline htl", Category: Cycle, Form: crossed, Label: "Trendline",
		Doc:     "Ehlers' instantaneous trend line: the mean over one dominant cycle, which takes the cycle out of the price. As in TA-Lib.",
		Formula: "m = mean of the last p prices, p = cycle period; trend line = (4m + 3m[1] + 2m[2] + m[3]) / 10",
		Params:  []Param{source()}, Memory: cycleMemory, Line: func(in Input) []float64 { return kernel.CycleTrend(in.source()) }},
	{Name: "ht_dcperiod", Title: "HT Period", Also: "dominant_cycle_period cycle_period ht_dc_period", Category: Cycle, Form: turning, Label: "Period",
		Doc:     "Period of the dominant cycle in bars, 6 to 50, by Ehlers' Hilbert transform. As in TA-Lib.",
		Formula: "period = 360 / degrees the phase turns per bar, smoothed",
		Params:  []Param{source()}, Memory: cycleMemory, Line: func(in Input) []float64 { return kernel.CyclePeriod(in.source()) }},
	{Name: "ht_dcphase", Title: "HT Phase", Also: "dominant_cycle_phase cycle_phase ht_dc_phase", Category: Cycle, Form: turning, Label: "Phase",
		Doc:     "Phase of the dominant cycle in degrees, -45 to 315: where in the cycle the price stands. As in TA-Lib.",
		Formula: "phase = atan(Σ s*sin / Σ s*cos) over one cycle of the smoothed price s, + 90 + 360/period",
		Params:  []Param{source()}, Memory: cycleMemory, Line: func(in Input) []float64 { return kernel.CyclePhase(in.source()) }},
	{Name: "ht_phasor", Title: "HT Phasor", Also: "phasor", Category: Cycle,
		Doc:     "The two parts of the dominant cycle, one in phase and one a quarter cycle behind. As in TA-Lib.",
		Formula: "quadrature = H(H(smoothed price)), in phase = H(smoothed price) three bars ago, H Hilbert's transform",
		Params:  []Param{source()}, Memory: cycleMemory,
		Plots: []Plot{mainly("In phase"), second("Quadrature")}, Events: []Event{lines("In phase", "Quadrature").crossedBy("the part in phase", "the quadrature")}, Levels: constant(0),
		Calc: func(in Input) Columns { return together(kernel.Phasor(in.source())) }},
	// The lead sine is ahead by an eighth of the cycle, so in a cycle it turns, and
	// crosses, before the price does.
	{Name: "ht_sine", Title: "HT Sine", Also: "sine_wave sinewave", Category: Cycle,
		Doc:     "Sine of the dominant cycle's phase and the same 45 degrees ahead. In a cycle they cross at its turns; in a trend they lie side by side. As in TA-Lib.",
		Formula: "sine = sin(phase), lead = sin(phase + 45°)",
		Params:  []Param{source()}, Memory: cycleMemory,
		Plots: []Plot{mainly("Sine"), second("Lead sine")}, Events: []Event{lines("Lead sine", "Sine").crossedBy("the lead sine", "the sine")}, Levels: constant(0), Between: [2]float64{-1, 1},
		Calc: func(in Input) Columns { return together(kernel.CycleSine(in.source())) }},
	// The step from 0 to 1 is a crossing of 0.5, which gives both signals.
	{Name: "ht_trendmode", Title: "HT Trend Mode", Also: "trend_mode trend_vs_cycle", Category: Cycle,
		Doc:     "1 while the market trends, 0 while it cycles, by Ehlers' rules. As in TA-Lib.",
		Formula: "0 for half a cycle after sine and lead sine cross, and while the phase turns as a cycle's would; 1 if the price is 1.5 % off the trend line",
		Params:  []Param{source()}, Memory: cycleMemory,
		Plots: []Plot{{Label: "Trend mode", Tone: Primary, Style: Step}}, Events: []Event{crossesAt("Trend mode", 0.5, ModeTrend, ModeCycle)}, Between: [2]float64{0, 1},
		Calc: func(in Input) Columns { return Columns{kernel.TrendMode(in.source())} }},
}
