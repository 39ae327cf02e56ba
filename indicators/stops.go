package indicators

import (
	"cmp"
	"math"

	"wick/indicators/kernel"
	"wick/market"
)

// stopEntries are trailing stops and lines that change sides.
var stopEntries = []Indicator{
	{Name: "sar", Title: "SAR", Also: "psar parabolic_sar parabolic", Category: Trend, Traits: Overlay,
		Doc:     "Wilder's parabolic stop and reverse: a trailing stop that closes in faster the further the trend runs, and changes sides when hit. As in TA-Lib, which begins on the second bar.",
		Formula: "SAR = SAR[1] + f*(extreme - SAR[1]); f grows by increment with every new extreme, to maximum",
		Params: []Param{
			factor("start", 0.02, 0, 10, "first factor", "af"), factor("increment", 0.02, 0, 10, "what a new extreme adds to the factor", "step"),
			factor("maximum", 0.2, 0, 10, "largest factor", "max"),
		},
		Memory: Memory{bars: func(a Args) int { return sarWarmup(a.Float("start"), a.Float("maximum")) }, endless: func(a Args) string { return sarStill(a, "") }, settles: sarTurned},
		Plots:  []Plot{{Label: "SAR", Style: Dots}, unseen("Side")}, Events: []Event{flips("SAR")},
		Calc: func(in Input) Columns {
			f := kernel.Acceleration{Start: in.Float("start"), Step: in.Float("increment"), Most: in.Float("maximum")}
			stop, up := kernel.Parabolic(in.Series, f, f, 0, 0)
			return Columns{stop, sides(up)}
		}},
	{Name: "sarext", Title: "SAR Ext", Also: "extended_sar sar_extended", Category: Trend, Traits: Overlay,
		Doc:     "Parabolic stop and reverse with factors of their own for rising and falling markets, a chosen first value and a wider stop after a turn. As in TA-Lib, but falling stops are not shown as negative numbers.",
		Formula: "as sar; on a turn the stop moves away by offset * SAR",
		Params: []Param{
			factor("start_value", 0, -1e12, 1e12, "first stop: positive starts rising, negative falling, 0 lets the price decide"),
			factor("offset", 0, 0, 10, "part of itself by which the stop widens on a turn"), factor("start_long", 0.02, 0, 10, "first factor in a rise"),
			factor("increment_long", 0.02, 0, 10, "what a new high adds"), factor("maximum_long", 0.2, 0, 10, "largest factor in a rise"),
			factor("start_short", 0.02, 0, 10, "first factor in a fall"), factor("increment_short", 0.02, 0, 10, "what a new low adds"),
			factor("maximum_short", 0.2, 0, 10, "largest factor in a fall"),
		},
		Memory: Memory{bars: func(a Args) int {
			return sarWarmup(min(a.Float("start_long"), a.Float("start_short")), min(a.Float("maximum_long"), a.Float("maximum_short")))
		}, endless: func(a Args) string { return cmp.Or(sarStill(a, "_long"), sarStill(a, "_short")) }, settles: sarTurned},
		Plots: []Plot{{Label: "SAR", Style: Dots}, unseen("Side")}, Events: []Event{flips("SAR")},
		Calc: func(in Input) Columns {
			// TA-Lib has a set of factors for each direction; where a first factor exceeds
			// the largest one, the kernel uses the largest.
			long := kernel.Acceleration{Start: in.Float("start_long"), Step: in.Float("increment_long"), Most: in.Float("maximum_long")}
			short := kernel.Acceleration{Start: in.Float("start_short"), Step: in.Float("increment_short"), Most: in.Float("maximum_short")}
			stop, up := kernel.Parabolic(in.Series, long, short, in.Float("start_value"), in.Float("offset"))
			return Columns{stop, sides(up)}
		}},
	{Name: "supertrend", Title: "Supertrend", Also: "st super_trend", Category: Trend, Form: stopping,
		Doc:     "Supertrend: a trailing stop a multiple of the average true range from the middle of the bar. It only tightens until a close breaks it, then changes sides. As TradingView's ta.supertrend, which starts in a falling trend.",
		Formula: "hl2 ± mult * ATR(n); the band in force only moves towards the price and flips when a close crosses it",
		Params:  []Param{bars("length", 10, "bars of the average true range", "period", "len", "window"), factor("mult", 3, 0.01, 50, "ranges between price and stop")},
		Memory:  untilTurned("mult", 1, wilder("length")),
		Calc: func(in Input) Columns {
			mult := in.Float("mult")
			atr := kernel.ATRPine(in.Series, in.Int("length"))
			stop, up := atr, make([]bool, in.Len()) // the range of a bar is read once, so its place can take the stop
			var upper, lower float64
			rising, first := false, kernel.FirstValid(atr)
			for i := first; i < len(atr); i++ {
				// Not kernel.MedianPrice: its correction of the last bits would decide ties between
				// a close and a band, which the range, uncorrected, is part of as well.
				mid, reach := (in.High[i]+in.Low[i])/2, float64(mult*atr[i])
				newUpper, newLower := mid+reach, mid-reach
				// A band moves towards the price only, unless the close before had gone
				// through it: then it starts anew from this bar.
				if i == first || newUpper < upper || in.Close[i-1] > upper {
					upper = newUpper
				}
				if i == first || newLower > lower || in.Close[i-1] < lower {
					lower = newLower
				}
				// A close on the stop keeps the trend, on either side. The first bar counts as falling.
				if rising {
					rising = !(in.Close[i] < lower)
				} else {
					rising = i > first && in.Close[i] > upper
				}
				up[i] = rising
				if stop[i] = upper; rising {
					stop[i] = lower
				}
			}
			return stopColumns(stop, up)
		}},
	{Name: "chandelier_exit", Title: "CE", Also: "ce chexit chandelier", Category: Trend, Traits: Overlay,
		Doc: "Chandelier exit of Le Beau: a stop for longs that hangs from the highest high by a multiple of the average true range, and one for shorts that stands on the lowest low. " +
			"Both lines are the plain levels, without a ratchet. The trend turns up when a close passes the stop of the shorts, down when one passes that of the longs.",
		Formula: "long = max(high, n) - mult * ATR(n); short = min(low, n) + mult * ATR(n)",
		Params:  []Param{length(22), factor("mult", 3, 0.01, 50, "ranges between extreme and stop")},
		Memory:  wilder("length"),
		Plots:   []Plot{{Label: "Long", Tone: Up}, {Label: "Short", Tone: Down}}, Events: []Event{own(func(d *drawing) []Signal { return stopBreaks(d.Series, d.of("Long"), d.of("Short")) }, FlipUp, FlipDown)},
		Calc: func(in Input) Columns {
			n, mult := in.Int("length"), in.Float("mult")
			atr := kernel.ATRPine(in.Series, n)
			return Columns{kernel.Offset(kernel.Highest(in.High, n), atr, -mult), kernel.Offset(kernel.Lowest(in.Low, n), atr, mult)}
		}},
	{Name: "chande_kroll_stop", Title: "CKS", Also: "cksp chande_kroll", Category: Trend, Traits: Overlay,
		Doc: "Chande Kroll stop: stops a multiple of the average true range from the extremes, smoothed by taking their own extremes. As at TradingView. " +
			"A close above both lines is bullish, below both bearish.",
		Formula: "short = max(max(high, n) - mult*ATR(n), q); long = min(min(low, n) + mult*ATR(n), q)",
		Params:  []Param{length(10), factor("mult", 1, 0.01, 50, "ranges between extreme and stop", "x"), bars("stop", 9, "bars over which the stops are smoothed", "q")},
		Memory:  after(wilder("length"), window("stop")),
		// The two stops may change places, so the lower one of each bar counts as that of the longs.
		Plots: []Plot{{Label: "Long", Tone: Up}, {Label: "Short", Tone: Down}}, Events: []Event{own(func(d *drawing) []Signal {
			long, short := d.of("Long"), d.of("Short")
			return stopBreaks(d.Series, kernel.Lesser(long, short), kernel.Greater(long, short))
		}, FlipUp, FlipDown)},
		Calc: func(in Input) Columns {
			n, q, mult := in.Int("length"), in.Int("stop"), in.Float("mult")
			atr := kernel.ATRPine(in.Series, n)
			short := kernel.Highest(kernel.Offset(kernel.Highest(in.High, n), atr, -mult), q)
			return Columns{kernel.Lowest(kernel.Offset(kernel.Lowest(in.Low, n), atr, mult), q), short}
		}},
	{Name: "gann_hilo", Title: "HiLo", Also: "hilo gann_high_low gann_hilo_activator", Category: Trend, Form: stopping,
		Doc:     "Gann high-low activator of Krausz: an average of the lows as stop while closes break the average of the highs, and the reverse. Between the two averages the last stop stays where it was, as in pandas-ta.",
		Formula: "close > SMA(high, n)[1]: SMA(low, m); close < SMA(low, m)[1]: SMA(high, n); else unchanged",
		Params:  []Param{bars("high", 13, "average of the highs", "length", "period"), bars("low", 21, "average of the lows")},
		// A close beyond one of the averages sets side and stop anew; 100 bars allow for one.
		Memory: after(lengths(2, "high", "low"), fixed(100)),
		Calc: func(in Input) Columns {
			highs, lows := kernel.SMA(in.High, in.Int("high")), kernel.SMA(in.Low, in.Int("low"))
			stop, up := kernel.NaNs(in.Len()), make([]bool, in.Len())
			for i := 1; i < len(stop); i++ {
				switch {
				case kernel.Compare(in.Close[i], highs[i-1]) > 0:
					stop[i], up[i] = lows[i], true
				case kernel.Compare(in.Close[i], lows[i-1]) < 0:
					stop[i], up[i] = highs[i], false
				default:
					stop[i], up[i] = stop[i-1], up[i-1]
				}
			}
			return stopColumns(stop, up)
		}},
	{Name: "volatility_stop", Title: "VStop", Also: "vstop", Category: Trend, Form: stopping,
		Doc:     "Volatility stop: a multiple of the average true range below the highest close since the trend began, or above the lowest; it never gives way and turns on a close beyond it. As at TradingView; starts in a rising trend on the first bar with a range.",
		Formula: "rising: stop = max(stop[1], highest close - mult * ATR(n)); falling mirrored",
		Params:  []Param{length(20), factor("mult", 2, 0.01, 50, "ranges between price and stop")},
		Memory:  untilTurned("mult", 1, wilder("length")),
		Calc: func(in Input) Columns {
			atr, mult := kernel.ATRPine(in.Series, in.Int("length")), in.Float("mult")
			first := kernel.FirstValid(atr)
			stop, up := kernel.Unknown(len(in.Close), first), make([]bool, len(in.Close))
			var extreme, level float64 // best close of the trend, and its stop
			rising := true
			for i := first; i < len(in.Close); i++ {
				reach := float64(mult * atr[i])
				switch {
				case i == first:
					extreme, level = in.Close[i], in.Close[i]-reach
				case rising:
					extreme = max(extreme, in.Close[i])
					level = max(level, extreme-reach)
				default:
					extreme = min(extreme, in.Close[i])
					level = min(level, extreme+reach)
				}
				// A close beyond the stop turns the trend, and both start anew from that close.
				if now := kernel.Compare(in.Close[i], level) >= 0; now != rising {
					rising, extreme = now, in.Close[i]
					if level = in.Close[i] + reach; rising {
						level = in.Close[i] - reach
					}
				}
				stop[i], up[i] = level, rising
			}
			return stopColumns(stop, up)
		}},
	// The stop is moved and crossed by closes alone; highs and lows count in its range.
	{Name: "ut_bot", Title: "UT Bot", Also: "utbot ut_bot_alerts", Category: Trend, Form: stopping,
		Doc:     "UT Bot: a stop that trails the close at a multiple of the average true range and changes sides when a close crosses it. After the script by QuantNomad on TradingView.",
		Formula: "two closes above the stop: max(stop[1], close - key * ATR(n)); two below: min(stop[1], close + key * ATR(n)); else anew from this close",
		Params:  []Param{factor("key", 1, 0.01, 50, "ranges between price and stop", "mult", "sensitivity"), bars("length", 10, "bars of the average true range", "period")},
		Memory:  untilTurned("key", 1, wilder("length")),
		Calc: func(in Input) Columns {
			atr, mult := kernel.ATRPine(in.Series, in.Int("length")), in.Float("key")
			first := kernel.FirstValid(atr)
			stop, up := kernel.Unknown(len(in.Close), first), make([]bool, len(in.Close))
			for i := first; i < len(in.Close); i++ {
				below, above := in.Close[i]-float64(mult*atr[i]), in.Close[i]+float64(mult*atr[i])
				if i == first {
					stop[i], up[i] = below, kernel.Compare(in.Close[i], below) > 0
					continue
				}
				// Two closes on one side: the stop only moves towards them. Else it starts anew.
				switch before, now := kernel.Compare(in.Close[i-1], stop[i-1]), kernel.Compare(in.Close[i], stop[i-1]); {
				case now > 0 && before > 0:
					stop[i] = max(stop[i-1], below)
				case now < 0 && before < 0:
					stop[i] = min(stop[i-1], above)
				case now > 0:
					stop[i] = below
				default:
					stop[i] = above
				}
				up[i] = kernel.Compare(in.Close[i], stop[i]) > 0
			}
			return stopColumns(stop, up)
		}},
	{Name: "pmax", Title: "PMax", Also: "profit_maximizer", Category: Trend, Traits: Overlay,
		Doc:     "Profit maximizer: a supertrend of a moving average of hl2, which turns when the average, not the close, crosses the stop. After KivancOzbilgic's script.",
		Formula: "stop trails MA(hl2, m) by mult * ATR(n), only towards it, and changes sides when the average crosses it",
		Params: []Param{
			bars("length", 10, "bars of the true range's average", "period"), factor("mult", 3, 0.1, 50, "ranges between average and stop"),
			bars("ma_length", 10, "bars of the average", "average"), averageType("ma_type", "ema", "kind of average"),
		},
		Memory: untilTurned("mult", 2, after(wilder("length"), averageBy("ma_type", "ma_length"))), // from an average, which lags
		Plots:  append(stopPlots(), mainly("Average")), Events: []Event{flips("Stop")},
		Calc: func(in Input) Columns {
			line := kernel.Average(in.Choice("ma_type"), kernel.MedianPrice(in.Series), in.Int("ma_length"))
			return append(stopColumns(ratchet(line, kernel.Scaled(kernel.ATRPine(in.Series, in.Int("length")), in.Float("mult")))), line)
		}},
	{Name: "ott", Title: "OTT", Also: "optimized_trend_tracker", Category: Trend, Traits: Overlay,
		Doc:     "Optimized trend tracker: a trailing stop some percent from an adaptive average, moved by half that percentage, and shown two bars late. The trend turns where the average crosses it. After KivancOzbilgic's script.",
		Formula: "stop trails A = VAR(x, n) by percent; OTT = stop * (1 ± percent/200), + where A > stop; shown as OTT[2]",
		Params:  []Param{length(2), factor("percent", 1.4, 0.01, 50, "distance of the stop in percent"), source()},
		// A price takes the square of a distance to cover it, whatever the length of the
		// bars: percent squared days are enough as a rule.
		Memory: Memory{seconds: func(a Args, iv market.Interval) int64 {
			percent := a.Float("percent")
			days := min(int64(percent*percent*86400), MaxWarmup*iv.Seconds())
			return max(days, int64(500+ottMemory.bars(a))*iv.Seconds())
		}, settles: func(d *drawing) int { return turned(d.of("Side"), ottMemory.bars(d.Args)/4, 2) + 2 }}, // shown two bars late
		Plots: []Plot{mainly("Average"), second("OTT"), unseen("Side")}, Events: []Event{lines("Average", "OTT").crossedBy("the average", "the stop")},
		Calc: func(in Input) Columns {
			line, percent := vidya(in.source(), in.Int("length"), ottMomentum, ottMomentum), in.Float("percent")
			stop, up := ratchet(line, kernel.Scaled(line, percent/100))
			for i, v := range stop {
				if by := percent / 200; kernel.Compare(line[i], v) > 0 {
					stop[i] = v * (1 + by)
				} else {
					stop[i] = v * (1 - by)
				}
			}
			return Columns{line, kernel.Shift(stop, 2), sides(up)}
		}},
	{Name: "alphatrend", Title: "AlphaTrend", Also: "alpha_trend", Category: Trend, Traits: Overlay,
		Doc:     "AlphaTrend: a stop below the lows while money flows in (MFI at least 50), above the highs while it flows out, that only moves towards the price; and itself two bars ago, whose crosses are the signals. After KivancOzbilgic's script.",
		Formula: "up = low - mult * SMA(TR, n); down = high + mult * SMA(TR, n); line = max(line[1], up) if MFI(n) >= 50, else min(line[1], down)",
		Params:  []Param{length(14), factor("mult", 1, 0.1, 20, "ranges between price and line"), choice("momentum", "what decides the side", "mfi", "rsi")},
		// The price must cover the distance to the line on both sides to have moved it.
		Memory: untilTurned("mult", 2, wilder("length")).untilKnown(2), // the second line is two bars late
		Plots:  []Plot{mainly("AlphaTrend"), second("Two bars ago"), unseen("Known")}, Shades: []Shade{{A: "AlphaTrend", B: "Two bars ago", Tone: Up, Below: Down}},
		Events: []Event{lines("AlphaTrend", "Two bars ago").meaning("the line is above itself two bars ago, which it was not on the bar before",
			"the line is below itself two bars ago, which it was not on the bar before")},
		Calc: func(in Input) Columns {
			n := in.Int("length")
			push := kernel.MFI(in.Series, n)
			if in.Choice("momentum") == "rsi" {
				push = kernel.RSI(in.Close, n)
			}
			reach := kernel.Scaled(kernel.SMA(kernel.TrueRangePine(in.Series), n), in.Float("mult"))
			first := max(kernel.FirstValid(push), kernel.FirstValid(reach))
			line, known, possible := kernel.Unknown(len(push), first), kernel.NaNs(len(push)), anywhere()
			for i := first; i < len(line); i++ {
				below, above := in.Low[i]-reach[i], in.High[i]+reach[i]
				rising := kernel.Compare(push[i], 50) >= 0
				if rising {
					possible = possible.clamp(below, math.Inf(1))
				} else {
					possible = possible.clamp(math.Inf(-1), above)
				}
				known[i] = possible.met()
				switch {
				case i == first && rising:
					line[i] = below
				case i == first:
					line[i] = above
				case rising:
					line[i] = max(line[i-1], below)
				default:
					line[i] = min(line[i-1], above)
				}
			}
			return Columns{line, kernel.Shift(line, 2), known}
		}},
	{Name: "halftrend", Title: "HalfTrend", Also: "half_trend", Category: Trend, Traits: Overlay,
		Doc:     "HalfTrend: a line below a rising market, the highest of its recent lows, and above a falling one, the lowest of its recent highs, with a channel of half the average true range times the deviation. After everget's script.",
		Formula: "up: line = max(line, low of the lowest of n bars); turns down: SMA(high, n) < that low and close < low[1]; channel: line ± deviation * ATR(100) / 2",
		Params:  []Param{factorInt("length", 2, 1, 200, "bars of the extremes and means", "amplitude", "period"), factor("deviation", 2, 0, 20, "half ranges to the channel", "mult")},
		// The channel's range is Wilder's average of 100 bars; the line forgets where it
		// began with a turn, for which 100 lengths are allowed.
		Memory: after(fixed(kernel.WilderMemory*100), lengths(100, "length")),
		Plots:  append(stopPlots(), bands()[1:]...), Shades: bandShade, Events: []Event{flips("Stop")},
		Calc: func(in Input) Columns {
			n := in.Int("length")
			// Floor and ceiling are judged with the means of highs and lows, so one wide bar turns nothing.
			line, up := kernel.NaNs(in.Len()), make([]bool, in.Len())
			meanHigh, meanLow := kernel.SMA(in.High, n), kernel.SMA(in.Low, n)
			top, bottom := kernel.Highest(in.High, n), kernel.Lowest(in.Low, n)
			rising, watch := true, false // watch: the next turn looked for is downwards
			var floor, ceiling float64   // highest recent low and lowest recent high since the last turn
			for i := max(1, n-1); i < in.Len(); i++ {
				if i == max(1, n-1) {
					// The script starts in a rise, looking for the turn upwards.
					floor, ceiling = in.Low[i-1], in.High[i-1]
				}
				was := rising
				// In a rise the floor follows the recent lows upwards. The turn down needs the
				// mean of the highs below the floor and a close below the low before.
				if watch {
					floor = max(floor, bottom[i])
					if kernel.Compare(meanHigh[i], floor) < 0 && in.Close[i] < in.Low[i-1] {
						rising, watch, ceiling = false, false, top[i]
					}
				} else {
					ceiling = min(ceiling, top[i])
					if kernel.Compare(meanLow[i], ceiling) > 0 && in.Close[i] > in.High[i-1] {
						rising, watch, floor = true, true, bottom[i]
					}
				}
				before := line[i-1]
				switch {
				// A turn keeps the line where it stood; after it the line only moves with the
				// trend. The comparisons are written so that a line that is NaN takes its first
				// value.
				case rising != was && !isNaN(before):
					line[i] = before
				case rising && !(before >= floor):
					line[i] = floor
				case !rising && !(before <= ceiling):
					line[i] = ceiling
				default:
					line[i] = before
				}
				up[i] = rising
			}
			reach := kernel.ATRPine(in.Series, 100)
			return append(stopColumns(line, up), kernel.Offset(line, reach, in.Float("deviation")/2), kernel.Offset(line, reach, -in.Float("deviation")/2))
		}},
	{Name: "range_filter", Title: "Range Filter", Also: "rngfilt", Category: Trend, Traits: Overlay,
		Doc:     "Range filter: a line that stands still while the price stays within a smoothed range of it, and else follows at that distance. After DonovanWall's script.",
		Formula: "r = mult * EMA(EMA(|Δx|, n), 2n-1); filter = max(filter[1], x - r) if x > filter[1], else min(filter[1], x + r)",
		Params:  []Param{length(100), factor("mult", 3, 0.1, 50, "ranges between price and line"), source()},
		// The price must cover the range on both sides to have moved the line. A change of
		// the close is half as large as a bar's range.
		Memory: untilTurned("mult", 1, filterMemory).untilKnown(0),
		Plots:  []Plot{mainly("Filter"), {Label: "Upper", Tone: Band}, {Label: "Lower", Tone: Band}, unseen("Known")}, Events: []Event{turnsOf("Filter")},
		Calc: func(in Input) Columns {
			x, n := in.source(), in.Int("length")
			reach := kernel.Scaled(kernel.EMA(kernel.EMA(kernel.Absolute(kernel.Change(x, 1)), n), 2*n-1), in.Float("mult"))
			from := filterMemory.bars(in.Args) / 4
			first := kernel.FirstValid(reach)
			line, known, possible := kernel.Unknown(len(x), first), kernel.NaNs(len(x)), anywhere()
			for i := first; i < len(x); i++ {
				switch {
				case i == first:
					line[i] = x[i]
				case x[i] > line[i-1]:
					line[i] = max(line[i-1], x[i]-reach[i])
				default:
					line[i] = min(line[i-1], x[i]+reach[i])
				}
				if i >= from {
					possible = possible.clamp(x[i]-reach[i], x[i]+reach[i])
				}
				known[i] = possible.met()
			}
			return Columns{line, kernel.Offset(line, reach, 1), kernel.Offset(line, reach, -1), known}
		}},
	{Name: "ssl_channel", Title: "SSL", Also: "ssl", Category: Trend, Traits: Overlay,
		Doc:     "Semaphore signal level: averages of highs and lows that change places when a close leaves them. After ErwinBeckers' script.",
		Formula: "trend up if close > SMA(high, n), down if close < SMA(low, n), else as before; up line = SMA(high) in a rise, SMA(low) in a fall; down line mirrored",
		Params:  []Param{length(10)},
		Memory:  after(window("length"), fixed(100)), // until a close decides the side
		Plots:   []Plot{{Label: "Up", Tone: Up}, {Label: "Down", Tone: Down}, unseen("Side")}, Shades: []Shade{{A: "Up", B: "Down", Tone: Up, Below: Down}}, Events: []Event{flips("Up")},
		Calc: func(in Input) Columns {
			highs, lows := kernel.SMA(in.High, in.Int("length")), kernel.SMA(in.Low, in.Int("length"))
			up, down, sides := kernel.NaNs(in.Len()), kernel.NaNs(in.Len()), make([]float64, in.Len())
			side := 0.0
			for i, c := range in.Close {
				side = cmp.Or(float64(either(kernel.Compare(c, highs[i]) > 0, kernel.Compare(c, lows[i]) < 0)), side)
				sides[i] = side
				switch side { // in a fall the two averages change places
				case 1:
					up[i], down[i] = highs[i], lows[i]
				case -1:
					up[i], down[i] = lows[i], highs[i]
				}
			}
			return Columns{up, down, sides}
		}},
}

