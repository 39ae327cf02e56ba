package book

import (
	"cmp"
	"time"
	"wick/internal/limit"
	"wick/market"
)

// Inquiry is what came of asking the feed for the price of a symbol. It is zero if the
// feed offers no way to ask.
type Inquiry struct {
	Answered bool  // the price that is known is up to date
	Failed   error // why the source told no price
	Gone     int64 // time of the feed's last price if its file no longer tells that one, in unix milliseconds; or zero
}

// fresh returns the newest price of symbol, or refuses if there is none, if the
// source was just asked and told none, or if the price is too old to trade at. Most is how
// old it may be. If most is zero, a minute is allowed; at an exchange with hours a price of
// the running session may be of any age if the source has answered. If it refuses because
// the exchange is closed, or because nothing was traded for so long, it returns the last
// price, too.
func (l Listing) fresh(symbol string, at Time, most time.Duration, asked Inquiry) (Quote, error) {
	q, hours := l.Quote, l.Hours
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
		return q, Refuse(MarketClosed, "the exchange of %s is closed; its session is %s to %s UTC; a limit that the last price, %s, has not reached can wait for it",
			symbol, Clock(hours.Open), Clock(hours.Close), q.Price)
	case session && asked.Answered && q.At >= hours.Open*1000:
		return q, nil
	}
	if most == 0 {
		most = DefaultPriceAge
	}
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
	case q.Source == "csv" && asked.Failed == nil:
		return Quote{}, Refuse("stale_price", "the newest price of %s in its file is %s old, over the limit of %s: retry when the file has a newer row; "+
			"a file whose bars are longer than that can be traded only if the operator starts wick with a larger max-price-age in --paper-file", symbol, age.Round(time.Second), most)
	}
	return Quote{}, Refuse("stale_price", "the newest price of %s is %s old, over the limit of %s (max-price-age in --paper-file): the market is closed or the source is silent%s",
		symbol, age.Round(time.Second), most, why)
}

// checkHalted refuses an order in a market in which its exchange trades nothing. Its last
// price says nothing about what the order would cost.
func (l Listing) checkHalted(symbol string) error {
	if l.Halted == "" {
		return nil
	}
	return Refuse("market_halted", "%s does not trade %s now: it calls that market %q; open orders stay and can be cancelled", cmp.Or(l.Source, "the exchange"), symbol, l.Halted)
}
