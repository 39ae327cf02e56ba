package main

import (
	"fmt"
	"math/big"
	"strings"
)

// verify compares what wick shows with what it acknowledged.
func (o *oracle) verify(c *client, subscribed bool) error {
	var sub struct {
		Subscribed bool
		Status     string
	}
	tool := "subscribe_notifications"
	if subscribed {
		tool = "list_subscriptions" // the same client came back: it must have its subscription
	}
	if err := c.call(tool, nil, &sub); err != nil {
		return err
	}
	if !sub.Subscribed && sub.Status != "subscribed" {
		return fmt.Errorf("the subscription is lost")
	}
	return o.compare(c)
}

// compare is verify for a client that has no subscription.
func (o *oracle) compare(c *client) error {
	orders, err := list[order](c, "get_orders", nil, 0)
	if err != nil {
		return err
	}
	if err := o.verifyOrders(orders); err != nil {
		return err
	}
	if err := o.verifyPosition(c); err != nil {
		return err
	}
	return o.verifyAlerts(c)
}

func (o *oracle) verifyOrders(orders []order) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	shown := make(map[string]bool)
	for _, got := range orders {
		if strings.HasPrefix(got.ClientID, historyOrder) {
			continue
		}
		note := o.orders[got.ClientID]
		switch {
		case note == nil:
			return fmt.Errorf("order %s of %q: nobody sent it", got.ID, got.ClientID)
		case note.refused:
			return fmt.Errorf("order %q was refused and is there", got.ClientID)
		case shown[got.ClientID]:
			return fmt.Errorf("order %q is there twice", got.ClientID)
		case note.seen != nil && (note.seen.ID != got.ID || (note.seen.Status != "open" && note.seen.Status != got.Status) || note.seen.Average.Cmp(&got.Average.Rat) != 0 && note.seen.Status == "filled"):
			return fmt.Errorf("order %q was acknowledged as %+v and is %+v", got.ClientID, note.seen, got)
		case note.cancelled && got.Status != "cancelled":
			return fmt.Errorf("order %q was acknowledged as cancelled and is %s", got.ClientID, got.Status)
		case got.Status == "cancelled" && !note.cancelSent:
			return fmt.Errorf("order %q is cancelled and nobody asked", got.ClientID)
		}
		shown[got.ClientID] = true
		note.seen = &got
	}
	// The oldest terminal orders leave the list for the archive.
	for id, note := range o.orders {
		if note.seen != nil && !shown[id] && (len(orders) < 10_000 || note.seen.Status == "open") {
			return fmt.Errorf("order %q (%s) was acknowledged and is lost", id, note.seen.Status)
		}
	}
	return nil
}

// verifyPosition recomputes the position from all orders ever seen:
// realized + unrealized + fees = quantity*price - what was paid, exactly.
func (o *oracle) verifyPosition(c *client) error {
	var positions []struct {
		Side       string
		Quantity   amount
		Price      amount `json:"current_price"`
		Unrealized amount `json:"unrealized_pnl"`
		Realized   amount `json:"realized_pnl"`
	}
	if err := c.call("get_positions", nil, &positions); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	quantity, paid, fees := new(big.Rat), new(big.Rat), new(big.Rat)
	for _, note := range o.orders {
		if note.seen == nil {
			continue
		}
		filled := new(big.Rat).Set(&note.seen.Filled.Rat)
		if note.seen.Side == "sell" {
			filled.Neg(filled)
		}
		quantity.Add(quantity, filled)
		paid.Add(paid, filled.Mul(filled, &note.seen.Average.Rat))
		fees.Add(fees, &note.seen.Fee.Rat)
	}
	if len(positions) == 0 {
		if quantity.Sign() != 0 {
			return fmt.Errorf("no position is shown, the orders make %s", quantity.FloatString(8))
		}
		return nil
	}
	p := &positions[0]
	if p.Side == "short" {
		p.Quantity.Neg(&p.Quantity.Rat)
	}
	left := new(big.Rat).Add(&p.Realized.Rat, &p.Unrealized.Rat)
	left.Add(left, fees)
	right := new(big.Rat).Mul(&p.Quantity.Rat, &p.Price.Rat)
	right.Sub(right, paid)
	if p.Quantity.Cmp(quantity) != 0 || left.Cmp(right) != 0 {
		return fmt.Errorf("position %s, the orders make %s; realized, unrealized and fees are %s, they must be %s",
			p.Quantity.FloatString(8), quantity.FloatString(8), left.FloatString(16), right.FloatString(16))
	}
	return nil
}

// verifyAlerts: every acknowledged alert is active, fired or cancelled, and
// only one of them.
func (o *oracle) verifyAlerts(c *client) error {
	type alert struct {
		ID     string `json:"alert_id"`
		Client string `json:"client_alert_id"`
	}
	gone := make(map[string]string) // known before we ask: an alert may fire while we do
	o.mu.Lock()
	for id, n := range o.alerts {
		if n.fired || n.cancelled || o.delivered[id] != "" {
			gone[id] = fmt.Sprintf("fired %t, cancelled %t, pushed as %q", n.fired, n.cancelled, o.delivered[id])
		}
	}
	o.mu.Unlock()
	active, err := list[alert](c, "list_alerts", nil, 100)
	if err != nil {
		return err
	}
	fired, err := list[alert](c, "get_notifications", map[string]any{"again": true}, 0)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	shown := make(map[string]bool)
	for _, a := range active {
		if strings.HasPrefix(a.Client, historyAlert) {
			continue
		}
		if o.alert(a.ID); shown[a.ID] || gone[a.ID] != "" {
			return fmt.Errorf("alert %s is active, and before: %s, listed %t", a.ID, gone[a.ID], shown[a.ID])
		}
		shown[a.ID] = true
	}
	once := make(map[string]bool)
	for _, f := range fired {
		n := o.alert(f.ID)
		if once[f.ID] || n.cancelled {
			return fmt.Errorf("alert %s fired twice (%t) or after its cancel (%t)", f.ID, once[f.ID], n.cancelled)
		}
		once[f.ID], n.fired = true, true
	}
	for id, n := range o.alerts {
		if !shown[id] && !n.fired && !n.cancelled && !n.cancelSent {
			return fmt.Errorf("alert %s was acknowledged and is lost", id)
		}
		if n.cancelSent && !shown[id] && !n.fired {
			n.cancelled = true // the answer was lost, the cancel was not
		}
	}
	return o.wrong
}
