package indicators

import (
	"slices"

	"wick/indicators/shape"
)

// zones are the pairs of parameters that bound an oversold and an overbought
// zone.
var zones = [][2]string{{"oversold", "overbought"}, {"wt_oversold", "wt_overbought"}}

// zoneOf returns the names of the parameters that bound the zones of ind, and
// false if it has none.
func (ind *Indicator) zoneOf() (pair [2]string, ok bool) {
	for _, pair := range zones {
		if ind.index(pair[0]) >= 0 && ind.index(pair[1]) >= 0 {
			return pair, true
		}
	}
	return pair, false
}

// withZoneSignals adds to the records with zones the two signals that
// addZoneEntries gives them all.
func withZoneSignals(list []*Indicator) []*Indicator {
	for _, ind := range list {
		if _, ok := ind.zoneOf(); ok {
			ind.Signals = slices.Concat(ind.Signals, []string{shape.EntersOversold, shape.EntersOverbought})
		}
	}
	return list
}

// addZoneEntries marks where the line enters the zones of its indicator. The
// entries themselves mark where it leaves them.
func addZoneEntries(r *Result, a Args) {
	pair, ok := a.ind.zoneOf()
	if !ok || len(r.Lines) == 0 || a.linesOnly {
		return
	}
	line := r.Lines[0]
	for _, l := range r.Lines {
		if l.Label == a.ind.ZoneLine {
			line = l
		}
	}
	r.Signals = shape.InOrder(shape.ZoneEntries(r.Signals, line.Values, a.Float(pair[0]), a.Float(pair[1])))
}
