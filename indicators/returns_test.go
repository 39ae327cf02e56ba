package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/indicators/shape"
)

func TestReturns(t *testing.T) {
	prices := []float64{100, 110, 99, 121, -1, 5}
	s := plainSeries(prices, prices)
	if got, want := compute(t, s, "percent_return", `{}`).Histogram[0].Values, []float64{nan, 10, -10, 100.0 * 22 / 99, 100 * -122.0 / 121, nan}; !same(got, want) {
		t.Errorf("percent_return %v, want %v", got, want)
	}
	want := []float64{nan, nan, math.Log(0.99), math.Log(1.1), nan, math.Log(5.0 / 121)}
	if got := compute(t, s, "log_return", `{"length":2}`).Histogram[0].Values; !same(got, want) {
		t.Errorf("log_return %v, want %v", got, want)
	}
	r := compute(t, s, "drawdown", `{}`)
	if got, want := r.Lines[0].Values, []float64{0, 0, -10, 0, 100 * -122.0 / 121, 100 * -116.0 / 121}; !same(got, want) {
		t.Errorf("drawdown %v, want %v", got, want)
	}
	if want := []Signal{shape.Mark(3, 0, shape.NewHigh, Up)}; !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}
