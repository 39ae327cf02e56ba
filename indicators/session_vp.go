package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indSessionVP = Indicator{
	Name: "session_vp", Title: "Session VP", Aliases: []string{"svp", "session_volume_profile"}, Category: Volume,
	Overlay: true, Repaints: true,
	Doc: "Volume profile of each session: its point of control (POC) and value area (VAH, VAL), drawn over the bars of that session. " +
		"They are those of the whole session, so the lines of the session under way move until it ends. Sessions begin at midnight UTC, weeks on Monday; auto is the day, of daily bars the month, of longer ones the year.",
	Formula:  "one profile as in volume_profile per session",
	Params:   append([]Param{bins(24)}, append(sessionParams(), toggle("show_value_area", true, "show VAH and VAL"), valueArea())...),
	History:  sessionSeconds,
	Signals:  []string{shape.LevelTouch},
	Meanings: newestTouch,
	Compute: func(s *market.Series, a Args) *Result {
		n := s.Len()
		poc, vah, val := kernel.NaNs(n), kernel.NaNs(n), kernel.NaNs(n)
		// One profile for all sessions, whose memory is used again; its levels are
		// copied out at once.
		var p profile
		var begins []int
		for _, span := range sessions(s, a) {
			if !p.fill(s.Slice(span.from, span.to), a.Int("bins"), a.Float("value_area")/100, byVolume) {
				continue
			}
			begins = append(begins, span.from)
			for i := span.from; i < span.to; i++ {
				poc[i], vah[i], val[i] = p.levels()
			}
		}
		r := &Result{Sessions: begins, Lines: []Line{{Label: "POC", Tone: Accent, Style: Step, Values: poc}}}
		if a.Bool("show_value_area") {
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
		r.Signals = shape.LastTouches(s.High, s.Low, levels)
		return r
	},
}

// sessionParams returns the parameters that sessions reads.
func sessionParams() []Param {
	session := choice("session", "length of a session: auto is the day, of daily bars the month, of longer ones the year",
		"auto", "daily", "weekly", "hourly", "monthly", "yearly")
	return []Param{session, {Name: "bars_per_session", Aliases: []string{"session_bars"},
		Doc: "bars of a session, counted from the first bar; 0 goes by the clock", Kind: Int, Min: 0, Max: MaxLength, Quiet: true}}
}

// span is a run of bars, to excluded.
type span struct{ from, to int }

// sessions cuts the bars of s into sessions. With a count every so many bars are a
// session, whatever the clock says; then the first session depends on where the bars
// begin.
func sessions(s *market.Series, a Args) []span {
	starts, count := periodStarts(s, sessionPeriod(a, s.Interval)), a.Int("bars_per_session")
	var spans []span
	for i := range starts {
		// The first bar begins a session either way: 0 is a multiple of any count, and
		// the first bar starts a period.
		if count > 0 && i%count == 0 || count == 0 && starts[i] {
			spans = append(spans, span{i, i})
		}
		spans[len(spans)-1].to = i + 1
	}
	return spans
}

// sessionPeriod returns the period of a session. By default a session holds
// several bars: one of a single daily bar would have no profile to speak of.
func sessionPeriod(a Args, iv market.Interval) string {
	if choice := a.Choice("session"); choice != "auto" {
		return map[string]string{"daily": "day", "weekly": "week", "hourly": "hour", "monthly": "month", "yearly": "year"}[choice]
	}
	return longPeriod(iv)
}

// sessionSeconds returns how long one session is.
func sessionSeconds(a Args, iv market.Interval) int64 {
	if n := a.Int("bars_per_session"); n > 0 {
		return int64(n) * iv.Seconds()
	}
	return periodSeconds[sessionPeriod(a, iv)]
}
