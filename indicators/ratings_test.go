package indicators

import (
	"math"
	"slices"
	"strings"
	"testing"

	"wick/market"
)

// TestTechnicalRatingPlain counts the votes of TradingView's help page from the
// lines of entries that vectors judge, with plain comparisons.
func TestTechnicalRatingPlain(t *testing.T) {
	s := world(900, 50)
	of := func(name, params, label string) []float64 {
		var out []float64
		for _, v := range line(t, compute(t, s, name, params), label) {
			out = append(out, math.Round(v*1e9)/1e9) // equal but for rounding is equal
		}
		return out
	}
	averages := [][]float64{of("hma", `{"length":9}`, "HMA"), of("vwma", `{"length":20}`, "VWMA")}
	for _, n := range []string{"10", "20", "30", "50", "100", "200"} {
		averages = append(averages, of("sma", `{"length":`+n+`}`, "SMA"), of("ema", `{"length":`+n+`}`, "EMA"))
	}
	// The spans under the bar lie 26 bars back; an entry with displacement 27 moves them so far.
	conversion, base := of("ichimoku", `{}`, "Conversion"), of("ichimoku", `{}`, "Base")
	spanA, spanB := of("ichimoku", `{"displacement":27}`, "Span A"), of("ichimoku", `{"displacement":27}`, "Span B")
	rsi, cci, wr := of("rsi", `{}`, "RSI"), of("woodies_cci", `{"length":20}`, "CCI"), of("willr", `{}`, "%R")
	k, d := of("stoch", `{}`, "%K"), of("stoch", `{}`, "%D")
	rk, rd := of("stoch_rsi", `{}`, "%K"), of("stoch_rsi", `{}`, "%D")
	plus, minus, adx := of("adx", `{"variant":"pine"}`, "+DI"), of("adx", `{"variant":"pine"}`, "-DI"), of("adx", `{"variant":"pine"}`, "ADX")
	ao, mom, uo := of("awesome_oscillator", `{}`, "AO"), of("mom", `{"length":10}`, "MOM"), of("ultosc", `{}`, "UO")
	macd, signal, trend := of("macd", `{"variant":"pine"}`, "MACD"), of("macd", `{"variant":"pine"}`, "Signal"), of("ema", `{"length":50}`, "EMA")
	bulls, bears := of("elder_ray", `{}`, "Bull"), of("elder_ray", `{}`, "Bear")

	r := compute(t, s, "technical_rating", `{}`)
	for i := 300; i < s.Len(); i++ {
		c := s.Close[i]
		var ma, osc float64
		count := func(sum *float64, buy, sell bool) {
			if buy {
				*sum++
			} else if sell {
				*sum--
			}
		}
		for _, y := range averages {
			count(&ma, y[i] < c, y[i] > c)
		}
		count(&ma, spanA[i] > spanB[i] && base[i] > spanA[i] && conversion[i] > base[i] && c > conversion[i],
			spanA[i] < spanB[i] && base[i] < spanA[i] && conversion[i] < base[i] && c < conversion[i])
		up, down := c > trend[i], c < trend[i]
		count(&osc, rsi[i] < 30 && rsi[i] > rsi[i-1], rsi[i] > 70 && rsi[i] < rsi[i-1])
		count(&osc, k[i] < 20 && d[i] < 20 && k[i] > d[i], k[i] > 80 && d[i] > 80 && k[i] < d[i])
		count(&osc, cci[i] < -100 && cci[i] > cci[i-1], cci[i] > 100 && cci[i] < cci[i-1])
		count(&osc, adx[i] > 20 && adx[i] > adx[i-1] && plus[i] > minus[i], adx[i] > 20 && adx[i] > adx[i-1] && plus[i] < minus[i])
		count(&osc, ao[i] > 0 && (ao[i-1] <= 0 || ao[i] > ao[i-1] && ao[i-2] > ao[i-1]), ao[i] < 0 && (ao[i-1] >= 0 || ao[i] < ao[i-1] && ao[i-2] < ao[i-1]))
		count(&osc, mom[i] > mom[i-1], mom[i] < mom[i-1])
		count(&osc, macd[i] > signal[i], macd[i] < signal[i])
		count(&osc, down && rk[i] < 20 && rd[i] < 20 && rk[i] > rd[i], up && rk[i] > 80 && rd[i] > 80 && rk[i] < rd[i])
		count(&osc, wr[i] < -80 && wr[i] > wr[i-1], wr[i] > -20 && wr[i] < wr[i-1])
		count(&osc, up && bears[i] < 0 && bears[i] > bears[i-1], down && bulls[i] > 0 && bulls[i] < bulls[i-1])
		count(&osc, uo[i] > 70, uo[i] < 30)
		got := []float64{r.Lines[0].Values[i], r.Lines[1].Values[i], r.Lines[2].Values[i]}
		if want := []float64{(ma/15 + osc/11) / 2, ma / 15, osc / 11}; !same(got, want) {
			t.Fatalf("bar %d: %v, want %v", i, got, want)
		}
	}
}

