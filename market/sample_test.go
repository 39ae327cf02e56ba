package market

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

var sampleNow = time.Date(2026, 3, 14, 15, 9, 26, 535e6, time.UTC)

func sampleAt(t testing.TB, symbol string, iv Interval, limit int, now time.Time) *Series {
	t.Helper()
	s, err := Sample{}.At(Query{Symbol: symbol, Interval: iv, Limit: limit}, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatalf("%s %s: %v", symbol, iv, err)
	}
	return s
}

// TestSampleIntervalsAgree rebuilds the bars of every interval from one-minute
// bars, added up here by the plainest means, the forming bar included.
func TestSampleIntervalsAgree(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, symbol := range []string{"BTCUSDT", "AAPL", "EURUSD=X", "A", "^GSPC"} {
		now := sampleNow.Add(-time.Duration(rng.Int64N(int64(20 * 365 * 24 * time.Hour))))
		fine := sampleAt(t, symbol, Minute1, 12000, now)
		for _, iv := range Intervals() {
			coarse := sampleAt(t, symbol, iv, 40, now)
			for i := range coarse.Len() {
				bar := coarse.Bar(i)
				if bar.Time < fine.Time[0] {
					continue // begins before the minutes at hand
				}
				if want := sumBars(fine, bar.Time, iv.Next(bar.Time)); bar != want {
					t.Errorf("%s %s at %s:\n got %v\nwant %v, from its minutes", symbol, iv, now, bar, want)
				}
			}
			if last := coarse.Bar(coarse.Len() - 1); last.Close != fine.Close[fine.Len()-1] {
				t.Errorf("%s %s: newest price %v, one-minute bars say %v", symbol, iv, last.Close, fine.Close[fine.Len()-1])
			}
		}
	}
}

// TestSampleFourHoursAreFour holds the specified example for many symbols and
// instants: a 4h bar is exactly its four 1h bars.
func TestSampleFourHoursAreFour(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for range 300 {
		symbol := make([]byte, 1+rng.IntN(8))
		for i := range symbol {
			symbol[i] = letters[rng.IntN(len(letters))]
		}
		now := time.Unix(sampleBegin+1e7+rng.Int64N(46*365*day), rng.Int64N(1e9))
		hours := sampleAt(t, string(symbol), Hour1, 44, now)
		fours := sampleAt(t, string(symbol), Hour4, 10, now)
		for i := range fours.Len() {
			bar := fours.Bar(i)
			if want := sumBars(hours, bar.Time, bar.Time+4*hour); bar != want {
				t.Fatalf("%s at %v: 4h bar %v, its hours make %v", symbol, now, bar, want)
			}
		}
	}
}

// sumBars adds up the bars of s that start in [from, to).
func sumBars(s *Series, from, to int64) Bar {
	sum := Bar{Time: from, Low: math.Inf(1), High: math.Inf(-1)}
	first := true
	for i, t := range s.Time {
		if t < from || t >= to {
			continue
		}
		if first {
			sum.Open, first = s.Open[i], false
		}
		sum.High, sum.Low = math.Max(sum.High, s.High[i]), math.Min(sum.Low, s.Low[i])
		sum.Close = s.Close[i]
		sum.Volume += s.Volume[i]
	}
	return sum
}

// TestSamplePast shows that a bar once closed never changes: asked for later,
// or in a longer window, it is the same. A restart is nothing else, because the
// source keeps no state.
func TestSamplePast(t *testing.T) {
	before := sampleAt(t, "BTCUSDT", Hour1, 200, sampleNow)
	after := sampleAt(t, "BTCUSDT", Hour1, 900, sampleNow.Add(100*time.Hour))
	for i := range before.Len() - 1 { // the last one was forming
		j := i + after.Len() - 100 - before.Len()
		if before.Bar(i) != after.Bar(j) {
			t.Fatalf("bar %v became %v", before.Bar(i), after.Bar(j))
		}
	}
}

// TestSampleMoves: the newest bar moves like a live one, often enough that a
// person watching sees it.
func TestSampleMoves(t *testing.T) {
	for _, symbol := range []string{"BTCUSDT", "AAPL", "XYZ"} {
		moves := 0
		last := 0.0
		for second := range 60 {
			s := sampleAt(t, symbol, Hour4, 1, sampleNow.Add(time.Duration(second)*time.Second))
			if price := s.Close[0]; price != last {
				moves++
				last = price
			}
		}
		if moves < 20 {
			t.Errorf("%s moved %d times in a minute", symbol, moves)
		}
	}
}

// TestSampleLevels: what people know has a price at the level that they expect of it, in the past
// and in years to come, also in another currency, with the decimals that markets write it with. Any
// other symbol has some price around 5 to 500.
func TestSampleLevels(t *testing.T) {
	for symbol, want := range map[string]struct {
		low, high float64
		decimals  int
	}{
		"BTCUSDT": {20_000, 120_000, 2}, "BTCEUR": {15_000, 120_000, 2}, "ETHUSDT": {1000, 10_000, 2}, "SOLUSDT": {40, 600, 2}, "DOGEUSDT": {0.05, 0.6, 5},
		"EURUSD": {0.9, 1.4, 5}, "USDJPY": {110, 190, 3}, "XAUUSD": {2000, 5000, 2}, "AAPL": {100, 500, 2}, "MSFT": {200, 900, 2}, "^GSPC": {4000, 8000, 2},
		"SOMETHING": {1, 2000, 2},
	} {
		s := sampleAt(t, symbol, Week1, 800, time.Date(2036, 12, 1, 0, 0, 0, 0, time.UTC)) // from 2021 on
		decimals := 0
		for i := range s.Len() {
			if s.Low[i] < want.low || s.High[i] > want.high {
				t.Errorf("%s costs %v to %v in the week of %s, want %v to %v", symbol, s.Low[i], s.High[i], time.Unix(s.Time[i], 0).UTC().Format(time.DateOnly), want.low, want.high)
				break
			}
			if _, after, ok := strings.Cut(strconv.FormatFloat(s.Close[i], 'f', -1, 64), "."); ok {
				decimals = max(decimals, len(after))
			}
		}
		if decimals != want.decimals {
			t.Errorf("%s has %d decimals, want %d", symbol, decimals, want.decimals)
		}
	}
}