// What the trailing stops share. A stop depends on where its history began until it
// turns, so no fixed number of bars is certain to be enough.

// untilTurned is the memory of a stop that is by times the parameter ranges away from the
// price, in ranges whose own memory is m: the bars that it usually needs until it has turned. A random walk
// needs as many steps as the square of the distance: a stop 3 ranges away turns about every
// 25 bars, one 15 ranges away every 600, and ten times that is enough for nearly every
// market. A very wide stop would need more bars than are ever loaded: its results may stay
// unsettled.
func untilTurned(ranges string, by float64, m Memory) Memory {
	return Memory{bars: func(a Args) int {
		warm, away := m.bars(a), by*a.Float(ranges)
		return warm + max(400, min(int(25*away*away), MaxWarmup-warm))
	}, settles: func(d *drawing) int { return turned(d.of("Side"), m.bars(d.Args)/4, 2) }}
}

// untilKnown returns m of an entry that says in its column "Known" from which bar on it does
// not depend on the history, if what it draws comes later bars late.
func (m Memory) untilKnown(later int) Memory {
	m.settles = func(d *drawing) int { return kernel.FirstValid(d.of("Known")) + later }
	return m
}

// stopping completes the record of a stop below or above the price, with signals where it
// changes sides. What is below or above has a line of its own, so that nothing joins them.
func stopping(ind *Indicator, _ string) {
	ind.Traits, ind.Plots, ind.Events = Overlay, stopPlots(), []Event{flips("Stop")}
}
func stopPlots() []Plot {
	return []Plot{{Label: "Up", Tone: Up}, {Label: "Down", Tone: Down}, unseen("Stop"), unseen("Side")}
}
func stopColumns(stop []float64, up []bool) Columns {
	below, above := kernel.NaNs(len(stop)), kernel.NaNs(len(stop))
	for i, v := range stop {
		if up[i] {
			below[i] = v
		} else {
			above[i] = v
		}
	}
	return Columns{below, above, stop, sides(up)}
}

