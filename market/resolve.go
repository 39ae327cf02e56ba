package market

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/internal/limit"
)

func (p *provider) resolve(text string) (string, error) {
	venue, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	if venue != "" && !p.serves(venue) {
		return "", fmt.Errorf("%w %q: the source is %s; %s", errSymbol, limit.Clip(text), p.name, elsewhere(venue))
	}
	return p.spelled(symbol)
}

// spelled returns the spelling of p for a symbol. It refuses odd texts whose spelling would be spelled
// otherwise again.
func (p *provider) spelled(symbol string) (string, error) {
	spelled, err := ParseSymbol(p.spell(symbol))
	if err != nil || p.spell(spelled) == spelled {
		return spelled, err
	}
	return "", fmt.Errorf("%w %q: write it as %s does, such as %s", errSymbol, symbol, p.name, p.example)
}

func elsewhere(venue string) string {
	for _, p := range providers {
		if p.serves(venue) {
			return "for " + limit.Clip(venue) + " start wick with --source " + p.name
		}
	}
	return limit.Clip(venue) + " is not an exchange that wick knows: write the symbol alone, as the source spells it"
}

// resolvePlain returns the canonical symbol among markets that have no spelling of their own, which
// is a pair without separator. It ignores the exchange.
func resolvePlain(text string) (string, error) {
	_, symbol, err := written(text)
	return spellPlain(symbol), err
}

// resolveAuto returns the canonical symbol at the service that text belongs to. It refuses
// the name of a coin alone: that would go to Yahoo, where it means a stock. It also
// refuses an exchange that auto would not choose by the symbol, because only the symbol
// is kept.
func resolveAuto(text string) (string, error) {
	venue, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	if coins[symbol] {
		return "", fmt.Errorf("%w %q: a coin has a price in a currency; write %s at Binance or %s at Coinbase (a stock of that name needs --source yahoo)",
			errSymbol, limit.Clip(text), spellBinance(symbol+"-USDT"), spellCoinbase(symbol+"-USD"))
	}
	// The result must lead to the same service: XB_TUSD becomes BTCUSD, which means another one.
	// If text names an exchange, the symbol without it must lead there too. Otherwise it would
	// mean another market the next time.
	chosen, _ := route(symbol)
	for _, p := range providers {
		if venue == "" && p != chosen || venue != "" && !p.serves(venue) {
			continue
		}
		canonical, err := p.spelled(symbol)
		if again, _ := route(canonical); err != nil || again == p {
			return canonical, err
		}
	}
	if venue == "" {
		return "", fmt.Errorf("%w %q: write it as %s does, such as %s", errSymbol, limit.Clip(text), chosen.name, chosen.example)
	}
	return "", fmt.Errorf("%w %q: auto chooses by the symbol alone; %s", errSymbol, limit.Clip(text), elsewhere(venue))
}

// openAuto returns the venue that chooses a service by the form of the symbol.
func openAuto(r reach) (*Venue, error) {
	services := make(map[*provider]*Venue)
	extra, err := openColumns(r) // one budget each, whichever services ask them
	if err != nil {
		return nil, err
	}
	v := &Venue{name: "auto", resolve: resolveAuto}
	for _, p := range providers {
		s, err := p.open(r, extra)
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

// Found is a market that a search has found.
type Found struct {
	Symbol string `json:"symbol"`         // as the source spells it
	Name   string `json:"name,omitempty"` // of the coin, the company or the fund, where it is known
}

const (
	// MaxFound is how many markets a search returns, the best first.
	MaxFound = 20

	// maxSought is how many characters of a search count.
	maxSought = 64

	// listAge is how long the list of all markets of a service is kept.
	listAge = time.Hour
)

// Search returns the markets of source whose symbol or name contains text: first those whose
// symbol or name is text, then those whose begins with it. A service that offers a search or a
// list of its markets is asked; of a directory and of the sample it searches what Known returns,
// which also answers a blank text.
func Search(ctx context.Context, source Source, text string) ([]Found, error) {
	text = strings.TrimSpace(text)
	if r := []rune(text); len(r) > maxSought {
		text = string(r[:maxSought])
	}
	if text == "" {
		known := namedAll(Known(source))
		return known[:min(len(known), MaxFound)], nil
	}
	if v := venueOf(source); v.search != nil {
		return v.search(ctx, text)
	}
	return matching(namedAll(Known(source)), text), nil
}

// Similar returns markets whose symbols are like one that the source does not have: those that
// contain it or, if there are none, those of the same coin. A source that fails has none.
func Similar(ctx context.Context, source Source, symbol string) []Found {
	found, _ := Search(ctx, source, symbol)
	if base, _, ok := splitPair(symbol); ok && len(found) == 0 {
		found, _ = Search(ctx, source, base)
	}
	return found
}

// search asks the service: by its own search, or in its list, which is kept for an hour.
func (s *service) search(ctx context.Context, text string) ([]Found, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if s.find != nil {
		found, _, err := ask(ctx, s.host, text, s.find(text))
		found = slices.DeleteFunc(found, func(f Found) bool { // it lists things that have no bars
			symbol, err := Written(f.Symbol)
			return err != nil || symbol != f.Symbol
		})
		return found[:min(len(found), MaxFound)], err
	}
	all, err := s.listed.get(ctx, "", "", nil, func(ctx context.Context) (kept[[]Found], error) {
		symbols, _, err := ask(ctx, s.host, "", s.list)
		return kept[[]Found]{value: namedAll(symbols), expiry: time.Now().Add(listAge)}, err
	})
	return matching(all, text), err
}

// matching returns those of all that contain text, at most MaxFound, the best first. Of two
// that match alike the shorter symbol comes first: BTCUSDT before BTCUSDT_PERP.
func matching(all []Found, text string) (found []Found) {
	text = strings.ToUpper(text)
	plain := noSeparator.Replace(strings.ReplaceAll(text, "/", ""))
	rank := func(f Found) int {
		symbol, name := noSeparator.Replace(f.Symbol), strings.ToUpper(f.Name)
		switch {
		case symbol == plain || name == text:
			return 1
		case strings.HasPrefix(symbol, plain) || strings.HasPrefix(name, text):
			return 2
		case strings.Contains(symbol, plain) || strings.Contains(name, text):
			return 3
		}
		return 0
	}
	for _, f := range all {
		if rank(f) > 0 && !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a.Symbol), len(b.Symbol)))
	})
	return found[:min(len(found), MaxFound)]
}

// namedAll returns symbols with the names of those that people ask for by name.
func namedAll(symbols []string) []Found {
	found := make([]Found, len(symbols))
	for i, symbol := range symbols {
		found[i].Symbol = symbol
		base, _, ok := cryptoPair(symbol)
		if !ok {
			base = symbol
		}
		found[i].Name = assets[coin(base)].name
	}
	return found
}
