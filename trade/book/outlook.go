package book

import "wick/internal/exact"

// Outlook says of one order how the market stands to it: what it waits for, or what ended it.
type Outlook struct {
	Now      *exact.Decimal `json:"price_now"`                  // null if none is known
	Distance *exact.Decimal `json:"distance,omitempty"`         // how far the market has to go until it reaches the order
	Percent  *exact.Decimal `json:"distance_percent,omitempty"` // the same in percent of the price
	Waits    *Told          `json:"waits_for,omitempty"`
	Ended    *Told          `json:"ended_by,omitempty"`
}

// Told is a reason as a client sees it.
type Told struct {
	Code Code   `json:"code"`
	Says string `json:"says"`
}

func told(code Code, fields ...string) *Told { return &Told{code, Because(code, fields...).String()} }

// Outlook returns that of o, an order as a client sees it.
func (b *Book) Outlook(o Order) (x Outlook) {
	price := b.Markets.Of(o.Symbol).Price
	if price > 0 {
		x.Now = &price
	}
	if o.Status.Terminal() {
		x.Ended = ended(o)
		return x
	}
	if o.Pending() {
		x.Waits = &Told{o.ReasonCode, o.Reason}
		return x
	}
	if o.Waits() && o.StopPrice == nil || !o.Waits() && o.Price == nil { // a market order at a broker, or one there that is not ours
		x.Waits = told(WaitsVenue, o.Broker)
	} else {
		at, falling := b.place(&o)
		x.Waits = told(WaitsRise, at.String())
		if falling {
			x.Waits = told(WaitsFall, at.String())
		}
		if price > 0 {
			distance := at - price
			if falling {
				distance = price - at
			}
			distance = max(distance, 0)
			percent, _ := exact.Product(distance, 100*exact.One).Per(price)
			x.Distance, x.Percent = &distance, &percent
		}
	}
	switch held := b.held(&o, b.Holdings[o.Symbol].Quantity); {
	case o.Unknown(), o.ReasonCode == NotValued, o.ReasonCode == PriceGone, o.ReasonCode == Suspended:
		x.Waits = &Told{o.ReasonCode, o.Reason}
	case held && b.Trading == Reducing:
		x.Waits = told(WaitsReducing)
	case held:
		x.Waits = told(WaitsHalt)
	case b.inactive(&o):
		x.Waits = told(WaitsEntry, o.Group)
	}
	return x
}

// ended returns what ended o.
func ended(o Order) *Told {
	switch {
	case o.Status != StatusFilled && o.Reason != "":
		return &Told{o.ReasonCode, o.Reason}
	case o.Status != StatusFilled && o.BrokerID != "":
		return told(CancelledThere, o.Broker)
	case o.Status != StatusFilled:
		return told(CancelledByOwn)
	case o.StopPrice != nil && o.TriggeredAt == nil:
		return told(ReachedStop, o.StopPrice.String())
	case o.Price != nil:
		return told(ReachedLimit, o.Price.String())
	}
	return told(FilledNow)
}
