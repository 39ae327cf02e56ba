package indicators

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"wick/indicators/kernel"
	"wick/market"
)

// swings returns bars that swing far enough for every signal of Cipher B:
// a walk with strong waves of several lengths.
func swings(n int) *market.Series {
	s := walk(n, 21)
	for i := range n {
		x := float64(i)
		wave := math.Exp(0.25*math.Sin(x/17) + 0.15*math.Sin(x/7.3) + 0.1*math.Sin(x/41))
		s.Open[i], s.High[i], s.Low[i], s.Close[i] = s.Open[i]*wave, s.High[i]*wave, s.Low[i]*wave, s.Close[i]*wave
	}
	return s
}

// TestCipherLines compares the lines with those of the entries that vectors
// judge, and what no other entry has with the plain formula.
func TestCipherLines(t *testing.T) {
	s := swings(300)
	r := compute(t, s, "cipher_b", `{}`)
	wt := compute(t, s, "wavetrend", `{"channel":9,"average":12,"signal":3}`)
	rsi := compute(t, s, "rsi", `{"length":14}`)
	for k, want := range [][]float64{wt.Lines[0].Values, wt.Lines[1].Values, rsi.Lines[0].Values} {
		if !same(r.Lines[k].Values, want) {
			t.Errorf("%s differs from its own entry", r.Lines[k].Label)
		}
	}
	flow := kernel.NaNs(300)
	for i := 59; i < 300; i++ {
		var sum float64
		for k := i - 59; k <= i; k++ {
			sum += 150 * (s.Close[k] - s.Open[k]) / (s.High[k] - s.Low[k])
		}
		flow[i] = sum/60 - 2.5
	}
	if !same(r.Histogram[0].Values, flow) {
		t.Error("money flow differs from the plain formula")
	}
	logs := *s
	logs.Close = make([]float64, 300)
	for i, v := range s.Close {
		logs.Close[i] = math.Log(v)
	}
	of := compute(t, &logs, "rsi", `{"length":14}`).Lines[0].Values
	raw := eachWindow(of, 14, func(w []float64) float64 {
		if slices.ContainsFunc(w, math.IsNaN) {
			return nan
		}
		return 100 * (last(w) - slices.Min(w)) / (slices.Max(w) - slices.Min(w))
	})
	k := eachWindow(raw, 3, plainMean)
	if !same(r.Lines[3].Values, k) || !same(r.Lines[4].Values, eachWindow(k, 3, plainMean)) {
		t.Error("the stochastic of RSI differs from the plain formula")
	}
}

// TestCipherSignals writes the rules out bar by bar, from the lines.
func TestCipherSignals(t *testing.T) {
	s := swings(3000)
	for _, mode := range []string{"strict", "classic"} {
		r := compute(t, s, "cipher_b", `{"dot_mode":"`+mode+`"}`)
		want, lines := plainCipher(s, r, mode == "strict")
		got := loud(r.Signals)
		order := func(a, b Signal) int { return cmp.Or(a.Bar-b.Bar, cmp.Compare(a.Label, b.Label)) }
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d signals, want %d", mode, len(got), len(want))
		}
		if !slices.Equal(r.DivLines, lines) {
			t.Errorf("%s: lines %v, want %v", mode, r.DivLines, lines)
		}
		seen := make(map[string]int)
		for _, sig := range want {
			seen[sig.Label]++
		}
		for _, label := range []string{Buy, Sell, BuySmall, SellSmall, RSIOversold, RSIOverbought, WTBullDiv, WTBearDiv, AnyBullDiv, AnyBearDiv} {
			if seen[label] == 0 {
				t.Errorf("%s: the bars hold no %s, so it is not tested", mode, label)
			}
		}
	}
}

