package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule: a falling channel runs along the falling line of trend_lines and
// parallel to it through the low that lies furthest below it between the two
// swings; a rising one is mirrored. Of the two the one with the newer second
// swing is drawn, until a close leaves it on either side.
var indTrendChannel = Indicator{
	Name: "trend_channel", Title: "Channel", Aliases: []string{"parallel_channel", "auto_channel", "price_channel_trend"}, Category: Pattern, Overlay: true,
	Doc:     "Trend channel found from the bars: a line through the last two falling swing highs, or rising swing lows, and its parallel through the furthest extreme between them. Breakouts are closes that leave it. Nothing repaints.",
	Formula: "falling: the line of trend_lines and its parallel through the lowest low between the swings, measured from the line; rising mirrored",
	Params:  swingParams(5, 200),
	Signals: []string{shape.BreakUp, shape.BreakDown},
	Meanings: map[string]string{
		shape.BreakUp:   "the close rises above the channel",
		shape.BreakDown: "the close falls below the channel",
	},
	Warmup: structureWarmup(2),
	Compute: func(s *market.Series, a Args) *Result {
		upper, lower, signals := trendChannel(s, a)
		r := shape.Bands(kernel.Midway(upper, lower), upper, lower)
		r.Signals = signals
		return r
	},
}

// channel is a pair of parallel lines.
type channel struct {
	from, to swing
	width    float64 // from the line through the swings to the other, signed
}

// newChannel returns the falling channel along two swing highs of s. Its width is
// negative, or zero where no low lies below the line.
func newChannel(s *market.Series, from, to swing) channel {
	c := channel{from: from, to: to}
	for i := from.bar; i <= to.bar; i++ {
		c.width = min(c.width, s.Low[i]-lineThrough(from, to, i))
	}
	return c
}

// trendChannel returns the edges of the channel at each bar, and a signal where
// a close leaves it.
func trendChannel(s *market.Series, a Args) (upper, lower []float64, signals []Signal) {
	upper, lower = kernel.NaNs(s.Len()), kernel.NaNs(s.Len())
	// Both directions are looked for; where both become known on one bar the rising one
	// counts, which is found last.
	found := channelsKnown(s, a)
	var c *channel
	for i := range s.Len() {
		before := c
		// Of a rising and a falling channel the one whose second swing is newer counts.
		if found[i] != nil && (c == nil || found[i].to.bar >= c.to.bar) {
			c = found[i]
		}
		if c != nil && i-c.to.bar > a.Int("lookback") {
			c = nil
		}
		if c == nil {
			continue
		}
		// The width is signed: a rising channel lies above its line, a falling one
		// below.
		line := lineThrough(c.from, c.to, i)
		upper[i], lower[i] = max(line, line+c.width), min(line, line+c.width)
		// The channel is still drawn on the bar that leaves it.
		next := c
		switch {
		case kernel.Compare(s.Close[i], upper[i]) > 0:
			signals, next = append(signals, shape.Mark(i, upper[i], shape.BreakUp, Up)), nil
		case kernel.Compare(s.Close[i], lower[i]) < 0:
			signals, next = append(signals, shape.Mark(i, lower[i], shape.BreakDown, Down)), nil
		}
		if before != nil && before != c {
			apart(i, upper, lower)
		}
		c = next
	}
	return upper, lower, signals
}

// channelsKnown returns for each bar the channel that became known on it, or nil.
func channelsKnown(s *market.Series, a Args) []*channel {
	found := make([]*channel, s.Len())
	for side, view := range []*market.Series{s, upsideDown(s)} {
		highs := swingHighs(view, a.Int("left"), a.Int("right"))
		for k := 1; k < len(highs); k++ {
			// Only swings next to each other make a line, as in trend_lines.
			if !linesUp(view, highs[k-1], highs[k], a.Int("lookback")) {
				continue
			}
			c := newChannel(view, highs[k-1], highs[k])
			// Found in the bars upside down, and turned back.
			if side == 1 {
				c.from.price, c.to.price, c.width = -c.from.price, -c.to.price, -c.width
			}
			found[highs[k].known] = &c
		}
	}
	return found
}
