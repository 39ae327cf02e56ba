package market

import "slices"

// Known returns symbols of the source for a list to choose from. For a directory of
// files these are all of them; for a service a few usual ones, because its whole list is
// long and takes a request. Known makes no request.
func Known(source Source) []string {
	switch s := source.(type) {
	case *cached:
		return Known(s.source)
	case *CSV:
		return s.known()
	case *service:
		return s.usual
	case *auto: // the two that it chooses most often: for pairs of coins, and for all that is no pair
		return slices.Concat(binance.usual, yahoo.usual)
	}
	return binance.usual // the sample has a price for everything
}

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
