package market

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"wick/limit"
)

// Query asks a source for the newest bars of a symbol.
type Query struct {
	Symbol   string   // in any spelling that Resolve takes; the answer has the canonical one
	Interval Interval // one of Intervals
	Limit    int      // at most this many bars, the newest; 1 to MaxLimit
	Extra    []string // further columns wanted, by the names of Series.Extra
}

// MaxLimit bounds Query.Limit: the longest chart and its warm-up.
const MaxLimit = 20000

// checked returns q with the canonical symbol and its columns sorted, or an error
// if a part of it is out of bounds.
func (q Query) checked(at Resolver) (Query, error) {
	symbol, err := at.Resolve(q.Symbol)
	switch {
	case err != nil:
		return q, err
	case !q.Interval.Valid():
		return q, fmt.Errorf("%w %q: one of %s", ErrInterval, limit.Clip(string(q.Interval)), spelled(Intervals()))
	case q.Limit < 1 || q.Limit > MaxLimit:
		return q, fmt.Errorf("limit %d is out of bounds: 1 to %d bars", q.Limit, MaxLimit)
	}
	q.Symbol = symbol
	q.Extra = slices.Compact(slices.Sorted(slices.Values(q.Extra))) // two indicators may need the same
	return q, nil
}

// ErrNoColumn reports an extra column that a source does not have.
var ErrNoColumn = errors.New("no such column")

// Names of the columns a source may put into Series.Extra.
const (
	ExtraFunding   = "funding"    // funding rate as a fraction
	ExtraOI        = "oi"         // open interest in quote units
	ExtraLong      = "long"       // fraction of accounts that are long
	ExtraShort     = "short"      // fraction of accounts that are short
	ExtraFearGreed = "fear_greed" // alternative.me's index, 0 to 100
)

// Source answers queries. Bars returns at least one bar or an error, at most
// q.Limit of them, checked, the newest last and marked when it is forming. It
// may be called from many goroutines; the caller must not write to the Series.
type Source interface {
	Bars(ctx context.Context, q Query) (*Series, error)
}

// Update is what a feed learned about one symbol since the update before.
type Update struct {
	Symbol    string
	Source    string // where the price comes from: "binance", "csv" …
	Synthetic bool   // the price is invented

	Price float64 // newest price
	At    int64   // unix milliseconds at which it was the price
	// From is the price of the update before, or the one given to ResumePrice; on
	// the first update it equals Price.
	From float64
	// High and Low are the extremes since the update before, From and Price
	// included, as far as they are known to be from after it.
	High, Low float64
	// Path is what was traded since Since, in unix milliseconds, minute by minute:
	// first the rest of the minute that was forming then, which opens at From, then
	// each further minute as it opened. Since is when bars were last seen. That may
	// be earlier than the update before, if that had a price only; then the Path has
	// extremes that High and Low leave out, because they may be older than it.
	// A source without minutes gives longer bars. Path is empty if there is no new
	// price: then Price and At are those of the update before.
	Path  []Bar
	Since int64
	// Forming has the forming bar of each watched interval as the source has it,
	// with its volume. It is empty where only a price was asked for.
	Forming map[Interval]Bar
	// Closed lists the bars that closed since the update before, each once, in
	// order of time within an interval.
	Closed []ClosedBar
}

// ClosedBar is a finished bar of one interval.
type ClosedBar struct {
	Interval Interval
	Bar      Bar
}
