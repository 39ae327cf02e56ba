package indicators

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"wick/indicators/kernel"
	"wick/market"
)

// BenchmarkLargest computes every indicator on the largest request that is
// allowed: 5,000 bars shown and their warm-up, with every length at its
// longest. No entry should take more than 20 ms.
func BenchmarkLargest(b *testing.B) {
	for ind := range All() {
		b.Run(ind.Name, func(b *testing.B) {
			_, longest := benchRequests(b, ind)
			s := world(min(5_000+longest.Warmup(market.Hour1), market.MaxLimit), 100)
			b.ReportAllocs()
			for b.Loop() {
				longest.Compute(s)
			}
		})
	}
}

// TestEveryEntry: what an entry declares is what it does. It draws the lines it lists, one
// column for each, at every setting; it emits the signals it lists, each of them in some
// market, and no others; and its warm-up is enough.
func TestEveryEntry(t *testing.T) {
	t.Parallel()
	low := func(_ int, b *market.Bar) {
		b.Open, b.High, b.Low, b.Close = b.Open-100, b.High-100, b.Low-100, b.Close-100
	}
	markets := []*market.Series{world(3000, 100), ticks(3000, 5), like(world(1500, 100), low)}
	markets[1].Interval, markets[1].Others, markets[1].Extra = market.Hour1, markets[0].Others, markets[0].Extra
	markets[2].Extra = map[string][]float64{market.ExtraFunding: markets[2].Close}
	for k := range 30 { // the newest bar alone may touch the levels of a profile
		markets = append(markets, world(200+k, 100))
	}
	more := map[string][]map[string]json.RawMessage{
		"formula":  {raw(`{"expr":"close - sma(5)"}`)},
		"backtest": {raw(`{"stop_loss":1}`), raw(`{"take_profit":1}`)},
	}
	long := world(market.MaxLimit, 100)
	for ind := range All() {
		requests, emitted := settings(t, ind), make(map[string]bool)
		for _, overrides := range more[ind.Name] {
			r, err := New(ind.Name, overrides)
			if err != nil {
				t.Fatal(err)
			}
			requests = append(requests, r)
		}
		for k, request := range requests {
			for i, s := range markets {
				if i > 2 && k > 0 || testing.Short() && i > 0 && k%3 > 0 {
					continue // the defaults are enough
				}
				result := request.Compute(s)
				var drawn []string
				for label := range columns(result) {
					drawn = append(drawn, label)
				}
				names := request.lineNames()
				if ind.Name != "naked_poc" && !slices.Equal(drawn, names) { // that has a line for each level there is
					t.Errorf("%s draws %q and declares %q", request.Label(), drawn, names)
				}
				if ind.Calc != nil && i == 0 && len(ind.Calc(Input{s, request.Args})) != len(ind.Plots) {
					t.Errorf("%s has %d columns for %d plots", request.Label(), len(ind.Calc(Input{s, request.Args})), len(ind.Plots))
				}
				for _, sig := range result.Signals {
					emitted[sig.Label] = true
				}
			}
		}
		for label := range emitted {
			if !slices.Contains(ind.Signals, label) {
				t.Errorf("%s emits %s, which it does not declare", ind.Name, label)
			}
		}
		for _, label := range ind.Signals {
			if !emitted[label] && ind.Name != "candles" { // TestCandleSignals has those, which are rare
				t.Errorf("%s never emits %s", ind.Name, label)
			}
		}
		warms(t, ind, long)
	}
}

