package indicators

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"wick/market"
)

// ticks returns n bars of a cheap stock in whole cents, where equal prices and
// equal averages abound. Stretches stand still.
func ticks(n int, seed uint64) *market.Series {
	r := rand.New(rand.NewPCG(seed, 5))
	s := &market.Series{Symbol: "TICKS", Interval: market.Hour1}
	cents := 500
	for i := range n {
		open := cents
		if i/40%3 != 2 {
			cents += r.IntN(7) - 3
		}
		high, low := max(open, cents)+r.IntN(3), min(open, cents)-r.IntN(3)
		if i/40%3 == 2 && i%40 > 5 {
			high, low = cents, cents
		}
		price := func(c int) float64 { return float64(c) / 100 }
		s.Append(market.Bar{Time: 1_700_006_400 + int64(i)*3600, Open: price(open), High: price(high), Low: price(low),
			Close: price(cents), Volume: float64(100 * (1 + r.IntN(50)))})
	}
	return s
}

// scaledByThree are the entries whose signals may change when all prices are
// multiplied by 3, and why.
var scaledByThree = map[string]string{
	"candles": "patterns follow TA-Lib's comparisons of floats to the last bit",
}

// scaledSettingsBut are settings at the bounds of their parameters, as label and
// values, whose signals may change with the unit, and why.
var scaledSettingsBut = map[string]string{
	"SAR Ext(-1000000000000, 0, 0.02, 0.02, 0.2, 0.02, 0.02, 0.2)[-1e+12 0 0.02 0.02 0.2 0.02 0.02 0.2]": "start_value is a price",
	"LinReg(100, 2, volume)[100 2 8]": "compares closes with a channel of the volume",
	"BB(20, 2, volume)[20 2 0 0 8]":   "compares closes with bands of the volume",
}

// TestScaling: prices in another unit give the same signals on the same bars.
// Three times a float is rounded, so whatever hangs on the last bit shows here.
func TestScaling(t *testing.T) {
	t.Parallel()
	seeds := uint64(5)
	if testing.Short() {
		seeds = 1
	}
	var requests []Request
	for ind := range All() {
		if scaledByThree[ind.Name] != "" {
			continue
		}
		for k, r := range scaledSettings(t, ind) {
			if testing.Short() && k%3 > 0 {
				continue // the defaults and a third of the others
			}
			if scaledSettingsBut[fmt.Sprint(r.Label(), r.Args.values)] == "" {
				requests = append(requests, r)
			}
		}
	}
	for seed := range seeds {
		s := ticks(700, seed)
		if seed > 0 || testing.Short() { // enough for all but the longest settings, at half the cost
			s = ticks(400, seed)
		}
		three := like(s, func(_ int, b *market.Bar) { b.Open, b.High, b.Low, b.Close = 3*b.Open, 3*b.High, 3*b.Low, 3*b.Close })
		for _, request := range requests {
			if difference := signalsDiffer(request.Compute(three), request.Compute(s)); difference != "" {
				t.Errorf("%s, seed %d: signals differ when prices are tripled, first %s", fmt.Sprint(request.Label(), request.Args.values), seed, difference)
			}
		}
	}
}

// scaledSettings returns the requests of which prices in another unit change
// nothing: the defaults, every length two and five times as long, and every
// parameter at its bounds.
func scaledSettings(t *testing.T, ind *Indicator) []Request {
	t.Helper()
	requests := settings(t, ind)
	for _, times := range []float64{2, 5} {
		overrides := longer(ind, times)
		if len(overrides) == 0 {
			continue // it has no length, or none that may be so long: the defaults again
		}
		if r, err := New(ind.Name, overrides); err == nil { // a length may pass another that bounds it
			requests = append(requests, r)
		}
	}
	return requests
}

// events writes signals as "bar label".
func events(r *Result) []string {
	var out []string
	for _, s := range r.Signals {
		out = append(out, strconv.Itoa(s.Bar)+" "+s.Label)
	}
	slices.Sort(out)
	return out
}

// signalsDiffer returns the first difference between the events of two results, ""
// if there is none. Nearly always they are the same in the same order, and then
// they need not be written and sorted.
func signalsDiffer(got, want *Result) string {
	if slices.EqualFunc(got.Signals, want.Signals, func(a, b Signal) bool { return a.Bar == b.Bar && a.Label == b.Label }) {
		return ""
	}
	if a, b := events(got), events(want); !slices.Equal(a, b) {
		return firstDifference(a, b)
	}
	return ""
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return "missing " + want[i]
		case i >= len(want) || got[i] < want[i]:
			return "extra " + got[i]
		case got[i] != want[i]:
			return "missing " + want[i]
		}
	}
	return "none"
}

// constantSignals are the entries whose definition itself demands signals while
// prices stand still, and why.
var constantSignals = map[string]string{
	"candles":                 "a bar without a body is a doji",
	"sar":                     "a bar that touches the stop turns it, and here every bar does",
	"sarext":                  "as sar",
	"mama":                    "both lines start from zero, as in TA-Lib, and the follower catches up once",
	"pivot":                   "the price stands on the levels of every new period, and touches them",
	"pivot_classic":           "as pivot",
	"pivot_fibonacci":         "as pivot",
	"pivot_camarilla":         "as pivot",
	"pivot_woodie":            "as pivot",
	"pivot_demark":            "as pivot",
	"cpr":                     "as pivot",
	"previous_levels":         "as pivot",
	"sessions":                "sessions begin and end by the clock",
	"kill_zones":              "as sessions",
	"klinger":                 "an unchanged price keeps the trend, and the force follows the volume",
	"pvo":                     "of volume alone, which moves",
	"volume_oscillator":       "of volume alone, which moves",
	"relative_volume":         "of volume alone, which moves",
	"relative_volume_at_time": "of volume alone, which moves",
	"volume":                  "of volume alone, which moves",
}

