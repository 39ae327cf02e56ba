package indicators

import "wick/market"

var indPVO = Indicator{
	Name: "pvo", Title: "PVO", Aliases: []string{"volume_oscillator_percent", "percentage_volume_oscillator"}, Category: Volume,
	Doc:     "Percentage volume oscillator: a MACD of the volume in percent of its slow average. Each average is seeded with the mean of its own first values, as at TradingView.",
	Formula: "PVO = 100 * (EMA(volume, fast) - EMA(volume, slow)) / EMA(volume, slow); signal = EMA(PVO)",
	Params: []Param{
		bars("fast", 12, "fast average", "fast_length"), bars("slow", 26, "slow average", "slow_length"), bars("signal", 9, "signal average", "signal_length"),
	},
	Signals: []string{CrossUp, CrossDown, ZeroUp, ZeroDown},
	Compute: func(s *market.Series, a Args) *Result {
		slow := ema(s.Volume, a.Int("slow"))
		line := ratioLine(minus(ema(s.Volume, a.Int("fast")), slow), slow, 100)
		signal := ema(line, a.Int("signal"))
		return lineWithSignal("PVO", line, signal, minus(line, signal))
	},
}

var indVolumeOscillator = Indicator{
	Name: "volume_oscillator", Title: "VO", Aliases: []string{"vosc", "vo"}, Category: Volume,
	Doc:     "Volume oscillator: by how many percent a fast simple average of the volume is above a slow one. A move with a rising oscillator has support.",
	Formula: "VO = 100 * (SMA(volume, fast) - SMA(volume, slow)) / SMA(volume, slow)",
	Params:  []Param{bars("fast", 5, "fast average", "short", "fast_length"), bars("slow", 10, "slow average", "long", "slow_length")},
	Signals: []string{ZeroUp, ZeroDown},
	Warmup:  func(a Args) int { return max(a.Int("fast"), a.Int("slow")) + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		mean := func(name string) []float64 { n := a.Int(name); return scaled(rollingSum(s.Volume, n), 1/float64(n)) }
		slow := mean("slow")
		return zeroPanel("VO", ratioLine(minus(mean("fast"), slow), slow, 100))
	},
}
