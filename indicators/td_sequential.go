package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Thomas R. DeMark, "The New Science of Technical Analysis", 1994,
// without his further conditions: perfection, qualifiers, recycling.
var indTDSequential = Indicator{
	Name: "td_sequential", Title: "TD", Aliases: []string{"td_seq", "tds", "td_setup"}, Category: Pattern, Overlay: true,
	Doc: "DeMark's sequential, the plain counts. A buy setup is nine closes in a row, each below the one four bars before; after it a countdown counts closes at or below the low two bars before, " +
		"not necessarily in a row, to thirteen, unless a sell setup is completed first. Selling mirrored. A signal stands on the last bar of each.",
	Formula: "setup: close < close[4], 9 in a row; countdown: close <= low[2], 13 in all",
	Params: []Param{
		{Name: "setup", Doc: "closes in a row of a setup", Kind: Int, Default: 9, Min: 2, Max: 50},
		{Name: "countdown", Doc: "closes of a countdown", Kind: Int, Default: 13, Min: 2, Max: 50},
	},
	Signals: []string{shape.SetupBuy, shape.SetupSell, shape.CountdownBuy, shape.CountdownSell},
	// A countdown may take long; after this many bars a newer setup has decided.
	Warmup: func(a Args) int { return 20 * (a.Int("setup") + a.Int("countdown")) },
	Compute: func(s *market.Series, a Args) *Result {
		return &Result{Signals: sequential(s, a.Int("setup"), a.Int("countdown"))}
	},
}

// sequential counts setups and the countdown that the last completed one began. A
// countdown may begin on the bar that completes its setup. A setup in the same
// direction does not start a countdown anew. Of the two directions one countdown runs
// at a time.
func sequential(s *market.Series, setup, countdown int) []Signal {
	var signals []Signal
	run, way, count := 0, 0, 0 // closes in a row, negative for falls; side and state of the countdown
	for i := 4; i < s.Len(); i++ {
		switch c, before := s.Close[i], s.Close[i-4]; {
		case c < before:
			run = min(run, 0) - 1
		case c > before:
			run = max(run, 0) + 1
		default:
			run = 0
		}
		// A setup is complete on one bar, also if the run goes on. It begins a
		// countdown unless one in its direction is under way.
		switch run {
		case -setup:
			signals = append(signals, shape.Mark(i, s.Low[i], shape.SetupBuy, Up))
			if way <= 0 {
				way, count = 1, 0
			}
		case setup:
			signals = append(signals, shape.Mark(i, s.High[i], shape.SetupSell, Down))
			if way >= 0 {
				way, count = -1, 0
			}
		}
		// The bars of a countdown need not follow each other.
		if way > 0 && s.Close[i] <= s.Low[i-2] || way < 0 && s.Close[i] >= s.High[i-2] {
			count++
		}
		if way == 0 || count < countdown {
			continue
		}
		if way > 0 {
			signals = append(signals, shape.Mark(i, s.Low[i], shape.CountdownBuy, Up))
		} else {
			signals = append(signals, shape.Mark(i, s.High[i], shape.CountdownSell, Down))
		}
		way, count = 0, 0
	}
	return signals
}
