package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Source: the public script "HalfTrend" by
// everget on TradingView.
//
// In a rise the line is the highest of the lows that the last amplitude bars had;
// it never falls. The rise ends when the mean of the highs of amplitude bars lies
// below that level and the close below the low of the bar before. The line of the
// fall then begins where the one of the rise stood. Falls mirrored.
var indHalfTrend = Indicator{
	Name: "halftrend", Title: "HalfTrend", Aliases: []string{"half_trend"}, Category: Trend, Overlay: true,
	Doc:     "HalfTrend: a line below a rising market, the highest of its recent lows, and above a falling one, the lowest of its recent highs, with a channel of half the average true range times the deviation. After everget's script.",
	Formula: "up: line = max(line, low of the lowest of n bars); turns down: SMA(high, n) < that low and close < low[1]; channel: line ± deviation * ATR(100) / 2",
	Params: []Param{
		{Name: "length", Aliases: []string{"amplitude", "period"}, Doc: "bars of the extremes and means", Kind: Int, Default: 2, Min: 1, Max: 200},
		factor("deviation", 2, 0, 20, "half ranges to the channel", "channel_deviation", "mult"),
	},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	// The channel's range is Wilder's average of 100 bars; the line forgets where it
	// began with a turn, for which 100 lengths are allowed.
	Warmup: func(a Args) int { return kernel.WilderMemory*100 + 100*a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		line, up := halfTrend(s, a.Int("length"))
		reach := kernel.ATRPine(s, 100)
		upper, lower := kernel.Offset(line, reach, a.Float("deviation")/2), kernel.Offset(line, reach, -a.Float("deviation")/2)
		return &Result{
			Lines: append(shape.StopLines(line, up),
				Line{Label: "Upper", Tone: Band, Values: upper}, Line{Label: "Lower", Tone: Band, Values: lower}),
			Fills:   []Fill{{Y1: upper, Y2: lower, Tone: Band}},
			Signals: shape.Flips(line, up),
		}
	},
}

// halfTrend returns the line at each bar and whether the market rises there. Floor
// and ceiling are judged with the means of highs and lows, so one wide bar turns
// nothing.
func halfTrend(s *market.Series, n int) (line []float64, up []bool) {
	line, up = kernel.NaNs(s.Len()), make([]bool, s.Len())
	meanHigh, meanLow := kernel.SMA(s.High, n), kernel.SMA(s.Low, n)
	top, bottom := kernel.Highest(s.High, n), kernel.Lowest(s.Low, n)
	rising, watch := true, false // watch: the next turn looked for is downwards
	var floor, ceiling float64   // highest recent low and lowest recent high since the last turn
	for i := max(1, n-1); i < s.Len(); i++ {
		if i == max(1, n-1) {
			// The script starts in a rise, looking for the turn upwards; the first bars
			// only find out which way it goes.
			floor, ceiling = s.Low[i-1], s.High[i-1]
		}
		was := rising
		// In a rise the floor follows the recent lows upwards. The turn down needs the
		// mean of the highs below the floor and a close below the low before.
		if watch {
			floor = max(floor, bottom[i])
			if kernel.Compare(meanHigh[i], floor) < 0 && s.Close[i] < s.Low[i-1] {
				rising, watch, ceiling = false, false, top[i]
			}
		} else {
			ceiling = min(ceiling, top[i])
			if kernel.Compare(meanLow[i], ceiling) > 0 && s.Close[i] > s.High[i-1] {
				rising, watch, floor = true, true, bottom[i]
			}
		}
		before := line[i-1]
		switch {
		// A turn keeps the line where it stood; after it the line only moves with the
		// trend. The comparisons are written so that a line that is NaN takes its first
		// value.
		case rising != was && !isNaN(before):
			line[i] = before
		case rising && !(before >= floor):
			line[i] = floor
		case !rising && !(before <= ceiling):
			line[i] = ceiling
		default:
			line[i] = before
		}
		up[i] = rising
	}
	return line, up
}
