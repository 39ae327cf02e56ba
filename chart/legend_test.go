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
