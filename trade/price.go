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

// quoteTimeout bounds how long an order waits for a fresh price.
const quoteTimeout = 5 * time.Second

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

// lastQuote returns the newest price of s.
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

// ask brings the price of a watched symbol up to date, and reports whether it is
// that of now. It does not if the feed cannot be asked.
func (w *watchlist) ask(ctx context.Context, symbol string) (bool, error) {
	feed, ok := w.feed.(Quoter)
	if !ok {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeout)
	defer cancel()
	q, err := feed.Quote(ctx, symbol)
	if err != nil {
		return false, err
	}
	w.offer(symbol, q)
	return true, nil
}

// offer takes over a quote that is newer than the price of a watched symbol. The
// feed will tell the way there with its next update.
func (w *watchlist) offer(symbol string, q market.Quote) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.instruments[symbol]
	if in == nil {
		return
	}
	in.hours = q.Hours
	if q.At >= in.at {
		in.quote = newQuote(q)
	}
}

// freshPrice returns the newest price of symbol, or refuses if there is none or
// it is too old to trade at. Most is how old it may be; zero means a minute, or at
// an exchange with hours the last trade of the session that is running, however
// long ago that was, if the source has just been asked. A refusal because the
// exchange is closed comes with the last price.
func (w *watchlist) freshPrice(symbol string, at Time, most time.Duration, asked bool) (quote, error) {
	q, hours := w.newest(symbol), w.hours(symbol)
	if q.told > 0 && !q.exact() {
		return quote{}, refuse("price_not_exact", never, "the price of %s is %v, which has no exact place among the numbers that orders are counted in, "+
			"8 decimals and at most 92 billion: it can be charted and not traded", symbol, q.told)
	}
	if q.price == 0 {
		return quote{}, refuse("no_price", later, "no price of %s is known yet", symbol)
	}
	// At an exchange with hours the session decides, unless the operator set an age:
	// its last trade is the price, however long ago, if the source was just asked.
	age := at.Sub(q.time().Time)
	switch session := most == 0 && hours != (market.Hours{}); {
	case session && !hours.IsOpen(at.Unix()):
		return q, refuse(marketClosed, later, "the exchange of %s is closed; its session is %s to %s UTC; a limit that the last price, %s, has not reached can wait for it",
			symbol, clock(hours.Open), clock(hours.Close), q.price)
	case session && asked && q.at >= hours.Open*1000:
		return q, nil
	}
	if most == 0 {
		most = defaultPriceAge
	}
	switch {
	case q.synthetic || age <= most:
		return q, nil
	case q.source == "csv":
		return quote{}, refuse("stale_price", never, "the newest price of %s in its file is %s old, over the limit of %s; "+
			"a file whose bars are longer than that can be traded only if wick is started with a larger --max-price-age", symbol, age.Round(time.Second), most)
	}
	return quote{}, refuse("stale_price", later, "the newest price of %s is %s old, over the limit of %s (--max-price-age): the market is closed or the source is silent",
		symbol, age.Round(time.Second), most)
}

// marketClosed is the code of a refusal because the exchange is closed.
const marketClosed = "market_closed"

// clock writes an instant in unix seconds for a message.
func clock(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04") }

// hours returns the session of the exchange of symbol, as it was last told.
func (w *watchlist) hours(symbol string) market.Hours {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		return in.hours
	}
	return market.Hours{}
}

// newest returns the newest quote of symbol; its price is zero if there is none.
func (w *watchlist) newest(symbol string) quote {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		return in.quote
	}
	return quote{}
}

// price returns the newest price of symbol, or zero.
func (w *watchlist) price(symbol string) exact.Decimal { return w.newest(symbol).price }

// setPrice takes over the price of an update, of whose bars all alerts have been
// judged, and returns when the feed spoke before, zero for never. It reports false for
// a symbol that is not watched.
func (w *watchlist) setPrice(t tick) (since int64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.instruments[t.Symbol]
	if in == nil {
		return 0, false
	}
	since = in.fed
	if t.At >= in.at || t.At < since { // else an order has asked for a newer one; before since only if the clock was set back
		in.quote = quote{price: t.price, told: t.Price, at: t.At, source: t.Source, synthetic: t.Synthetic}
	}
	if since != 0 || t.At != in.resumed { // else it is the price of before the start, with bars that closed
		in.fed = t.At
	}
	in.last = quote{price: t.price, told: t.Price, at: t.At, source: t.Source, synthetic: t.Synthetic}
	for _, win := range in.windows {
		win.settled = win.judged
	}
	return since, true
}
