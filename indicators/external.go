package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Indicators of data from outside the bars. A source that has it puts it into
// columns of Series.Extra; each record says in Needs which it cannot do
// without, and a tool refuses by that name when the source has none. A value
// that is missing is null here, never zero.

// extra returns the further column called name, or no values if s lacks it. The
// column is that of s and must not be changed.
func extra(s *market.Series, name string) []float64 {
	if c, ok := s.Extra[name]; ok {
		return c
	}
	return kernel.NaNs(s.Len())
}
