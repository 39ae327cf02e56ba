package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"
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

// TestLegendNamesComeFirst: with more studies than rows, each row takes as many as fit, and
// signals are counted only where the names and values of all studies have room. What has
// none is counted, and told by the key of its study.
func TestLegendNamesComeFirst(t *testing.T) {
	lengths := []int{5, 8, 10, 13, 20, 26, 34, 50, 80, 100, 120, 150, 180, 200, 250, 300}
	v := &View{Series: priced(100, 215)}
	for i, n := range lengths {
		r := crowded(100, 3, true)
		r.Label = "EMA(" + strconv.Itoa(n) + ")"
		v.Panels = append(v.Panels, Panel{Key: "ema#" + strconv.Itoa(i), Result: r})
	}
	for _, c := range []struct {
		w, h          int
		named, counts int // of how many studies, and at least how many counts
	}{{1440, 768, 16, 8}, {900, 600, 16, 1}, {320, 240, 2, 0}} {
		o := Options{Width: c.w, Height: c.h}
		p := plan(v, o)
		checkPlan(t, p)
		texts, named, counts := p.texts(legendText), 0, 0
		for i, text := range texts {
			switch {
			case strings.Contains(text, "×"):
				counts++
			case strings.HasPrefix(text, "EMA ") && !strings.HasPrefix(texts[i+1], "+"): // with its value
				if text != "EMA "+strconv.Itoa(lengths[named]) {
					t.Errorf("%dx%d: name %d is %q", c.w, c.h, named, text)
				}
				named++
			}
		}
		more := "+" + strconv.Itoa(16*4-2*named-counts) // a name, a value and two counts each
		if named < c.named || counts < c.counts || !slices.Contains(texts, more) {
			t.Errorf("%dx%d: %d names and %d counts, want at least %d and %d, and %s: %q", c.w, c.h, named, counts, c.named, c.counts, more, texts)
		}
	}
}

// TestNoVolume: on bars without volume, entries that count it draw no line at 0, as if buyers
// and sellers were even, but say why they have none.
func TestNoVolume(t *testing.T) {
	s := walk(300, 215, 2, market.Hour4)
	clear(s.Volume)
	for _, name := range []string{"obv", "ad", "adosc", "mfi", "force_index", "klinger", "pvt", "pvo", "cvd", "nvi", "cmf", "vwap"} {
		r, err := indicators.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := plan(&View{Series: s, Panels: []Panel{{Key: name, Result: r.Compute(s)}}}, Options{Width: 1200, Height: 700})
		texts := p.texts(legendText)
		if len(texts) != 2 || texts[1] != "no values (these bars have no volume)" {
			t.Errorf("%s: the legend says %q", name, texts)
		}
	}
}
