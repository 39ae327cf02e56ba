package indicators

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"wick/market"
)

// TestTotalsInRules: a rule that depends on the level of a running total is refused, since
// its truth would depend on how many bars were loaded. The error has an example that works.
// Expressions of an earlier version are still read.
func TestTotalsInRules(t *testing.T) {
	for _, text := range []string{
		"obv > 60000000", "obv >= close", "0 < obv.average", "crosses_above(pvt, 0)", "wad crosses below close", "ad != 0", "nvi > 1000", "pvi < 1000", "cumulative_sum > 1",
		"obv > obv@1d", "obv > obv:ETH", "obv > pvt", "pvt > pvt(source=hl2)", "(obv > 0)@1d", "since(obv > 0) < 3", "not (close > 1 and (obv > 1)[3])",
		"obv + close > 5", "-obv < 5", "abs(obv) > 5", "obv / obv[10] > 1.05", "obv > 1.05 * obv[10]", "obv * close > obv", "obv % 7 > 1", "max(obv, 0) > obv[1]",
		"sum(obv, 5) > obv", "obv - obv@1d > 0", "highest(obv, 20) > 0", "obv - avg(obv + pvt, 5) > 1", "change(obv * 2, 5) > 1", "obv > 0 and obv > obv[1]",
		"change(nvi, 5) > 5", "nvi - nvi[5] > close", "nvi * nvi > nvi", "nvi + pvi > pvi", "nvi + obv > obv", "nvi > obv", "nvi + 5 > nvi[1] + 5",
	} {
		r := when(t, text)
		err := r.Check()
		if err == nil || !strings.Contains(err.Error(), "its level means nothing: compare it with itself, as in ") {
			t.Errorf("%s: %v", text, err)
			continue
		}
		_, examples, _ := strings.Cut(err.Error(), ", as in ")
		for example := range strings.SplitSeq(examples, " or ") {
			if err := when(t, example).Check(); err != nil {
				t.Errorf("%s: the example %s: %v", text, example, err)
			}
		}
		if _, err := Parse([]json.RawMessage{fmt.Appendf(nil, `{"name":"backtest","enter":%q}`, text)}); err == nil {
			t.Errorf("a backtest enters where %s", text)
		}
	}
	for _, expr := range []string{"obv", "obv / close; 2 * nvi"} {
		if _, err := Parse([]json.RawMessage{fmt.Appendf(nil, `{"name":"formula","expr":%q}`, expr)}); err != nil {
			t.Errorf("the formula %s: %v", expr, err)
		}
	}
}

// TestRulesOnTotals: a rule that compares a running total with itself is accepted, and is as
// true on a chart that begins a year later.
func TestRulesOnTotals(t *testing.T) {
	const later = 400
	s := besides(world(1500, 100))
	short := *s.Slice(later, s.Len())
	short.Others = make(map[market.Other]*market.Series)
	for place, bars := range s.Others {
		first := 0
		for first < bars.Len() && bars.Time[first] < short.Time[0]-20*86400 {
			first++
		}
		short.Others[place] = bars.Slice(first, bars.Len())
	}
	for _, text := range []string{
		"obv > avg(obv, 20)", "obv > obv.average", "obv > obv(50).average", "obv crosses above obv[10]", "ad > highest(ad, 20)[1]", "change(obv, 5) > 3000",
		"obv - obv[5] > volume", "abs(obv - obv[5]) > 2000", "wad + close > lowest(wad, 9) + open", "max(obv, obv[3]) > obv[1]", "cumulative_sum - 9000 > cumulative_sum[5]",
		"(obv - lowest(obv, 20)) / (highest(obv, 20) - lowest(obv, 20)) > 0.8", "obv@1d > obv[1]@1d", "(obv > obv[3]):ETH", "change(obv:ETH, 5) > change(obv, 5)",
		"pvt > pvt[3]", "since(obv > obv[9]) < 3", `signal(obv, "cross_up")`, "(obv - pvt) > (obv - pvt)[4]", "obv + pvt > pvt + obv[1]",
		"nvi > avg(nvi, 20)", "nvi / nvi[10] > 1.01", "nvi > 1.01 * nvi[10]", "change(nvi, 10) > 0", "change(nvi, 10) / nvi > 0.01", "nvi(start=5) > nvi(start=5)[3]",
	} {
		r := when(t, text)
		if err := r.Check(); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		values := func(s *market.Series) []float64 { return r.Args.evaluator(s).Values(r.Args.exprs["when"][0]) }
		whole, part := values(s), values(&short)
		count := 0.0
		for i := 100; i < len(part); i++ {
			if count += part[i]; part[i] != whole[i+later] {
				t.Errorf("%s: bar %d is %v, and %v on the longer chart", text, i, part[i], whole[i+later])
				break
			}
		}
		if math.IsNaN(count) || count == 0 || count == float64(len(part)-100) {
			t.Errorf("%s is true on %v bars: the test says nothing", text, count)
		}
	}
}

