package indicators

import (
	"math"
	"slices"
	"strings"
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

// TestSwappedLengths: an entry that takes the shorter of two lengths for the fast one,
// whichever it was given as, says so, because its label shows them as given. TA-Lib swaps
// them in MACD, MACDEXT, APO and PPO, and sorts the three of ULTOSC.
func TestSwappedLengths(t *testing.T) {
	s := walk(400, 13)
	var swapped []string
	for ind := range All() {
		low, high := ind.param("fast"), ind.param("slow")
		if low < 0 || high < 0 || ind.Params[low].Kind != Int || ind.Params[high].Kind != Int || ind.Name == "coppock" {
			continue // coppock adds the two: their order means nothing
		}
		as := func(fast, slow string) *Result {
			return compute(t, s, ind.Name, `{"`+ind.Params[low].Name+`":`+fast+`,"`+ind.Params[high].Name+`":`+slow+`}`)
		}
		given, other := as("7", "19"), as("19", "7")
		equal := true
		for i, l := range given.Lines {
			equal = equal && slices.EqualFunc(l.Values, other.Lines[i].Values, warm)
		}
		for i, h := range given.Histogram {
			equal = equal && slices.EqualFunc(h.Values, other.Histogram[i].Values, warm)
		}
		says := strings.Contains(ind.Doc, "whichever was given as that") || strings.Contains(ind.Doc, "in whichever order")
		if says != equal {
			t.Errorf("%s: swapped lengths give the same: %v; its description says so: %v", ind.Name, equal, says)
		}
		if equal {
			swapped = append(swapped, ind.Name)
		}
	}
	slices.Sort(swapped)
	if want := []string{"apo", "macd", "macdext", "ppo", "ultosc"}; !slices.Equal(swapped, want) {
		t.Errorf("the lengths of %v can be swapped, want those of %v", swapped, want)
	}
}
