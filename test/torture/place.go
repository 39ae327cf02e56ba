//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"time"
)

// maxResting is how many open orders are kept before one is cancelled for each
// that is placed, so that a check stays short.
const maxResting = 1500

// kinds are the orders that are placed, by name.
var kinds = []struct {
	name string
	make func(o *oracle, c *client, rng *rand.Rand, a map[string]any) bool // completes the arguments; false if there is nothing to do
}{
	{"market", func(*oracle, *client, *rand.Rand, map[string]any) bool { return true }},
	{"limit", func(o *oracle, _ *client, rng *rand.Rand, a map[string]any) bool {
		a["type"], a["price"] = "limit", o.away(rng, a["side"] == "sell")
		return hurry(rng, a)
	}},
	{"stop", func(o *oracle, _ *client, rng *rand.Rand, a map[string]any) bool {
		a["type"], a["stop_price"] = "stop", o.away(rng, a["side"] == "buy")
		return hurry(rng, a)
	}},
	{"stop_limit", func(o *oracle, _ *client, rng *rand.Rand, a map[string]any) bool {
		a["type"], a["stop_price"] = "stop_limit", o.away(rng, a["side"] == "buy")
		a["price"] = a["stop_price"] // beyond it the order becomes a limit
		return hurry(rng, a)
	}},
	{"trailing_stop", func(o *oracle, _ *client, rng *rand.Rand, a map[string]any) bool {
		a["type"], a["trail_percent"] = "trailing_stop", fmt.Sprintf("%.4f", 100*distance(rng))
		return hurry(rng, a)
	}},
	{"bracket", func(o *oracle, _ *client, rng *rand.Rand, a map[string]any) bool {
		if a["type"] = "market"; rng.IntN(2) == 0 {
			a["type"], a["price"] = "limit", o.away(rng, a["side"] == "sell")
		}
		which := rng.IntN(4) // of four brackets two have both exits
		if which != 0 {
			a["stop_loss"] = fmt.Sprintf("%.4f%%", 100*distance(rng))
		}
		if which != 1 {
			a["take_profit"] = fmt.Sprintf("%.4f%%", 100*distance(rng))
		}
		return true
	}},
	{"oco", func(o *oracle, _ *client, rng *rand.Rand, a map[string]any) bool {
		a["type"], a["price"] = "limit", o.away(rng, a["side"] == "sell")
		a["oco"] = map[string]any{"stop_price": o.away(rng, a["side"] == "buy")}
		return hurry(rng, a)
	}},
	{"reduce_only", func(o *oracle, c *client, rng *rand.Rand, a map[string]any) bool {
		a["type"], a["reduce_only"], a["side"] = "stop", true, closingSide(c)
		a["stop_price"] = o.away(rng, a["side"] == "buy")
		return a["side"] != ""
	}},
	{"all", func(o *oracle, c *client, rng *rand.Rand, a map[string]any) bool {
		a["quantity"], a["side"] = "all", closingSide(c)
		return a["side"] != "" && rng.IntN(8) == 0
	}},
	{"amend", (*oracle).amend},
	{"when", onRule},
}

// distance returns a random distance of a price from the market, as a part of the price.
// It is evenly distributed on a logarithmic scale, from a move that takes a second to one
// that no run sees.
func distance(rng *rand.Rand) float64 { return 1e-5 * math.Pow(1000, rng.Float64()) }

