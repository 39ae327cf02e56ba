package indicators

import "wick/market"

var indAccbands = Indicator{
	Name: "accbands", Title: "Acc Bands", Aliases: []string{"abands", "acceleration_bands"}, Category: Volatility, Overlay: true,
	Doc:     "Headley's acceleration bands: averages of highs and lows pushed apart by the relative range of each bar. As in TA-Lib.",
	Formula: "upper = SMA(high*(1+r)), middle = SMA(close), lower = SMA(low*(1-r)), r = 4*(high-low)/(high+low)",
	Params:  []Param{length(20)},
	Signals: []string{BreakUp, BreakDown},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		wideHigh, wideLow := make([]float64, s.Len()), make([]float64, s.Len())
		for i, hi := range s.High {
			lo := s.Low[i]
			var r float64
			if hi+lo != 0 {
				r = 4 * (hi - lo) / (hi + lo)
			}
			wideHigh[i], wideLow[i] = hi*(1+r), lo*(1-r)
		}
		return bandResult(s, sma(s.Close, n), sma(wideHigh, n), sma(wideLow, n))
	},
}

// bandResult returns a middle line between two bands, with the closes that
// break out of them.
func bandResult(s *market.Series, mid, upper, lower []float64) *Result {
	return &Result{
		Lines: []Line{
			{Label: "Middle", Tone: Muted, Values: mid},
			{Label: "Upper", Tone: Band, Values: upper},
			{Label: "Lower", Tone: Band, Values: lower},
		},
		Fills:   []Fill{{Y1: upper, Y2: lower, Tone: Band}},
		Signals: breakouts(s, upper, lower),
	}
}

// breakouts marks the closes that leave a band, each placed on the close.
func breakouts(s *market.Series, upper, lower []float64) []Signal {
	var signals []Signal
	for i := 1; i < s.Len(); i++ {
		now, before := s.Close[i], s.Close[i-1]
		switch {
		case now >= upper[i] && before < upper[i-1]:
			signals = append(signals, Signal{i, now, BreakUp, Up})
		case now <= lower[i] && before > lower[i-1]:
			signals = append(signals, Signal{i, now, BreakDown, Down})
		}
	}
	return signals
}
