package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

// The test trades as the paper broker fills orders: a decision is made at the close of a
// bar and filled at the next open, so that no decision uses what was not known yet. It
// begins with a capital of 1, at the first bar shown or at a date.
var indBacktest = Indicator{
	Name: "backtest", Title: "Backtest", Also: []string{"back_test", "strategy", "strategy_tester"}, Category: Rules,
	Doc: "What trading a rule would have brought: enters when one condition becomes true and leaves when another does, each at the next bar's open, " +
		"with fees and slippage, on the bars that are asked for (bars, up to 5000). The panel shows the profit and the drawdown in percent; the summary has trades, hit rate, profit factor, expectancy with its interval, drawdown, Sharpe and buy and hold.",
	Formula: "a bar decides at its close, the next one's open fills; stop before target within a bar",
	Params: []Param{
		condition("enter", "ema(10) > ema(30)", "when to enter, in the language that list_indicators names [rule] teaches", "entry", "when", "buy", "open"),
		{Name: "exit", Aliases: []string{"leave", "close", "sell"}, Doc: "when to leave; omitted: when enter is no longer true or, with take_profit or hold, only by those and the stop", Kind: Expression, Condition: true},
		choice("side", "which way", "long", "short"),
		inPercent(factor("stop_loss", 0, 0, 100, "percent of the entry price; 0 is none", "stop", "sl")),
		inPercent(factor("take_profit", 0, 0, 1000, "percent of the entry price; 0 is none", "target", "tp")),
		quiet(Param{Name: "hold", Aliases: []string{"max_bars", "exit_after"}, Doc: "leaves at the open so many bars after the entry's; 0 is no limit", Kind: Int, Max: MaxLength}),
		inPercent(factor("size", 100, 1, 100, "percent of the capital in each trade")),
		inPercent(factor("fee", 0.1, 0, 5, "percent of each fill's value", "fees", "commission")),
		inPercent(factor("slippage", 0.05, 0, 5, "percent by which fills at the market are worse")),
		beginning("from", "when it begins", "the first bar shown", "start"),
		quiet(factor("split", 0, 0, 0.95, "reports the part before this fraction of the bars and the rest apart; 0 is no split")),
	},
	Signals: []string{shape.Enter, shape.Exit, shape.StopLoss, shape.TakeProfit},
	Silent: func(a Args, label string) string {
		stop, target := a.Float("stop_loss"), a.Float("take_profit")
		switch {
		case label == shape.StopLoss && stop == 0:
			return "stop_loss to more than 0"
		case label == shape.TakeProfit && target == 0:
			return "take_profit to more than 0"
		// See tester.untilUntrue.
		case label == shape.Exit && a.exprs["exit"] == nil && target > 0 && a.Int("hold") == 0:
			return "exit to a condition, or hold to a number of bars"
		}
		return ""
	},
	// Without a date the test begins with the first bar of the chart.
	Since:   func(a Args) int64 { return int64(a.Float("from")) },
	History: expressionHistory,
	Compute: func(s *market.Series, a Args) *Result {
		// The conditions are evaluated once over all bars, also those before the first
		// one shown; only the trading depends on where the test begins.
		v := a.evaluator(s)
		t := tester{s: s, terms: termsOf(a)}
		t.enter, _ = turns(v.Values(a.exprs["enter"][0]))
		if exit := a.exprs["exit"]; exit != nil {
			t.exit, _ = turns(v.Values(exit[0]))
		}
		r := t.from(0).result()
		// A chart shows only the last bars. Tail calls this for the test that begins with the
		// first bar shown.
		r.From = func(bar int) *Result {
			from := t.from(bar)
			r := from.result()
			r.Facts = from.facts()
			return r
		}
		return r
	},
}
