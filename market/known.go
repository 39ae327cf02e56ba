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
	return usual["binance"] // the sample has a price for everything
}

// usual are symbols that people ask for, by service, in its own spelling.
var usual = map[string][]string{
	"binance":  {"BTCUSDT", "ETHUSDT", "SOLUSDT", "BNBUSDT", "XRPUSDT", "DOGEUSDT", "ADAUSDT", "AVAXUSDT", "LINKUSDT", "LTCUSDT"},
	"coinbase": {"BTC-USD", "ETH-USD", "SOL-USD", "XRP-USD", "DOGE-USD", "ADA-USD", "AVAX-USD", "LINK-USD", "LTC-USD"},
	"kraken":   {"XBTUSD", "ETHUSD", "SOLUSD", "XRPUSD", "XDGUSD", "ADAUSD", "LINKUSD", "LTCUSD"},
	"yahoo":    {"AAPL", "MSFT", "NVDA", "AMZN", "GOOGL", "META", "TSLA", "SPY", "QQQ", "EURUSD=X", "GC=F", "CL=F", "BTC-USD"},
}

// known returns symbols that the service certainly has, for completions.
func (p *provider) known() []string { return usual[p.name] }

// known returns those of the services that auto sends most symbols to.
func (a *auto) known() []string {
	var all []string
	for _, p := range providers {
		if p.name == "binance" || p.name == "yahoo" { // where it sends pairs of coins, and all else
			all = append(all, p.known()...)
		}
	}
	return all
}

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
