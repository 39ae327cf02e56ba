package market

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

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
// list of its markets is asked; of a directory and of the sample it searches what Known returns.
func Search(ctx context.Context, source Source, text string) ([]Found, error) {
	text = strings.TrimSpace(text)
	if r := []rune(text); len(r) > maxSought {
		text = string(r[:maxSought])
	}
	if text == "" {
		return nil, nil
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
		found, err := s.find(ctx, s.host, text)
		found = slices.DeleteFunc(found, func(f Found) bool { // it lists things that have no bars
			symbol, err := Written(f.Symbol)
			return err != nil || symbol != f.Symbol
		})
		return found[:min(len(found), MaxFound)], err
	}
	s.listing.Lock()
	defer s.listing.Unlock()
	if time.Since(s.listed) > listAge {
		symbols, err := s.list(ctx, s.host)
		if err != nil {
			return nil, err
		}
		s.all, s.listed = namedAll(symbols), time.Now()
	}
	return matching(s.all, text), nil
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
