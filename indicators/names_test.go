package indicators

import (
	"encoding/json"
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
		if ind := byName[gone]; ind != nil {
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
