package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/market"
)

// forever are the entries in which a price of the past stays for good, beside
// running totals, and why.
var forever = map[string]string{
	"drawdown":              "is measured from the highest price ever seen",
	"mcginley":              "follows so slowly from far away that it needs more bars than there are",
	"fibonacci_retracement": "spans the turning points, and the spike is one",
}

// TestSpikeLeavesNoTrace: one bar at 1e12 among prices near 100 changes nothing
// that is computed thousands of bars later, to a part in a billion.
func TestSpikeLeavesNoTrace(t *testing.T) {
	t.Parallel()
	const bars, after = 9000, 8600
	calm := world(bars, 100)
	spiky := like(calm, func(i int, b *market.Bar) {
		if i == bars-after {
			b.Open, b.High, b.Low, b.Close = 1e12, 1e12, 1e12, 1e12
			b.Volume = 1e12
		}
	})
	for ind := range All() {
		if ind.VisibleOnly || slices.Contains(sinceFirstBar, ind.Name) || forever[ind.Name] != "" {
			continue
		}
		if testing.Short() && len(ind.Name)%3 > 0 {
			continue
		}
		request, err := New(ind.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := allSeries(request.Compute(calm).Tail(bars, 500))
		for label, values := range allSeries(request.Compute(spiky).Tail(bars, 500)) {
			var size float64
			for _, v := range want[label] {
				if finite(v) {
					size = max(size, math.Abs(v))
				}
			}
			for i, v := range values {
				if w := want[label][i]; math.IsNaN(v) != math.IsNaN(w) || math.Abs(v-w) > 1e-9*size {
					t.Errorf("%s, %s, %d bars after the spike: %v, without it %v", ind.Name, label, after-500+i, v, w)
					break
				}
			}
		}
	}
}
