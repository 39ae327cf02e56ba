package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

// TA-Lib's order: the first column explains, the second is explained.
var indBeta = Indicator{
	Name: "beta", Title: "Beta", Aliases: []string{"beta_coefficient"}, Category: Statistics,
	Doc:      "Beta: how far the returns of one column move with those of another, by regression over n returns. As in TA-Lib, which takes any two series and by default, as here, regresses the low on the high; 0 where the latter does not move.",
	Formula:  "β = cov(rx, ry) / var(rx), r = x/x[1] - 1",
	Params:   []Param{lengthFrom(2, 5), sourceOf("source", "high", "column whose returns explain", "src", "x", "input"), against("low")},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("beta", "1"),
	Warmup:   changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := beta(column(s, a), columnOf(s, a.Choice("against")), a.Int("length"))
		return shape.LevelPanel("Beta", y, 1, shape.CrossUp, shape.CrossDown)
	},
}
