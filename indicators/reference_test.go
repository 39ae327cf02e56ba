package indicators

import (
	"encoding/json"
	"math"
	"testing"

	"wick/market"
)

// raw reads a JSON object of overrides.
func raw(text string) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err)
	}
	return m
}

// compute runs the indicator called name with the overrides given as JSON.
func compute(t *testing.T, s *market.Series, name, overrides string) *Result {
	t.Helper()
	request, err := New(name, raw(overrides))
	if err != nil {
		t.Fatal(err)
	}
	return request.Compute(s)
}

// same reports whether two series are equal, NaN where NaN is, to 1e-9.
func same(got, want []float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i, w := range want {
		if math.IsNaN(w) != math.IsNaN(got[i]) || math.Abs(got[i]-w) > 1e-9*max(1, math.Abs(w)) {
			return false
		}
	}
	return true
}
