package chart

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
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

// average returns the exponential average of x over n, missing before it has n
// values.
func average(x []float64, n int) indicators.Values {
	out := make(indicators.Values, len(x))
	sum := 0.0
	for i, v := range x {
		out[i] = math.NaN()
		switch {
		case i < n:
			if sum += v; i == n-1 {
				out[i] = sum / float64(n)
			}
		default:
			out[i] = out[i-1] + (v-out[i-1])*2/float64(n+1)
		}
	}
	return out
}

// sketch returns a result in the shape of a well-known indicator. Pictures are
// made of these, so that a finer definition in the catalogue changes none.
func sketch(name string, s *market.Series) *indicators.Result {
	x := s.Close
	each := func(f func(i int) float64) indicators.Values {
		out := make(indicators.Values, len(x))
		for i := range out {
			out[i] = f(i)
		}
		return out
	}
	var marks []indicators.Signal
	cross := func(a, b indicators.Values, up, down string) {
		for i := 1; i < len(a); i++ {
			if a[i-1] < b[i-1] && a[i] >= b[i] {
				marks = append(marks, indicators.Signal{Bar: i, Y: a[i], Label: up, Tone: indicators.Up})
			}
			if a[i-1] > b[i-1] && a[i] <= b[i] {
				marks = append(marks, indicators.Signal{Bar: i, Y: a[i], Label: down, Tone: indicators.Down})
			}
		}
	}
	switch name {
	case "ema":
		r := &indicators.Result{Label: "EMA(8, 21, 50, 200)", Overlay: true}
		for _, n := range []int{8, 21, 50, 200} {
			r.Lines = append(r.Lines, indicators.Line{Label: strconv.Itoa(n), Values: average(x, n)})
		}
		return r
	case "bb":
		mid := average(x, 20)
		dev := average(each(func(i int) float64 { return math.Abs(x[i] - x[max(0, i-10)]) }), 20)
		upper, lower := each(func(i int) float64 { return mid[i] + 1.5*dev[i] }), each(func(i int) float64 { return mid[i] - 1.5*dev[i] })
		cross(x, upper, "break_up", "")
		marks = slices.DeleteFunc(marks, func(m indicators.Signal) bool { return m.Label == "" })
		return &indicators.Result{Label: "BB(20, 2)", Overlay: true, Signals: marks,
			Lines: []indicators.Line{{Label: "Middle", Tone: indicators.Muted, Values: mid},
				{Label: "Upper", Tone: indicators.Band, Values: upper}, {Label: "Lower", Tone: indicators.Band, Values: lower}},
			Fills: []indicators.Fill{{Y1: upper, Y2: lower, Tone: indicators.Band}}}
	case "rsi":
		gain := average(each(func(i int) float64 { return max(x[i]-x[max(0, i-1)], 0) }), 14)
		loss := average(each(func(i int) float64 { return max(x[max(0, i-1)]-x[i], 0) }), 14)
		line := each(func(i int) float64 { return 100 * gain[i] / max(gain[i]+loss[i], 1e-300) })
		cross(line, each(func(int) float64 { return 70 }), "", "rsi_overbought")
		cross(line, each(func(int) float64 { return 30 }), "rsi_oversold", "")
		marks = slices.DeleteFunc(marks, func(m indicators.Signal) bool { return m.Label == "" })
		return &indicators.Result{Label: "RSI(14)", YRange: &[2]float64{0, 100}, Signals: marks,
			Lines:  []indicators.Line{{Label: "RSI", Tone: indicators.Primary, Values: line}},
			HLines: []indicators.HLine{{Y: 70}, {Y: 50}, {Y: 30}}}
	case "macd":
		fast, slow := average(x, 12), average(x, 26)
		line := each(func(i int) float64 { return fast[i] - slow[i] })
		signal := line
		if len(x) > 25 {
			signal = append(slices.Clone(line[:25]), average(line[25:], 9)...)
		}
		cross(line, signal, "cross_up", "cross_down")
		return &indicators.Result{Label: "MACD(12, 26, 9)", Signals: marks, HLines: []indicators.HLine{{Y: 0}},
			Lines: []indicators.Line{{Label: "MACD", Tone: indicators.Primary, Values: line},
				{Label: "Signal", Tone: indicators.Second, Values: signal}},
			Histogram: []indicators.Histogram{{Label: "Histogram", Values: each(func(i int) float64 { return line[i] - signal[i] })}}}
	}
	panic("no sketch of " + name)
}

// sketches returns a view of s with sketched indicators.
func sketches(s *market.Series, names ...string) *View {
	v := &View{Series: s}
	for _, name := range names {
		v.Panels = append(v.Panels, Panel{Key: name, Result: sketch(name, s)})
	}
	return v
}

// view computes indicators of the catalogue by name over s.
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
