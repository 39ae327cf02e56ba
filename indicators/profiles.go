package indicators

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// profileEntries are volume and time by price.
var profileEntries = []Indicator{
	{Name: "volume_profile", Title: "VP", Also: "vp vpvr visible_range volume_profile_visible_range visible_range_volume_profile", Category: Volume, Traits: Overlay | Repaints,
		Memory: visible,
		Doc: "Volume profile of the bars on display: how much was traded at each level, the level with the most (POC) and the value area around it (VAH, VAL). " +
			"A bar's volume is spread evenly over its range. Colours follow the theme: color_up, color_down and opacity are accepted and change nothing.",
		Formula: "each bar adds volume * overlap / range to the bins it covers; value area: from the POC, the heavier neighbour first, until 70 %",
		Params:  []Param{bins(24), anchored("left"), rangeBars(), toggle("split_up_down", false, "show rising and falling bars apart", "split"), valueArea()},
		Ignores: []string{"color_up", "color_down", "opacity"},
		Events:  newestTouch,
		Draw: func(in Input) *Result {
			var p profile
			if !p.fill(recent(in), in.Int("bins"), in.Float("value_area")/100, byVolume) {
				return &Result{}
			}
			return p.result(in.Series, in.Choice("side") == "left", in.Bool("split_up_down"))
		}},
	{Name: "session_vp", Title: "Session VP", Also: "svp session_volume_profile", Category: Volume, Traits: Overlay | Repaints,
		Doc: "Volume profile of each session: its point of control (POC) and value area (VAH, VAL), drawn over the bars of that session. " +
			"They are those of the whole session, so the lines of the session under way move until it ends. Sessions begin at midnight UTC, weeks on Monday; auto is the day, of daily bars the month, of longer ones the year.",
		Formula: "one profile as in volume_profile per session",
		Params:  append([]Param{bins(24)}, append(sessionParams(), toggle("show_value_area", true, "show VAH and VAL"), valueArea())...),
		Memory:  Memory{seconds: sessionSeconds},
		Events:  newestTouch,
		Draw: func(in Input) *Result {
			n := in.Len()
			poc, vah, val := kernel.NaNs(n), kernel.NaNs(n), kernel.NaNs(n)
			var p profile
			var begins []int
			for _, span := range sessions(in) {
				if !p.fill(in.Slice(span.from, span.to), in.Int("bins"), in.Float("value_area")/100, byVolume) {
					continue
				}
				begins = append(begins, span.from)
				for i := span.from; i < span.to; i++ {
					poc[i], vah[i], val[i] = p.levels()
				}
			}
			r := &Result{Sessions: begins, Lines: []Line{{Label: "POC", Tone: Accent, Style: Step, Values: poc}}}
			if in.Bool("show_value_area") {
				r.Lines = append(r.Lines,
					Line{Label: "VAH", Tone: Band, Style: Step, Values: vah}, Line{Label: "VAL", Tone: Band, Style: Step, Values: val})
			}
			// Only levels of the session under way can be touched now; a comparison with
			// itself tells NaN.
			var levels []HLine // of the session under way
			for _, l := range r.Lines {
				if n > 0 && l.Values[n-1] == l.Values[n-1] {
					levels = append(levels, HLine{Y: l.Values[n-1]})
				}
			}
			r.Signals = lastTouches(in.Series, levels)
			return r
		}},
	{Name: "hvn_lvn", Title: "Nodes", Also: "vp_nodes volume_nodes", Category: Volume, Traits: Overlay | Repaints,
		Memory: visible,
		Doc: "Nodes of the volume profile of the bars on display: levels where clearly more (HVN) or clearly less (LVN) was traded than at the levels around them. " +
			"Price tends to rest at the first and to pass through the second.",
		Formula: "HVN: a bin above all bins within the neighbourhood, by min_prominence of the heaviest bin; LVN: below all, as far under the heaviest of them",
		Params: []Param{
			bins(48), rangeBars(), quiet(factorInt("neighborhood", 2, 1, 50, "bins on each side a node is compared with")),
			quiet(factor("min_prominence", 0.10, 0, 1, "least difference, as a fraction of the heaviest bin")),
			quiet(factorInt("top_n", 0, 0, 500, "nodes of each kind at most, the clearest first; 0 shows all")),
			toggle("show_hvn", true, "mark high-volume nodes"), toggle("show_lvn", true, "mark low-volume nodes"),
		},
		Events: newestTouch,
		Draw: func(in Input) *Result {
			r := &Result{}
			var p profile
			if !p.fill(recent(in), in.Int("bins"), 0.7, byVolume) {
				return r
			}
			high, low := p.nodes(in.Int("neighborhood"), in.Float("min_prominence"))
			draw := func(nodes []node, label string, tone Tone) {
				if n := in.Int("top_n"); n > 0 {
					nodes = nodes[:min(n, len(nodes))]
				}
				for _, n := range nodes {
					r.HLines = append(r.HLines, HLine{Y: p.centre(n.bin), Label: label, Tone: tone})
				}
			}
			if in.Bool("show_hvn") {
				draw(high, "HVN", Accent)
			}
			if in.Bool("show_lvn") {
				draw(low, "LVN", Muted)
			}
			r.Signals = lastTouches(in.Series, r.HLines)
			return r
		}},
	{Name: "naked_poc", Title: "Naked POC", Also: "npoc virgin_poc", Category: Volume, Traits: Overlay | Repaints,
		Doc: "Points of control of past sessions that price has not come back to since: each is drawn from the end of its session on (nPOC, with how many sessions ago), " +
			"the one of the session under way over its own bars (dPOC). A level that is touched is dropped, and the bar that touched it bears a signal, unless the very next session did: then it was never naked. A level of max_sessions sessions ago is dropped too.",
		Formula: "POC of each session as in session_vp; naked while no later bar has low <= POC <= high",
		Params: append(append([]Param{bins(24)}, sessionParams()...),
			quiet(factorInt("max_sessions", 20, 1, 100, "sessions a level is watched for, its own included")),
			toggle("include_current", true, "show the point of control of the session under way")),
		Events: []Event{emits(LevelTouch).meaning("a bar is the first to reach the level of a session that a whole later session did not reach")},
		// Every level that may still be watched needs its whole session.
		Memory: Memory{seconds: func(a Args, iv market.Interval) int64 { return int64(a.Int("max_sessions")) * sessionSeconds(a, iv) }},
		Draw: func(in Input) *Result {
			r := &Result{}
			spans := sessions(in)
			naked, current := nakedLevels(in.Series, spans, in.Args, r)
			for _, l := range naked {
				label := fmt.Sprintf("nPOC -%d", len(spans)-1-l.session)
				r.Lines = append(r.Lines, level(in.Len(), spans[l.session].to, l.price, label, Muted))
			}
			if in.Bool("include_current") && !math.IsNaN(current) {
				r.Lines = append(r.Lines, level(in.Len(), spans[len(spans)-1].from, current, "dPOC", Accent))
			}
			return r
		}},
	// A market profile proper writes letters for half hours; with bars of any length each
	// bar is one such unit.
	{Name: "tpo", Title: "TPO", Also: "market_profile time_price_opportunity", Category: Price, Traits: Overlay | Repaints,
		Memory: visible,
		Doc: "Time profile of the bars on display: how long price stayed at each level, whatever was traded there; with POC, VAH and VAL. " +
			"Each bar has one unit of time, spread evenly over its range. Colours follow the theme: opacity is accepted and changes nothing.",
		Formula: "each bar adds overlap / range to the bins it covers; value area as in volume_profile",
		Params:  []Param{bins(32), anchored("right"), rangeBars(), valueArea()},
		Ignores: []string{"opacity"},
		Events:  newestTouch,
		Draw: func(in Input) *Result {
			var p profile
			if !p.fill(recent(in), in.Int("bins"), in.Float("value_area")/100, byTime) {
				return &Result{}
			}
			return p.result(in.Series, in.Choice("side") == "left", false)
		}},
}

