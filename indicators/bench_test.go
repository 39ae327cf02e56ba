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
// the time per bar on 100,000 bars against the same bars in charts of 1,000,
// and with every length at its longest against the defaults.
func BenchmarkCatalogue(b *testing.B) {
	whole := world(100_000, 100)
	var charts []*market.Series // one timed again and again would be learnt by heart by the branch predictor
	for i := 0; i < whole.Len(); i += 1_000 {
		charts = append(charts, whole.Slice(i, i+1_000))
	}
	for ind := range All() {
		b.Run(ind.Name, func(b *testing.B) {
			request, longest := benchRequests(b, ind)
			b.ReportAllocs()
			for b.Loop() {
				request.Compute(whole)
			}
			few, many, long := math.Inf(1), math.Inf(1), math.Inf(1)
			for range 10 { // in turn, so that a busy machine slows all alike
				few = min(few, perBar(request, charts...))
				many = min(many, perBar(request, whole))
				long = min(long, perBar(longest, whole))
			}
			b.ReportMetric(many, "ns/bar")
			b.ReportMetric(many/few, "bars-ratio")
			b.ReportMetric(long/many, "length-ratio")
		})
	}
}

// benchRequests returns ind with its defaults and with its lengths at their
// upper bounds.
func benchRequests(b *testing.B, ind *Indicator) (request, longest Request) {
	lengths := make(map[string]json.RawMessage)
	for _, p := range ind.Params {
		if p.Kind == Int && (p.Max == MaxLength || p.Name == "length") {
			lengths[p.Name] = json.RawMessage(strconv.Itoa(int(p.Max)))
		}
	}
	request, err := New(ind.Name, nil)
	if err != nil {
		b.Fatal(err)
	}
	if longest, err = New(ind.Name, lengths); err != nil {
		b.Fatal(err)
	}
	return request, longest
}

// perBar returns the nanoseconds per bar of one run over all charts.
func perBar(request Request, charts ...*market.Series) float64 {
	start, bars := time.Now(), 0
	for _, s := range charts {
		request.Compute(s)
		bars += s.Len()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(bars)
}
