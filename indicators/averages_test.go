package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/indicators/kernel"
)

// TestMACross: averages of one and two, by hand.
func TestMACross(t *testing.T) {
	prices := []float64{4, 2, 4, 1}
	r := compute(t, plainSeries(prices, prices), "ma_cross", `{"fast":1,"slow":2}`)
	if want := []float64{nan, 3, 3, 2.5}; !same(r.Lines[1].Values, want) {
		t.Errorf("slow %v, want %v", r.Lines[1].Values, want)
	}
	if want := []Signal{Mark(2, 4, CrossUp, Up), Mark(3, 1, CrossDown, Down)}; !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
	falling := []float64{4, 3, 2, 1} // averages at the end 1, 1.5, 2, 2.5
	ribbon := compute(t, plainSeries(falling, falling), "ma_ribbon", `{"length1":1,"length2":2,"length3":3,"length4":4}`)
	if want := []Signal{Mark(3, 1, StackDown, Down)}; !slices.Equal(ribbon.Signals, want) {
		t.Errorf("ribbon: %v, want %v", ribbon.Signals, want)
	}
}

// TestFRAMA follows Ehlers' formula with a look at every bar of both halves.
func TestFRAMA(t *testing.T) {
	s := walk(200, 17)
	want := kernel.NaNs(200)
	span := func(from, to int) float64 { return slices.Max(s.High[from:to]) - slices.Min(s.Low[from:to]) }
	for i := 15; i < 200; i++ {
		x := (s.High[i] + s.Low[i]) / 2
		if i == 15 {
			want[i] = x
			continue
		}
		n1, n2, n3 := span(i-7, i+1)/8, span(i-15, i-7)/8, span(i-15, i+1)/16
		dimension := (math.Log(n1+n2) - math.Log(n3)) / math.Log(2)
		weight := math.Min(1, math.Max(0.01, math.Exp(-4.6*(dimension-1))))
		want[i] = weight*x + (1-weight)*want[i-1]
	}
	if got := compute(t, s, "frama", `{}`).Lines[0].Values; !same(got, want) {
		t.Errorf("got %v, want %v", got[15:25], want[15:25])
	}
}

// TestSuperSmoother: a constant stays, a step is reached after some lengths,
// and a cycle of two bars, far shorter than the length, all but vanishes.
func TestSuperSmoother(t *testing.T) {
	x := make([]float64, 200)
	for i := range x {
		x[i] = 10
		if i >= 50 {
			x[i] = 20
		}
		if i >= 120 {
			x[i] += 5 * float64(1-2*(i%2))
		}
	}
	y := first(t, closes(x...), "super_smoother", `{"length":10}`)
	if kernel.FirstValid(y) != 9 || math.Abs(y[49]-10) > 1e-12 || math.Abs(y[119]-20) > 1e-9 || math.Abs(y[199]-20) > 1e-9 {
		t.Errorf("first value at %d; before the step %v, after it %v, in the cycle %v, want 9, 10, 20, 20", kernel.FirstValid(y), y[49], y[119], y[199])
	}
	// By hand for n = 10: a = e^-0.44429 = 0.641280, c2 = 1.158045, c3 = -0.411240, c1 = 0.253195.
	if y := first(t, closes(0, 0, 1, 1), "super_smoother", `{"length":2}`); !math.IsNaN(y[0]) || y[1] != 0 {
		t.Errorf("begins with %v, want none and 0", y[:2])
	}
	step := first(t, closes(append(make([]float64, 12), 1, 1)...), "super_smoother", `{"length":10}`)
	if math.Abs(step[12]-0.126597) > 1e-6 || math.Abs(step[13]-0.399800) > 1e-6 {
		t.Errorf("answer to a step %v, want 0.126597, 0.399800", step[12:])
	}
}
