package alert

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	rand "math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"wick/indicators"
	"wick/market"
	"wick/trade/book"
)

// chartBars is how many bars of each series TestAlertsAreTheChart feeds. The
// whole proof is go test ./trade/alert -run AlertsAreTheChart -chart-bars 5000.
var chartBars = flag.Int("chart-bars", 40, "bars that TestAlertsAreTheChart feeds one by one")

// TestAlertsAreTheChart feeds bars one by one and compares what alerts are judged by with
// one chart of all those bars, for every signal of every indicator, with its defaults and
// with shorter and longer lengths: the same bars have the same labels, and the first line
// crosses its mean on the same bars. An alert for which that cannot be so is refused when
// it is set. Indicators that repaint are left out, since their chart changes afterwards;
// they are listed. With -short only the defaults are tested, on ten bars of one of the six
// series.
func TestAlertsAreTheChart(t *testing.T) {
	t.Parallel()
	var repainting []string
	var work sync.WaitGroup
	intervals := []market.Interval{market.Minute1, market.Minute5, market.Hour1, market.Hour4, market.Day1, market.Week1}
	walks := make([]*market.Series, len(intervals)) // as long as any needs; each takes the start
	for k, iv := range intervals {
		walks[k] = randomWalk(indicators.MaxWarmup+indicators.ShownBars+*chartBars, iv, uint64(k))
	}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for ind := range indicators.All() {
		if ind.Traits.Has(indicators.Repaints) {
			repainting = append(repainting, ind.Name)
			continue
		}
		factors, series, bars := []float64{1, 0.5, 3}, 3, *chartBars
		if testing.Short() {
			factors, series, bars = factors[:1], 6, 10
		}
		for _, factor := range factors {
			overrides := scaled(ind, factor)
			if factor != 1 && len(overrides) == 0 {
				continue // it has no length: the defaults again
			}
			r, err := indicators.New(ind.Name, overrides)
			if err != nil {
				continue // one length has passed another that bounds it
			}
			work.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				for k, walk := range walks {
					if *chartBars < 1000 && k%series != len(ind.Name)%series {
						continue // two of the six series for each, unless asked for more
					}
					againstChart(t, r, walk, bars)
				}
			})
		}
	}
	work.Wait()
	want := []string{"fibonacci_retracement", "hvn_lvn", "naked_poc", "session_vp", "tpo", "volume_profile", "zigzag"}
	if slices.Sort(repainting); !slices.Equal(repainting, want) {
		t.Errorf("indicators that repaint: %v, want %v", repainting, want)
	}
}

// againstChart compares alerts on one request with its chart, on so many bars of a
// walk after those that warm it up.
func againstChart(t *testing.T, r indicators.Request, walk *market.Series, bars int) {
	iv := walk.Interval
	w := Waiting{Alert: &book.Alert{Symbol: "AAA", Interval: iv}, request: r}
	if w.CheckChart() != nil {
		return // refused when set
	}
	warm := min(r.Warmup(iv), indicators.MaxWarmup) + indicators.ShownBars
	s := walk.Slice(0, warm+bars)
	chart := r.Compute(s)
	var fired, shown []string
	level := middle(chart, warm)
	for _, sig := range append(crossings(r, chart, level), chart.Signals...) {
		if sig.Bar >= warm {
			shown = append(shown, fmt.Sprint(sig.Bar, " ", sig.Label))
		}
	}
	for i := warm; i < s.Len(); i++ {
		c := atClose(r, s, i)
		for _, signals := range [][]indicators.Signal{crossings(r, c.Result, level), c.Signals} {
			for _, sig := range signals {
				if sig.Bar == c.bar {
					fired = append(fired, fmt.Sprint(i, " ", sig.Label))
				}
			}
		}
	}
	slices.Sort(fired)
	slices.Sort(shown)
	if fired, shown = slices.Compact(fired), slices.Compact(shown); !slices.Equal(fired, shown) {
		only := func(a, b []string) []string {
			a = slices.DeleteFunc(slices.Clone(a), func(x string) bool { return slices.Contains(b, x) })
			return a[:min(len(a), 5)]
		}
		t.Errorf("%s of %s: alerts fired %d, the chart shows %d; only fired %q, only shown %q", r.Label(), iv, len(fired), len(shown), only(fired, shown), only(shown, fired))
	}
}

// crossings returns where the first line of a result crosses a level, nothing for
// a running total or without a line.
func crossings(r indicators.Request, result *indicators.Result, level float64) []indicators.Signal {
	if r.Ind.IsTotal() {
		return nil
	}
	signals, _ := r.Watch(result, "", level)
	return signals
}

// middle returns the mean of the first line of a result from a bar on.
func middle(r *indicators.Result, from int) float64 {
	if len(r.Lines) == 0 {
		return 0
	}
	sum, n := 0.0, 0.0
	for _, v := range r.Lines[0].Values[from:] {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / n
}

// scaled returns the overrides that make every length of ind so many times as
// long, within its bounds.
func scaled(ind *indicators.Indicator, factor float64) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage)
	for _, p := range ind.Params {
		if v := math.Round(factor * p.Default); factor != 1 && p.Kind == indicators.Int && p.Max == indicators.MaxLength {
			out[p.Name] = json.RawMessage(fmt.Sprint(min(max(v, p.Min), p.Max)))
		}
	}
	return out
}

// randomWalk returns n bars of a random walk whose volatility comes in clusters, with
// jumps, bars without movement and bars without volume, and with every further
// column. A seed gives the same bars on every machine.
func randomWalk(n int, iv market.Interval, seed uint64) *market.Series {
	r := rand.New(rand.NewPCG(seed, 314))
	s := &market.Series{Symbol: "AAA", Interval: iv, Extra: make(map[string][]float64)}
	price, calm, at := 100.0, 0.004, iv.Start(1_500_000_000)
	for i := range n {
		calm = min(max(calm*math.Exp(0.2*r.NormFloat64()), 0.001), 0.02)
		b := market.Bar{Time: at, Open: price, Volume: math.Round(1000 * math.Exp(r.NormFloat64()))}
		price *= math.Exp(calm * r.NormFloat64())
		b.Close = price
		b.High, b.Low = max(b.Open, b.Close)*(1+calm*r.Float64()), min(b.Open, b.Close)*(1-calm*r.Float64())
		if i%71 == 9 {
			b = market.Bar{Time: at, Open: price, High: price, Low: price, Close: price}
		}
		s.Append(b)
		at = iv.Next(at)
	}
	for k, name := range []string{market.ExtraFunding, market.ExtraOI, market.ExtraLong, market.ExtraShort, market.ExtraFearGreed} {
		column := make([]float64, n)
		for i := range column {
			column[i] = 50 + 40*math.Sin(float64(i)/float64(7+k))
		}
		s.Extra[name] = column
	}
	return s
}
