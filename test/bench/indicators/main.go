// Command indicators times our indicators against go-talib, the Go port of
// TA-Lib, in one run on the same bars:
//
//	go run ./indicators
//
// It prints nanoseconds per bar, the fastest of many alternating runs, on 1,000
// and on 100,000 bars: of go-talib, of our kernels, which compute the same
// values, and of our whole entry, which adds levels and signals (divergences,
// a search of their own, are switched off). It fails when a kernel is slower
// than go-talib. Supertrend and Ichimoku, which go-talib lacks, are printed alone:
// how many nanoseconds they take says more of the machine than of them.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	talib "github.com/markcheno/go-talib"

	rival "wick/bench/contest"
	"wick/indicators"
	"wick/indicators/kernel"
	"wick/market"
)

// contest is one indicator, the kernels that compute its values, and what
// computes the same in go-talib; nil if it has nothing.
type contest struct {
	name      string
	overrides string
	kernel    func(s *market.Series)
	theirs    func(s *market.Series)
}

const noDivergence = `{"divergence":"off"}`

var usual = kernel.Acceleration{Start: 0.02, Step: 0.02, Most: 0.2}

var contests = []contest{
	{"sma", `{}`,
		func(s *market.Series) { kernel.SMA(s.Close, 20) },
		func(s *market.Series) { talib.Sma(s.Close, 20) }},
	{"ema", `{}`,
		func(s *market.Series) { kernel.EMA(s.Close, 20) },
		func(s *market.Series) { talib.Ema(s.Close, 20) }},
	{"rsi", noDivergence,
		func(s *market.Series) { kernel.RSI(s.Close, 14) },
		func(s *market.Series) { talib.Rsi(s.Close, 14) }},
	{"macd", noDivergence,
		func(s *market.Series) { kernel.MACD(s.Close, 12, 26, 9) },
		func(s *market.Series) { talib.Macd(s.Close, 12, 26, 9) }},
	{"bbands", `{}`,
		func(s *market.Series) { kernel.Bollinger(s.Close, 20, 2, 2, nil) },
		func(s *market.Series) { talib.BBands(s.Close, 20, 2, 2, talib.SMA) }},
	{"atr", `{}`,
		func(s *market.Series) { kernel.ATR(s, 14) },
		func(s *market.Series) { talib.Atr(s.High, s.Low, s.Close, 14) }},
	{"adx", `{}`, // three lines on both sides
		func(s *market.Series) { kernel.Directional(s, 14, 14, "talib") },
		func(s *market.Series) {
			talib.Adx(s.High, s.Low, s.Close, 14)
			talib.PlusDI(s.High, s.Low, s.Close, 14)
			talib.MinusDI(s.High, s.Low, s.Close, 14)
		}},
	{"stoch", noDivergence,
		func(s *market.Series) { kernel.SMA(kernel.SMA(kernel.Stochastic(s.Close, s.High, s.Low, 14), 3), 3) },
		func(s *market.Series) { talib.Stoch(s.High, s.Low, s.Close, 14, 3, talib.SMA, 3, talib.SMA) }},
	{"cci", noDivergence,
		func(s *market.Series) { kernel.CCI(kernel.TypicalPrice(s), 20) },
		func(s *market.Series) { talib.Cci(s.High, s.Low, s.Close, 20) }},
	{"obv", noDivergence, // with its average on both sides
		func(s *market.Series) { kernel.SMA(kernel.OBV(s.Close, s.Volume), 20) },
		func(s *market.Series) { talib.Sma(talib.Obv(s.Close, s.Volume), 20) }},
	{"mfi", noDivergence,
		func(s *market.Series) { kernel.MFI(s, 14) },
		func(s *market.Series) { talib.Mfi(s.High, s.Low, s.Close, s.Volume, 14) }},
	{"sar", `{}`,
		func(s *market.Series) { kernel.Parabolic(s, usual, usual, 0, 0) },
		func(s *market.Series) { talib.Sar(s.High, s.Low, 0.02, 0.2) }},
	{"supertrend", `{}`, nil, nil},
	{"ichimoku", `{}`, nil, nil},
}

func main() {
	lost := false
	for _, bars := range []int{1_000, 100_000} {
		charts := cut(walk(100_000), bars)
		fmt.Printf("%d bars, nanoseconds per bar\n%-12s %8s %8s %9s %8s %8s\n",
			bars, "", "go-talib", "kernel", "ratio", "entry", "ratio")
		for _, c := range contests {
			if !c.run(charts) {
				lost = true
			}
		}
	}
	if lost {
		fail(errors.New("something is slower than it should be"))
	}
}

// run times one contest on the charts, prints a line and reports whether it was won.
func (c contest) run(charts []*market.Series) bool {
	var overrides map[string]json.RawMessage
	if err := json.Unmarshal([]byte(c.overrides), &overrides); err != nil {
		fail(err)
	}
	request, err := indicators.New(c.name, overrides)
	if err != nil {
		fail(err)
	}
	entry := func(s *market.Series) { request.Compute(s) }
	if c.theirs == nil {
		t := race(charts, entry)
		fmt.Printf("%-12s %8s %8s %9s %8.2f\n", c.name, "", "", "", t[0])
		return true
	}
	t := race(charts, c.theirs, c.kernel, entry)
	fmt.Printf("%-12s %8.2f %8.2f %9.2f %8.2f %8.2f\n", c.name, t[0], t[1], t[1]/t[0], t[2], t[2]/t[0])
	rival.Behind(c.name+", the kernel, ns a bar", "go-talib", t[0], t[1])
	rival.Behind(c.name+", with its signals, which the other has not, ns a bar", "go-talib", t[0], t[2])
	return t[1] <= t[0]
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// race times all runners in turn, so that a busy machine slows them alike, and
// returns the nanoseconds per bar of the fastest run of each.
func race(charts []*market.Series, runners ...func(*market.Series)) []float64 {
	best := slices.Repeat([]float64{math.Inf(1)}, len(runners))
	for range 50 {
		for k, run := range runners {
			start, bars := time.Now(), 0
			for _, s := range charts {
				run(s)
				bars += s.Len()
			}
			best[k] = min(best[k], float64(time.Since(start).Nanoseconds())/float64(bars))
		}
	}
	return best
}

// cut divides s into charts of n bars each. If one short chart were timed again and again,
// the branch predictor would learn it, which does not happen with a user's chart.
func cut(s *market.Series, n int) []*market.Series {
	var charts []*market.Series
	for i := 0; i+n <= s.Len(); i += n {
		charts = append(charts, s.Slice(i, i+n))
	}
	return charts
}

// walk returns n bars of a random walk, the same on every run.
func walk(n int) *market.Series {
	r := rand.New(rand.NewPCG(1, 2))
	s := &market.Series{}
	s.Grow(n)
	price := 100.0
	for i := range n {
		b := market.Bar{Time: int64(i) * 3600, Open: price, Volume: 1000 * math.Exp(r.NormFloat64())}
		price *= math.Exp(0.01 * r.NormFloat64())
		b.Close = price
		b.High = max(b.Open, b.Close) * (1 + 0.005*r.Float64())
		b.Low = min(b.Open, b.Close) * (1 - 0.005*r.Float64())
		s.Append(b)
	}
	return s
}