// profile is how much was traded, or how long price stayed, at each level of a range
// of prices: bins of equal height between the lowest low and the highest high. A bar
// spreads its weight over the bins its range covers, in proportion to the overlap.
// The point of control and the value area are set by fill.
type profile struct {
	low, step float64   // lower edge of the first bin, height of a bin
	weights   []float64 // lowest bin first
	rising    []float64 // the part of weights from bars that closed no lower than they opened
	total     float64

	poc      int // point of control: the heaviest bin, the lowest of equals
	val, vah int // first and last bin of the value area
}

// byVolume and byTime are the weights of a volume profile and of a time
// profile.
func byVolume(s *market.Series, i int) float64 { return s.Volume[i] }
func byTime(*market.Series, int) float64       { return 1 }

// fill makes p the profile of s, whose value area holds the given share of the
// weight. It reports false, and p is nothing, when the prices have no range or the
// bars no weight.
func (p *profile) fill(s *market.Series, bins int, share float64, weight func(*market.Series, int) float64) bool {
	*p = profile{weights: make([]float64, bins), rising: make([]float64, bins)}
	if s.Len() == 0 {
		return false
	}
	p.low = slices.Min(s.Low)
	p.step = (slices.Max(s.High) - p.low) / float64(bins)
	if p.step <= 0 {
		return false
	}
	for i := range s.Low {
		p.add(s, i, weight(s, i))
	}
	for k, w := range p.weights {
		p.total += w
		if w > p.weights[p.poc]*(1+edgeWidth) { // of equals the lowest
			p.poc = k
		}
	}
	if p.total <= 0 {
		return false
	}
	p.widen(share)
	return true
}

