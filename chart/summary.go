package chart

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"wick/indicators"
	"wick/market"
)

// AppendSummary appends the summary payload of v to dst: the price in a few
// numbers, and of every indicator its last values, signals and levels.
func AppendSummary(dst []byte, v *View) []byte {
	w := &writer{dst}
	w.open('{')
	w.header(v.Series, v.Series.Source)
	w.priceSummary(v.Series)
	w.compareSummary(v)
	w.indicatorSummaries(v)
	w.close('}')
	return w.b
}

// AppendComputed appends the result of the computation tool to dst: each
// indicator in the shape of the summary. Source says where the bars came from,
// the engine's window or a fetch, and count how many were used.
func AppendComputed(dst []byte, v *View, source string, count int) []byte {
	w := &writer{dst}
	w.open('{')
	w.header(v.Series, source)
	w.int("bars", int64(count))
	w.indicatorSummaries(v)
	w.close('}')
	return w.b
}

// header writes what every payload begins with: what the bars are, and how far
// they can be trusted.
func (w *writer) header(s *market.Series, source string) {
	w.put("symbol", s.Symbol)
	w.put("interval", string(s.Interval))
	w.put("source", source)
	w.put("synthetic", s.Synthetic)
	w.currency(s)
	w.put("as_of", time.UnixMilli(s.AsOf).UTC().Format("2006-01-02T15:04:05.000Z"))
	w.put("forming", s.Forming)
}

// priceSummary writes the first and the last bar, the range between the highest and the lowest
// price, the volume of all bars and how far the price went in them. Without bars it writes only
// that there are none.
func (w *writer) priceSummary(s *market.Series) {
	n := s.Len()
	w.name("price")
	w.open('{')
	defer w.close('}')
	w.int("bars", int64(n))
	if n == 0 {
		return
	}
	first, last := s.Bar(0), s.Bar(n-1)
	w.name("first")
	w.open('{')
	w.stamp("date", first.Time)
	w.price("open", first.Open)
	w.price("close", first.Close)
	w.close('}')
	w.name("last")
	w.open('{')
	w.stamp("date", last.Time)
	w.price("open", last.Open)
	w.price("high", last.High)
	w.price("low", last.Low)
	w.price("close", last.Close)
	w.price("volume", last.Volume)
	w.close('}')
	w.name("range")
	w.open('{')
	w.price("high", slices.Max(s.High))
	w.price("low", slices.Min(s.Low))
	w.close('}')
	total := 0.0
	for _, v := range s.Volume {
		total += v
	}
	w.value("total_volume", total)
	w.value("change_pct", changePercent(s.Open[0], s.Close[n-1]))
	// It is not known if the bars do not reach back a day.
	if change, since := Change24h(s); !math.IsNaN(change) {
		w.value("change_24h", change)
		w.stamp("change_24h_since", since)
	}
}

// Change24h returns the change of the price within 24 hours in percent, and since when it
// counts, in unix seconds. The exact prices of bars are known only where they begin and
// end, so it counts from the beginning or end of a bar that is nearest to 24 hours before
// the newest price. If nothing was traded then, it counts from the last trade before, or
// from the open if there is no bar before. It is NaN if the bars do not reach back so far
// or are longer than a day.
func Change24h(s *market.Series) (percent float64, since int64) {
	n := s.Len()
	if n == 0 || s.Interval.Seconds() > day {
		return math.NaN(), 0
	}
	at := s.DueAt(n-1) - day
	if now := cmp.Or(s.PriceAt, s.AsOf) / 1000; now > 0 {
		at = min(at, now-day)
	}
	// Bar i is the one that contains that moment, or the last before it.
	i := sort.Search(n, func(i int) bool { return s.BeganAt(i) > at }) - 1
	if i < 0 { // before the first bar, whose beginning may still be the nearest
		if first := s.BeganAt(0); 2*(first-at) < s.Interval.Seconds() {
			return changePercent(s.Open[0], s.Close[n-1]), first
		}
		return math.NaN(), 0
	}
	start, end := s.BeganAt(i), s.DueAt(i)
	switch {
	case end-at < at-start: // the moment is nearer to the bar's end, or after it
		return changePercent(s.Close[i], s.Close[n-1]), end
	case i == 0:
		return changePercent(s.Open[0], s.Close[n-1]), start
	}
	return changePercent(s.Close[i-1], s.Close[n-1]), start
}

