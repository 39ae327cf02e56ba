package trade

import (
	"fmt"
	"strings"

	"wick/exact"
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

// inPercent says how a price that may have been meant in percent is written, "" for
// what cannot have been.
func (x Exit) inPercent() string {
	if x.Price == 0 || x.Price >= 100*exact.One {
		return ""
	}
	return fmt.Sprintf(`; a number is a price, for %s %% of the entry write "%s%%"`, x.Price, x.Price)
}
