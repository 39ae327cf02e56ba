package indicators

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"wick/market"
)

// TestSenselessBounds refuses parameters that are each within their bounds and
// make no sense together, or a length of which there is nothing to say.
func TestSenselessBounds(t *testing.T) {
	for _, c := range []struct{ name, params, says string }{
		{"rsi", `{"oversold":80,"overbought":20}`, "oversold of rsi is 80 and overbought is 20"},
		{"rsi", `{"oversold":70}`, "oversold of rsi is 70 and overbought is 70"},
		{"cci", `{"lower":200,"upper":100}`, "oversold of cci is 200"},
		{"wavetrend", `{"oversold":60}`, "overbought is 53"},
		{"cipher_b", `{"wt_oversold":0,"wt_overbought":0}`, "wt_oversold"},
		{"choppiness", `{"lower":70,"upper":30}`, "lower of choppiness is 70"},
		{"mass_index", `{"lower":28}`, "upper is 27"},
		{"mavp", `{"minimum":40,"maximum":10}`, "minimum of mavp is 40 and maximum is 10"},
		{"zscore", `{"length":1}`, "out of bounds, 2 to 1000"},
		{"rsi", `{"length":14.5}`, "14.5 is not a whole number"},
		{"obv", `{"nonsense":1}`, `has no parameter "nonsense"`},
		{"bop", `{"nonsense":1}`, `bop has no parameter "nonsense", it takes none`},
		{"stoch", `{"preset":"nobody"}`, `stoch has no preset "nobody"; it has `},
		{"rsi", `{"preset":"nobody"}`, `rsi has no preset "nobody"; `},
		{"rule", `{"when":"close"}`, "close is a number: write a condition, such as close > 0"},
		{"formula", `{"expr":"` + strings.Repeat("close + ", 60) + `1"}`, "has 481 characters, at most 400 are taken"},
		{"sma", `{"source":{"name":"formula","expr":"close / 2"}}`, "formula cannot stand for a price: name the indicator in a formula instead"},
	} {
		if _, err := New(c.name, raw(c.params)); !errors.Is(err, errParam) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v, want one that says %q", c.name, c.params, err, c.says)
		}
	}
	for _, ok := range []struct{ name, params string }{{"rsi", `{"oversold":20,"overbought":90}`}, {"mavp", `{"minimum":10,"maximum":10}`}} {
		if _, err := New(ok.name, raw(ok.params)); err != nil {
			t.Errorf("%s %s: %v", ok.name, ok.params, err)
		}
	}
}

// TestDeviationOfOne: one value has no deviation, variance or correlation, so the
// lengths over which one is taken begin at 2, and the refusal says so.
func TestDeviationOfOne(t *testing.T) {
	for _, c := range []struct{ name, param string }{
		{"avgdev", "length"}, {"bb_bandwidth", "length"}, {"bb_percent_b", "length"}, {"bbands", "length"}, {"bbtrend", "short"}, {"bbtrend", "long"},
		{"beta", "length"}, {"cci", "length"}, {"correl", "length"}, {"hist_volatility", "length"}, {"kurtosis", "length"}, {"linreg_channel", "length"},
		{"rvi_volatility", "length"}, {"sharpe", "length"}, {"skew", "length"}, {"sortino", "length"}, {"squeeze", "bb"}, {"stddev", "length"},
		{"variance", "length"}, {"beta_versus", "length"}, {"correlation_versus", "length"}, {"waddah_attar", "length"}, {"williams_vix_fix", "band_length"},
		{"woodies_cci", "length"}, {"woodies_cci", "turbo"}, {"zscore", "length"},
	} {
		_, err := New(c.name, raw(`{"`+c.param+`":1}`))
		if want := c.param + " of " + c.name + ": 1 is out of bounds, "; !errors.Is(err, errParam) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s with %s 1: %v, want one that says %q", c.name, c.param, err, want)
		}
	}
}

// TestGivenUnderTwoNames: two names of one parameter with different values are refused;
// nobody can know which one was meant.
func TestGivenUnderTwoNames(t *testing.T) {
	for item, refused := range map[string]bool{
		`{"name":"rsi","length":7,"period":9}`: true, `{"name":"rsi","length":7,"LENGTH":9}`: true, `{"name":"rsi","params":{"length":7},"length":9}`: true,
		`{"name":"rsi","params":{"length":7},"period":9}`: true, `{"name":"rsi","source":"close","src":"open"}`: true,
		`{"name":"macd","fast":12,"fast_length":5,"fastperiod":3}`: true,
		`{"name":"rsi","length":7,"period":7}`:                     false, `{"name":"rsi","params":{"length":7},"length":7}`: false,
		`{"name":"rsi","length":null,"params":{"length":7}}`: false, `{"name":"rsi","length":7,"params":{"length":null}}`: false,
		`{"name":"rsi","length":7,"period":null}`: false, `{"name":"rsi(7)","period":9}`: false, // what is given by name wins
	} {
		if _, err := Parse([]json.RawMessage{json.RawMessage(item)}); (err != nil) != refused {
			t.Errorf("%s: %v, want it refused: %t", item, err, refused)
		}
	}
}

