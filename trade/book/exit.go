package book

import (
	"fmt"
	"math"
	"strings"

	"wick/internal/exact"
	"wick/internal/limit"
)

// Role says what an order of a group is for.
type Role string

// The roles.
const (
	RoleStopLoss   Role = "stop_loss"
	RoleTakeProfit Role = "take_profit"
	RoleOCO        Role = "oco" // the limit or the stop of an oco
)

// Exit says where a stop_loss or a take_profit stands: at a price, or at a distance from
// the price of the entry. One of the first three fields is set; with ATR, Distance is
// what that came to when the order was accepted.
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

// ParseExit reads a price such as 94.5, or a distance from the entry: a percentage of its
// price such as 3%, below 100%, or a multiple of the average true range such as 2atr.
func ParseExit(text string) (x Exit, err error) {
	// The suffix says what the number is; without one it is a price.
	s, to := strings.ToLower(strings.ReplaceAll(text, " ", "")), &x.Price
	if number, ok := strings.CutSuffix(s, "%"); ok {
		s, to = number, &x.Percent
	} else if number, ok := strings.CutSuffix(s, "atr"); ok {
		s, to = number, &x.ATR
	}
	if *to, err = exact.Parse([]byte(s)); err != nil || *to <= 0 || x.Percent >= 100*exact.One {
		return Exit{}, Refuse("bad_exit", "%q is no place for an exit: write a price such as 94.5, or a distance from the entry, "+
			"in percent such as 3%% (above 0 and below 100) or in average true ranges such as 2atr; further away a take_profit is written as a price, and a stop_loss in average true ranges", limit.Clip(text))
	}
	return x, nil
}

// InPercent returns advice for a client that wrote a price and may have meant a
// percentage: how to write that. It is empty if x cannot have been meant so, because it is
// near the entry or not below 100.
func (x Exit) InPercent(entry exact.Decimal) string {
	if x.Price == 0 || x.Price >= 100*exact.One || !Far(RoleStopLoss, x.Price, entry) {
		return ""
	}
	return fmt.Sprintf(`; a number is a price, and a percentage the distance from the entry: for %s %% away from it write "%s%%"`, x.Price, x.Price)
}

// Written returns x, which is a distance, as a client writes it.
func (x Exit) Written() string {
	if x.Percent != 0 {
		return x.Percent.String() + "%"
	}
	return x.ATR.String() + "atr"
}

// Far reports whether an exit at a price is so far from the entry that a percentage must
// have been meant: a stop_loss more than half the entry away, a take_profit above ten times
// or below a tenth of it. A client that wants it there writes a distance.
func Far(role Role, at, entry exact.Decimal) bool {
	if role == RoleStopLoss {
		return (at - entry).Abs() > entry/2
	}
	return at/10 > entry || at < entry/10
}

// Farthest returns a text with the last price that is not too far from an entry, on the
// tick of the market.
func Farthest(role Role, entry exact.Decimal, above bool, tick exact.Decimal) string {
	switch {
	case role == RoleStopLoss && above:
		most, _ := (min(entry, math.MaxInt64-entry/2) + entry/2).Step(tick, exact.Down)
		return fmt.Sprintf("as a price it is at most %s, half of the entry away", most)
	case role == RoleStopLoss:
		least, _ := (entry - entry/2).Step(tick, exact.Up)
		return fmt.Sprintf("as a price it is at least %s, half of the entry away", least)
	case above:
		most, _ := (10 * min(entry, math.MaxInt64/10)).Step(tick, exact.Down)
		return fmt.Sprintf("as a price it is at most %s, ten times the entry", most)
	}
	least, _ := (entry / 10).Step(tick, exact.Up)
	return fmt.Sprintf("as a price it is at least %s, a tenth of the entry", least)
}

// SamePlace returns a text that says how to write an exit at a price that is far from the
// entry: in percent, or in average true ranges if the distance is not below the entry. The
// percentage is rounded down, because an exit is rounded to the tick away from its entry.
func SamePlace(at, entry exact.Decimal) string {
	share, ok := (at - entry).Abs().Over(entry, exact.Down)
	if !ok || share >= exact.One {
		return "; further away it is written in average true ranges"
	}
	return fmt.Sprintf(`; for this price write "%s%%"`, 100*share)
}
