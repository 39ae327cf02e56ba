package indicators

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"wick/indicators/shape"
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
	ind := &Indicator{Name: "test", Params: divParams()}
	price := []float64{0, 1, 5, 1, 0, 1, 6, 1, 0}
	osc := []float64{0, 1, 5, 1, 0, 1, 4, 1, 0.5}
	for _, c := range []struct {
		show, label string
	}{{"regular", shape.BearDiv}, {"all", shape.BearDiv}, {"hidden", ""}, {"off", ""}} {
		a, err := ind.resolve(raw(`{"divergence":"` + c.show + `","pivot_left":2,"pivot_right":2}`))
		if err != nil {
			t.Fatal(err)
		}
		r := &Result{}
		addDivergences(r, plainSeries(price, price), osc, a)
		if c.label == "" {
			if len(r.Signals)+len(r.DivLines) != 0 {
				t.Errorf("%s: got %v %v, want nothing", c.show, r.Signals, r.DivLines)
			}
			continue
		}
		if want := []Signal{shape.Mark(8, 0.5, c.label, Down)}; !slices.Equal(r.Signals, want) {
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
	r := &Result{}
	addDivergences(r, plainSeries(osc, osc), price, a)
	if want := []DivLine{{X1: 2, Y1: 5, X2: 6, Y2: 6, Dashed: true, Tone: Down}}; !slices.Equal(r.DivLines, want) {
		t.Errorf("hidden: lines %v, want %v", r.DivLines, want)
	}
}

// TestSilent: of an entry with these parameters, which signals never come.
func TestSilent(t *testing.T) {
	for request, silent := range map[string]string{
		`"rsi"`:                                "hidden_bull_div hidden_bear_div",
		`{"name":"rsi","divergence":"hidden"}`: "bull_div bear_div",
		`{"name":"rsi","divergence":"all"}`:    "",
		`{"name":"macd","divergence":"off"}`:   "bull_div bear_div hidden_bull_div hidden_bear_div",
		`"cipher_b"`:                           "hidden_bull_div hidden_bear_div rsi_bull_div rsi_bear_div stoch_bull_div stoch_bear_div",
		`{"name":"cipher_b","show_hidden":true,"show_rsi_divergences":true}`: "stoch_bull_div stoch_bear_div",
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
