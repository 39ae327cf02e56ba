package chart

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"sort"
	"strconv"
	"time"

	"wick/indicators"
	"wick/market"
)

// writer appends JSON to b. It places the commas itself, so that code which
// writes an object reads like the object. A payload may hold a hundred thousand
// numbers, which is why it is appended here and not marshalled from structs.
type writer struct {
	b []byte
}

// comma writes the comma before a value or name, unless it is the first of its
// object or array or follows a name.
func (w *writer) comma() {
	if n := len(w.b); n > 0 {
		switch w.b[n-1] {
		case '{', '[', ':':
		default:
			w.b = append(w.b, ',')
		}
	}
}

// open begins an object or an array with '{' or '['; close ends it.
func (w *writer) open(c byte) {
	w.comma()
	w.b = append(w.b, c)
}

func (w *writer) close(c byte) { w.b = append(w.b, c) }

// key writes the name of a member that came from a client and is escaped; name
// writes one that stands in this package and needs no escaping.
func (w *writer) key(s string) {
	w.comma()
	text, _ := json.Marshal(s)
	w.b = append(append(w.b, text...), ':')
}

// name begins a member, after a comma where one is needed.
func (w *writer) name(s string) {
	w.comma()
	w.b = append(w.b, '"')
	w.b = append(w.b, s...)
	w.b = append(w.b, '"', ':')
}

func (w *writer) put(name string, v any) {
	w.name(name)
	text, _ := json.Marshal(v) // these can always be encoded
	w.b = append(w.b, text...)
}

func (w *writer) int(name string, v int64) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, v, 10)
}

// value writes a computed number: ten significant digits.
func (w *writer) value(name string, v float64) {
	w.name(name)
	w.b = indicators.AppendValue(w.b, v)
}

// price writes a number with all its digits, as the source gave it. Very small and
// very large ones get an exponent; what is no number is null.
func (w *writer) price(name string, v float64) {
	w.name(name)
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		w.b = append(w.b, "null"...)
	case a != 0 && (a < 1e-9 || a >= 1e21):
		w.b = strconv.AppendFloat(w.b, v, 'e', -1, 64)
	default:
		w.b = strconv.AppendFloat(w.b, v, 'f', -1, 64)
	}
}

// values writes an array of computed numbers, null where there is none.
func (w *writer) values(name string, v indicators.Values) {
	w.name(name)
	w.b = v.AppendJSON(w.b)
}

// list writes the member name as an array of objects, the members of each by
// calling item. Without items it writes nothing at all: channels that an
// indicator does not emit are left out of the payload.
func list[T any](w *writer, name string, items []T, item func(i int, x *T)) {
	if len(items) == 0 {
		return
	}
	w.name(name)
	w.open('[')
	for i := range items {
		w.open('{')
		item(i, &items[i])
		w.close('}')
	}
	w.close(']')
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

// stamp writes a member with a time in RFC 3339.
func (w *writer) stamp(name string, t int64) {
	w.name(name)
	w.b = append(w.b, '"')
	w.b = time.Unix(t, 0).UTC().AppendFormat(w.b, time.RFC3339)
	w.b = append(w.b, '"')
}

// last returns the newest value, NaN when there is none.
func last(values indicators.Values) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return values[len(values)-1]
}

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
	if change, since, _ := Change24h(s); !math.IsNaN(change) {
		w.value("change_24h", change)
		w.stamp("change_24h_since", since)
	}
}

// Change24h returns the change of the price within 24 hours in percent, and from
// when to when that is, in unix seconds. The exact prices of bars are known only where they begin and
// end, so it counts from the beginning or end of a bar that is nearest to 24 hours before
// the newest price. If nothing was traded then, it counts from the last trade before, or
// from the open if there is no bar before. It is NaN if the bars do not reach back so far
// or are longer than a day.
func Change24h(s *market.Series) (percent float64, since, until int64) {
	n := s.Len()
	if n == 0 || s.Interval.Seconds() > day {
		return math.NaN(), 0, 0
	}
	until = s.DueAt(n - 1)
	if now := cmp.Or(s.PriceAt, s.AsOf) / 1000; now > 0 {
		until = min(until, now)
	}
	at := until - day
	// Bar i is the one that contains that moment, or the last before it.
	i := sort.Search(n, func(i int) bool { return s.BeganAt(i) > at }) - 1
	if i < 0 { // before the first bar, whose beginning may still be the nearest
		if first := s.BeganAt(0); 2*(first-at) < s.Interval.Seconds() {
			return changePercent(s.Open[0], s.Close[n-1]), first, until
		}
		return math.NaN(), 0, 0
	}
	start, end := s.BeganAt(i), s.DueAt(i)
	switch {
	case end-at < at-start: // the moment is nearer to the bar's end, or after it
		return changePercent(s.Close[i], s.Close[n-1]), end, until
	case i == 0:
		return changePercent(s.Open[0], s.Close[n-1]), start, until
	}
	return changePercent(s.Close[i-1], s.Close[n-1]), start, until
}

func (w *writer) indicatorSummaries(v *View) {
	w.name("indicators")
	w.open('{')
	for _, p := range v.Panels {
		w.key(p.Key)
		w.indicatorSummary(p, v.Series)
	}
	w.close('}')
}

// indicatorSummary writes the last value of each line and histogram, the signals with their
// dates, how many older ones were left out, levels and divergences, and the
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
		w.signal(g, s)
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

func (w *writer) optional(name, s string) {
	if s != "" {
		w.put(name, s)
	}
}

// signal writes what the summary and the series of a signal have in common.
func (w *writer) signal(sig *indicators.Signal, s *market.Series) {
	w.int("x", int64(sig.Bar))
	w.time("t", s, sig.Bar)
	w.value("y", sig.Y)
	w.put("label", sig.Label)
	if sig.Strength != 0 { // how sure a candle pattern is; others have no such member
		w.int("strength", int64(sig.Strength))
	}
}

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
	var looks [themeCount][][]look
	for t := range looks {
		looks[t] = v.looks(Theme(t))
	}
	shades := v.shades()
	w.compareSeries(v, &looks)
	w.name("indicators")
	w.open('{')
	for i := range v.Panels {
		w.key(v.Panels[i].Key)
		w.indicatorSeries(v, i, &looks, shades[i])
	}
	w.close('}')
	w.close('}')
	return w.b
}

// indicatorSeries writes every channel of an indicator, one value per bar; bars of
// signals and divergences are indices into the bars. Each line carries the ink that a picture
// gives it.
func (w *writer) indicatorSeries(v *View, panel int, looks *[themeCount][][]look, shade ink) {
	p, s := &v.Panels[panel], v.Series
	r := p.Result
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
		w.ink(looks, panel, i)
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
		w.signal(sig, s)
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
