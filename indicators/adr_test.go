package indicators

import "testing"

func TestADR(t *testing.T) {
	s := plainSeries([]float64{5, 7, 9}, []float64{4, 4, 4})
	if got, want := compute(t, s, "adr", `{"length":2}`).Lines[0].Values, []float64{nan, 2, 4}; !same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
