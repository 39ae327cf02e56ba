package indicators

import (
	"testing"

	"wick/market"
)

// BenchmarkLargest computes every indicator on the largest request that is
// allowed: 5,000 bars shown and their warm-up, with every length at its
// longest. No entry should take more than 20 ms.
func BenchmarkLargest(b *testing.B) {
	for ind := range All() {
		b.Run(ind.Name, func(b *testing.B) {
			_, longest := benchRequests(b, ind)
			s := world(min(5_000+longest.Warmup(market.Hour1), market.MaxLimit), 100)
			b.ReportAllocs()
			for b.Loop() {
				longest.Compute(s)
			}
		})
	}
}
