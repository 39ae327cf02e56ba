package indicators

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"wick/market"
)

// bar4 is open, high, low and close of a day.
type bar4 [4]float64

func days(bars ...bar4) *market.Series {
	s := &market.Series{Symbol: "AAA", Interval: market.Day1}
	for i, b := range bars {
		s.Append(market.Bar{Time: int64(i) * 86400, Open: b[0], High: b[1], Low: b[2], Close: b[3], Volume: 1})
	}
	return s
}

func backtest(t *testing.T, s *market.Series, params string) *Result {
	t.Helper()
	r, err := New("backtest", raw(params))
	if err != nil {
		t.Fatal(err)
	}
	return r.Compute(s).Tail(s.Len(), s.Len())
}

// TestBacktestFills follows the money by hand through single trades.
func TestBacktestFills(t *testing.T) {
	const entering = `"enter":"close > 100","fee":0,"slippage":0`
	for _, c := range []struct {
		name, params string
		bars         []bar4
		signals      string
		profit       float64 // percent, at the last close
	}{
		{"the next open fills, and the next after the exit", `{` + entering + `}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {110, 120, 105, 115}, {115, 115, 99, 99}, {88, 90, 80, 85}}, "2 enter, 4 exit", 100 * (88.0/110 - 1)},
		{"fees on both fills", `{"enter":"close > 100","fee":1,"slippage":0}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 99, 99}, {100, 100, 80, 85}}, "2 enter, 3 exit", -2},
		{"slippage makes both fills worse", `{"enter":"close > 100","fee":0,"slippage":1}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 99, 99}, {100, 100, 80, 85}}, "2 enter, 3 exit", 100 * (99.0/101 - 1)},
		{"half of the capital", `{` + entering + `,"size":50}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 120, 99, 99}, {110, 110, 80, 85}}, "2 enter, 3 exit", 5},
		{"short gains when it falls", `{` + entering + `,"side":"short"}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 99, 99}, {80, 80, 80, 80}}, "2 enter, 3 exit", 20},
		{"the stop within the bar of the entry", `{` + entering + `,"stop_loss":5}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 120, 94, 119}, {119, 119, 119, 119}}, "2 enter, 2 stop_loss", -5},
		{"a gap below the stop fills at the open", `{` + entering + `,"stop_loss":5}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 99, 101}, {80, 101, 80, 101}}, "2 enter, 3 stop_loss", -20},
		{"the stop slips, the target does not", `{"enter":"close > 100","fee":0,"slippage":1,"stop_loss":5}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 99, 101}, {100, 101, 90, 101}}, "2 enter, 3 stop_loss", 100 * (0.95*0.99 - 1)},
		// Bought at 102, the stop is at 100.98, which the open of 100 is below: it sells at 98.
		{"slippage beyond the stop: out at the open", `{"enter":"close > 100","fee":0,"slippage":2,"stop_loss":1}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 99, 101}, {100, 101, 90, 101}}, "2 enter, 2 stop_loss", 100 * (98.0/102 - 1)},
		{"the target", `{"enter":"close > 100","fee":0,"slippage":1,"take_profit":10}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 99, 101}, {100, 120, 99, 101}}, "2 enter, 3 take_profit", 10},
		{"a gap above the target gives the open", `{` + entering + `,"take_profit":10}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 99, 101}, {130, 130, 99, 101}}, "2 enter, 3 take_profit", 30},
		{"both in one bar: the stop came first", `{` + entering + `,"stop_loss":5,"take_profit":10}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 120, 90, 101}, {101, 101, 101, 101}}, "2 enter, 2 stop_loss", -5},
		{"opens beyond the target, then reaches the stop", `{` + entering + `,"stop_loss":5,"take_profit":5}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 100, 100, 100}, {106, 107, 94, 96}}, "2 enter, 3 take_profit", 6},
		{"opens beyond the stop, then reaches the target", `{` + entering + `,"stop_loss":5,"take_profit":5}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 100, 100, 100}, {94, 106, 93, 100}}, "2 enter, 3 stop_loss", -6},
		{"short, opens beyond the target, then reaches the stop", `{` + entering + `,"side":"short","stop_loss":5,"take_profit":5}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 100, 100, 100}, {94, 106, 93, 100}}, "2 enter, 3 take_profit", 6},
		{"short, stop above", `{` + entering + `,"side":"short","stop_loss":5}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 106, 99, 101}, {101, 101, 101, 101}}, "2 enter, 2 stop_loss", -5},
		{"true from the start is no entry", `{` + entering + `}`,
			[]bar4{{101, 101, 101, 101}, {101, 101, 101, 101}, {101, 101, 101, 101}}, "", 0},
		{"what the last bar decides nobody fills", `{` + entering + `}`,
			[]bar4{{90, 90, 90, 90}, {90, 90, 90, 90}, {90, 101, 90, 101}}, "", 0},
		{"an exit of its own", `{` + entering + `,"exit":"close > 110"}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 90, 95}, {95, 112, 95, 112}, {120, 120, 120, 120}}, "2 enter, 4 exit", 20},
		{"a target and no exit: only the target leaves", `{` + entering + `,"take_profit":10}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 90, 95}, {95, 95, 95, 95}, {95, 112, 95, 95}}, "2 enter, 4 take_profit", 10},
		{"the third open after the entry's", `{` + entering + `,"hold":3}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 90, 95}, {95, 101, 95, 101}, {95, 95, 95, 95}, {120, 120, 120, 120}}, "2 enter, 5 exit", 20},
		{"a stop before the bars are over", `{` + entering + `,"hold":3,"stop_loss":5}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 96, 96}, {96, 96, 90, 90}, {90, 90, 90, 90}, {120, 120, 120, 120}}, "2 enter, 3 stop_loss", -5},
		{"an exit before the bars are over", `{` + entering + `,"hold":3,"exit":"close < 97"}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 101, 96, 96}, {98, 98, 98, 98}, {98, 98, 98, 98}, {120, 120, 120, 120}}, "2 enter, 3 exit", -2},
		{"a price of nothing buys nothing", `{` + entering + `}`,
			[]bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {0, 101, 0, 101}, {90, 101, 90, 101}}, "", 0},
	} {
		r := backtest(t, days(c.bars...), c.params)
		var signals []string
		for _, sig := range r.Signals {
			signals = append(signals, fmt.Sprint(sig.Bar, " ", sig.Label))
		}
		profit := r.Lines[0].Values
		if got := strings.Join(signals, ", "); got != c.signals || math.Abs(profit[len(profit)-1]-c.profit) > 1e-9 {
			t.Errorf("%s: %s with %v %%, want %s with %v %%", c.name, got, profit[len(profit)-1], c.signals, c.profit)
		}
	}
}

// reportOf returns the facts of a backtest.
func reportOf(t *testing.T, r *Result) (whole map[string]any, parts []map[string]any) {
	t.Helper()
	for _, f := range r.Facts {
		var err error
		switch f.Name {
		case "result":
			err = json.Unmarshal(f.Value, &whole)
		case "parts":
			err = json.Unmarshal(f.Value, &parts)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return whole, parts
}

// TestBacktestRuin: an account that has lost all or more, also on its last bar only, has no
// Sharpe and no Sortino: profits in proportion to less than nothing have the wrong sign. Of a
// part that begins with nothing there is no profit and no drawdown either. By hand, short at
// 100 the account is worth 2 less a hundredth of the price; one that has just survived at
// 199.9 has lost 0.999 on the last of four bars, and so a mean of -0.24975 and a deviation
// of 0.24975 times the root of 3, which is -11.034 a year, and a Sortino of half the root of
// 365.25, -9.5558.
func TestBacktestRuin(t *testing.T) {
	for _, c := range []struct {
		name            string
		closes          []float64 // after the entry
		profit          float64
		sharpe, sortino any
	}{
		{"for long", []float64{250, 300, 350}, -250, nil, nil},
		{"and back", []float64{250, 150, 150}, -50, nil, nil},
		{"on the last bar", []float64{250}, -150, nil, nil},
		{"to nothing on the last bar", []float64{200}, -100, nil, nil},
		{"not quite", []float64{199.9}, -99.9, -11.034, -9.5558},
	} {
		bars := []bar4{{90, 90, 90, 90}, {90, 101, 90, 101}, {100, 100, 100, 100}}
		for _, p := range c.closes {
			bars = append(bars, bar4{p, p, p, p})
		}
		r := backtest(t, days(bars...), `{"side":"short","enter":"close > 100","exit":"close < 0","fee":0,"slippage":0,"split":0.7}`)
		whole, parts := reportOf(t, r)
		if whole["profit_pct"] != c.profit || whole["sharpe"] != c.sharpe || whole["sortino"] != c.sortino {
			t.Errorf("%s: profit %v, Sharpe %v, Sortino %v; want %v, %v and %v", c.name, whole["profit_pct"], whole["sharpe"], whole["sortino"], c.profit, c.sharpe, c.sortino)
		}
		if second := parts[1]; c.name == "for long" && (second["profit_pct"] != nil || second["max_drawdown_pct"] != nil || second["max_drawdown_from"] != nil || second["sharpe"] != nil) {
			t.Errorf("%s: the part that begins with nothing has %v", c.name, second)
		}
	}
}

// TestBacktestReport: figures counted by hand on three trades of +10, -10 and
// +10 percent, a bar each. In money they bring 0.1, -0.11 and 0.099 for each 1 of capital, so
// that the profit factor is 0.199 / 0.11.
func TestBacktestReport(t *testing.T) {
	var bars []bar4
	for _, to := range []float64{110, 90, 110} {
		bars = append(bars, bar4{90, 90, 90, 90}, bar4{90, 101, 90, 101}, bar4{100, 101, 99, 99}, bar4{to, to, to, to - 50})
	}
	r := backtest(t, days(bars...), `{"enter":"close > 100","exit":"close < 100","fee":0,"slippage":0,"split":0.5}`)
	whole, parts := reportOf(t, r)
	for name, want := range map[string]any{
		"trades": 3.0, "hit_rate_pct": 66.6667, "profit_factor": 1.8091, "expectancy_pct": 3.3333, "profit_pct": 8.9,
		"buy_and_hold_pct": -33.3333, "max_drawdown_pct": -10.9, "time_in_market_pct": 25.0,
		"max_drawdown_from": "1970-01-04T00:00:00Z", "max_drawdown_to": "1970-01-11T00:00:00Z",
		"verdict": "3 trades: too few to conclude", "from": "1970-01-01T00:00:00Z", "to": "1970-01-12T00:00:00Z",
	} {
		if whole[name] != want {
			t.Errorf("%s is %v, want %v", name, whole[name], want)
		}
	}
	interval := whole["expectancy_95_pct"].([]any)
	if interval[0] != -10.0 || interval[1] != 10.0 { // of three, one sample in 27 has only losses
		t.Errorf("interval %v", interval)
	}
	// Bars of a year: 365.25. Mean of the profits of twelve bars by their deviation.
	var sum, squares float64
	for _, p := range []float64{-0.01, 110.0/99 - 1, -0.01, 90.0/99 - 1, -0.01, 110.0/99 - 1} {
		sum += p
		squares += p * p
	}
	mean := sum / 12
	if got, want := whole["sharpe"].(float64), mean/math.Sqrt(squares/12-mean*mean)*math.Sqrt(365.25); math.Abs(got-want) > 1e-3 {
		t.Errorf("sharpe %v, want %v", got, want)
	}
	if len(parts) != 2 || parts[0]["trades"] != 1.0 || parts[1]["trades"] != 2.0 || parts[1]["from"] != "1970-01-07T00:00:00Z" {
		t.Errorf("parts %v", parts)
	}
}

// TestBacktestSplit: nothing in the first part depends on the bars after the split, so it is
// what a test of its bars alone says, to the last figure; trades that are open at the split
// among them. Such a trade counts in neither part, and all others in one.
func TestBacktestSplit(t *testing.T) {
	s := world(1000, 100)
	over := 0
	for _, params := range []string{
		`"enter":"close > sma(30)"`, `"enter":"close < sma(10)","side":"short","hold":20`,
		`"enter":"rsi(7) < 35","exit":"rsi(7) > 60","stop_loss":4`, `"enter":"close > sma(10)","take_profit":3,"stop_loss":2`,
	} {
		for _, cut := range []int{1, 370, 500, 505, 613, 750, 950} {
			whole, parts := reportOf(t, backtest(t, s, fmt.Sprintf(`{%s,"split":%g}`, params, float64(cut)/1000)))
			alone, _ := reportOf(t, backtest(t, s.Slice(0, cut), `{`+params+`}`))
			if fmt.Sprint(parts[0]) != fmt.Sprint(alone) {
				t.Errorf("%s: the part of %d bars is\n%v, alone they are\n%v", params, cut, parts[0], alone)
			}
			open := whole["trades"].(float64) - parts[0]["trades"].(float64) - parts[1]["trades"].(float64)
			if open != 0 && open != 1 {
				t.Errorf("%s: of %v trades %v are in neither part of a split after %d bars", params, whole["trades"], open, cut)
			}
			over += int(open)
		}
	}
	if over < 5 {
		t.Errorf("only %d trades were open at a split", over)
	}
}

// TestBacktestHolds: buying and holding pays as a trade does. By hand: bought at 100 with a
// fee of 1 percent on top, at 120 both are 19 percent up; half of a percent of slippage makes
// the price 100.5.
func TestBacktestHolds(t *testing.T) {
	s := days(bar4{90, 90, 90, 90}, bar4{90, 101, 90, 101}, bar4{100, 120, 100, 110}, bar4{110, 120, 110, 120})
	for slippage, want := range map[string]float64{"0": 19, "0.5": 18.403} {
		// The second part begins with the bar of the entry.
		_, parts := reportOf(t, backtest(t, s, `{"enter":"close > 100","fee":1,"split":0.5,"slippage":`+slippage+`}`))
		if got := parts[1]; got["profit_pct"] != want || got["buy_and_hold_pct"] != want {
			t.Errorf("slippage %s: the trade is %v %% up and buy and hold %v %%, want %v", slippage, got["profit_pct"], got["buy_and_hold_pct"], want)
		}
	}
}

// TestBacktestNotes: where there is nothing to tell of, the facts say why.
func TestBacktestNotes(t *testing.T) {
	s := world(200, 100)
	newest := time.Unix(s.Time[199], 0).UTC().Format(time.RFC3339)
	for more, want := range map[string]string{
		`"from":"2099-01-01"`:                             "nothing was tested: from is 2099-01-01T00:00:00Z, and the newest bar began at " + newest,
		fmt.Sprintf(`"from":%d`, s.Time[199]+1):           "nothing was tested: from is " + time.Unix(s.Time[199]+1, 0).UTC().Format(time.RFC3339) + ", and the newest bar began at " + newest,
		`"split":0.001`:                                   "no parts: the first would have less than one bar (split 0.001, bars 200)",
		fmt.Sprintf(`"from":%d`, s.Time[199]):             "",
		`"split":0.005`:                                   "",
		fmt.Sprintf(`"from":%d,"split":0.5`, s.Time[199]): "no parts: the first would have less than one bar (split 0.5, bars 1)",
	} {
		got := ""
		for _, f := range backtest(t, s, `{"enter":"close > sma(10)",`+more+`}`).Facts {
			if f.Name == "note" {
				if err := json.Unmarshal(f.Value, &got); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", more, got, want)
		}
	}
}

// TestBacktestBegins: a backtest trades the bars shown and no others, whatever was loaded before
// them; with a date it begins there.
func TestBacktestBegins(t *testing.T) {
	s := world(1000, 100)
	request, err := New("backtest", raw(`{"enter":"close > sma(10)"}`))
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := reportOf(t, request.Compute(s).Tail(1000, 1000))
	tail := request.Compute(s).Tail(1000, 200)
	shown, _ := reportOf(t, tail)
	first := time.Unix(s.Time[800], 0).UTC().Format(time.RFC3339)
	if shown["from"] != first || whole["trades"].(float64) < 2*shown["trades"].(float64) || tail.Lines[0].Values[0] != 0 {
		t.Errorf("of all bars %v, of the newest 200 %v", whole, shown)
	}
	again, _ := reportOf(t, tail.Tail(200, 50))
	if fmt.Sprint(again) != fmt.Sprint(shown) {
		t.Errorf("cut once more: %v, want %v", again, shown)
	}
	dated := backtest(t, s, `{"enter":"close > sma(10)","from":`+fmt.Sprint(s.Time[500])+`}`).Tail(1000, 200)
	if since, _ := reportOf(t, dated); since["from"] != time.Unix(s.Time[500], 0).UTC().Format(time.RFC3339) {
		t.Errorf("with a date it begins at %v", since["from"])
	}
}

// TestBacktestSays: with thirty trades the verdict is left to the reader, and all
// that is told stays short.
func TestBacktestSays(t *testing.T) {
	r := backtest(t, world(5000, 100), `{"enter":"close > sma(10)","split":0.7}`)
	whole, parts := reportOf(t, r)
	if whole["verdict"] != nil || len(parts) != 2 || whole["trades"].(float64) < 30 {
		t.Errorf("report %v", whole)
	}
	text, err := json.Marshal(r.Facts)
	if err != nil || len(text) > 3000 {
		t.Errorf("%d characters, %v", len(text), err)
	}
	second, _ := reportOf(t, backtest(t, world(5000, 100), `{"enter":"close > sma(10)","split":0.7}`))
	if fmt.Sprint(second) != fmt.Sprint(whole) {
		t.Error("a second run says something else")
	}
}

// TestBacktestIsTheRule: a backtest enters on the bar after each on which the rule becomes true
// while nothing is held.
func TestBacktestIsTheRule(t *testing.T) {
	s := world(2000, 100)
	fired := make(map[int]bool)
	for _, sig := range when(t, "rsi(7) < 35 and close > sma(50)@1d").Compute(besides(s)).Signals {
		fired[sig.Bar] = sig.Label == BecomesTrue
	}
	held, entered := false, 0
	marks := make(map[int]string)
	for _, sig := range backtest(t, besides(s), `{"enter":"rsi(7) < 35 and close > sma(50)@1d","exit":"rsi(7) > 60"}`).Signals {
		marks[sig.Bar] = sig.Label
	}
	for i := 1; i < s.Len(); i++ {
		if marks[i] == Exit {
			held = false
		}
		if want := fired[i-1] && !held && marks[i] != Exit; want != (marks[i] == Enter) {
			t.Fatalf("bar %d: %q, the rule fired: %t, held: %t", i, marks[i], fired[i-1], held)
		}
		if marks[i] == Enter {
			held = true
			entered++
		}
	}
	if entered < 5 {
		t.Errorf("only %d trades", entered)
	}
}

// TestBacktestLeaves: the reply says what ends trades, which a client that left out exit
// would have to guess.
func TestBacktestLeaves(t *testing.T) {
	s := days(bar4{90, 90, 90, 90}, bar4{90, 101, 90, 101}, bar4{100, 120, 100, 110})
	for more, want := range map[string]string{
		``:                      "when enter is no longer true",
		`,"stop_loss":2`:        "when enter is no longer true, at the stop",
		`,"take_profit":3`:      "at the target",
		`,"hold":1`:             "after 1 bar",
		`,"exit":"close < 100"`: "when exit becomes true",
		`,"exit":"close < 100","hold":10,"stop_loss":2,"take_profit":3`: "when exit becomes true, after 10 bars, at the stop, at the target",
	} {
		for _, f := range backtest(t, s, `{"enter":"close > 100"`+more+`}`).Facts {
			if f.Name == "leaves" {
				if got := string(f.Value); got != fmt.Sprintf("%q", want) {
					t.Errorf("%s: %s, want %q", more, got, want)
				}
				want = ""
			}
		}
		if want != "" {
			t.Errorf("%s: nothing is said, want %q", more, want)
		}
	}
}

// TestBacktestSkips: on a bar on which both conditions become true no trade is entered, and
// if there is an exit the reply says so. An exit that has been true for longer does not keep
// a trade from being entered.
func TestBacktestSkips(t *testing.T) {
	s := days(bar4{90, 90, 90, 90}, bar4{90, 99, 90, 99}, bar4{99, 103, 99, 103}, bar4{103, 105, 103, 105})
	for _, c := range []struct {
		params  string
		entries int
		said    bool
	}{
		{`{"enter":"close > 100","exit":"close > 101"}`, 0, true},
		{`{"enter":"close > 100","exit":"close > 95"}`, 1, true},
		{`{"enter":"close > 100"}`, 1, false},
	} {
		r := backtest(t, s, c.params)
		entries := 0
		for _, g := range r.Signals {
			if g.Label == Enter {
				entries++
			}
		}
		text, err := json.Marshal(r.Facts)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(string(text), "nothing is entered"); entries != c.entries || said != c.said {
			t.Errorf("%s: entered %d times, want %d; said %v, want %v", c.params, entries, c.entries, said, c.said)
		}
	}
}

func BenchmarkRule(b *testing.B) {
	s := world(5000, 100)
	r, err := New("rule", raw(`{"when":"crosses_above(close, ema(20)) and volume > avg(volume, 50) and rsi(14) < 60"}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Compute(s).Tail(s.Len(), s.Len())
	}
}

