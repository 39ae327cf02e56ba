package indicators

import (
	"math"
	"slices"
	"testing"
)

// TestReading: who reads the newest bars alone gets there what the whole history
// gives. Signals and divergences are the same; values may differ by what an average
// has not forgotten of its start.
func TestReading(t *testing.T) {
	s := walk(3000, 11)
	for _, c := range []struct{ name, params string }{
		{"ema_stack", "{}"},
		{"ema_stack", `{"length1":200,"length2":3,"length3":50,"length4":2}`},
		{"ma_ribbon", "{}"},
		{"ma_ribbon", `{"ma_type":"kama"}`},
		{"ma_ribbon", `{"ma_type":"hma"}`},
		{"rsi", `{"divergence":"all"}`},
		{"macd", `{"divergence":"all","pivot_left":2,"pivot_right":9,"div_range":20}`},
		{"obv", `{"divergence":"hidden","div_range":300}`},
		{"ema", `{"source":"rsi","length":5}`},
	} {
		r, err := New(c.name, raw(c.params))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 7, 200, 2999, 3000, 4000} {
			whole, part := r.Compute(s).Tail(s.Len(), n), r.Reading(n).Compute(s).Tail(s.Len(), n)
			if !equalMarks(whole.Signals, part.Signals) || !slices.Equal(whole.DivLines, part.DivLines) {
				t.Errorf("%s%s read for %d bars has %d signals and %d divergences, the whole has %d and %d", c.name, c.params, n,
					len(part.Signals), len(part.DivLines), len(whole.Signals), len(whole.DivLines))
			}
			for i, l := range whole.Lines {
				if !slices.EqualFunc(l.Values, part.Lines[i].Values, warm) {
					t.Errorf("%s%s read for %d bars has another line %s", c.name, c.params, n, l.Label)
				}
			}
		}
	}
}

// equalMarks reports whether the same events stand on the same bars.
func equalMarks(a, b []Signal) bool {
	return slices.EqualFunc(a, b, func(a, b Signal) bool {
		return a.Bar == b.Bar && a.Label == b.Label && a.Tone == b.Tone && a.Silent == b.Silent && warm(a.Y, b.Y)
	})
}

// warm reports whether two values differ by no more than the part in a million
// up to which a value counts as warm.
func warm(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-6*math.Abs(a)
}

// TestStackOfAnyLengths: the fastest average on top is a rising order, whichever
// parameter it is.
func TestStackOfAnyLengths(t *testing.T) {
	s := walk(800, 12)
	for _, name := range []string{"ema_stack", "ma_ribbon"} {
		want := compute(t, s, name, `{"length1":8,"length2":21,"length3":50,"length4":100}`).Signals
		if len(want) < 10 {
			t.Fatalf("%s: %d signals", name, len(want))
		}
		for _, lengths := range []string{`{"length1":100,"length2":50,"length3":21,"length4":8}`, `{"length1":21,"length2":100,"length3":8,"length4":50}`} {
			if got := compute(t, s, name, lengths).Signals; !equalMarks(got, want) {
				t.Errorf("%s %s: %d signals, in order of length %d", name, lengths, len(got), len(want))
			}
		}
	}
}
