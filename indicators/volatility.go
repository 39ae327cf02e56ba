package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
)

// volatility has measures of how far prices move.
var volatility = []Indicator{
	{Name: "atr", Title: "ATR", Also: "average_true_range", Category: Volatility, Form: volatile,
		Doc: "Average true range: Wilder's average of the true range, gaps included. As in TA-Lib, where the first bar has no true range; " +
			"the variant pine counts high - low there and begins one bar earlier, as TradingView.",
		Formula: "ATR = (ATR[1]*(n-1) + TR) / n, TR = max(high, close[1]) - min(low, close[1])",
		Params:  []Param{length(14), averageType("ma_type", "rma", "kind of average"), choice("variant", "whose first bar", "talib", "pine")},
		Memory:  averageBy("ma_type", "length"),
		Line: func(in Input) []float64 {
			ranges := kernel.TrueRange(in.Series)
			if in.Choice("variant") == "pine" {
				ranges = kernel.TrueRangePine(in.Series)
			}
			return kernel.Average(in.Choice("ma_type"), ranges, in.Int("length"))
		}},
	{Name: "natr", Title: "NATR", Also: "atr_percent normalized_atr atrp", Category: Volatility, Form: volatile,
		Doc:     "Average true range in percent of the close, so that symbols can be compared. As in TA-Lib.",
		Formula: "NATR = 100 * ATR / close",
		Params:  []Param{length(14)}, Memory: wilder("length"),
		Line: func(in Input) []float64 { return kernel.Ratio(kernel.ATR(in.Series, in.Int("length")), in.Close, 100) }},
	{Name: "true_range", Title: "True Range", Also: "trange tr", Category: Volatility, Form: volatile, Label: "TR",
		Doc:     "True range: the range of the bar, the close before included. As in TA-Lib: none on the first bar.",
		Formula: "TR = max(high, close[1]) - min(low, close[1])",
		Line:    func(in Input) []float64 { return kernel.TrueRange(in.Series) }},
	{Name: "chaikin_volatility", Title: "CVI", Also: "cvi chaikins_volatility", Category: Volatility, Form: aroundZero,
		Doc:     "Chaikin volatility: by how many percent the average range of bars grew. Rising quickly near a bottom, falling slowly near a top.",
		Formula: "CVI = ROC(EMA(high - low, n), n)",
		Params:  []Param{length(10)},
		Memory:  after(ema("length"), window("length")),
		Line: func(in Input) []float64 {
			n := in.Int("length")
			return kernel.ROC(kernel.EMA(kernel.Minus(in.High, in.Low), n), n)
		}},
	{Name: "mass_index", Title: "Mass", Also: "massi mass", Category: Volatility,
		Doc:     "Mass index of Dorsey: ranges that widen and narrow again announce a turn, whichever way. The bulge is a rise above 27 and a fall back below 26.5.",
		Formula: "Σ over n bars of EMA(high - low, 9) / EMA(EMA(high - low, 9), 9)",
		Params: []Param{
			bars("ema", 9, "averages of the range", "fast"), bars("length", 25, "bars in the sum", "period", "len", "slow", "window"),
			quiet(factor("upper", 27, 1, 1000, "level a bulge rises above")), quiet(factor("lower", 26.5, 1, 1000, "level it falls back below")),
		},
		Memory: after(lengths(2*kernel.EMAMemory, "ema"), window("length")),
		Plots:  []Plot{mainly("Mass")}, Events: []Event{own(func(d *drawing) []Signal { return bulges(d.of("Mass"), d.Float("lower"), d.Float("upper")) }, Bulge)}, Levels: func(a Args) []float64 { return []float64{a.Float("upper"), a.Float("lower")} },
		Calc: func(in Input) Columns {
			once := kernel.EMA(kernel.Minus(in.High, in.Low), in.Int("ema"))
			return Columns{kernel.RollingSum(kernel.Ratio(once, kernel.EMA(once, in.Int("ema")), 1), in.Int("length"))}
		}},
	{Name: "ulcer_index", Title: "Ulcer", Also: "ui ulcer", Category: Volatility, Form: volatile,
		Doc: "Ulcer index of Martin: the usual depth of drawdowns in percent, which unlike a deviation minds only falls. As at TradingView each drawdown is measured from the highest price of the n bars before it; " +
			"the variant window looks at nothing before the window itself.",
		Formula: "UI = √(Σ d² / n), d = 100 * (x / highest - 1)",
		Params:  []Param{length(14), choice("variant", "where a drawdown is measured from", "nested", "window"), source()},
		Memory:  lengths(2, "length"),
		Line: func(in Input) []float64 {
			x, n := in.source(), in.Int("length")
			first := kernel.FirstValid(x) + n - 1
			line := kernel.Unknown(len(x), first)
			if in.Choice("variant") == "window" {
				// A drawdown from a top that is no positive price counts as 0.
				for i := first; i < len(x); i++ {
					// scale turns a fall from the top so far into percent.
					top, scale, sum := math.Inf(-1), 0.0, 0.0
					for _, v := range x[i-n+1 : i+1] {
						if v > top {
							top, scale = v, 0
							if top > 0 {
								scale = 100 / top
							}
						}
						fall := (top - v) * scale
						sum += float64(fall * fall)
					}
					line[i] = sum / float64(n)
				}
			} else {
				// Each fall is measured from the top of its own n bars, so 2n-1 bars take part.
				top := kernel.Highest(x, n)
				falls := kernel.Ratio(kernel.Minus(x, top), top, 100)
				line = kernel.SMA(kernel.Times(falls, falls), n)
			}
			return kernel.Each(line, func(v float64) float64 { return math.Sqrt(max(0, v)) })
		}},
	// A year of independent returns has the variance of one bar times its bars, hence the root.
	{Name: "hist_volatility", Title: "HV", Also: "histvol hv hvol historical_volatility volatility_historical", Category: Volatility, Form: volatile,
		Doc: "Historical volatility: the deviation of the logarithmic returns, in percent a year. Population deviation, as at TradingView; the bars of a year follow from the interval and the hours of the market: " +
			"252 days of an exchange; 365 days or 8760 hours where it never closes or the source tells no hours; or what periods says.",
		Formula: "HV = 100 * σ(ln(x / x[1]), n) * √periods",
		Params:  []Param{lengthFrom(2, 20), barsInYear(), source()},
		Line: func(in Input) []float64 {
			// A price that is not positive has no return; the deviation starts anew after it.
			deviation := kernel.InRuns(kernel.LogReturns(in.source(), 1), func(x []float64) []float64 { return kernel.StdDev(x, in.Int("length")) })
			return kernel.Scaled(deviation, 100*math.Sqrt(perYear(in)))
		}},
	{Name: "rvi_volatility", Title: "RVI", Also: "relative_volatility_index rvi", Category: Volatility,
		Doc:     "Relative volatility index of Dorsey: which share of the deviation falls on bars that rose. As at TradingView: population deviation, exponential averages; the variant talib takes Wilder's averages and counts unchanged bars on neither side, as TA-Lib 0.8. 0 when nothing moved.",
		Formula: "RVI = 100 * U / (U + D), U = EMA(σ where x rose, else 0), D = EMA(σ where it did not, else 0)",
		Params: slices.Concat([]Param{lengthFrom(2, 10), bars("smooth", 14, "average of the deviations"), choice("variant", "whose averages", "tradingview", "talib")},
			zone(40, 60, 0, 100), []Param{source()}),
		// Enough for Wilder's averages; the exponential ones need half of it.
		Memory: after(window("length"), wilder("smooth")),
		Plots:  []Plot{mainly("RVI")}, Events: []Event{crossesAt("RVI", 50, CrossUp, CrossDown).crossedBy("the line", "50"), enters("RVI", "")}, Levels: func(a Args) []float64 { return []float64{a.Float("overbought"), 50, a.Float("oversold")} }, Between: [2]float64{0, 100},
		Calc: func(in Input) Columns {
			x := in.source()
			up, down := kernel.NaNs(len(x)), kernel.NaNs(len(x))
			dev := kernel.StdDev(x, in.Int("length"))
			for i := max(1, kernel.FirstValid(dev)); i < len(x); i++ {
				// A deviation counts up if the price rose, else down; TA-Lib counts an unchanged price on neither.
				switch up[i], down[i] = 0, dev[i]; kernel.Compare(x[i], x[i-1]) {
				case 1:
					up[i], down[i] = dev[i], 0
				case 0:
					if in.Choice("variant") == "talib" {
						down[i] = 0
					}
				}
			}
			smooth := kernel.EMA
			if in.Choice("variant") == "talib" {
				smooth = kernel.RMA
			}
			return Columns{kernel.Share(smooth(up, in.Int("smooth")), smooth(down, in.Int("smooth")))}
		}},
	{Name: "williams_vix_fix", Title: "WVF", Also: "wvf vix_fix", Category: Volatility,
		Doc: "Williams' VIX fix: how far the low is below the highest close of late, in percent: fear, for any market. A spike, above its band or near its highest, often marks a bottom. " +
			"Band and limit as in Chris Moody's script on TradingView.",
		Formula: "WVF = 100 * (max(close, n) - low) / max(close, n); band = SMA(WVF, m) + mult * σ(WVF, m); limit = percentile * max(WVF, 50)",
		Params: []Param{
			length(22), atLeast(2, bars("band_length", 20, "average and deviation of the band")), factor("mult", 2, 0.01, 20, "deviations between the average and the band"),
			quiet(bars("lookback", 50, "bars whose highest value is the limit")), quiet(factor("percentile", 0.85, 0.01, 1, "part of the highest value that counts as a spike")),
		},
		Memory: after(window("length"), window("band_length", "lookback")),
		Plots:  []Plot{{Label: "Band", Tone: Band}, histogram("WVF"), unseen("Limit")},
		// Before band and limit are known the differences are NaN and the comparisons false.
		Events: []Event{event("WVF", Spike, "", func(d *drawing) func(int) int {
			fear, band, limit, spiking := d.of("WVF"), d.of("Band"), d.of("Limit"), false
			return func(i int) int {
				was, v := spiking, fear[i]
				spiking = v > 0 && (kernel.Difference(v, band[i]) >= 0 || kernel.Difference(v, limit[i]) >= 0)
				return either(spiking && !was, false)
			}
		})},
		Calc: func(in Input) Columns {
			top := kernel.Highest(in.Close, in.Int("length"))
			fear := kernel.NaNs(in.Len())
			for i := range fear {
				if top[i] > 0 {
					fear[i] = 100 * kernel.Difference(top[i], in.Low[i]) / top[i]
				}
			}
			// Prices that are not positive leave holes; band and limit start anew after each.
			band := kernel.InRuns(fear, func(x []float64) []float64 {
				return kernel.Offset(kernel.SMA(x, in.Int("band_length")), kernel.StdDev(x, in.Int("band_length")), in.Float("mult"))
			})
			limit := kernel.InRuns(fear, func(x []float64) []float64 { return kernel.Highest(x, in.Int("lookback")) })
			return Columns{band, fear, kernel.Scaled(limit, in.Float("percentile"))}
		}},
	{Name: "adr", Title: "ADR", Also: "average_day_range average_range", Category: Volatility, Form: volatile,
		Doc:     "Average range of a bar, high less low, gaps left out; on daily bars the average day range. As at TradingView.",
		Formula: "SMA(high - low, n)",
		Params:  []Param{length(14)}, Line: func(in Input) []float64 { return kernel.SMA(kernel.Minus(in.High, in.Low), in.Int("length")) }},
	{Name: "waddah_attar", Title: "WAE", Also: "waddah_attar_explosion wae", Category: Momentum,
		Doc:     "Waddah Attar explosion: the change of a MACD as bars, the width of the Bollinger bands as explosion line, and a dead zone below which nothing counts. breakout_up and breakout_down fire where the bars rise above both. After LazyBear's script.",
		Formula: "trend = sensitivity * (MACD - MACD[1]); explosion = width of BB(length, mult); dead zone = 3.7 * Wilder average of TR over 100",
		Params: []Param{
			factor("sensitivity", 150, 1, 10000, "factor of the bars"), bars("fast", 20, "fast average"), bars("slow", 40, "slow average"),
			atLeast(2, bars("length", 20, "Bollinger bands", "channel", "bb_length")), factor("mult", 2, 0.1, 20, "deviations of the bands"),
		},
		// Wilder's average of 100, on which the dead zone rests, remembers longest.
		Memory: longest(fixed(kernel.WilderMemory*100), ema("fast", "slow"), window("length")),
		Plots:  []Plot{second("Explosion"), {Label: "Dead zone", Tone: Muted}, histogram("Trend")}, Levels: constant(0),
		Events: []Event{own(func(d *drawing) []Signal {
			limit := kernel.Greater(d.of("Explosion"), d.of("Dead zone"))
			return append(crossings(d.of("Trend"), limit, BreakUp, ""), crossings(d.of("Trend"), kernel.Scaled(limit, -1), "", BreakDown)...)
		}, BreakUp, BreakDown).meaning("the trend crosses the larger of explosion line and dead zone from below",
			"the trend crosses the negative of the larger of explosion line and dead zone from above")},
		Calc: func(in Input) Columns {
			trend := kernel.Scaled(kernel.Change(kernel.Minus(kernel.EMA(in.Close, in.Int("fast")), kernel.EMA(in.Close, in.Int("slow"))), 1), in.Float("sensitivity"))
			_, upper, lower := kernel.Bollinger(in.Close, in.Int("length"), in.Float("mult"), in.Float("mult"), nil)
			return Columns{kernel.Minus(upper, lower), kernel.Scaled(kernel.ATRPine(in.Series, 100), 3.7), trend}
		}},
}

// bulges marks the bars on which x falls below lo after it was above hi. The widening
// alone is no signal: only the narrowing after it announces a turn.
func bulges(x []float64, lo, hi float64) []Signal {
	raised := false
	return toned(Accent, marked(x, Bulge, "", func(i int) int {
		// Between the two levels nothing changes; one bulge gives one signal.
		was := raised
		raised = x[i] > hi || was && !(x[i] < lo)
		return either(was && !raised, false)
	}))
}