// away returns a price at a random distance above or below the newest price that was paid.
func (o *oracle) away(rng *rand.Rand, above bool) string {
	d := distance(rng)
	if !above {
		d = -d
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	factor := new(big.Rat).SetFloat64(1 + d)
	return factor.Mul(factor, &o.price).FloatString(6)
}

// hurry gives some orders, at random, a time at which they end. It always returns true.
func hurry(rng *rand.Rand, a map[string]any) bool {
	switch rng.IntN(8) {
	case 0:
		a["time_in_force"] = "day"
	case 1, 2:
		a["time_in_force"], a["expires_at"] = "gtd", time.Now().Add(time.Duration(1+rng.IntN(4000))*time.Millisecond).UTC().Format(time.RFC3339Nano)
	case 3:
		if a["type"] == "limit" && a["oco"] == nil {
			a["time_in_force"] = []string{"ioc", "fok"}[rng.IntN(2)]
		}
	}
	return true
}

// closingSide returns the side that reduces the position, empty if there is none.
func closingSide(c *client) string {
	var positions []struct{ Side string }
	switch err := c.call("get_positions", nil, &positions); {
	case err != nil || len(positions) == 0:
		return ""
	case positions[0].Side == "short":
		return "buy"
	}
	return "sell"
}

// amend replaces a resting order, perhaps an exit, by one at another price.
func (o *oracle) amend(_ *client, rng *rand.Rand, a map[string]any) bool {
	o.mu.Lock()
	if len(o.resting) == 0 {
		o.mu.Unlock()
		return false
	}
	old := o.resting[rng.IntN(len(o.resting))].seen
	o.mu.Unlock()
	a["replaces"], a["type"], a["side"], a["quantity"] = old.ID, old.Type, old.Side, old.Quantity.FloatString(8)
	switch {
	case old.Type == "trailing_stop":
		a["trail_percent"] = fmt.Sprintf("%.4f", 100*distance(rng))
	case old.Type == "limit":
		a["price"] = o.away(rng, old.Side == "sell")
	default:
		a["stop_price"] = o.away(rng, old.Side == "buy")
	}
	if old.Type == "stop_limit" {
		a["price"] = a["stop_price"]
	}
	// What protects it or ends it has to be named again.
	if old.TIF != "" {
		a["time_in_force"] = old.TIF
	}
	if old.TIF == "gtd" {
		a["expires_at"] = old.ExpiresAt.Format(time.RFC3339Nano)
	}
	for name, text := range map[string]json.RawMessage{"stop_loss": old.StopLoss, "take_profit": old.TakeProfit} {
		var exit struct{ Percent json.Number }
		if old.Broker == "paper" && json.Unmarshal(text, &exit) == nil && exit.Percent != "" {
			a[name] = exit.Percent.String() + "%"
		}
	}
	return true
}

// place places an order of a random kind under a client_order_id.
func (o *oracle) place(c *client, rng *rand.Rand, id string) bool {
	a := map[string]any{"symbol": "BTCUSDT", "side": []string{"buy", "sell"}[rng.IntN(2)], "type": "market",
		"quantity": fmt.Sprintf("0.%08d", 1+rng.IntN(1000000)), "client_order_id": id}
	o.mu.Lock()
	kind, known := kinds[0], o.price.Sign() > 0
	o.mu.Unlock()
	if known && rng.IntN(3) > 0 {
		kind = kinds[rng.IntN(len(kinds))]
	}
	if !kind.make(o, c, rng, a) {
		return true
	}
	// Half of the orders may turn a position around; the others against it are exits.
	if a["reduce_only"] == nil && a["quantity"] != "all" && rng.IntN(2) == 0 {
		a["may_open"] = true
	}
	note := &orderNote{sent: sent(a)}
	o.mu.Lock()
	o.orders[id] = note
	o.mu.Unlock()
	var text json.RawMessage
	if err := c.call("place_order", a, &text); err != nil {
		o.mu.Lock()
		note.refused = errors.Is(err, errTool)
		o.mu.Unlock()
		return o.note(err)
	}
	var got order
	var more struct{ Exits []order }
	err := errors.Join(json.Unmarshal(text, &got), json.Unmarshal(text, &more))
	o.acknowledge(got, more.Exits...)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.placed[kind.name]++; err != nil && o.wrong == nil {
		o.wrong = err
	}
	return true
}

// acknowledge notes an order that wick has acknowledged, and the orders that it
// made with it.
func (o *oracle) acknowledge(got order, exits ...order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acked++
	if got.Filled.Sign() > 0 {
		o.price.Set(&got.Average.Rat)
	}
	for _, got := range append([]order{got}, exits...) {
		if o.gone[got.ID] && o.wrong == nil {
			o.wrong = fmt.Errorf("order id %s was given out again after a restore", got.ID)
		}
		note := o.orders[got.key()]
		if note == nil {
			note = &orderNote{}
			o.orders[got.key()] = note
		}
		if note.seen = &got; got.open() {
			o.resting = append(o.resting, note)
		}
	}
}

// cancelOrder cancels the oldest open order that nobody has tried to cancel.
func (o *oracle) cancelOrder(c *client) bool {
	o.mu.Lock()
	if len(o.resting) == 0 {
		o.mu.Unlock()
		return true
	}
	target := o.resting[0]
	o.resting, target.cancelSent = o.resting[1:], true
	o.mu.Unlock()
	var done struct{ OK bool }
	if err := c.call("cancel_order", map[string]any{"order_id": target.seen.ID}, &done); err != nil {
		return o.note(err) // refused: it was filled, or has ended, meanwhile
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acked++
	target.cancelled = true
	return true
}

// counts returns how many orders of each kind were acknowledged.
func (o *oracle) counts() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return fmt.Sprint(o.placed)
}
