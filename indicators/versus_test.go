package indicators

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"wick/indicators/kernel"
	"wick/market"
)

// pair returns five hourly bars beside another market that has no third bar and a
// sixth one that is still forming.
func pair() *market.Series {
	bar := func(hour int, price float64) market.Bar {
		return market.Bar{Time: int64(hour) * 3600, Open: price, High: price, Low: price, Close: price, Volume: 1}
	}
	own, other := &market.Series{Interval: market.Hour1}, &market.Series{Symbol: "ETHUSDT", Interval: market.Hour1, Forming: true}
	for i, price := range []float64{10, 11, 12, 11, 13} {
		own.Append(bar(i, price))
	}
	for _, b := range []struct {
		hour  int
		price float64
	}{{1, 2}, {3, 4}, {4, 5}, {5, 99}} {
		other.Append(bar(b.hour, b.price))
	}
	own.Others = map[market.Other]*market.Series{{Symbol: "ETHUSDT"}: other}
	return own
}

// TestVersusByHand: the other market closes at nothing, 2, 2 again, 4 and 5.
func TestVersusByHand(t *testing.T) {
	for _, test := range []struct {
		name, params, label string
		want                []float64
	}{
		{"ratio", `{"versus":"ethusdt","length":2}`, "Ratio", []float64{nan, 5.5, 6, 2.75, 2.6}},
		{"ratio", `{"versus":"ETHUSDT","length":2}`, "Average", []float64{nan, nan, 5.75, 4.375, 2.675}},
		{"spread", `{"vs":"ETHUSDT","hedge":2,"length":2}`, "Spread", []float64{nan, 7, 8, 3, 3}},
		{"mansfield_rs", `{"versus":"ETHUSDT","length":2}`, "RS", []float64{nan, nan, 100 * (6/5.75 - 1), 100 * (2.75/4.375 - 1), 100 * (2.6/2.675 - 1)}},
		// Of 12, 11 and 2, 4: they move against each other; of 11, 13 and 4, 5 together.
		{"correlation_versus", `{"versus":"ETHUSDT","length":2}`, "Correlation", []float64{nan, nan, 0, -1, 1}},
		// Returns of the other 0, 1, 0.25; of this one 1/11, -1/12, 2/11. Over the last two:
		// covariance -0.75 * (2/11 + 1/12) / 4, variance 0.75² / 4.
		{"beta_versus", `{"versus":"ETHUSDT","length":2}`, "Beta", []float64{nan, nan, nan, -1./12 - 1./11, -(2./11 + 1./12) / 0.75}},
	} {
		if got := line(t, compute(t, pair(), test.name, test.params), test.label); !same(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	request, err := New("ratio", raw(`{"versus":"ETHUSDT"}`))
	if err != nil {
		t.Fatal(err)
	}
	if list, err := request.Others(market.Hour1); err != nil || len(list) != 1 || list[0].Symbol != "ETHUSDT" || request.Label() != "Ratio(ETHUSDT, 20)" {
		t.Errorf("%s reads %v, %v", request.Label(), list, err)
	}
	for _, params := range []string{`{"versus":""}`, `{"versus":7}`, `{"versus":{"a":1}}`} {
		if _, err := New("ratio", raw(params)); err == nil {
			t.Errorf("%s is taken for a market", params)
		}
	}
}

// TestFormingBesideForming: the forming bar of a chart is compared with the forming bar
// of the other market, 99, and not with its last closed one, 5; no closed bar knows of it.
func TestFormingBesideForming(t *testing.T) {
	s := pair()
	s.Append(market.Bar{Time: 5 * 3600, Open: 198, High: 198, Low: 198, Close: 198, Volume: 1})
	s.Forming = true
	want := []float64{nan, 5.5, 6, 2.75, 2.6, 2}
	if got := line(t, compute(t, s, "ratio", `{"versus":"ETHUSDT"}`), "Ratio"); !same(got, want) {
		t.Errorf("ratio: %v, want %v", got, want)
	}
	if got := formulaOf(t, s, "close / close:ETHUSDT"); !same(got, want) {
		t.Errorf("close / close:ETHUSDT: %v, want %v", got, want)
	}
	// A bar later the other market still forms the bar that is closed here: it is not read.
	s.Append(market.Bar{Time: 6 * 3600, Open: 10, High: 10, Low: 10, Close: 10, Volume: 1})
	want = []float64{nan, 5.5, 6, 2.75, 2.6, 39.6, 2}
	if got := line(t, compute(t, s, "ratio", `{"versus":"ETHUSDT"}`), "Ratio"); !same(got, want) {
		t.Errorf("ratio beside a market that is late: %v, want %v", got, want)
	}
}

// TestIndicatorOfIndicator holds the line of an entry computed of another against
// the kernels put one upon the other.
func TestIndicatorOfIndicator(t *testing.T) {
	s := world(600, 100)
	rsi := kernel.RSI(s.Close, 14)
	_, signal, _ := kernel.MACD(s.Close, 12, 26, 9)
	for _, test := range []struct {
		item, label string
		overlay     bool
		want        []float64
	}{
		{`{"name":"ema","length":20,"source":"rsi"}`, "EMA(20, RSI(14))", false, kernel.EMA(rsi, 20)},
		{`{"name":"sma","length":9,"source":{"name":"RSI 21"}}`, "SMA(9, RSI(21))", false, kernel.SMA(kernel.RSI(s.Close, 21), 9)},
		{`{"name":"sma","length":9,"source":{"name":"macd","line":"signal"}}`, "SMA(9, MACD(12, 26, 9))", false, kernel.SMA(signal, 9)},
		{`{"name":"ema","length":5,"source":{"name":"sma","length":30}}`, "EMA(5, SMA(30))", true, kernel.EMA(kernel.SMA(s.Close, 30), 5)},
		{`{"name":"rsi","source":{"name":"ema","length":5,"source":{"name":"obv"}}}`, "RSI(14, EMA(5, OBV(20)))", false, kernel.RSI(kernel.EMA(kernel.OBV(s.Close, s.Volume), 5), 14)},
		{`{"name":"ema","length":20,"source":"hl2"}`, "EMA(20, hl2)", true, kernel.EMA(kernel.MedianPrice(s), 20)},
	} {
		requests, err := Parse([]json.RawMessage{json.RawMessage(test.item)})
		if err != nil {
			t.Errorf("%s: %v", test.item, err)
			continue
		}
		r := requests[0].Compute(s)
		if !same(r.Lines[0].Values, test.want) || r.Label != test.label || r.Overlay != test.overlay {
			t.Errorf("%s: label %q, overlay %t, values equal: %t", test.item, r.Label, r.Overlay, same(r.Lines[0].Values, test.want))
		}
		if err := promise(requests[0], s); err != nil {
			t.Errorf("%s: %v", test.item, err)
		}
		if warmup := requests[0].Warmup(market.Hour1); warmup < market.MaxLimit {
			settled(t, requests[0], world(warmup+3650, 100), warmup, 3)
		}
	}
}

// TestIndicatorOfHoles: a line that comes and goes is computed run by run.
func TestIndicatorOfHoles(t *testing.T) {
	s := world(600, 100)
	stop := line(t, compute(t, s, "supertrend", `{}`), "Up")
	got := line(t, compute(t, s, "sma", `{"length":3,"source":"supertrend"}`), "SMA")
	values := 0
	for i := 2; i < s.Len(); i++ {
		want := (stop[i-2] + stop[i-1] + stop[i]) / 3
		if math.IsNaN(want) != math.IsNaN(got[i]) || math.Abs(got[i]-want) > 1e-9 {
			t.Fatalf("bar %d: %v, want %v", i, got[i], want)
		}
		if !math.IsNaN(want) {
			values++
		}
	}
	if values < 100 {
		t.Errorf("only %d values compared", values)
	}
}

// TestIndicatorOfRefused: what cannot be a source is refused with a reason.
func TestIndicatorOfRefused(t *testing.T) {
	deep := `"rsi"`
	for range 6 {
		deep = `{"name":"ema","source":` + deep + `}`
	}
	for item, want := range map[string]string{
		`{"name":"ema","source":"nonsense"}`:                    "nor an indicator",
		`{"name":"ema","source":{"name":"nonsense"}}`:           "unknown indicator",
		`{"name":"ema","source":{"name":"macd","line":"blue"}}`: "it has MACD, Signal, Histogram",
		`{"name":"ema","source":{"name":"macd","line":7}}`:      "not the name of a line",
		`{"name":"ema","source":"candles"}`:                     "nor an indicator",
		`{"name":"ema","source":{"name":"zigzag"}}`:             "nothing can be computed of it",
		`{"name":"supertrend","source":"rsi"}`:                  "no parameter",
		deep:                                                    "more than 4",
	} {
		_, err := Parse([]json.RawMessage{json.RawMessage(item)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", limit40(item), err, want)
		}
	}
	a, errA := New("ema", raw(`{"source":"rsi"}`))
	b, errB := New("ema", raw(`{"source":{"name":"rsi","length":21}}`))
	if errA != nil || errB != nil || a.Identity() == b.Identity() {
		t.Errorf("%q and %q are taken for the same", a.Identity(), b.Identity())
	}
}

func limit40(s string) string { return s[:min(len(s), 40)] }
