package chart

import (
	"math"
	"slices"

	"wick/indicators"
	"wick/market"
)

// compareStudy returns the compared symbols as lines over the price: each follows its
// symbol's closes, scaled so that its first close lies at the first close of the price. On the
// percent axis that the picture then has, all begin at 0, and a line stands at its symbol's own
// change.
func (p *picture) compareStudy() *indicators.Result {
	r := &indicators.Result{Overlay: true, Label: "Compare"}
	for _, s := range p.view.Compare {
		_, values := aligned(p.s, s)
		first := math.NaN()
		// Before the symbol's first price the line is missing, since dividing by NaN
		// gives NaN.
		for i, v := range values {
			if !usable(first) && positive(v) {
				first = v
			}
			values[i] = v / first * p.base
			if values[i] > 1e6*p.base {
				values[i] = math.NaN() // it would flatten all other lines
			}
		}
		r.Lines = append(r.Lines, indicators.Line{Label: printable(s.Symbol, 20), Values: values})
	}
	return r
}

// aligned returns the price of other at the beginning and at the end of each bar of s.
// For a bar of s it takes the newest bar of other that began no later: its open and close,
// or twice its close if it had ended when the bar of s began. If that bar is too old, the
// prices are NaN: a symbol that is no longer traded must not go on as a flat line.
func aligned(s, other *market.Series) (opens, closes indicators.Values) {
	const longest = 4 * day // a long weekend
	opens, closes = make(indicators.Values, s.Len()), make(indicators.Values, s.Len())
	n := min(len(other.Time), len(other.Open), len(other.Close))
	// j is the newest bar of other that began no later than t; it only grows.
	j := -1
	for i, t := range s.Time {
		for j+1 < n && other.Time[j+1] <= t {
			j++
		}
		opens[i], closes[i] = math.NaN(), math.NaN()
		if j >= 0 && t-other.Time[j] <= max(longest, 10*s.Interval.Seconds()) {
			opens[i], closes[i] = other.Open[j], other.Close[j]
			if other.DueAt(j) <= t {
				opens[i] = closes[i]
			}
		}
	}
	return opens, closes
}

// compareSummary writes the member "compare": the last close of each compared symbol and
// its change since its first open, which is how the change of the chart's own symbol is
// computed. Where that is later than the first bar of the chart, it writes on which bar.
// Without compared symbols it writes nothing.
func (w *writer) compareSummary(v *View) {
	list(w, "compare", v.Compare, func(_ int, s **market.Series) {
		opens, closes := aligned(v.Series, *s)
		w.origin(*s)
		w.price("last_close", last(closes))
		first := slices.IndexFunc(opens, positive)
		if first < 0 { // it has no price
			w.value("change_pct", math.NaN())
			return
		}
		w.value("change_pct", changePercent(opens[first], last(closes)))
		if first > 0 {
			w.stamp("change_pct_since", v.Series.Time[first])
		}
	})
}

// compareSeries writes the member "compare" with every open and close, aligned with
// the bars, and the ink of its line.
func (w *writer) compareSeries(v *View, looks themeLooks) {
	list(w, "compare", v.Compare, func(i int, s **market.Series) {
		w.origin(*s)
		w.ink(looks, i)
		opens, closes := aligned(v.Series, *s)
		w.values("opens", opens)
		w.values("closes", closes)
	})
}

func (w *writer) origin(s *market.Series) {
	w.put("symbol", s.Symbol)
	w.put("source", s.Source)
	w.put("synthetic", s.Synthetic)
	w.currency(s)
}

func (w *writer) currency(s *market.Series) {
	if s.Currency != "" {
		w.put("currency", s.Currency)
	}
}
