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

// Quoter is a Feed that can be asked for the price at this moment. market.Feed is one.
type Quoter interface {
	Quote(ctx context.Context, symbol string) (market.Quote, error)
}

// quote is a price of a symbol.
type quote struct {
	price     exact.Decimal
	bid, ask  exact.Decimal // as the source told them; zero if it did not
	told      float64       // the price as the source told it
	at        int64         // when the market was at the price, or traded it last, in unix milliseconds
	known     int64         // when it was still the last price; zero if nothing is known beyond at
	source    string        // who told it
	synthetic bool          // the price is invented
}

// time returns when the market was at the price of q.
func (q quote) time() Time { return Time{time.UnixMilli(q.at).UTC()} }

// until returns up to when q is known to be the last price, in unix milliseconds. Of two
// quotes the one that is known longer counts.
func (q quote) until() int64 { return max(q.at, q.known) }

// lastQuote returns the close of the last bar of s. Its time is what the source says, or
// else the time at which it was asked if the bar is forming, and the end of the bar if
// it is closed.
func lastQuote(s *market.Series) quote {
	last, at := s.Bar(s.Len()-1), s.PriceAt
	if at == 0 { // a source that does not say
		if at = s.AsOf; !s.Forming {
			at = s.DueAt(s.Len()-1) * 1000
		}
	}
	return newQuote(market.Quote{Price: last.Close, At: at, Source: s.Source, Synthetic: s.Synthetic})
}

// newQuote makes the numbers of a quote exact. A price that does not fit becomes zero.
// Bid and ask are left out if they contradict each other, or if one of them is further
// from the price than half of it: a broken answer must not fill an order.
func newQuote(q market.Quote) quote {
	price, _ := exact.FromFloat(q.Price)
	bid, told := exact.FromFloat(q.Bid)
	ask, too := exact.FromFloat(q.Ask)
	if !told || !too || bid > ask || bid < price/2 || ask-price/2 > price || bid <= 0 {
		bid, ask = 0, 0
	}
	return quote{price: price, bid: bid, ask: ask, told: q.Price, at: q.At, known: q.Known, source: q.Source, synthetic: q.Synthetic}
}

// fineness is the largest relative error that making a price exact may cause. Some
// rounding must be allowed, because services that send prices as binary numbers show more
// digits than the market has. With a larger error it would be a different price.
const fineness = 1e-6

// exact reports whether the price of q is what the source told, within fineness.
func (q quote) exact() bool {
	back, err := strconv.ParseFloat(q.price.String(), 64)
	return err == nil && math.Abs(back-q.told) <= fineness*q.told
}

// marketClosed is the code of a refusal because the exchange is closed.
const marketClosed = "market_closed"

// clock writes an instant in unix seconds for a message.
func clock(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04") }
