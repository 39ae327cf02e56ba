package tools

import "wick/market"

const (
	// computedBars is how many bars a computation covers; earlier ones only warm
	// it up.
	computedBars = 200

	signalBars = 20  // newest bars whose signals come back by default
	maxSymbols = 200 // symbols of one call
)

// computation is the request of get_indicators. The specification requires symbol,
// so the schema does; a call with symbols alone is answered all the same.
type computation struct {
	question
	symbols []string
	listed  bool   // symbols was given, if perhaps without one
	sort    string // an expression; empty for none
}

func (r *computation) args() []arg {
	symbol := symbol(&r.symbol, "Symbol such as BTCUSDT, AAPL or EURUSD=X.").required("such as BTCUSDT")
	symbol.unless = "symbols"
	indicators := requests(&r.indicators, `Indicators to compute, at most 16: names from list_indicators, or objects with a name and parameters such as {"name":"rsi","length":21}.`, "")
	return []arg{
		symbol,
		indicators.required(`an array of names such as ["rsi","macd"]; call list_indicators for the names`),
		interval(&r.interval, "Length of a bar.", market.Hour4),
		whole(&r.bars, "bars", "Return the signals of this many newest bars; a backtest trades this many, at least 200.", signalBars, 1, maxBars),
		words(&r.symbols, "symbols", "Scan several symbols at once, at most 200, in place of symbol or beside it: the answer is one table with a row for each. @name is a list of the operator's.", maxSymbols).noting(&r.listed),
		text(&r.sort, "sort", "With symbols: order the rows by an expression such as rsi(14), highest first; rsi(14) asc is lowest first. change_24h is one, too, up to interval 1d.", 400).also("sort_by", "order_by").
			onlyIf(func() bool { return len(r.symbols) > 0 }, "it orders the rows of symbols"),
	}
}

// covered returns the question that r asks. It always covers a chart's worth of
// bars, however few bars' signals are wanted: what describes the bars on
// display, such as a volume profile, is then what the chart shows.
func (r *computation) covered() question {
	q := r.question
	q.bars = max(computedBars, r.bars)
	return q
}
