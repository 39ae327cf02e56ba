package trade

import (
	"context"
	"encoding/json"
	"math"
	rand "math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/indicators"
	"wick/market"
)

// tape is a source that plays a series: it has the bars that have begun, the last
// one forming.
type tape struct{ all *market.Series }

func (p tape) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	n := sort.Search(p.all.Len(), func(i int) bool { return p.all.Time[i] > time.Now().Unix() })
	s := p.all.Slice(0, n).Tail(q.Limit)
	s.Symbol, s.Interval, s.Source, s.Synthetic, s.Extra = q.Symbol, q.Interval, "tape", true, nil
	s.Forming, s.AsOf = true, time.Now().UnixMilli()
	return s, nil
}

// playBar waits until the bar that is forming has closed and tells e of it.
func (p tape) playBar(e *Engine) {
	i := sort.Search(p.all.Len(), func(i int) bool { return p.all.Time[i] > time.Now().Unix() }) - 1
	time.Sleep(time.Until(time.Unix(p.all.Interval.Next(p.all.Time[i]), 5e8)))
	b := p.all.Bar(i)
	e.deliver(context.Background(), market.Update{Symbol: "AAA", Price: b.Close, High: b.Close, Low: b.Close, At: time.Now().UnixMilli(),
		Closed: []market.ClosedBar{{Interval: p.all.Interval, Bar: b}}})
}

// newTape returns a tape of bars from before the test's clock starts and after.
func newTape(before, after int, iv market.Interval) tape {
	s := randomWalk(before+after, iv, 5)
	start := iv.Start(time.Now().Unix()) - int64(before)*iv.Seconds()
	for i := range s.Time {
		s.Time[i] = start + int64(i)*iv.Seconds()
	}
	return tape{s}
}

// TestAlertHistory: through the whole engine, alerts on averages longer than the
// usual window fire on the bars where the chart has the signal, and on no others.
func TestAlertHistory(t *testing.T) {
	for _, c := range []struct{ indicator, params string }{{"ema", `,"length":200`}, {"sma", `,"length":600`}, {"vwap", ""}, {"vwap_anchored", `,"anchor":946600000`}} {
		synctest.Test(t, func(t *testing.T) {
			bars := 600
			if testing.Short() {
				bars = 300
			}
			p := newTape(6000, bars+1, market.Minute5)
			o := testOptions(t)
			o.Source, o.Intervals = p, []market.Interval{market.Minute5}
			e := openTest(t, o)
			defer e.Close()
			condition := `{"indicator_signal":{"indicator":"` + c.indicator + `","signal":"price_cross_up"` + c.params + `}}`
			var fired, shown []int64
			for range bars {
				if len(must(e.Alerts(""))) == 0 {
					if _, err := setAlert(t, e, condition, ""); err != nil {
						t.Fatal(err)
					}
				}
				if p.playBar(e); len(must(e.Alerts(""))) == 0 {
					fired = append(fired, market.Minute5.Start(time.Now().Unix())-300)
				}
			}
			var overrides map[string]json.RawMessage
			json.Unmarshal([]byte(`{"source":null`+c.params+`}`), &overrides)
			r, err := indicators.New(c.indicator, overrides)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range r.Compute(p.all).Signals {
				if s.Bar >= 6000 && s.Bar < 6000+bars && s.Label == "price_cross_up" {
					shown = append(shown, p.all.Time[s.Bar])
				}
			}
			if !slices.Equal(fired, shown) || len(shown) == 0 {
				t.Errorf("%s%s fired at %v, the chart shows %v", c.indicator, c.params, fired, shown)
			}
		})
	}
}

// TestAlertNotOfChart: what cannot be judged on what a chart shows is refused
// when it is set, with the reason.
func TestAlertNotOfChart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTape(300, 10, market.Hour1)
		o := testOptions(t)
		o.Source = p
		e := openTest(t, o)
		defer e.Close()
		for _, c := range []struct{ condition, says string }{
			{`"sma","signal":"price_cross_up","length":400`, "no value on the 301 bars"},
			{`"rule","when":"close > highest(close, 400)","signal":"becomes_true"`, "choose shorter lengths"},
			{`"rule","when":"close / 0 > 1","signal":"becomes_true"`, "no value on any of the 301 bars of AAA 1h, though they are enough for its lengths: it is unknown on all of them"},
			{`"vwap_anchored","signal":"price_cross_up"`, "give its anchor, a moment"},
			{`"backtest","enter":"close > 1","signal":"enter"`, "give its from, a moment"},
			{`"sma","signal":"price_cross_up","source":{"name":"vwap_anchored"}`, "give its source an anchor or from, a moment"},
			{`"vwap_anchored","signal":"price_cross_up","anchor":100000000`, "a later anchor"},
			{`"vwap","signal":"price_cross_up","anchor":"none"`, "so its values depend on how many bars there are: set anchor to day"},
			{`"twap","signal":"crosses_above","level":5,"anchor":"none"`, "set anchor to day"},
			{`"sma","signal":"price_cross_up","source":{"name":"vwap","anchor":"none"}`, "set anchor to day"},
			{`"rule","signal":"becomes_true","when":"close > vwap_bands(anchor=none).vwap"`, "set anchor to day"},
			{`"cvd","signal":"zero_up"`, "bars on display"},
			{`"tema","signal":"price_cross_up","length":1000`, "shorter lengths"},
		} {
			_, err := setAlert(t, e, `{"indicator_signal":{"indicator":`+c.condition+`}}`, "")
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %q", c.condition, err, c.says)
			}
		}
		if n := len(must(e.Alerts(""))); n != 0 {
			t.Errorf("%d alerts were taken", n)
		}
	})
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
