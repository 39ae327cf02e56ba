package indicators

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestNamesPeopleType: what users of TradingView, TA-Lib and pandas-ta write, from
// the lists in their documentation.
func TestNamesPeopleType(t *testing.T) {
	for typed, want := range map[string]string{
		"Simple Moving Average": "sma", "Exponential Moving Average": "ema", "Williams %R": "willr", "Moving Average Weighted": "wma",
		"Relative Strength Index": "rsi", "Stochastic RSI": "stoch_rsi", "stochRSI": "stoch_rsi", "Bollinger Bands": "bbands",
		"Bollinger Bands %B": "bb_percent_b", "Average True Range": "atr", "Average Directional Index": "adx", "Aroon": "aroon",
		"Awesome Oscillator": "awesome_oscillator", "Balance of Power": "bop", "Chaikin Money Flow": "cmf", "Chaikin Oscillator": "adosc",
		"Chande Momentum Oscillator": "cmo", "Choppiness Index": "choppiness", "Commodity Channel Index": "cci", "Connors RSI": "connors_rsi",
		"Coppock Curve": "coppock", "Detrended Price Oscillator": "dpo", "Donchian Channels": "donchian", "Double EMA": "dema",
		"Ease of Movement": "emv", "Elder's Force Index": "force_index", "Fisher Transform": "fisher", "Hull Moving Average": "hma",
		"Ichimoku Cloud": "ichimoku", "Keltner Channels": "keltner", "Klinger Oscillator": "klinger", "Know Sure Thing": "kst",
		"Least Squares Moving Average": "lsma", "Linear Regression Channel": "linreg_channel", "MACD": "macd", "Mass Index": "mass_index",
		"McGinley Dynamic": "mcginley", "Money Flow Index": "mfi", "On Balance Volume": "obv", "On-Balance Volume": "obv",
		"Parabolic SAR": "sar", "Price Volume Trend": "pvt", "Rate of Change": "roc", "Relative Vigor Index": "rvgi", "SMI Ergodic Indicator": "smi_ergodic",
		"SuperTrend": "supertrend", "Super Trend": "supertrend", "TRIX": "trix", "True Strength Index": "tsi", "Ultimate Oscillator": "ultosc",
		"Volume Weighted Average Price": "vwap", "VWMA": "vwma", "Vortex Indicator": "vortex", "Williams Alligator": "alligator", "Williams Fractals": "fractals",
		"Zig Zag": "zigzag", "Arnaud Legoux Moving Average": "alma", "Triple EMA": "tema", "Standard Deviation": "stddev", "Smoothed Moving Average": "rma",
		"Volume Oscillator": "volume_oscillator", "Ulcer Index": "ulcer_index", "Pivot Points Standard": "pivot", "Accumulation/Distribution": "ad",
		"LINEARREG": "lsma", "LINEARREG_SLOPE": "linreg_slope", "STOCHF": "stochf", "HT_TRENDLINE": "ht_trendline", "PLUS_DI": "plus_di", "TRANGE": "true_range",
		"TA_RSI": "rsi", "ta.rsi": "rsi", "VAR": "variance", "BBANDS": "bbands", "ADOSC": "adosc", "T3": "t3", "Chande Kroll Stop": "chande_kroll_stop",
		"Williams Percent Range": "willr", "Visible Range Volume Profile": "volume_profile", "Auto Fib Retracement": "fibonacci_retracement", "CDLENGULFING": "candles", "cdl_morning_star": "candles",
		"ema200": "ema", "EMA(20)": "ema", "RSI 14": "rsi", "sma_50": "sma", "SMA-50": "sma", "MACD(12, 26, 9)": "macd", "bb(20,2)": "bbands",
	} {
		r, err := New(typed, nil)
		if err != nil {
			t.Errorf("%q: %v", typed, err)
		} else if r.Ind.Name != want {
			t.Errorf("%q means %s, want %s", typed, r.Ind.Name, want)
		}
	}
	for typed, want := range map[string]string{
		"ema200": "EMA(200)", "EMA(20)": "EMA(20)", "RSI 21": "RSI(21)", "MACD(5, 35, 5)": "MACD(5, 35, 5)", "bb(20,2.5)": "BB(20, 2.5)", "t3": "T3(5, 0.7)",
	} {
		if r, err := New(typed, nil); err != nil {
			t.Errorf("%q: %v", typed, err)
		} else if r.Label() != want {
			t.Errorf("%q is labelled %q, want %q", typed, r.Label(), want)
		}
	}
	for _, gone := range []string{"volume_delta", "bbp", "po", "standard"} {
		if ind := byName()[gone]; ind != nil {
			t.Errorf("%q still means %s", gone, ind.Name)
		}
	}
	if _, err := New("rsi(14, 3, 3, 9)", nil); err == nil || !strings.Contains(err.Error(), "more numbers") {
		t.Errorf("too many numbers: %v", err)
	}
}

