package indicators

import "testing"

// TestRMI: over one bar it is RSI, which vectors judge; over five it is worked
// out by hand for rises and falls of one size.
func TestRMI(t *testing.T) {
	s := walk(100, 19)
	if got, want := compute(t, s, "rmi", `{"momentum":1}`).Lines[0].Values, compute(t, s, "rsi", `{}`).Lines[0].Values; !same(got, want) {
		t.Errorf("over one bar: %v, want RSI %v", got[14:20], want[14:20])
	}
	// Changes over two bars: 2, 2, -1, 1; averages of two: (2, 0), (1, 0.5),
	// and after 1 more: (1, 0.25).
	prices := []float64{1, 2, 3, 4, 2, 5}
	if got, want := relativeMomentum(prices, 2, 2), []float64{nan, nan, nan, 100, 100 * 1 / 1.5, 100 * 1 / 1.25}; !same(got, want) {
		t.Errorf("over two bars: %v, want %v", got, want)
	}
}

// TestRVI works with windows of two, whose deviation is half the change, and
// an average of one, which is the value itself.
func TestRVI(t *testing.T) {
	prices := []float64{1, 3, 2, 2, 4}
	got := compute(t, plainSeries(prices, prices), "rvi", `{"length":2,"smooth":1}`).Lines[0].Values
	if want := []float64{nan, 100, 0, 0, 100}; !same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// An average of two: deviations 1, 0.5, 0, 1, up in the first and last.
	// The mean of the first two, then two thirds of the way to the next.
	got = compute(t, plainSeries(prices, prices), "rvi", `{"length":2,"smooth":2}`).Lines[0].Values
	up, down := 0.5, 0.25
	want := []float64{nan, nan, 100 * up / (up + down), 0, 0}
	up, down = up/3, down/3
	want[3] = 100 * up / (up + down)
	up, down = up/3+2.0/3, down/3
	want[4] = 100 * up / (up + down)
	if !same(got, want) {
		t.Errorf("smoothed: got %v, want %v", got, want)
	}
}