// TestConstantPrices: a market that stands still, at a hundred different prices,
// gives no signal but those listed.
func TestConstantPrices(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	found := make(map[string]int)
	prices := 100
	if testing.Short() {
		prices = 5
	}
	for range prices {
		price := math.Round(math.Exp(12*r.Float64()-3)*1e4) / 1e4
		s := like(ticks(300, r.Uint64()), func(_ int, b *market.Bar) { b.Open, b.High, b.Low, b.Close = price, price, price, price })
		for ind := range All() {
			request, err := New(ind.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, sig := range request.Compute(s).Signals {
				if constantSignals[ind.Name] == "" {
					found[ind.Name+" "+sig.Label]++
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("%s: %d signals on constant prices", key, found[key])
	}
}

// TestGoneFlat: after a move that ends in a standstill, oscillators give the
// values and the few crossings of their definitions, not those of rounding.
func TestGoneFlat(t *testing.T) {
	s := like(ticks(400, 3), func(i int, b *market.Bar) {
		if i >= 40 {
			b.Open, b.High, b.Low, b.Close = 5.07, 5.07, 5.07, 5.07
		}
	})
	for i, v := range compute(t, s, "cci", `{}`).Lines[0].Values[60:] {
		if v != 0 {
			t.Fatalf("cci on bar %d of a standstill: %v, want 0", 60+i, v)
		}
	}
	for ind := range All() {
		request, err := New(ind.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		late := 0
		for _, sig := range request.Compute(s).Signals {
			if sig.Bar > 200 {
				late++
			}
		}
		if late > 2 && constantSignals[ind.Name] == "" {
			t.Errorf("%s gives %d signals long after the market stopped", ind.Name, late)
		}
	}
}

// TestTiesOfTypicalPrices holds mfi and klinger against sums of whole cents, in
// which typical prices that are equal are equal.
func TestTiesOfTypicalPrices(t *testing.T) {
	s := ticks(3000, 17)
	cents := func(i int) int {
		return int(math.Round(100*s.High[i])) + int(math.Round(100*s.Low[i])) + int(math.Round(100*s.Close[i]))
	}
	flow, money := compute(t, s, "mfi", `{}`).Lines[0].Values, make([]int, s.Len())
	for i := 1; i < s.Len(); i++ {
		money[i] = cents(i) * int(s.Volume[i]) * cmp.Compare(cents(i), cents(i-1))
	}
	for i := 14; i < s.Len(); i++ {
		rises, all := 0, 0
		for _, m := range money[i-13 : i+1] {
			rises, all = rises+max(m, 0), all+max(m, -m)
		}
		want := 0.0
		if all > 0 {
			want = 100 * float64(rises) / float64(all)
		}
		if math.Abs(flow[i]-want) > 1e-9*max(1, want) {
			t.Fatalf("mfi, bar %d: %v, want %v", i, flow[i], want)
		}
	}
	// An average of one bar is the force itself; the other is two thirds of the one before.
	force := klingerInCents(s, cents)
	line, slow := first(t, s, "klinger", `{"fast":1,"slow":5}`), force[1]
	for i := 1; i < s.Len(); i++ {
		slow += (force[i] - slow) / 3
		if want := force[i] - slow; math.Abs(line[i]-want) > 1e-9*max(s.Volume[i], math.Abs(want)) {
			t.Fatalf("klinger, bar %d: %v, want %v", i, line[i], want)
		}
	}
}

// klingerInCents is Klinger's volume force by whole numbers.
func klingerInCents(s *market.Series, cents func(int) int) []float64 {
	out := make([]float64, s.Len())
	height := func(i int) int { return int(math.Round(100*s.High[i])) - int(math.Round(100*s.Low[i])) }
	trend, span := -1, 0
	known := false
	for i := 1; i < len(out); i++ {
		if side := cmp.Compare(cents(i), cents(i-1)); side != 0 && (side != trend || !known) {
			trend, known, span = side, true, height(i-1)
		}
		span += height(i)
		if span > 0 {
			out[i] = 100 * s.Volume[i] * math.Abs(2*float64(height(i))/float64(span)-1) * float64(trend)
		}
	}
	return out
}

// TestBothBands: a bar that reaches both bands touches both.
func TestBothBands(t *testing.T) {
	s := &market.Series{}
	for i := range 30 {
		b := market.Bar{Time: int64(i), Open: 10, High: 10.11, Low: 9.99, Close: 10 + 0.1*float64(i%2), Volume: 1}
		if i == 28 {
			b.High, b.Low = 20, 1
		}
		s.Append(b)
	}
	want := []string{"28 touch_lower", "28 touch_upper"}
	if got := events(compute(t, s, "bbands", `{}`)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
