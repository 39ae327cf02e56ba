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
