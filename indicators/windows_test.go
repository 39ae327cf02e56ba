package indicators

import (
	"fmt"
	"math"
	"testing"
)

// TestPlainWindows holds what single indicators compute over a window against
// the formula applied to each window on its own.
func TestPlainWindows(t *testing.T) {
	s := walk(700, 3)
	for name, plain := range map[string]func([]float64) float64{
		"alma": func(w []float64) float64 { return plainALMA(w, 0.85, 6) }, "ulcer_index": plainUlcer, "cog": plainGravity,
	} {
		for _, n := range []int{1, 2, 3, 14, 150} {
			params := fmt.Sprintf(`{"length":%d}`, n)
			if name == "ulcer_index" {
				params = fmt.Sprintf(`{"length":%d,"variant":"window"}`, n)
			}
			if want := eachWindow(s.Close, n, plain); (n > 1 || name != "cog") && !same(first(t, s, name, params), want) {
				t.Errorf("%s(%d) differs from the formula", name, n)
			}
		}
	}
}

func plainALMA(w []float64, offset, sigma float64) float64 {
	var sum, weights float64
	for j, v := range w {
		d := float64(j) - offset*float64(len(w)-1)
		s := float64(len(w)) / sigma
		weight := math.Exp(-d * d / (2 * s * s))
		sum += weight * v
		weights += weight
	}
	return sum / weights
}

func plainUlcer(w []float64) float64 {
	var sum float64
	top := w[0]
	for _, v := range w {
		top = max(top, v)
		fall := 100 * (v - top) / top
		sum += fall * fall
	}
	return math.Sqrt(sum / float64(len(w)))
}

func plainGravity(w []float64) float64 {
	var weighted, sum float64
	for i, v := range w {
		weighted += float64(len(w)-i) * v
		sum += v
	}
	return -weighted / sum
}
