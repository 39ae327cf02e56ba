package indicators

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wick/market"
)

// marks writes signals as "bar label", divided by blanks.
func marks(signals []Signal) string {
	var parts []string
	for _, s := range signals {
		parts = append(parts, fmt.Sprint(s.Bar, " ", s.Label))
	}
	return strings.Join(parts, ", ")
}

// loud returns the signals that are drawn.
func loud(signals []Signal) []Signal {
	return slices.DeleteFunc(slices.Clone(signals), func(s Signal) bool { return s.Silent })
}

// closes returns bars that close at x and touch nothing else.
func closes(x ...float64) *market.Series {
	s := &market.Series{}
	for i, v := range x {
		s.Append(market.Bar{Time: int64(i), Open: v, High: v, Low: v, Close: v, Volume: 1})
	}
	return s
}

// TestMarks checks by eye where the helpers put their signals.
func TestMarks(t *testing.T) {
	all := func(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }
	tests := []struct {
		name string
		got  []Signal
		want string
	}{
		{"a level stretch keeps its direction", turnings(nan, 1, 2, 2, 3, 2, 2, 1, 4), "5 turn_down, 8 turn_up"},
		{"the first direction is no turn", turnings(3, 2, 1), ""},
		{"a bulge must rise above 27", bulges([]float64{nan, 26.8, 26.4, 27.5, 26.8, 26.4, 26, 28, 26.4}, 26.5, 27), "5 reversal_bulge, 8 reversal_bulge"},
		{"the narrowest of four", narrowest([]float64{5, 4, 3, 6, 2, 1, 7, 0.5}, 4), "4 squeeze_on, 7 squeeze_on"},
		{"a spike fires once", spikesOver([]float64{1, 1, 9, 9, 1, 9}, all(3, 6)), "2 spike, 5 spike"},
		{"a flip needs a side before", compute(t, closes(10, 11, 12, 9, 8, 10.5), "volatility_stop", `{"length":1,"mult":0.5}`).Signals, "3 flip_down, 5 flip_up"},
		{"stops between 5 and 10", stopBreaks(closes(7, 11, 7, 4, 7, 11), all(5, 6), all(10, 6)), "3 flip_down, 5 flip_up"},
		{"stops that changed places turn nothing", stopBreaks(closes(7, 8, 7, 11, 7, 8), all(10, 6), all(5, 6)), ""},
		{"beyond the levels crosses say so",
			zonedCrossings([]float64{-70, -50, 60, 50, 0, 9, 0}, []float64{-60, -60, 55, 56, 5, 5, 5}, -53, 53),
			"1 cross_up_os, 3 cross_down_ob, 5 cross_up, 6 cross_down"},
		{"the mouth closes and opens", gatorSignals([]float64{nan, 3, 2, 1, 2, 3}, []float64{nan, -3, -2, -1, -2, -3}), "4 squeeze_off"},
		{"bears tire while the average rises",
			elderSignals([]float64{1, 2, 3, 4, 3, 2}, []float64{5, 5, 5, 6, 5, 4}, []float64{-1, -2, -3, -2, -1, -1}),
			"3 buy, 4 sell"},
		{"touches are new each time", touches(closes(5, 10, 11, 5, 10, 1), all(10, 6), all(2, 6)), "1 touch_upper, 4 touch_upper, 5 touch_lower"},
		{"fractals wait for their neighbours", compute(t, closes(1, 2, 5, 3, 2, 1, 3, 4), "fractals", `{}`).Signals, "4 pivot_high, 7 pivot_low"},
		{"a group crosses as a whole", groupCrossings(
			[]Line{{Values: Values{1, 3, 4, 1}}, {Values: Values{1, 2, 5, 2}}},
			[]Line{{Values: Values{2, 2.5, 3, 4}}, {Values: Values{2, 2, 3.5, 3}}}), "2 cross_up, 3 cross_down"},
	}
	for _, test := range tests {
		if got := marks(test.got); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// turnings returns the turns of a line.
func turnings(x ...float64) []Signal { return marked(x, TurnUp, TurnDown, bends(x, noSize)) }

// TestSqueezeDots: every warm bar has one dot, and a change has its signal.
func TestSqueezeDots(t *testing.T) {
	s := world(2000, 100)
	r := compute(t, s, "squeeze", `{}`)
	on, off := r.Lines[0].Values, r.Lines[1].Values
	var want []string
	for i := 19; i < s.Len(); i++ {
		if (on[i] == 0) == (off[i] == 0) {
			t.Fatalf("bar %d: dots %v and %v, want one", i, on[i], off[i])
		}
		switch {
		case i == 19:
		case on[i] == 0 && off[i-1] == 0:
			want = append(want, fmt.Sprint(i, " ", SqueezeOn))
		case off[i] == 0 && on[i-1] == 0:
			want = append(want, fmt.Sprint(i, " ", SqueezeOff))
		}
	}
	got := slices.DeleteFunc(slices.Clone(r.Signals), func(s Signal) bool { return s.Label == ZeroUp || s.Label == ZeroDown })
	if len(want) == 0 || marks(got) != strings.Join(want, ", ") {
		t.Errorf("got %s, want %s", marks(got), strings.Join(want, ", "))
	}
}
