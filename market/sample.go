package market

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Sample is the built-in source: invented bars for any symbol, marked as
// synthetic. The price is a pure function of symbol and time, so a restart
// changes nothing. The bars of all intervals are cut from one path, so a 4h bar
// is exactly its four 1h bars. The zero value is ready to use.
//
// The path is a tree. A span of 512 days is halved again and again down to
// days: the price in the middle of a span is the mean of its ends, changed by a
// random amount. The usual size of these amounts is divided unevenly between the two
// halves, which makes calm and volatile times, and extreme moves as often as in real
// markets. Within a day a bar is split into shorter bars that together have its open,
// high, low and close. Any bar is reached from the top in a few dozen steps.
type Sample struct{}

// sampleBegin is the first instant that has a price: 1980-01-01.
const sampleBegin = 315532800

// Resolve returns the canonical symbol among invented markets, which is a pair
// without separator. It ignores the exchange.
func (Sample) Resolve(text string) (string, error) { return resolvePlain(text) }

func (s Sample) venue() *Venue {
	return &Venue{name: "sample", resolve: resolvePlain, bars: s.Bars, fresh: s.Bars, known: knownSample}
}

// knownSample returns what people ask for first. The sample has a price for everything.
func knownSample() []string {
	return slices.Concat(binance.usual, []string{"EURUSD", "USDJPY", "XAUUSD", "AAPL", "MSFT", "NVDA", "TSLA", "SPY"})
}

// Bars returns the newest bars as of now.
func (s Sample) Bars(ctx context.Context, q Query) (*Series, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.At(q, time.Now())
}

// At returns the bars that Bars would have returned at the instant now.
func (s Sample) At(q Query, now time.Time) (*Series, error) {
	symbol, err := s.Resolve(q.Symbol)
	if err != nil {
		return nil, err
	}
	if !q.Interval.Valid() || q.Limit < 1 || q.Limit > MaxLimit {
		return nil, fmt.Errorf("sample: %w %q or limit %d", errInterval, q.Interval, q.Limit)
	}
	// The current second counts as over: within it the price does not change.
	end := now.Unix() + 1
	if end <= sampleBegin {
		return nil, fmt.Errorf("sample: no prices before 1980, and the clock says %s", now.UTC().Format(time.DateOnly))
	}
	p := newPath(symbol)
	b := sampleBars{iv: q.Interval, scale: p.scale, series: &Series{
		Symbol: symbol, Interval: q.Interval, Source: "sample", Synthetic: true, Forming: true, AsOf: now.UnixMilli(), PriceAt: now.UnixMilli(),
	}}
	b.series.Grow(q.Limit)
	p.walk(firstBar(q.Interval, end-1, q.Limit), end, treeDepth(q.Interval), &b)
	b.flush()
	b.series.addExtras(q.Extra)
	return b.series, nil
}

// firstBar returns the start of the bar limit-1 bars before the one that holds the
// instant t. If that is before sampleBegin it returns the first start after sampleBegin.
func firstBar(iv Interval, t int64, limit int) int64 {
	start := iv.Start(t)
	if iv == Month1 {
		y, m, _ := time.Unix(start, 0).UTC().Date()
		start = time.Date(y, m-time.Month(limit-1), 1, 0, 0, 0, 0, time.UTC).Unix()
	} else {
		start -= int64(limit-1) * iv.Seconds()
	}
	for start < sampleBegin {
		start = iv.Next(iv.Start(sampleBegin))
	}
	return start
}

// addExtras adds the columns that were asked for: slow waves around usual values, so
// that the indicators that need them can be tried. It adds none for an unknown name; the
// caller sees that the column is missing.
func (s *Series) addExtras(names []string) {
	for _, name := range names {
		if shape, ok := sampleExtras[name]; ok {
			seed, column := seedOf(s.Symbol+shape.seed), make([]float64, s.Len())
			for i, t := range s.Time {
				column[i] = shape.middle + float64(shape.reach*wave(seed, t))
			}
			s.setExtra(name, column)
		}
	}
}

// sampleExtras holds the mean of each column and how far it goes from it. Long
// and short have the same seed and opposite signs, because they add up to one.
var sampleExtras = map[string]struct {
	seed          string
	middle, reach float64
}{
	ExtraFunding:   {"funding", 0.0001, 0.0004},
	ExtraOI:        {"oi", 5e9, 2e9},
	ExtraLong:      {"accounts", 0.5, 0.2},
	ExtraShort:     {"accounts", 0.5, -0.2},
	ExtraFearGreed: {"fear", 50, 40},
}

// wave returns a smooth function of time between -1 and 1: random heights
// every 8 hours and every 8 days, joined by straight lines.
func wave(seed uint64, t int64) float64 {
	line := func(step int64) float64 {
		k := floor(t, step) / step
		a, b := unit(mix(seed^uint64(k*7+step))), unit(mix(seed^uint64((k+1)*7+step)))
		return a + float64((b-a)*(float64(t-k*step)/float64(step)))
	}
	return float64(0.6*(2*line(8*day)-1)) + float64(0.4*(2*line(8*hour)-1))
}
