package indicators

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wick/limit"
)

// presets are the defaults of other programs, by entry and program, where the
// program has the indicator. TA-Lib's are those that version 0.8.1 reports of
// itself (its abstract interface). TradingView's are the inputs that its built-in
// indicators are known to have; they could not be checked against the program.
// An empty set says that the defaults here are the same.
var presets = map[string]map[string]string{
	"sma":             {"tradingview": `{"length":9}`, "talib": `{"length":30}`},
	"ema":             {"tradingview": `{"length":9}`, "talib": `{"length":30}`},
	"wma":             {"tradingview": `{"length":9}`, "talib": `{"length":30}`},
	"dema":            {"tradingview": `{"length":9}`, "talib": `{"length":30}`},
	"tema":            {"tradingview": `{"length":9}`, "talib": `{"length":30}`},
	"trima":           {"talib": `{"length":30}`},
	"kama":            {"talib": `{"length":30}`},
	"hma":             {"tradingview": `{"length":9}`},
	"alma":            {"tradingview": `{"length":9,"offset":0.85,"sigma":6}`},
	"rsi":             {"tradingview": `{}`, "talib": `{}`},
	"macd":            {"tradingview": `{"variant":"pine"}`, "talib": `{}`},
	"bbands":          {"tradingview": `{"length":20}`, "talib": `{"length":20}`},
	"stoch":           {"tradingview": `{"length":14,"smooth":1,"d":3}`, "talib": `{"length":5,"smooth":3,"d":3}`},
	"stochf":          {"talib": `{"length":5,"d":3}`},
	"stoch_rsi":       {"tradingview": `{}`, "talib": `{"rsi_length":14,"stoch_length":5,"d":3,"variant":"talib"}`},
	"cci":             {"tradingview": `{"length":20}`, "talib": `{"length":14}`},
	"cmo":             {"tradingview": `{"length":9,"variant":"sum"}`, "talib": `{"length":14,"variant":"talib"}`},
	"roc":             {"tradingview": `{"length":9}`, "talib": `{"length":10}`},
	"mom":             {"tradingview": `{"length":10}`, "talib": `{"length":10}`},
	"trix":            {"tradingview": `{"length":18}`, "talib": `{"length":30}`},
	"willr":           {"tradingview": `{}`, "talib": `{}`},
	"ultosc":          {"tradingview": `{}`, "talib": `{}`},
	"apo":             {"talib": `{"ma_type":"ema"}`},
	"ppo":             {"talib": `{"ma_type":"ema"}`},
	"adx":             {"tradingview": `{"variant":"pine"}`, "talib": `{}`},
	"atr":             {"tradingview": `{"variant":"pine"}`, "talib": `{}`},
	"aroon":           {"tradingview": `{"length":14}`, "talib": `{"length":14}`},
	"sar":             {"tradingview": `{}`, "talib": `{}`},
	"stddev":          {"talib": `{"length":5}`},
	"mfi":             {"tradingview": `{}`, "talib": `{}`},
	"obv":             {"tradingview": `{}`, "talib": `{}`},
	"klinger":         {"tradingview": `{"variant":"signed"}`},
	"hist_volatility": {"tradingview": `{"length":10,"periods":365}`},
	"mass_index":      {"tradingview": `{"length":10}`},
	"supertrend":      {"tradingview": `{}`},
	"ichimoku":        {"tradingview": `{}`},
	"keltner":         {"tradingview": `{}`},
	"donchian":        {"tradingview": `{}`},
	"vwap":            {"tradingview": `{"anchor":"day"}`},
}

// withPreset returns the overrides with the defaults of the program that "preset"
// names. What is given by name wins.
func (ind *Indicator) withPreset(overrides map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	// An indicator that has a parameter called preset keeps it to itself.
	raw, ok := overrides["preset"]
	if !ok || string(raw) == "null" || ind.param("preset") >= 0 {
		return overrides, nil
	}
	// Names are compared without case, blanks, hyphens and underscores: "TA-Lib" is
	// talib.
	program := strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "", `"`, "").Replace(string(raw)))
	// An unknown program is refused: with our defaults in its place the values would
	// not be those that were asked for.
	text, ok := presets[ind.Name][program]
	if !ok {
		known := "none is known"
		if names := slices.Sorted(maps.Keys(presets[ind.Name])); len(names) > 0 {
			known = "it has " + strings.Join(names, ", ")
		}
		return nil, fmt.Errorf("%w: %s has no preset %s; %s", errParam, ind.Name, limit.Clip(string(raw)), known)
	}
	all := make(map[string]json.RawMessage)
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("preset %s of %s: %w", program, ind.Name, err)
	}
	ind.override(all, overrides)
	delete(all, "preset")
	return all, nil
}
