package chart

import (
	"math"
	"math/rand/v2"
	"testing"

	"wick/indicators"
	"wick/market"
)

// walk returns n bars of a seeded random walk around price with the given
// decimals: trends that turn, volatility that clusters, volume that follows.
func walk(n int, price float64, decimals int, interval market.Interval) *market.Series {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	s := &market.Series{Symbol: "WICK", Interval: interval, Source: "test"}
	unit := math.Pow10(decimals)
	round := func(v float64) float64 { return math.Round(v*unit) / unit }
	start := price
	t, drift, vol := int64(1736121600), 0.0, 0.012 // 2025-01-06
	for range n {
		drift = 0.9*drift + 0.003*r.NormFloat64() - 0.001*math.Log(price/start)
		vol = max(0.004, 0.9*vol+0.1*(0.012+0.008*r.NormFloat64()))
		open := price
		price *= math.Exp(min(max(drift+vol*r.NormFloat64(), -0.2), 0.2))
		high := max(open, price) * (1 + vol*math.Abs(r.NormFloat64())*0.6)
		low := min(open, price) * (1 - vol*math.Abs(r.NormFloat64())*0.6)
		volume := 1e6 * math.Exp(0.6*r.NormFloat64()) * (1 + 40*math.Abs(price/open-1))
		s.Append(market.Bar{Time: t, Open: round(open), High: round(max(high, open, price)), Low: round(min(low, open, price)), Close: round(price), Volume: math.Round(volume)})
		t = interval.Next(t)
		for interval == market.Day1 && (t/86400+4)%7%6 == 0 { // no weekends: days 0 and 6
			t = interval.Next(t)
		}
	}
	return s
}

// view computes indicators by name over s.
func view(t testing.TB, s *market.Series, names ...string) *View {
	t.Helper()
	v := &View{Series: s}
	for _, name := range names {
		r, err := indicators.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		v.Panels = append(v.Panels, Panel{Key: name, Result: r.Compute(s)})
	}
	return v
}
