package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule, for supply; demand mirrored. A bar whose body falls by at least
// impulse times the mean true range of the 14 bars before it leaves a base: the
// bars directly before it, at most base of them, whose range is at most that
// mean. There must be one. The zone is the range of the base. A bar that comes
// back to it touches it, a close above it ends it.
//
// The words are those of Sam Seiden's rally, base and drop; the thresholds are
// ours, since he gives none.
var indSupplyDemand = Indicator{
	Name: "supply_demand", Title: "Supply/demand", Aliases: []string{"supply_demand_zones", "supply_and_demand"}, Category: Pattern, Overlay: true,
	Doc:     "Supply and demand zones: the quiet bars that price left by one large bar. The zones are those of the newest base on each side that no close has gone through; zone_touch fires when price first comes back. Nothing repaints.",
	Formula: "supply: open - close >= impulse * mean true range of the 14 bars before; zone: range of up to base quiet bars before it; ends: close > its high",
	Params: []Param{
		factor("impulse", 1.5, 0.1, 20, "body of the bar that leaves, in mean true ranges"),
		{Name: "base", Doc: "most bars of a base", Kind: Int, Default: 4, Min: 1, Max: 50},
		quiet(bars("lookback", 200, "bars after which a zone is forgotten", "max_age")),
	},
	Signals: []string{shape.SupplyZone, shape.DemandZone, shape.ZoneTouch},
	Warmup:  func(a Args) int { return a.Int("lookback") + a.Int("base") + usualRange + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		return bothSides(s, func(s *market.Series, side int) *Result {
			return supplyZones(s, a, side)
		})
	},
}

// supplyZones draws the newest zone that large falling bars left. The threshold is
// the mean of the bars before: a large bar must not raise what it is measured by.
func supplyZones(s *market.Series, a Args, side int) *Result {
	tone := [2]Tone{Down, Up}[side]
	edges, usual := newZoneEdges(s.Len()), trueRangeMean(s)
	var zones []priceZone
	var signals []Signal
	for i := range s.Len() {
		// Old and broken zones go, the rest may be touched, and then this bar may leave
		// a base of its own.
		zones = slices.DeleteFunc(zones, func(z priceZone) bool {
			return i-z.known > a.Int("lookback") || kernel.Compare(s.Close[i], z.high) > 0
		})
		for k, z := range zones {
			if !z.touched && kernel.Compare(s.High[i], z.low) >= 0 {
				zones[k].touched = true
				signals = append(signals, shape.Mark(i, z.low, shape.ZoneTouch, Muted))
			}
		}
		if i > 0 && usual[i-1] > 0 && kernel.Compare(s.Open[i]-s.Close[i], a.Float("impulse")*usual[i-1]) >= 0 {
			if z, ok := baseBefore(s, i, a.Int("base"), usual[i-1]); ok {
				zones = append(zones, z)
				signals = append(signals, shape.Mark(i, z.low, [2]string{shape.SupplyZone, shape.DemandZone}[side], tone))
			}
		}
		edges.show(i, zones)
	}
	r := edges.result([2]string{"Supply", "Demand"}[side], tone, side)
	r.Signals = signals
	return r
}

// baseBefore returns the range of the quiet bars directly before bar i.
func baseBefore(s *market.Series, i, most int, quiet float64) (z priceZone, ok bool) {
	// Backwards from the bar before i, as long as bars are quiet. A close that is still
	// within the base has not left it.
	z = priceZone{known: i}
	for k := i - 1; k >= max(0, i-most) && kernel.Compare(s.High[k]-s.Low[k], quiet) <= 0; k-- {
		if !ok {
			z.low, z.high, ok = s.Low[k], s.High[k], true
		}
		z.low, z.high, z.bar = min(z.low, s.Low[k]), max(z.high, s.High[k]), k
	}
	return z, ok && kernel.Compare(s.Close[i], z.low) < 0
}
