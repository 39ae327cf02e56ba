package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indZigZag = Indicator{
	Name: "zigzag", Title: "ZigZag", Aliases: []string{"zz", "zig_zag"}, Category: Pattern, Overlay: true, Repaints: true,
	Doc: "Zigzag: straight lines between turning points that lie at least some percent apart. The last leg, and where the line runs between two points, is known only later, so it repaints; " +
		"its signals do not: they stand on the bar where price had come back far enough.",
	Formula: "a high is a turning point once a low is deviation percent below it and depth/2 bars have followed; a low mirrored",
	Params: []Param{
		factor("deviation", 5, 0.01, 99, "percent price must come back", "percent", "threshold"),
		quiet(factorInt("depth", 0, 0, MaxLength, "half as many bars must follow an extreme before it counts")),
	},
	Signals: []string{shape.PivotHigh, shape.PivotLow},
	// A leg begins at the turn before it; with a small deviation 200 bars hold several.
	Warmup: func(a Args) int { return 200 + a.Int("depth") },
	Compute: func(s *market.Series, a Args) *Result {
		points, signals := turningPoints(s, a.Float("deviation")/100, a.Int("depth")/2)
		line := kernel.NaNs(s.Len())
		for k := 1; k < len(points); k++ {
			from, to := points[k-1], points[k]
			for i := from.bar; i <= to.bar; i++ {
				along := float64(i-from.bar) / float64(to.bar-from.bar)
				line[i] = from.price + float64(along*(to.price-from.price))
			}
		}
		return &Result{Lines: []Line{{Label: "ZigZag", Tone: Primary, Values: line}}, Signals: signals}
	},
}

// turningPoints returns the alternating highs and lows from which price came
// back by at least a fraction of itself on a bar at least wait bars later, then the extreme of the leg under way;
// and a signal for each on the bar that confirmed it. Of a bar that makes a new
// extreme and comes back within itself the new extreme counts: which came first
// is not known.
func turningPoints(s *market.Series, fraction float64, wait int) (points []swing, signals []Signal) {
	if s.Len() == 0 {
		return nil, nil
	}
	// The extremes of the leg under way. Until the first turn both are followed.
	high, low := swing{bar: 0, price: s.High[0]}, swing{bar: 0, price: s.Low[0]}
	leg := 0 // 1 up, -1 down, 0 not yet known
	for i := 1; i < s.Len(); i++ {
		rises, falls := s.High[i] > high.price, s.Low[i] < low.price
		switch {
		// In a rise, or before the first turn: a new high moves the extreme, a fall far
		// enough below it confirms it.
		case leg >= 0 && rises:
			high = swing{bar: i, price: s.High[i]}
		case leg >= 0 && i-high.bar >= wait && kernel.Compare(s.Low[i], high.price-float64(fraction*math.Abs(high.price))) <= 0:
			points, signals = append(points, high), append(signals, shape.Mark(i, high.price, shape.PivotHigh, Down))
			leg, low = -1, furthest(s.Low, high.bar+1, i, -1)
			continue
		}
		switch {
		// The mirror image. Before the first turn both are looked for.
		case leg <= 0 && falls:
			low = swing{bar: i, price: s.Low[i]}
		case leg <= 0 && i-low.bar >= wait && kernel.Compare(s.High[i], low.price+float64(fraction*math.Abs(low.price))) >= 0:
			points, signals = append(points, low), append(signals, shape.Mark(i, low.price, shape.PivotLow, Up))
			leg, high = 1, furthest(s.High, low.bar+1, i, 1)
		}
	}
	switch {
	// The extreme so far ends the line, although no bar has confirmed it: this part
	// repaints.
	case leg > 0:
		points = append(points, high)
	case leg < 0:
		points = append(points, low)
	}
	return points, signals
}

// furthest returns the highest price (side 1) or the lowest (side -1) of the bars from and
// to and those between them.
func furthest(price []float64, from, to int, side float64) swing {
	at := from
	for i := from; i <= to; i++ {
		if side*price[i] > side*price[at] {
			at = i
		}
	}
	return swing{bar: at, price: price[at]}
}
