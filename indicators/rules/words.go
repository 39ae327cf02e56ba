package rules

import "strings"

// Language teaches the language in a few lines, for clients that cannot read the
// documentation: list_indicators shows it with the entry "rule", and the guide contains it.
const Language = `Values: open high low close volume hl2 hlc3 ohlc4, numbers, + - * / % and parentheses.
hour minute weekday (Monday is 1) day month year are when a bar opens, by the clock of the exchange, or hour("America/New_York"): hour >= 9 and weekday < 6. line("2026-11-01T00:00", 100, "2026-11-10T00:00", 120) is a drawn trend line: straight from its first point on, times in UTC.
Indicators are functions; parameters by position or name, a line by a dot: ema(200), sma(volume, 20), macd(12,26,9).signal, bbands(length=20, mult=2).upper.
Conditions: < <= > >= == != between two values, joined by and, or, not. Crosses: ema(50) crosses above ema(200), rsi(14) crosses below 30; the same as crosses_above(a, b), crosses_below(a, b).
x[3] is x three bars ago: close > close[1].
Over the newest n bars, this one among them: highest(x, n) lowest(x, n) sum(x, n) avg(x, n). A new high of 20 bars is close > highest(high, 20)[1].
change(x, n) is x - x[n]; abs(x), min(a, b), max(a, b) are of one bar. A fall of 5 % in 24 bars is close < 0.95 * close[24].
since(condition) counts bars since it was true, to 500; 501 stands for more: since(rsi(14) crosses above 30) < 10.
signal(rsi(14), "bull_div") is true on bars that bear that signal of the indicator.
x@1d is x of the newest CLOSED day: on 1h bars high@1d is yesterday's high and high[1]@1d that of the day before; the bar that ends the day has the day itself.
close:ETHUSDT is another market, close:"BTC-USD" one with other characters; both together: sma(20)@1d:ETHUSDT.
Judged when a bar closes. A value that is not known (too few bars, division by zero) makes no condition true. A running total (obv, ad, pvt, wad, nvi, pvi, cumulative_sum) is compared with itself alone: obv > avg(obv, 20).`

// canonical returns our name for a function that has another name in other languages, and
// every other name as it is. In names of functions underscores are ignored, since people
// put them in different places.
func canonical(name string) string {
	switch strings.ReplaceAll(name, "_", "") {
	case "crossesabove", "crossabove", "crossesover", "crossover":
		return "crosses_above"
	case "crossesbelow", "crossbelow", "crossesunder", "crossunder":
		return "crosses_below"
	case "barssince":
		return "since"
	}
	return name
}

// columns are the names of the columns of bars.
var columns = []string{"open", "high", "low", "close", "volume", "hl2", "hlc3", "ohlc4"}

// advice says what to write instead of a word in a place where it has no meaning.
var advice = map[string]string{
	"crosses": `say which way, as in "a crosses above b"`,
	"cross":   `say which way, as in "a crosses above b"`,
	"above":   "write > in its place",
	"below":   "write < in its place",
	"over":    "write > in its place",
	"under":   "write < in its place",
	"equals":  "write == in its place",
	"is":      "compare with <, <=, >, >=, == or !=",
	"between": "write x > a and x < b",
}

// replacements say what to write instead of names of other languages that ours does not
// have.
var replacements = map[string]string{
	"cross":    "crosses_above(a, b) or crosses_below(a, b)",
	"crosses":  "crosses_above(a, b) or crosses_below(a, b)",
	"price":    "close",
	"shift":    "x[1]",
	"ref":      "x[1]",
	"prev":     "x[1]",
	"average":  "avg(x, n)",
	"security": "x@1d",
}
