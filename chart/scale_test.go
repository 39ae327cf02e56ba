package chart

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// parseLabel reads an axis label back.
func parseLabel(t *testing.T, s string) float64 {
	t.Helper()
	unit := 1.0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.Letter); ok {
			s, unit = rest, u.Size
			break
		}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(strings.ReplaceAll(s, ",", ""), "−", "-"), 64)
	if err != nil {
		t.Fatalf("label %q does not parse: %v", s, err)
	}
	return v * unit
}

// TestRoundTicks draws ranges of every size and place and holds the ticks to
// what a reader expects: round, few, within, and labelled with what they are.
func TestRoundTicks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		lo := (r.Float64() - 0.3) * math.Pow(10, r.Float64()*24-12)
		size := math.Abs(lo)*math.Pow(10, r.Float64()*4-4) + 1e-12
		hi := lo + size
		height := 40 + r.Float64()*3000
		font := 13.0
		ts := roundTicks(lo, hi, tickRoom{height: height, apart: 28, font: font, decimals: r.IntN(12)})
		n := ts.last - ts.first + 1
		if n > 20 || n < 1 && height > 60 {
			t.Fatalf("roundTicks(%g, %g, %g): %d ticks", lo, hi, height, n)
		}
		if n < 5 && height > 5*1.6*font*2.5 {
			t.Errorf("roundTicks(%g, %g, %g): only %d ticks", lo, hi, height, n)
		}
		if m := ts.mantissa; m != 1 && m != 2 && m != 5 && m != 25 {
			t.Fatalf("step %d", m)
		}
		for _, short := range []bool{false, true} {
			f := axisLabels(max(math.Abs(lo), math.Abs(hi)), ts.exponent, short, false)
			seen := ""
			for k := ts.first; k <= ts.last; k++ {
				v := ts.at(k)
				step := ts.at(1)
				if v < lo-step*1e-6 || v > hi+step*1e-6 {
					t.Errorf("tick %g outside %g to %g", v, lo, hi)
				}
				text := f(v)
				if text == seen {
					t.Errorf("label %q twice in %g to %g", text, lo, hi)
				}
				seen = text
				if got := parseLabel(t, text); math.Abs(got-v) > step/2 {
					t.Errorf("label %q of %g (step %g)", text, v, step)
				}
			}
		}
	}
}

// Tick values are k times the step, never sums: 0.3 is 0.3.
func TestTicksDoNotAccumulate(t *testing.T) {
	ts := ticks{mantissa: 1, exponent: -1, first: 0, last: 10}
	for k, want := range []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1} {
		if got := ts.at(int64(k)); got != want {
			t.Errorf("tick %d is %v, want %v", k, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	bars := span{100, 200}
	// An overlay widens the range by at most half of it on either side.
	for _, c := range []struct{ over, want span }{
		{span{90, 210}, span{90, 210}},
		{span{0, 1000}, span{50, 250}},
		{span{150, 160}, span{100, 200}},
		{noSpan, span{100, 200}},
	} {
		if got := bars.join(c.over, overlayRoom); got != c.want {
			t.Errorf("join(%v) = %v, want %v", c.over, got, c.want)
		}
	}
	// A flat price opens by half a percent, or by five units of its last digit.
	if s := (span{200, 200}).fit(0, 100, 0.01); s.lo != 199 || s.hi != 201 {
		t.Errorf("flat 200: %v to %v, want 199 to 201", s.lo, s.hi)
	}
	if s := (span{0.01, 0.01}).fit(0, 100, 0.01); math.Abs(s.hi-0.06) > 1e-12 {
		t.Errorf("flat 0.01: up to %v, want 0.06", s.hi)
	}
	if s := (span{0, 0}).fit(0, 100, 0.01); !s.zero {
		t.Error("flat 0 is not known as such")
	}
	// A price of a hundred thousandth keeps its range: no least span.
	if s := (span{1e-9, 3e-9}).fit(0, 100, 0); s.lo != 1e-9 || s.hi != 3e-9 {
		t.Errorf("tiny range became %v to %v", s.lo, s.hi)
	}
}

func TestScaleLeavesThePanel(t *testing.T) {
	s := span{0, 100}.fit(50, 150, 0)
	for _, c := range []struct{ v, want float64 }{{100, 50}, {0, 150}, {50, 100}, {200, -50}, {-100, 250}} {
		if got := s.y(c.v); got != c.want {
			t.Errorf("y(%v) = %v, want %v", c.v, got, c.want)
		}
	}
	for _, v := range []float64{1e299, -1e299} {
		if y := s.y(v); math.Abs(y) > far {
			t.Errorf("y(%v) = %v is beyond reach", v, y)
		}
	}
}
