//go:build unix

package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

// subscribed has a client that was there before find its subscription, and another one subscribe.
func subscribed(c *client, before bool) error {
	var sub struct {
		Subscribed bool
		Status     string
	}
	tool := "subscribe_notifications"
	if before {
		tool = "list_subscriptions" // the same client came back: it must have its subscription
	}
	if err := c.call(tool, nil, &sub); err != nil {
		return err
	}
	if !sub.Subscribed && sub.Status != "subscribed" {
		return fmt.Errorf("the subscription is lost")
	}
	return nil
}

// How many orders are read. The newest are the open ones and those that ended last: every
// start may have lost one of them. All of them are read at the end, and of replicas, which keep
// all of them in memory.
const (
	newestOrders = 11_000
	allOrders    = math.MaxInt
)

// compare compares what wick shows with what it acknowledged. Stops and limits are
// filled while it reads, so it reads again until nothing has changed meanwhile.
func (o *oracle) compare(c *client, most int) error {
	for range 100 {
		began := time.Now().Add(-200 * time.Millisecond)
		orders, err := list[order](c, "get_orders", nil, 0, most)
		if err != nil {
			return err
		}
		var positions []position
		if err := c.call("get_positions", nil, &positions); err != nil {
			return err
		}
		var changed []order
		if err := c.call("get_orders", map[string]any{"since": began.UTC().Format(time.RFC3339Nano)}, &changed); err != nil {
			return err
		}
		if len(changed) > 0 {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		if err := o.verifyOrders(orders); err != nil {
			return err
		}
		if err := o.verifyPosition(positions); err != nil {
			return err
		}
		return o.verifyAlerts(c)
	}
	return errors.New("orders change all the time although nobody trades")
}

func (o *oracle) verifyOrders(orders []order) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	shown := make(map[string]bool)
	for _, got := range orders {
		if strings.HasPrefix(got.ClientID, historyOrder) {
			continue
		}
		key := got.key()
		note := o.orders[key]
		if note == nil && got.Role != "" && got.ClientID == "" && strings.HasPrefix(got.ID, got.Group+"-") {
			note = &orderNote{} // made by wick with a fill; verifyGroups knows whether it should be there
			o.orders[key] = note
		}
		if note == nil {
			return fmt.Errorf("order %s of %q: nobody sent it", got.ID, got.ClientID)
		}
		if shown[key] {
			return fmt.Errorf("order %q is there twice", key)
		}
		if why := note.contradicts(&got); why != "" {
			return fmt.Errorf("order %q %s", key, why)
		}
		shown[key] = true
		note.seen, note.sent = &got, nil
	}
	// The oldest terminal orders leave memory.
	byID := make(map[string]*order)
	for id, note := range o.orders {
		if note.seen != nil && !shown[id] && (len(orders) < 10_000 || note.seen.open()) {
			return fmt.Errorf("order %q (%s) was acknowledged and is lost", id, note.seen.Status)
		}
		if note.seen != nil {
			byID[note.seen.ID] = note.seen
		}
	}
	for _, note := range o.orders {
		if got := note.seen; got != nil && got.Status == "cancelled" && !note.cancelSent && !got.excused(byID, time.Now()) {
			return fmt.Errorf("order %q is cancelled and nobody asked: %s", got.key(), got.Reason)
		}
	}
	return o.verifyGroups(byID)
}

// position is a position as wick shows it.
type position struct {
	Side       string
	Quantity   amount
	Price      amount `json:"current_price"`
	Unrealized amount `json:"unrealized_pnl"`
	Realized   amount `json:"realized_pnl"`
}

// verifyPosition recomputes the position from all orders ever seen:
// realized + unrealized + fees = quantity*price - what was paid, exactly. An order
// that can only reduce it must not be open without it.
func (o *oracle) verifyPosition(positions []position) error {
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
	for key, note := range o.orders {
		if got := note.seen; got != nil && got.open() && got.ReduceOnly && (quantity.Sign() == 0 || (quantity.Sign() > 0) != (got.Side == "sell")) {
			return fmt.Errorf("order %q can only reduce and is open, and the position is %s", key, quantity.FloatString(8))
		}
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
		ID     string    `json:"alert_id"`
		Client string    `json:"client_alert_id"`
		At     time.Time `json:"triggered_at"`
	}
	gone := make(map[string]string) // known before we ask: an alert may fire while we do
	o.mu.Lock()
	for id, n := range o.alerts {
		if n.fired || n.cancelled || o.delivered[id] != "" {
			gone[id] = fmt.Sprintf("fired %t, cancelled %t, pushed as %q", n.fired, n.cancelled, o.delivered[id])
		}
	}
	o.mu.Unlock()
	active, err := list[alert](c, "list_alerts", nil, 100, math.MaxInt)
	if err != nil {
		return err
	}
	var fired []alert
	for login := ""; login != c.Token; { // each login has its own place in the queue
		login = c.Token
		if fired, err = list[alert](c, "get_notifications", map[string]any{"again": true}, 0, math.MaxInt); err != nil {
			return err
		}
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
		if f.ID == "" { // of an order that ended
			continue
		}
		n := o.alert(f.ID)
		if once[f.ID] || n.cancelled {
			return fmt.Errorf("alert %s fired twice (%t) or after its cancel (%t)", f.ID, once[f.ID], n.cancelled)
		}
		if f.At.Before(n.at) {
			return fmt.Errorf("alert %s of %s fired at %s", f.ID, n.at, f.At)
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