func BenchmarkBacktest(b *testing.B) {
	s := world(5000, 100)
	r, err := New("backtest", raw(`{"enter":"close > ema(20) and rsi(14) > 50","exit":"close < ema(20)","stop_loss":3}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Compute(s).Tail(s.Len(), s.Len())
	}
}

// TestBacktestTerms: percentages may be written with their sign, the reply names
// what fills cost, and a trade that is still open is told apart: entered at 100
// with a fee of 1 percent, at 110 it is 9 percent up.
func TestBacktestTerms(t *testing.T) {
	s := days(bar4{90, 90, 90, 90}, bar4{90, 101, 90, 101}, bar4{100, 120, 100, 110})
	for _, params := range []string{
		`{"enter":"close > 100","fee":1,"slippage":0,"stop_loss":5}`, `{"enter":"close > 100","fee":"1%","slippage":"0 %","stop_loss":"5%"}`,
	} {
		got := make(map[string]string)
		for _, f := range backtest(t, s, params).Facts {
			got[f.Name] = string(f.Value)
		}
		for name, want := range map[string]string{"fee_pct": "1", "slippage_pct": "0", "open_profit_pct": "9", "open_since": `"1970-01-03T00:00:00Z"`} {
			if got[name] != want {
				t.Errorf("%s: %s is %s, want %s", params, name, got[name], want)
			}
		}
	}
}

// TestBacktestTarget: a short trade cannot earn its whole value, because no price falls to
// zero. A target that far away is refused, and one that is nearer, or that of a long trade,
// is not.
func TestBacktestTarget(t *testing.T) {
	for params, want := range map[string]string{
		`"side":"short","take_profit":150`:    "take_profit of backtest is 150 and side is short",
		`"side":"short","take_profit":"100%"`: "give less than 100",
		`"side":"short","take_profit":99`:     "",
		`"take_profit":150`:                   "",
	} {
		_, err := parseItem([]byte(`{"name":"backtest","enter":"close > 100",` + params + `}`))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}

// TestFiguresAreExplained: every figure of a report is explained, and docs/charts.md has the
// same words.
func TestFiguresAreExplained(t *testing.T) {
	text, err := json.Marshal(report{})
	if err != nil {
		t.Fatal(err)
	}
	var figures map[string]json.RawMessage
	if err := json.Unmarshal(text, &figures); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/charts.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range figures {
		if name == "from" || name == "to" {
			continue
		}
		if words := BacktestFigures[name]; words == "" || !strings.Contains(string(page), "| `"+name+"` | "+words+" |\n") {
			t.Errorf("%s: docs/charts.md should have the row | `%s` | %s |", name, name, words)
		}
	}
}

// TestBacktestExits follows stops and targets by the average true range, trailing stops and
// an entry at a date by hand. Twenty quiet days have a true range of 2 and so an average of
// 2; the day that decides has one of 11, after which the average is (13*2 + 11) / 14.
func TestBacktestExits(t *testing.T) {
	const average = 37.0 / 14
	quiet := bar4{90, 91, 89, 90}
	for _, c := range []struct {
		name, params string
		bars         []bar4 // after the day that decides
		reason       string
		profit       float64 // percent, of the trade
	}{
		{"a stop of two true ranges", `"stop_atr":2`, []bar4{{100, 101, 94, 101}}, "stop_loss", -2 * average},
		{"not quite reached", `"stop_atr":2`, []bar4{{100, 101, 95, 101}, {110, 110, 110, 110}}, "", 0},
		{"short, above", `"side":"short","stop_atr":2`, []bar4{{100, 106, 99, 101}}, "stop_loss", -2 * average},
		{"a target of one", `"target_atr":1`, []bar4{{100, 103, 99, 101}}, "take_profit", average},
		{"both within a bar: the stop", `"stop_atr":1,"target_atr":1`, []bar4{{100, 103, 97, 101}}, "stop_loss", -average},
		// It stands 10 % below 100, then 10 % below 120.
		{"trailing", `"trail":10`, []bar4{{100, 120, 99, 119}, {119, 119, 107, 110}}, "trailing_stop", 8},
		{"within a bar the stop is where it stood", `"trail":10`, []bar4{{100, 120, 91, 100}, {107, 110, 107, 110}}, "trailing_stop", 7},
		{"the open comes before the rest", `"trail":10`, []bar4{{100, 100, 100, 100}, {120, 120, 107, 110}}, "trailing_stop", 8},
		{"it never falls back", `"trail":10`, []bar4{{100, 120, 100, 120}, {115, 115, 110, 110}, {110, 110, 108, 108}}, "trailing_stop", 8},
		{"trailing by true ranges", `"trail_atr":2`, []bar4{{100, 110, 100, 110}, {110, 110, 100, 101}}, "trailing_stop", 10 - 2*average},
		{"short, above its lowest", `"side":"short","trail":10`, []bar4{{100, 100, 80, 80}, {80, 90, 80, 90}}, "trailing_stop", 12},
		{"the nearer of stop and trailing stop", `"trail":10,"stop_loss":5`, []bar4{{100, 101, 94, 101}}, "stop_loss", -5},
		{"a trailing stop alone leaves, not the rule", `"trail":10`, []bar4{{100, 101, 99, 99}, {99, 99, 99, 99}}, "", 0},
		{"after so many bars", `"hold":1`, []bar4{{100, 101, 99, 101}, {110, 110, 110, 110}}, "hold", 10},
		{"by the rule", `"exit":"close < 100"`, []bar4{{100, 101, 99, 99}, {110, 110, 110, 110}}, "exit", 10},
	} {
		bars := append(append(slices.Repeat([]bar4{quiet}, 20), bar4{90, 101, 90, 101}), c.bars...)
		trades := tradesOf(t, backtest(t, days(bars...), `{"enter":"close > 100","fee":0,"slippage":0,"trades":true,`+c.params+`}`))
		switch {
		case c.reason == "" && len(trades.Rows) > 0:
			t.Errorf("%s: it left: %v", c.name, trades.Rows)
		case c.reason != "" && (len(trades.Rows) != 1 || trades.Rows[0][4] != c.reason || math.Abs(trades.Rows[0][5].(float64)-c.profit) > 1e-4):
			t.Errorf("%s: %v, want %s with %v %%", c.name, trades.Rows, c.reason, c.profit)
		}
	}
}

// trades is the fact of a backtest that lists its trades.
type trades struct {
	Columns []string
	Rows    [][]any
	More    int
}

// tradesOf returns the trades that a backtest lists.
func tradesOf(t *testing.T, r *Result) (list trades) {
	t.Helper()
	for _, f := range r.Facts {
		if f.Name == "trades" {
			if err := json.Unmarshal(f.Value, &list); err != nil {
				t.Fatal(err)
			}
		}
	}
	return list
}

// TestBacktestEntersAtDate: a date in place of a rule enters at the open of the first bar
// that begins at or after it, and says so if there is none.
func TestBacktestEntersAtDate(t *testing.T) {
	bars := days(bar4{100, 100, 100, 100}, bar4{100, 101, 99, 100}, bar4{102, 104, 101, 103}, bar4{103, 110, 103, 108}, bar4{108, 108, 108, 108})
	for _, c := range []struct{ params, entered, note string }{
		{`{"enter_at":"1970-01-03","take_profit":5,"fee":0,"slippage":0,"trades":true}`, "1970-01-03T00:00:00Z", ""},
		{`{"enter_at":"1970-01-02 12:00","take_profit":5,"fee":0,"slippage":0,"trades":true}`, "1970-01-03T00:00:00Z", ""},
		{`{"enter_at":"1971-01-03","take_profit":5,"trades":true}`, "", "no bar that was tested begins at 1971-01-03T00:00:00Z or next after it"},
		{`{"enter_at":"1970-01-02","from":"1970-01-04","take_profit":5,"trades":true}`, "", "no bar that was tested begins at 1970-01-02T00:00:00Z or next after it"},
	} {
		r := backtest(t, bars, c.params)
		entered, note := "", ""
		if list := tradesOf(t, r); len(list.Rows) > 0 {
			entered = list.Rows[0][0].(string)
		}
		for _, f := range r.Facts {
			if f.Name == "note" {
				note = string(f.Value)
			}
		}
		if entered != c.entered || !strings.Contains(note, c.note) || (c.note == "") != (note == "") {
			t.Errorf("%s: entered %q with the note %s, want %q and %q", c.params, entered, note, c.entered, c.note)
		}
	}
	// Without a date the rule is needed, and two distances of one kind exclude each other.
	for params, want := range map[string]string{
		`{"take_profit":5}`: `backtest needs "enter"`, `{"enter":"close > 1","stop_loss":1,"stop_atr":1}`: "stop_loss and stop_atr",
		`{"enter":"close > 1","take_profit":1,"target_atr":1}`: "take_profit and target_atr", `{"enter":"close > 1","trail":1,"trail_atr":1}`: "trail and trail_atr",
		`{"enter_at":"1970-01-03"}`: "",
	} {
		r, err := New("backtest", raw(params))
		if err != nil {
			t.Fatal(err)
		}
		if err = r.Check(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}

// TestBacktestTrades: the trades of a backtest come with their times, prices, reason and profit,
// the newest first, in pages of a hundred.
func TestBacktestTrades(t *testing.T) {
	var bars []bar4
	for i := range 150 { // bought at 100 and sold at 101, 102 …
		bars = append(bars, bar4{90, 90, 90, 90}, bar4{90, 101, 90, 101}, bar4{100, 101, 99, 99}, bar4{101 + float64(i), 400, 90, 90})
	}
	const test = `{"enter":"close > 100","fee":0,"slippage":0,"trades":true,"skip":%d}`
	first, second := tradesOf(t, backtest(t, days(bars...), fmt.Sprintf(test, 0))), tradesOf(t, backtest(t, days(bars...), fmt.Sprintf(test, 100)))
	if got := strings.Join(first.Columns, " "); got != "entered left entry exit reason profit_pct" {
		t.Errorf("columns %s", got)
	}
	if len(first.Rows) != 100 || first.More != 50 || len(second.Rows) != 50 || second.More != 0 {
		t.Fatalf("pages of %d and %d trades, and %d and %d more", len(first.Rows), len(second.Rows), first.More, second.More)
	}
	if got, want := fmt.Sprint(first.Rows[0]), "[1971-08-22T00:00:00Z 1971-08-23T00:00:00Z 100 250 exit 150]"; got != want {
		t.Errorf("the newest is %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(second.Rows[49]), "[1970-01-03T00:00:00Z 1970-01-04T00:00:00Z 100 101 exit 1]"; got != want {
		t.Errorf("the oldest is %s, want %s", got, want)
	}
	if list := tradesOf(t, backtest(t, days(bars...), `{"enter":"close > 100"}`)); list.Columns != nil {
		t.Errorf("trades are listed unasked: %v", list)
	}
}
