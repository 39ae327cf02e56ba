package indicators

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"
	"time"

	"wick/market"
)

// BenchmarkCatalogue computes every indicator, signals included, on 100,000
// bars and reports nanoseconds per bar, and two ratios that should stay near 1:
// the time per bar on 100,000 bars against 1,000, and with every length ten
// times as long against the defaults.
func BenchmarkCatalogue(b *testing.B) {
	short, long := world(1_000, 100), world(100_000, 100)
	for ind := range All() {
		b.Run(ind.Name, func(b *testing.B) {
			request, stretched := benchRequests(b, ind)
			b.ReportAllocs()
			for b.Loop() {
				request.Compute(long)
			}
			few := perBar(request, short, 100)
			many := perBar(request, long, 10)
			b.ReportMetric(many, "ns/bar")
			b.ReportMetric(many/few, "bars-ratio")
			b.ReportMetric(perBar(stretched, long, 10)/many, "length-ratio")
		})
	}
}

// benchRequests returns ind with its defaults and with its lengths ten times as
// long, within their bounds.
func benchRequests(b *testing.B, ind *Indicator) (request, stretched Request) {
	lengths := make(map[string]json.RawMessage)
	for _, p := range ind.Params {
		if p.Kind == Int && p.Max == MaxLength {
			lengths[p.Name] = json.RawMessage(strconv.Itoa(int(min(10*p.Default, p.Max))))
		}
	}
	request, err := New(ind.Name, nil)
	if err != nil {
		b.Fatal(err)
	}
	if stretched, err = New(ind.Name, lengths); err != nil {
		b.Fatal(err)
	}
	return request, stretched
}

// perBar returns the nanoseconds per bar of the fastest of a few runs.
func perBar(request Request, s *market.Series, runs int) float64 {
	best := math.Inf(1)
	for range runs {
		start := time.Now()
		request.Compute(s)
		best = min(best, float64(time.Since(start).Nanoseconds()))
	}
	return best / float64(s.Len())
}