// TestSampleLooksLikeAMarket measures what markets are known for: positive
// prices over thirty years, fat tails and clustered volatility.
func TestSampleLooksLikeAMarket(t *testing.T) {
	t.Parallel()
	for _, symbol := range []string{"BTCUSDT", "AAPL", "ETHUSDT", "SPY", "EURUSD=X"} {
		for _, iv := range []Interval{Minute5, Hour1, Hour4, Day1} {
			s := sampleAt(t, symbol, iv, 11000, sampleNow)
			kurtosis, clustering := momentsOf(s)
			t.Logf("%s %s: kurtosis %.1f, autocorrelation of squares %.2f", symbol, iv, kurtosis, clustering)
			if kurtosis <= 4 || clustering <= 0.1 {
				t.Errorf("%s %s: kurtosis %.2f (above 4), autocorrelation of squared returns %.3f (above 0.1)", symbol, iv, kurtosis, clustering)
			}
			for i, low := range s.Low {
				if low <= 0 {
					t.Fatalf("%s %s: low %v at bar %d", symbol, iv, low, i)
				}
			}
		}
	}
}

// momentsOf returns the kurtosis of log returns and the first autocorrelation
// of their squares.
func momentsOf(s *Series) (kurtosis, clustering float64) {
	var r []float64
	for i := 1; i < s.Len(); i++ {
		r = append(r, math.Log(s.Close[i]/s.Close[i-1]))
	}
	n := float64(len(r))
	var m2, m4 float64
	for _, x := range r {
		m2 += x * x / n
		m4 += x * x * x * x / n
	}
	var up, down float64
	for i, x := range r {
		down += (x*x - m2) * (x*x - m2)
		if i > 0 {
			up += (x*x - m2) * (r[i-1]*r[i-1] - m2)
		}
	}
	return m4 / (m2 * m2), up / down
}

// TestSampleSpans crosses the border of a span: a day is the same whichever days are asked for
// with it, and opens where the one before closed.
func TestSampleSpans(t *testing.T) {
	const border = 30 * spanDays * day
	walked := sampleAt(t, "BTCUSDT", Day1, 80, time.Unix(border+40*day-1, 0))
	for i, start := range walked.Time {
		alone := sampleAt(t, "BTCUSDT", Day1, 1, time.Unix(start+day-1, 0))
		if got, want := walked.Bar(i), alone.Bar(0); got != want {
			t.Fatalf("%v with others, %v when asked alone", got, want)
		}
		if i > 0 && walked.Open[i] != walked.Close[i-1] {
			t.Fatalf("day %d opens at %v, the one before closed at %v", i, walked.Open[i], walked.Close[i-1])
		}
	}
	if walked.Time[0] != border-40*day {
		t.Errorf("the days begin at %d, 40 days before the border is %d", walked.Time[0], border-40*day)
	}
}

// TestSampleBegin: before 1980 there is nothing, and long windows end there.
func TestSampleBegin(t *testing.T) {
	s := sampleAt(t, "X", Month1, MaxLimit, sampleNow)
	if got := time.Unix(s.Time[0], 0).UTC(); got.Year() != 1980 || s.Len() > 600 {
		t.Errorf("monthly bars begin at %v, %d of them", got, s.Len())
	}
	if _, err := (Sample{}).At(Query{Symbol: "X", Interval: Day1, Limit: 1}, time.Unix(0, 0)); err == nil {
		t.Error("a bar in 1970")
	}
}

func TestSampleExtras(t *testing.T) {
	q := Query{Symbol: "BTCUSDT", Interval: Hour8, Limit: 50, Extra: []string{ExtraLong, ExtraShort, ExtraFearGreed}}
	s, err := Sample{}.At(q, sampleNow)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if len(s.Extra) != 3 {
		t.Errorf("columns %v", s.Extra)
	}
	for i := range s.Len() {
		if sum := s.Extra[ExtraLong][i] + s.Extra[ExtraShort][i]; math.Abs(sum-1) > 1e-12 {
			t.Errorf("bar %d: long and short add up to %v", i, sum)
		}
		if v := s.Extra[ExtraFearGreed][i]; v < 0 || v > 100 {
			t.Errorf("bar %d: fear and greed %v", i, v)
		}
	}
	q.Extra = []string{"nonsense"}
	if _, err := (Sample{}).At(q, sampleNow); !errors.Is(err, errNoColumn) {
		t.Errorf("a column that nobody has: %v", err)
	}
}

func BenchmarkSample(b *testing.B) {
	for _, iv := range []Interval{Minute1, Minute3, Hour1, Hour4, Hour6, Day1, Week1, Month1} {
		b.Run(string(iv), func(b *testing.B) {
			b.ReportAllocs()
			q := Query{Symbol: "BTCUSDT", Interval: iv, Limit: 500}
			bars := 0
			for b.Loop() {
				s, err := Sample{}.At(q, sampleNow)
				if err != nil {
					b.Fatal(err)
				}
				bars += s.Len()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(bars), "ns/bar")
		})
	}
}