// warms shows that Warmup bars are enough, with the defaults and with every length 3 and 20 times
// as long where a source has that many bars: the values shown are those that a chart with
// thousands of bars more would show there, to a part in a million of the size of the line, and the
// signals are the same. At the defaults the newest value is the same to a part in a billion.
func warms(t *testing.T, ind *Indicator, walk *market.Series) {
	t.Helper()
	if ind.Traits.Has(Repaints) || ind.VisibleOnly() || ind.IsTotal() || ind.Name == "vwap_anchored" {
		return
	}
	for _, factor := range []float64{1, 3, 20} {
		overrides := longer(ind, factor)
		if factor > 1 && (testing.Short() || len(overrides) == 0) {
			continue // it has no length, or none that may be so long: the defaults again
		}
		request, err := New(ind.Name, overrides)
		if err != nil && factor > 1 {
			continue // one length has passed another that bounds it
		}
		if err != nil {
			t.Fatal(err)
		}
		if warmup := request.Warmup(market.Hour1); warmup <= market.MaxLimit-5000 {
			settled(t, request, walk, warmup, factor)
		} else if factor == 1 {
			t.Errorf("%s needs %d bars of warm-up", request.Label(), warmup)
		}
	}
}

// longer returns the overrides that make every length of ind longer.
func longer(ind *Indicator, factor float64) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage)
	for _, p := range ind.Params {
		if v := factor * p.Default; p.Kind == Int && p.Max == MaxLength && v <= p.Max {
			out[p.Name] = json.RawMessage(number(v))
		}
	}
	return out
}

// settled compares the newest 50 bars after a warm-up with those after a much
// longer one, in several stretches of the same walk; in one with -short.
func settled(t *testing.T, request Request, walk *market.Series, warmup int, factor float64) {
	t.Helper()
	const shown = 50
	stretches := 5
	if testing.Short() {
		stretches = 1
	}
	for cut := range stretches {
		compareTails(t, request, walk.Slice(0, warmup+shown+3600-150*cut), warmup, shown, factor)
	}
}

func compareTails(t *testing.T, request Request, long *market.Series, warmup, shown int, factor float64) {
	t.Helper()
	whole := request.Compute(long).Tail(long.Len(), shown)
	cut := request.Compute(long.Tail(warmup+shown)).Tail(warmup+shown, shown)
	want := allSeries(whole)
	for label, values := range allSeries(cut) {
		var size float64
		for _, v := range want[label] {
			if finite(v) {
				size = max(size, math.Abs(v))
			}
		}
		for i, v := range values {
			near := 1e-6
			if i == shown-1 && factor == 1 && request.Ind.Memory.since == nil {
				near = 1e-9
			}
			if w := want[label][i]; math.IsNaN(v) != math.IsNaN(w) || math.Abs(v-w) > near*size {
				t.Errorf("%s, %s with %d bars of warm-up: %v, with 3000 more %v (bar %d)", request.Label(), label, warmup, v, w, i)
				break
			}
		}
	}
	if difference := signalsDiffer(cut, whole); difference != "" {
		t.Errorf("%s with %d bars of warm-up: signals differ, first %s", request.Label(), warmup, difference)
	}
}

// TestCrossingMeanings: a line crosses another where it is beyond it and was not on the bar
// before; a touch is no crossing. Every sentence about a crossing says from which side.
func TestCrossingMeanings(t *testing.T) {
	if got := marks(crossings([]float64{1, 2, 3, 2, 2, 1, 2, 1}, []float64{2, 2, 2, 2, 2, 2, 2, 2}, "up", "down")); got != "2 up, 5 down, 7 down" {
		t.Fatalf("crossings of lines that meet: %s", got)
	}
	sides := map[string][]string{
		"from below": {CrossUp, CrossUpOS, PriceUp, ZeroUp, BreakUp, CloudUp, TwistUp, Buy, BuySmall, StochOS},
		"from above": {CrossDown, CrossDownOB, PriceDown, ZeroDown, BreakDown, CloudDown, TwistDown, Sell, SellSmall, StochOB},
	}
	for side, labels := range sides {
		for _, label := range labels {
			if text := meaningOf(label); !strings.Contains(text, "crosses") || !strings.Contains(text, side) {
				t.Errorf("%s means %q", label, text)
			}
		}
	}
}

