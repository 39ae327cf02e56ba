package indicators

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"wick/indicators/kernel"
	"wick/market"
)

// volumes are what is computed of the volume.
var volumes = []Indicator{
	{Name: "volume", Title: "Volume", Also: "vol", Category: Volume,
		Doc:     "Volume of each bar and its simple average. A spike is a bar that trades a multiple of the average, after one that did not.",
		Formula: "SMA(volume, n)",
		Params:  []Param{length(20), spikeFactor()},
		Plots:   []Plot{second("MA"), histogram("Volume"), unseen("Limit")}, Events: []Event{spikesAt("Volume", "Limit")},
		Calc: func(in Input) Columns {
			mean := kernel.SMA(in.Volume, in.Int("length"))
			return Columns{mean, in.Volume, kernel.Scaled(mean, in.Float("spike"))}
		}},
	{Name: "obv", Title: "OBV", Also: "on_balance_volume", Category: Volume, Form: followed(kernel.SMA, "ma_length", "Average"),
		Doc:     "Granville's on-balance volume: volume added on rising closes and taken away on falling ones, with its average. As in TA-Lib it begins with the volume of the first bar, so only its changes mean anything.",
		Formula: "OBV = OBV[1] + volume if close > close[1], - volume if close < close[1]",
		Params:  slices.Concat([]Param{bars("ma_length", 20, "simple average of it", "ma", "signal", "length", "period")}, divParams()),
		Memory:  window("ma_length").total(),
		Line:    func(in Input) []float64 { return kernel.OBV(in.Close, in.Volume) }},
	{Name: "ad", Title: "A/D", Also: "accumulation_distribution adl ad_line chaikin_ad accumulation_distribution_line", Category: Volume,
		Doc:     "Chaikin's accumulation and distribution line: volume weighed by where the close lies in the range of its bar, added up. As in TA-Lib it begins with the first bar, so only its changes mean anything.",
		Formula: "A/D = A/D[1] + volume * ((close - low) - (high - close)) / (high - low), nothing for a bar without range",
		Params:  divParams(),
		// No history helps: the sum is counted from the first bar shown.
		Memory: Memory{}.total(), Plots: []Plot{mainly("A/D")}, Events: []Event{diverges("A/D")},
		Calc: func(in Input) Columns { return Columns{kernel.Cumulative(kernel.MoneyFlow(in.Series))} }},
	{Name: "adosc", Title: "Chaikin Osc", Also: "chaikin_oscillator chaikin_osc", Category: Volume, Form: aroundZero,
		Doc:     "Chaikin's oscillator: a fast less a slow exponential average of the accumulation and distribution line. As in TA-Lib: both averages start from the first value of the line.",
		Formula: "EMA(A/D, fast) - EMA(A/D, slow)",
		Params:  []Param{bars("fast", 3, "fast average"), bars("slow", 10, "slow average")},
		Memory:  ema("fast", "slow"),
		Line: func(in Input) []float64 {
			flow, fast, slow := kernel.MoneyFlow(in.Series), in.Int("fast"), in.Int("slow")
			// It follows their distance from the sum, not the sum itself, which grows without bound and
			// would take digits from the difference.
			first := max(fast, slow) - 1
			out := kernel.Unknown(len(flow), first)
			keepFast, keepSlow := 1-2/(float64(fast)+1), 1-2/(float64(slow)+1)
			var behindFast, behindSlow float64 // sum less average
			for i, v := range flow {
				if i > 0 {
					// An average of weight w that follows a sum S keeps S-EMA behind it: the
					// sum grows by v, and (1-w) of the distance is left.
					behindFast = (behindFast + v) * keepFast
					behindSlow = (behindSlow + v) * keepSlow
				}
				if i >= first {
					out[i] = behindSlow - behindFast
				}
			}
			return out
		}},
	{Name: "mfi", Title: "MFI", Also: "money_flow_index", Category: Volume, Form: oscillator,
		Doc:     "Money flow index: an RSI that weighs movement by volume. The share of money that changed hands on rising typical prices, 0 to 100. As in TA-Lib; 0 when no money moved (TA-Lib: less than 1).",
		Formula: "MFI = 100 * P / (P + N), P and N the sums over n bars of p*volume where p rose and fell, p = (high + low + close) / 3",
		Params:  slices.Concat([]Param{length(14)}, zone(20, 80, 0, 100), divParams()),
		Line:    func(in Input) []float64 { return kernel.MFI(in.Series, in.Int("length")) }},
	{Name: "cmf", Title: "CMF", Also: "chaikin_money_flow money_flow", Category: Volume, Form: aroundZero,
		Doc:     "Chaikin money flow: the share of volume traded near the highs of its bars less that near the lows, -1 to 1. A bar without range adds its volume and no flow. No value where the window traded nothing.",
		Formula: "CMF = Σ volume * ((close - low) - (high - close)) / (high - low) / Σ volume over n bars",
		Params:  []Param{length(20)}, Levels: constant(0.05, 0, -0.05),
		Line: func(in Input) []float64 {
			n := in.Int("length")
			return kernel.Quotient(kernel.RollingSum(kernel.MoneyFlow(in.Series), n), kernel.RollingSum(in.Volume, n))
		}},
	{Name: "force_index", Title: "EFI", Also: "efi fi elder_force_index elders_force_index", Category: Volume, Form: aroundZero,
		Doc:     "Elder's force index: change times volume, smoothed: how hard the market pushed.",
		Formula: "EFI = EMA((x - x[1]) * volume, n)",
		Params:  []Param{length(13), source()}, Memory: ema("length"),
		Line: func(in Input) []float64 {
			return kernel.EMA(kernel.Times(kernel.Change(in.source(), 1), in.Volume), in.Int("length"))
		}},
	{Name: "emv", Title: "EMV", Also: "eom ease_of_movement", Category: Volume, Form: aroundZero,
		Doc:     "Ease of movement of Arms: how far the middle of the bar moved for each part of volume per range, averaged. As at TradingView. A bar without volume leaves the windows around it without value.",
		Formula: "EMV = SMA(Δhl2 * (high - low) * divisor / volume, n)",
		Params:  []Param{length(14), factor("divisor", 10000, 1, 1e12, "scale of the volume")},
		Line: func(in Input) []float64 {
			n := in.Int("length")
			// RollingSum and not SMA: a bar without volume is NaN and spoils only the windows that hold it.
			ease := kernel.Quotient(kernel.Times(kernel.Change(kernel.MedianPrice(in.Series), 1), kernel.Minus(in.High, in.Low)), in.Volume)
			return kernel.Scaled(kernel.RollingSum(ease, n), in.Float("divisor")/float64(n))
		}},
	{Name: "klinger", Title: "KVO", Also: "kvo klinger_oscillator klinger_volume_oscillator", Category: Volume, Form: signalled(kernel.EMA),
		Doc: "Klinger volume oscillator: a fast less a slow average of volume force, volume signed by the trend and weighed by how the bar's range compares with the range since the trend began. As in Tulip, averages from the second bar on; " +
			"the variant signed, TradingView's, takes plain volume signed by the change of the typical price.",
		Formula: "force = ±100 * volume * |2 * dm/cm - 1|, dm = high - low, cm = Σdm of the trend; KVO = EMA(force, fast) - EMA(force, slow)",
		Params:  []Param{bars("fast", 34, "fast average"), bars("slow", 55, "slow average"), bars("signal", 13, "signal average"), choice("variant", "what is averaged", "force", "signed")},
		Memory:  after(ema("fast", "slow"), ema("signal")),
		Line: func(in Input) []float64 {
			fast, slow := in.Int("fast"), in.Int("slow")
			if in.Choice("variant") == "signed" {
				// TradingView's averages are seeded with a simple one, Tulip's below with the first value.
				volume := kernel.NaNs(in.Len())
				x := kernel.TypicalPrice(in.Series)
				for i := 1; i < len(volume); i++ {
					volume[i] = in.Volume[i]
					if kernel.Compare(x[i], x[i-1]) < 0 {
						volume[i] = -volume[i]
					}
				}
				return kernel.Minus(kernel.EMA(volume, fast), kernel.EMA(volume, slow))
			}
			force := kernel.NaNs(in.Len())
			trend, span := 0.0, 0.0 // span: Σ of ranges since the bar before the trend
			for i := 1; i < len(force); i++ {
				// Three times the typical price; the factor changes no comparison.
				move := kernel.Compare(in.High[i]+in.Low[i]+in.Close[i], in.High[i-1]+in.Low[i-1]+in.Close[i-1])
				// A turn of the trend begins a new sum, with the range of the bar before.
				if move > 0 && trend <= 0 || move < 0 && trend >= 0 {
					trend, span = 1, in.High[i-1]-in.Low[i-1]
					if move < 0 {
						trend = -1
					}
				}
				// 1 on a bar that is all of the ranges since the turn, near 0 in a long trend.
				dm := in.High[i] - in.Low[i]
				span += dm
				force[i] = 0
				if span > 0 {
					// Until the price first moves there is no trend; Tulip counts it as falling.
					sign := trend
					if sign == 0 {
						sign = -1
					}
					force[i] = in.Volume[i] * math.Abs(2*dm/span-1) * 100 * sign
				}
			}
			return kernel.Minus(kernel.Follow(force, 2/float64(fast+1)), kernel.Follow(force, 2/float64(slow+1)))
		}},
	{Name: "nvi", Title: "NVI", Also: "negative_volume_index", Category: Volume,
		Doc:     "Negative volume index of Dysart and Fosback: follows the price only on bars with less volume than the bar before, when the crowd is away. Above its 255-bar average Fosback counted on a bull market.",
		Formula: "NVI = NVI[1] * close / close[1] when volume < volume[1], else NVI[1]",
		Form:    volumeIndex(func(volume, before float64) bool { return volume < before })},
	{Name: "pvi", Title: "PVI", Also: "positive_volume_index", Category: Volume,
		Doc:     "Positive volume index of Dysart and Fosback: follows the price only on bars with more volume than the bar before, when the crowd is there.",
		Formula: "PVI = PVI[1] * close / close[1] when volume > volume[1], else PVI[1]",
		Form:    volumeIndex(func(volume, before float64) bool { return volume > before })},
	{Name: "pvt", Title: "PVT", Also: "vpt price_volume_trend volume_price_trend", Category: Volume, Form: followed(kernel.EMA, "signal", "Average"),
		Doc:     "Price volume trend: volume added up in proportion to the relative change of the price. Starts from 0 on the first bar loaded, so its level means nothing, its course does; the signals are crosses of its exponential average.",
		Formula: "PVT = PVT[1] + volume * (x - x[1]) / x[1]",
		Params:  append([]Param{bars("signal", 21, "average of the line", "length"), source()}, divParams()...),
		Memory:  ema("signal").total(),
		Line: func(in Input) []float64 {
			// ROC is in percent. The first bar has no change and adds nothing.
			steps := kernel.Times(kernel.ROC(in.source(), 1), in.Volume)
			return kernel.Cumulative(kernel.Scaled(kernel.ZeroNaN(steps), 0.01))
		}},
	{Name: "pvo", Title: "PVO", Also: "volume_oscillator_percent percentage_volume_oscillator", Category: Volume, Form: withHistogram,
		Doc:     "Percentage volume oscillator: a MACD of the volume in percent of its slow average. Each average is seeded with the mean of its own first values, as at TradingView.",
		Formula: "PVO = 100 * (EMA(volume, fast) - EMA(volume, slow)) / EMA(volume, slow); signal = EMA(PVO)",
		Params:  []Param{bars("fast", 12, "fast average"), bars("slow", 26, "slow average"), bars("signal", 9, "signal average")},
		Memory:  after(ema("fast", "slow"), ema("signal")),
		Line: func(in Input) []float64 {
			// Without volume the slow average is 0, and Ratio gives 0 rather than a hole.
			slow := kernel.EMA(in.Volume, in.Int("slow"))
			return kernel.Ratio(kernel.Minus(kernel.EMA(in.Volume, in.Int("fast")), slow), slow, 100)
		}},
	{Name: "volume_oscillator", Title: "VO", Also: "vosc vo", Category: Volume, Form: aroundZero,
		Doc:     "Volume oscillator: by how many percent a fast simple average of the volume is above a slow one. A move with a rising oscillator has support.",
		Formula: "VO = 100 * (SMA(volume, fast) - SMA(volume, slow)) / SMA(volume, slow)",
		Params:  []Param{bars("fast", 5, "fast average", "short"), bars("slow", 10, "slow average", "long")},
		Memory:  window("fast", "slow"),
		Line: func(in Input) []float64 {
			// RollingSum and not SMA: a window without volume is then exactly 0.
			mean := func(name string) []float64 {
				n := in.Int(name)
				return kernel.Scaled(kernel.RollingSum(in.Volume, n), 1/float64(n))
			}
			slow := mean("slow")
			return kernel.Ratio(kernel.Minus(mean("fast"), slow), slow, 100)
		}},
	{Name: "wad", Title: "WAD", Also: "williams_ad williams_accumulation_distribution", Category: Volume, Form: followed(kernel.SMA, "signal", "Average"),
		Doc:     "Williams' accumulation and distribution: on a rise the way up from the true low, on a fall the way down from the true high, added up. Despite its name it uses no volume. Starts with the second bar loaded; the signals are crosses of its average.",
		Formula: "WAD = WAD[1] + close - min(low, close[1]) on a rise, + close - max(high, close[1]) on a fall",
		Params:  append([]Param{bars("signal", 20, "average of the line", "length")}, divParams()...),
		Memory:  after(window("signal"), fixed(2)).total(),
		Line: func(in Input) []float64 {
			steps := kernel.NaNs(in.Len())
			for i := 1; i < len(steps); i++ {
				now, before := in.Close[i], in.Close[i-1]
				switch {
				case now > before:
					steps[i] = now - min(in.Low[i], before)
				case now < before:
					steps[i] = now - max(in.High[i], before)
				default:
					steps[i] = 0
				}
			}
			return kernel.Cumulative(steps)
		}},
	{Name: "marketfi", Title: "BW MFI", Also: "market_facilitation market_facilitation_index bw_mfi", Category: Volume,
		Doc:     "Market facilitation index of Williams: how far the price travels for each unit of volume. No value on a bar without volume. spike fires when a bar is three times its average of 20.",
		Formula: "(high - low) / volume",
		Memory:  fixed(20),
		Plots:   []Plot{histogram("BW MFI")}, Events: []Event{own(func(d *drawing) []Signal {
			// A bar without volume counts as 0 in the average, which must not have holes.
			line := d.of("BW MFI")
			return spikesOver(line, kernel.Scaled(kernel.RollingSum(kernel.ZeroNaN(line), 20), 3./20))
		}, Spike)},
		Calc: func(in Input) Columns { return Columns{kernel.Quotient(kernel.Minus(in.High, in.Low), in.Volume)} }},
	{Name: "relative_volume", Title: "RVOL", Also: "rvol", Category: Volume,
		Doc:     "Relative volume: the volume of a bar as a multiple of the average of the bars before it, itself left out. 1 is usual. No value while those traded nothing.",
		Formula: "RVOL = volume / SMA(volume[1], n)",
		Params:  []Param{length(10), spikeFactor()},
		Plots:   []Plot{mainly("RVOL"), unseen("Limit")}, Levels: constant(1), Events: []Event{spikesAt("RVOL", "Limit")},
		Calc: func(in Input) Columns {
			usual := kernel.Shift(kernel.SMA(in.Volume, in.Int("length")), 1) // the bar itself is not part of its average
			return Columns{kernel.Quotient(in.Volume, usual), slices.Repeat([]float64{in.Float("spike")}, in.Len())}
		}},
	{Name: "net_volume", Title: "Net volume", Category: Volume,
		Doc:     "Net volume: the volume of each bar, positive where the close rose, negative where it fell, zero where it stayed. An estimate from closes alone: which trades were bought is not in the bars.",
		Formula: "volume * sign(close - close[1])",
		Memory:  fixed(1), Plots: []Plot{histogram("Net volume")}, Events: []Event{silently(zero("Net volume"))}, Levels: constant(0),
		Calc: func(in Input) Columns {
			return Columns{kernel.Times(in.Volume, kernel.Signs(kernel.Change(in.Close, 1)))} // the first bar has no sign
		}},
	{Name: "cvd", Title: "CVD", Also: "cumulative_volume_delta cumulative_delta", Category: Volume, Memory: visible,
		Doc: "Cumulative volume delta, estimated from the bars: what was bought less what was sold, summed from the first bar shown, taking the buyers' share of a bar's volume to be where it closed in its range. " +
			"So it is the accumulation/distribution line by another name; a true delta needs the trades themselves.",
		Formula: "CVD = CVD[1] + volume * ((close - low) - (high - close)) / (high - low); a bar without range adds nothing",
		Params:  divParams(), Plots: []Plot{mainly("CVD")}, Events: []Event{zero("CVD"), diverges("CVD")}, Levels: constant(0),
		Calc: func(in Input) Columns { return Columns{kernel.Cumulative(kernel.MoneyFlow(in.Series))} }},
	// By LazyBear's widely used script; David Weis himself draws waves by hand.
	{Name: "weis_wave", Title: "Weis wave", Also: "weis_wave_volume wwv", Category: Volume,
		Doc:     "Weis wave volume: the volume of each up or down wave added up since the wave began, down waves below zero. A wave turns when enough closes in a row go the other way. After LazyBear's script. Nothing repaints.",
		Formula: "wave: up after n rising closes in a row, down after n falling ones, else as before; sum of the volume since it turned",
		Params:  []Param{length(2)},
		// The more closes in a row a turn needs, the longer waves last.
		Memory: after(fixed(300), lengths(60, "length")),
		Plots:  []Plot{histogram("Wave"), unseen("Side")}, Events: []Event{flips("Wave").meaning("a rising wave begins", "a falling wave begins")},
		Calc: func(in Input) Columns {
			n := in.Float("length")
			total, side := kernel.NaNs(in.Len()), make([]float64, in.Len())
			wave, run := 0.0, kernel.Streak(in.Close, 1) // an unchanged close ends the run but not the wave
			for i := 1; i < in.Len(); i++ {
				turn := cmp.Or(float64(either(run[i] >= n, run[i] <= -n)), wave)
				switch {
				case turn == 0: // no wave has begun
				case turn != wave:
					total[i] = turn * in.Volume[i]
				default:
					total[i] = total[i-1] + float64(turn*in.Volume[i])
				}
				wave, side[i] = turn, turn
			}
			return Columns{total, side}
		}},
	// As TradingView's "Relative Volume at Time", as its help page tells it. A period without a bar
	// up to that time does not count.
	{Name: "relative_volume_at_time", Title: "RVAT", Also: "rvat rvol_at_time", Category: Volume,
		Doc:     "Relative volume at time: the volume since the day began as a multiple of what the last days had at the same time of day. 1 is usual. With mode regular each bar is compared alone. Periods begin in UTC.",
		Formula: "volume since the period began / mean of the same over the last n periods at the same time after their begin",
		Params: []Param{
			factorInt("length", 10, 1, 100, "periods before", "period", "len", "window"),
			anchor(), choice("mode", "since the period began, or each bar alone", "cumulative", "regular"), spikeFactor(),
		},
		// Twice as many periods, since weekends and holidays have no bars.
		Memory: Memory{seconds: func(a Args, iv market.Interval) int64 { return int64(2*a.Int("length")+4) * sinceAnchor(a, iv) }},
		Plots:  []Plot{mainly("RVAT"), unseen("Limit")}, Levels: constant(1), Events: []Event{spikesAt("RVAT", "Limit")},
		Calc: func(in Input) Columns {
			period, length, cumulative := longPeriod(in.Choice("anchor"), in.Interval), in.Int("length"), in.Choice("mode") == "cumulative"
			out, starts := kernel.NaNs(in.Len()), periodStarts(in.Series, period)
			sums := make([]float64, in.Len()) // what is compared
			var begins []int                  // first bars of the periods
			var opened []int64                // when the periods began, at their first bar or before
			for i := range out {
				if starts[i] {
					start, _ := periodAround(in.Time[i], period)
					begins, opened = append(begins, i), append(opened, start)
				}
				sums[i] = in.Volume[i]
				if !starts[i] && cumulative {
					sums[i] += sums[i-1]
				}
				before := len(begins) - 1 - length
				if before < 1 { // the first period may have begun before the first bar
					continue
				}
				since := in.Time[i] - opened[len(opened)-1]
				total, count := 0.0, 0
				for k := before; k < len(begins)-1; k++ {
					later := sort.Search(begins[k+1]-begins[k], func(j int) bool { return in.Time[begins[k]+j]-opened[k] > since })
					if later > 0 {
						total += sums[begins[k]+later-1]
						count++
					}
				}
				if total > 0 {
					out[i] = sums[i] / (total / float64(count))
				}
			}
			return Columns{out, slices.Repeat([]float64{in.Float("spike")}, in.Len())}
		}},
	{Name: "vfi", Title: "VFI", Also: "volume_flow volume_flow_indicator", Category: Volume, Form: signalled(kernel.EMA),
		Doc:     "Volume flow of Katsanos: volume added or taken away by the typical price's direction, where that moves by more than a part of its usual volatility, with spikes of volume cut off; over its usual volume, smoothed.",
		Formula: "cutoff = coef * σ(ln p/p[1], 30) * close; v = min(volume, vcoef * mean volume of n bars before); VFI = EMA(Σ ±v where |Δp| > cutoff / mean volume, smooth)",
		Params: []Param{
			length(130), factor("coef", 0.2, 0, 5, "part of the volatility that a move must exceed"), factor("vcoef", 2.5, 0.1, 100, "largest volume, in means"),
			bars("smooth", 3, "average of the result"), bars("signal", 5, "signal average"),
		},
		// The sum, the mean volume before it, the deviation of 30 returns, and both averages.
		Memory: after(lengths(2, "length"), fixed(31), ema("smooth"), ema("signal")),
		Line: func(in Input) []float64 {
			n, coef, vcoef := in.Int("length"), in.Float("coef"), in.Float("vcoef")
			p := kernel.TypicalPrice(in.Series)
			deviation := kernel.InRuns(kernel.LogReturns(p, 1), func(x []float64) []float64 { return kernel.StdDev(x, 30) })
			// The usual volume is that of the bars before: a spike is not measured by itself.
			usual := kernel.Shift(kernel.SMA(in.Volume, n), 1)
			flow := kernel.NaNs(len(p))
			for i := 1; i < len(p); i++ {
				// Bars before both are known stay NaN.
				cutoff, volume := coef*deviation[i]*in.Close[i], min(in.Volume[i], vcoef*usual[i])
				switch move := kernel.Difference(p[i], p[i-1]); {
				case math.IsNaN(cutoff) || math.IsNaN(volume):
				case move > cutoff:
					flow[i] = volume
				case move < -cutoff:
					flow[i] = -volume
				default:
					flow[i] = 0
				}
			}
			return kernel.EMA(kernel.Ratio(kernel.RollingSum(flow, n), usual, 1), in.Int("smooth"))
		}},
	// A filter of one state with a gain that is given and not estimated: an exponential
	// average that holds its value where the input has none. Divided by the deviation,
	// the volume of every market has one scale, and one zone fits all.
	{Name: "kalman_volume", Title: "Kalman volume", Also: "kalman kvf kalman_volume_filter", Category: Volume, Traits: Beyond,
		Doc: "Kalman volume filter: volume with the sign of the price's direction over two bars, as a share of all volume, both in Hull's average; in units of its own deviation, and smoothed with a fixed gain. " +
			"Nothing is shown before the deviation is known, and crosses are marked on the bar where they happen.",
		Formula: "vzo = HMA(±volume, n) / HMA(volume, n) / σ(200); K = K[1] + gain * (vzo - K[1]); signal = SMA(K)",
		Params: []Param{
			bars("vzo_length", 70, "average of the volume", "length"), factor("k", 0.06, 0.001, 1, "gain: the weight of the newest value", "gain"),
			bars("sig_length", 10, "signal average", "signal"), quiet(factor("zone", 0.6, 0, 5, "beyond this, a cross counts as overbought or oversold")),
		},
		// Hull's two windows, that of the deviation, the filter, of whose start e^-20 is left,
		// and the signal.
		Memory: after(averageOf("hma", "vzo_length"), fixed(kalmanWindow), Memory{bars: func(a Args) int { return int(20 / a.Float("k")) }}, window("sig_length")),
		Plots:  []Plot{mainly("Kalman"), second("Signal"), histogram("Volume")}, Shades: []Shade{{A: "Kalman", B: "Signal", Tone: Up, Below: Down}},
		Levels: func(a Args) []float64 { return []float64{a.Float("zone"), 0, -a.Float("zone")} }, Between: [2]float64{-2.5, 2.5},
		Events: []Event{
			own(func(d *drawing) []Signal { return kalmanSignals(d.of("Kalman"), d.of("Signal"), d.Float("zone")) }, Buy, Sell, BuyOversold, SellOverbought).meaning(
				"the line rises above its signal line, and was in neither zone on the bar before",
				"the line falls below its signal line, and was in neither zone on the bar before", "", ""),
			silently(both(levelOf("Kalman", "zone", -1, "", EntersOversold), levelOf("Kalman", "zone", 1, EntersOverbought, ""))),
		},
		Calc: func(in Input) Columns {
			signed := kernel.NaNs(in.Len())
			for i := 2; i < len(signed); i++ {
				// A close that stands where it was counts as a fall.
				signed[i] = in.Volume[i]
				if in.Close[i] <= in.Close[i-2] {
					signed[i] = -in.Volume[i]
				}
			}
			n := in.Int("vzo_length")
			// Where nothing was traded, so that there is no share, the last one stands.
			share := kernel.NaNs(in.Len())
			part, whole := kernel.HMA(signed, n), kernel.HMA(in.Volume, n)
			last := nan
			for i := range share {
				// Hull's average overshoots: of volume that dries up it can fall to zero
				// and below. A share stays between -1 and 1.
				if whole[i] > 0 && !math.IsNaN(part[i]) {
					last = max(-1, min(1, part[i]/whole[i]))
				}
				share[i] = last
			}
			// A share that has not moved for so long has no unit to be measured in: the last value stands.
			line, m := kernel.NaNs(len(share)), nan
			for i, unit := range kernel.StdDev(share, kalmanWindow) {
				if v := share[i] / unit; unit > kernel.Rounding && isNaN(m) {
					m = v
				} else if unit > kernel.Rounding {
					m += float64(in.Float("k") * (v - m))
				}
				line[i] = m
			}
			// Ten deviations would be a bar of height 1; few volumes reach 0.8.
			backdrop := kernel.Clamp(kernel.Scaled(kernel.Quotient(signed, kernel.StdDev(in.Volume, kalmanWindow)), 0.1), -0.8, 0.8)
			return Columns{line, kernel.SMA(line, in.Int("sig_length")), backdrop}
		}},
}

