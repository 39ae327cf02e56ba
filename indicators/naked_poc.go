package indicators

import (
	"fmt"
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indNakedPOC = Indicator{
	Name: "naked_poc", Title: "Naked POC", Aliases: []string{"npoc", "virgin_poc"}, Category: Volume,
	Overlay: true, Repaints: true,
	Doc: "Points of control of past sessions that price has not come back to since: each is drawn from the end of its session on (nPOC, with how many sessions ago), " +
		"the one of the session under way over its own bars (dPOC). A level that is touched is dropped, and the bar that touched it bears a signal, unless the very next session did: then it was never naked. A level of max_sessions sessions ago is dropped too.",
	Formula: "POC of each session as in session_vp; naked while no later bar has low <= POC <= high",
	Params: append(append([]Param{bins(24)}, sessionParams()...),
		Param{Name: "max_sessions", Doc: "sessions a level is watched for, its own included", Kind: Int, Default: 20, Min: 1, Max: 100, Quiet: true},
		toggle("include_current", true, "show the point of control of the session under way")),
	Signals: []string{shape.LevelTouch},
	Meanings: map[string]string{
		shape.LevelTouch: "a bar is the first to reach the level of a session that a whole later session did not reach",
	},
	// Every level that may still be watched needs its whole session.
	History: func(a Args, iv market.Interval) int64 {
		return int64(a.Int("max_sessions")) * sessionSeconds(a, iv)
	},
	Compute: func(s *market.Series, a Args) *Result {
		r := &Result{}
		spans := sessions(s, a)
		naked, current := nakedLevels(s, spans, a, r)
		for _, l := range naked {
			// The label counts back from the session under way, so it changes with
			// every new session.
			label := fmt.Sprintf("nPOC -%d", len(spans)-1-l.session)
			r.Lines = append(r.Lines, level(s.Len(), spans[l.session].to, l.price, label, Muted))
		}
		if a.Bool("include_current") && !math.IsNaN(current) {
			r.Lines = append(r.Lines, level(s.Len(), spans[len(spans)-1].from, current, "dPOC", Accent))
		}
		return r
	},
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
		// First the bars of this session touch older levels, then its own level is
		// found.
		for i := span.from; i < span.to; i++ {
			naked = slices.DeleteFunc(naked, func(l sessionLevel) bool {
				old := k-l.session >= a.Int("max_sessions")
				touched := !old && kernel.Compare(s.Low[i], l.price) <= 0 && kernel.Compare(l.price, s.High[i]) <= 0
				if touched && k-l.session > 1 {
					r.Signals = append(r.Signals, shape.Mark(i, l.price, shape.LevelTouch, Accent))
				}
				return old || touched
			})
		}
		current = nan
		if p.fill(s.Slice(span.from, span.to), a.Int("bins"), 0.7, byVolume) {
			current, _, _ = p.levels()
		}
		// The last session is still under way: its level is told apart.
		if k < len(spans)-1 && !math.IsNaN(current) {
			naked = append(naked, sessionLevel{k, current})
		}
	}
	return naked, current
}

// level returns a line at price over the bars from the given one to the last.
func level(n, from int, price float64, label string, tone Tone) Line {
	values := kernel.NaNs(n)
	for i := from; i < n; i++ {
		values[i] = price
	}
	return Line{Label: label, Tone: tone, Style: Step, Values: values}
}
