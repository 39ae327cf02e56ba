package trade

import (
	"fmt"
	"math"
	"strings"

	"wick/exact"
	"wick/indicators"
	"wick/limit"
)

// Role says what an order of a group is for.
type Role string

// The roles.
const (
	RoleStopLoss   Role = "stop_loss"
	RoleTakeProfit Role = "take_profit"
	RoleOCO        Role = "oco" // one of a limit and a stop
)

// Exit says where a stop_loss or a take_profit stands: at a price, or so far from
// the price of the entry. One field of the first three is set; with ATR, Distance is
// what it came to when the order was accepted.
type Exit struct {
	Price    exact.Decimal `json:"price,omitempty"`
	Percent  exact.Decimal `json:"percent,omitempty"`
	ATR      exact.Decimal `json:"atr,omitempty"` // how many times the average true range
	Distance exact.Decimal `json:"distance,omitempty"`
	Tick     exact.Decimal `json:"tick,omitempty"` // of the market when the order was accepted
}

// OCO is the stop beside a limit order: "one cancels the other". With a Price it is
// a stop_limit.
type OCO struct{ StopPrice, Price exact.Decimal }

// ParseExit reads a price such as 94.5, a share of the entry's price such as 3%, or
// a multiple of the average true range such as 2atr.
func ParseExit(text string) (x Exit, err error) {
	// The suffix says what the number is; without one it is a price.
	s, to := strings.ToLower(strings.ReplaceAll(text, " ", "")), &x.Price
	if number, ok := strings.CutSuffix(s, "%"); ok {
		s, to = number, &x.Percent
	} else if number, ok := strings.CutSuffix(s, "atr"); ok {
		s, to = number, &x.ATR
	}
	if *to, err = exact.Parse([]byte(s)); err != nil || *to <= 0 || x.Percent >= 100*exact.One {
		return Exit{}, refuse("bad_exit", fixIt, "%q is no place for an exit: write a price such as 94.5, a share such as 3%% or a range such as 2atr", limit.Clip(text))
	}
	return x, nil
}

// at returns where the exit of an entry at price stands, above it or below. One
// that has to be rounded to the grid is further away. It reports false if that is
// no price.
func (x Exit) at(price exact.Decimal, above bool) (exact.Decimal, bool) {
	distance, fits := x.Distance, true
	switch {
	case x.Price != 0:
		return x.Price, true
	case x.Percent != 0:
		distance, fits = price.Percent(x.Percent, exact.Up)
	}
	if !above {
		distance = -distance
	}
	at, ok := price.Add(distance)
	if !fits || !ok || at <= 0 {
		return 0, false
	}
	at, ok = Grid{Tick: x.Tick}.away(at, price)
	return at, ok && at > 0
}

// checkGroup refuses exits and partners that the order cannot have.
func (r *OrderRequest) checkGroup() error {
	exits := r.StopLoss != Exit{} || r.TakeProfit != Exit{}
	switch {
	case exits && (r.ReduceOnly || r.All || r.OCO != OCO{}):
		return refuse("bad_exit", fixIt, "stop_loss and take_profit belong to an order that opens a position, not to reduce_only, quantity all or oco")
	case r.OCO != OCO{} && (r.Type != Limit || r.OCO.StopPrice <= 0 || r.OCO.Price < 0):
		return refuse("bad_oco", fixIt, `oco is the stop beside an order of type limit, such as {"stop_price":95}`)
	case r.OCO != OCO{} && (r.TimeInForce == IOC || r.TimeInForce == FOK):
		return refuse("bad_oco", fixIt, "oco and %s exclude each other", r.TimeInForce)
	}
	return nil
}

// exits sets where the exits of o stand, which would be filled at price, and
// refuses those on the wrong side of it, and those of an order that would leave
// nothing to protect. Called with mu held.
func (e *Engine) exits(o *Order, r OrderRequest, price exact.Decimal) (err error) {
	held := e.ahead.holdings[o.Symbol].Quantity
	if (r.StopLoss != Exit{} || r.TakeProfit != Exit{}) && shrinks(held, o.remaining()) {
		return refuse("bad_exit", fixIt, "the position in %s is %s, and a %s of %s only reduces it: stop_loss and take_profit belong to an order that opens a position; "+
			"to protect the position place a stop, or a limit with oco, that is reduce_only", o.Symbol, held, o.Side, o.Quantity)
	}
	if o.StopLoss, err = e.exit(o, RoleStopLoss, r.StopLoss, price); err != nil {
		return err
	}
	o.TakeProfit, err = e.exit(o, RoleTakeProfit, r.TakeProfit, price)
	return err
}

// exit is exits for one of the two; nil if there is none.
func (e *Engine) exit(o *Order, role Role, x Exit, price exact.Decimal) (*Exit, error) {
	if x == (Exit{}) {
		return nil, nil
	}
	if x.Price == 0 {
		x.Tick = e.paper.grid(o.Symbol).Tick
	}
	// The range of now is kept with the order: what it comes to must not change until
	// the entry is filled.
	if x.ATR != 0 {
		atr, known := e.atr(o.Symbol)
		distance, ok := x.ATR.Times(atr, exact.Up)
		if !ok || !known || atr == 0 {
			return nil, refuse("no_data", fixIt, "the average true range of %s is not known: give %s as a price or in percent", o.Symbol, role)
		}
		x.Distance = distance
	}
	// The profit of a buy and the loss of a sell lie above the entry, the other two
	// below it.
	above, word := (o.Side == Buy) == (role == RoleTakeProfit), "below"
	if above {
		word = "above"
	}
	at, ok := x.at(price, above)
	if !ok || at == price || (at > price) != above {
		return nil, refuse("bad_exit", fixIt, "a %s of %s does not go with an entry at %s: of a %s it is %s the entry%s", role, at, price, o.Side, word, x.inPercent())
	}
	if x.Price != 0 && far(role, at, price) {
		return nil, refuse("bad_exit", fixIt, "a %s at the price %s is very far from an entry at %s%s", role, at, price, x.inPercent())
	}
	return &x, nil
}

// inPercent says how a price that may have been meant in percent is written, "" for
// what cannot have been.
func (x Exit) inPercent() string {
	if x.Price == 0 || x.Price >= 100*exact.One {
		return ""
	}
	return fmt.Sprintf(`; a number is a price, for %s %% of the entry write "%s%%"`, x.Price, x.Price)
}

// far reports whether an exit at a price is so far from the entry that a percentage
// was meant: a stop beyond half of it, a target beyond ten times or a tenth. Who
// wants one there writes it in percent.
func far(role Role, at, entry exact.Decimal) bool {
	if role == RoleStopLoss {
		return (at - entry).Abs() > entry/2
	}
	return at/10 > entry || at < entry/10
}

// atr returns the average true range of a symbol on the closed bars of the
// engine's first interval, zero if it is not known.
func (e *Engine) atr(symbol string) (exact.Decimal, bool) {
	s, _ := e.watch.window(seriesKey{symbol, e.options.Intervals[0]})
	request, err := indicators.New("atr", nil)
	if s == nil || err != nil {
		return 0, false
	}
	if s.Forming {
		s = s.Slice(0, s.Len()-1)
	}
	lines := request.Compute(s).Lines
	if len(lines) == 0 || s.Len() == 0 || math.IsNaN(lines[0].Values[s.Len()-1]) {
		return 0, false
	}
	return exact.FromFloat(lines[0].Values[s.Len()-1])
}
