package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/indicators/kernel"
	"wick/market"
)

func TestVolumeIndicators(t *testing.T) {
	s := walk(6, 1)
	s.Volume = []float64{10, 20, 30, 100, 5, 0}
	s.Open = []float64{1, 1, 1, 2, 1, 1}
	s.Close = []float64{1, 2, 2, 1, 1, 2}
	r := compute(t, s, "volume", `{"length":2,"spike":1.5}`)
	if want := []float64{nan, 15, 25, 65, 52.5, 2.5}; !same(r.Lines[0].Values, want) {
		t.Errorf("average %v, want %v", r.Lines[0].Values, want)
	}
	if want := []Signal{Mark(3, 100, Spike, Down)}; !slices.Equal(r.Signals, want) { // 100 >= 97.5, on a falling bar
		t.Errorf("spikes %v, want %v", r.Signals, want)
	}
	if got, want := compute(t, s, "rvol", `{"length":2}`).Lines[0].Values, []float64{nan, nan, 2, 4, 5.0 / 65, 0}; !same(got, want) {
		t.Errorf("relative volume %v, want %v", got, want)
	}
	if got, want := compute(t, s, "net_volume", `{}`).Histogram[0].Values, []float64{nan, 20, 0, -100, 0, 0}; !same(got, want) {
		t.Errorf("net volume %v, want %v", got, want)
	}
}

// TestNoVolumeAtTheStart: a bar without volume among the first, where the line is not known
// yet, does not end it for ever.
func TestNoVolumeAtTheStart(t *testing.T) {
	for call, first := range map[string]int{"vfi(1, 0.2, 2.5, 3, 5)": 32, "pvo(12, 1, 9)": 11} {
		s := like(world(200, 100), func(i int, b *market.Bar) {
			if b.Volume = 1000 + float64(i); i == 2 {
				b.Volume = 0
			}
		})
		line := formulaOf(t, s, call)
		if at := slices.IndexFunc(line, func(v float64) bool { return v == v }); at != first || math.IsNaN(line[199]) {
			t.Errorf("%s begins on bar %d with %v and ends with %v; want bar %d, and a value at the end", call, at, line[max(at, 0)], line[199], first)
		}
	}
}

func TestCVD(t *testing.T) {
	s := &market.Series{}
	s.Append(market.Bar{Time: 0, Open: 10, High: 12, Low: 8, Close: 12, Volume: 100}) // closed at its high: all bought
	s.Append(market.Bar{Time: 1, Open: 12, High: 12, Low: 8, Close: 9, Volume: 200})  // a quarter up: half of it more sold
	s.Append(market.Bar{Time: 2, Open: 9, High: 9, Low: 9, Close: 9, Volume: 50})     // no range
	s.Append(market.Bar{Time: 3, Open: 9, High: 9, Low: 5, Close: 5, Volume: 10})     // at its low: all sold
	r := compute(t, s, "cvd", `{}`)
	if want := []float64{100, 0, 0, -10}; !slices.Equal(r.Lines[0].Values, want) {
		t.Errorf("CVD %v, want %v", r.Lines[0].Values, want)
	}
	if want := []Signal{Mark(3, -10, ZeroDown, Down)}; !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}

// TestKalmanVolume works the filter out from its formula, every window by
// itself.
func TestKalmanVolume(t *testing.T) {
	const n, window = 12, 200
	s := walk(400, 13)
	signed := kernel.NaNs(400)
	for i := 2; i < 400; i++ {
		signed[i] = -s.Volume[i]
		if s.Close[i] > s.Close[i-2] {
			signed[i] = s.Volume[i]
		}
	}
	weighted := func(w []float64) float64 {
		var sum, weights float64
		for k, v := range w {
			sum, weights = sum+float64(k+1)*v, weights+float64(k+1)
		}
		return sum / weights
	}
	plainHull := func(x []float64) []float64 {
		fast, slow := eachWindow(x, n/2, weighted), eachWindow(x, n, weighted)
		for i := range fast {
			fast[i] = 2*fast[i] - slow[i]
		}
		return eachWindow(fast, 3, weighted) // √12 rounded down
	}
	share, whole := plainHull(signed), plainHull(s.Volume)
	for i := range share {
		share[i] = math.Max(-1, math.Min(1, share[i]/whole[i]))
	}
	want, m := kernel.NaNs(400), nan
	for i, unit := range eachWindow(share, window, plainDeviation) {
		if v := share[i] / unit; math.IsNaN(m) {
			m = v
		} else {
			m = 0.06*v + 0.94*m
		}
		want[i] = m
	}
	r := compute(t, s, "kalman_volume", `{"vzo_length":12}`)
	if !same(r.Lines[0].Values, want) {
		t.Errorf("got %v, want %v", r.Lines[0].Values[210:230], want[210:230])
	}
	if kernel.FirstValid(want) != 2+(n-1)+(3-1)+(window-1) {
		t.Errorf("first value at bar %d", kernel.FirstValid(want))
	}
	if !same(r.Lines[1].Values, eachWindow(want, 10, plainMean)) {
		t.Error("the signal line is not the average of ten")
	}
}

// TestKalmanSignals crosses a signal line at 0 from every zone.
func TestKalmanSignals(t *testing.T) {
	line := []float64{-0.7, 0.1, -0.1, 0.1, 0.1, 0.7, -0.1, -0.5, 0.2}
	signal := make([]float64, len(line))
	got := kalmanSignals(line, signal, 0.6)
	want := []Signal{
		Mark(1, 0.1, BuyOversold, Up), Mark(2, -0.1, Sell, Down), Mark(3, 0.1, Buy, Up), Mark(6, -0.1, SellOverbought, Down), Mark(8, 0.2, Buy, Up),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A cross down from below the zone, or up from above it, says nothing.
	if got := kalmanSignals([]float64{-0.7, -0.9}, []float64{-0.8, -0.8}, 0.6); len(got) != 0 {
		t.Errorf("from below the zone: %v", got)
	}
}
