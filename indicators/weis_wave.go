package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule: a wave turns up on the last of length rising closes in a row, and down
// on the last of as many falling ones; until then it goes on. The volume of its
// bars is added up, down waves below zero. That is the rule of the widely used
// public script by LazyBear; David Weis himself draws waves by hand.
var indWeisWave = Indicator{
	Name: "weis_wave", Title: "Weis wave", Aliases: []string{"weis_wave_volume", "wwv"}, Category: Volume,
	Doc:     "Weis wave volume: the volume of each up or down wave added up since the wave began, down waves below zero. A wave turns when enough closes in a row go the other way. After LazyBear's script. Nothing repaints.",
	Formula: "wave: up after n rising closes in a row, down after n falling ones, else as before; sum of the volume since it turned",
	Params:  []Param{length(2)},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Meanings: map[string]string{
		shape.FlipUp:   "a rising wave begins",
		shape.FlipDown: "a falling wave begins",
	},
	// A wave counts from its own turn, and the more closes in a row a turn needs, the
	// longer waves last.
	Warmup: func(a Args) int { return 300 + 60*a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		total, signals := weisWave(s, a.Int("length"))
		return &Result{Histogram: []Histogram{{Label: "Wave", Values: total}}, Signals: signals}
	},
}

// weisWave returns the volume of the wave so far at each bar, with its sign, and
// a signal where a wave begins.
func weisWave(s *market.Series, n int) (total []float64, signals []Signal) {
	total = kernel.NaNs(s.Len())
	wave, run := 0.0, 0 // run: closes in a row that rose, or fell if below zero
	for i := 1; i < s.Len(); i++ {
		// An unchanged close ends the run but not the wave.
		switch way := kernel.Compare(s.Close[i], s.Close[i-1]); {
		case way == 0:
			run = 0
		case way*run < 0:
			run = way
		default:
			run += way
		}
		// The wave goes on unless the run is long enough to turn it.
		turn := wave
		switch {
		case run >= n:
			turn = 1
		case run <= -n:
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
