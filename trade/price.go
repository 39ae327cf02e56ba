package trade

import (
	"context"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// quoteTimeout bounds how long an order waits for a fresh price.
const quoteTimeout = 5 * time.Second

// ask asks the feed for the price of a watched symbol at this moment and takes it over.
func (w *watchlist) ask(ctx context.Context, symbol string) book.Inquiry {
	feed, ok := w.feed.(book.Quoter)
	if !ok {
		return book.Inquiry{}
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeout)
	defer cancel()
	last := w.of(symbol).last
	q, err := feed.Quote(ctx, symbol)
	if err != nil {
		return book.Inquiry{Failed: err}
	}
	return book.Inquiry{Answered: true, Gone: w.offer(symbol, last, q)}
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

// price returns the newest price of symbol, or zero.
func (w *watchlist) price(symbol string) exact.Decimal { return w.of(symbol).Price }