// TestParametersPeopleType: spellings of other programs.
func TestParametersPeopleType(t *testing.T) {
	for _, c := range []struct{ name, params, want string }{
		{"macd", `{"fastLength":5,"slowLength":35,"signalSmoothing":5}`, "MACD(5, 35, 5)"},
		{"macd", `{"fastperiod":5,"slowperiod":35,"signalperiod":5}`, "MACD(5, 35, 5)"},
		{"bbands", `{"length":10,"std":1.5}`, "BB(10, 1.5)"},
		{"bbands", `{"timeperiod":10,"nbdevup":1.5}`, "BB(10, 1.5)"},
		{"adx", `{"DI Length":20}`, "ADX(20)"},
		{"stoch", `{"fastk_period":5,"slowk_period":3,"slowd_period":4}`, "Stoch(5, 3, 4)"},
		{"supertrend", `{"atrPeriod":7,"factor":2}`, "Supertrend(7, 2)"},
		{"ema", `{"Length":9,"Source":"hl2"}`, "EMA(9, hl2)"},
		{"ichimoku", `{"conversionLineLength":7,"baseLineLength":22,"leadingSpanBLength":44}`, "Ichimoku(7, 22, 44, 26)"},
		{"bbands", `{"mamode":"rma"}`, "BB(20, 2, rma)"},
		{"ma_cross", `{"ma_type":"hma"}`, "MA cross(9, 21, hma)"},
		{"CDLENGULFING", `{}`, "Candles(engulfing)"},
		{"atr", `{"smoothing":"SMA"}`, "ATR(14, sma)"},
		{"atr", `{"maType":"ema"}`, "ATR(14, ema)"},
		{"cci", `{"source":"close"}`, "CCI(20, close)"},
		{"bbands", `{"ma_type":"vwma"}`, "BB(20, 2, vwma)"},
		{"ichimoku", `{"conversionPeriod":7,"basePeriod":22}`, "Ichimoku(7, 22, 52, 26)"},
	} {
		r, err := New(c.name, raw(c.params))
		if err != nil {
			t.Errorf("%s %s: %v", c.name, c.params, err)
		} else if r.Label() != c.want {
			t.Errorf("%s %s is labelled %q, want %q", c.name, c.params, r.Label(), c.want)
		}
	}
}

// TestParametersOfTradingView: parameters that its built-in indicators have beside the
// length do what they do there.
func TestParametersOfTradingView(t *testing.T) {
	s := walk(300, 7)
	values := func(name, params string) []float64 {
		t.Helper()
		r, err := New(name, raw(params))
		if err != nil {
			t.Fatal(err)
		}
		return r.Compute(s).Lines[0].Values
	}
	same := func(what string, got, want []float64) {
		t.Helper()
		for i := range want {
			if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("%s: bar %d is %v, want %v", what, i, got[i], want[i])
			}
		}
	}
	plain := values("sma", `{}`)
	moved := values("sma", `{"offset":3}`)
	same("sma moved by 3 bars", moved[3:], plain[:len(plain)-3])
	if moved[21] == moved[21] {
		t.Errorf("sma moved by 3 bars has the value %v on bar 21, before its first", moved[21])
	}
	// The smoothed ranges by hand: the mean of the last five true ranges.
	ranges, atr := values("true_range", `{}`), values("atr", `{"length":5,"smoothing":"sma"}`)
	for i := 10; i < 20; i++ {
		mean := (ranges[i] + ranges[i-1] + ranges[i-2] + ranges[i-3] + ranges[i-4]) / 5
		if math.Abs(atr[i]-mean) > 1e-9*mean {
			t.Errorf("atr by sma: bar %d is %v, want %v", i, atr[i], mean)
		}
	}
	same("adx with the smoothing of its length", values("adx", `{"length":14,"adxSmoothing":14}`), values("adx", `{"length":14}`))
	// One bar of smoothing leaves the DX as it is.
	same("adx without smoothing", values("adx", `{"length":14,"adx_smoothing":1}`)[40:], values("dx", `{"length":14}`)[40:])
	same("bbands around a vwma", values("bbands", `{"length":10,"ma_type":"vwma"}`), values("vwma", `{"length":10}`))
	same("cci of the typical price", values("cci", `{"source":"hlc3"}`), values("cci", `{}`))
}

