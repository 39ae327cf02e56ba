package market

import "slices"

// lister is a source that can name markets of its own.
type lister interface {
	known() []string
}

// Known returns symbols of the source for a list to choose from. For a directory of
// files these are all of them; for a service a few usual ones, because its whole list is
// long and takes a request. Known makes no request.
func Known(source Source) []string {
	if l, ok := source.(lister); ok {
		return l.known()
	}
	return binance.usual // the sample has a price for everything
}

func (p *provider) known() []string { return p.usual }

// known returns the usual symbols of the two services that auto chooses most often:
// Binance for pairs of coins, and Yahoo for all that is not a pair.
func (a *auto) known() []string { return slices.Concat(binance.usual, yahoo.usual) }

// known asks the source behind the cache.
func (c *cached) known() []string { return Known(c.source) }

// known returns the symbols of the files, or none if the directory cannot be read. The
// error is not lost: a query for bars returns it.
func (c *CSV) known() []string {
	names, err := c.names()
	if err != nil {
		return nil
	}
	var symbols []string
	for _, name := range names {
		if symbol, _, ok := parseName(name); ok && !slices.Contains(symbols, symbol) {
			symbols = append(symbols, symbol)
		}
	}
	return symbols
}
