package indicators

import (
	"slices"
	"testing"

	"wick/indicators/shape"
)

// TestMACross: averages of one and two, by hand.
func TestMACross(t *testing.T) {
	prices := []float64{4, 2, 4, 1}
	r := compute(t, plainSeries(prices, prices), "ma_cross", `{"fast":1,"slow":2}`)
	if want := []float64{nan, 3, 3, 2.5}; !same(r.Lines[1].Values, want) {
		t.Errorf("slow %v, want %v", r.Lines[1].Values, want)
	}
	if want := []Signal{shape.Mark(2, 4, shape.CrossUp, Up), shape.Mark(3, 1, shape.CrossDown, Down)}; !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
	falling := []float64{4, 3, 2, 1} // averages at the end 1, 1.5, 2, 2.5
	ribbon := compute(t, plainSeries(falling, falling), "ma_ribbon", `{"length1":1,"length2":2,"length3":3,"length4":4}`)
	if want := []Signal{shape.Mark(3, 1, shape.StackDown, Down)}; !slices.Equal(ribbon.Signals, want) {
		t.Errorf("ribbon: %v, want %v", ribbon.Signals, want)
	}
}
