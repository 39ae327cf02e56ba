package indicators

import (
	"slices"
	"strconv"

	"wick/indicators/kernel"
)

// momentums are how far the price moved, as a rate or as a ratio around what an unchanged price
// gives, and oscillators around zero, without bounds.
var momentums = []Indicator{
	{Name: "mom", Title: "Momentum", Also: "momentum", Category: Momentum, Form: aroundZero, Label: "MOM",
		Doc:     "Momentum: how far the price moved in n bars. As in TA-Lib.",
		Formula: "MOM = x - x[n]",
		Params:  []Param{length(10), source()}, Of: kernel.Change},
	{Name: "roc", Title: "ROC", Also: "rate_of_change", Category: Momentum, Form: aroundZero,
		Doc:     "Rate of change: how far the price moved in n bars, in percent. As in TA-Lib, with TradingView's length 9.",
		Formula: "ROC = 100 * (x/x[n] - 1)",
		Params:  []Param{length(9), source()}, Of: kernel.ROC},
	{Name: "rocp", Title: "ROCP", Also: "rate_of_change_fraction", Category: Momentum, Form: aroundZero,
		Doc:     "Rate of change as a fraction. As in TA-Lib.",
		Formula: "ROCP = x/x[n] - 1",
		Params:  []Param{length(10), source()}, Of: func(x []float64, n int) []float64 { return kernel.Rate(x, n, 1, -1) }},
	{Name: "bias", Title: "Bias", Also: "disparity_index disparity", Category: Momentum, Form: aroundZero,
		Doc:     "Bias, or disparity index: by how many percent the price is above or below its simple average.",
		Formula: "bias = 100 * (x / SMA(x, n) - 1)",
		Params:  []Param{length(26), source()}, Of: bias},
	{Name: "rocr", Title: "ROCR", Also: "rate_of_change_ratio", Category: Momentum, Form: swinging(1),
		Doc:     "Rate of change as a ratio: 1 when the price is where it was n bars ago. As in TA-Lib.",
		Formula: "ROCR = x/x[n]",
		Params:  []Param{length(10), source()}, Of: func(x []float64, n int) []float64 { return kernel.Rate(x, n, 1, 0) }},
	{Name: "rocr100", Title: "ROCR 100", Also: "rate_of_change_ratio_100", Category: Momentum, Form: swinging(100), Label: "ROCR100",
		Doc:     "Rate of change as a ratio in percent: 100 when the price is where it was n bars ago. As in TA-Lib.",
		Formula: "ROCR100 = 100 * x/x[n]",
		Params:  []Param{length(10), source()}, Of: func(x []float64, n int) []float64 { return kernel.Rate(x, n, 100, 0) }},
	{Name: "macd", Title: "MACD", Also: "moving_average_convergence_divergence", Category: Momentum,
		Doc: "Moving average convergence and divergence: a fast less a slow exponential average, its own average as signal, and their difference. As in TA-Lib: both averages are seeded on the same bar, " +
			"all three series begin together, and the shorter of fast and slow is the fast one, whichever was given as that. The variant pine takes the two as given and seeds each average with its own first bars, as TradingView; after about 200 bars the two agree.",
		Formula: "MACD = EMA(fast) - EMA(slow); signal = EMA(MACD); histogram = MACD - signal",
		Params: slices.Concat([]Param{
			bars("fast", 12, "fast average"), bars("slow", 26, "slow average"),
			bars("signal", 9, "signal average", "smooth"), choice("variant", "whose seeds", "talib", "pine"), source(),
		}, divParams()),
		Memory: after(ema("fast", "slow"), ema("signal")),
		Plots:  append(withSignal("MACD"), histogram("Histogram")), Events: append(signalEvents("MACD"), diverges("MACD")), Levels: constant(0),
		Calc: func(in Input) Columns {
			x, fast, slow, signal := in.source(), in.Int("fast"), in.Int("slow"), in.Int("signal")
			if in.Choice("variant") == "talib" {
				return together(kernel.MACD(x, fast, slow, signal))
			}
			return signalOf(kernel.Minus(kernel.EMA(x, fast), kernel.EMA(x, slow)), signal)
		}},
	{Name: "macdext", Title: "MACD Ext", Also: "macd_extended", Category: Momentum,
		Doc:     "MACD of any kinds of averages. As in TA-Lib: the averages begin on the same bar, and so do the three series; the shorter of fast and slow is the fast one, whichever was given as that, and keeps its kind; all are simple unless said otherwise.",
		Formula: "MACD = average(fast) - average(slow); signal = average(MACD); histogram = MACD - signal",
		Params: []Param{
			bars("fast", 12, "fast average"), averageType("fast_type", "sma", "kind of fast average"), bars("slow", 26, "slow average"),
			averageType("slow_type", "sma", "kind of slow average"), bars("signal", 9, "signal average", "smooth"), averageType("signal_type", "sma", "kind of signal average"),
			source(),
		},
		Memory: after(longest(averageBy("fast_type", "fast"), averageBy("slow_type", "slow")), averageBy("signal_type", "signal")),
		Plots:  append(withSignal("MACD"), histogram("Histogram")), Events: signalEvents("MACD"), Levels: constant(0),
		Calc: func(in Input) Columns {
			x := in.source()
			fast, fastKind, slow, slowKind := in.Int("fast"), in.Choice("fast_type"), in.Int("slow"), in.Choice("slow_type")
			if fast > slow {
				fast, fastKind, slow, slowKind = slow, slowKind, fast, fastKind
			}
			// The average that begins earlier skips bars at its start, so that both have
			// their first value on the same bar.
			begin := max(kernel.AverageLookback(fastKind, fast), kernel.AverageLookback(slowKind, slow))
			line := kernel.Minus(
				kernel.Average(fastKind, kernel.Skip(x, begin-kernel.AverageLookback(fastKind, fast)), fast),
				kernel.Average(slowKind, kernel.Skip(x, begin-kernel.AverageLookback(slowKind, slow)), slow))
			return together(kernel.WithSignal(line, kernel.Average(in.Choice("signal_type"), line, in.Int("signal"))))
		}},
	{Name: "macdfix", Title: "MACD Fix", Category: Momentum,
		Doc:     "MACD 12/26 with the weights 0.15 and 0.075 of its first publication instead of 2/13 and 2/27. As in TA-Lib.",
		Formula: "as macd, with fast weight 0.15 and slow weight 0.075",
		Params:  []Param{bars("signal", 9, "signal average", "smooth"), source()},
		Memory:  after(fixed(kernel.EMAMemory*26), ema("signal")),
		Plots:   append(withSignal("MACD"), histogram("Histogram")), Events: signalEvents("MACD"), Levels: constant(0),
		Calc: func(in Input) Columns {
			x := in.source()
			// The fast average skips 14 prices, so that both begin on the same bar.
			line := kernel.Minus(kernel.Smooth(kernel.Skip(x, 26-12), 12, 0.15), kernel.Smooth(x, 26, 0.075))
			return together(kernel.WithSignal(line, kernel.EMA(line, in.Int("signal"))))
		}},
	{Name: "apo", Title: "APO", Also: "absolute_price_oscillator", Category: Momentum, Form: aroundZero,
		Doc:     "Absolute price oscillator: a fast less a slow average, in price. As in TA-Lib, with exponential averages by default, each seeded with its own first prices; the shorter of fast and slow is the fast one, whichever was given as that.",
		Formula: "APO = average(fast) - average(slow)",
		Params:  oscillatorParams(), Memory: averageBy("ma_type", "fast", "slow"),
		Line: func(in Input) []float64 {
			return kernel.Minus(twoAverages(in))
		}},
	{Name: "ppo", Title: "PPO", Also: "percentage_price_oscillator", Category: Momentum, Form: withHistogram,
		Doc:     "Percentage price oscillator: a fast less a slow average in percent of the slow one, and its own exponential average as signal. The line as in TA-Lib, with exponential averages by default; the shorter of fast and slow is the fast one, whichever was given as that.",
		Formula: "PPO = 100 * (average(fast) - average(slow)) / average(slow); signal = EMA(PPO)",
		Params:  append(oscillatorParams(), bars("signal", 9, "signal average")),
		Memory:  after(averageBy("ma_type", "fast", "slow"), ema("signal")),
		Line: func(in Input) []float64 {
			fast, slow := twoAverages(in)
			return kernel.Ratio(kernel.Minus(fast, slow), slow, 100)
		}},
	{Name: "trix", Title: "TRIX", Also: "triple_exponential_oscillator", Category: Momentum, Form: withHistogram,
		Doc:     "Percent change of a triple exponential average from bar to bar, and its own average as signal. As in TA-Lib; TradingView takes the logarithm first and other units.",
		Formula: "TRIX = 100 * (e3/e3[1] - 1), e3 = EMA(EMA(EMA(x))); signal = EMA(TRIX)",
		Params:  []Param{length(18), bars("signal", 9, "signal average"), source()},
		// Three averages in a row forget about as late as a triple exponential average does.
		Memory: after(lengths(14, "length"), ema("signal")),
		Line: func(in Input) []float64 {
			n := in.Int("length")
			return kernel.Rate(kernel.EMA(kernel.EMA(kernel.EMA(in.source(), n), n), n), 1, 100, -1)
		}},
	{Name: "tsi", Title: "TSI", Also: "true_strength true_strength_index", Category: Momentum, Form: signalled(kernel.EMA),
		Doc:     "True strength index of Blau: change smoothed twice over absolute change smoothed twice, -100 to 100, with an exponential average as signal. As at TradingView; averages are seeded with means.",
		Formula: "TSI = 100 * EMA(EMA(Δx, long), short) / EMA(EMA(|Δx|, long), short)",
		Params:  []Param{bars("long", 25, "first smoothing", "slow", "length"), bars("short", 13, "second smoothing", "fast"), bars("signal", 13, "signal average"), source()},
		Memory:  after(ema("long"), ema("short"), ema("signal")), Levels: constant(25, 0, -25),
		Line: func(in Input) []float64 { return trueStrength(in.source(), in.Int("long"), in.Int("short"), 100) }},
	{Name: "smi_ergodic", Title: "SMIE", Also: "ergodic smiio smi_ergodic_oscillator", Category: Momentum, Form: withHistogram,
		Doc:     "Ergodic oscillator of Blau: the true strength index with short smoothings, -1 to 1, its exponential average as signal and their difference as bars. As at TradingView.",
		Formula: "SMIE = EMA(EMA(Δx, long), short) / EMA(EMA(|Δx|, long), short); signal = EMA(SMIE)",
		Params:  []Param{bars("long", 20, "first smoothing", "slow", "length"), bars("short", 5, "second smoothing", "fast"), bars("signal", 5, "signal average"), source()},
		Memory:  after(ema("long"), ema("short"), ema("signal")),
		Line:    func(in Input) []float64 { return trueStrength(in.source(), in.Int("long"), in.Int("short"), 1) }},
	{Name: "awesome_oscillator", Title: "AO", Also: "ao awesome", Category: Momentum,
		Doc:     "Awesome oscillator of Williams: a fast less a slow simple average of the median price. turn_up and turn_down mark changes of colour, that is saucers among others.",
		Formula: "AO = SMA(hl2, fast) - SMA(hl2, slow)",
		Params:  awesomeParams(), Memory: window("fast", "slow"),
		Plots: []Plot{histogram("AO")}, Events: []Event{zero("AO"), turnsBeside("AO", closesOf)}, Levels: constant(0),
		Calc: func(in Input) Columns { return Columns{awesome(in)} }},
	{Name: "accelerator_oscillator", Title: "AC", Also: "ac accelerator", Category: Momentum,
		Doc:     "Accelerator oscillator of Williams: the awesome oscillator less its own average, the change of driving force that comes before a change of momentum.",
		Formula: "AC = AO - SMA(AO, signal)",
		Params:  append(awesomeParams(), bars("signal", 5, "average of the oscillator", "smooth")),
		// Two bars more than the windows: a turn needs the directions of two changes.
		Memory: after(window("fast", "slow"), window("signal")),
		Plots:  []Plot{histogram("AC")}, Events: []Event{zero("AC"), turnsBeside("AC", closesOf)}, Levels: constant(0),
		Calc: func(in Input) Columns {
			ao := awesome(in)
			return Columns{kernel.Minus(ao, kernel.SMA(ao, in.Int("signal")))}
		}},
	{Name: "gator", Title: "Gator", Also: "gator_oscillator", Category: Momentum,
		Doc:     "Gator oscillator of Williams: how far the alligator's mouth is open. Bars above zero are the distance of jaw and teeth, bars below that of teeth and lips; both widening is a trend that feeds.",
		Formula: "upper = |jaw - teeth|, lower = -|teeth - lips|",
		Params:  alligatorParams(), Memory: alligatorMemory,
		Plots: []Plot{histogram("Upper"), histogram("Lower")}, Events: []Event{own(func(d *drawing) []Signal { return gatorSignals(d.of("Upper"), d.of("Lower")) }, SqueezeOn, SqueezeOff)}, Levels: constant(0),
		Calc: func(in Input) Columns {
			jaw, teeth, lips := alligator(in)
			return Columns{kernel.Absolute(kernel.Minus(jaw, teeth)), kernel.Scaled(kernel.Absolute(kernel.Minus(teeth, lips)), -1)}
		}},
	{Name: "dpo", Title: "DPO", Also: "detrended_price detrended_price_oscillator", Category: Momentum, Form: aroundZero,
		Doc: "Detrended price oscillator: the price less an average from the middle of the window, which leaves the cycles shorter than it. As at TradingView, not centred: the average is an old one, so nothing looks ahead. " +
			"The variant shifted, Tulip's, takes the old price and the average of now.",
		Formula: "DPO = x - SMA(x, n)[n/2+1]; shifted: x[n/2+1] - SMA(x, n)",
		Params:  []Param{length(21), choice("variant", "whether the average or the price is the older one", "average", "shifted"), source()},
		Memory:  lengths(2, "length"),
		Line: func(in Input) []float64 {
			x, n := in.source(), in.Int("length")
			if in.Choice("variant") == "shifted" {
				return kernel.Minus(kernel.Shift(x, n/2+1), kernel.SMA(x, n))
			}
			return kernel.Minus(x, kernel.Shift(kernel.SMA(x, n), n/2+1))
		}},
	{Name: "kst", Title: "KST", Also: "know_sure_thing", Category: Momentum, Form: signalled(kernel.SMA),
		Doc:     "Know sure thing of Pring: four smoothed rates of change, the longer ones counting for more, and a simple average as signal.",
		Formula: "KST = Σ k * SMA(ROC(x, roc k), sma k) for k = 1 to 4; signal = SMA(KST)",
		Params:  kstParams(), Memory: longest(kstMemory("1"), kstMemory("2"), kstMemory("3"), kstMemory("4")),
		Line: func(in Input) []float64 {
			x := in.source()
			// The sum is NaN until the slowest of its four parts has a value.
			line := make([]float64, len(x))
			for k, digit := range []string{"1", "2", "3", "4"} { // the slower a rate of change, the more it weighs
				for i, v := range kernel.SMA(kernel.ROC(x, in.Int("roc"+digit)), in.Int("sma"+digit)) {
					line[i] += float64(float64(k+1) * v)
				}
			}
			return line
		}},
	{Name: "coppock", Title: "Coppock", Also: "coppock_curve cc", Category: Momentum,
		Doc:     "Coppock curve: a weighted average of two rates of change, meant for monthly bars. Coppock bought where it turned up below zero.",
		Formula: "WMA(ROC(x, long) + ROC(x, short), n)",
		Params:  []Param{bars("long", 14, "longer rate of change", "slow"), bars("short", 11, "shorter rate of change", "fast"), bars("wma", 10, "weighted average", "length", "period"), source()},
		Memory:  after(window("long", "short"), window("wma"), fixed(1)),
		// A turn counts on its side of zero: up below it, down above. Rates of change are
		// percentages less 100, and their rounding is that of the two hundreds.
		Plots: []Plot{mainly("Coppock")}, Levels: constant(0), Events: []Event{own(func(d *drawing) []Signal {
			const size = 200
			line := d.of("Coppock")
			turns := slices.DeleteFunc(marked(line, TurnUp, TurnDown, bends(line, func(int) float64 { return size })), func(t Signal) bool {
				return (t.Label == TurnUp) != (kernel.Compare(size+line[t.Bar-1], size) < 0)
			})
			return append(levelCrossings(line, 0, ZeroUp, ZeroDown), turns...)
		}, TurnUp, TurnDown, ZeroUp, ZeroDown).meaning("the line stops falling and rises, below zero", "the line stops rising and falls, above zero", "", "")},
		Calc: func(in Input) Columns {
			x := in.source()
			return Columns{kernel.WMA(kernel.Plus(kernel.ROC(x, in.Int("long")), kernel.ROC(x, in.Int("short"))), in.Int("wma"))}
		}},
	{Name: "pmo", Title: "PMO", Also: "price_momentum_oscillator decisionpoint_pmo", Category: Momentum, Form: signalled(kernel.EMA),
		Doc:     "Price momentum oscillator of DecisionPoint: the one-bar rate of change smoothed twice with its own constant 2/n, and an exponential average as signal. Smoothings are seeded with means.",
		Formula: "PMO = S(10 * S(ROC(x, 1), first), second), S(x, n) = S[1] + 2/n * (x - S[1])",
		Params: []Param{
			atLeast(2, bars("first", 35, "first smoothing", "length", "length1", "long")), atLeast(2, bars("second", 20, "second smoothing", "length2", "short")),
			bars("signal", 10, "signal average"), source(),
		},
		Memory: after(ema("first"), ema("second"), ema("signal")),
		Line: func(in Input) []float64 {
			// An exponential average of n bars would have the weight 2/(n+1).
			custom := func(x []float64, n int) []float64 { return kernel.Smooth(x, n, 2/float64(n)) }
			return custom(kernel.Scaled(custom(kernel.ROC(in.source(), 1), in.Int("first")), 10), in.Int("second"))
		}},
	{Name: "cfo", Title: "CFO", Also: "forecast_oscillator fosc chande_forecast_oscillator", Category: Momentum, Form: aroundZero,
		Doc: "Chande's forecast oscillator: by how many percent the price misses what a regression line foresaw. The forecast is the line of the bar before, one bar on, as in Tulip; " +
			"the variant endpoint, TradingView's, compares with the line's end at this bar.",
		Formula: "CFO = 100 * (x - forecast) / x",
		Params:  []Param{lengthFrom(2, 14), choice("variant", "what the price is compared with", "forecast", "endpoint"), source()},
		Line: func(in Input) []float64 {
			x := in.source()
			line, slope := kernel.Regression(x, in.Int("length"))
			if in.Choice("variant") == "forecast" {
				// The line of each bar, extended by its slope to the next one.
				line = kernel.Shift(kernel.Offset(line, slope, 1), 1)
			}
			return kernel.Ratio(kernel.Minus(x, line), x, 100)
		}},
	{Name: "center_of_gravity", Title: "COG", Also: "cg cog centre_of_gravity", Category: Cycle,
		Doc:     "Centre of gravity of Ehlers: the balance point of the prices in the window, counted in bars from the newest and negative, so that it rises when newer prices weigh more. As TradingView's ta.cog. The trigger is the line one bar before.",
		Formula: "COG = -Σ (i + 1) * x[i] / Σ x[i], i = 0 … n-1",
		Params:  []Param{length(10), source()}, Plots: []Plot{mainly("COG"), second("Trigger")}, Events: []Event{lines("COG", "Trigger")},
		Calc: func(in Input) Columns {
			x, n := in.source(), in.Int("length")
			heavy, mean := kernel.WMA(x, n), kernel.SMA(x, n)
			// Σ k*x / Σ x is WMA/SMA * (n+1)/2, k being 1 for the oldest.
			line := kernel.Each(kernel.Quotient(heavy, mean), func(v float64) float64 { return float64(v*float64(n+1)/2) - float64(n+1) })
			return Columns{line, kernel.Shift(line, 1)}
		}},
	{Name: "pretty_good_oscillator", Title: "PGO", Also: "pgo", Category: Momentum,
		Doc:     "Pretty good oscillator of Johnson: how many average ranges the close is from its average. The range is Wilder's average true range smoothed once more, as in pandas-ta. Beyond 3 he took it for a breakout.",
		Formula: "PGO = (close - SMA(close, n)) / EMA(ATR(n), n)",
		Params:  []Param{length(14), quiet(factor("level", 3, 0.1, 20, "breakout level", "threshold"))},
		Memory:  after(wilder("length"), ema("length")),
		Plots:   []Plot{mainly("PGO")}, Events: []Event{goesBeyond("PGO", "the line")}, Levels: plusMinus,
		Calc: func(in Input) Columns {
			n := in.Int("length")
			return Columns{kernel.Ratio(kernel.Minus(in.Close, kernel.SMA(in.Close, n)), kernel.EMA(kernel.ATR(in.Series, n), n), 1)}
		}},
	{Name: "rvgi", Title: "RVGI", Also: "relative_vigor relative_vigor_index", Category: Momentum,
		Doc:     "Relative vigor index of Ehlers: how much of their range bars keep between open and close, over a window, and a four-bar average as signal. As at TradingView.",
		Formula: "RVGI = Σ SWMA(close - open) / Σ SWMA(high - low) over n bars; signal = SWMA(RVGI)",
		Params:  []Param{length(10)}, Memory: after(window("length"), fixed(7)),
		Plots: []Plot{mainly("RVGI"), second("Signal")}, Events: []Event{lines("RVGI", "Signal"), zero("RVGI")}, Levels: constant(0),
		Calc: func(in Input) Columns {
			n := in.Int("length")
			line := kernel.Ratio(kernel.RollingSum(kernel.SWMA(kernel.Minus(in.Close, in.Open)), n), kernel.RollingSum(kernel.SWMA(kernel.Minus(in.High, in.Low)), n), 1)
			return Columns{line, kernel.SWMA(line)}
		}},
	{Name: "elder_ray", Title: "Elder Ray", Also: "eri bull_bear_power elder_ray_index", Category: Momentum,
		Doc:     "Elder's bull and bear power: how far the high rises above, and the low falls below, an exponential average of the close. Elder bought where bear power rose below zero in a rising average, and sold where bull power fell above zero in a falling one.",
		Formula: "bull = high - EMA(close, n); bear = low - EMA(close, n)",
		Params:  []Param{length(13), source()}, Memory: ema("length"),
		Plots: []Plot{{Label: "Bull", Tone: Up, Bars: true}, {Label: "Bear", Tone: Down, Bars: true}, unseen("Average")}, Levels: constant(0),
		Events: []Event{own(func(d *drawing) []Signal { return elderSignals(d.of("Average"), d.of("Bull"), d.of("Bear")) }, Buy, Sell).meaning(
			"bear power, below zero, stops falling and rises while the average rises",
			"bull power, above zero, stops rising and falls while the average falls")},
		Calc: func(in Input) Columns {
			mid := kernel.EMA(in.source(), in.Int("length"))
			return Columns{kernel.Minus(in.High, mid), kernel.Minus(in.Low, mid), mid}
		}},
	{Name: "squeeze", Title: "Squeeze", Also: "squeeze_momentum ttm_squeeze sqzmom sqz", Category: Momentum,
		Doc: "Squeeze momentum: dots on zero say that the Bollinger bands lie within the Keltner channel, volatility is wound up; the bars say which way it points. " +
			"After LazyBear on TradingView, with the Bollinger factor where he used the Keltner one by mistake.",
		Formula: "bars = end of the regression line over kc bars of close - ((highest + lowest)/2 + SMA)/2; on: both Bollinger bands within SMA ± kc_mult * SMA(TR)",
		Params: []Param{
			atLeast(2, bars("bb", 20, "Bollinger bands", "length", "period")), factor("bb_mult", 2, 0.01, 20, "deviations of the Bollinger bands", "mult"),
			bars("kc", 20, "Keltner channel and momentum"), factor("kc_mult", 1.5, 0.01, 20, "ranges of the Keltner channel"),
		},
		// The regression runs over kc values that each look back kc bars.
		Memory: longest(window("bb"), lengths(2, "kc")),
		Plots:  []Plot{{Label: "On", Tone: Accent, Style: Dots}, {Label: "Off", Tone: Muted, Style: Dots}, histogram("Momentum")}, Levels: constant(0),
		Events: []Event{dots("On", "Off", "", SqueezeOn), dots("Off", "On", SqueezeOff, ""), zero("Momentum")},
		Calc: func(in Input) Columns {
			n := in.Int("kc")
			bars, _ := kernel.Regression(kernel.Minus(in.Close, kernel.Midway(kernel.MidRange(in.Series, n), kernel.SMA(in.Close, n))), n)
			middle, dev := kernel.SMA(in.Close, in.Int("bb")), kernel.StdDev(in.Close, in.Int("bb"))
			centre, reach := kernel.SMA(in.Close, in.Int("kc")), kernel.SMA(kernel.TrueRangePine(in.Series), in.Int("kc"))
			on, off := kernel.NaNs(in.Len()), kernel.NaNs(in.Len())
			upper, lower := kernel.Offset(middle, dev, in.Float("bb_mult")), kernel.Offset(middle, dev, -in.Float("bb_mult"))
			ceiling, floor := kernel.Offset(centre, reach, in.Float("kc_mult")), kernel.Offset(centre, reach, -in.Float("kc_mult"))
			for i := max(in.Int("bb"), in.Int("kc")) - 1; i < in.Len(); i++ {
				if kernel.Compare(upper[i], ceiling[i]) < 0 && kernel.Compare(lower[i], floor[i]) > 0 {
					on[i] = 0
				} else {
					off[i] = 0
				}
			}
			return Columns{on, off, bars}
		}},
	{Name: "bop", Title: "BOP", Also: "balance_of_power", Category: Momentum, Form: aroundZero,
		Doc:     "Balance of power: the body of the bar as a share of its range, -1 to 1. As in TA-Lib: 0 when there is no range.",
		Formula: "BOP = (close - open) / (high - low)",
		Line: func(in Input) []float64 {
			return kernel.Ratio(kernel.Minus(in.Close, in.Open), kernel.Minus(in.High, in.Low), 1) // a bar without range counts as balanced
		}},
}

