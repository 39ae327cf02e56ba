package indicators

import (
	"slices"
	"strings"
)

// How entries relate to what other programs compute. The tables are in
// compared_talib.go, compared_tradingview.go and compared_pandas.go; what they say of
// equality and of differences is what the test vectors prove, and a test holds them
// to that. TradingView itself cannot be run here: what stands in for it are two
// independent programs that set out to compute as it does.

// The programs whose values the vectors hold.
const (
	pineTS     = "PineTS 0.9.34"
	pineScript = "lightweight-charts-indicators 0.4.2"
)

// Compared says of TA-Lib ("ta_lib"), TradingView ("tradingview") and pandas-ta
// ("pandas_ta") how the entry relates to them.
func (ind *Indicator) Compared() map[string]string {
	return map[string]string{"ta_lib": ind.besideTALib(), "tradingview": ind.besideTradingView(), "pandas_ta": ind.besidePandas()}
}

// besideTALib compares with TA-Lib 0.8.1, of which every function that is more than
// arithmetic is in the vectors.
func (ind *Indicator) besideTALib() string {
	if functions := equalToTALib[ind.Name]; functions != "" {
		return "equal to " + functions
	}
	if words := unlikeTALib[ind.Name]; words != "" {
		return words
	}
	return "TA-Lib has none"
}

// besideTradingView compares with the functions of Pine ("ta.rsi") and the scripts
// that come with TradingView ("the script Aroon").
func (ind *Indicator) besideTradingView() string {
	words := likeTradingView[ind.Name]
	switch {
	case strings.Contains(words, "the script ") && strings.Contains(words, "ta."):
		return words + " (as " + pineTS + " and " + pineScript + " compute them; the program itself was not run)"
	case strings.Contains(words, "the script "):
		return words + " (as " + pineScript + " computes it; the program itself was not run)"
	case words != "":
		return words + " (as " + pineTS + " computes it; the program itself was not run)"
	case strings.Contains(ind.Doc, "TradingView") || strings.Contains(ind.Doc, "Pine"):
		return "as the description says; not checked against the program"
	case slices.Contains(notAtTradingView, ind.Name):
		return "TradingView has none of its own, as far as is known here"
	}
	return "not compared"
}

// besidePandas compares with pandas-ta-classic, as it computes without TA-Lib.
func (ind *Indicator) besidePandas() string {
	if words := likePandas[ind.Name]; words != "" {
		return words + " (pandas-ta-classic)"
	}
	if words := unprovenPandas[ind.Name]; words != "" {
		return words
	}
	return "pandas-ta has none"
}
