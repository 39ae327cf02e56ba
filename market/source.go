package market

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"wick/internal/limit"
)

// Source answers queries. Bars returns an error, or one to q.Limit bars that pass
// [Series.Check], the newest last. If the newest is not closed, Forming is set. Bars may
// be called from many goroutines. The caller must not write to the Series.
type Source interface {
	Bars(ctx context.Context, q Query) (*Series, error)
}

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
		return q, fmt.Errorf("%w %q: one of %s", errInterval, limit.Clip(string(q.Interval)), spelled(Intervals()))
	case q.Limit < 1 || q.Limit > MaxLimit:
		return q, fmt.Errorf("limit %d is out of bounds: 1 to %d bars", q.Limit, MaxLimit)
	}
	q.Symbol = symbol
	q.Extra = slices.Compact(slices.Sorted(slices.Values(q.Extra))) // two indicators may need the same
	return q, nil
}

// Resolver is a source that has its own names for markets. All sources of this
// package are.
type Resolver interface {
	// Resolve returns the canonical symbol of the market that text means, without
	// asking a service whether it exists. Resolving the result returns it again.
	Resolve(text string) (string, error)
}

// errNoColumn reports an extra column that a source does not have.
var errNoColumn = errors.New("no such column")

// Names of the columns a source may put into Series.Extra.
const (
	ExtraFunding   = "funding"    // funding rate as a fraction
	ExtraOI        = "oi"         // open interest in quote units
	ExtraLong      = "long"       // fraction of accounts that are long
	ExtraShort     = "short"      // fraction of accounts that are short
	ExtraFearGreed = "fear_greed" // alternative.me's index, 0 to 100
)
