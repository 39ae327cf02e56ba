package chart

import (
	"math"

	"wick/indicators"
	"wick/market"
)

// AppendSeries appends the series payload of v to dst: every bar, and every
// value of every channel, aligned with the bars. Channels that an indicator
// does not emit are left out; the times of signals and divergences are null
// for synthetic bars. So that a page can draw the same picture, the payload also
// contains the tones, styles and names of levels, unless they are the usual ones, the
// inks of lines, the decimals of prices, the length of a bar, where the first averaged
// candle opens, and the arguments of the call.
func AppendSeries(dst []byte, v *View) []byte {
	w := &writer{dst}
	w.open('{')
	s := v.Series
	w.header(s, s.Source)
	w.int("seconds", s.Interval.Seconds())
	decimals, _ := precision(s.Open, s.High, s.Low, s.Close)
	w.int("precision", int64(decimals))
	if v.AveragedOpen != nil {
		w.price("heikin_ashi_open", *v.AveragedOpen)
	}
	if n := len(s.Gaps); n > 0 {
		w.int("gaps", int64(n))
		w.put("gaps_at", s.Gaps)
	}
	if len(v.Request) > 0 {
		w.name("request")
		w.b = append(w.b, v.Request...)
	}
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
	looks, shades := v.looks(), v.shades()
	w.compareSeries(v, looks[len(v.Panels)])
	w.name("indicators")
	w.open('{')
	for i := range v.Panels {
		w.key(v.Panels[i].Key)
		w.indicatorSeries(v, &v.Panels[i], looks[i], shades[i])
	}
	w.close('}')
	w.close('}')
	return w.b
}

// indicatorSeries writes every channel of an indicator, one value per bar; bars of
// signals and divergences are indices into the bars. Each line carries the ink that a picture
// gives it.
func (w *writer) indicatorSeries(v *View, p *Panel, looks themeLooks, shade ink) {
	r, s := p.Result, v.Series
	w.open('{')
	w.about(r)
	if name := studyName(r); name != r.Label {
		w.put("name", name) // as a legend writes it
	}
	if r.YRange != nil && !r.Overlay {
		w.put("bounded", true) // no value can leave y_range
	}
	if n := s.Len(); n > 0 && p.Needs != nil && neverWarm(r, n) {
		w.int("needs", int64(p.Needs())) // bars until its first value
	}
	list(w, "lines", r.Lines, func(i int, l *indicators.Line) {
		w.int("index", int64(i))
		w.put("label", l.Label)
		w.optional("tone", toneWords[l.Tone])
		w.optional("style", styleWords[l.Style])
		w.ink(looks, i)
		w.values("values", l.Values)
		if len(l.Ahead) > 0 {
			w.values("ahead", l.Ahead)
		}
		if l.Back > 0 {
			w.int("back", int64(l.Back)) // bars by which it is drawn before its own
		}
	})
	list(w, "histogram", r.Histogram, func(i int, h *indicators.Histogram) {
		w.int("index", int64(i))
		w.optional("label", h.Label)
		w.optional("tone", toneWords[h.Tone])
		w.values("values", h.Values)
	})
	list(w, "signals", r.Signals, func(_ int, sig *indicators.Signal) {
		w.int("x", int64(sig.Bar))
		w.time("t", s, sig.Bar)
		w.value("y", sig.Y)
		w.put("label", sig.Label)
		w.strength(sig)
		w.optional("tone", toneWords[sig.Tone])
		if sig.Silent {
			w.put("silent", true)
		}
		if v.Account.awaits(p.Key, sig.Label) {
			w.put("awaited", true) // an alert waits for it
		}
	})
	levels, _ := v.Account.withAlerts(p, math.MaxInt)
	list(w, "hlines", levels.HLines, func(i int, l *indicators.HLine) {
		w.value("y", l.Y)
		w.optional("label", l.Label)
		w.optional("tone", toneWords[l.Tone])
		w.put("ink", inkNames[levelInk(levels, i, r.Overlay)])
	})
	if len(r.Sessions) > 0 { // the bars where those of a profile begin
		w.put("sessions", r.Sessions)
	}
	w.facts(r.Facts)
	if shade != 0 {
		w.put("shade", inkNames[shade]) // the ink of shaded bars
	}
	w.areas(r, s)
	w.close('}')
}

// areas writes what is drawn beside the values: shaded bars, fills, the bars of a
// profile and the lines of divergences.
func (w *writer) areas(r *indicators.Result, s *market.Series) {
	list(w, "shaded", runs(r.Shaded), func(_ int, run *[2]int) {
		w.int("from", int64(run[0]))
		w.int("to", int64(run[1]))
	})
	list(w, "fills", r.Fills, func(_ int, f *indicators.Fill) {
		w.values("y1", f.Y1)
		w.values("y2", f.Y2)
		w.optional("tone", toneWords[f.Tone])
		w.optional("below", toneWords[f.Below])
		// What reaches beyond the newest bar, such as the cloud of Ichimoku.
		if len(f.Ahead1) > 0 && len(f.Ahead2) > 0 {
			w.values("ahead1", f.Ahead1)
			w.values("ahead2", f.Ahead2)
		}
	})
	// Of a profile: where each bar lies, how far it reaches, and from which edge.
	list(w, "hbars", r.HBars, func(_ int, b *indicators.HBar) {
		w.value("y", b.Y)
		w.value("height", b.Height)
		w.value("width", b.Width)
		w.value("offset", b.Offset)
		w.put("left", b.Left)
		w.optional("tone", toneWords[b.Tone])
		if b.Strong {
			w.put("strong", true)
		}
	})
	list(w, "divlines", r.DivLines, func(_ int, d *indicators.DivLine) {
		w.int("x1", int64(d.X1))
		w.time("t1", s, d.X1)
		w.value("y1", d.Y1)
		w.int("x2", int64(d.X2))
		w.time("t2", s, d.X2)
		w.value("y2", d.Y2)
		w.put("dashed", d.Dashed)
		w.optional("tone", toneWords[d.Tone])
	})
}

// The words for tones and styles. The usual tone and style have no word.
var (
	toneWords = [...]string{indicators.Auto: "", indicators.Primary: "primary", indicators.Second: "second", indicators.Up: "up", indicators.Down: "down",
		indicators.Muted: "muted", indicators.Band: "band", indicators.Accent: "accent"}
	styleWords = [...]string{indicators.Solid: "", indicators.Dashed: "dashed", indicators.Dots: "dots", indicators.Step: "step"}
)