// TestSharedMeanings: an entry without a sentence of its own does what the shared one
// says. Its signals are the crossings of two of its lines, of the close and a line, or of
// a line and zero, or the turns of a line: all of them but for the bars on which a line
// starts anew.
func TestSharedMeanings(t *testing.T) {
	s := world(1500, 100)
	zero := make([]float64, s.Len())
	for ind := range All() {
		request, err := New(ind.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		result := request.Compute(s)
		var lines [][]float64
		for _, values := range columns(result) {
			lines = append(lines, values)
		}
		for _, label := range ind.Signals {
			var events [][]int // what the sentence may speak of, one for each choice of lines
			for _, a := range lines {
				switch label {
				case CrossUp, CrossDown:
					for _, b := range lines {
						events = append(events, meetings(a, b, label == CrossUp))
					}
				case PriceUp, PriceDown, BreakUp, BreakDown:
					events = append(events, meetings(s.Close, a, label == PriceUp || label == BreakUp))
				case ZeroUp, ZeroDown:
					events = append(events, meetings(a, zero, label == ZeroUp))
				case TurnUp, TurnDown:
					events = append(events, turnsIn(a, label == TurnUp))
				}
			}
			var fired []int
			for _, signal := range result.Signals {
				if strings.HasPrefix(signal.Label, label) { // those in a zone are cross_up_os
					fired = append(fired, signal.Bar)
				}
			}
			fits := slices.ContainsFunc(events, func(bars []int) bool { return mostOf(fired, bars) })
			if events != nil && ind.Meanings[label] == "" && !fits {
				t.Errorf("%s: %s fires %d times, but not where %s", ind.Name, label, len(fired), ind.Meaning(label))
			}
		}
	}
}

// meetings returns the bars on which a crosses b from below, or from above.
func meetings(a, b []float64, up bool) (bars []int) {
	if !up {
		a, b = b, a
	}
	for i := 1; i < len(a); i++ {
		known := a[i] == a[i] && b[i] == b[i] // not NaN
		if known && a[i-1] == a[i-1] && b[i-1] == b[i-1] && kernel.Compare(a[i-1], b[i-1]) <= 0 && kernel.Compare(a[i], b[i]) > 0 {
			bars = append(bars, i)
		}
	}
	return bars
}

// turnsIn returns the bars on which a line that fell rises, or one that rose falls.
func turnsIn(a []float64, up bool) (bars []int) {
	fell := false // the last move was against the way that is looked for
	for i := 1; i < len(a); i++ {
		move := a[i] - a[i-1]
		if !up {
			move = -move
		}
		if move > 0 && fell {
			bars = append(bars, i)
		}
		if move != 0 && move == move { // not NaN
			fell = move < 0
		}
	}
	return bars
}

// mostOf reports whether the bars of some are among those of all, and at least two
// thirds of them.
func mostOf(some, all []int) bool {
	for _, bar := range some {
		if !slices.Contains(all, bar) {
			return false
		}
	}
	return 3*len(some) >= 2*len(all)
}

// TestOwnMeanings: labels that mean something else here than in most entries say what.
func TestOwnMeanings(t *testing.T) {
	tests := []struct{ name, label, says string }{
		// Outside the zones a cross is a buy, within one a buy_oversold.
		{"kalman_volume", Buy, "neither zone"}, {"kalman_volume", Sell, "neither zone"},
		{"kalman_volume", BuyOversold, "the oversold zone"}, {"kalman_volume", SellOverbought, "the overbought zone"},
		{"elder_ray", Buy, "bear power, below zero,"}, {"elder_ray", Sell, "bull power, above zero,"},
		{"cipher_b", Buy, "strict mode"}, {"cipher_b", SellSmall, "strict mode"},
		{"coppock", TurnUp, "below zero"}, {"coppock", TurnDown, "above zero"},
		{"beta_versus", CrossUp, "crosses 1 from below"}, {"adx", CrossDown, "threshold"},
		{"volume_profile", LevelTouch, "newest bar"}, {"drawdown", NewHigh, "back at its highest"},
	}
	for _, test := range tests {
		if ind, _ := Lookup(test.name); !strings.Contains(ind.Meaning(test.label), test.says) {
			t.Errorf("%s: %s means %q, which does not say %q", test.name, test.label, ind.Meaning(test.label), test.says)
		}
	}
}
