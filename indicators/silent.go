package indicators

import "wick/indicators/shape"

// Silent returns which parameter keeps r from ever emitting one of its signals, and the
// value that it needs, such as "divergence to all"; "" if none does.
func (r Request) Silent(label string) (set string) {
	switch {
	case label == shape.EntersOversold || label == shape.EntersOverbought:
		return r.emptyZone(label)
	case r.Ind.Silent != nil:
		return r.Ind.Silent(r.Args, label)
	}
	hidden := label == shape.HiddenBullDiv || label == shape.HiddenBearDiv
	if r.Ind.index("divergence") < 0 || !hidden && label != shape.BullDiv && label != shape.BearDiv {
		return ""
	}
	if show := r.Args.Choice("divergence"); show == "all" || show == "hidden" && hidden || show == "regular" && !hidden {
		return ""
	}
	return "divergence to all"
}

// emptyZone returns what Silent does for the entry into a zone, which is empty if it begins
// where the line ends.
func (r Request) emptyZone(label string) string {
	pair, zoned := r.Ind.zoneOf()
	lo, hi, bounded := r.Bounds("")
	switch {
	case !zoned || !bounded:
	case label == shape.EntersOversold && r.Args.Float(pair[0]) <= lo:
		return pair[0] + " to more than " + number(lo)
	case label == shape.EntersOverbought && r.Args.Float(pair[1]) >= hi:
		return pair[1] + " to less than " + number(hi)
	}
	return ""
}
