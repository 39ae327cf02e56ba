package indicators

import (
	"encoding/json"
	"testing"
)

// TestPresets: each is accepted by its entry, by the names of its parameters, and
// the label shows what it changed.
func TestPresets(t *testing.T) {
	for name, programs := range presets {
		for program := range programs {
			if _, err := New(name, map[string]json.RawMessage{"preset": json.RawMessage(`"` + program + `"`)}); err != nil {
				t.Errorf("%s as in %s: %v", name, program, err)
			}
		}
	}
	for _, c := range []struct{ name, params, want string }{
		{"stoch", `{"preset":"tradingview"}`, "Stoch(14, 1, 3)"},
		// TA-Lib 0.8.1, as its abstract interface reports the defaults.
		{"stoch", `{"preset":"TA-Lib"}`, "Stoch(5, 3, 3)"},
		{"sma", `{"preset":"talib"}`, "SMA(30)"},
		{"kama", `{"preset":"talib","fast":2,"slow":30}`, "KAMA(30, 2, 30)"},
		{"bbands", `{"preset":"talib"}`, "BB(20, 2)"},
		{"cci", `{"preset":"talib"}`, "CCI(14)"},
		{"roc", `{"preset":"talib"}`, "ROC(10)"},
		{"aroon", `{"preset":"talib"}`, "Aroon(14)"},
		{"stddev", `{"preset":"talib"}`, "StdDev(5)"},
		{"stoch", `{"preset":"talib","d":9}`, "Stoch(5, 3, 9)"},
		{"klinger", `{"preset":"tradingview"}`, "KVO(34, 55, 13, signed)"},
		{"cmo", `{"preset":"talib"}`, "CMO(14)"},
		{"cmo", `{"preset":"tradingview"}`, "CMO(9, sum)"},
		{"trix", `{"preset":"tradingview"}`, "TRIX(18, 9)"},
		{"mass_index", `{"preset":"tradingview"}`, "Mass(9, 10)"},
	} {
		r, err := New(c.name, raw(c.params))
		if err != nil {
			t.Errorf("%s %s: %v", c.name, c.params, err)
		} else if r.Label() != c.want {
			t.Errorf("%s %s is labelled %q, want %q", c.name, c.params, r.Label(), c.want)
		}
	}
	if _, err := New("cipher_b", raw(`{"preset":"talib"}`)); err == nil {
		t.Error("cipher_b has a preset of TA-Lib")
	}
}