// sides returns the column "Side": 1 where up, -1 elsewhere.
func sides(up []bool) []float64 {
	out := make([]float64, len(up))
	for i := range out {
		if out[i] = -1; up[i] {
			out[i] = 1
		}
	}
	return out
}

// turned returns the bar after from on which side changes for the n-th time, or len(side) if
// there is none. A stop has a level for each side, and a turn sets one of them again: after
// two turns nothing depends on the history before. Callers count turns from a quarter of
// the bars that the range needs: it is not exact there, but near enough for the turns to be
// on the right bars.
func turned(side []float64, from, n int) int {
	for i := max(1, from); i < len(side); i++ {
		if side[i] != side[i-1] {
			n--
		}
		if n == 0 {
			return i
		}
	}
	return len(side)
}

// bounds is the range of values that a line can have if it began at an unknown value and
// is clamped on every bar. Lines that begin at different values never change their order, so
// once the lowest equals the highest, all are the same, whatever the history before.
type bounds struct{ low, high float64 }

// anywhere is the bounds of a line of which nothing is known.
func anywhere() bounds { return bounds{math.Inf(-1), math.Inf(1)} }

// clamp returns what b becomes when the line is clamped between low and high.
func (b bounds) clamp(low, high float64) bounds {
	return bounds{min(max(b.low, low), high), min(max(b.high, low), high)}
}

