package book

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/market"
)

// DefaultPriceAge is how old a price may be for an order, unless
// Rules.MaxPriceAge says otherwise. The slowest feed tells a price every 15
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
	Rewritten bool          // it is of a file, whose owner may change what is long past
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
	return NewQuote(market.Quote{Price: last.Close, At: at, Source: s.Source, Synthetic: s.Synthetic, Rewritten: s.Rewritten})
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
	return Quote{Price: price, Bid: bid, Ask: ask, Inexact: inexact, At: q.At, Known: q.Known, Source: q.Source, Synthetic: q.Synthetic, Rewritten: q.Rewritten}
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

// Clock writes an instant in unix seconds for a message.
func Clock(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04") }

// Inquiry is what came of asking the feed for the price of a symbol. It is zero if the
// feed offers no way to ask.
type Inquiry struct {
	Answered bool  // the price that is known is up to date
	Late     bool  // of a file that may be told later what was traded since that price
	Failed   error // why the source told no price
	Gone     int64 // time of the feed's last price if its file no longer tells that one, in unix milliseconds; or zero
}

// fresh returns the newest price of symbol, or refuses if there is none, if the
// source was just asked and told none, or if the price is too old to trade at. Most is how
// old it may be. If most is zero, a minute is allowed; at an exchange with hours a price of
// the running session may be of any age if the source has answered. If it refuses because
// the exchange is closed, or because nothing was traded for so long, it returns the last
// price, too. The last price of a market in which its exchange trades nothing says nothing
// about what an order would cost.
func (l Listing) fresh(symbol string, at Time, most time.Duration, asked Inquiry) (Quote, error) {
	q, hours := l.Quote, l.Hours
	if l.Halted != "" {
		return Quote{}, Refuse("market_halted", "%s does not trade %s now: it calls that market %q; open orders stay and can be cancelled", cmp.Or(q.Source, "the exchange"), symbol, l.Halted)
	}
	if err := q.CheckExact(symbol); err != nil {
		return Quote{}, err
	}
	if q.Price == 0 {
		return Quote{}, Refuse("no_price", "no price of %s is known yet", symbol)
	}
	// The session of the exchange decides only if the operator has set no age. If the
	// source is silent, the hours that are known may be those of the session before.
	age := at.Sub(q.Time().Time)
	switch session := most == 0 && hours != (market.Hours{}) && asked.Failed == nil; {
	case session && !hours.IsOpen(at.Unix()):
		return q, Refuse("market_closed", "the exchange of %s is closed; its session is %s to %s UTC; a limit that the last price, %s, has not reached can wait for it",
			symbol, Clock(hours.Open), Clock(hours.Close), q.Price)
	case session && asked.Answered && q.At >= hours.Open*1000:
		return q, nil
	}
	most = cmp.Or(most, DefaultPriceAge)
	why := "" // there is no newer one
	if asked.Failed != nil {
		why = "; asking for a newer one failed: " + limit.Line(asked.Failed.Error(), 200)
	}
	switch fresh := q.Synthetic || age <= most; {
	case fresh && asked.Failed != nil: // the market may have left the price that is known
		return Quote{}, Refuse("no_price", "the price of %s is not known now, only one that is %s old%s", symbol, age.Round(time.Second), why)
	case fresh:
		return q, nil
	case asked.Failed == nil && at.UnixMilli()-q.Known <= most.Milliseconds():
		return q, Refuse("stale_price", "the last trade of %s is %s old, over the limit of %s (max-price-age in --paper-file); a limit that its price, %s, has not reached can wait for the next one",
			symbol, age.Round(time.Second), most, q.Price)
	case q.Rewritten && asked.Failed == nil:
		return Quote{}, Refuse("stale_price", "the newest price of %s in its file is %s old, over the limit of %s: retry when the file has a newer row; "+
			"a file whose bars are longer than that can be traded only if the operator starts wick with a larger max-price-age in --paper-file", symbol, age.Round(time.Second), most)
	}
	return Quote{}, Refuse("stale_price", "the newest price of %s is %s old, over the limit of %s (max-price-age in --paper-file): the market is closed or the source is silent%s",
		symbol, age.Round(time.Second), most, why)
}

// Refusing returns err, with which an order was refused when the market was at q. If q is
// invented and the refusal quotes it, its text says so, as every payload does.
func (q Quote) Refusing(err error) error {
	var r *Refusal
	if !q.Synthetic || !errors.As(err, &r) || !Codes[r.Code].priced {
		return err
	}
	return r.Retry.Refuse(r.Code, "%s; the data is invented", r.Text)
}
