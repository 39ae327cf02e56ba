package market

import "slices"

// lister is a source that can name markets of its own.
type lister interface {
	known() []string
}

// Known returns symbols that the source has, for a list to choose from: all of
// the files of a directory, and a few usual ones of a service, whose whole list
// is long and would have to be asked for. It makes no request.
func Known(source Source) []string {
	if l, ok := source.(lister); ok {
		return l.known()
	}
	return binance.usual // the sample has a price for everything
}

func (p *provider) known() []string { return p.usual }

// known returns the symbols of the two services that get most questions: pairs of
// coins go to the first, and all that is no pair to the second.
func (a *auto) known() []string { return slices.Concat(binance.usual, yahoo.usual) }

// known asks the source behind the cache.
func (c *cached) known() []string { return Known(c.source) }

// known returns the symbols of the files. A directory that cannot be read has
// none: reading a chart says why.
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
