package chart

import (
	"wick/indicators"
	"wick/market"
)

// AppendSeries appends the series payload of v to dst: every bar, and every
// value of every channel, aligned with the bars. Channels that an indicator
// does not emit are left out; the times of signals and divergences are null
// for synthetic bars.
func AppendSeries(dst []byte, v *View) []byte {
	w := &writer{dst}
	w.open('{')
	w.header(v.Series, v.Series.Source)
	w.bars(v.Series)
	w.compareSeries(v)
	w.name("indicators")
	w.open('{')
	for _, p := range v.Panels {
		w.key(p.Key)
		w.indicatorSeries(p.Result, v.Series)
	}
	w.close('}')
	w.close('}')
	return w.b
}

// bars writes every bar as an object of its time, four prices and volume.
func (w *writer) bars(s *market.Series) {
	w.name("bars")
	w.open('[')
	for i := range s.Len() {
		w.open('{')
		w.int("t", s.Time[i])
		w.price("o", s.Open[i])
		w.price("h", s.High[i])
		w.price("l", s.Low[i])
		w.price("c", s.Close[i])
		w.price("v", s.Volume[i])
		w.close('}')
	}
	w.close(']')
}

// indicatorSeries writes every channel of an indicator, one value per bar; bars of
// signals and divergences are indices into the bars.
func (w *writer) indicatorSeries(r *indicators.Result, s *market.Series) {
	w.open('{')
	w.about(r)
	list(w, "lines", r.Lines, func(i int, l *indicators.Line) {
		w.int("index", int64(i))
		w.string("label", l.Label)
		w.values("values", l.Values)
	})
	list(w, "histogram", r.Histogram, func(i int, h *indicators.Histogram) {
		w.int("index", int64(i))
		w.optional("label", h.Label)
		w.values("values", h.Values)
	})
	list(w, "signals", r.Signals, func(_ int, sig *indicators.Signal) {
		w.int("x", int64(sig.Bar))
		w.time("t", s, sig.Bar)
		w.value("y", sig.Y)
		w.string("label", sig.Label)
		w.strength(sig)
	})
	w.hlines(r.HLines)
	list(w, "fills", r.Fills, func(_ int, f *indicators.Fill) {
		w.values("y1", f.Y1)
		w.values("y2", f.Y2)
	})
	list(w, "hbars", r.HBars, func(_ int, b *indicators.HBar) {
		w.value("y", b.Y)
		w.value("height", b.Height)
		w.value("width", b.Width)
		w.value("offset", b.Offset)
		w.bool("left", b.Left)
	})
	list(w, "divlines", r.DivLines, func(_ int, d *indicators.DivLine) {
		w.int("x1", int64(d.X1))
		w.time("t1", s, d.X1)
		w.value("y1", d.Y1)
		w.int("x2", int64(d.X2))
		w.time("t2", s, d.X2)
		w.value("y2", d.Y2)
		w.bool("dashed", d.Dashed)
	})
	w.close('}')
}

// time writes when bar i began, or null when the bars are invented.
func (w *writer) time(name string, s *market.Series, i int) {
	if s.Synthetic {
		w.name(name)
		w.b = append(w.b, "null"...)
		return
	}
	w.int(name, s.Time[i])
}
