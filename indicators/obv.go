package indicators

import (
	"math"
	"slices"

	"wick/market"
)

var indOBV = Indicator{
	Name: "obv", Title: "OBV", Aliases: []string{"on_balance_volume"}, Category: Volume,
	Doc:     "Granville's on-balance volume: volume added on rising closes and taken away on falling ones, with its average. As in TA-Lib it begins with the volume of the first bar, so only its changes mean anything.",
	Formula: "OBV = OBV[1] + volume if close > close[1], - volume if close < close[1]",
	Params:  slices.Concat([]Param{bars("ma_length", 20, "simple average of it", "ma", "signal", "length", "period")}, divParams()),
	Signals: append([]string{CrossUp, CrossDown}, divSignals...),
	Warmup:  func(a Args) int { return a.Int("ma_length") },
	Compute: func(s *market.Series, a Args) *Result {
		line := obv(s.Close, s.Volume)
		mean := sma(line, a.Int("ma_length"))
		r := &Result{
			Lines:   []Line{{Label: "OBV", Tone: Primary, Values: line}, {Label: "Average", Tone: Second, Values: mean}},
			Signals: crossings(nil, line, mean, CrossUp, CrossDown),
		}
		addDivergences(r, s, line, a)
		return r
	},
}

// obv returns the running sum of volume by the direction of the closes.
func obv(closes, volume []float64) []float64 {
	out := make([]float64, len(closes))
	if len(closes) == 0 {
		return out
	}
	sum, before := volume[0], closes[0]
	out[0] = sum
	volume, rest := volume[1:len(closes)], out[1:]
	for i, now := range closes[1:] {
		// The sign is set, not chosen: no branch could foresee it.
		move := now - before
		before = now
		if move != 0 {
			sum += math.Copysign(volume[i], move)
		}
		rest[i] = sum
	}
	return out
}
