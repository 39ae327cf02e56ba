package indicators

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wick/limit"
	"wick/market"
)

// errParam reports a parameter that an indicator lacks or a value it refuses.
var errParam = errors.New("bad indicator parameter")

// param returns the index of the parameter that name means, or -1. A name from another
// program counts if ind has no parameter of that name itself.
func (ind *Indicator) param(name string) int {
	if len(name) > maxName {
		return -1
	}
	// The given spelling is tried first, then looser ones, and names of other programs last.
	key := snake(name)
	keys := append([]string{strings.ToLower(name), key, strings.ReplaceAll(key, "_", "")}, spellings[key]...)
	for _, word := range []string{"_period", "_length"} { // basePeriod is base
		if stem, ok := strings.CutSuffix(key, word); ok {
			keys = append(keys, stem)
		}
	}
	for _, key := range keys {
		for i, p := range ind.Params {
			if p.Name == key || slices.Contains(p.Aliases, key) {
				return i
			}
		}
	}
	return -1
}

// override replaces values, which are by the names of parameters, with those that a client
// gave, perhaps under aliases. If the client gave a parameter under two names, both stay,
// and resolve compares them.
func (ind *Indicator) override(values, given map[string]json.RawMessage) {
	for key := range given {
		if i := ind.param(key); i >= 0 {
			delete(values, ind.Params[i].Name)
		}
	}
	maps.Copy(values, given)
}

// spellings are names of parameters in TradingView, TA-Lib and pandas-ta and what
// they may be here, the likeliest first.
var spellings = map[string][]string{
	"std": {"mult", "std_dev", "bb_mult"}, "stdev": {"mult", "std_dev"}, "std_dev": {"mult"}, "bb_std_dev": {"mult", "bb_mult"},
	"nbdev_up": {"mult"}, "nbdev_dn": {"mult_lower"}, "upper_std": {"mult"}, "lower_std": {"mult_lower"},
	"scalar": {"mult"}, "atr_multiplier": {"mult"}, "factor": {"mult"}, "multiplier": {"mult", "factor"},
	"signal_smoothing": {"signal"}, "signal_length": {"signal"}, "signal_period": {"signal"}, "sig": {"signal"},
	"fast_length": {"fast"}, "fast_period": {"fast"}, "short_length": {"fast", "short"}, "short_period": {"fast", "short"},
	"slow_length": {"slow"}, "slow_period": {"slow"}, "long_length": {"slow", "long"}, "long_period": {"slow", "long"},
	"di_length": {"length"}, "adx_length": {"length"}, "lensig": {"length"}, "atr_period": {"length", "atr_length"}, "atr_length": {"length"},
	"rsi_period": {"rsi_length", "length"}, "stoch_period": {"stoch_length", "length"}, "stochastic_length": {"stoch_length", "length"},
	"k_length": {"length"}, "k_period": {"length"}, "fast_k_period": {"length", "stoch_length"}, "slow_k_period": {"smooth"}, "slow_d_period": {"d"},
	"k_smoothing": {"smooth", "k"}, "d_smoothing": {"d"}, "smooth_k": {"smooth", "k"}, "smooth_d": {"d"}, "smoothing": {"smooth", "ma_type"},
	"time_period": {"length"}, "lookback": {"length", "range_bars"}, "look_back": {"length"}, "bars_back": {"length"},
	"mamode": {"ma_type", "type"}, "ma_mode": {"ma_type", "type"}, "ma": {"ma_type", "type"}, "average_type": {"ma_type", "type"},
	"conversion_line_length": {"conversion"}, "base_line_length": {"base"}, "leading_span_b_length": {"span_b"}, "leading_span_blength": {"span_b"}, "lagging_span": {"displacement"},
	"af0": {"start"}, "af_initial": {"start"}, "max_af": {"maximum"}, "max_value": {"maximum"}, "acceleration_factor": {"start"},
	"channel_length": {"channel"}, "average_length": {"average"}, "roc_length": {"roc", "length"}, "annual_length": {"periods"},
	"upper_band": {"overbought"}, "lower_band": {"oversold"}, "upper_limit": {"overbought"}, "lower_limit": {"oversold"},
	"applied_price": {"source"}, "series": {"source"}, "data": {"source"}, "on": {"source"},
	"depth": {"left", "side"}, "deviations": {"mult", "deviation"}, "anchor_period": {"anchor"},
}

