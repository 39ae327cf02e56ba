package trade

import (
	"time"

	"wick/exact"
	"wick/market"
)

// staleAfter is how many bars of the shortest interval a price may be old.
const staleAfter = 3

// quote is the price of a symbol and when it was the price, in unix milliseconds.
type quote struct {
	price exact.Decimal
	at    int64
}

// freshPrice returns the newest price of symbol, or refuses.
func (w *watchlist) freshPrice(symbol string, at Time) (quote, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.instruments[symbol]
	if in == nil || in.price == 0 {
		return quote{}, refuse("no_price", later, "no price of %s is known yet", symbol)
	}
	shortest := time.Duration(1<<63 - 1)
	for iv := range in.windows {
		shortest = min(shortest, iv.Duration())
	}
	if age := at.Sub(time.UnixMilli(in.at)); !in.synthetic && age/staleAfter > shortest {
		return quote{}, refuse("stale_price", later, "the newest price of %s is %s old: the market is closed or the source is silent",
			symbol, age.Round(time.Second))
	}
	return quote{in.price, in.at}, nil
}

// price returns the newest price of symbol, or zero.
func (w *watchlist) price(symbol string) exact.Decimal {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		return in.price
	}
	return 0
}

// setPrice takes over the price of an update and returns when the feed spoke
// before, zero for never. It reports false for a symbol that is not watched.
func (w *watchlist) setPrice(t tick) (since int64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.instruments[t.Symbol]
	if in == nil {
		return 0, false
	}
	since = in.fed
	in.price, in.at, in.fed = t.price, t.At, t.At
	return since, true
}

// offer takes over a quote that is newer than the price of a watched symbol. The
// feed will tell the way there with its next update.
func (w *watchlist) offer(symbol string, q market.Quote) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.instruments[symbol]
	if price, ok := exact.FromFloat(q.Price); ok && in != nil && q.At > in.at {
		in.price, in.at, in.synthetic = price, q.At, q.Synthetic
	}
}
