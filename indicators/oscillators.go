package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// oscillators have bounds, or zones in which a market is stretched.
var oscillators = []Indicator{
	{Name: "rsi", Title: "RSI", Also: "relative_strength relative_strength_index rsi_divergence", Category: Momentum,
		Doc:     "Relative strength index: the share of gains in all movement, 0 to 100, in Wilder's smoothing. As in TA-Lib: first value at bar n, 0 when nothing moved.",
		Formula: "RSI = 100 * G / (G + L), G and L Wilder averages of gains and losses",
		Params:  slices.Concat([]Param{length(14)}, zone(30, 70, 0, 100), []Param{source()}, divParams()), Memory: wilder("length"),
		Plots: []Plot{mainly("RSI")}, Events: []Event{leaves("RSI", RSIOversold, RSIOverbought), diverges("RSI"), enters("RSI", "")}, Levels: zoneLevels, Between: [2]float64{0, 100},
		Of: kernel.RSI},
	{Name: "stoch", Title: "Stoch", Also: "stochastic slow_stochastic stochastic_slow", Category: Momentum, Traits: Beyond,
		Doc:     "Lane's slow stochastic: where the close lies in the range of the last bars, 0 to 100, smoothed, with its own average. As in TA-Lib: both lines begin together, 0 when there is no range. The default length is TradingView's.",
		Formula: "%K = average(100 * (close - lowest low) / (highest high - lowest low)); %D = average(%K)",
		Params: slices.Concat([]Param{
			bars("length", 14, "bars in the range", "period", "len", "window", "k", "stoch_k"), bars("smooth", 3, "average to %K"), bars("d", 3, "average that makes %D"),
			averageType("k_type", "sma", "average of %K"), averageType("d_type", "sma", "kind of average for %D"),
		}, zone(20, 80, 0, 100), divParams()),
		Memory: after(window("length"), averageBy("k_type", "smooth"), averageBy("d_type", "d")),
		Plots:  []Plot{mainly("%K"), second("%D")}, Events: []Event{inZones("%K", "%D"), diverges("%K"), enters("%K", "")}, Levels: edgesOfZones, Between: [2]float64{0, 100},
		Calc: func(in Input) Columns {
			return withD(in, kernel.Average(in.Choice("k_type"), kernel.Stochastic(in.Close, in.High, in.Low, in.Int("length")), in.Int("smooth")))
		}},
	{Name: "stochf", Title: "Fast Stoch", Also: "fast_stochastic stochastic_fast stoch_fast", Category: Momentum, Traits: Beyond,
		Doc:     "Lane's fast stochastic: where the close lies in the range of the last bars, 0 to 100, unsmoothed, with its average. As in TA-Lib: both lines begin together.",
		Formula: "%K = 100 * (close - lowest low) / (highest high - lowest low); %D = average(%K)",
		Params: slices.Concat([]Param{
			bars("length", 5, "bars in the range", "period", "len", "window", "k"), bars("d", 3, "average to %D"), averageType("d_type", "sma", "average of %D"),
		}, zone(20, 80, 0, 100)),
		Memory: after(window("length"), averageBy("d_type", "d")),
		Plots:  []Plot{mainly("%K"), second("%D")}, Events: []Event{inZones("%K", "%D"), enters("%K", "")}, Levels: edgesOfZones, Between: [2]float64{0, 100},
		Calc: func(in Input) Columns {
			return withD(in, kernel.Stochastic(in.Close, in.High, in.Low, in.Int("length")))
		}},
	{Name: "stoch_rsi", Title: "Stoch RSI", Also: "srsi stochrsi stochastic_rsi", Category: Momentum, Traits: Beyond,
		Doc: "Where the RSI lies in its own range of the last bars, 0 to 100. The variant tradingview smooths %K, as TradingView and most; the variant talib does not, " +
			"and begins both lines together, as TA-Lib.",
		Formula: "%K = SMA(100 * (RSI - lowest RSI) / (highest RSI - lowest RSI), k); %D = average(%K, d); talib: k = 1",
		Params: slices.Concat([]Param{
			bars("rsi_length", 14, "changes in the RSI", "rsi", "length", "period"), bars("stoch_length", 14, "bars in the range", "stoch"),
			bars("k", 3, "average to %K", "k_length", "smooth"), bars("d", 3, "average that makes %D"), averageType("d_type", "sma", "average of %D"),
			choice("variant", "whose definition", "tradingview", "talib"),
		}, zone(20, 80, 0, 100), []Param{source()}),
		Memory: after(lengths(32, "rsi_length"), window("stoch_length"), window("k"), averageBy("d_type", "d")),
		Plots:  []Plot{mainly("%K"), second("%D")}, Events: []Event{inZones("%K", "%D"), enters("%K", "")}, Levels: edgesOfZones, Between: [2]float64{0, 100},
		Calc: func(in Input) Columns {
			rsi := kernel.RSI(in.source(), in.Int("rsi_length"))
			if in.Choice("variant") == "talib" {
				return withD(in, kernel.Stochastic(rsi, rsi, rsi, in.Int("stoch_length")))
			}
			// TradingView's ranges take in the bar before the first RSI and pass
			// over it: the first range is one value short.
			ranges := slices.Clone(rsi)
			if first := kernel.FirstValid(rsi); first < len(rsi) {
				ranges[first-1] = rsi[first]
			}
			k := kernel.SMA(kernel.Stochastic(rsi, ranges, ranges, in.Int("stoch_length")), in.Int("k"))
			return Columns{k, kernel.Average(in.Choice("d_type"), k, in.Int("d"))}
		}},
	{Name: "cci", Title: "CCI", Also: "commodity_channel_index", Category: Momentum,
		Doc:     "Lambert's commodity channel index: how far the price, by default the typical one, lies from its mean, in mean deviations, scaled so that most values fall within ±100. As in TA-Lib, with TradingView's length 20; 0 when nothing moved.",
		Formula: "CCI = (p - SMA(p, n)) / (0.015 * mean |p - SMA(p, n)|), p = (high + low + close) / 3 or the source",
		Params:  slices.Concat([]Param{lengthFrom(2, 20), defaultSource("hlc3")}, zone(-100, 100, -1000, 1000), divParams()),
		Plots:   []Plot{mainly("CCI")}, Events: []Event{leaves("CCI", Oversold, Overbought), zero("CCI"), diverges("CCI"), enters("CCI", "")}, Levels: zoneLevels,
		Of: kernel.CCI},
	{Name: "woodies_cci", Title: "Woodies CCI", Also: "woodie_cci wcci", Category: Momentum,
		Doc:     "Woodie's CCI: a commodity channel index as bars and a faster one, the turbo, as line. Crosses of zero are changes of trend; the turbo crossing the bars shows the turn first. As at TradingView, of closes.",
		Formula: "CCI(x, 14) and CCI(x, 6), x = close",
		Params:  []Param{atLeast(2, bars("length", 14, "bars of the slow index", "period", "cci")), atLeast(2, bars("turbo", 6, "bars of the turbo", "fast")), source()},
		Memory:  window("length", "turbo"),
		Plots:   []Plot{second("Turbo"), histogram("CCI")}, Levels: constant(100, 0, -100), Events: []Event{zero("CCI"), lines("Turbo", "CCI")},
		Calc: func(in Input) Columns {
			x := in.source()
			return Columns{kernel.CCI(x, in.Int("turbo")), kernel.CCI(x, in.Int("length"))}
		}},
	{Name: "willr", Title: "%R", Also: "williams_r williams wpr pr percent_r williams_percent_range", Category: Momentum, Form: oscillator,
		Doc:     "Williams %R: how far the close lies below the highest high of the last bars, in percent of the range, -100 to 0. As in TA-Lib: 0 when there is no range.",
		Formula: "%R = -100 * (highest high - close) / (highest high - lowest low)",
		Params:  slices.Concat([]Param{length(14)}, zone(-80, -20, -100, 0)),
		Line:    func(in Input) []float64 { return williamsR(in.Series, in.Int("length")) }},
	{Name: "cmo", Title: "CMO", Also: "chande_momentum chande_momentum_oscillator", Category: Momentum, Form: oscillator,
		Doc: "Chande's momentum oscillator: gains less losses as a share of all movement, -100 to 100. The variant talib smooths gains and losses as Wilder's RSI does, " +
			"as TA-Lib; the variant sum adds up the last n changes, as Chande and TradingView. The default length is TradingView's.",
		Formula: "CMO = 100 * (G - L) / (G + L), G and L averages (talib) or sums (sum) of gains and losses",
		Params:  slices.Concat([]Param{length(9), choice("variant", "whose definition", "talib", "sum")}, zone(-50, 50, -100, 100), []Param{source()}),
		Memory: Memory{bars: func(a Args) int {
			if a.Choice("variant") == "sum" {
				return a.Int("length") + 1
			}
			return wilder("length").bars(a)
		}},
		Line: func(in Input) []float64 {
			x, n := in.source(), in.Int("length")
			gain, loss := kernel.WilderMoves(x, n)
			if in.Choice("variant") == "sum" {
				gain, loss = kernel.Sides(kernel.Change(x, 1))
				gain, loss = kernel.RollingSum(gain, n), kernel.RollingSum(loss, n)
			}
			return kernel.Ratio(kernel.Minus(gain, loss), kernel.Plus(gain, loss), 100) // 0 without any movement
		}},
	{Name: "imi", Title: "IMI", Also: "intraday_momentum intraday_momentum_index", Category: Momentum, Form: oscillator,
		Doc:     "Intraday momentum index: the share of rising bodies in the bodies of the last bars, 0 to 100. As in TA-Lib; no value when no bar has a body.",
		Formula: "IMI = 100 * U / (U + D), U and D the sums of close-open of the bars that rose and fell",
		Params:  slices.Concat([]Param{length(14)}, zone(30, 70, 0, 100)),
		Line: func(in Input) []float64 {
			up, down := kernel.Sides(kernel.Minus(in.Close, in.Open))
			up, down = kernel.RollingSum(up, in.Int("length")), kernel.RollingSum(down, in.Int("length"))
			return kernel.Scaled(kernel.Quotient(up, kernel.Plus(up, down)), 100)
		}},
	{Name: "ultosc", Title: "UO", Also: "uo ultimate ultimate_oscillator", Category: Momentum, Form: oscillator,
		Doc:     "Williams' ultimate oscillator: buying pressure as a share of the true range over three windows, the shortest weighing most, in whichever order they are given. As in TA-Lib.",
		Formula: "UO = 100 * (4*a1 + 2*a2 + a3) / 7, a = Σ(close - min(low, close[1])) / Σ true range",
		Params: slices.Concat([]Param{
			bars("length1", 7, "shortest window", "fast", "short"), bars("length2", 14, "middle window", "medium", "middle"), bars("length3", 28, "longest window", "slow", "long"),
		}, zone(30, 70, 0, 100), divParams()),
		Memory: window("length1", "length2", "length3"),
		Line: func(in Input) []float64 {
			return ultimate(in.Series, in.Int("length1"), in.Int("length2"), in.Int("length3"))
		}},
	{Name: "connors_rsi", Title: "CRSI", Also: "crsi", Category: Momentum, Form: oscillator,
		Doc:     "Connors RSI: the mean of a short RSI, an RSI of the length of the current run of rises or falls, and the rank of the last return among the returns before. Made for reversals within days. As at TradingView, but for equal returns: as Connors wrote, only smaller ones count as passed.",
		Formula: "(RSI(x, 3) + RSI(streak, 2) + percent rank of the one-bar return among 100) / 3",
		Params: slices.Concat([]Param{
			bars("rsi", 3, "RSI of the price", "length", "period"), bars("streak", 2, "RSI of the run"), bars("rank", 100, "returns ranked against", "roc"),
		}, zone(10, 90, 0, 100), []Param{source()}),
		Memory: longest(wilder("rsi", "streak"), after(window("rank"), fixed(1))),
		Line: func(in Input) []float64 {
			x := in.source()
			streak := kernel.Streak(x, 1)
			// The return is taken in proportion to the price before; a price of 0 gives 0.
			price, run := kernel.RSI(x, in.Int("rsi")), kernel.RSI(streak, in.Int("streak"))
			rank := kernel.PercentRank(kernel.Ratio(kernel.Change(x, 1), kernel.Shift(x, 1), 1), in.Int("rank"), false)
			return kernel.Scaled(kernel.Plus(kernel.Plus(price, run), rank), 1./3)
		}},
	{Name: "laguerre_rsi", Title: "LRSI", Also: "lrsi laguerre", Category: Momentum, Form: oscillator,
		Doc:     "Laguerre RSI of Ehlers: an RSI over four stages of a Laguerre filter, quick with little data. Scale 0 to 100.",
		Formula: "L0 = (1-γ)x + γL0[1]; Lk = -γL(k-1) + L(k-1)[1] + γLk[1]; 100 * rises / (rises + falls) between neighbouring stages",
		Params:  slices.Concat([]Param{factor("gamma", 0.5, 0, 0.99, "damping of the filter, higher is smoother")}, zone(20, 80, 0, 100), []Param{source()}),
		// Every stage forgets by gamma each bar; four in a row take some more.
		Memory: Memory{bars: func(a Args) int { return 40 + int(40/(1-a.Float("gamma"))) }},
		Line: func(in Input) []float64 {
			x, gamma := in.source(), in.Float("gamma")
			// A line that has not moved holds its value.
			out, value := kernel.NaNs(len(x)), 0.0
			var l [4]float64
			for i, v := range x {
				// The first stage is an exponential average. Each further one is an all-pass
				// filter of the one before: it delays it, the more the larger gamma is.
				before := l
				l[0] = float64((1-gamma)*v) + float64(gamma*before[0])
				for k := 1; k < 4; k++ {
					l[k] = float64(-gamma*l[k-1]) + before[k-1] + float64(gamma*before[k])
				}
				// The stages are ever older views of the price: a stage above the next one is a
				// rise.
				var up, move float64
				for k := range 3 {
					up += max(0, l[k]-l[k+1])
					move += math.Abs(l[k] - l[k+1])
				}
				if move > 0 {
					value = 100 * up / move
				}
				// Even with gamma 0 a price takes three bars to reach the last stage.
				if i >= 3 {
					out[i] = value
				}
			}
			return out
		}},
	{Name: "smi", Title: "SMI", Also: "stochastic_momentum stochastic_momentum_index", Category: Momentum,
		Doc:     "Stochastic momentum index of Blau: where the close lies in its range, measured from the middle and smoothed twice, -100 to 100. Averages are seeded with means.",
		Formula: "SMI = 100 * EMA(EMA(close - middle)) / (EMA(EMA(range)) / 2), middle and range of n bars; signal = EMA(SMI)",
		Params: slices.Concat([]Param{
			length(13), bars("smooth1", 25, "first smoothing", "slow", "long", "k"), bars("smooth2", 2, "second smoothing", "fast", "short"),
			bars("signal", 9, "signal average", "d"),
		}, zone(-40, 40, -100, 100)),
		// Zero is no event here, the zones are.
		Memory: after(window("length"), ema("smooth1"), ema("smooth2"), ema("signal")),
		Plots:  withSignal("SMI"), Events: []Event{lines("SMI", "Signal"), leaves("SMI", Oversold, Overbought), enters("SMI", "")}, Between: [2]float64{-100, 100},
		Levels: func(a Args) []float64 { return []float64{a.Float("overbought"), 0, a.Float("oversold")} },
		Calc: func(in Input) Columns {
			n := in.Int("length")
			hi, lo := kernel.Highest(in.High, n), kernel.Lowest(in.Low, n)
			twice := func(x []float64) []float64 { return kernel.EMA(kernel.EMA(x, in.Int("smooth1")), in.Int("smooth2")) }
			line := kernel.Ratio(twice(kernel.Minus(in.Close, kernel.Midway(hi, lo))), twice(kernel.Minus(hi, lo)), 200)
			return Columns{line, kernel.EMA(line, in.Int("signal"))}
		}},
	{Name: "kdj", Title: "KDJ", Also: "kdj_indicator", Category: Momentum,
		Doc: "KDJ: a stochastic smoothed by thirds, and J, which overshoots them on both sides and whose zones the signals are of. As on Chinese terminals and TradingView, by recursion from the first value; " +
			"the stochastic of a bar without range counts as 0.",
		Formula: "RSV = stochastic(n); K = K[1] + (RSV - K[1]) / k; D = D[1] + (K - D[1]) / d; J = 3K - 2D",
		Params:  slices.Concat([]Param{length(9), bars("k", 3, "smoothing of K", "k_length", "signal", "m1"), bars("d", 3, "smoothing of D", "m2")}, zone(20, 80, 0, 100)),
		// K and D have the weights 1/k and 1/d, those of Wilder's averages.
		Memory: after(window("length"), wilder("k"), wilder("d")),
		Plots:  []Plot{mainly("K"), second("D"), {Label: "J", Tone: Accent}}, Levels: edgesOfZones,
		Events: []Event{lines("K", "D"), leaves("J", Oversold, Overbought).meaning("J leaves the oversold zone upwards", "J leaves the overbought zone downwards"),
			enters("J", "").meaning("J falls into the oversold zone", "J rises into the overbought zone")},
		Calc: func(in Input) Columns {
			n := in.Int("length")
			hi, lo := kernel.Highest(in.High, n), kernel.Lowest(in.Low, n)
			// Follow starts from the first value itself, as the terminals do, not from 50.
			k := kernel.Follow(kernel.Ratio(kernel.Minus(in.Close, lo), kernel.Minus(hi, lo), 100), 1/in.Float("k"))
			d := kernel.Follow(k, 1/in.Float("d"))
			return Columns{k, d, kernel.Minus(kernel.Scaled(k, 3), kernel.Scaled(d, 2))}
		}},
	{Name: "fisher", Title: "Fisher", Also: "fisher_transform", Category: Momentum,
		Doc:     "Fisher transform of Ehlers: the place of the median price in its range, stretched so that extremes become sharp peaks. The trigger is the line one bar before. As at TradingView.",
		Formula: "v = 0.66 * ((hl2 - lowest) / range - 0.5) + 0.67 * v[1], beyond ±0.99 set to ±0.999; fisher = 0.5 * ln((1+v)/(1-v)) + 0.5 * fisher[1]",
		Params:  []Param{length(9)},
		Memory:  after(window("length"), fixed(100)), // v forgets by 0.67 each bar
		Plots:   []Plot{mainly("Fisher"), second("Trigger")}, Events: []Event{lines("Fisher", "Trigger"), zero("Fisher")}, Levels: constant(1.5, 0, -1.5),
		Calc: func(in Input) Columns {
			x, n := kernel.MedianPrice(in.Series), in.Int("length")
			// A window without range counts as its middle.
			hi, lo := kernel.Highest(x, n), kernel.Lowest(x, n)
			first := kernel.FirstValid(hi)
			line := kernel.Unknown(len(x), first)
			var v, value float64
			for i := first; i < len(x); i++ {
				place := 0.5
				if span := kernel.Difference(hi[i], lo[i]); span > 0 {
					place = (x[i] - lo[i]) / span
				}
				// Place runs from 0 at the bottom of the window to 1 at its top. Smoothed by
				// its own past, v lies between -1 and 1, where the logarithm is defined.
				v = float64(0.66*(place-0.5)) + float64(0.67*v)
				// Ehlers' jump from 0.99 to 0.999 keeps the logarithm finite. TradingView has
				// it too.
				if v > 0.99 {
					v = 0.999
				} else if v < -0.99 {
					v = -0.999
				}
				value = float64(0.5*math.Log((1+v)/(1-v))) + float64(0.5*value)
				line[i] = value
			}
			return Columns{line, kernel.Shift(line, 1)}
		}},
	{Name: "wavetrend", Title: "WaveTrend", Also: "wt lazybear wave_trend wavetrend_oscillator", Category: Momentum,
		Doc:     "WaveTrend: how far the typical price is from its average, in parts of its usual distance, smoothed. As LazyBear's on TradingView; averages are seeded with means. Crosses beyond the levels are named after the zone; divergences are those of WT2.",
		Formula: "esa = EMA(hlc3, n); ci = (hlc3 - esa) / (0.015 * EMA(|hlc3 - esa|, n)); WT1 = EMA(ci, m); WT2 = SMA(WT1, 4)",
		Params: slices.Concat([]Param{
			bars("channel", 10, "average of the price", "length"), bars("average", 21, "average of the index"), bars("signal", 4, "signal average", "ma_length"),
			quiet(factor("oversold", -53, -200, 200, "lower level", "lower")), quiet(factor("overbought", 53, -200, 200, "upper level", "upper")),
		}, divParams()),
		Memory: after(lengths(2*kernel.EMAMemory, "channel"), ema("average"), window("signal")),
		Plots:  []Plot{mainly("WT1"), second("WT2"), histogram("WT1-WT2")}, Shades: []Shade{{A: "WT1", B: "WT2", Tone: Up, Below: Down}},
		Events: []Event{inZones("WT1", "WT2"), diverges("WT2"), enters("WT2", "")},
		Levels: func(a Args) []float64 { return []float64{60, a.Float("overbought"), 0, a.Float("oversold"), -60} },
		Calc: func(in Input) Columns {
			wt1, wt2 := waveTrend(kernel.TypicalPrice(in.Series), in.Int("channel"), in.Int("average"), in.Int("signal"))
			return Columns{wt1, wt2, kernel.Minus(wt1, wt2)}
		}},
	{Name: "stc", Title: "STC", Also: "schaff schaff_trend_cycle", Category: Momentum, Form: oscillator,
		Doc:     "Schaff trend cycle: the stochastic of the stochastic of a MACD, 0 to 100, quicker than the MACD itself. As at TradingView; averages are seeded with means.",
		Formula: "m = EMA(fast) - EMA(slow); twice: stochastic over n, then y = y[1] + factor * (x - y[1])",
		Params: slices.Concat([]Param{
			bars("length", 10, "bars of the stochastics", "period", "len", "cycle", "tclength", "window"), bars("fast", 23, "fast average"), bars("slow", 50, "slow average"),
			factor("factor", 0.5, 0.01, 1, "smoothing after each stochastic", "smooth"),
		}, zone(25, 75, 0, 100), []Param{source()}),
		Memory: after(ema("fast", "slow"), lengths(2, "length"), Memory{bars: func(a Args) int { return int(40 / a.Float("factor")) }}),
		Line: func(in Input) []float64 {
			x, n := in.source(), in.Int("length")
			line := kernel.Minus(kernel.EMA(x, in.Int("fast")), kernel.EMA(x, in.Int("slow")))
			for range 2 {
				line = kernel.Follow(kernel.HeldStochastic(line, n), in.Float("factor"))
			}
			return line
		}},
	{Name: "qqe", Title: "QQE", Also: "quantitative_qualitative_estimation", Category: Momentum, Traits: Beyond,
		Doc:     "Quantitative qualitative estimation: a smoothed RSI and a stop that trails it by a multiple of its usual movement. As in pandas-ta: the movement is smoothed twice over 2n-1 bars by exponential averages seeded with means, and the RSI has its first value a bar before TA-Lib's.",
		Formula: "r = EMA(RSI(n), smooth); stop trails r by factor * EMA(EMA(|Δr|, 2n-1), 2n-1)",
		Params:  []Param{bars("rsi", 14, "RSI", "length", "period"), bars("smooth", 5, "average of the RSI"), factor("factor", 4.236, 0.1, 20, "movements between line and stop", "mult"), source()},
		Memory:  after(lengths(kernel.WilderMemory+4*kernel.EMAMemory, "rsi"), ema("smooth"), fixed(100)),
		Plots:   []Plot{mainly("RSI MA"), second("Stop"), unseen("Side")}, Events: []Event{flips("Stop"), crossesAt("RSI MA", 50, CrossUp, CrossDown).crossedBy("the smoothed RSI", "50")},
		Levels: constant(50), Between: [2]float64{0, 100},
		Calc: func(in Input) Columns {
			n := in.Int("rsi")
			line := kernel.EMA(earlyRSI(in.source(), n), in.Int("smooth"))
			wide := kernel.Scaled(kernel.EMA(kernel.EMA(kernel.Absolute(kernel.Change(line, 1)), 2*n-1), 2*n-1), in.Float("factor"))
			stop, up := trailing(line, wide)
			return Columns{line, stop, sides(up)}
		}},
	{Name: "psychological_line", Title: "PSL", Also: "psl psy psychological", Category: Momentum, Form: oscillator,
		Doc:     "Psychological line: the percentage of the last bars that closed above the bar before, a plain count of the mood.",
		Formula: "PSL = 100 * rises among the last n changes / n",
		Params:  slices.Concat([]Param{length(12)}, zone(25, 75, 0, 100), []Param{source()}),
		Of: func(x []float64, n int) []float64 {
			// The mean of 0 and 100 is the percentage of rises.
			rises, _ := kernel.Sides(kernel.Signs(kernel.Change(x, 1)))
			return kernel.SMA(kernel.Scaled(rises, 100), n)
		}},
	{Name: "rank_correlation", Title: "RCI", Also: "rci rank_correlation_index", Category: Momentum, Form: oscillator,
		Doc:     "Rank correlation index: Spearman's correlation of price and time in percent, 100 when every bar closed higher, 0 when all are equal. Equal prices share the mean of their ranks.",
		Formula: "RCI = 100 * correlation(rank of the price, rank of the bar) over n bars",
		Params:  slices.Concat([]Param{lengthFrom(2, 10)}, zone(-80, 80, -100, 100), []Param{source()}),
		Line:    func(in Input) []float64 { return kernel.RankCorrelation(in.source(), in.Int("length")) }},
	{Name: "demarker", Title: "DeMarker", Also: "dem demark", Category: Momentum, Form: oscillator,
		Doc:     "DeMarker: how much highs rise of all that highs rise and lows fall, 0 to 1, over a window. 0.5 where nothing of either happened.",
		Formula: "DeM = ΣmaxH / (ΣmaxH + ΣmaxL) over n bars, maxH = max(high - high[1], 0), maxL = max(low[1] - low, 0)",
		Params:  slices.Concat([]Param{length(14)}, zone(0.3, 0.7, 0, 1)),
		Line: func(in Input) []float64 {
			n := in.Int("length")
			rises, _ := kernel.Sides(kernel.Change(in.High, 1))
			_, falls := kernel.Sides(kernel.Change(in.Low, 1))
			up, down := kernel.RollingSum(rises, n), kernel.RollingSum(falls, n)
			out := kernel.Unknown(in.Len(), n)
			for i := n; i < len(out); i++ {
				// A window in which no high rose and no low fell is balanced.
				if out[i] = 0.5; up[i]+down[i] > 0 {
					out[i] = up[i] / (up[i] + down[i])
				}
			}
			return out
		}},
	{Name: "rmi", Title: "RMI", Also: "relative_momentum relative_momentum_index", Category: Momentum, Form: oscillator,
		Doc:     "Relative momentum index: RSI of changes over several bars instead of one, in Wilder's smoothing. With momentum 1 it is RSI. 0 when nothing moved.",
		Formula: "RMI = 100 * G / (G + L), G and L Wilder averages of rises and falls of x against x[momentum]",
		Params:  slices.Concat([]Param{length(14), bars("momentum", 5, "bars a change is measured over", "mom")}, zone(30, 70, 0, 100), []Param{source()}),
		Memory:  after(wilder("length"), window("momentum")),
		Line: func(in Input) []float64 {
			x, n, k := in.source(), in.Int("length"), in.Int("momentum")
			rises, falls := kernel.Sides(kernel.Change(x, k))
			return kernel.Share(kernel.RMA(rises, n), kernel.RMA(falls, n))
		}},
	{Name: "ibs", Title: "IBS", Also: "internal_bar_strength", Category: Momentum, Form: oscillator,
		Doc:     "Internal bar strength: where the close lies in the range of its bar, 0 at the low, 1 at the high. A bar without range has none.",
		Formula: "IBS = (close - low) / (high - low)",
		Params:  zone(0.2, 0.8, 0, 1),
		Line: func(in Input) []float64 {
			return kernel.Quotient(kernel.Minus(in.Close, in.Low), kernel.Minus(in.High, in.Low))
		}},
	{Name: "rsi_mfi_stoch", Title: "RSI MFI Stoch", Also: "rsi_combo combo", Category: Momentum,
		Doc: "RSI, money flow index and slow stochastic in one panel, each as in its own entry. Signals mark RSI leaving its zones, and the stochastic crossing its average below 20 or above 80; " +
			"the trend bars at the bottom are up when all three are above 50, down when all are below.",
		Formula: "RSI(n), MFI(n), %K = SMA(stochastic(n), smooth), %D = SMA(%K, d)",
		Params: slices.Concat([]Param{
			bars("rsi_length", 14, "changes in the RSI", "length"), bars("mfi_length", 14, "changes in the MFI"), bars("stoch_k", 14, "bars in the range of the stochastic"),
			bars("stoch_d", 3, "average to %D"), bars("stoch_smooth", 3, "average that makes %K"), toggle("show_entry_dots", true, "mark the signals"),
			toggle("show_trend_bars", true, "show where all three agree"),
		}, zone(30, 70, 0, 100)),
		Events: []Event{emits(RSIOversold, RSIOverbought, StochOS, StochOB).switched("show_entry_dots"), enters("RSI", "")},
		Memory: longest(wilder("rsi_length"), window("mfi_length"), after(window("stoch_k"), window("stoch_smooth"), window("stoch_d"))),
		Draw: func(in Input) *Result {
			rsi, flow := kernel.RSI(in.Close, in.Int("rsi_length")), kernel.MFI(in.Series, in.Int("mfi_length"))
			k := kernel.SMA(kernel.Stochastic(in.Close, in.High, in.Low, in.Int("stoch_k")), in.Int("stoch_smooth"))
			d := kernel.SMA(k, in.Int("stoch_d"))
			lo, hi := in.Float("oversold"), in.Float("overbought")
			r := &Result{
				YRange: &[2]float64{0, 100},
				Lines: []Line{
					{Label: "RSI", Tone: Primary, Values: rsi}, {Label: "MFI", Values: flow},
					{Label: "Stoch K", Values: k}, {Label: "Stoch D", Values: d},
				},
				HLines: []HLine{{Y: hi}, {Y: 50}, {Y: lo}},
			}
			if in.Bool("show_trend_bars") {
				r.Histogram = agreement(50, rsi, k, flow)
			}
			if in.Bool("show_entry_dots") {
				r.Signals = append(levelCrossings(rsi, lo, RSIOversold, ""), levelCrossings(rsi, hi, "", RSIOverbought)...)
				for _, sig := range crossings(k, d, StochOS, StochOB) {
					if sig.Label == StochOS && kernel.Compare(sig.Y, 20) < 0 || sig.Label == StochOB && kernel.Compare(sig.Y, 80) > 0 {
						r.Signals = append(r.Signals, sig)
					}
				}
			}
			return r
		}},
}