// add spreads weight over the bins of bar i.
func (p *profile) add(s *market.Series, i int, weight float64) {
	low, high := s.Low[i], s.High[i]
	first, last := p.bin(low), p.bin(high)
	for k := first; k <= last; k++ {
		// A bar within one bin gives it everything, also one without range. Else each
		// bin gets the part of the bar's range that lies in it.
		part := weight
		if first < last {
			bottom, top := p.edge(k), p.edge(k+1)
			if k == first {
				bottom = low
			}
			if k == last {
				top = high
			}
			part = weight * (top - bottom) / (high - low)
		}
		p.weights[k] += part
		if s.Close[i] >= s.Open[i] {
			p.rising[k] += part
		}
	}
}

// widen grows the value area from the point of control, always by the heavier
// neighbour and by the lower of equals, until it holds the given share.
func (p *profile) widen(share float64) {
	p.val, p.vah = p.poc, p.poc
	for sum := p.weights[p.poc]; sum < share*p.total*(1-edgeWidth) && p.vah-p.val+1 < len(p.weights); {
		below, above := -1.0, -1.0 // a missing neighbour loses to an empty one
		if p.val > 0 {
			below = p.weights[p.val-1]
		}
		if p.vah < len(p.weights)-1 {
			above = p.weights[p.vah+1]
		}
		if above > below*(1+edgeWidth) {
			p.vah++
			sum += above
		} else {
			p.val--
			sum += below
		}
	}
}

// edgeWidth is the part of a bin's height within which a price counts as lying on
// its lower edge: prices on a grid of ticks often do, but for rounding. Weights that
// differ by no more than that part count as equal, because they are made of such
// distances.
const edgeWidth = 1e-9

// bin returns the bin that holds price. The highest price lies on the upper edge of
// the last bin and belongs to it.
func (p *profile) bin(price float64) int {
	return min(len(p.weights)-1, int((price-p.low)/p.step+edgeWidth))
}

// edge returns the lower edge of bin k.
func (p *profile) edge(k int) float64 { return p.low + float64(float64(k)*p.step) }

// centre returns the price in the middle of bin k.
func (p *profile) centre(k int) float64 { return p.low + float64((float64(k)+0.5)*p.step) }

// levels returns the prices of the point of control and of the upper and lower
// edge of the value area.
func (p *profile) levels() (poc, vah, val float64) {
	return p.centre(p.poc), p.edge(p.vah + 1), p.edge(p.val)
}

// hbarWidth is the share of the chart's width that the heaviest bin takes.
const hbarWidth = 0.30

// hbars draws p, anchored left or right: one bar per bin, or two that adjoin,
// the rising part first, when split.
func (p *profile) hbars(left, split bool) []HBar {
	var out []HBar
	// unit turns a weight into a share of the chart's width.
	unit := hbarWidth / p.weights[p.poc]
	for k, w := range p.weights {
		bar := HBar{Y: p.centre(k), Height: p.step, Width: w * unit, Left: left, Tone: Muted, Strong: k >= p.val && k <= p.vah}
		switch {
		case w == 0:
			continue
		case split:
			up := bar
			up.Width, up.Tone = p.rising[k]*unit, Up
			bar.Width, bar.Offset, bar.Tone = max(0, bar.Width-up.Width), up.Width, Down
			out = append(out, up)
		case k == p.poc:
			bar.Tone = Accent
		}
		out = append(out, bar)
	}
	return out
}

// result draws p with its three levels, and marks the newest bar of s if it comes
// to one of them.
func (p *profile) result(s *market.Series, left, split bool) *Result {
	poc, vah, val := p.levels()
	levels := []HLine{{Y: poc, Label: "POC", Tone: Accent}, {Y: vah, Label: "VAH", Tone: Muted}, {Y: val, Label: "VAL", Tone: Muted}}
	return &Result{HBars: p.hbars(left, split), HLines: levels, Signals: lastTouches(s, levels)}
}

// Parameters of profiles, with their defaults.
func bins(def float64) Param {
	return factorInt("bins", def, 2, 500, "levels the range of prices is cut into")
}
func valueArea() Param {
	return quiet(factor("value_area", 70, 1, 100, "percent of the weight that the value area holds"))
}
func rangeBars() Param {
	return quiet(factorInt("range_bars", 0, 0, market.MaxLimit, "newest bars to use; 0 takes all on display"))
}
func anchored(def string) Param {
	return usually(def, quiet(choice("side", "edge of the chart the bars grow from", "left", "right")))
}

// recent returns the bars that "range_bars" asks for.
func recent(in Input) *market.Series {
	if n := in.Int("range_bars"); n > 0 {
		return in.Tail(n)
	}
	return in.Series
}

