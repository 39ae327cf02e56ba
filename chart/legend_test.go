package chart

import (
	"math"
	"slices"
	"testing"

	"wick/indicators"
	"wick/market"
)

// TestEmptyStudy: a study without values says why, and its panel has an axis.
func TestEmptyStudy(t *testing.T) {
	silent := changed(60, func(s *market.Series) { clear(s.Volume) })
	nothing := make(indicators.Values, 60)
	for i := range nothing {
		nothing[i] = math.NaN()
	}
	for _, c := range []struct {
		name   string
		series *market.Series
		needs  func() int
		levels []indicators.HLine
		want   string
		axis   []string
	}{
		{"too few bars", priced(60, 215), func() int { return 90 }, nil, "needs 90 bars", []string{"0"}},
		{"no volume", silent, func() int { return 14 }, nil, "no values (these bars have no volume)", []string{"0"}},
		{"no volume, needs unknown", silent, nil, nil, "no values (these bars have no volume)", []string{"0"}},
		{"another reason", priced(60, 215), func() int { return 14 }, nil, "no values in these bars", []string{"0"}},
		{"levels", priced(60, 215), nil, []indicators.HLine{{Y: 20}, {Y: 80}}, "no values in these bars", []string{"20", "80"}},
	} {
		r := &indicators.Result{Label: "MFI(14)", HLines: c.levels, Lines: []indicators.Line{{Label: "MFI", Values: nothing}}}
		p := plan(&View{Series: c.series, Panels: []Panel{{Result: r, Needs: c.needs}}}, Options{Width: 1200, Height: 700})
		if texts := p.texts(legendText); texts[len(texts)-1] != c.want {
			t.Errorf("%s: the legend says %q, want %q", c.name, texts, c.want)
		}
		for _, text := range c.axis {
			shown := func(tk tick) bool { return tk.text == text && tk.shown }
			if !slices.ContainsFunc(p.panes[1].ticks, shown) {
				t.Errorf("%s: the axis lacks %s", c.name, text)
			}
		}
	}
}

// TestStudyName: a legend drops the commas between parameters and keeps those within one,
// without which an expression could not be typed in again.
func TestStudyName(t *testing.T) {
	for label, want := range map[string]string{
		"MACD(12, 26, 9)": "MACD 12 26 9",
		"SAR":             "SAR",
		"Rule(crosses_above(close, highest(high, 20)[1]))":       "Rule crosses_above(close, highest(high, 20)[1])",
		"Formula(max(close, open) - sma(close, 20))":             "Formula max(close, open) - sma(close, 20)",
		"EMA(20, MACD(12, 26, 9))":                               "EMA 20 MACD(12, 26, 9)",
		"Rule(crosses_above(close, highest(high, 200)[1]) or x)": "Rule crosses_above(close, highest(high, 200)[1]…",
		"Correlation(ETHUSDT, 20)":                               "Correlation ETHUSDT 20",
	} {
		if got := studyName(&indicators.Result{Label: label}); got != want {
			t.Errorf("%q is named %q, want %q", label, got, want)
		}
	}
}
