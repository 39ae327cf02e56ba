package indicators

import (
	"strconv"

	"wick/market"
)

var indEMAStack = Indicator{
	Name: "ema_stack", Title: "EMA", Category: Trend, Overlay: true,
	Doc:     "Four exponential averages of the close, fast to slow. In a trend they lie in order: rising when the fastest is on top. As in TA-Lib, each seeded with the mean of its first closes.",
	Formula: "EMA = EMA[1] + 2/(n+1) * (close - EMA[1])",
	Params: []Param{
		bars("length1", 8, "fastest average", "fast"), bars("length2", 21, "second average"),
		bars("length3", 50, "third average"), bars("length4", 200, "slowest average", "slow"), source(),
	},
	Signals: []string{StackUp, StackDown},
	Warmup:  func(a Args) int { return 10 * a.Int("length4") },
	Compute: func(s *market.Series, a Args) *Result {
		r := &Result{}
		for _, name := range []string{"length1", "length2", "length3", "length4"} {
			n := a.Int(name)
			r.Lines = append(r.Lines, Line{Label: strconv.Itoa(n), Values: ema(column(s, a), n)})
		}
		r.Signals = stackSignals(r.Lines)
		return r
	},
}

// stackSignals marks the bars on which all lines come into order.
func stackSignals(lines []Line) []Signal {
	order := func(i int) int {
		up, down := true, true
		for k := 1; k < len(lines); k++ {
			up = up && lines[k-1].Values[i] > lines[k].Values[i]
			down = down && lines[k-1].Values[i] < lines[k].Values[i]
		}
		switch {
		case up:
			return 1
		case down:
			return -1
		}
		return 0
	}
	var signals []Signal
	before := 0
	for i := range lines[0].Values {
		now := order(i)
		if y := lines[0].Values[i]; now != before && now == 1 {
			signals = append(signals, Signal{i, y, StackUp, Up})
		} else if now != before && now == -1 {
			signals = append(signals, Signal{i, y, StackDown, Down})
		}
		before = now
	}
	return signals
}
