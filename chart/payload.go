package chart

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"wick/indicators"
	"wick/market"
)

// writer appends JSON to b. It places the commas itself, so that code which
// writes an object reads like the object. A payload may hold a hundred thousand
// numbers, which is why it is appended here and not marshalled from structs.
type writer struct{ b []byte }

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

func (w *writer) name(s string) {
	w.comma()
	w.text(s)
	w.b = append(w.b, ':')
}

// text writes a string. Most are plain, and are not given to encoding/json, which takes longer.
func (w *writer) text(s string) {
	for i := range len(s) {
		if !plain[s[i]] {
			text, _ := json.Marshal(s)
			w.b = append(w.b, text...)
			return
		}
	}
	w.b = append(append(append(w.b, '"'), s...), '"')
}

// plain are the bytes that encoding/json writes in a string as they are.
var plain = func() (all [256]bool) {
	for c := ' '; c <= '~'; c++ {
		all[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return all
}()

// put writes members: each name is followed by its value. A float64 is a computed number, of
// which ten significant digits are written. A member whose name ends in a question mark is left
// out if its value is zero or empty. No value may escape, or each would be an allocation.
func (w *writer) put(members ...any) {
	for ; len(members) > 0; members = members[2:] {
		name, maybe := strings.CutSuffix(members[0].(string), "?")
		from := len(w.b)
		w.name(name)
		at := len(w.b)
		switch v := members[1].(type) {
		case bool:
			w.b = strconv.AppendBool(w.b, v)
		case int:
			w.b = strconv.AppendInt(w.b, int64(v), 10)
		case []int:
			w.b = appendAll(w.b, v)
		case []int64:
			w.b = appendAll(w.b, v)
		case string:
			w.text(v)
		case float64:
			w.b = indicators.AppendValue(w.b, v)
		case price:
			w.b = v.append(w.b)
		case indicators.Values:
			w.b = v.AppendJSON(w.b)
		case stamp:
			w.b = append(time.Unix(int64(v), 0).UTC().AppendFormat(append(w.b, '"'), time.RFC3339), '"')
		case json.RawMessage:
			w.b = append(w.b, v...)
		case []indicators.Fact:
			w.open('{')
			for _, f := range v {
				w.name(f.Name)
				w.b = append(w.b, f.Value...)
			}
			w.close('}')
		case func():
			w.open('{')
			v()
			w.close('}')
		default:
			panic("chart: a member of a type that put does not know")
		}
		if maybe {
			switch string(w.b[at:]) {
			case "0", "false", `""`, "[]", "{}", "":
				w.b = w.b[:from]
			}
		}
	}
}

// appendAll appends whole numbers as an array.
func appendAll[T int | int64](b []byte, all []T) []byte {
	b = append(b, '[')
	for _, v := range all {
		b = append(strconv.AppendInt(b, int64(v), 10), ',')
	}
	return append(bytes.TrimSuffix(b, []byte(",")), ']')
}

// price is a number that is written with all its digits, as the source gave it. Very small and
// very large ones get an exponent; what is no number is null.
type price float64

func (p price) append(b []byte) []byte {
	v := float64(p)
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return append(b, "null"...)
	case a != 0 && (a < 1e-9 || a >= 1e21):
		return strconv.AppendFloat(b, v, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
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

// began returns when bar i began, or null when the bars are invented.
func began(s *market.Series, i int) any {
	if s.Synthetic {
		return json.RawMessage("null")
	}
	return int(s.Time[i])
}

// stamp is a time in unix seconds that is written in RFC 3339.
type stamp int64

// last returns the newest value, NaN when there is none.
func last(values indicators.Values) float64 {
	v, _ := lastValue(values, len(values))
	return v
}

// A Summary is the payload of the price in a few numbers, and of every indicator its last values,
// signals and levels. It is written once, and can then be shortened until it fits.
type Summary struct {
	writer
	lists []recent
}

// recent is an array of signals or divergences of a summary, whose oldest items may be left out.
type recent struct {
	bars    []int // of all items
	begins  []int // where each item that was written begins
	end     int   // where the array ends
	counted bool  // a member after it says how many older ones there are
}

// mostItems is how many items of an array are written: more than fit into any reply.
const mostItems = 600

// Summarize returns the summary of v, and Computed that of the computation tool, which has no price:
// source says where the bars came from, and signals are of the newest bars only.
func Summarize(v *View) *Summary {
	return summary(v, v.Series.Source, v.Series.Len(), func(s *Summary) {
		s.put("price", func() { s.priceSummary(v.Series) })
		s.compareSummary(v)
	})
}

func Computed(v *View, source string, newest int) *Summary {
	return summary(v, source, newest, func(s *Summary) { s.put("bars", v.Series.Len()) })
}

func summary(v *View, source string, newest int, price func(s *Summary)) *Summary {
	s := &Summary{writer: writer{make([]byte, 0, 8<<10)}}
	s.open('{')
	s.header(v.Series, source)
	price(s)
	s.put("indicators", func() {
		for _, p := range v.Panels {
			s.name(p.Key)
			s.indicator(p.Result, v.Series, v.Series.Len()-newest)
		}
	})
	s.close('}')
	return s
}

// latest writes an array of the items from the bar first on, and notes where each begins.
func latest[T any](s *Summary, name string, items []T, first int, counted bool, bar func(*T) int, item func(x *T)) {
	l := recent{counted: counted, begins: make([]int, 0, min(mostItems, len(items)))}
	if first > 0 {
		items = slices.DeleteFunc(slices.Clone(items), func(x T) bool { return bar(&x) < first })
	}
	for i := range items {
		l.bars = append(l.bars, bar(&items[i]))
	}
	list(&s.writer, name, items[max(0, len(items)-mostItems):], func(_ int, x *T) {
		l.begins = append(l.begins, len(s.b)-1)
		item(x)
	})
	if l.end = len(s.b); len(items) > 0 {
		s.lists = append(s.lists, l)
	}
}

// Newest appends to text the summary with at most most signals and divergences of each indicator, the
// newest, and returns how many are left out and the bar of the newest of those.
func (s *Summary) Newest(text []byte, most int) (_ []byte, left, bar int) {
	at := 0
	text = slices.Grow(text, len(s.b))
	for _, l := range s.lists {
		kept := min(most, len(l.begins))
		text = append(text, s.b[at:l.begins[0]]...)
		text = append(text, s.b[l.begins[len(l.begins)-kept]:l.end]...)
		at = l.end
		older := l.bars[:len(l.bars)-kept]
		if left += len(older); len(older) == 0 {
			continue
		}
		bar = max(bar, slices.Max(older))
		if l.counted {
			text = strconv.AppendInt(append(text, `,"older_signals":`...), int64(len(older)), 10)
		}
	}
	return append(text, s.b[at:]...), left, bar
}

// Fitting returns with how many signals and divergences of each indicator the summary has at most
// size bytes, or 1 if it never has.
func (s *Summary) Fitting(size int) int {
	text := make([]byte, 0, len(s.b))
	return 1 + sort.Search(mostItems-1, func(i int) bool {
		text, _, _ = s.Newest(text[:0], i+2)
		return len(text) > size
	})
}

// header writes what every payload begins with: what the bars are, and how far
// they can be trusted.
func (w *writer) header(s *market.Series, source string) {
	w.put("symbol", s.Symbol, "interval", string(s.Interval), "source", source, "synthetic", s.Synthetic, "currency?", s.Currency,
		"as_of", time.UnixMilli(s.AsOf).UTC().Format("2006-01-02T15:04:05.000Z"), "forming", s.Forming)
}

// priceSummary writes the first and the last bar, the range between the highest and the lowest
// price, the volume of all bars and how far the price went in them. Without bars it writes only
// that there are none.
func (w *writer) priceSummary(s *market.Series) {
	n := s.Len()
	w.put("bars", n)
	if n == 0 {
		return
	}
	first, last := s.Bar(0), s.Bar(n-1)
	w.put("first", func() { w.put("date", stamp(first.Time), "open", price(first.Open), "close", price(first.Close)) })
	w.put("last", func() {
		w.put("date", stamp(last.Time), "open", price(last.Open), "high", price(last.High), "low", price(last.Low), "close", price(last.Close), "volume", price(last.Volume))
	})
	w.put("range", func() { w.put("high", price(slices.Max(s.High)), "low", price(slices.Min(s.Low))) })
	total := 0.0
	for _, v := range s.Volume {
		total += v
	}
	w.put("total_volume", total, "change_pct", changePercent(s.Open[0], s.Close[n-1]))
	// It is not known if the bars do not reach back a day.
	if change, since, _ := Change24h(s); !math.IsNaN(change) {
		w.put("change_24h", change, "change_24h_since", stamp(since))
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
		if i = 0; 2*(s.BeganAt(0)-at) >= s.Interval.Seconds() {
			return math.NaN(), 0, 0
		}
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

// indicator writes the last value of each line and histogram, signals with their dates and divergences
// from a bar on, levels, and the heaviest levels of a profile.
func (w *Summary) indicator(r *indicators.Result, s *market.Series, first int) {
	w.open('{')
	w.about(r)
	list(&w.writer, "lines", r.Lines, func(i int, l *indicators.Line) {
		w.put("index", i, "label", l.Label, "last_value", last(l.Values))
	})
	list(&w.writer, "histogram", r.Histogram, func(i int, h *indicators.Histogram) {
		w.put("index", i, "label?", h.Label, "last_value", last(h.Values))
	})
	if !r.Told { // otherwise the facts have what they mark
		latest(w, "signals", r.Signals, first, true, func(g *indicators.Signal) int { return g.Bar }, func(g *indicators.Signal) {
			w.signal(g, s)
			w.put("date", stamp(s.Time[g.Bar]), "bars_ago", s.Len()-1-g.Bar)
		})
	}
	w.put("facts?", r.Facts)
	list(&w.writer, "hlines", r.HLines, func(_ int, l *indicators.HLine) { w.put("y", l.Y, "label?", l.Label) })
	w.put("fills_count?", len(r.Fills))
	top, weight := widest(r.HBars, 5)
	list(&w.writer, "hbars_top", top, func(_ int, y *float64) { w.put("y", *y, "weight", weight[*y]) })
	w.put("hbars_count?", len(r.HBars))
	latest(w, "divergences", r.DivLines, first, false, func(d *indicators.DivLine) int { return d.X2 }, func(d *indicators.DivLine) {
		w.put("x1", d.X1, "y1", d.Y1, "x2", d.X2, "y2", d.Y2, "dashed", d.Dashed)
	})
	w.close('}')
}

// about writes what the summary and the series of an indicator have in common.
func (w *writer) about(r *indicators.Result) {
	w.put("label", r.Label, "is_overlay", r.Overlay)
	if r.Unsettled {
		w.put("settled", false)
	}
	if r.Overlay { // it has no range of its own
		return
	}
	if lo, hi, ok := r.Range(); ok {
		w.put("y_range", indicators.Values{lo, hi})
	}
}

// signal writes what the summary and the series of a signal have in common.
func (w *writer) signal(sig *indicators.Signal, s *market.Series) {
	w.put("x", sig.Bar, "t", began(s, sig.Bar), "y", sig.Y, "label", sig.Label,
		"strength?", sig.Strength) // how sure a candle pattern is
}

// widest returns the prices of the n heaviest levels of a profile, heaviest first, and the weight of
// every level. Bars of one price, volume up and volume down, count together.
func widest(bars []indicators.HBar, n int) (prices []float64, weight map[float64]float64) {
	weight = make(map[float64]float64)
	for _, b := range bars {
		if _, seen := weight[b.Y]; !seen {
			prices = append(prices, b.Y)
		}
		weight[b.Y] += b.Width
	}
	slices.SortStableFunc(prices, func(a, b float64) int { return cmp.Compare(weight[b], weight[a]) })
	return prices[:min(n, len(prices))], weight
}

// AppendSeries appends the series payload of v to dst: every bar, and every
// value of every channel, aligned with the bars. Channels that an indicator
// does not emit are left out; the times of signals and divergences are null
// for synthetic bars. So that a page can draw the same picture, the payload also
// says how it is drawn, and repeats the arguments of the call.
func AppendSeries(dst []byte, v *View) []byte {
	w := &writer{dst}
	w.open('{')
	s := v.Series
	w.header(s, s.Source)
	decimals, _ := precision(s.Open, s.High, s.Low, s.Close)
	w.put("seconds", int(s.Interval.Seconds()), "precision", decimals)
	if v.AveragedOpen != nil {
		w.put("heikin_ashi_open", price(*v.AveragedOpen))
	}
	w.put("gaps?", len(s.Gaps), "gaps_at?", s.Gaps, "request?", v.Request)
	w.name("bars")
	w.open('[')
	for i, t := range s.Time {
		w.open('{')
		w.name("t")
		w.b = strconv.AppendInt(w.b, t, 10)
		for k, column := range [...][]float64{s.Open, s.High, s.Low, s.Close, s.Volume} {
			w.name("ohlcv"[k : k+1])
			w.b = price(column[i]).append(w.b)
		}
		w.close('}')
	}
	w.close(']')
	var looks [themeCount][][]look
	for t := range looks {
		looks[t] = v.looks(Theme(t))
	}
	shades := v.shades()
	list(w, "compare", v.Compare, func(i int, c **market.Series) {
		w.origin(*c)
		w.ink(&looks, len(v.Panels), i)
		opens, closes := aligned(s, *c)
		w.put("opens", opens, "closes", closes)
	})
	w.put("indicators", func() {
		for i := range v.Panels {
			w.name(v.Panels[i].Key)
			w.indicatorSeries(v, i, &looks, shades[i])
		}
	})
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
	w.put("bounded?", r.YRange != nil && !r.Overlay) // y_range is the usual range, wider if values leave it
	if n := s.Len(); n > 0 && p.Needs != nil && neverWarm(r, n) {
		w.put("needs", p.Needs()) // bars until its first value
	}
	list(w, "lines", r.Lines, func(i int, l *indicators.Line) {
		w.put("index", i, "label", l.Label, "tone?", toneWords[l.Tone], "style?", styleWords[l.Style])
		w.ink(looks, panel, i)
		w.put("values", l.Values, "ahead?", l.Ahead, "back?", l.Back) // bars by which it is drawn before its own
	})
	list(w, "histogram", r.Histogram, func(i int, h *indicators.Histogram) {
		w.put("index", i, "label?", h.Label, "tone?", toneWords[h.Tone], "values", h.Values)
	})
	list(w, "signals", r.Signals, func(_ int, sig *indicators.Signal) {
		w.signal(sig, s)
		w.put("tone?", toneWords[sig.Tone], "silent?", sig.Silent, "awaited?", v.Account.awaits(p.Key, sig.Label))
	})
	levels, _ := v.Account.withAlerts(p, math.MaxInt)
	list(w, "hlines", levels.HLines, func(i int, l *indicators.HLine) {
		w.put("y", l.Y, "label?", l.Label, "tone?", toneWords[l.Tone], "ink", inkNames[levelInk(levels, i, r.Overlay)])
	})
	w.put("sessions?", r.Sessions) // the bars where those of a profile begin
	w.put("facts?", r.Facts)
	if shade != 0 {
		w.put("shade", inkNames[shade]) // the ink of shaded bars
	}
	list(w, "shaded", runs(r.Shaded), func(_ int, run *[2]int) { w.put("from", run[0], "to", run[1]) })
	list(w, "fills", r.Fills, func(_ int, f *indicators.Fill) {
		w.put("y1", f.Y1, "y2", f.Y2, "tone?", toneWords[f.Tone], "below?", toneWords[f.Below])
		// What reaches beyond the newest bar, such as the cloud of Ichimoku.
		if len(f.Ahead1) > 0 && len(f.Ahead2) > 0 {
			w.put("ahead1", f.Ahead1, "ahead2", f.Ahead2)
		}
	})
	// Of a profile: where each bar lies, how far it reaches, and from which edge.
	list(w, "hbars", r.HBars, func(_ int, b *indicators.HBar) {
		w.put("y", b.Y, "height", b.Height, "width", b.Width, "offset", b.Offset, "left", b.Left, "tone?", toneWords[b.Tone], "strong?", b.Strong)
	})
	list(w, "divlines", r.DivLines, func(_ int, d *indicators.DivLine) {
		w.put("x1", d.X1, "t1", began(s, d.X1), "y1", d.Y1, "x2", d.X2, "t2", began(s, d.X2), "y2", d.Y2, "dashed", d.Dashed, "tone?", toneWords[d.Tone])
	})
	w.close('}')
}

// The words for tones and styles. The usual tone and style have no word.
var (
	toneWords = [...]string{indicators.Auto: "", indicators.Primary: "primary", indicators.Second: "second", indicators.Up: "up", indicators.Down: "down",
		indicators.Muted: "muted", indicators.Band: "band", indicators.Accent: "accent"}
	styleWords = [...]string{indicators.Solid: "", indicators.Dashed: "dashed", indicators.Dots: "dots", indicators.Step: "step"}
)
