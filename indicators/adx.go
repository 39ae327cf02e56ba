package indicators

import (
	"math"

	"wick/market"
)

// Wilder's directional movement: of two bars, which one reaches further out on
// which side, smoothed and set in proportion to the true range.

var indADX = Indicator{
	Name: "adx", Title: "ADX", Aliases: []string{"dmi", "average_directional_index", "directional_movement"}, Category: Trend,
	Doc: "Wilder's average directional index, how strongly the market trends, with +DI and -DI, which way. As in TA-Lib, which seeds the sums of movement with n-1 bars; " +
		"the variant pine seeds averages with n, as TradingView. After about 200 bars the two agree.",
	Formula: "±DI = 100 * ±DM(n) / TR(n); DX = 100 * |+DI - -DI| / (+DI + -DI); ADX = Wilder average of DX",
	Params: []Param{
		lengthFrom(2, 14), choice("variant", "whose seeds", "talib", "pine"),
		quiet(factor("threshold", 25, 0, 100, "ADX from which a crossing counts", "level", "trend")),
	},
	Signals: []string{CrossUp, CrossDown},
	Warmup:  func(a Args) int { return 32 * a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		plus, minus, adx := directional(s, a.Int("length"), a.Choice("variant"))
		level := a.Float("threshold")
		signals := crossings(nil, plus, minus, CrossUp, CrossDown)
		strong := signals[:0]
		for _, sig := range signals {
			if adx[sig.Bar] >= level {
				strong = append(strong, sig)
			}
		}
		return &Result{
			Lines: []Line{
				{Label: "ADX", Tone: Primary, Values: adx},
				{Label: "+DI", Tone: Up, Values: plus}, {Label: "-DI", Tone: Down, Values: minus},
			},
			HLines:  []HLine{{Y: level}, {Y: 20}},
			Signals: strong,
		}
	},
}

var indADXR = Indicator{
	Name: "adxr", Title: "ADXR", Aliases: []string{"average_directional_index_rating"}, Category: Trend,
	Doc:     "Directional movement rating: the mean of the ADX now and n-1 bars ago. As in TA-Lib.",
	Formula: "ADXR = (ADX + ADX[n-1]) / 2",
	Params:  []Param{lengthFrom(2, 14)},
	Warmup:  func(a Args) int { return 33 * a.Int("length") },
	Compute: trendPanel("ADXR", func(s *market.Series, n int) []float64 {
		_, _, adx := directional(s, n, "talib")
		return midway(adx, shift(adx, n-1))
	}),
}

var indDX = Indicator{
	Name: "dx", Title: "DX", Aliases: []string{"directional_movement_index"}, Category: Trend,
	Doc:     "Directional movement index: how far +DI and -DI lie apart, 0 to 100. Its Wilder average is the ADX. As in TA-Lib.",
	Formula: "DX = 100 * |+DI - -DI| / (+DI + -DI)",
	Params:  []Param{lengthFrom(2, 14)},
	Warmup:  wilderWarmup,
	Compute: trendPanel("DX", func(s *market.Series, n int) []float64 {
		plus, minus := directionalIndicators(s, n)
		return directionalIndex(plus, minus)
	}),
}

var indPlusDI = Indicator{
	Name: "plus_di", Title: "+DI", Aliases: []string{"pdi", "di_plus"}, Category: Trend,
	Doc:     "Wilder's plus directional indicator: upward movement in percent of the true range. As in TA-Lib; with length 1 a fraction, not a percentage.",
	Formula: "+DI = 100 * +DM(n) / TR(n)",
	Params:  []Param{length(14)},
	Warmup:  wilderWarmup,
	Compute: plain("+DI", func(s *market.Series, a Args) []float64 {
		plus, _ := directionalIndicators(s, a.Int("length"))
		return plus
	}),
}

var indMinusDI = Indicator{
	Name: "minus_di", Title: "-DI", Aliases: []string{"mdi", "di_minus"}, Category: Trend,
	Doc:     "Wilder's minus directional indicator: downward movement in percent of the true range. As in TA-Lib; with length 1 a fraction, not a percentage.",
	Formula: "-DI = 100 * -DM(n) / TR(n)",
	Params:  []Param{length(14)},
	Warmup:  wilderWarmup,
	Compute: plain("-DI", func(s *market.Series, a Args) []float64 {
		_, minus := directionalIndicators(s, a.Int("length"))
		return minus
	}),
}

var indPlusDM = Indicator{
	Name: "plus_dm", Title: "+DM", Aliases: []string{"dm_plus"}, Category: Trend,
	Doc:     "Wilder's plus directional movement: how far highs reach above the high before, where lows reach out less. A decaying sum over n bars, in price. As in TA-Lib.",
	Formula: "+DM(n) = +DM(n)[1] - +DM(n)[1]/n + d, d = high - high[1] if that is positive and more than low[1] - low, else 0",
	Params:  []Param{length(14)},
	Warmup:  wilderWarmup,
	Compute: plain("+DM", func(s *market.Series, a Args) []float64 {
		plus, _, _ := movements(s)
		return wilderSum(plus, a.Int("length"))
	}),
}

