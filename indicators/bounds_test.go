package indicators

import (
	"errors"
	"strings"
	"testing"
)

// TestSenselessBounds refuses parameters that are each within their bounds and
// make no sense together, or a length of which there is nothing to say.
func TestSenselessBounds(t *testing.T) {
	for _, c := range []struct{ name, params, says string }{
		{"rsi", `{"oversold":80,"overbought":20}`, "oversold of rsi is 80 and overbought is 20"},
		{"rsi", `{"oversold":70}`, "oversold of rsi is 70 and overbought is 70"},
		{"cci", `{"lower":200,"upper":100}`, "oversold of cci is 200"},
		{"wavetrend", `{"oversold":60}`, "overbought is 53"},
		{"cipher_b", `{"wt_oversold":0,"wt_overbought":0}`, "wt_oversold"},
		{"choppiness", `{"lower":70,"upper":30}`, "lower of choppiness is 70"},
		{"mass_index", `{"lower":28}`, "upper is 27"},
		{"mavp", `{"minimum":40,"maximum":10}`, "minimum of mavp is 40 and maximum is 10"},
		{"zscore", `{"length":1}`, "out of bounds, 2 to 1000"},
	} {
		if _, err := New(c.name, raw(c.params)); !errors.Is(err, ErrParam) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v, want one that says %q", c.name, c.params, err, c.says)
		}
	}
	for _, ok := range []struct{ name, params string }{{"rsi", `{"oversold":20,"overbought":90}`}, {"mavp", `{"minimum":10,"maximum":10}`}} {
		if _, err := New(ok.name, raw(ok.params)); err != nil {
			t.Errorf("%s %s: %v", ok.name, ok.params, err)
		}
	}
}