// unknownParam returns the error for a name that param does not find. It names the
// parameters there are, the nearest first as a question.
func (ind *Indicator) unknownParam(name string) error {
	if len(ind.Params) == 0 {
		return fmt.Errorf("%w: %s has no parameter %q, it takes none", errParam, ind.Name, limit.Clip(name))
	}
	var names []string
	for _, p := range ind.Params {
		names = append(names, p.Name)
	}
	return fmt.Errorf("%w: %s has no parameter %q%s; it has %s%s", errParam, ind.Name, limit.Clip(name),
		didYouMean(name, names), strings.Join(names, ", "), ind.elsewhere(name))
}

// elsewhere names the entry that compares with another market if ind compares two columns
// and name is the parameter for the other market; "" otherwise.
func (ind *Indicator) elsewhere(name string) string {
	other, _ := find(ind.Name + "_versus")
	if other == nil || other.param(name) < 0 {
		return ""
	}
	return fmt.Sprintf("; another market is compared with by %q", other.Name)
}

// parse reads a value that a client sent for p. Numbers may come as strings:
// models send both.
func (p Param) parse(raw json.RawMessage) (float64, error) {
	text := strings.TrimSpace(string(raw))
	// A text is unquoted and then read like a bare value.
	if len(text) > 0 && text[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return 0, fmt.Errorf("%s is not a value", limit.Clip(text))
		}
		text = strings.TrimSpace(s)
	}
	switch p.Kind {
	case Bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes", "on":
			return 1, nil
		case "false", "0", "no", "off":
			return 0, nil
		}
		return 0, fmt.Errorf("%q is neither true nor false", limit.Clip(text))
	case Choice:
		// What Clip shortens is longer than every choice.
		given := oneWord.Replace(limit.Clip(text))
		for i, c := range p.Choices {
			if strings.EqualFold(oneWord.Replace(c), given) {
				return float64(i), nil
			}
		}
		return 0, fmt.Errorf("%q is not one of %s%s", limit.Clip(text), strings.Join(p.Choices, ", "), didYouMean(text, p.Choices))
	case Date:
		return parseDate(text)
	}
	if p.Auto && strings.EqualFold(text, "auto") {
		return 0, nil
	}
	if p.Percent {
		text = strings.TrimSpace(strings.TrimSuffix(text, "%"))
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", limit.Clip(text))
	}
	if p.Kind == Int && v != math.Trunc(v) {
		return 0, fmt.Errorf("%s is not a whole number", limit.Clip(text))
	}
	if v < p.Min || v > p.Max {
		return 0, fmt.Errorf("%s is out of bounds, %s to %s", limit.Clip(text), number(p.Min), number(p.Max))
	}
	return v, nil
}

// oneWord removes the characters between words: "Morning Star" and "morning_star" are the
// choice "morningstar".
var oneWord = strings.NewReplacer(" ", "", "_", "", "-", "")

// parseDate reads a date or a time, in UTC unless it says otherwise, and returns it
// in unix seconds. 0 is no date: the indicator has a beginning of its own.
func parseDate(text string) (float64, error) {
	// Some programs write whole numbers with a point.
	if v, err := strconv.ParseFloat(text, 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1e14 {
		text = strconv.FormatInt(int64(v), 10)
	}
	if text == "0" {
		return 0, nil
	}
	at, err := market.ParseTime(text, nil, false)
	if err == nil && at <= 0 {
		err = fmt.Errorf("%s is before 1970", limit.Clip(text))
	}
	return float64(at), err
}

// readSymbol reads the name of a market, which is resolved when it is loaded.
func readSymbol(raw json.RawMessage) (string, error) {
	// The bound keeps short what later messages repeat.
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || strings.TrimSpace(text) == "" || len(text) > 40 {
		return "", fmt.Errorf("%s is not a symbol such as \"ETHUSDT\"", limit.Clip(string(raw)))
	}
	return strings.ToUpper(strings.TrimSpace(text)), nil
}

// ordered are the pairs of parameters of which the first must lie below the
// second, or may equal it.
var ordered = []struct {
	low, high string
	equal     bool
}{
	{"oversold", "overbought", false},
	{"wt_oversold", "wt_overbought", false},
	{"lower", "upper", false},
	{"minimum", "maximum", true},
}

// checkOrder returns an error if parameters make no sense together, such as an oversold
// level above the overbought one.
func (a Args) checkOrder() error {
	for _, pair := range ordered {
		i, k := a.ind.index(pair.low), a.ind.index(pair.high)
		if i < 0 || k < 0 {
			continue
		}
		if low, high := a.values[i], a.values[k]; low > high || low == high && !pair.equal {
			return fmt.Errorf("%w: %s of %s is %s and %s is %s; the first must be the lower one", errParam,
				pair.low, a.ind.Name, number(low), pair.high, number(high))
		}
	}
	return nil
}