// met returns 1 if only one value is left, and else NaN.
func (b bounds) met() float64 {
	if b.low == b.high {
		return 1
	}
	return nan
}

// sarTurns is how often a parabolic stop has turned when it no longer depends on where
// it began: each turn starts it at the extreme of the trend before.
const sarTurns = 4

// sarWarmup allows for these turns. A stop whose factors are smaller than Wilder's comes
// closer more slowly.
func sarWarmup(start, maximum float64) int {
	return int(min(MaxWarmup, 300*max(1, 0.02/start, 0.2/maximum)))
}

// sarStill is the Endless of a stop, for the factors whose names end in suffix. A stop that
// never comes closer turns only where the price leaves the whole range since the first bar.
func sarStill(a Args, suffix string) (set string) {
	switch {
	case a.Float("maximum"+suffix) == 0:
		return "maximum" + suffix + " to more than 0"
	case a.Float("start"+suffix) == 0 && a.Float("increment"+suffix) == 0:
		return "increment" + suffix + " to more than 0"
	}
	return ""
}

// sarTurned returns the bar on which it has.
func sarTurned(d *drawing) int { return turned(d.of("Side"), 1, sarTurns) }

// stopBreaks follows a trend that turns up when a close passes the stop of the
// shorts and down when one passes that of the longs, and marks the turns. Only
// passing counts: over a long window the two stops may have changed places,
// and a close between them would turn the trend on every bar.
func stopBreaks(s *market.Series, long, short []float64) []Signal {
	var signals []Signal
	// 0 until a close has passed one of the stops: nobody knows the trend before.
	trend := 0
	for i := 1; i < s.Len(); i++ {
		before, now := s.Close[i-1], s.Close[i]
		switch {
		// The first passing only says where the trend stands; no turn is marked for it.
		case now > short[i] && before <= short[i-1] && trend <= 0:
			if trend < 0 {
				signals = append(signals, Mark(i, long[i], FlipUp, Up))
			}
			trend = 1
		case now < long[i] && before >= long[i-1] && trend >= 0:
			if trend > 0 {
				signals = append(signals, Mark(i, short[i], FlipDown, Down))
			}
			trend = -1
		}
	}
	return signals
}

