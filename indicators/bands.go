package indicators

import (
	"cmp"
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// bandEntries are channels around the price and what is derived from them.
var bandEntries = []Indicator{
	{Name: "bbands", Title: "BB", Also: "bb bollinger bollinger_bands", Category: Volatility, Traits: Overlay,
		Doc:     "Bollinger bands: an average, and bands a multiple of the population deviation away. As in TA-Lib, with TradingView's default length.",
		Formula: "middle = SMA(n); upper, lower = middle ± mult * σ(n)",
		Params: []Param{
			lengthFrom(2, 20), factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "deviation"),
			quiet(factor("mult_lower", 0, 0, 20, "deviations to the lower band, 0 for the same as mult")),
			named(choice("ma_type", "kind of average in the middle", slices.Concat(kernel.Averages, []string{"vwma"})...), "type"), source(),
		},
		Memory: averageBy("ma_type", "length"),
		Plots:  bands(), Shades: bandShade, Events: []Event{own(func(d *drawing) []Signal {
			upper, lower := d.of("Upper"), d.of("Lower")
			return append(touches(d.Series, upper, lower), breakouts(d.Close, upper, lower)...)
		}, BreakUp, BreakDown, TouchUpper, TouchLower)},
		Calc: func(in Input) Columns {
			up, down := in.Float("mult"), cmp.Or(in.Float("mult_lower"), in.Float("mult"))
			x, n := in.source(), in.Int("length")
			return together(kernel.Bollinger(x, n, up, down, average(in.Series, x, in.Args)))
		}},
	{Name: "accbands", Title: "Acc Bands", Also: "abands acceleration_bands", Category: Volatility, Traits: Overlay,
		Doc:     "Headley's acceleration bands: averages of highs and lows pushed apart by the relative range of each bar. As in TA-Lib.",
		Formula: "upper = SMA(high*(1+r)), middle = SMA(close), lower = SMA(low*(1-r)), r = 4*(high-low)/(high+low)",
		Params:  []Param{length(20)}, Plots: bands(), Shades: bandShade, Events: []Event{breaks("Upper", "Lower")},
		Calc: func(in Input) Columns {
			n := in.Int("length")
			// TA-Lib pushes each bar's high and low apart before it averages them. A bar at
			// a price of 0 has no relative range and is taken as it is.
			r := kernel.Ratio(kernel.Minus(in.High, in.Low), kernel.Plus(in.High, in.Low), 4)
			wideHigh, wideLow := kernel.Plus(in.High, kernel.Times(in.High, r)), kernel.Minus(in.Low, kernel.Times(in.Low, r))
			return Columns{kernel.SMA(in.Close, n), kernel.SMA(wideHigh, n), kernel.SMA(wideLow, n)}
		}},
	{Name: "keltner", Title: "Keltner", Also: "kc keltner_channel keltner_channels", Category: Volatility, Traits: Overlay,
		Doc: "Keltner channel: an exponential average, and bands a multiple of the average true range away, TA-Lib's ATR. As at TradingView; the variant tr_ema, Pine's ta.kc, " +
			"takes an exponential average of the true range over the channel's own length instead of Wilder's over atr_length.",
		Formula: "middle = EMA(x, n); upper, lower = middle ± mult * ATR(m)",
		Params: []Param{
			length(20), bars("atr_length", 10, "bars of the true range's average; unused by tr_ema", "atr", "atr_period"),
			factor("mult", 2, 0.01, 20, "ranges between the middle and a band"), choice("variant", "how the true range is averaged", "atr", "tr_ema"), source(),
		},
		Memory: longest(ema("length"), wilder("atr_length")), Plots: bands(), Shades: bandShade, Events: []Event{breaks("Upper", "Lower")},
		Calc: func(in Input) Columns {
			n := in.Int("length")
			mid := kernel.EMA(in.source(), n)
			reach := kernel.ATR(in.Series, in.Int("atr_length"))
			if in.Choice("variant") == "tr_ema" {
				reach = kernel.EMA(kernel.TrueRange(in.Series), n)
			}
			return Columns{mid, kernel.Offset(mid, reach, in.Float("mult")), kernel.Offset(mid, reach, -in.Float("mult"))}
		}},
	{Name: "donchian", Title: "Donchian", Also: "dc price_channel donchian_channel donchian_channels", Category: Volatility, Traits: Overlay,
		Doc:     "Donchian channel: the highest high and the lowest low of the last bars, this bar included, and their middle. The turtles bought new highs of 20 days. As at TradingView.",
		Formula: "upper = max(high, n); lower = min(low, n); middle = (upper + lower) / 2",
		Params:  []Param{length(20)},
		// This bar is part of its channel, so no close can leave it: a signal is an edge that moves outwards.
		Plots: bands(), Shades: bandShade, Events: []Event{highs("Upper"), lows("Lower")},
		Calc: func(in Input) Columns {
			upper, lower := kernel.Highest(in.High, in.Int("length")), kernel.Lowest(in.Low, in.Int("length"))
			return Columns{kernel.Midway(upper, lower), upper, lower}
		}},
	{Name: "envelope", Title: "Env", Also: "ma_env ma_envelope envelopes moving_average_envelope", Category: Volatility, Traits: Overlay,
		Doc:     "Moving average envelope: bands a fixed percentage around an average. Fixed bands say how far a price is stretched, not how nervous the market is. As at TradingView, around a simple average; exponential is the other choice.",
		Formula: "upper, lower = MA(x, n) * (1 ± percent/100)",
		Params:  []Param{length(20), factor("percent", 10, 0.01, 99, "distance of the bands in percent", "deviation"), choice("ma", "which average", "sma", "ema"), source()},
		Memory:  ema("length"), Plots: bands(), Shades: bandShade, Events: []Event{reaches("Upper", "Lower")},
		Calc: func(in Input) Columns {
			mid, by := kernel.Average(in.Choice("ma"), in.source(), in.Int("length")), in.Float("percent")/100
			return Columns{mid, kernel.Scaled(mid, 1+by), kernel.Scaled(mid, 1-by)}
		}},
	// Bands around the line as it ends at each bar. The usual drawing, one channel
	// through the newest bars, would change its past with every bar.
	{Name: "linreg_channel", Title: "LinReg", Also: "stdev_channels linear_regression_channel regression_channel", Category: Trend, Traits: Overlay,
		Doc:     "Linear regression channel: the end of the straight line that fits the last prices best, and bands a multiple of their deviation from it away. Every bar shows the line as it was then; a channel drawn through past bars would show them what came later.",
		Formula: "middle = end of the regression over n bars; upper, lower = middle ± mult * √(mean squared distance from the line)",
		Params:  []Param{lengthFrom(2, 100), factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "deviation"), source()},
		Plots:   bands(), Shades: bandShade, Events: []Event{breaks("Upper", "Lower")},
		Calc: func(in Input) Columns {
			x, n := in.source(), in.Int("length")
			mid, slope := kernel.Regression(x, n)
			dev := kernel.Variance(x, n)
			// A line of slope b has the variance b² times that of time; the rest is the spread
			// around it, which rounding may leave just below zero.
			time := (float64(n)*float64(n) - 1) / 12 // variance of n bars
			for i, v := range dev {
				dev[i] = math.Sqrt(max(0, v-float64(slope[i]*slope[i]*time)))
			}
			return Columns{mid, kernel.Offset(mid, dev, in.Float("mult")), kernel.Offset(mid, dev, -in.Float("mult"))}
		}},
	{Name: "starc", Title: "STARC", Also: "stoller starc_bands stoller_bands", Category: Volatility, Traits: Overlay,
		Doc:     "Stoller average range channel: a short simple average, and bands a multiple of TA-Lib's average true range away.",
		Formula: "upper, lower = SMA(close, n) ± mult * ATR(m)",
		Params:  []Param{length(5), bars("atr_length", 15, "bars of the average true range", "atr", "atr_period"), factor("mult", 2, 0.01, 20, "ranges between the middle and a band"), source()},
		// Wilder's average of the range remembers its start far longer than the mean.
		Memory: longest(window("length"), wilder("atr_length")),
		Plots:  bands(), Shades: bandShade, Events: []Event{reaches("Upper", "Lower")},
		Calc: func(in Input) Columns {
			mid, atr := kernel.SMA(in.source(), in.Int("length")), kernel.ATR(in.Series, in.Int("atr_length"))
			return Columns{mid, kernel.Offset(mid, atr, in.Float("mult")), kernel.Offset(mid, atr, -in.Float("mult"))}
		}},
	{Name: "bb_percent_b", Title: "%B", Also: "pctb %b percent_b bb_pctb bbp_b bollinger_bands_b", Category: Volatility,
		Doc:     "Bollinger %B: where the price lies between the bands, 0 at the lower and 1 at the upper. No value where the bands meet.",
		Formula: "%B = (x - lower) / (upper - lower)",
		Params:  bollingerParams(),
		Plots:   []Plot{mainly("%B")}, Events: []Event{crossesAt("%B", 1, BreakUp, "").meaning("%B crosses 1 from below"), crossesAt("%B", 0, "", BreakDown).meaning("%B crosses 0 from above")}, Levels: constant(1, 0.5, 0),
		Calc: func(in Input) Columns {
			x, n, mult := in.source(), in.Int("length"), in.Float("mult")
			// Minus makes the distance exactly 0 for a price on the band, and Quotient
			// leaves no value where the bands have no width.
			dev := kernel.StdDev(x, n)
			lower := kernel.Offset(kernel.SMA(x, n), dev, -mult)
			return Columns{kernel.Quotient(kernel.Minus(x, lower), kernel.Scaled(dev, 2*mult))}
		}},
	{Name: "bb_bandwidth", Title: "BBW", Also: "bbw bandwidth bollinger_bandwidth bollinger_bands_width bbwidth bb_width", Category: Volatility,
		Doc:     "Bollinger bandwidth: the width of the bands as a fraction of the middle (TradingView shows it in percent). squeeze_on fires where it becomes the narrowest of the lookback, which Bollinger puts at half a year.",
		Formula: "BBW = (upper - lower) / middle",
		Params:  append(bollingerParams(), bars("lookback", 125, "bars in which a squeeze is the narrowest", "squeeze")),
		Memory:  after(window("length"), window("lookback")),
		Plots:   []Plot{mainly("BBW")}, Events: []Event{own(func(d *drawing) []Signal { return narrowest(d.of("BBW"), d.Int("lookback")) }, SqueezeOn)},
		Calc: func(in Input) Columns {
			x, n := in.source(), in.Int("length")
			// The width from the deviation itself: upper less lower would cancel digits.
			return Columns{kernel.Quotient(kernel.Scaled(kernel.StdDev(x, n), 2*in.Float("mult")), kernel.SMA(x, n))}
		}},
	{Name: "bbtrend", Title: "BBTrend", Also: "bollinger_trend bb_trend", Category: Trend,
		Doc:     "Bollinger trend of Bollinger: compares short with long bands. Above zero the lower bands are the further apart, in a rising market; below zero the upper ones. As at TradingView.",
		Formula: "100 * (|lower short - lower long| - |upper short - upper long|) / middle short",
		Params: []Param{
			atLeast(2, bars("short", 20, "short bands", "length", "fast")), atLeast(2, bars("long", 50, "long bands", "slow")),
			factor("mult", 2, 0.01, 20, "deviations between the middle and a band"), source(),
		},
		Memory: window("short", "long"),
		Plots:  []Plot{histogram("BBTrend")}, Events: []Event{zero("BBTrend"), turnsBeside("BBTrend", hundred)}, Levels: constant(0),
		Calc: func(in Input) Columns {
			x, mult := in.source(), in.Float("mult")
			// Both pairs of bands in two numbers: how far their middles are apart, and their half widths.
			middle := kernel.SMA(x, in.Int("short"))
			centres := kernel.Minus(middle, kernel.SMA(x, in.Int("long")))
			reaches := kernel.Minus(kernel.StdDev(x, in.Int("short")), kernel.StdDev(x, in.Int("long")))
			reach := kernel.Scaled(reaches, mult)
			// By how much the lower bands lie further apart than the upper ones is |centre - reach| -
			// |centre + reach|. The two may agree to the last digit; twice the smaller of centre and
			// reach, with the sign of their product turned, is the same without a subtraction.
			out := make([]float64, len(centres))
			for i, c := range centres {
				out[i] = 2 * min(math.Abs(c), math.Abs(reach[i]))
				if c*reach[i] > 0 {
					out[i] = -out[i]
				}
			}
			return Columns{kernel.Ratio(out, middle, 100)}
		}},
}

// average returns the average of x that the parameter "ma_type" names;
// nil for the mean, which kernel.Bollinger has at hand.
func average(s *market.Series, x []float64, a Args) []float64 {
	switch kind := a.Choice("ma_type"); kind {
	case "sma":
		return nil
	case "vwma":
		return volumeWeighted(s, x, a.Int("length"))
	default:
		return kernel.Average(kind, x, a.Int("length"))
	}
}

// bollingerParams returns the parameters of what is derived from Bollinger bands.
func bollingerParams() []Param {
	return []Param{
		lengthFrom(2, 20), factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "deviation"), source(),
	}
}

// narrowest marks where x becomes the lowest of its last n values, having not been so
// the bar before. The bar before must have been wider, so that a bandwidth that stays
// at its lowest is one signal.
func narrowest(x []float64, n int) []Signal {
	low := kernel.Lowest(x, n) // copies of values of x, so plain comparisons are exact, and false for NaN
	return toned(Accent, marked(x, SqueezeOn, "", func(i int) int {
		return either(i > 0 && x[i] == low[i] && x[max(0, i-1)] > low[max(0, i-1)], false)
	}))
}
