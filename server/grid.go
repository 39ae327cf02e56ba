package server

import (
	"fmt"
	"strings"

	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// parseGrid reads what grid says: SYMBOL=TICK/LOT/MIN, several with commas. The
// symbol * means every other one. TICK is the step of prices, LOT that of quantities and
// MIN the least value of an order, price times quantity; 0 means none.
func parseGrid(text string) (map[string]book.Grid, error) {
	grids := make(map[string]book.Grid)
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		symbol, steps, _ := strings.Cut(part, "=")
		if symbol = strings.TrimSpace(symbol); symbol != "*" {
			// The source, which is not open yet, has the last word on the spelling: see resolveGrid.
			if _, err := market.Resolve(market.Sample{}, symbol); err != nil {
				return nil, fmt.Errorf("%q: %w", part, err)
			}
		}
		var g book.Grid
		to := []*exact.Decimal{&g.Tick, &g.Lot, &g.Minimum} // in the order in which they are written
		numbers := strings.Split(steps, "/")
		for i, number := range numbers {
			v, err := exact.Parse([]byte(strings.TrimSpace(number)))
			if len(numbers) != len(to) || err != nil || v < 0 {
				return nil, fmt.Errorf("%q: write the step of prices, that of quantities and the least value, each of at most 8 decimals, such as BTCUSDT=0.01/0.00001/5; 0 for none", part)
			}
			*to[i] = v
		}
		grids[symbol] = g
	}
	return grids, nil
}

// resolveGrid puts the symbols of the grid into the spelling of the source, by which gridOf is
// asked. It refuses what names no symbol there, and two spellings of one.
func (c *config) resolveGrid(source market.Source) error {
	resolved := make(map[string]book.Grid)
	for text, g := range c.grid {
		symbol := text
		if text != "*" {
			var err error
			if symbol, err = market.Resolve(source, text); err != nil {
				return fmt.Errorf("grid in --paper-file: %w", err)
			}
		}
		if _, twice := resolved[symbol]; twice {
			return fmt.Errorf("grid in --paper-file names %s twice, in two spellings: leave one out", symbol)
		}
		resolved[symbol] = g
	}
	c.grid = resolved
	return nil
}

// gridOf returns the grid that is set for a market, and whether it sets one.
func (c *config) gridOf(symbol string) (book.Grid, bool) {
	g, ok := c.grid[symbol]
	if !ok {
		g, ok = c.grid["*"]
	}
	return g, ok
}
