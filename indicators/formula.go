package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

var indFormula = Indicator{
	Name: "formula", Title: "Formula", Also: []string{"expression", "custom_formula"}, Category: Rules,
	Doc: "Lines of your own, such as close / sma(200) or macd(12,26,9).macd - macd(12,26,9).signal; several stand between semicolons. " +
		"The language is that of rule; a condition is drawn as 1 and 0. Signals are of the first line.",
	Formula: "one value per bar; unknown where a part is unknown or divided by zero",
	Params: []Param{
		{Name: "expr", Aliases: []string{"expression", "formula", "value"}, Doc: "the lines, divided by semicolons", Kind: Expression, Text: "close / sma(50)", Required: true, Many: true},
		quiet(toggle("overlay", false, "drawn over the price: for what is a price itself")),
	},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	History: expressionHistory,
	Compute: func(s *market.Series, a Args) *Result {
		v := a.evaluator(s)
		r := &Result{Overlay: a.Bool("overlay")}
		// One evaluator for all lines, so that parts they share are computed once.
		for _, e := range a.exprs["expr"] {
			r.Lines = append(r.Lines, Line{Label: e.Source(), Values: v.Values(e)})
		}
		// Not drawn: zero need not mean anything to a formula.
		r.Signals = shape.Silently(shape.LevelCrossings(nil, r.Lines[0].Values, 0, shape.ZeroUp, shape.ZeroDown))
		return r
	},
}