func plainCipher(s *market.Series, r *Result, strict bool) (signals []Signal, lines []DivLine) {
	wt1, wt2, rsi, k := r.Lines[0].Values, r.Lines[1].Values, r.Lines[2].Values, r.Lines[3].Values
	add := func(when bool, bar int, y float64, label string, tone Tone) {
		if when {
			signals = append(signals, Mark(bar, y, label, tone))
		}
	}
	top, bottom := -1, -1 // the last ones confirmed
	for i := 4; i < s.Len(); i++ {
		up, down := wt1[i-1] < wt2[i-1] && wt1[i] >= wt2[i], wt1[i-1] > wt2[i-1] && wt1[i] <= wt2[i]
		add(up && wt2[i] <= -53 && (!strict || rsi[i] < 30 && k[i] < 20), i, wt2[i], Buy, Up)
		add(up && wt2[i] > -53 && (!strict || rsi[i] < 40), i, wt2[i], BuySmall, Up)
		add(down && wt2[i] >= 53 && (!strict || rsi[i] > 70 && k[i] > 80), i, wt2[i], Sell, Down)
		add(down && wt2[i] < 53 && (!strict || rsi[i] > 60), i, wt2[i], SellSmall, Down)
		add(rsi[i-1] < 30 && rsi[i] >= 30, i, rsi[i], RSIOversold, Up)
		add(rsi[i-1] > 60 && rsi[i] <= 60, i, rsi[i], RSIOverbought, Down)

		c, v := i-2, wt2[i-2]
		if v > wt2[i-4] && v > wt2[i-3] && v > wt2[i-1] && v > wt2[i] {
			if top >= 0 && s.High[c] > s.High[top] && v < wt2[top] && v >= 15 {
				add(true, i, wt2[i], WTBearDiv, Down)
				add(true, i, 95, AnyBearDiv, Down)
				if v >= 45 {
					lines = append(lines, DivLine{X1: top, Y1: wt2[top], X2: c, Y2: v, Tone: Down})
				}
			}
			top = c
		}
		if v < wt2[i-4] && v < wt2[i-3] && v < wt2[i-1] && v < wt2[i] {
			if bottom >= 0 && s.Low[c] < s.Low[bottom] && v > wt2[bottom] && v <= -40 {
				add(true, i, wt2[i], WTBullDiv, Up)
				add(true, i, -95, AnyBullDiv, Up)
				if v <= -65 {
					lines = append(lines, DivLine{X1: bottom, Y1: wt2[bottom], X2: c, Y2: v, Tone: Up})
				}
				add(v <= -65 && wt2[bottom] <= -75 && wt2[i] > -75 && wt2[bottom]-wt2[i] <= -5 && rsi[c] < 30, i, wt2[i], GoldBuy, Up)
			}
			bottom = c
		}
	}
	return signals, lines
}

// TestCipherGold builds the lines by hand: bottoms of WT2 at bars 2 and 7, the
// second higher while price is lower, known at bar 9.
func TestCipherGold(t *testing.T) {
	lows := []float64{9, 8, 7, 8, 9, 8, 7, 6, 7, 8}
	s := plainSeries(lows, lows)
	c := cipher{wt2: []float64{-60, -70, -90, -60, -50, -60, -70, -78, -74, -71}, rsi: make([]float64, 10), k: make([]float64, 10)}
	a, err := byName()["cipher_b"].resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		rsi  float64
		want int
	}{{"oversold at the turn", 29, 1}, {"not oversold", 30, 0}} {
		c.rsi[7] = step.rsi
		r := &Result{}
		c.divergences(r, Input{s, a})
		var gold int
		for _, sig := range r.Signals {
			if sig.Label == GoldBuy {
				gold++
				if sig.Bar != 9 || sig.Y != -71 {
					t.Errorf("%s: %+v, want bar 9 at -71", step.name, sig)
				}
			}
		}
		if gold != step.want || len(r.DivLines) != 1 {
			t.Errorf("%s: %d gold, %d lines, want %d, 1", step.name, gold, len(r.DivLines), step.want)
		}
	}
}

// TestCipherOthers turns on what is off by default: more labels, and one "any"
// a bar and direction whatever it came from.
func TestCipherOthers(t *testing.T) {
	s := swings(3000)
	r := compute(t, s, "cipher_b", `{"show_hidden":true,"show_rsi_divergences":true,"show_stoch_divergences":true}`)
	seen := make(map[string]int)
	once := make(map[Signal]bool)
	for _, sig := range r.Signals {
		seen[sig.Label]++
		if sig.Label == AnyBullDiv || sig.Label == AnyBearDiv {
			if once[sig] {
				t.Errorf("bar %d has %s twice", sig.Bar, sig.Label)
			}
			once[sig] = true
		}
	}
	for _, label := range []string{HiddenBullDiv, HiddenBearDiv, RSIBullDiv, RSIBearDiv, StochBullDiv, StochBearDiv} {
		if seen[label] == 0 {
			t.Errorf("no %s in 3000 bars", label)
		}
	}
}