// ratchet returns a stop that follows x at a distance of reach, only moves towards
// it, and changes sides when x crosses it. It starts below x. Both pmax and ott turn
// by it.
func ratchet(x, reach []float64) (stop []float64, up []bool) {
	stop, up = kernel.NaNs(len(x)), make([]bool, len(x))
	var long, short float64
	rising, first := true, max(kernel.FirstValid(x), kernel.FirstValid(reach))
	for i := first; i < len(x); i++ {
		lower, upper := x[i]-reach[i], x[i]+reach[i]
		oldLong, oldShort := long, short
		// Both stops are followed all the time: each only moves towards x while x is on
		// its side, and starts anew from x when x has crossed it.
		if long, short = lower, upper; i > first {
			if kernel.Compare(x[i], oldLong) > 0 {
				long = max(lower, oldLong)
			}
			if kernel.Compare(x[i], oldShort) < 0 {
				short = min(upper, oldShort)
			}
			if !rising && kernel.Compare(x[i], oldShort) > 0 {
				rising = true
			} else if rising && kernel.Compare(x[i], oldLong) < 0 {
				rising = false
			}
		}
		up[i] = rising
		if stop[i] = short; rising {
			stop[i] = long
		}
	}
	return stop, up
}

// ottMemory is that of the average. In a market without direction it hardly moves and
// remembers its start for long.
var ottMemory = lengths(40, "length")

// ottMomentum is how many changes the momentum of the script's average has. The average
// starts with the price of the bar that has so many; the script starts from zero, which is
// forgotten.
const ottMomentum = 9

// filterMemory is that of two averages in a row, of n and 2n-1 bars.
var filterMemory = lengths(3*kernel.EMAMemory, "length")
