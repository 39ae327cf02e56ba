package tools

import (
	"errors"

	"wick/market"
)

const (
	// computedBars is how many bars a computation covers at least; earlier ones are only
	// its warm-up.
	computedBars = 200

	signalBars = 20  // newest bars whose signals come back by default
	maxSymbols = 200 // symbols of one call
)

// computation is the request of get_indicators: about symbol or, as a scan, about
// symbols.
type computation struct {
	question
	symbols []string
	sort    string // an expression; empty for none
}

func (r *computation) args() []arg {
	return []arg{
		symbol(&r.symbol, "Symbol such as BTCUSDT, AAPL or EURUSD=X."),
		requests(&r.indicators, `Indicators to compute, at most 16: names from list_indicators, or objects with a name and parameters such as {"name":"rsi","length":21}.`, ""),
		interval(&r.interval, "Length of a bar.", market.Hour4),
		whole(&r.bars, "bars", "Return the signals of this many newest bars; a backtest trades this many, at least 200.", signalBars, 1, maxBars),
		words(&r.symbols, "symbols", "Scan several symbols at once, at most 200, in place of symbol or beside it: the answer is one table with a row for each, with change_24h in percent since the border of bars nearest to 24 hours before the newest price. @name is a list of the operator's.", maxSymbols),
		text(&r.sort, "sort", "With symbols: order the rows by an expression such as rsi(14), highest first; rsi(14) asc is lowest first. change_24h is one, too, up to interval 1d.", 400).also("sort_by", "order_by"),
	}
}

// check refuses a request without a symbol.
func (r *computation) check(sent sent) error {
	if sent["symbol"] == nil && len(r.symbols) == 0 {
		return errors.New("symbol is required, such as BTCUSDT; symbols may be given in its place")
	}
	return nil
}

// covered returns the question that r asks. It covers at least as many bars as a chart
// shows, even if the signals of fewer bars are wanted. So an indicator that describes all
// bars of a chart, such as a volume profile, has the values that the chart shows.
func (r *computation) covered() question {
	q := r.question
	q.bars = max(computedBars, r.bars)
	return q
}
