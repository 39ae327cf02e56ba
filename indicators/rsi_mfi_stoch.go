package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indRSIMFIStoch = Indicator{
	Name: "rsi_mfi_stoch", Title: "RSI MFI Stoch", Aliases: []string{"rsi_combo", "combo"}, Category: Momentum,
	Doc: "RSI, money flow index and slow stochastic in one panel, each as in its own entry. Signals mark RSI leaving its zones, and the stochastic crossing its average below 20 or above 80; " +
		"the trend bars at the bottom are up when all three are above 50, down when all are below.",
	Formula: "RSI(n), MFI(n), %K = SMA(stochastic(n), smooth), %D = SMA(%K, d)",
	Params: slices.Concat([]Param{
		bars("rsi_length", 14, "changes in the RSI", "length"), bars("mfi_length", 14, "changes in the MFI"),
		bars("stoch_k", 14, "bars in the range of the stochastic"), bars("stoch_d", 3, "average that makes %D"),
		bars("stoch_smooth", 3, "average that makes %K"),
		toggle("show_entry_dots", true, "mark the signals"), toggle("show_trend_bars", true, "show where all three agree"),
	}, zone(30, 70, 0, 100)),
	Signals: []string{shape.RSIOversold, shape.RSIOverbought, shape.StochOS, shape.StochOB},
	Silent:  func(a Args, _ string) string { return silentUnless(a, "show_entry_dots") },
	Warmup: func(a Args) int {
		// The three are computed side by side, so the slowest decides; it is the RSI as
		// a rule.
		return max(20*a.Int("rsi_length"), a.Int("mfi_length")+1, a.Int("stoch_k")+a.Int("stoch_smooth")+a.Int("stoch_d"))
	},
	Compute: func(s *market.Series, a Args) *Result {
		rsi, flow := kernel.RSI(s.Close, a.Int("rsi_length")), kernel.MFI(s, a.Int("mfi_length"))
		k := kernel.SMA(kernel.Stochastic(s.Close, s.High, s.Low, a.Int("stoch_k")), a.Int("stoch_smooth"))
		d := kernel.SMA(k, a.Int("stoch_d"))
		lo, hi := a.Float("oversold"), a.Float("overbought")
		// All four lines share the scale from 0 to 100; the zones drawn are those of
		// the RSI.
		r := &Result{
			YRange: &[2]float64{0, 100},
			Lines: []Line{
				{Label: "RSI", Tone: Primary, Values: rsi}, {Label: "MFI", Values: flow},
				{Label: "Stoch K", Values: k}, {Label: "Stoch D", Values: d},
			},
			HLines: []HLine{{Y: hi}, {Y: 50}, {Y: lo}},
		}
		if a.Bool("show_trend_bars") {
			r.Histogram = agreement(50, rsi, k, flow)
		}
		if a.Bool("show_entry_dots") {
			r.Signals = shape.ZoneExits(nil, rsi, lo, hi, shape.RSIOversold, shape.RSIOverbought)
			// The stochastic counts only where it crosses beyond 20 and 80.
			for _, sig := range shape.LineCrossings(nil, k, d, shape.StochOS, shape.StochOB) {
				if sig.Label == shape.StochOS && kernel.Compare(sig.Y, 20) < 0 || sig.Label == shape.StochOB && kernel.Compare(sig.Y, 80) > 0 {
					r.Signals = append(r.Signals, sig)
				}
			}
			shape.InOrder(r.Signals)
		}
		return r
	},
}

// agreement returns bars of height 5 where all lines are above the middle, and
// others where all are below it.
func agreement(middle float64, lines ...[]float64) []Histogram {
	// Two histograms and not one with a sign, so that both stand at the bottom of the
	// panel.
	above, below := kernel.NaNs(len(lines[0])), kernel.NaNs(len(lines[0]))
	for i := range above {
		// A line on the middle, or without a value, is on neither side.
		up, down := 0, 0
		for _, l := range lines {
			if l[i] > middle {
				up++
			} else if l[i] < middle {
				down++
			}
		}
		switch len(lines) {
		case up:
			above[i] = 5
		case down:
			below[i] = 5
		}
	}
	return []Histogram{{Label: "All up", Tone: Up, Values: above}, {Label: "All down", Tone: Down, Values: below}}
}
