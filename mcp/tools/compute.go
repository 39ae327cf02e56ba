package tools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"wick/chart"
	"wick/indicators"
	"wick/market"
)

// sampleSymbol is the name of the bars that a chart without a symbol shows.
const sampleSymbol = "SAMPLE"

// span fetches the bars and computes the indicators of a question. It also returns notes
// for the reader if not all of the period is shown.
func (h *handlers) span(ctx context.Context, r question) (*chart.View, []string, error) {
	s, err := h.load(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	cut, bars, notes, err := r.cut(s)
	if err != nil {
		return nil, nil, fixable(err)
	}
	v, err := compute(ctx, cut, r.indicators, bars)
	if err != nil {
		return nil, nil, err
	}
	v.Past = cut.Len() < s.Len()
	if r.before > 0 && cut.Len() > 0 {
		open := indicators.HeikinAshiOpen(cut, bars)
		v.AveragedOpen = &open
	}
	return v, notes, nil
}

// load fetches the bars of a question, and the bars of other markets and intervals that
// its indicators read. It fetches more bars than are shown, so that the indicators have
// values from the first bar of the chart on.
func (h *handlers) load(ctx context.Context, r question) (*market.Series, error) {
	source, symbol := h.Source, r.symbol
	if symbol == "" {
		source, symbol = market.Sample{}, sampleSymbol
	}
	symbol, err := market.Resolve(source, symbol)
	if err != nil {
		return nil, fixable(err)
	}
	now := time.Now()
	reach := r.reach(now)
	q := market.Query{Symbol: symbol, Interval: r.interval, Limit: min(max(reach+r.before, r.least), market.MaxLimit)}
	for _, req := range r.indicators {
		q.Limit = min(max(q.Limit, reach+min(req.WarmupAt(r.interval, r.end(now)), indicators.MaxWarmup)), market.MaxLimit)
		for _, column := range req.Needs() {
			if !slices.Contains(q.Extra, column) {
				q.Extra = append(q.Extra, column)
			}
		}
	}
	s, err := source.Bars(ctx, q)
	if err != nil {
		return nil, lasting(err)
	}
	return withOthers(ctx, source, s, r.indicators)
}

// withOthers returns s together with the bars of other markets and intervals that the
// indicators read.
func withOthers(ctx context.Context, source market.Source, s *market.Series, requests []indicators.Request) (*market.Series, error) {
	for _, req := range requests {
		list, err := req.Others(s.Interval)
		if err != nil {
			return nil, fixable(err)
		}
		if s, err = market.LoadOthers(ctx, source, s, list); err != nil {
			return nil, lasting(err)
		}
	}
	return s, nil
}

// lasting returns an error of a source with the words that say when a retry can help: with
// another symbol or interval, or not before the data are others, as if a file has no such
// column or a bad row. The error of a service says that itself.
func lasting(err error) error {
	var service *market.Error
	switch {
	case errors.As(err, &service) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, market.ErrTooFine) || errors.Is(err, market.ErrUnlisted):
		return fixable(err)
	}
	return fmt.Errorf("%w; retry only with other data", err)
}

// compute runs the indicators over s and cuts everything to the newest bars. Each
// indicator gets exactly the bars of its own warm-up before them. So its values do not
// depend on which other indicators are asked for, and it takes no longer when another one
// needs a long history.
func compute(ctx context.Context, s *market.Series, requests []indicators.Request, bars int) (*chart.View, error) {
	shown := s.Tail(bars)
	v := &chart.View{Series: shown}
	for _, req := range requests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, column := range req.Needs() {
			if s.Extra[column] == nil {
				return nil, lasting(fmt.Errorf("%s needs the column %q, which source %s does not provide for %s", req.Ind.Name, column, s.Source, s.Symbol))
			}
		}
		window := s.Tail(bars + req.WarmupAt(s.Interval, s.Time[s.Len()-1]))
		result := req.Reading(bars).Compute(window).Tail(window.Len(), bars)
		result.Unsettled = result.Unsettled || !req.Settled(window.Len()-shown.Len(), s.Interval)
		v.Panels = append(v.Panels, chart.Panel{Key: req.Key, Result: result, Needs: func() int { return barsNeeded(req, s.Interval) }})
	}
	return v, nil
}

// barsNeeded returns how many bars an indicator needs for its first value, or 0 if it has
// none within its warm-up. It is counted on sample bars. The warm-up itself is another
// number: how many bars it takes until a value no longer depends on where the bars began.
func barsNeeded(req indicators.Request, iv market.Interval) int {
	q := market.Query{Symbol: sampleSymbol, Interval: iv, Limit: min(req.Warmup(iv), indicators.MaxWarmup) + 1, Extra: req.Needs()}
	s, err := market.Sample{}.At(q, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return 0
	}
	first := s.Len()
	count := func(values indicators.Values) {
		at := slices.IndexFunc(values, func(v float64) bool { return !math.IsNaN(v) })
		if at >= 0 {
			first = min(first, at)
		}
	}
	r := req.Compute(s)
	for _, l := range r.Lines {
		count(l.Values)
	}
	for _, h := range r.Histogram {
		count(h.Values)
	}
	if first == s.Len() {
		return 0
	}
	return first + 1
}
