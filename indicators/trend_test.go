package indicators

import (
	"slices"
	"testing"

	"wick/indicators/kernel"
	"wick/market"
)

// TestIchimokuByHand: highs 2 4 6 8 10 over lows 1 2 3 4 5, lengths 1, 2 and 3,
// the cloud one bar forward.
func TestIchimokuByHand(t *testing.T) {
	s := &market.Series{}
	for i := range 5 {
		lo := float64(i + 1)
		s.Append(market.Bar{Time: int64(i), Open: lo, High: 2 * lo, Low: lo, Close: 2 * lo, Volume: 1})
	}
	r := compute(t, s, "ichimoku", `{"tenkan":1,"kijun":2,"senkou":3,"displacement":2}`)
	want := map[string][]float64{
		"Conversion": {1.5, 3, 4.5, 6, 7.5},
		"Base":       {nan, 2.5, 4, 5.5, 7},
		"Span A":     {nan, nan, 2.75, 4.25, 5.75},
		"Span B":     {nan, nan, nan, 3.5, 5},

		"Lagging": s.Close,
	}
	if len(r.Lines) != len(want) {
		t.Errorf("%d lines, want %d", len(r.Lines), len(want))
	}
	for _, l := range r.Lines {
		if !same(l.Values, want[l.Label]) {
			t.Errorf("%s: %v, want %v", l.Label, l.Values, want[l.Label])
		}
		if back := map[string]int{"Lagging": 1}[l.Label]; l.Back != back {
			t.Errorf("%s is drawn %d bars back, want %d", l.Label, l.Back, back)
		}
	}
	if chikou := compute(t, s, "chikou", `{"displacement":2}`).Lines[0]; !same(chikou.Values, s.Close) || chikou.Back != 1 {
		t.Errorf("chikou: %v drawn %d bars back, want the closes 1 bar back", chikou.Values, chikou.Back)
	}
}

// TestIchimokuSignals holds the one pass against the plain search for
// crossings in the lines shown. Spans cross where they are computed, which a
// displacement of 1 shows.
func TestIchimokuSignals(t *testing.T) {
	s := world(3000, 100)
	shown, own := compute(t, s, "ichimoku", `{}`), compute(t, s, "ichimoku", `{"displacement":1}`)
	a, b := shown.Lines[2].Values, shown.Lines[3].Values
	want := crossings(shown.Lines[0].Values, shown.Lines[1].Values, CrossUp, CrossDown)
	want = append(want, crossings(own.Lines[2].Values, own.Lines[3].Values, TwistUp, TwistDown)...)
	want = append(want, crossings(s.Close, kernel.Greater(a, b), CloudUp, "")...)
	want = append(want, crossings(s.Close, kernel.Lesser(a, b), "", CloudDown)...)
	if len(want) < 100 {
		t.Fatalf("only %d signals to judge", len(want))
	}
	if !slices.Equal(shown.Signals, inOrder(want)) {
		t.Errorf("%d signals differ from the %d plain ones", len(shown.Signals), len(want))
	}
}
