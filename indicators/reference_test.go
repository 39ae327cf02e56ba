package indicators

import (
	"encoding/json"
	"math"
	"strings"
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

// TestReferenceNames holds names, aliases and parameters that users of another
// chart service know: whoever comes from there finds them all.
func TestReferenceNames(t *testing.T) {
	for name, parameters := range map[string]string{
		"ema_stack": ``, "ema": ``, "bbands": ``, "bollinger": ``, "keltner": ``, "donchian": ``, "supertrend": ``,
		"sar": ``, "parabolic_sar": ``, "ichimoku": ``, "heikin_ashi": ``, "ha": ``, "pivot": ``, "pivot_points": ``,
		"vwap": ``, "vwap_bands": `{"std_dev":2}`,
		"rsi": `{"length":14}`, "macd": ``, "stoch": ``, "stochastic": ``, "williams_r": ``, "willr": ``, "cci": ``, "roc": ``, "adx": ``, "atr": ``,
		"wavetrend":     `{"ch_len":9,"avg_len":12}`,
		"cipher_b":      `{"dot_mode":"classic","wt_channel_length":9,"wt_average_length":12,"wt_oversold":-53,"wt_overbought":53,"show_divergences":true}`,
		"rsi_mfi_stoch": `{"rsi_length":14,"mfi_length":14,"stoch_k":14,"stoch_d":3,"stoch_smooth":3,"overbought":70,"oversold":30,"show_entry_dots":true,"show_trend_bars":true}`,
		"rsi_combo":     ``, "combo": ``,
		"kalman_volume": `{"vzo_length":70,"k":0.06,"sig_length":10}`, "kalman": ``, "kvf": ``,
		"histvol": `{"length":20}`, "hv": ``, "obv": ``, "ad": ``, "ad_line": ``, "cmf": ``, "mfi": ``, "cvd": ``,
		"volume_profile": `{"bins":24,"side":"left","range_bars":100,"split_up_down":false,"color_up":"#26a69a","color_down":"#ef5350","opacity":0.35}`,
		"vp":             ``, "vpvr": ``,
		"session_vp": `{"bins":24,"session":"weekly","bars_per_session":24,"show_value_area":true}`, "svp": ``, "session_volume_profile": ``,
		"hvn_lvn":  `{"bins":48,"range_bars":100,"neighborhood":2,"min_prominence":0.1,"top_n":3,"show_hvn":true,"show_lvn":true}`,
		"vp_nodes": ``, "volume_nodes": ``,
		"naked_poc": `{"bins":24,"session":"daily","bars_per_session":6,"max_sessions":20,"include_current":true}`, "npoc": ``,
		"tpo": `{"bins":32,"side":"right","range_bars":100,"opacity":0.35}`, "market_profile": ``,
		"funding": ``, "funding_rate": ``, "oi": ``, "open_interest": ``, "long_short": ``, "ls_ratio": ``, "fear_greed": ``, "fng": ``,
		// Short names in wide use.
		"bb": ``, "kc": ``, "dc": ``, "st": ``, "psar": ``, "ichi": ``, "wt": ``, "cipher": ``, "cb": ``,
	} {
		if parameters == "" {
			parameters = "{}"
		}
		if _, err := New(name, raw(parameters)); err != nil {
			t.Errorf("%s %s: %v", name, parameters, err)
		}
	}
}

// TestChoices reads a choice as people write it, and points to the nearest when
// it is none.
func TestChoices(t *testing.T) {
	for _, word := range []string{"morningstar", "Morning Star", "morning_star", "MORNING-STAR"} {
		request, err := New("candles", raw(`{"pattern":"`+word+`"}`))
		if err != nil {
			t.Errorf("%s: %v", word, err)
		} else if got := request.Args.Choice("pattern"); got != "morningstar" {
			t.Errorf("%s is read as %s", word, got)
		}
	}
	_, err := New("candles", raw(`{"pattern":"CDLENGULFING"}`))
	if err == nil || !strings.Contains(err.Error(), `did you mean "engulfing"?`) {
		t.Errorf("CDLENGULFING: %v, want a hint to engulfing", err)
	}
}

// TestSessionBars: the warm-up of quarter-hour bars holds a session by the
// clock, or of the bars given.
func TestSessionBars(t *testing.T) {
	for params, want := range map[string]int{
		`{}`: 97, `{"session":"weekly"}`: 673, `{"session":"hourly"}`: 5, `{"bars_per_session":30}`: 31,
	} {
		request, err := New("session_vp", raw(params))
		if err != nil {
			t.Fatal(err)
		}
		if got := request.Warmup(market.Minute15); got != want {
			t.Errorf("%s: %d bars, want %d", params, got, want)
		}
	}
}

// TestIgnored accepts the colours of other systems where the record says so,
// and nowhere else.
func TestIgnored(t *testing.T) {
	if _, err := New("volume_profile", raw(`{"Color_Up":"red","opacity":null}`)); err != nil {
		t.Errorf("volume_profile: %v", err)
	}
	if _, err := New("rsi", raw(`{"color_up":"red"}`)); err == nil {
		t.Error("rsi takes a colour")
	}
	for ind := range All() {
		for _, name := range ind.Ignores {
			if !strings.Contains(ind.Doc, name) {
				t.Errorf("%s ignores %s and its text does not say so", ind.Name, name)
			}
		}
	}
}