// bias returns by how many percent x is above its mean.
func bias(x []float64, n int) []float64 {
	mean := kernel.SMA(x, n)
	return kernel.Ratio(kernel.Minus(x, mean), mean, 100)
}

// swinging returns the form of a line that swings around one, which it marks the crossings of.
func swinging(one float64) func(ind *Indicator, label string) {
	return func(ind *Indicator, label string) {
		ind.Levels = constant(one)
		panel(crossesAt(label, one, CrossUp, CrossDown).crossedBy("the line", number(one)))(ind, label)
	}
}

// oscillatorParams returns the parameters that apo and ppo share.
func oscillatorParams() []Param {
	return []Param{
		bars("fast", 12, "fast average"),
		bars("slow", 26, "slow average"),
		averageType("ma_type", "ema", "kind of averages", "type"), source(),
	}
}

// twoAverages returns the fast and the slow average; the shorter length is the fast
// one, whichever it was given as. TA-Lib swaps them in the same way.
func twoAverages(in Input) (fast, slow []float64) {
	x, m, n, kind := in.source(), in.Int("fast"), in.Int("slow"), in.Choice("ma_type")
	return kernel.Average(kind, x, min(m, n)), kernel.Average(kind, x, max(m, n))
}

// trueStrength returns scale times the change smoothed twice over the absolute
// change smoothed twice.
func trueStrength(x []float64, long, short int, scale float64) []float64 {
	moves := kernel.Change(x, 1)
	twice := func(x []float64) []float64 { return kernel.EMA(kernel.EMA(x, long), short) }
	return kernel.Ratio(twice(moves), twice(kernel.Absolute(moves)), scale)
}

