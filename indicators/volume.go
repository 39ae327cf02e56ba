package indicators

import "wick/market"

var indVolume = Indicator{
	Name: "volume", Title: "Volume", Aliases: []string{"vol"}, Category: Volume,
	Doc:     "Volume of each bar and its simple average. A spike is a bar that trades a multiple of the average, after one that did not.",
	Formula: "SMA(volume, n)",
	Params:  []Param{length(20), spikeFactor()},
	Signals: []string{Spike},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		mean := sma(s.Volume, a.Int("length"))
		limit := make([]float64, len(mean))
		for i, v := range mean {
			limit[i] = a.Float("spike") * v
		}
		return &Result{
			Histogram: []Histogram{{Label: "Volume", Values: s.Volume}},
			Lines:     []Line{{Label: "MA", Tone: Second, Values: mean}},
			Signals:   volumeSpikes(s, s.Volume, limit),
		}
	},
}

var indRelativeVolume = Indicator{
	Name: "relative_volume", Title: "RVOL", Aliases: []string{"rvol"}, Category: Volume,
	Doc:     "Relative volume: the volume of a bar as a multiple of the average of the bars before it, itself left out. 1 is usual. No value while those traded nothing.",
	Formula: "RVOL = volume / SMA(volume[1], n)",
	Params:  []Param{length(10), spikeFactor()},
	Signals: []string{Spike},
	Warmup:  func(a Args) int { return a.Int("length") + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		ratio, limit := nans(s.Len()), nans(s.Len())
		mean := sma(s.Volume, a.Int("length"))
		for i := 1; i < len(ratio); i++ {
			limit[i] = a.Float("spike")
			if mean[i-1] > 0 {
				ratio[i] = s.Volume[i] / mean[i-1]
			}
		}
		return &Result{
			Lines:   []Line{{Label: "RVOL", Tone: Primary, Values: ratio}},
			HLines:  []HLine{{Y: 1}},
			Signals: volumeSpikes(s, ratio, limit),
		}
	},
}

func spikeFactor() Param {
	p := factor("spike", 2, 1, 100, "multiple of the average that counts as a spike", "threshold", "mult")
	p.Quiet = true
	return p
}

// volumeSpikes marks where x reaches its limit, in the direction of the bar.
func volumeSpikes(s *market.Series, x, limit []float64) []Signal {
	signals := crossings(nil, x, limit, Spike, "")
	for i := range signals {
		if bar := signals[i].Bar; s.Close[bar] < s.Open[bar] {
			signals[i].Tone = Down
		}
	}
	return signals
}

var indNetVolume = Indicator{
	Name: "net_volume", Title: "Net volume", Aliases: []string{"volume_delta"}, Category: Volume,
	Doc:     "Net volume: the volume of each bar, positive where the close rose, negative where it fell, zero where it stayed. An estimate from closes alone: which trades were bought is not in the bars.",
	Formula: "volume * sign(close - close[1])",
	Warmup:  func(Args) int { return 1 },
	Compute: func(s *market.Series, _ Args) *Result {
		net := nans(s.Len())
		for i := 1; i < len(net); i++ {
			switch {
			case s.Close[i] > s.Close[i-1]:
				net[i] = s.Volume[i]
			case s.Close[i] < s.Close[i-1]:
				net[i] = -s.Volume[i]
			default:
				net[i] = 0
			}
		}
		return &Result{Histogram: []Histogram{{Label: "Net volume", Values: net}}, HLines: []HLine{{Y: 0}}}
	},
}
