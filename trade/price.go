package trade

import (
	"context"
	"time"

	"wick/exact"
	"wick/market"
)

// quoteTimeout bounds how long an order waits for a fresh price.
const quoteTimeout = 5 * time.Second

// ask asks the feed for the price of a watched symbol at this moment and takes it over.
// It reports whether the price is up to date then. If the feed offers no way to ask, it
// returns false and no error.
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

// offer takes over q as the price of a watched symbol, unless a newer one is known. What
// the market did on the way to q comes with the next update of the feed.
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

// freshPrice returns the newest price of symbol, or refuses if there is none or it is
// too old to trade at. Most is how old it may be, and asked says that the source was just
// asked. If most is zero, a minute is allowed; at an exchange with hours a price of the
// running session may be of any age if asked is set. If it refuses because the exchange is
// closed, it returns the last price, too.
func (w *watchlist) freshPrice(symbol string, at Time, most time.Duration, asked bool) (quote, error) {
	in := w.of(symbol)
	q, hours := in.quote, in.hours
	if q.told > 0 && !q.exact() {
		return quote{}, refuse("price_not_exact", never, "the price of %s is %v, which has no exact place among the numbers that orders are counted in, "+
			"8 decimals and at most 92 billion: it can be charted and not traded", symbol, q.told)
	}
	if q.price == 0 {
		return quote{}, refuse("no_price", later, "no price of %s is known yet", symbol)
	}
	// The session of the exchange decides only if the operator has set no age.
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

// price returns the newest price of symbol, or zero.
func (w *watchlist) price(symbol string) exact.Decimal { return w.of(symbol).price }
