package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/chart"
	"wick/indicators"
	"wick/market"
)

// maxBars is how many bars a question may cover.
const maxBars = 5000

// question says what to compute.
type question struct {
	symbol     string // empty for the sample
	interval   market.Interval
	indicators []indicators.Request
	bars       int // how many bars the result covers at most, the newest ones

	// from and to are the period in unix seconds, both inclusive. Bars that begin in it
	// are shown, at most as many as bars says. Zero means no limit.
	from, to int64

	// least is how many bars are fetched at least, for a number that needs more bars than
	// the result covers, such as the change of a day. Zero means no more than the rest of
	// the question needs.
	least int

	// before is how many bars before those shown the chart itself needs, such as averaged
	// candles do. Each indicator has a warm-up of its own.
	before int
}

// reach returns how many of the newest bars must be fetched to have all that r shows,
// without the warm-up. Sources return only the newest bars, so a period in the past is
// fetched together with everything after it, and then cut out.
func (r question) reach(now time.Time) int {
	switch {
	case r.from != 0:
		return barsSince(r.from, r.interval, now)
	case r.to != 0:
		return min(r.bars+barsSince(r.to, r.interval, now), market.MaxLimit)
	}
	return r.bars
}

// barsSince returns how many bars it takes to reach from now back to t, at most
// market.MaxLimit. It counts by the clock: for a market that closes at night that is more
// than needed, but never too few.
func barsSince(t int64, iv market.Interval, now time.Time) int {
	seconds := iv.Seconds()
	if iv == market.Month1 {
		seconds = 28 * 24 * 60 * 60 // the shortest month
	}
	return int(min(max(0, now.Unix()-t)/seconds+2, market.MaxLimit))
}

// cut returns s up to the end of r's period, and how many of its newest bars are shown:
// those in the period, at most r.bars. The notes say what is missing. Bars after the
// period are cut off, so that indicators show what they showed at its end.
func (r question) cut(s *market.Series) (upTo *market.Series, bars int, notes []string, err error) {
	// The period is the bars from first on, before n.
	first, n := 0, s.Len()
	if r.to != 0 {
		n, _ = slices.BinarySearch(s.Time, r.to+1)
	}
	if r.from != 0 {
		first, _ = slices.BinarySearch(s.Time, r.from)
	}
	switch {
	case r.from == 0 && r.to == 0:
		return s, r.bars, nil, nil
	case s.Len() == 0:
		return nil, 0, nil, fmt.Errorf("there are no bars of %s", s.Symbol)
	case first >= n: // it says which bars there are, so that a model can choose another period
		near := ""
		if first > 0 && first < s.Len() {
			near = fmt.Sprintf(", those next to the period at %s and %s", stamp(s.Time[first-1]), stamp(s.Time[first]))
		}
		return nil, 0, nil, fmt.Errorf("%s has no bars of %s that begin in that period: those that can be fetched (at most %d) begin at %s and end at %s%s; take another or a longer period, or another interval",
			s.Symbol, s.Interval, market.MaxLimit, stamp(s.Time[0]), stamp(s.Time[s.Len()-1]), near)
	case r.from == 0:
		return s.Slice(0, n), r.bars, nil, nil
	}
	// The first bar may begin up to one interval after from: from may be within a bar.
	if begin := s.Time[0]; begin > r.from+s.Interval.Seconds() {
		notes = append(notes, fmt.Sprintf("The bars of %s that can be fetched begin at %s, later than from: at most %d bars back, where the source has them.",
			s.Symbol, stamp(begin), market.MaxLimit))
	}
	if found := n - first; found > r.bars {
		notes = append(notes, fmt.Sprintf("Of %d bars of the period the newest %d are shown: bars, up to %d, shows more, and a longer interval needs fewer.", found, r.bars, maxBars))
	}
	return s.Slice(0, n), min(n-first, r.bars), notes, nil
}

// stamp returns a moment, given in unix seconds, as RFC 3339 for messages and tables.
func stamp(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

// sampleSymbol is the name of the bars that a chart without a symbol shows.
const sampleSymbol = "SAMPLE"

// orSimilar returns err, and if it says that the source does not have the symbol, with those that are
// like it.
func (h *handlers) orSimilar(ctx context.Context, symbol string, err error) error {
	if !errors.Is(err, market.ErrUnlisted) {
		return err
	}
	var similar []string
	for _, f := range market.Similar(ctx, h.Source, symbol) {
		similar = append(similar, f.Symbol)
	}
	if len(similar) == 0 {
		return err
	}
	return fmt.Errorf("%w; similar symbols: %s", err, atMostTen(similar))
}

// span fetches the bars and computes the indicators of a question. It also returns notes
// for the reader if not all of the period is shown.
func (h *handlers) span(ctx context.Context, r question) (*chart.View, []string, error) {
	s, err := h.load(ctx, r)
	if err != nil {
		return nil, nil, h.orSimilar(ctx, r.symbol, err)
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
	reach, end := r.reach(now), now.Unix() // the latest moment at which the last bar shown can begin
	if r.to != 0 {
		end = min(r.to, end)
	}
	q := market.Query{Symbol: symbol, Interval: r.interval, Limit: min(max(reach+r.before, r.least), market.MaxLimit)}
	for _, req := range r.indicators {
		q.Limit = min(max(q.Limit, reach+min(req.WarmupAt(r.interval, end), indicators.MaxWarmup)), market.MaxLimit)
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
	for _, req := range r.indicators {
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
	r, first := req.Compute(s), s.Len()
	var values []indicators.Values
	for _, l := range r.Lines {
		values = append(values, l.Values)
	}
	for _, h := range r.Histogram {
		values = append(values, h.Values)
	}
	for _, l := range values {
		if at := slices.IndexFunc(l, func(v float64) bool { return !math.IsNaN(v) }); at >= 0 {
			first = min(first, at)
		}
	}
	if first == s.Len() {
		return 0
	}
	return first + 1
}

// compared fetches the bars of the symbols that a chart of s compares, in the same order.
// It counts bars from the time at which s begins, since a share has fewer bars in the same
// time than a coin. If one symbol fails, the chart fails: a picture without its line would
// answer another question.
func (h *handlers) compared(ctx context.Context, s *market.Series, symbols []string) ([]*market.Series, error) {
	if len(symbols) == 0 || s.Len() == 0 {
		return nil, nil
	}
	out, failed := make([]*market.Series, len(symbols)), make([]error, len(symbols))
	bars := barsSince(s.Time[0], s.Interval, time.Now())
	each(chart.MaxCompare, len(symbols), func() {}, func(i int) {
		out[i], failed[i] = h.Source.Bars(ctx, market.Query{Symbol: symbols[i], Interval: s.Interval, Limit: bars})
		if failed[i] != nil {
			failed[i] = fmt.Errorf("compare %s: %w", symbols[i], lasting(failed[i]))
		}
	})
	return out, cmp.Or(failed...)
}

// each calls do for every number below n, in goroutines beside that of the call, at most most at a time, and
// before each of them before, in that of the call. A panic in one of them would end the process: each raises the first one again in the goroutine of the
// call, where it fails only the call.
func each(most, n int, before func(), do func(i int)) {
	var g errgroup.Group
	g.SetLimit(most)
	for i := range n {
		before()
		g.Go(func() (err error) {
			defer func() {
				if v := recover(); v != nil {
					err = fmt.Errorf("%v\n%s", v, debug.Stack())
				}
			}()
			do(i)
			return nil
		})
	}
	if panicked := g.Wait(); panicked != nil {
		panic(panicked)
	}
}
