package indicators

import (
	"math"
	"slices"

	"wick/market"
)

var indMACD = Indicator{
	Name: "macd", Title: "MACD", Aliases: []string{"moving_average_convergence_divergence"}, Category: Momentum,
	Doc: "Moving average convergence and divergence: a fast less a slow exponential average, its own average as signal, and their difference. As in TA-Lib: both averages are seeded on the same bar " +
		"and all three series begin together. The variant pine seeds each average with its own first bars, as TradingView; after about 200 bars the two agree.",
	Formula: "MACD = EMA(fast) - EMA(slow); signal = EMA(MACD); histogram = MACD - signal",
	Params: slices.Concat([]Param{
		bars("fast", 12, "fast average", "fast_length", "fastperiod", "fast_period"), bars("slow", 26, "slow average", "slow_length", "slowperiod", "slow_period"),
		bars("signal", 9, "signal average", "signal_length", "signalperiod", "signal_period", "smooth"), choice("variant", "whose seeds", "talib", "pine"), source(),
	}, divParams()),
	Signals: append([]string{CrossUp, CrossDown, ZeroUp, ZeroDown}, divSignals...),
	Warmup:  macdWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, fast, slow, signal := column(s, a), a.Int("fast"), a.Int("slow"), a.Int("signal")
		var line, signalLine, hist []float64
		if a.Choice("variant") == "talib" {
			line, signalLine, hist = macd(x, fast, slow, signal)
		} else {
			line = minus(ema(x, fast), ema(x, slow))
			signalLine = ema(line, signal)
			hist = minus(line, signalLine)
		}
		r := lineWithSignal("MACD", line, signalLine, hist)
		addDivergences(r, s, line, a)
		return r
	},
}

var indMACDFix = Indicator{
	Name: "macdfix", Title: "MACD Fix", Category: Momentum,
	Doc:     "MACD 12/26 with the weights 0.15 and 0.075 of its first publication instead of 2/13 and 2/27. As in TA-Lib.",
	Formula: "as macd, with fast weight 0.15 and slow weight 0.075",
	Params:  []Param{bars("signal", 9, "signal average", "signal_length", "signalperiod", "signal_period", "smooth"), source()},
	Signals: []string{CrossUp, CrossDown, ZeroUp, ZeroDown},
	Warmup:  func(a Args) int { return emaMemory * (26 + a.Int("signal")) },
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		line := minus(smooth(skip(x, 26-12), 12, 0.15), smooth(x, 26, 0.075))
		line, signal, hist := withSignal(line, ema(line, a.Int("signal")))
		return lineWithSignal("MACD", line, signal, hist)
	},
}

var indMACDExt = Indicator{
	Name: "macdext", Title: "MACD Ext", Aliases: []string{"macd_extended"}, Category: Momentum,
	Doc:     "MACD of any kinds of averages. As in TA-Lib: the averages begin on the same bar, and so do the three series; all are simple unless said otherwise.",
	Formula: "MACD = average(fast) - average(slow); signal = average(MACD); histogram = MACD - signal",
	Params: []Param{
		bars("fast", 12, "fast average", "fast_length", "fastperiod", "fast_period"), averageType("fast_type", "sma", "kind of fast average", "fastmatype"),
		bars("slow", 26, "slow average", "slow_length", "slowperiod", "slow_period"), averageType("slow_type", "sma", "kind of slow average", "slowmatype"),
		bars("signal", 9, "signal average", "signal_length", "signalperiod", "signal_period", "smooth"), averageType("signal_type", "sma", "kind of signal average", "signalmatype"),
		source(),
	},
	Signals: []string{CrossUp, CrossDown, ZeroUp, ZeroDown},
	Warmup: func(a Args) int {
		return max(averageWarmup(a.Choice("fast_type"), a.Int("fast")), averageWarmup(a.Choice("slow_type"), a.Int("slow"))) +
			averageWarmup(a.Choice("signal_type"), a.Int("signal"))
	},
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		fast, fastKind, slow, slowKind := a.Int("fast"), a.Choice("fast_type"), a.Int("slow"), a.Choice("slow_type")
		if fast > slow {
			fast, fastKind, slow, slowKind = slow, slowKind, fast, fastKind
		}
		begin := max(averageLookback(fastKind, fast), averageLookback(slowKind, slow))
		line := minus(
			average(fastKind, skip(x, begin-averageLookback(fastKind, fast)), fast),
			average(slowKind, skip(x, begin-averageLookback(slowKind, slow)), slow))
		line, signal, hist := withSignal(line, average(a.Choice("signal_type"), line, a.Int("signal")))
		return lineWithSignal("MACD", line, signal, hist)
	},
}

func macdWarmup(a Args) int { return emaMemory * (max(a.Int("fast"), a.Int("slow")) + a.Int("signal")) }

// macd returns the three series. The seed of the fast average ends on the bar
// on which the slow one begins, so both start from the same bar. As in smooth,
// how far the price lies above each average is carried on; the line is how much
// further it lies above the slow one.
func macd(x []float64, fast, slow, signal int) (line, signalLine, hist []float64) {
	if fast > slow {
		fast, slow = slow, fast // as TA-Lib does
	}
	first := firstValid(x)
	begin := first + slow - 1
	line = unknown(len(x), begin)
	if begin < len(x) {
		before := x[begin]
		quick := before - total(x[begin-fast+1:begin+1])/float64(fast)
		steady := before - total(x[first:begin+1])/float64(slow)
		line[begin] = steady - quick
		keepQuick, keepSteady := 1-2/(float64(fast)+1), 1-2/(float64(slow)+1)
		in, rest := x[begin+1:], line[begin+1:]
		rest = rest[:len(in)]
		for i, v := range in {
			move := v - before
			quick = math.FMA(keepQuick, quick, float64(keepQuick*move))
			steady = math.FMA(keepSteady, steady, float64(keepSteady*move))
			rest[i], before = steady-quick, v
		}
	}
	return withSignal(line, ema(line, signal))
}

// withSignal returns the line cut to where its signal line begins, the signal
// line, and the difference.
func withSignal(line, signal []float64) (cut, signalLine, hist []float64) {
	return from(line, firstValid(signal)), signal, minus(line, signal)
}

// skip returns x without its first k values: a kernel then begins k bars later.
func skip(x []float64, k int) []float64 {
	first := firstValid(x)
	return from(slices.Clone(x), first+k)
}
