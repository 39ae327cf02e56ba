package indicators

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"wick/market"
)

// plainSeries returns bars whose highs and lows are those given; open and close
// lie between them.
func plainSeries(highs, lows []float64) *market.Series {
	s := &market.Series{}
	for i := range highs {
		mid := (highs[i] + lows[i]) / 2
		s.Append(market.Bar{Time: int64(i) * 3600, Open: mid, High: highs[i], Low: lows[i], Close: mid, Volume: 1})
	}
	return s
}

// TestAddDivergences checks what reaches a result: the signal on the bar of
// confirmation, the line between the extremes, solid or dashed.
func TestAddDivergences(t *testing.T) {
	ind := &Indicator{Name: "test", Params: divParams(), Plots: []Plot{mainly("x")}, Events: []Event{diverges("x")}}
	price := []float64{0, 1, 5, 1, 0, 1, 6, 1, 0}
	osc := []float64{0, 1, 5, 1, 0, 1, 4, 1, 0.5}
	for _, c := range []struct {
		show, label string
	}{{"regular", BearDiv}, {"all", BearDiv}, {"hidden", ""}, {"off", ""}} {
		a, err := ind.resolve(raw(`{"divergence":"` + c.show + `","pivot_left":2,"pivot_right":2}`))
		if err != nil {
			t.Fatal(err)
		}
		ind.Calc = func(Input) Columns { return Columns{osc} }
		r := ind.draw(Input{plainSeries(price, price), a})
		if c.label == "" {
			if len(r.Signals)+len(r.DivLines) != 0 {
				t.Errorf("%s: got %v %v, want nothing", c.show, r.Signals, r.DivLines)
			}
			continue
		}
		if want := []Signal{Mark(8, 0.5, c.label, Down)}; !slices.Equal(r.Signals, want) {
			t.Errorf("%s: signals %v, want %v", c.show, r.Signals, want)
		}
		if want := []DivLine{{X1: 2, Y1: 5, X2: 6, Y2: 4, Tone: Down}}; !slices.Equal(r.DivLines, want) {
			t.Errorf("%s: lines %v, want %v", c.show, r.DivLines, want)
		}
	}
	// The same two tops the other way round: a hidden one, dashed.
	a, err := ind.resolve(raw(`{"divergence":"hidden","pivot_left":2,"pivot_right":2}`))
	if err != nil {
		t.Fatal(err)
	}
	ind.Calc = func(Input) Columns { return Columns{price} }
	r := ind.draw(Input{plainSeries(osc, osc), a})
	if want := []DivLine{{X1: 2, Y1: 5, X2: 6, Y2: 6, Dashed: true, Tone: Down}}; !slices.Equal(r.DivLines, want) {
		t.Errorf("hidden: lines %v, want %v", r.DivLines, want)
	}
}

// TestSilent: it is known which signals never come of an entry with its parameters.
func TestSilent(t *testing.T) {
	for request, silent := range map[string]string{
		`"rsi"`:                                "hidden_bull_div hidden_bear_div",
		`{"name":"rsi","divergence":"hidden"}`: "bull_div bear_div",
		`{"name":"rsi","divergence":"all"}`:    "",
		`{"name":"macd","divergence":"off"}`:   "bull_div bear_div hidden_bull_div hidden_bear_div",
		`"cipher_b"`:                           "hidden_bull_div hidden_bear_div rsi_bull_div rsi_bear_div stoch_bull_div stoch_bear_div",
		`{"name":"cipher_b","show_hidden":true,"show_rsi_divergences":true}`:               "stoch_bull_div stoch_bear_div",
		`{"name":"rsi","oversold":0,"overbought":100,"divergence":"all"}`:                  "enters_oversold enters_overbought",
		`{"name":"willr","oversold":-100}`:                                                 "enters_oversold",
		`{"name":"cci","oversold":-1000,"divergence":"all"}`:                               "",
		`{"name":"rsi_mfi_stoch","show_entry_dots":false}`:                                 "rsi_oversold rsi_overbought stoch_oversold stoch_overbought",
		`{"name":"backtest","enter":"close > open"}`:                                       "stop_loss take_profit",
		`{"name":"backtest","enter":"close > open","stop_loss":2}`:                         "take_profit",
		`{"name":"backtest","enter":"close > open","take_profit":5}`:                       "exit stop_loss",
		`{"name":"backtest","enter":"close > open","take_profit":5,"hold":3}`:              "stop_loss",
		`{"name":"backtest","enter":"close > open","take_profit":5,"exit":"close < open"}`: "stop_loss",
		`{"name":"candles"}`: "",
	} {
		all, err := Parse([]json.RawMessage{json.RawMessage(request)})
		if err != nil {
			t.Fatal(err)
		}
		r := all[0]
		var got []string
		for _, label := range r.Ind.Signals {
			if r.Silent(label) != "" {
				got = append(got, label)
			}
		}
		if strings.Join(got, " ") != silent {
			t.Errorf("%s: %v never come, want %s", request, got, silent)
		}
	}
}

// TestSilentCandles: an entry that looks for some patterns emits their signals alone, and the
// others are told of.
func TestSilentCandles(t *testing.T) {
	r, err := New("candles", raw(`{"pattern":["engulfing","doji"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range r.Ind.Signals {
		set, looked := r.Silent(label), slices.Contains([]string{"engulfing_bull", "engulfing_bear", "doji"}, label)
		if looked != (set == "") || !looked && set != "pattern to all" {
			t.Errorf("%s: set %q", label, set)
		}
	}
}

// TestSilentSwitches: a switch that stops a signal of the defaults altogether is known to
// Silent; what Silent calls silent never comes.
func TestSilentSwitches(t *testing.T) {
	s := besides(world(2000, 100))
	emitted := func(r Request) map[string]bool {
		m := make(map[string]bool)
		for _, sig := range r.Compute(s).Signals {
			m[sig.Label] = true
		}
		return m
	}
	for ind := range All() {
		for _, p := range ind.Params {
			if p.Kind != Bool {
				continue
			}
			var came [2]map[string]bool
			for i, value := range []string{"false", "true"} {
				r, err := New(ind.Name, raw(`{"`+p.Name+`":`+value+`}`))
				if err != nil {
					t.Fatal(err)
				}
				came[i] = emitted(r)
				for _, label := range ind.Signals {
					if r.Silent(label) != "" && came[i][label] {
						t.Errorf("%s with %s %s emits %s", ind.Name, p.Name, value, label)
					}
				}
			}
			for label := range came[1] {
				if off, err := New(ind.Name, raw(`{"`+p.Name+`":false}`)); err != nil || !came[0][label] && off.Silent(label) == "" {
					t.Errorf("%s emits no %s without %s, and nothing is said (%v)", ind.Name, label, p.Name, err)
				}
			}
		}
	}
}
