package market

import (
	"context"
	"fmt"
)

// auto is the source that chooses a service by the form of the symbol.
type auto struct{ services map[string]*service }

// openAuto returns an auto with all services of the table.
func openAuto(r reach) (*auto, error) {
	a := &auto{services: make(map[string]*service)}
	for _, p := range providers {
		s, err := p.open(r)
		if err != nil {
			return nil, err
		}
		a.services[p.name] = s
	}
	return a, nil
}

// Bars asks the service that the symbol belongs to. An error names it and says
// why it was chosen, since the form of a symbol can mislead.
func (a *auto) Bars(ctx context.Context, q Query) (*Series, error) {
	q, err := q.checked(a)
	if err != nil {
		return nil, err
	}
	// The symbol is canonical, so every spelling of it leads to the same service.
	name, why := route(q.Symbol)
	s, err := a.services[name].Bars(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("auto chose %s because %s: %w", name, why, err)
	}
	return s, nil
}

// route returns the service for a symbol, and the reason in words. A pair in
// dollars goes to Coinbase and one in a dollar token to Binance, because their
// prices differ.
func route(symbol string) (service, why string) {
	base, quote, pair := splitPair(symbol)
	switch {
	case pair && usualNames[base] != "":
		return "kraken", base + " is Kraken's name of a coin"
	case pair && fiat[base] && fiat[quote]:
		return "yahoo", "it is a pair of currencies"
	case pair && fiat[quote]:
		return "coinbase", "it is a coin in " + quote
	case pair:
		return "binance", "it is a coin in " + quote
	}
	return "yahoo", "it looks like a stock, an index or a fund"
}
