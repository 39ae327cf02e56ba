package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indMACDExt = Indicator{
	Name: "macdext", Title: "MACD Ext", Aliases: []string{"macd_extended"}, Category: Momentum,
	Doc:     "MACD of any kinds of averages. As in TA-Lib: the averages begin on the same bar, and so do the three series; the shorter of fast and slow is the fast one, whichever was given as that, and keeps its kind; all are simple unless said otherwise.",
	Formula: "MACD = average(fast) - average(slow); signal = average(MACD); histogram = MACD - signal",
	Params: []Param{
		bars("fast", 12, "fast average", "fast_length", "fastperiod", "fast_period"), averageType("fast_type", "sma", "kind of fast average", "fastmatype"),
		bars("slow", 26, "slow average", "slow_length", "slowperiod", "slow_period"), averageType("slow_type", "sma", "kind of slow average", "slowmatype"),
		bars("signal", 9, "signal average", "signal_length", "signalperiod", "signal_period", "smooth"), averageType("signal_type", "sma", "kind of signal average", "signalmatype"),
		source(),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	Warmup: func(a Args) int {
		return max(kernel.AverageWarmup(a.Choice("fast_type"), a.Int("fast")), kernel.AverageWarmup(a.Choice("slow_type"), a.Int("slow"))) +
			kernel.AverageWarmup(a.Choice("signal_type"), a.Int("signal"))
	},
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		fast, fastKind, slow, slowKind := a.Int("fast"), a.Choice("fast_type"), a.Int("slow"), a.Choice("slow_type")
		// As in TA-Lib the shorter length is the fast one however they are given, and
		// takes its kind of average along.
		if fast > slow {
			fast, fastKind, slow, slowKind = slow, slowKind, fast, fastKind
		}
		// The average that begins earlier skips bars at its start, so that both have
		// their first value on the same bar.
		begin := max(kernel.AverageLookback(fastKind, fast), kernel.AverageLookback(slowKind, slow))
		line := kernel.Minus(
			kernel.Average(fastKind, kernel.Skip(x, begin-kernel.AverageLookback(fastKind, fast)), fast),
			kernel.Average(slowKind, kernel.Skip(x, begin-kernel.AverageLookback(slowKind, slow)), slow))
		line, signal, hist := kernel.WithSignal(line, kernel.Average(a.Choice("signal_type"), line, a.Int("signal")))
		return shape.SignalHistogram("MACD", line, signal, hist)
	},
}