// newestTouch is what a touch means where the levels describe the bars as a whole: see
// [lastTouches].
var newestTouch = []Event{emits(LevelTouch).meaning("the newest bar reaches a level that the bar before did not")}

// sessionParams returns the parameters that sessions reads.
func sessionParams() []Param {
	session := choice("session", "length of a session: auto is the day, of daily bars the month, of longer ones the year",
		"auto", "daily", "weekly", "hourly", "monthly", "yearly")
	return []Param{session, quiet(factorInt("bars_per_session", 0, 0, MaxLength, "bars of a session, counted from the first bar; 0 goes by the clock", "session_bars"))}
}

// span is a run of bars, to excluded.
type span struct{ from, to int }

// sessions cuts the bars of s into sessions. With a count every so many bars are a
// session, whatever the clock says; then the first session depends on where the bars
// begin.
func sessions(in Input) []span {
	starts, count := periodStarts(in.Series, sessionPeriod(in.Args, in.Interval)), in.Int("bars_per_session")
	var spans []span
	for i := range starts {
		// The first bar begins a session either way.
		if count > 0 && i%count == 0 || count == 0 && starts[i] {
			spans = append(spans, span{i, i})
		}
		spans[len(spans)-1].to = i + 1
	}
	return spans
}

// sessionPeriod returns the period of a session.
func sessionPeriod(a Args, iv market.Interval) string {
	names := map[string]string{"daily": "day", "weekly": "week", "hourly": "hour", "monthly": "month", "yearly": "year", "auto": "auto"}
	return longPeriod(names[a.Choice("session")], iv)
}

// sessionSeconds returns how long one session is.
func sessionSeconds(a Args, iv market.Interval) int64 {
	if n := a.Int("bars_per_session"); n > 0 {
		return int64(n) * iv.Seconds()
	}
	return periodSeconds[sessionPeriod(a, iv)]
}

// node is a bin that stands out, and by how much.
type node struct {
	bin        int
	prominence float64
}

// nodes returns the bins above, and those below, all others within reach on
// each side, the most prominent first. A bin nearer than reach to the end of
// the profile is compared with those there are. The prominence of both kinds is
// measured from the heaviest neighbour and must be least of the heaviest bin.
func (p *profile) nodes(reach int, least float64) (high, low []node) {
	// A part of the heaviest bin, not of its neighbours: else empty regions would be full of nodes.
	limit := least * p.weights[p.poc]
	for k, w := range p.weights {
		from, to := max(0, k-reach), min(len(p.weights), k+reach+1)
		around := slices.Concat(p.weights[from:k], p.weights[k+1:to])
		heaviest, lightest := slices.Max(around), slices.Min(around)
		switch {
		case w > heaviest && w-heaviest >= limit:
			high = append(high, node{k, w - heaviest})
		case w < lightest && heaviest-w >= limit:
			low = append(low, node{k, heaviest - w})
		}
	}
	for _, nodes := range [][]node{high, low} {
		slices.SortStableFunc(nodes, func(a, b node) int { return cmp.Compare(b.prominence, a.prominence) })
	}
	return high, low
}

// sessionLevel is the point of control of a session.
type sessionLevel struct {
	session int
	price   float64
}

// nakedLevels walks through the sessions and keeps the levels that no bar has
// touched; for each that outlived a session before one touched it, it adds a signal
// to r. It returns those left at the end, oldest first, and the level of the last
// session, NaN if it has none. The profile of a session is made once, and each
// level is compared with every later bar until it is touched or too old.
func nakedLevels(s *market.Series, spans []span, a Args, r *Result) (naked []sessionLevel, current float64) {
	current = nan
	var p profile
	for k, span := range spans {
		for i := span.from; i < span.to; i++ {
			naked = slices.DeleteFunc(naked, func(l sessionLevel) bool {
				old := k-l.session >= a.Int("max_sessions")
				touched := !old && kernel.Compare(s.Low[i], l.price) <= 0 && kernel.Compare(l.price, s.High[i]) <= 0
				if touched && k-l.session > 1 {
					r.Signals = append(r.Signals, Mark(i, l.price, LevelTouch, Accent))
				}
				return old || touched
			})
		}
		current = nan
		if p.fill(s.Slice(span.from, span.to), a.Int("bins"), 0.7, byVolume) {
			current, _, _ = p.levels()
		}
		if k < len(spans)-1 && !math.IsNaN(current) {
			naked = append(naked, sessionLevel{k, current})
		}
	}
	return naked, current
}

// level returns a line at price over the bars from the given one to the last.
func level(n, from int, price float64, label string, tone Tone) Line {
	values := append(kernel.NaNs(from), slices.Repeat([]float64{price}, n-from)...)
	return Line{Label: label, Tone: tone, Style: Step, Values: values}
}
