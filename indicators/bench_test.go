package indicators

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
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

// BenchmarkMedians computes every indicator, signals included, on 5,000 bars and
// names those that take more than ten times as long as the median of all. The best
// of all rounds counts. test/bench/README.md says why these do.
func BenchmarkMedians(b *testing.B) {
	s := world(5_000, 100)
	best := make(map[string]float64)
	for b.Loop() {
		for ind := range All() { // in turn, so that a busy machine slows all alike
			request, _ := benchRequests(b, ind)
			took := perBar(request, s)
			if known, ok := best[ind.Name]; !ok || took < known {
				best[ind.Name] = took
			}
		}
	}
	median := slices.Sorted(maps.Values(best))[len(best)/2]
	b.ReportMetric(median, "ns/bar-median")
	for name, took := range best {
		if took > 10*median {
			b.ReportMetric(took/median, name+"-medians")
		}
	}
}

// benchRequests returns ind with its defaults and with its lengths at their
// upper bounds.
func benchRequests(b *testing.B, ind *Indicator) (request, longest Request) {
	lengths := make(map[string]json.RawMessage)
	for _, p := range ind.Params {
		if p.Kind == Int && (p.Max == MaxLength || p.Name == "length") && p.Name != "minimum" { // it must stay below the maximum
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
