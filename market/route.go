package market

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// openAuto returns the venue that chooses a service by the form of the symbol.
func openAuto(r reach) (*Venue, error) {
	services := make(map[*provider]*Venue)
	v := &Venue{name: "auto", resolve: resolveAuto}
	for _, p := range providers {
		s, err := p.open(r)
		if err != nil {
			return nil, err
		}
		services[p] = s.venue()
		v.parts = append(v.parts, services[p])
	}
	v.at = func(symbol string) *Venue {
		p, _ := route(symbol)
		return services[p]
	}
	// An error names the service and says why it was chosen, since the form of a symbol can
	// mislead. The symbol is canonical, so every spelling of it leads to the same service.
	v.bars = func(ctx context.Context, q Query) (*Series, error) {
		p, why := route(q.Symbol)
		s, err := services[p].Bars(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("auto chose %s because %s: %w", p.name, why, err)
		}
		return s, nil
	}
	// The two that it chooses most often: for pairs of coins, and for all that is no pair.
	v.known = func() []string { return slices.Concat(binance.usual, yahoo.usual) }
	v.search = func(ctx context.Context, text string) ([]Found, error) {
		coins, err := services[&binance].search(ctx, text)
		others, wrong := services[&yahoo].search(ctx, text)
		if len(coins)+len(others) == 0 {
			return nil, cmp.Or(err, wrong)
		}
		return matching(slices.Concat(coins, others), text), nil
	}
	return v, nil
}

// route returns the service for a symbol, and the reason in words. A pair in
// dollars goes to Coinbase and one in a dollar token to Binance, because their
// prices differ.
func route(symbol string) (service *provider, why string) {
	base, quote, pair := splitPair(symbol)
	switch {
	case pair && usualNames[base] != "":
		return &kraken, base + " is Kraken's name of a coin"
	case pair && fiat[base] && fiat[quote]:
		return &yahoo, "it is a pair of currencies"
	case pair && fiat[quote]:
		return &coinbase, "it is a coin in " + quote
	case pair:
		return &binance, "it is a coin in " + quote
	}
	return &yahoo, "it looks like a stock, an index or a fund"
}
