// Package rulestest makes up rules for tests.
package rulestest

import (
	"fmt"
	"math/rand/v2"
)

// Condition returns a condition on the indicators of the catalogue. The places
// are what values may be followed by, such as "@1d" or ":ETH"; none means the
// chart's own bars only.
func Condition(r *rand.Rand, depth int, places ...string) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	number := func() string { return Number(r, depth-1, places...) }
	condition := func() string { return Condition(r, depth-1, places...) }
	if depth > 1 && r.IntN(2) == 0 {
		return pick("("+condition()+" and "+condition()+")", "("+condition()+" or "+condition()+")", "not "+condition(),
			"("+condition()+")[1]", fmt.Sprintf("since(%s) < %d", condition(), 1+r.IntN(20)))
	}
	switch r.IntN(6) {
	case 0:
		return pick("crosses_above", "crosses_below") + "(" + pick("close", "ema(5)", "hl2") + ", " + price(r, places) + ")"
	case 1:
		return pick(`signal(macd(5, 13, 4), "cross_up")`, `signal(rsi(7), "rsi_oversold")`, `signal(supertrend(5, 2), "flip_up")`, `signal(bbands(10), "breakout_down")`)
	case 2:
		return fmt.Sprintf("%s(%d) %s %d", pick("rsi", "mfi", "stoch"), 3+r.IntN(20), pick("<", ">"), 20+r.IntN(60))
	}
	return number() + pick(" < ", " > ", " >= ", " <= ") + number()
}

// price returns a line near the price.
func price(r *rand.Rand, places []string) string {
	list := []string{"sma(%d)", "ema(%d)", "wma(%d)", "avg(close, %d)", "donchian(%d).middle", "bbands(%d, 1).lower", "bbands(%d).upper"}
	text := fmt.Sprintf(list[r.IntN(len(list))], 2+r.IntN(30))
	if len(places) > 0 && r.IntN(3) == 0 {
		text += places[r.IntN(len(places))]
	}
	return text
}

// Number returns an expression with a value near the price, of depth operations
// at most.
func Number(r *rand.Rand, depth int, places ...string) string {
	if depth <= 0 || r.IntN(3) == 0 {
		list := []string{"open", "high", "low", "close", "hl2", "hlc3", "ohlc4", "close[2]", price(r, places), price(r, places)}
		return list[r.IntN(len(list))]
	}
	number := func() string { return Number(r, depth-1, places...) }
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("%s(%s, %d)", []string{"highest", "lowest", "avg"}[r.IntN(3)], number(), 1+r.IntN(20))
	case 1:
		return fmt.Sprintf("%s(%s, %s)", []string{"min", "max"}[r.IntN(2)], number(), number())
	case 2:
		return fmt.Sprintf("(%s + change(%s, %d))", number(), number(), 1+r.IntN(5))
	}
	return fmt.Sprintf("(%s + %s) / 2", number(), number())
}