// withD returns %K and its average %D. As in TA-Lib %K is not shown before %D.
func withD(in Input, k []float64) Columns {
	d := kernel.Average(in.Choice("d_type"), k, in.Int("d"))
	return Columns{kernel.From(k, kernel.FirstValid(d)), d}
}

// williamsR returns Williams %R of n bars, -100 to 0.
func williamsR(s *market.Series, n int) []float64 {
	top, bottom := kernel.Highest(s.High, n), kernel.Lowest(s.Low, n)
	return kernel.Ratio(kernel.Minus(top, s.Close), kernel.Minus(top, bottom), -100)
}

// ultimate returns the ultimate oscillator; the lengths may come in any order.
func ultimate(s *market.Series, n1, n2, n3 int) []float64 {
	lengths := []int{n1, n2, n3}
	slices.Sort(lengths)
	// Buying pressure is how far the close lies above the true low.
	pressure, ranges := kernel.Minus(s.Close, kernel.Lesser(s.Low, kernel.Shift(s.Close, 1))), kernel.TrueRange(s)
	out := make([]float64, s.Len())
	for k, n := range lengths {
		weight := []float64{400.0 / 7, 200.0 / 7, 100.0 / 7}[k]
		// A window without range adds nothing.
		out = kernel.Plus(out, kernel.Ratio(kernel.RollingSum(pressure, n), kernel.RollingSum(ranges, n), weight))
	}
	return out
}