var indMinusDM = Indicator{
	Name: "minus_dm", Title: "-DM", Aliases: []string{"dm_minus"}, Category: Trend,
	Doc:     "Wilder's minus directional movement: how far lows reach below the low before, where highs reach out less. A decaying sum over n bars, in price. As in TA-Lib.",
	Formula: "-DM(n) = -DM(n)[1] - -DM(n)[1]/n + d, d = low[1] - low if that is positive and more than high - high[1], else 0",
	Params:  []Param{length(14)},
	Warmup:  wilderWarmup,
	Compute: plain("-DM", func(s *market.Series, a Args) []float64 {
		_, minus, _ := movements(s)
		return wilderSum(minus, a.Int("length"))
	}),
}

// trendPanel returns the Compute of a strength of trend, 0 to 100.
func trendPanel(label string, line func(s *market.Series, n int) []float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		return &Result{
			Lines:  []Line{{Label: label, Tone: Primary, Values: line(s, a.Int("length"))}},
			HLines: []HLine{{Y: 25}, {Y: 20}},
		}
	}
}

// directional returns +DI, -DI and ADX.
func directional(s *market.Series, n int, variant string) (plus, minus, adx []float64) {
	if variant == "pine" {
		up, down, ranges := movements(s)
		ranges = rma(ranges, n)
		plus, minus = percentOf(rma(up, n), ranges), percentOf(rma(down, n), ranges)
	} else {
		plus, minus = directionalIndicators(s, n)
	}
	return plus, minus, rma(directionalIndex(plus, minus), n)
}

// directionalIndicators returns +DI and -DI as TA-Lib has them.
func directionalIndicators(s *market.Series, n int) (plus, minus []float64) {
	plus, minus, ranges := movements(s)
	if n == 1 { // TA-Lib leaves out the hundred here
		return portionOf(plus, ranges, 1), portionOf(minus, ranges, 1)
	}
	if len(plus) <= n {
		return nans(len(plus)), nans(len(plus))
	}
	keep := 1 - 1/float64(n)
	up, down, all := total(plus[1:n]), total(minus[1:n]), total(ranges[1:n])
	for i := n; i < len(plus); i++ {
		up = float64(up*keep) + plus[i]
		down = float64(down*keep) + minus[i]
		all = float64(all*keep) + ranges[i]
		plus[i], minus[i] = 0, 0
		if all != 0 {
			plus[i], minus[i] = 100*up/all, 100*down/all
		}
	}
	return from(plus, n), from(minus, n)
}

func percentOf(part, whole []float64) []float64 { return portionOf(part, whole, 100) }

// portionOf writes to part what unit*part/whole is, 0 where there is no whole.
func portionOf(part, whole []float64, unit float64) []float64 {
	for i, w := range whole {
		if w != 0 {
			part[i] = unit * part[i] / w
		} else {
			part[i] *= 0 // what is not known stays so
		}
	}
	return part
}

// directionalIndex returns DX, 0 where neither side moved.
func directionalIndex(plus, minus []float64) []float64 {
	out := make([]float64, len(plus))
	for i, p := range plus {
		if sum := p + minus[i]; sum != 0 {
			out[i] = 100 * math.Abs(p-minus[i]) / sum
		}
	}
	return out
}

// movements returns +DM, -DM and the true range of every bar; the first has
// none. Of the two movements at most one is not zero.
func movements(s *market.Series) (plus, minus, ranges []float64) {
	n := s.Len()
	plus, minus, ranges = unknown(n, 1), unknown(n, 1), unknown(n, 1)
	for i := 1; i < n; i++ {
		rise, fall := s.High[i]-s.High[i-1], s.Low[i-1]-s.Low[i]
		up, _ := parts(rise)
		down, _ := parts(fall)
		switch {
		case rise > fall:
			down = 0
		case fall > rise:
			up = 0
		default: // equal ones cancel each other
			up, down = 0, 0
		}
		plus[i], minus[i] = up, down
		ranges[i] = rangeOf(s, i)
	}
	return plus, minus, ranges
}

// wilderSum returns Wilder's decaying sum over n bars of x, whose first bar has
// no value. As in TA-Lib it starts, on bar n-1, with the n-1 values so far.
func wilderSum(x []float64, n int) []float64 {
	if n == 1 {
		return x
	}
	out := unknown(len(x), n-1)
	if len(x) < n {
		return out
	}
	keep := 1 - 1/float64(n)
	sum := total(x[1:n])
	out[n-1] = sum
	for i := n; i < len(x); i++ {
		sum = float64(sum*keep) + x[i]
		out[i] = sum
	}
	return out
}