// indicatorSummaries writes the member "indicators", an object by key.
func (w *writer) indicatorSummaries(v *View) {
	w.name("indicators")
	w.open('{')
	for _, p := range v.Panels {
		w.key(p.Key)
		w.indicatorSummary(p, v.Series)
	}
	w.close('}')
}

// indicatorSummary writes the last value of each line and histogram, all signals with their
// dates, and how many were left out to keep the reply short, levels and divergences, and the
// heaviest levels of a profile.
func (w *writer) indicatorSummary(p Panel, s *market.Series) {
	r := p.Result
	w.open('{')
	w.about(r)
	list(w, "lines", r.Lines, func(i int, l *indicators.Line) {
		w.int("index", int64(i))
		w.put("label", l.Label)
		w.value("last_value", last(l.Values))
	})
	list(w, "histogram", r.Histogram, func(i int, h *indicators.Histogram) {
		w.int("index", int64(i))
		w.optional("label", h.Label)
		w.value("last_value", last(h.Values))
	})
	signals := r.Signals
	if r.Told {
		signals = nil // the facts have what they mark
	}
	list(w, "signals", signals, func(_ int, g *indicators.Signal) {
		w.int("x", int64(g.Bar))
		w.time("t", s, g.Bar)
		w.value("y", g.Y)
		w.put("label", g.Label)
		w.strength(g)
		w.stamp("date", s.Time[g.Bar])
		w.int("bars_ago", int64(s.Len()-1-g.Bar))
	})
	if p.Older > 0 {
		w.int("older_signals", int64(p.Older))
	}
	w.facts(r.Facts)
	list(w, "hlines", r.HLines, func(_ int, l *indicators.HLine) {
		w.value("y", l.Y)
		w.optional("label", l.Label)
	})
	if len(r.Fills) > 0 {
		w.int("fills_count", int64(len(r.Fills)))
	}
	if len(r.HBars) > 0 {
		list(w, "hbars_top", widest(r.HBars, 5), func(_ int, l *profileLevel) {
			w.value("y", l.y)
			w.value("weight", l.weight)
		})
		w.int("hbars_count", int64(len(r.HBars)))
	}
	list(w, "divergences", r.DivLines, func(_ int, d *indicators.DivLine) {
		w.int("x1", int64(d.X1))
		w.value("y1", d.Y1)
		w.int("x2", int64(d.X2))
		w.value("y2", d.Y2)
		w.put("dashed", d.Dashed)
	})
	w.close('}')
}

// facts writes what an indicator says beyond values and signals.
func (w *writer) facts(facts []indicators.Fact) {
	if len(facts) == 0 {
		return
	}
	w.name("facts")
	w.open('{')
	for _, f := range facts {
		w.key(f.Name)
		w.b = append(w.b, f.Value...)
	}
	w.close('}')
}

// about writes what the summary and the series of an indicator have in common.
func (w *writer) about(r *indicators.Result) {
	w.put("label", r.Label)
	w.put("is_overlay", r.Overlay)
	if r.Unsettled {
		w.put("settled", false)
	}
	if r.Overlay { // it has no range of its own
		return
	}
	if lo, hi, ok := r.Range(); ok {
		w.values("y_range", indicators.Values{lo, hi})
	}
}

// optional writes a text if there is one.
func (w *writer) optional(name, s string) {
	if s != "" {
		w.put(name, s)
	}
}

// strength writes how sure a candle pattern is; other signals have no such member.
func (w *writer) strength(sig *indicators.Signal) {
	if sig.Strength != 0 {
		w.int("strength", int64(sig.Strength))
	}
}

// profileLevel is one price of a profile with the width of its bars.
type profileLevel struct{ y, weight float64 }

// widest returns the n heaviest levels of a profile, heaviest first. Bars of
// one price, volume up and volume down, count together.
func widest(bars []indicators.HBar, n int) []profileLevel {
	var levels []profileLevel
	at := make(map[float64]int)
	for _, b := range bars {
		i, seen := at[b.Y]
		if !seen {
			i = len(levels)
			at[b.Y] = i
			levels = append(levels, profileLevel{y: b.Y})
		}
		levels[i].weight += b.Width
	}
	slices.SortStableFunc(levels, func(a, b profileLevel) int { return cmp.Compare(b.weight, a.weight) })
	return levels[:min(n, len(levels))]
}