// spikeFactor returns the parameter for how many times its usual volume a bar must
// trade to be a spike.
func spikeFactor() Param {
	return quiet(factor("spike", 2, 1, 100, "multiple of the average that counts as a spike", "threshold", "mult"))
}

// spikesAt returns the event of a column rising above its limit, in the direction of the bar. A
// bar that closes where it opened counts as rising.
func spikesAt(of, limit string) Event {
	return own(func(d *drawing) []Signal {
		signals := crossings(d.of(of), d.of(limit), Spike, "")
		for i := range signals {
			if bar := signals[i].Bar; d.Close[bar] < d.Open[bar] {
				signals[i].Tone = Down
			}
		}
		return signals
	}, Spike)
}

// volumeIndex completes the record of an index that moves with the close on the bars
// that counts accepts. PVI and NVI differ in these bars alone.
func volumeIndex(counts func(volume, before float64) bool) func(ind *Indicator, label string) {
	return func(ind *Indicator, label string) {
		ind.Memory = ema("signal").product()
		ind.Doc += " It begins at start on the first bar loaded, so its level means nothing, its course does."
		ind.Params = []Param{
			factor("start", 1000, 0.001, 1e9, "first value", "initial"), bars("signal", 255, "average of the index", "length", "ema"),
		}
		followed(kernel.EMA, "signal", "Average")(ind, label)
		ind.Line = func(in Input) []float64 {
			line := make([]float64, in.Len())
			value := in.Float("start")
			for i := range line {
				// A close of 0 has no relative change to follow.
				if i > 0 && counts(in.Volume[i], in.Volume[i-1]) && in.Close[i-1] > 0 {
					value *= in.Close[i] / in.Close[i-1]
				}
				line[i] = value
			}
			return line
		}
	}
}

// kalmanWindow is the number of bars whose deviation is the unit.
const kalmanWindow = 200

// kalmanSignals marks the crosses of line and signal, by where the line was
// before them: beyond the zone on the far side it is a stronger one, beyond it
// on the near side none at all.
func kalmanSignals(line, signal []float64, zone float64) []Signal {
	signals := crossings(line, signal, Buy, Sell)
	for i := range signals {
		switch before := line[max(0, signals[i].Bar-1)]; {
		case signals[i].Tone == Up && before < -zone:
			signals[i].Label = BuyOversold
		case signals[i].Tone == Down && before > zone:
			signals[i].Label = SellOverbought
		}
	}
	return slices.DeleteFunc(signals, func(s Signal) bool {
		before := line[max(0, s.Bar-1)]
		return s.Label == Buy && !(before < zone) || s.Label == Sell && !(before > -zone)
	})
}
