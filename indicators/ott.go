package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Source: the public script "Optimized Trend Tracker" by KivancOzbilgic on
// TradingView, after Anıl Özekşi; its average VAR is Chande's VIDYA with an
// oscillator of nine bars.
var indOTT = Indicator{
	Name: "ott", Title: "OTT", Aliases: []string{"optimized_trend_tracker"}, Category: Trend, Overlay: true,
	Doc:      "Optimized trend tracker: a trailing stop some percent from an adaptive average, moved by half that percentage, and shown two bars late. The trend turns where the average crosses it. After KivancOzbilgic's script.",
	Formula:  "stop trails A = VAR(x, n) by percent; OTT = stop * (1 ± percent/200), + where A > stop; shown as OTT[2]",
	Params:   []Param{length(2), factor("percent", 1.4, 0.01, 50, "distance of the stop in percent"), source()},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the average", "the stop"),
	// A price takes the square of a distance to cover it, whatever the length of the
	// bars: percent squared days are enough as a rule.
	History: func(a Args, iv market.Interval) int64 {
		percent := a.Float("percent")
		days := min(int64(percent*percent*86400), MaxWarmup*iv.Seconds())
		return max(days, int64(500+ottWarm(a))*iv.Seconds())
	},
	Compute: func(s *market.Series, a Args) *Result {
		line, percent := vidya(column(s, a), a.Int("length"), ottMomentum, ottMomentum), a.Float("percent")
		// The stop trails the average by percent, and is then moved half of that
		// towards the side it is on.
		stop, up := ratchet(line, kernel.Scaled(line, percent/100))
		for i, v := range stop {
			if by := percent / 200; kernel.Compare(line[i], v) > 0 {
				stop[i] = v * (1 + by)
			} else {
				stop[i] = v * (1 - by)
			}
		}
		stop = kernel.Shift(stop, 2)
		return &Result{
			Lines:   []Line{{Label: "Average", Tone: Primary, Values: line}, {Label: "OTT", Tone: Second, Values: stop}},
			Signals: shape.Crossings(nil, line, stop, shape.CrossUp, shape.CrossDown),
			Settles: turned(up, ottWarm(a)/4, 2) + 2, // shown two bars late
		}
	},
}

// ottWarm returns the bars after which the average is warm. In a market without
// direction it hardly moves and remembers its start for long.
func ottWarm(a Args) int { return 40 * a.Int("length") }

// ottMomentum is how many changes the momentum of the script's average has. The average
// starts with the price of the bar that has so many; the script starts from zero, which is
// forgotten.
const ottMomentum = 9
