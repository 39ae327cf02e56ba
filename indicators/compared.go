package indicators

import (
	"cmp"
	"slices"
)

// How entries compare with what other programs compute. The tables are in
// compared_talib.go, compared_tradingview.go and compared_pandas.go. Each statement is
// of one of four kinds: "equal", "differs from", "has none" and "not verified", which
// says why. The test vectors prove equality, and every difference that shows in values; a
// test checks the tables against them.

// Compared says of TA-Lib ("ta_lib"), TradingView ("tradingview") and pandas-ta
// ("pandas_ta") how the entry relates to them.
func (ind *Indicator) Compared() map[string]string {
	return map[string]string{"ta_lib": ind.besideTALib(), "tradingview": ind.besideTradingView(), "pandas_ta": ind.besidePandas()}
}

// besideTALib compares with TA-Lib 0.8.1, of which every function that is more than
// arithmetic is in the vectors. An entry that neither table names is one that TA-Lib
// lacks.
func (ind *Indicator) besideTALib() string {
	if functions := equalToTALib[ind.Name]; functions != "" {
		return "equal to " + functions
	}
	if words := unlikeTALib[ind.Name]; words != "" {
		return words
	}
	return "TA-Lib has none"
}

// besideTradingView compares with TradingView. That cannot be run here, so the comparison
// is with independent programs that try to compute the same, and with what is published
// about it. It is empty for an entry that no table names.
func (ind *Indicator) besideTradingView() string {
	if words := likeTradingView[ind.Name]; words != "" {
		return words + " (by a re-implementation; the program itself was not run)"
	}
	if words := unlikeTradingView[ind.Name]; words != "" {
		return words + " (by what is published of it)"
	}
	if words := unverifiedTradingView[ind.Name]; words != "" {
		return "not verified: " + words
	}
	if slices.Contains(notAtTradingView, ind.Name) {
		return "TradingView has none of its own"
	}
	return ""
}

// besidePandas compares with pandas-ta-classic, as it computes without TA-Lib.
func (ind *Indicator) besidePandas() string {
	if words := cmp.Or(likePandas[ind.Name], unlikePandas[ind.Name]); words != "" {
		return words + " (pandas-ta-classic)"
	}
	return "pandas-ta has none"
}
