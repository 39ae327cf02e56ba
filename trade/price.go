package trade

import (
	"context"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/market"
	"wick/trade/book"
)

// quoteTimeout bounds how long an order waits for a fresh price.
const quoteTimeout = 5 * time.Second

// inquiry is what came of asking the feed for the price of a symbol. It is zero if the
// feed offers no way to ask.
type inquiry struct {
	answered bool  // the price that is known is up to date
	failed   error // why the source told no price
	gone     int64 // time of the feed's last price if its file no longer tells that one, in unix milliseconds; or zero
}

// ask asks the feed for the price of a watched symbol at this moment and takes it over.
func (w *watchlist) ask(ctx context.Context, symbol string) inquiry {
	feed, ok := w.feed.(book.Quoter)
	if !ok {
		return inquiry{}
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeout)
	defer cancel()
	last := w.of(symbol).last
	q, err := feed.Quote(ctx, symbol)
	if err != nil {
		return inquiry{failed: err}
	}
	return inquiry{answered: true, gone: w.offer(symbol, last, q)}
}

// offer takes over q as the price of a watched symbol, unless a newer one is known. What
// the market did on the way to q comes with the next update of the feed. The price of a
// file is taken over even if it is older, since rows may have been taken out or corrected,
// unless the feed has told a price after last. Then gone is the time of last, if q
// contradicts it, or zero.
func (w *watchlist) offer(symbol string, last book.Quote, q market.Quote) (gone int64) {
	w.change(symbol, func(in *instrument) {
		new := book.NewQuote(q)
		in.hours = q.Hours
		file := q.Source == "csv" && in.last == last
		if max(q.At, q.Known) >= in.Until() || file {
			in.Quote = new
		}
		if file && (q.At < last.At || q.At == last.At && new.Price != last.Price) {
			gone = last.At
		}
	})
	return gone
}

// freshPrice returns the newest price of symbol, or refuses if there is none, if the
// source was just asked and told none, or if the price is too old to trade at. Most is how
// old it may be. If most is zero, a minute is allowed; at an exchange with hours a price of
// the running session may be of any age if the source has answered. If it refuses because
// the exchange is closed, or because nothing was traded for so long, it returns the last
// price, too.
func (w *watchlist) freshPrice(symbol string, at book.Time, most time.Duration, asked inquiry) (book.Quote, error) {
	in := w.of(symbol)
	q, hours := in.Quote, in.hours
	if err := q.CheckExact(symbol); err != nil {
		return book.Quote{}, err
	}
	if q.Price == 0 {
		return book.Quote{}, book.Refuse("no_price", "no price of %s is known yet", symbol)
	}
	// The session of the exchange decides only if the operator has set no age. If the
	// source is silent, the hours that are known may be those of the session before.
	age := at.Sub(q.Time().Time)
	switch session := most == 0 && hours != (market.Hours{}) && asked.failed == nil; {
	case session && !hours.IsOpen(at.Unix()):
		return q, book.Refuse(book.MarketClosed, "the exchange of %s is closed; its session is %s to %s UTC; a limit that the last price, %s, has not reached can wait for it",
			symbol, book.Clock(hours.Open), book.Clock(hours.Close), q.Price)
	case session && asked.answered && q.At >= hours.Open*1000:
		return q, nil
	}
	if most == 0 {
		most = book.DefaultPriceAge
	}
	why := "" // there is no newer one
	if asked.failed != nil {
		why = "; asking for a newer one failed: " + limit.Line(asked.failed.Error(), 200)
	}
	switch fresh := q.Synthetic || age <= most; {
	case fresh && asked.failed != nil: // the market may have left the price that is known
		return book.Quote{}, book.Refuse("no_price", "the price of %s is not known now, only one that is %s old%s", symbol, age.Round(time.Second), why)
	case fresh:
		return q, nil
	case asked.failed == nil && at.UnixMilli()-q.Known <= most.Milliseconds():
		return q, book.Refuse("stale_price", "the last trade of %s is %s old, over the limit of %s (max-price-age in --paper-file); a limit that its price, %s, has not reached can wait for the next one",
			symbol, age.Round(time.Second), most, q.Price)
	case q.Source == "csv" && asked.failed == nil:
		return book.Quote{}, book.Refuse("stale_price", "the newest price of %s in its file is %s old, over the limit of %s: retry when the file has a newer row; "+
			"a file whose bars are longer than that can be traded only if the operator starts wick with a larger max-price-age in --paper-file", symbol, age.Round(time.Second), most)
	}
	return book.Quote{}, book.Refuse("stale_price", "the newest price of %s is %s old, over the limit of %s (max-price-age in --paper-file): the market is closed or the source is silent%s",
		symbol, age.Round(time.Second), most, why)
}

// price returns the newest price of symbol, or zero.
func (w *watchlist) price(symbol string) exact.Decimal { return w.of(symbol).Price }
