package trade

import (
	"context"
	"math"
	"strconv"
	"time"

	"wick/exact"
	"wick/market"
)

// defaultPriceAge is how old a price may be for an order, unless
// Options.MaxPriceAge says otherwise. The slowest feed tells a price every 15
// seconds.
const defaultPriceAge = time.Minute

// Quoter is a Feed that can be asked for the price of now. market.Feed is one.
type Quoter interface {
	Quote(ctx context.Context, symbol string) (market.Quote, error)
}

// quote is a price of a symbol.
type quote struct {
	price     exact.Decimal
	bid, ask  exact.Decimal // beside it, as the source told them; zero if it did not
	told      float64       // the price as the source told it
	at        int64         // when it was the price, in unix milliseconds
	source    string        // who told it
	synthetic bool          // it is invented
}

// time returns when q was the price.
func (q quote) time() Time { return Time{time.UnixMilli(q.at).UTC()} }

// lastQuote returns the newest price of s. The close of the forming bar is the price
// of now; that of a closed bar is of when it ended.
func lastQuote(s *market.Series) quote {
	last, at := s.Bar(s.Len()-1), s.PriceAt
	if at == 0 { // a source that does not say
		if at = s.AsOf; !s.Forming {
			at = s.Interval.Next(last.Time) * 1000
		}
	}
	return newQuote(market.Quote{Price: last.Close, At: at, Source: s.Source, Synthetic: s.Synthetic})
}

// newQuote makes the numbers of a quote exact. One that cannot be has a price of
// zero. A bid and ask that contradict each other, or that are as far from the price
// as no limit may be, are left out: a broken answer must not fill an order.
func newQuote(q market.Quote) quote {
	price, _ := exact.FromFloat(q.Price)
	bid, told := exact.FromFloat(q.Bid)
	ask, too := exact.FromFloat(q.Ask)
	if !told || !too || bid > ask || bid < price/2 || ask-price/2 > price || bid <= 0 {
		bid, ask = 0, 0
	}
	return quote{price: price, bid: bid, ask: ask, told: q.Price, at: q.At, source: q.Source, synthetic: q.Synthetic}
}

// fineness is which part of a price may be lost when it is made exact. Services
// that send prices in binary show digits beyond those of the market; a price with
// too few digits left is another one.
const fineness = 1e-6

// exact reports whether q's price is what the source told.
func (q quote) exact() bool {
	back, err := strconv.ParseFloat(q.price.String(), 64)
	return err == nil && math.Abs(back-q.told) <= fineness*q.told
}

// marketClosed is the code of a refusal because the exchange is closed.
const marketClosed = "market_closed"

// clock writes an instant in unix seconds for a message.
func clock(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04") }
