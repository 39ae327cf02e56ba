package chart

import (
	"fmt"
	"testing"

	"wick/market"
)

// BenchmarkPNG draws 200 bars with volume, four averages, Bollinger bands, RSI
// and MACD, as the comparison with other chart libraries does.
func BenchmarkPNG(b *testing.B) {
	v := sketches(walk(200, 215, 2, market.Day1), "ema", "bb", "rsi", "macd")
	for _, size := range [][2]int{{1920, 1080}, {1440, 768}, {1200, 700}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				var err error
				if buf, _, err = Draw(b.Context(), v, Options{Width: size[0], Height: size[1]}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(buf)), "bytes/png")
		})
	}
}

// BenchmarkLevels lays out 100 named levels, which leave each other little room: 50 of the
// caller's own and 50 orders.
func BenchmarkLevels(b *testing.B) {
	for _, n := range []int{0, 100} {
		v := manyLevels(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				plan(v, Options{Width: 1440, Height: 768})
			}
		})
	}
}

// manyLevels returns a view with n levels between its lowest and its highest price, half of
// them the caller's own and half orders.
func manyLevels(n int) *View {
	v := &View{Series: walk(200, 215, 2, market.Day1), Account: &Account{}}
	s := noSpan
	s.addAll(v.Series.Close)
	for i := range n {
		price := s.lo + (s.hi-s.lo)*float64(i)/float64(n)
		if i%2 == 0 {
			v.Marks = append(v.Marks, Mark{Kind: MarkLevel, Price: price, Text: fmt.Sprintf("a level that somebody drew and named at length, number %d", i)})
		} else {
			v.Account.Orders = append(v.Account.Orders, Order{Buy: true, Kind: "stop_limit", Price: price, Quantity: float64(i)})
		}
	}
	return v
}

// BenchmarkPalette makes the palette that the first picture of a theme needs.
func BenchmarkPalette(b *testing.B) {
	for b.Loop() {
		newPalette(Dark)
	}
}
