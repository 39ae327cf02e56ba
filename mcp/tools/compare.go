package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/market"
)

// others returns the symbols to compare as the source spells them, each once and without
// the chart's own, which is drawn anyway. It fetches no bars.
func (h *handlers) others(r *chartRequest) ([]string, error) {
	if len(r.compare) == 0 {
		return nil, nil
	}
	if r.symbol == "" {
		return nil, errors.New("compare needs a symbol: without one the chart shows invented bars, which compare with nothing")
	}
	own, err := market.Resolve(h.Source, r.symbol)
	if err != nil {
		return nil, err
	}
	// The chart's own symbol is first in the list while duplicates are dropped, and is not
	// returned.
	seen := []string{own}
	for _, text := range r.compare {
		symbol, err := market.Resolve(h.Source, text)
		if err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		if !slices.Contains(seen, symbol) {
			seen = append(seen, symbol)
		}
	}
	return seen[1:], nil
}

// compared fetches the bars of the symbols that a chart of s compares, in the same order.
// It counts bars from the time at which s begins, since a share has fewer bars in the same
// time than a coin. If one symbol fails, the chart fails: a picture without its line would
// answer another question.
func (h *handlers) compared(ctx context.Context, s *market.Series, symbols []string) ([]*market.Series, error) {
	if len(symbols) == 0 || s.Len() == 0 {
		return nil, nil
	}
	// All are fetched at once: there are at most five.
	out := make([]*market.Series, len(symbols))
	bars := barsSince(s.Time[0], s.Interval, time.Now())
	g, ctx := errgroup.WithContext(ctx)
	for i, symbol := range symbols {
		g.Go(beside(func() (err error) {
			out[i], err = h.Source.Bars(ctx, market.Query{Symbol: symbol, Interval: s.Interval, Limit: bars})
			if err != nil {
				return fmt.Errorf("compare %s: %w", symbol, err)
			}
			return nil
		}))
	}
	return out, wait(g)
}