// TestNestedSources: how deep sources may be nested is known before they are read, so
// that a request of ten thousand levels is refused in a few words.
func TestNestedSources(t *testing.T) {
	nested := func(levels int) json.RawMessage {
		return json.RawMessage(strings.Repeat(`{"name":"ema","source":`, levels) + `"close"` + strings.Repeat("}", levels))
	}
	for levels, refused := range map[int]bool{1: false, maxSources + 1: false, maxSources + 2: true, 9000: true} {
		_, err := Parse([]json.RawMessage{nested(levels)})
		if (err != nil) != refused || refused && len(err.Error()) > 500 {
			t.Errorf("%d levels: %.600v", levels, err)
		}
	}
}

// TestIdentityTellsParametersApart: alerts with the same identity share one result, so a
// request with any other value of a parameter has another identity.
func TestIdentityTellsParametersApart(t *testing.T) {
	compared := 0
	for _, ind := range catalog {
		for _, p := range ind.Params {
			var values []string
			switch p.Kind {
			case Choice:
				for _, c := range p.Choices {
					values = append(values, fmt.Sprintf("%q", c))
				}
				if p.Many && len(p.Choices) > 2 {
					values = append(values, fmt.Sprintf("%q", p.Choices[1]+","+p.Choices[2]))
				}
			case Bool:
				values = []string{"true", "false"}
			case Symbol:
				values = []string{`"AAA"`, `"BBB"`}
			case Expression:
				values = []string{`"close > 41"`, `"close > 42"`}
			default:
				values = []string{number(p.Default), number(p.Default + 1), number(p.Default - 1), number(p.Min), number(p.Max)}
			}
			seen := make(map[string]string)
			for _, v := range values {
				r, err := New(ind.Name, raw(fmt.Sprintf("{%q:%s}", p.Name, v)))
				if err != nil {
					continue // beyond its bounds, or of no sense with the other values
				}
				compared++
				value := fmt.Sprint(r.Args.values[ind.index(p.Name)], r.Args.chosen[p.Name], r.Args.texts[p.Name], r.Args.exprs[p.Name])
				if before, ok := seen[r.Identity()]; ok && before != value {
					t.Errorf("%s %s %s and %s are both %s", ind.Name, p.Name, before, value, r.Identity())
				}
				seen[r.Identity()] = value
			}
		}
	}
	if compared < 1000 {
		t.Errorf("%d values were compared, want at least 1000", compared)
	}
}

// TestSourceOfTheCloseItself: of bars with one price each, an average over one bar is the
// close. So every entry that takes a source gives the same for it as for the close: lines,
// histograms, fills, signals and all.
func TestSourceOfTheCloseItself(t *testing.T) {
	s, err := market.Sample{}.At(market.Query{Symbol: "BTCUSDT", Interval: market.Hour1, Limit: 700}, time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	s.Open, s.High, s.Low = s.Close, s.Close, s.Close
	compared := 0
	for _, ind := range catalog {
		i := ind.index("source")
		if i < 0 || ind.Params[i].Kind != Choice {
			continue
		}
		of, err := New(ind.Name, raw(`{"source":{"name":"sma","length":1}}`))
		if err != nil {
			t.Errorf("%s: %v", ind.Name, err)
			continue
		}
		compared++
		plain := compute(t, s, ind.Name, `{"source":"close"}`)
		got := of.Compute(s)
		got.Label = plain.Label
		got.Lines = got.Lines[:len(plain.Lines)] // the source itself may follow
		if got.YRange != nil && plain.YRange != nil && *got.YRange == *plain.YRange {
			got.YRange = plain.YRange
		}
		if a, b := fmt.Sprintf("%+v", *got), fmt.Sprintf("%+v", *plain); a != b {
			t.Errorf("%s of the close is\n%.300s\nand not\n%.300s", ind.Name, a[differ(a, b):], b[differ(a, b):])
		}
	}
	if compared < 30 {
		t.Errorf("%d entries were compared, want at least 30", compared)
	}
}

// differ returns a place shortly before the first byte in which two texts differ.
func differ(a, b string) int {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return max(0, i-100)
}
