package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Source: the public script "SSL channel" by ErwinBeckers on TradingView.
var indSSLChannel = Indicator{
	Name: "ssl_channel", Title: "SSL", Aliases: []string{"ssl"}, Category: Trend, Overlay: true,
	Doc:     "Semaphore signal level: averages of highs and lows that change places when a close leaves them. After ErwinBeckers' script.",
	Formula: "trend up if close > SMA(high, n), down if close < SMA(low, n), else as before; up line = SMA(high) in a rise, SMA(low) in a fall; down line mirrored",
	Params:  []Param{length(10)},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Warmup:  func(a Args) int { return a.Int("length") + 100 }, // until a close decides the side
	Compute: func(s *market.Series, a Args) *Result {
		highs, lows := kernel.SMA(s.High, a.Int("length")), kernel.SMA(s.Low, a.Int("length"))
		up, down, rising := kernel.NaNs(s.Len()), kernel.NaNs(s.Len()), make([]bool, s.Len())
		// Until a close leaves the averages for the first time there is no side and no
		// line.
		side := 0
		for i, c := range s.Close {
			if kernel.Compare(c, highs[i]) > 0 {
				side = 1
			} else if kernel.Compare(c, lows[i]) < 0 {
				side = -1
			}
			rising[i] = side > 0
			// In a fall the two averages change places, which is the crossing that the
			// chart shows.
			switch side {
			case 1:
				up[i], down[i] = highs[i], lows[i]
			case -1:
				up[i], down[i] = lows[i], highs[i]
			}
		}
		return &Result{
			Lines:   []Line{{Label: "Up", Tone: Up, Values: up}, {Label: "Down", Tone: Down, Values: down}},
			Fills:   []Fill{{Y1: up, Y2: down, Tone: Up, Below: Down}},
			Signals: shape.Flips(up, rising),
		}
	},
}
