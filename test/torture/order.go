//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// order is an order as wick shows it; numbers stay exact.
type order struct {
	ID         string          `json:"order_id"`
	Broker     string          `json:"broker"`
	ClientID   string          `json:"client_order_id"` // empty in exits and in the stop of an oco, which wick makes
	Type       string          `json:"type"`
	Side       string          `json:"side"`
	Status     string          `json:"status"`
	Reason     string          `json:"reason"`
	ReasonCode string          `json:"reason_code"`
	Quantity   amount          `json:"quantity"`
	Filled     amount          `json:"filled_quantity"`
	Average    amount          `json:"average_price"`
	Fee        amount          `json:"fee"`
	TIF        string          `json:"time_in_force"`
	ExpiresAt  *time.Time      `json:"expires_at"`
	PriceAt    *time.Time      `json:"price_at"`
	ReduceOnly bool            `json:"reduce_only"`
	Replaces   string          `json:"replaces"`
	CreatedAt  time.Time       `json:"created_at"`
	When       *condition      `json:"when"`
	Group      string          `json:"group"`
	Role       string          `json:"role"`
	StopLoss   json.RawMessage `json:"stop_loss"`
	TakeProfit json.RawMessage `json:"take_profit"`

	terms string // what was ordered, which never changes: " type=limit price=5 "
}

// termNames are the members of an order that never change, as a request has them
// too. The stop_price of a trailing stop does change.
var termNames = []string{"type", "side", "quantity", "price", "stop_price", "trail_percent", "time_in_force", "reduce_only", "replaces"}

func (o *order) UnmarshalJSON(text []byte) error {
	type plain order
	if err := json.Unmarshal(text, (*plain)(o)); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	o.terms = " "
	for _, name := range append(termNames, "expires_at", "group", "role", "stop_loss", "take_profit") {
		if value := string(all[name]); value != "" && value != "null" && !(name == "stop_price" && o.Type == "trailing_stop") {
			o.terms += term(name, strings.Trim(value, `"`))
		}
	}
	return nil
}

// term writes one of the terms. Equal numbers are written in the same way.
func term(name, value string) string {
	if n, ok := new(big.Rat).SetString(value); ok {
		value = n.RatString()
	}
	return name + "=" + value + " "
}

// sent returns the terms of a request.
func sent(arguments map[string]any) (terms []string) {
	for _, name := range termNames {
		if value := arguments[name]; value != nil && value != "all" {
			terms = append(terms, " "+term(name, fmt.Sprint(value)))
		}
	}
	return terms
}

// key returns the key of an order in the oracle.
func (o *order) key() string {
	if o.ClientID == "" {
		return o.ID
	}
	return o.ClientID
}

// group returns the order_id that the members of a group share, also for the entry
// of a bracket.
func (o *order) group() string {
	if o.Group == "" {
		return o.ID
	}
	return o.Group
}

func (o *order) open() bool { return o.Status == "open" }

// amount is an exact number of JSON; null is zero.
type amount struct{ big.Rat }

func (a *amount) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	if _, ok := a.SetString(string(text)); !ok {
		return fmt.Errorf("bad number %s", text)
	}
	return nil
}

// contradicts says how an order that wick shows differs from what is known about it; the
// text is empty if it does not.
func (n *orderNote) contradicts(got *order) string {
	for _, t := range n.sent {
		if !strings.Contains(got.terms, t) {
			return fmt.Sprintf("was sent with%s and has%s", t, got.terms)
		}
	}
	was := n.seen
	switch {
	case n.refused:
		return "was refused and is there"
	case n.cancelled && got.Status != "cancelled":
		return "was acknowledged as cancelled and is " + got.Status
	case got.ExpiresAt != nil && got.PriceAt != nil && got.PriceAt.After(*got.ExpiresAt):
		return fmt.Sprintf("ended at %s and was filled at a price of %s", got.ExpiresAt, got.PriceAt)
	case was == nil, came(was, got):
		return ""
	case was.ID != got.ID || was.terms != got.terms:
		return fmt.Sprintf("was %s with%s and is %s with%s", was.ID, was.terms, got.ID, got.terms)
	case !was.open() && (was.Status != got.Status || was.Filled.Cmp(&got.Filled.Rat) != 0 || was.Average.Cmp(&got.Average.Rat) != 0 || was.Fee.Cmp(&got.Fee.Rat) != 0):
		return fmt.Sprintf("was acknowledged as %+v and is %+v", was, got)
	}
	return ""
}

// excused reports whether an order may be cancelled although nobody asked: what
// its reason names must have happened.
func (o *order) excused(byID map[string]*order, now time.Time) bool {
	another := func(did func(*order) bool) bool {
		for _, other := range byID {
			if other != o && did(other) {
				return true
			}
		}
		return false
	}
	switch o.ReasonCode {
	case "replaced":
		return another(func(other *order) bool { return other.Replaces == o.ID })
	case "other_filled":
		return another(func(other *order) bool { return other.Filled.Sign() > 0 && other.group() == o.group() })
	case "other_ended":
		return another(func(other *order) bool { return other.Status == "cancelled" && other.group() == o.group() })
	case "expired":
		return o.ExpiresAt != nil && !o.ExpiresAt.After(now)
	case "nothing_to_reduce", "rest_not_reducing":
		return o.ReduceOnly
	case "rest_refused": // it closed a position, and was not let open one
		return o.Filled.Sign() > 0
	case "too_late":
		return o.When != nil && o.When.Skip
	case "not_reached":
		return o.TIF == "ioc" || o.TIF == "fok"
	}
	return false
}