// awesomeParams returns Williams' lengths, 5 and 34.
func awesomeParams() []Param {
	return []Param{bars("fast", 5, "fast average", "short"), bars("slow", 34, "slow average", "long")}
}

// awesome returns the oscillator: the distance of two simple averages of the median
// price.
func awesome(in Input) []float64 {
	x := kernel.MedianPrice(in.Series)
	return kernel.Minus(kernel.SMA(x, in.Int("fast")), kernel.SMA(x, in.Int("slow")))
}

// kstParams returns Pring's lengths: for each of the four rates of change its bars and
// those of its average.
func kstParams() []Param {
	var params []Param
	for k, v := range [][2]float64{{10, 10}, {15, 10}, {20, 10}, {30, 15}} {
		digit := strconv.Itoa(k + 1)
		params = append(params,
			bars("roc"+digit, v[0], "rate of change "+digit, "roc_length"+digit),
			bars("sma"+digit, v[1], "its average of "+digit, "sma_length"+digit))
	}
	return append(params, bars("signal", 9, "signal average"), source())
}

// kstMemory is the memory of the k-th part and of the signal.
func kstMemory(k string) Memory { return after(window("roc"+k), window("sma"+k), window("signal")) }

// elderSignals marks the bars on which bear power turns up below zero while
// the average rises, and on which bull power turns down above zero while it
// falls.
func elderSignals(mid, bull, bear []float64) []Signal {
	// turns reports whether a power lies on the other side of zero than way, turns that way, and
	// had not turned on the bar before. The powers are differences of prices: what is rounding,
	// prices tell.
	turns := func(x []float64, i, way int) bool {
		compare := func(a, b float64) int { return way * kernel.Compare(a+mid[i], b+mid[i]) }
		return i > 1 && kernel.Compare(mid[i], mid[i-1]) == way && compare(x[i], 0) < 0 && compare(x[i], x[i-1]) > 0 && compare(x[i-1], x[i-2]) <= 0
	}
	return append(marked(bear, Buy, "", func(i int) int { return either(turns(bear, i, 1), false) }),
		marked(bull, "", Sell, func(i int) int { return either(false, turns(bull, i, -1)) })...)
}

// dots returns the event of the dots, which are at zero, changing from one line to another.
func dots(to, from, up, down string) Event {
	return event(to, up, down, func(d *drawing) func(int) int {
		now, before := d.of(to), d.of(from)
		return func(i int) int {
			changes := i > 0 && now[i] == 0 && before[i-1] == 0
			return either(changes && up != "", changes)
		}
	})
}