// TestHalfTrendPlain follows the published rule with a record of every bar.
func TestHalfTrendPlain(t *testing.T) {
	const n = 3
	s := world(900, 50)
	type state struct {
		trend, next int // 0 is up
		maxLow      float64
		minHigh     float64
		up, down    float64
	}
	states := make([]state, s.Len())
	states[n-2] = state{maxLow: s.Low[n-2], minHigh: s.High[n-2], up: nan, down: nan}
	got := compute(t, s, "halftrend", `{"length":3}`)
	flips := 0
	for i := n - 1; i < s.Len(); i++ {
		was := states[i-1]
		now := was
		low, high := slices.Min(s.Low[i-n+1:i+1]), slices.Max(s.High[i-n+1:i+1])
		if now.next == 1 {
			now.maxLow = max(low, now.maxLow)
			if plainMean(s.High[i-n+1:i+1]) < now.maxLow && s.Close[i] < s.Low[i-1] {
				now.trend, now.next, now.minHigh = 1, 0, high
			}
		} else {
			now.minHigh = min(high, now.minHigh)
			if plainMean(s.Low[i-n+1:i+1]) > now.minHigh && s.Close[i] > s.High[i-1] {
				now.trend, now.next, now.maxLow = 0, 1, low
			}
		}
		label, want := "Up", 0.0
		if now.trend == 0 {
			now.up = math.Max(now.maxLow, was.up)
			if math.IsNaN(was.up) {
				now.up = now.maxLow
			}
			if was.trend == 1 {
				now.up = was.down
				flips++
			}
			want = now.up
		} else {
			now.down = math.Min(now.minHigh, was.down)
			if math.IsNaN(was.down) {
				now.down = now.minHigh
			}
			if was.trend == 0 {
				now.down = was.up
				flips++
			}
			label, want = "Down", now.down
		}
		states[i] = now
		if v := line(t, got, label)[i]; math.Abs(v-want) > 1e-9 || math.IsNaN(v) {
			t.Fatalf("bar %d: %s is %v, want %v", i, label, v, want)
		}
	}
	if flips < 20 || len(got.Signals) != flips {
		t.Errorf("%d signals for %d flips", len(got.Signals), flips)
	}
}

// TestVolumeStudiesByHand: waves of closes 1 2 3 2 1 2 3, volumes 1 to 7, and
// three days of three bars.
func TestVolumeStudiesByHand(t *testing.T) {
	s := closes(1, 2, 3, 2, 1, 2, 3)
	for i := range s.Volume {
		s.Volume[i] = float64(i + 1)
	}
	r := compute(t, s, "weis_wave", `{"length":2}`)
	// Two rises end at the third bar, two falls at the fifth, two rises at the last.
	if want := []float64{nan, nan, 3, 7, -5, -11, 7}; !same(r.Histogram[0].Values, want) {
		t.Errorf("waves %v, want %v", r.Histogram[0].Values, want)
	}
	if got := strings.Join(events(r), ", "); got != "4 flip_down, 6 flip_up" {
		t.Errorf("waves turn: %s", got)
	}

	days := &market.Series{Interval: market.Hour1}
	for i := range 9 { // 0, 1 and 2 o'clock of three days
		days.Append(market.Bar{Time: int64(i/3)*86400 + int64(i%3)*3600, Open: 1, High: 1, Low: 1, Close: 1, Volume: []float64{1, 2, 3, 2, 2, 2, 4, 8, 0}[i]})
	}
	days.Time[4] = 86400 + 1800 // the second day's second bar comes half an hour early
	// Of the second day at 1 o'clock 4 had traded; at 2 o'clock 6.
	if got, want := first(t, days, "rvat", `{"length":1}`), []float64{nan, nan, nan, nan, nan, nan, 2, 3, 2}; !same(got, want) {
		t.Errorf("volume at time %v, want %v", got, want)
	}
	if got, want := first(t, days, "rvat", `{"length":1,"mode":"regular"}`), []float64{nan, nan, nan, nan, nan, nan, 2, 4, 0}; !same(got, want) {
		t.Errorf("volume of the bar at time %v, want %v", got, want)
	}
	if got, want := first(t, closes(5, 1, 4, 2, 3), "percentile", `{"length":4}`), []float64{nan, nan, nan, 2, 2}; !same(got, want) {
		t.Errorf("percentile %v, want %v", got, want)
	}
}
