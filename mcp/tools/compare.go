package tools

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/market"
)

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
				return fmt.Errorf("compare %s: %w", symbol, lasting(err))
			}
			return nil
		}))
	}
	return out, wait(g)
}
