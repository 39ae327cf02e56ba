package book

import (
	"context"
	"math"
	"strconv"
	"time"

	"wick/internal/exact"
	"wick/market"
)

// DefaultPriceAge is how old a price may be for an order, unless
// Options.MaxPriceAge says otherwise. The slowest feed tells a price every 15
// seconds.
const DefaultPriceAge = time.Minute

// Quoter is a Feed that can be asked for the price at this moment. market.Feed is one.
type Quoter interface {
	Quote(ctx context.Context, symbol string) (market.Quote, error)
}

// Quote is a price of a symbol.
type Quote struct {
	Price     exact.Decimal
	Bid, Ask  exact.Decimal // as the source told them; zero if it did not
	Inexact   bool          // the source's price is another one: it has more than eight decimals, or is out of range
	At        int64         // when the market was at the price, or traded it last, in unix milliseconds
	Known     int64         // when it was still the last price; zero if nothing is known beyond at
	Source    string        // who told it
	Synthetic bool          // the price is invented
}

// Time returns when the market was at the price of q.
func (q Quote) Time() Time { return Time{time.UnixMilli(q.At).UTC()} }

// Until returns up to when q is known to be the last price, in unix milliseconds. Of two
// quotes the one that is known longer counts.
func (q Quote) Until() int64 { return max(q.At, q.Known) }

// LastQuote returns the close of the last bar of s. Its time is what the source says, or
// else the time at which it was asked if the bar is forming, and the end of the bar if
// it is closed.
func LastQuote(s *market.Series) Quote {
	last, at := s.Bar(s.Len()-1), s.PriceAt
	if at == 0 { // a source that does not say
		if at = s.AsOf; !s.Forming {
			at = s.DueAt(s.Len()-1) * 1000
		}
	}
	return NewQuote(market.Quote{Price: last.Close, At: at, Source: s.Source, Synthetic: s.Synthetic})
}

// NewQuote makes the numbers of a quote exact. A price is rounded to eight decimals, and
// zero if it is out of range. Bid and ask are left out if they contradict each other, or if
// one of them is further from the price than half of it: a broken answer must not fill an order.
func NewQuote(q market.Quote) Quote {
	price, _ := exact.FromFloat(q.Price)
	bid, ok1 := exact.FromFloat(q.Bid)
	ask, ok2 := exact.FromFloat(q.Ask)
	if !ok1 || !ok2 || bid > ask || bid < price/2 || ask-price/2 > price || bid <= 0 {
		bid, ask = 0, 0
	}
	back, _ := strconv.ParseFloat(price.String(), 64)
	inexact := q.Price > 0 && math.Abs(back-q.Price) > fineness*q.Price
	return Quote{Price: price, Bid: bid, Ask: ask, Inexact: inexact, At: q.At, Known: q.Known, Source: q.Source, Synthetic: q.Synthetic}
}

// fineness is the largest relative error that making a price exact may cause. Some
// rounding must be allowed, because services that send prices as binary numbers show more
// digits than the market has. With a larger error it would be a different price.
const fineness = 1e-6

// CheckExact refuses what asks for the price of symbol, q, if that is rounded too much.
func (q Quote) CheckExact(symbol string) error {
	if !q.Inexact {
		return nil
	}
	return Refuse("price_not_exact", "the price of %s has more than 8 decimals or is above 92 billion: the market can be charted, and watched by alerts on signals "+
		"such as those of a rule, but neither orders nor alerts on the price are taken", symbol)
}

// MarketClosed is the code of a refusal because the exchange is closed.
const MarketClosed = "market_closed"

// Clock writes an instant in unix seconds for a message.
func Clock(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04") }
