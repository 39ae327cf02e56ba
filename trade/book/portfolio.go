package book

import (
	"strings"

	"wick/internal/exact"
)

// Portfolio is what is held, with what is at stake in it. Sums are in the currency of the account,
// and nil while a price that they need is not known.
type Portfolio struct {
	Currency    string         `json:"currency"`
	Equity      *exact.Decimal `json:"equity"`        // nil also without an account
	Exposure    *exact.Money   `json:"exposure"`      // longs and shorts added up
	Net         *exact.Money   `json:"net"`           // longs less shorts
	Risk        *exact.Money   `json:"risk_to_stops"` // as in [Account]
	Unprotected *exact.Money   `json:"unprotected"`
	Positions   []Stakes       `json:"positions"`          // the largest first
	Excluded    []string       `json:"excluded,omitempty"` // symbols in other currencies, which are not in the sums
	Synthetic   bool           `json:"synthetic,omitempty"`
}

// Stakes are what is at stake in one position. Sums are nil while its price is not known.
type Stakes struct {
	Symbol      string         `json:"symbol"`
	Quantity    exact.Decimal  `json:"quantity"` // negative if short
	Price       *exact.Decimal `json:"price"`
	Worth       *exact.Money   `json:"worth"`             // negative if short
	Percent     *exact.Decimal `json:"percent,omitempty"` // of the equity
	Risk        *exact.Money   `json:"risk_to_stops"`
	Unprotected *exact.Money   `json:"unprotected"`
}

// Portfolio returns what there is of positions.
func (b *Book) Portfolio(positions []Position, at Time) Portfolio {
	p := Portfolio{Currency: b.Rules.Account.Currency, Positions: []Stakes{}}
	if b.Remote.Name != "" {
		p.Currency = b.Remote.Statement.Currency
	}
	if equity, err := b.equity(); err == nil {
		p.Equity = &equity
	}
	var exposure, net, risk, unprotected exact.Money
	known := true
	counted := make(map[string]bool) // keys of symbols, since the book may have one in two spellings
	for _, held := range positions {
		quantity := b.Holdings[held.Symbol].Quantity
		if key := Key(held.Symbol); !counted[key] {
			quantity, counted[key] = b.Owned(held.Symbol), true
		}
		if quantity == 0 {
			continue
		}
		s := Stakes{Symbol: held.Symbol, Quantity: quantity, Price: held.CurrentPrice}
		if s.Price == nil && held.AtBroker != nil { // nobody asked for its price here
			if price, ok := held.AtBroker.Value.Abs().Over(held.AtBroker.Quantity.Abs(), exact.HalfEven); ok && price != 0 {
				s.Price = &price
			}
		}
		if s.Price != nil {
			worth := exact.Product(quantity, *s.Price)
			atStake, open := b.atRisk(held.Symbol, quantity, *s.Price, at)
			s.Worth, s.Risk, s.Unprotected = &worth, &atStake, &open
			if whole, ok := worth.Per(exact.One); ok && p.Equity != nil {
				if percent, ok := (100 * whole.Abs()).Over(*p.Equity, exact.HalfEven); ok {
					percent, _ = percent.Step(exact.One/100, exact.Down)
					s.Percent = &percent
				}
			}
		}
		p.Positions = append(p.Positions, s)
		switch {
		case !b.Rules.Account.counts(b.Currency(held.Symbol)):
			p.Excluded = append(p.Excluded, held.Symbol)
		case s.Worth == nil:
			known = false
		default:
			absolute := *s.Worth
			if quantity < 0 {
				absolute = absolute.Neg()
			}
			exposure, net = plus(exposure, absolute), plus(net, *s.Worth)
			risk, unprotected = plus(risk, *s.Risk), plus(unprotected, *s.Unprotected)
			p.Synthetic = p.Synthetic || held.Synthetic
		}
	}
	if known {
		p.Exposure, p.Net, p.Risk, p.Unprotected = &exposure, &net, &risk, &unprotected
	}
	return p
}

// Target is a symbol with the part that it shall have of a portfolio.
type Target struct {
	Symbol  string
	Percent exact.Decimal
	Lot     exact.Decimal // the step of quantities at the venue, zero if it has none beside the market's
}

