package indicators

import (
	"fmt"
	"math"
	"testing"
	"time"

	"wick/market"
)

// TestStopsForget: how many bars are shown does not change the newest value, or the
// result says that it is unsettled. That is hard for stops, which remember where the
// history began until they turn: the further away they are, the longer. With the
// defaults nothing is unsettled, but for a distance in percent, which may be far for
// bars of a minute.
func TestStopsForget(t *testing.T) {
	t.Parallel()
	usual, other := []Request{}, []Request{}
	for name, variants := range map[string][]string{
		"supertrend":      {`{}`, `{"mult":8}`, `{"mult":15}`, `{"mult":50}`, `{"length":50,"mult":6}`},
		"ut_bot":          {`{}`, `{"key":10}`, `{"key":40}`},
		"volatility_stop": {`{}`, `{"mult":8}`, `{"mult":20}`},
		"pmax":            {`{}`, `{"mult":10}`, `{"mult":30}`, `{"ma_length":50}`},
		"alphatrend":      {`{}`, `{"mult":10}`, `{"momentum":"rsi","mult":4}`},
		"ott":             {`{}`, `{"percent":5}`, `{"percent":20}`, `{"length":30}`},
		"pivot_high_low":  {`{}`, `{"left":60,"right":60}`},
		"halftrend":       {`{}`, `{"length":20}`},
		"gann_hilo":       {`{}`, `{"high":100,"low":100}`},
		"sar":             {`{}`, `{"start":0.005,"increment":0.005,"maximum":0.05}`, `{"start":0}`},
		"range_filter":    {`{}`, `{"mult":20}`},
		"ht_sine":         {`{}`},
		"ht_dcphase":      {`{}`},
	} {
		for _, params := range variants {
			r, err := New(name, raw(params))
			if err != nil {
				t.Fatal(err)
			}
			if params == "{}" && name != "ott" {
				usual = append(usual, r)
			} else {
				other = append(other, r)
			}
		}
	}
	for s := range sampled(30) {
		for _, r := range other {
			sameNewest(t, r, s)
		}
		for _, r := range usual {
			if sameNewest(t, r, s) > 0 {
				t.Errorf("%s of %s %s is unsettled", r.Label(), s.Symbol, s.Interval)
			}
		}
	}
}

// sampled yields bars of so many invented markets at several intervals; of one with
// -short.
func sampled(markets int) func(func(*market.Series) bool) {
	if testing.Short() {
		markets = 1
	}
	return func(yield func(*market.Series) bool) {
		for _, iv := range []market.Interval{market.Minute1, market.Hour1, market.Day1} {
			for k := range markets {
				q := market.Query{Symbol: fmt.Sprintf("MARKET%d", k), Interval: iv, Limit: MaxWarmup + 4000}
				s, err := market.Sample{}.At(q, time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC))
				if err != nil {
					panic(err)
				}
				if !yield(s) {
					return
				}
			}
		}
	}
}

// sameNewest compares the newest values of r with 1, 200 and 1000 bars shown to those
// with 4000, and returns how many of the results say that they are unsettled.
func sameNewest(t *testing.T, r Request, s *market.Series) (marked int) {
	t.Helper()
	newest := func(shown int) (map[string][]float64, bool) {
		window := s.Tail(shown + min(r.Warmup(s.Interval), MaxWarmup))
		result := r.Compute(window).Tail(window.Len(), shown)
		return allSeries(result), result.Unsettled || !r.Settled(window.Len()-shown, s.Interval)
	}
	want, _ := newest(4000)
	for _, shown := range []int{1, 200, 1000} {
		got, unsettled := newest(shown)
		if unsettled {
			marked++
			continue
		}
		for label, values := range got {
			a, b := values[shown-1], want[label][3999]
			// Of the size of the line: a wave may be near zero.
			if math.IsNaN(a) != math.IsNaN(b) || math.Abs(a-b) > 1e-6*max(math.Abs(b), 0.1) {
				t.Errorf("%s of %s %s, %s with %d bars shown: %v, with 4000 %v", r.Label(), s.Symbol, s.Interval, label, shown, a, b)
			}
		}
	}
	return marked
}

// TestSARExtStartValue: a first stop that is given begins the line and says the way: above
// zero it rises, below zero it falls, whatever the price does. The stop then moves towards
// the extreme by the first factor, 0.02.
func TestSARExtStartValue(t *testing.T) {
	s := &market.Series{Symbol: "AAA", Interval: market.Day1}
	for i := range 3 {
		s.Append(market.Bar{Time: int64(i) * 86400, Open: 20, High: 20, Low: 10, Close: 15, Volume: 1})
	}
	for overrides, want := range map[string][]float64{
		`{"start_value":5}`:   {nan, 5, 5 + 0.02*(20-5)},
		`{"start_value":-50}`: {nan, 50, 50 + 0.02*(10-50)},
	} {
		if got := compute(t, s, "sarext", overrides).Lines[0].Values; !same(got, want) {
			t.Errorf("%s: %v, want %v", overrides, got, want)
		}
	}
}
