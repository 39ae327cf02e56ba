package indicators

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed compared.txt
var comparedText string

// comparison is a line of compared.txt: what it says of TA-Lib, of TradingView and of
// pandas-ta, the origin, and where it stands, below 0.
type comparison struct {
	says [4]string
	rank int
}

// comparisons has the lines of compared.txt by entry.
var comparisons = sync.OnceValue(func() map[string]comparison {
	table := make(map[string]comparison)
	for line := range strings.Lines(comparedText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var row [5]string
		for i, cell := range strings.SplitN(line, "|", len(row)) {
			row[i] = strings.TrimSpace(cell)
		}
		table[row[0]] = comparison{[4]string(row[1:]), len(table) - 1<<20}
	}
	return table
})

// Compared says of TA-Lib ("ta_lib"), TradingView ("tradingview") and pandas-ta
// ("pandas_ta") how the entry relates to them.
func (ind *Indicator) Compared() map[string]string {
	row := comparisons()[ind.Name]
	talib, tradingView, pandas := row.says[0], row.says[1], row.says[2]
	if talib == "" {
		talib = "TA-Lib has none"
	}
	published, isPublished := strings.CutPrefix(tradingView, "~")
	switch {
	case tradingView == "":
		tradingView = "TradingView has none of its own"
	case isPublished:
		tradingView = published + " (by what is published of it)"
	case !strings.HasPrefix(tradingView, "not verified"):
		tradingView += " (by a re-implementation; the program itself was not run)"
	}
	if pandas == "" {
		pandas = "pandas-ta has none"
	} else {
		pandas += " (pandas-ta-classic)"
	}
	return map[string]string{"ta_lib": talib, "tradingview": tradingView, "pandas_ta": pandas}
}

// Origin says who published the entry and where; "" if that is not known.
func (ind *Indicator) Origin() string { return comparisons()[ind.Name].says[3] }
