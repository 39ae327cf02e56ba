package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule: a wave turns up on a close above each of the last length closes, and
// down on one below each of them; until then it goes on. The volume of its bars
// is added up, down waves below zero. That is the rule of the widely used public
// script by LazyBear; David Weis himself draws waves by hand.
var indWeisWave = Indicator{
	Name: "weis_wave", Title: "Weis wave", Aliases: []string{"weis_wave_volume", "wwv"}, Category: Volume,
	Doc:     "Weis wave volume: the volume of each up or down wave added up since the wave began, down waves below zero. A wave turns when a close lies beyond the last closes on the other side. After LazyBear's script, not checked against its text. Nothing repaints.",
	Formula: "wave: up if close > each of the last n closes, down if below each, else as before; sum of the volume since it turned",
	Params:  []Param{length(2)},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Warmup:  func(a Args) int { return 300 + 60*a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		total, signals := weisWave(s, a.Int("length"))
		return &Result{Histogram: []Histogram{{Label: "Wave", Values: total}}, Signals: signals}
	},
}

// weisWave returns the volume of the wave so far at each bar, with its sign, and
// a signal where a wave begins.
func weisWave(s *market.Series, n int) (total []float64, signals []Signal) {
	total = kernel.NaNs(s.Len())
	top, bottom := kernel.Highest(s.Close, n), kernel.Lowest(s.Close, n)
	wave := 0.0
	for i := n; i < s.Len(); i++ {
		turn := wave
		switch {
		case kernel.Compare(s.Close[i], top[i-1]) > 0:
			turn = 1
		case kernel.Compare(s.Close[i], bottom[i-1]) < 0:
			turn = -1
		}
		switch {
		case turn == 0: // no wave has begun
		// The first wave begins without a signal: nothing turned.
		case turn != wave:
			total[i] = turn * s.Volume[i]
			if wave != 0 {
				signals = append(signals, shape.Mark(i, total[i], [2]string{shape.FlipDown, shape.FlipUp}[int(turn+1)/2], [2]Tone{Down, Up}[int(turn+1)/2]))
			}
		default:
			total[i] = total[i-1] + float64(turn*s.Volume[i])
		}
		wave = turn
	}
	return total, signals
}