// TestZigZagDepth: with a depth of 6 three bars must follow an extreme before it counts, so
// the high of bar 2, whose fall lasts one bar, does not, and others are known later.
func TestZigZagDepth(t *testing.T) {
	s := closes(100, 110, 120, 96, 125, 130, 120, 110, 100, 90, 105, 110, 115)
	for depth, want := range map[string][]int{"0": {1, 3, 4, 6, 10}, "6": {6, 8, 12}} {
		r, err := New("zigzag", raw(`{"deviation":5,"depth":`+depth+`}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, sig := range r.Compute(s).Signals {
			got = append(got, sig.Bar)
		}
		if !slices.Equal(got, want) {
			t.Errorf("depth %s: turns known on bars %v, want %v", depth, got, want)
		}
	}
}

// TestMeantElsewhere: who compares with another market by an entry that compares two columns
// of one is told which entry does that.
func TestMeantElsewhere(t *testing.T) {
	for item, want := range map[string]string{
		`{"name":"correlation","versus":"ETHUSDT"}`:  `"correlation_versus"`,
		`{"name":"correl","benchmark":"ETHUSDT"}`:    `"correlation_versus"`,
		`{"name":"correlation","against":"ETHUSDT"}`: `"correlation_versus"`,
		`{"name":"beta","versus":"ETHUSDT"}`:         `"beta_versus"`,
		`{"name":"beta","symbol":"ETHUSDT"}`:         `"beta_versus"`,
	} {
		if _, err := Parse([]json.RawMessage{json.RawMessage(item)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s named", item, err, want)
		}
	}
	for text, want := range map[string]string{
		"clsoe > 5": `"close"`, "opne > 5": `"open"`, "hgh > 5": `"high"`, "lwo > 5": `"low"`, "voluem > 5": `"volume"`, "highst(close, 5) > 1": `"highest"`, "rssi(14) > 5": `"rsi"`,
	} {
		_, err := New("rule", raw(`{"when":"`+text+`"}`))
		if err == nil || !strings.Contains(err.Error(), "did you mean "+want) {
			t.Errorf("%s: %v, want %s first", text, err, want)
		}
	}
}

// TestParameterGivenTwice: two values for one parameter are refused, each time, also
// if a number in the name or a preset gives it a third.
func TestParameterGivenTwice(t *testing.T) {
	for name, params := range map[string]string{
		"ema": `{"length":5,"period":7}`, "ema(20)": `{"length":5,"period":7}`, "sma": `{"preset":"talib","length":5,"period":7}`,
	} {
		for range 50 { // the order of a map differs from one to the next
			if r, err := New(name, raw(params)); err == nil || !strings.Contains(err.Error(), "are one parameter") {
				t.Fatalf("%s %s: %s, %v", name, params, r.Key, err)
			}
		}
	}
}

// TestLongNames: a name that is longer than any there is is refused before it is compared
// with all of them in every spelling. A megabyte took half a second.
func TestLongNames(t *testing.T) {
	blanks := strings.Repeat(" ", maxName)
	long := strings.Repeat("a", 1e6)
	for params, want := range map[string]string{
		`"ema` + blanks + `20"`:                                                   "unknown indicator",
		`"` + long + `"`:                                                          "unknown indicator",
		`{"name":"rsi","` + long + `":1}`:                                         `rsi has no parameter "` + long[:64] + `…"`,
		`{"name":"rsi","len` + blanks + `gth":1}`:                                 `rsi has no parameter`,
		`{"name":"rsi","source":"` + long + `"}`:                                  `"` + long[:64] + `…" is not one of close`,
		`{"name":"rsi","source":"h` + blanks + `l2"}`:                             `is not one of close`,
		`{"name":"rsi","divergence":"` + long + `"}`:                              "is not one of",
		`{"name":"candles","pattern":"doji` + strings.Repeat(",doji", 1e5) + `"}`: "names 100001, more than the 63 there are",
	} {
		_, err := Parse([]json.RawMessage{json.RawMessage(params)})
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%.60s…: %v, want %s", params, err, want)
		}
	}
	for ind := range All() {
		for _, p := range ind.Params {
			for _, c := range p.Choices {
				if len(c) > 40 {
					t.Errorf("%s of %s: the choice %s is too long for Clip to keep it", p.Name, ind.Name, c)
				}
			}
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"symbol", "side", "type", "quantity", "price"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"symbl", []string{"symbol"}},
		{"SYMBOL", []string{"symbol"}},
		{"sied", []string{"side"}}, // two letters in the wrong order
		{"sdei", nil},
		{"sid", []string{"side"}},
		{"stop_loss", nil},
		{strings.Repeat("x", 1000), nil},
	} {
		if got := Nearest(c.name, names, 2); !slices.Equal(got, c.want) {
			t.Errorf("Nearest(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

// TestUnknownSuggests: an unknown indicator is refused with three names of
// different indicators, the likeliest among them.
func TestUnknownSuggests(t *testing.T) {
	for name, want := range map[string]string{
		"rsii": `"rsi"`, "bolinger": `"bollinger"`, "supertrnd": `"supertrend"`, "macd_line": `"macd"`, "foo": `did you mean`,
	} {
		_, err := Lookup(name)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), `"`) != 8 {
			t.Errorf("Lookup(%q): %v, want three names with %s", name, err, want)
		}
	}
	for _, name := range []string{"", " "} { // no name is nearer to it than others
		if _, err := Lookup(name); err == nil || strings.Contains(err.Error(), "did you mean") || !strings.Contains(err.Error(), "call list_indicators") {
			t.Errorf("Lookup(%q): %v, want no proposal", name, err)
		}
	}
}

// TestPatternsByName: a candle pattern may be asked for by its name, or TA-Lib's.
func TestPatternsByName(t *testing.T) {
	for name, pattern := range map[string]string{"doji": "doji", "CDLENGULFING": "engulfing", "Morning Star": "morningstar", "cdl_3inside": "3inside"} {
		if r, err := New(name, nil); err != nil || r.Label() != "Candles("+pattern+")" {
			t.Errorf("New(%q): %v, want the pattern %s", name, err, pattern)
		}
	}
	if r, err := New("doji", map[string]json.RawMessage{"pattern": json.RawMessage(`"hammer"`)}); err != nil || r.Label() != "Candles(hammer)" {
		t.Errorf("a pattern that was given does not go before the name: %v", err)
	}
}

// TestPresets: each is accepted by its entry, by the names of its parameters, and
// the label shows what it changed.
func TestPresets(t *testing.T) {
	for name, programs := range programs().Presets {
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

// TestDates: a parameter that is a moment is read as every argument of a tool that is one,
// and refused with how to write it.
func TestDates(t *testing.T) {
	for _, name := range []string{"backtest", "vwap_anchored"} {
		param := map[string]string{"backtest": "from", "vwap_anchored": "anchor"}[name]
		for _, value := range []string{`2026`, `"2026"`, `20261301`, `"202601311430"`, `-5`, `1.5`, `"last friday"`, `true`, `[1]`} {
			_, err := New(name, raw(`{"`+param+`":`+value+`}`))
			if !errors.Is(err, errParam) || !strings.Contains(err.Error(), "want 2026-01-31, 2026-01-31 14:30, RFC 3339 or unix seconds") {
				t.Errorf("%s of %s %s: %v", param, name, value, err)
			}
		}
		if _, err := New(name, raw(`{"`+param+`":"1969-12-31"}`)); !errors.Is(err, errParam) || !strings.HasSuffix(err.Error(), "1969-12-31 is before 1970") {
			t.Errorf("%s of %s before 1970: %v", param, name, err)
		}
	}
}
