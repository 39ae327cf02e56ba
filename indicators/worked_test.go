package indicators

import (
	"slices"
	"testing"
)

// worked has a test for each entry whose values no vectors prove: one that holds them to a
// hand calculation or to a plain implementation of the definition.
var worked = map[string]func(*testing.T){
	"backtest":              TestBacktestFills,
	"beta_versus":           TestVersusByHand,
	"breaker_block":         TestStructureLines,
	"cvd":                   TestCVD,
	"double_top_bottom":     TestStructureLines,
	"equal_highs_lows":      TestStructureLines,
	"fair_value_gap":        TestStructure,
	"fear_greed":            TestFearGreedZones,
	"fibonacci_retracement": TestFibonacci,
	"flag":                  TestStructureLines,
	"formula":               TestRuleByHand,
	"frama":                 TestFRAMA,
	"funding":               TestFunding,
	"head_shoulders":        TestStructureLines,
	"hurst":                 TestWindows,
	"hvn_lvn":               TestNodes,
	"kalman_volume":         TestKalmanVolume,
	"kill_zones":            TestTradingSessions,
	"kurtosis":              TestWindows,
	"linreg_channel":        TestLinregChannelPlain,
	"liquidity_sweep":       TestStructureLines,
	"long_short":            TestLongShort,
	"mansfield_rs":          TestVersusByHand,
	"market_structure":      TestStructureLines,
	"max_drawdown":          TestStudiesByHand,
	"naked_poc":             TestNakedPOC,
	"net_volume":            TestVolumeIndicators,
	"oi":                    TestOpenInterest,
	"opening_range":         TestDayLevels,
	"order_block":           TestStructureLines,
	"previous_levels":       TestDayLevels,
	"ratio":                 TestVersusByHand,
	"rule":                  TestRuleByHand,
	"session_vp":            TestSessionVP,
	"sessions":              TestTradingSessions,
	"sharpe":                TestStudiesByHand,
	"skew":                  TestWindows,
	"sortino":               TestStudiesByHand,
	"spread":                TestVersusByHand,
	"supply_demand":         TestStructureLines,
	"support_resistance":    TestStructureLines,
	"td_sequential":         TestSequential,
	"tpo":                   TestTimeProfile,
	"trend_channel":         TestStructureLines,
	"trend_lines":           TestStructureLines,
	"triangle":              TestStructureLines,
	"volume_profile":        TestProfileBars,
	"zigzag":                TestZigZag,
}

// TestWorked: an entry without vectors has a test of its values, and that test fails if the
// values are twice what they should be.
func TestWorked(t *testing.T) {
	proven := make(map[string]bool)
	for _, file := range vectorFiles(t) {
		for _, c := range readVectors(t, file) {
			if how := vectors[c.Function]; how.equals() {
				proven[how.entry] = true
			}
		}
	}
	for ind := range All() {
		test := worked[ind.Name]
		switch {
		case proven[ind.Name] && test != nil:
			t.Errorf("%s has vectors, and needs no line in worked", ind.Name)
		case proven[ind.Name]:
		case test == nil:
			t.Errorf("%s has neither vectors nor a test of its values that worked in worked_test.go names", ind.Name)
		case fails(test):
			t.Errorf("%s: the test that worked names fails, or has subtests, which cannot run here", ind.Name)
		default:
			kept := *ind
			ind.Events, ind.Draw = nil, func(in Input) *Result { return doubled(kept.draw(in)) }
			if !fails(test) {
				t.Errorf("%s: the test that worked names passes with all values doubled", ind.Name)
			}
			*ind = kept
		}
	}
	for name := range worked {
		if ind, err := Lookup(name); err != nil || ind.Name != name {
			t.Errorf("worked has %q, which is no entry of the catalogue", name)
		}
	}
}

// fails reports whether a test fails, without failing the one that runs it. The T is one
// that go test did not make; it cannot run subtests, so a test that has some panics, which
// counts as a failure.
func fails(test func(*testing.T)) bool {
	t, done := new(testing.T), make(chan bool)
	go func() { // Fatal ends the goroutine
		defer close(done)
		defer func() {
			if recover() != nil {
				t.Fail()
			}
		}()
		test(t)
	}()
	<-done
	return t.Failed()
}

// doubled returns r with every value, level and price twice as large. A result that has
// none of them loses its signals.
func doubled(r *Result) *Result {
	out := *r
	out.Lines, out.Histogram = slices.Clone(r.Lines), slices.Clone(r.Histogram)
	out.HLines, out.HBars = slices.Clone(r.HLines), slices.Clone(r.HBars)
	for i := range out.Lines {
		out.Lines[i].Values = twice(r.Lines[i].Values)
	}
	for i := range out.Histogram {
		out.Histogram[i].Values = twice(r.Histogram[i].Values)
	}
	for i := range out.HLines {
		out.HLines[i].Y *= 2
	}
	for i := range out.HBars {
		out.HBars[i].Y *= 2
	}
	if r.From != nil {
		out.From = func(bar int) *Result { return doubled(r.From(bar)) }
	}
	if len(r.Lines)+len(r.Histogram)+len(r.HLines)+len(r.HBars) == 0 {
		out.Signals = nil
	}
	return &out
}

func twice(values Values) Values {
	out := slices.Clone(values)
	for i := range out {
		out[i] *= 2
	}
	return out
}