// Rebalance says which orders bring a portfolio to its targets.
type Rebalance struct {
	Of     exact.Decimal    `json:"of"` // what the percentages are of: the equity, or without an account the symbols named, less what else is held
	Orders []RebalanceOrder `json:"orders"`
	Kept   []string         `json:"kept,omitempty"` // symbols whose difference is less than the least order
}

// RebalanceOrder is an order that rebalances, as place_order takes it, with what it is worth now.
type RebalanceOrder struct {
	Symbol   string        `json:"symbol"`
	Side     Side          `json:"side"`
	Type     OrderType     `json:"type"`
	Quantity exact.Decimal `json:"quantity"`
	Worth    exact.Decimal `json:"worth"`
}

// Rebalance returns the orders that bring p to its targets: first sales and what buys back what is short, since they
// pay for what is bought, and that is so much less that fees and slippage are paid too. Positions that no target names
// stay, and what they are worth is not divided.
func (b *Book) Rebalance(p Portfolio, targets []Target) (r Rebalance, err error) {
	r.Orders = []RebalanceOrder{}
	held := make(map[string]Stakes)
	for _, s := range p.Positions {
		held[s.Symbol] = s
	}
	worth := make(map[string]exact.Decimal)
	var named exact.Decimal
	var names []string
	for _, t := range targets {
		names = append(names, t.Symbol)
		if !b.Rules.Account.counts(b.Currency(t.Symbol)) {
			return r, Refuse("bad_quantity", "%s is priced in %s, and nothing is converted", t.Symbol, b.Currency(t.Symbol))
		}
		if b.price(t.Symbol) == 0 {
			return r, Refuse("no_price", "the price of %s is not known", t.Symbol)
		}
		if s, is := held[t.Symbol]; is && s.Worth != nil {
			worth[t.Symbol], _ = s.Worth.Per(exact.One)
			named += worth[t.Symbol]
		}
	}
	if r.Of = named; p.Equity != nil {
		if p.Net == nil {
			return r, Refuse("no_price", "the price of a position is not known")
		}
		net, _ := p.Net.Per(exact.One)
		r.Of = *p.Equity - (net - named)
	}
	cost := b.Rules.FeeRate + b.Rules.HalfSpread + b.Rules.Slippage
	if b.Remote.Name != "" {
		cost = 0 // that of a broker is not known
	}
	left := r.Of // to divide, once what is short is bought back
	for _, short := range worth {
		fee, _ := max(-short, 0).Times(cost, exact.Up)
		left -= fee
	}
	if left <= 0 {
		return r, Refuse("bad_quantity", "there is %s to divide among %s", left, strings.Join(names, ", "))
	}
	var buys []RebalanceOrder
	for _, t := range targets {
		price, target, grid := b.price(t.Symbol), exact.Decimal(0), b.Grid(t.Symbol)
		target, _ = left.Percent(t.Percent, exact.Down)
		gap := target - worth[t.Symbol]
		o := RebalanceOrder{Symbol: t.Symbol, Side: Buy, Type: Market, Worth: gap.Abs()}
		if gap < 0 {
			o.Side = Sell
		} else {
			o.Worth, _ = o.Worth.Times(exact.One-cost, exact.Down)
			o.Worth, _ = o.Worth.Over(exact.One+cost, exact.Down)
		}
		grid.Lot = max(grid.Lot, t.Lot)
		quantity, ok := o.Worth.Over(price, exact.Down)
		quantity, _ = quantity.Step(grid.Lot, exact.Down)
		if t.Percent == 0 {
			quantity = held[t.Symbol].Quantity.Abs() // all of it, whatever the step is
		}
		least, fits := grid.minQuantity(price)
		if !ok || !fits {
			return r, Refuse("out_of_range", "%s at %s is beyond the range of exact numbers", t.Symbol, price)
		}
		if quantity == 0 || quantity < least && t.Percent != 0 {
			r.Kept = append(r.Kept, t.Symbol)
			continue
		}
		o.Quantity = quantity
		o.Worth, _ = quantity.Times(price, exact.HalfEven)
		if o.Side == Sell || worth[t.Symbol] < 0 {
			r.Orders = append(r.Orders, o)
		} else {
			buys = append(buys, o)
		}
	}
	r.Orders = append(r.Orders, buys...)
	return r, nil
}
