package indicators

import (
	"strings"
	"testing"

	"wick/indicators/shape"
)

// TestMeetingMeanings: two lines that were apart and meet have crossed already, and every
// sentence about a crossing says so, and from which side.
func TestMeetingMeanings(t *testing.T) {
	if got := marks(shape.Crossings(nil, []float64{1, 2, 3, 2}, []float64{2, 2, 2, 2}, "up", "down")); got != "1 up, 3 down" {
		t.Fatalf("crossings of lines that meet: %s", got)
	}
	sides := map[string][]string{
		"from below": {shape.CrossUp, shape.CrossUpOS, shape.PriceUp, shape.ZeroUp, shape.BreakUp, shape.CloudUp, shape.TwistUp, shape.Buy, shape.BuySmall, shape.StochOS},
		"from above": {shape.CrossDown, shape.CrossDownOB, shape.PriceDown, shape.ZeroDown, shape.BreakDown, shape.CloudDown, shape.TwistDown, shape.Sell, shape.SellSmall, shape.StochOB},
	}
	for side, labels := range sides {
		for _, label := range labels {
			if text := shape.Meaning(label); !strings.Contains(text, "meets or crosses") || !strings.Contains(text, side) {
				t.Errorf("%s means %q", label, text)
			}
		}
	}
	for ind := range All() {
		for _, label := range ind.Signals {
			if text := ind.Meaning(label); strings.Contains(text, " cross") && !strings.Contains(text, "meets or crosses") {
				t.Errorf("%s: %s means %q", ind.Name, label, text)
			}
		}
	}
}