// waveTrend returns both lines: the smoothed distance of x from its average, in mean
// distances as in the CCI, and the average of that line. The constant 0.015 is
// Lambert's, by which most values stay within 100.
func waveTrend(x []float64, channel, average, signal int) (wt1, wt2 []float64) {
	away := kernel.Minus(x, kernel.EMA(x, channel))
	wt1 = kernel.EMA(kernel.Ratio(away, kernel.EMA(kernel.Absolute(away), channel), 1/0.015), average)
	return wt1, kernel.SMA(wt1, signal)
}

// earlyRSI is like kernel.RSI, with one value more: on bar n-1, from the n-1 changes
// there are. Wilder's average goes on from it as if it had not been shown.
func earlyRSI(x []float64, n int) []float64 {
	out := kernel.RSI(x, n)
	if n == 1 || len(x) < n {
		return out
	}
	var up, move float64
	for _, d := range kernel.Change(x[:n], 1)[1:] {
		up += max(0, d)
		move += math.Abs(d)
	}
	if out[n-1] = 0; move > 0 {
		out[n-1] = 100 * up / move
	}
	return out
}

// trailing returns a stop that follows x at a distance of wide and changes sides
// when x crosses it. It starts below x.
//
// As in the script that everyone copies, crosses count in either direction: x
// that falls back below the short band, after it rose above it, keeps the stop
// rising even if it falls through the long band on the same bar.
func trailing(x, wide []float64) (stop []float64, up []bool) {
	stop, up = kernel.NaNs(len(x)), make([]bool, len(x))
	long, short := kernel.NaNs(len(x)), kernel.NaNs(len(x))
	rising := true
	for i := kernel.FirstValid(wide); i < len(x); i++ {
		long[i], short[i] = x[i]-wide[i], x[i]+wide[i]
		// A band only moves towards x as long as x has stayed on its side.
		if i > 0 && x[i-1] > long[i-1] && x[i] > long[i-1] {
			long[i] = max(long[i-1], long[i])
		}
		if i > 0 && x[i-1] < short[i-1] && x[i] < short[i-1] {
			short[i] = min(short[i-1], short[i])
		}
		switch {
		// The bands are compared one bar late: x of a bar with the band of the bar before it.
		case i > 1 && crossedEitherWay(x[i-1], short[i-2], x[i], short[i-1]):
			rising = true
		case i > 1 && crossedEitherWay(x[i-1], long[i-2], x[i], long[i-1]):
			rising = false
		}
		up[i] = rising
		if stop[i] = short[i]; rising {
			stop[i] = long[i]
		}
	}
	return stop, up
}

// crossedEitherWay reports whether a, which lay at a0 while b lay at b0, has
// come to the other side of b. It is false if a value is missing.
func crossedEitherWay(a0, b0, a, b float64) bool {
	before, now := kernel.Difference(a0, b0), kernel.Difference(a, b)
	return before < 0 && now > 0 || before >= 0 && now <= 0
}

// agreement returns bars of height 5 where all lines are above the middle, and
// others where all are below it.
func agreement(middle float64, lines ...[]float64) []Histogram {
	// Two histograms and not one with a sign, so that both stand at the bottom of the panel.
	above, below := kernel.NaNs(len(lines[0])), kernel.NaNs(len(lines[0]))
	for i := range above {
		side := 0
		for _, l := range lines { // on the middle, or without a value, it is on neither side
			side += either(l[i] > middle, l[i] < middle)
		}
		switch side {
		case len(lines):
			above[i] = 5
		case -len(lines):
			below[i] = 5
		}
	}
	return []Histogram{{Label: "All up", Tone: Up, Values: above}, {Label: "All down", Tone: Down, Values: below}}
}
