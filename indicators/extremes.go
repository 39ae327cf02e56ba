package indicators

import "wick/market"

// Sums and extremes of a window, and how long ago the extremes were.

var indMax = Indicator{
	Name: "max", Title: "Max", Aliases: []string{"highest"}, Category: Statistics, Overlay: true,
	Doc:     "Highest of the last prices. As in TA-Lib.",
	Formula: "max = highest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Signals: []string{NewHigh},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := highest(column(s, a), a.Int("length"))
		return &Result{Lines: []Line{{Label: "Max", Values: y}}, Signals: newExtremes(y, nil)}
	},
}

var indMin = Indicator{
	Name: "min", Title: "Min", Aliases: []string{"lowest"}, Category: Statistics, Overlay: true,
	Doc:     "Lowest of the last prices. As in TA-Lib.",
	Formula: "min = lowest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Signals: []string{NewLow},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := lowest(column(s, a), a.Int("length"))
		return &Result{Lines: []Line{{Label: "Min", Values: y}}, Signals: newExtremes(nil, y)}
	},
}

var indMinMax = Indicator{
	Name: "minmax", Title: "MinMax", Aliases: []string{"min_max"}, Category: Statistics, Overlay: true,
	Doc:     "Lowest and highest of the last prices. As in TA-Lib.",
	Formula: "min, max = lowest and highest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Signals: []string{NewHigh, NewLow},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		top, bottom := highest(x, n), lowest(x, n)
		return &Result{
			Lines:   []Line{{Label: "Max", Tone: Band, Values: top}, {Label: "Min", Tone: Band, Values: bottom}},
			Fills:   []Fill{{Y1: top, Y2: bottom, Tone: Band}},
			Signals: newExtremes(top, bottom),
		}
	},
}

var indSum = Indicator{
	Name: "sum", Title: "Sum", Aliases: []string{"rolling_sum"}, Category: Statistics,
	Doc:     "Sum of the last prices. As in TA-Lib.",
	Formula: "sum = x[0] + … + x[n-1]",
	Params:  []Param{length(30), source()},
	Warmup:  windowWarmup,
	Compute: plain("Sum", func(s *market.Series, a Args) []float64 { return rollingSum(column(s, a), a.Int("length")) }),
}

var indMaxIndex = Indicator{
	Name: "maxindex", Title: "Bars since max", Aliases: []string{"max_index", "highestbars", "bars_since_high"}, Category: Statistics,
	Doc:     "How many bars ago the highest of the last prices was. TA-Lib's MAXINDEX gives its position from the first bar instead, which says nothing on a chart; which of equal prices counts is TA-Lib's rule.",
	Formula: "bars since the highest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Warmup:  windowWarmup,
	Compute: plain("Bars since max", func(s *market.Series, a Args) []float64 {
		return barsSince(extremeAt(column(s, a), a.Int("length"), 1, false))
	}),
}

var indMinIndex = Indicator{
	Name: "minindex", Title: "Bars since min", Aliases: []string{"min_index", "lowestbars", "bars_since_low"}, Category: Statistics,
	Doc:     "How many bars ago the lowest of the last prices was. TA-Lib's MININDEX gives its position from the first bar instead; which of equal prices counts is TA-Lib's rule.",
	Formula: "bars since the lowest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Warmup:  windowWarmup,
	Compute: plain("Bars since min", func(s *market.Series, a Args) []float64 {
		return barsSince(extremeAt(column(s, a), a.Int("length"), -1, false))
	}),
}

var indMinMaxIndex = Indicator{
	Name: "minmaxindex", Title: "Bars since extremes", Aliases: []string{"minmax_index", "min_max_index"}, Category: Statistics,
	Doc:     "How many bars ago the lowest and the highest of the last prices were. TA-Lib's MINMAXINDEX gives their positions from the first bar instead; which of equal prices counts is TA-Lib's rule.",
	Formula: "bars since the lowest and the highest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Signals: []string{CrossUp, CrossDown},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		top, bottom := barsSince(extremeAt(x, n, 1, false)), barsSince(extremeAt(x, n, -1, false))
		return &Result{
			Lines: []Line{{Label: "Bars since max", Tone: Up, Values: top}, {Label: "Bars since min", Tone: Down, Values: bottom}},
			// The high becomes the more recent extreme when its line falls below.
			Signals: crossings(nil, bottom, top, CrossUp, CrossDown),
		}
	},
}

// barsSince turns bars into how long ago they were; -1 is unknown.
func barsSince(at []int) []float64 {
	out := make([]float64, len(at))
	for i, k := range at {
		out[i] = float64(i - k)
		if k < 0 {
			out[i] = nan
		}
	}
	return out
}
