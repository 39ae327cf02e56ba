package indicators

import (
	"fmt"

	"wick/market"
)

var indNakedPOC = Indicator{
	Name: "naked_poc", Title: "Naked POC", Aliases: []string{"npoc", "virgin_poc"}, Category: Volume,
	Overlay: true, Repaints: true,
	Doc: "Points of control of past sessions that price has not come back to since: each is drawn from the end of its session on (nPOC, with how many sessions ago), " +
		"the one of the session under way over its own bars (dPOC). A level that is touched is dropped, and the bar that touched it bears a signal.",
	Formula: "POC of each session as in session_vp; naked while no later bar has low <= POC <= high",
	Params: append(append([]Param{bins(24)}, sessionParams()...),
		Param{Name: "max_sessions", Doc: "sessions to look back, the current one included", Kind: Int, Default: 20, Min: 1, Max: 200, Quiet: true},
		toggle("include_current", true, "show the point of control of the session under way")),
	Signals: []string{LevelTouch},
	Warmup:  func(a Args) int { return a.Int("max_sessions") * min(sessionBars(a), 24) },
	Compute: func(s *market.Series, a Args) *Result {
		r := &Result{}
		spans := sessions(s, a)
		spans = spans[max(0, len(spans)-a.Int("max_sessions")):]
		var p profile
		for k, span := range spans {
			if !p.fill(s.Slice(span.from, span.to), a.Int("bins"), 0.7, byVolume) {
				continue
			}
			poc, _, _ := p.levels()
			if k == len(spans)-1 {
				if a.Bool("include_current") {
					r.Lines = append(r.Lines, level(s.Len(), span.from, poc, "dPOC", Accent))
				}
				continue
			}
			if at := touched(s, span.to, poc); at < s.Len() {
				r.Signals = append(r.Signals, Signal{at, poc, LevelTouch, Accent})
				continue
			}
			label := fmt.Sprintf("nPOC -%d", len(spans)-1-k)
			r.Lines = append(r.Lines, level(s.Len(), span.to, poc, label, Muted))
		}
		inOrder(r.Signals)
		return r
	},
}

// touched returns the first bar from the given one on whose range holds price,
// or the number of bars.
func touched(s *market.Series, from int, price float64) int {
	for i := from; i < s.Len(); i++ {
		if s.Low[i] <= price && price <= s.High[i] {
			return i
		}
	}
	return s.Len()
}

// level returns a line at price over the bars from the given one to the last.
func level(n, from int, price float64, label string, tone Tone) Line {
	values := nans(n)
	for i := from; i < n; i++ {
		values[i] = price
	}
	return Line{Label: label, Tone: tone, Style: Step, Values: values}
}