// TestEndlessInRules: a rule that depends on a line which runs from the first bar loaded is
// refused, and so is one that waits for a signal of it. It cannot be compared with itself either:
// how much a bar moves it depends on how many bars came before.
func TestEndlessInRules(t *testing.T) {
	for text, set := range map[string]string{
		`close > vwap(anchor="none")`:                          "set anchor to day",
		`close crosses above twap("none")@1d`:                  "set anchor to day",
		`change(vwap(anchor="none"), 5) > 0`:                   "set anchor to day",
		`since(vwap_bands(anchor="none").vwap < 9) < 3`:        "set anchor to day",
		`close > 1 and signal(vwap("none"), "price_cross_up")`: "set anchor to day",
		"close > sar(maximum=0)":                               "set maximum to more than 0",
		"close > sar(0, 0)":                                    "set increment to more than 0",
		"close > sarext(maximum_short=0)":                      "set maximum_short to more than 0",
		"close > sarext(start_long=0, increment_long=0)":       "set increment_long to more than 0",
	} {
		err := when(t, text).Check()
		if err == nil || !strings.Contains(err.Error(), " runs from the first bar loaded, so its values depend on how many bars there are: "+set) {
			t.Errorf("%s: %v, want %s", text, err, set)
		}
		if _, err := Parse([]json.RawMessage{fmt.Appendf(nil, `{"name":"backtest","enter":%q}`, text)}); err == nil {
			t.Errorf("a backtest enters where %s", text)
		}
	}
	for _, text := range []string{`close > vwap(anchor="week")`, "close > sar(start=0)", `signal(twap, "price_cross_up")`} {
		if err := when(t, text).Check(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Parse([]json.RawMessage{json.RawMessage(`{"name":"formula","expr":"vwap(anchor=none)"}`), json.RawMessage(`{"name":"vwap","anchor":"none"}`)}); err != nil {
		t.Errorf("as lines: %v", err)
	}
}

// TestEndless: each entry that a rule may read, with each of its settings, forgets where the
// bars began, or says that it does not.
func TestEndless(t *testing.T) {
	t.Parallel()
	const enough = 1500 // bars
	all := world(2*enough+57, 100)
	for ind := range All() {
		if ind.IsTotal() || ind.readable() != nil {
			continue
		}
		seen := ind.Memory.endless == nil
		for _, r := range settings(t, ind) {
			endless := r.Endless() != ""
			if r.Warmup(all.Interval) > enough && !endless {
				continue // TestWarmup has those that forget slowly
			}
			r.Args.linesOnly = true
			diff := tailsApart(r.Compute(all.Tail(enough+50)), r.Compute(all), 50)
			if diff > 1e-3 && !endless {
				t.Errorf("%s: with twice as many bars its last values are apart by %.2g of their size", r.Identity(), diff)
			}
			seen = seen || diff > 1e-3
		}
		if !seen {
			t.Errorf("%s forgets where the bars began with every setting", ind.Name)
		}
	}
}

// tailsApart returns how far the last n values of two results are apart at most, as a part of
// the size of their line; more than 1 if one has no value where the other has.
func tailsApart(a, b *Result, n int) (most float64) {
	other := maps.Collect(columns(b))
	for label, x := range columns(a) {
		y := other[label]
		x, y = x[len(x)-n:], y[len(y)-n:]
		size := 0.0
		for i := range x {
			if math.IsNaN(x[i]) != math.IsNaN(y[i]) {
				return 2
			}
			if !math.IsNaN(x[i]) {
				size = max(size, math.Abs(x[i]), math.Abs(y[i]))
			}
		}
		for i := range x {
			if x[i] != y[i] && !math.IsNaN(x[i]) {
				most = max(most, math.Abs(x[i]-y[i])/size)
			}
		}
	}
	return most
}
