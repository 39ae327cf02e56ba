package trade

import (
	"strings"
	"testing"

	"wick/exact"
)

// TestRefusalsCanBeFollowed: a client follows the text of a refusal to the letter, so it
// must lead to what was meant, and say what each way does. A sell stop of 20 whose
// stop_price was written as price was once told to send type limit, which sold at once;
// with both prices two texts sent it from one type to the other and back.
func TestRefusalsCanBeFollowed(t *testing.T) {
	const (
		stop    = "type stop with stop_price 20 is to sell at the market once that falls to it"
		limited = "type limit with price 20 is to sell there or better, and at once if the market is there"
		both    = "type stop_limit takes both if the market is above 20, waits until it falls to that and is then a limit of 19"
	)
	price := func(r *OrderRequest) { r.Price = 20 * exact.One }
	stopPrice := func(r *OrderRequest) { r.StopPrice = 20 * exact.One }
	two := func(r *OrderRequest) { r.StopPrice, r.Price = 20*exact.One, 19*exact.One }
	trail := func(r *OrderRequest) { r.TrailPercent = 3 * exact.One }
	for _, c := range []struct {
		kind   OrderType
		change func(r *OrderRequest)
		want   string
	}{
		{Stop, price, "price_not_allowed: a stop order takes no price: stop_price 20 in its place is to sell once the market falls to it; " + limited + " (fix the request)"},
		{Stop, func(r *OrderRequest) { price(r); r.Side = Buy }, "stop_price 20 in its place is to buy once the market rises to it; type limit with price 20 is to buy there or better"},
		{Limit, func(r *OrderRequest) { two(r); r.Side = Buy }, `type stop_limit takes both if the market is below 20, waits until it rises to that and is then a limit of 19; a limit below the market with a stop above it is "oco":{"stop_price":20}`},
		{Stop, two, "price_not_allowed: a stop order takes no price: " + both + "; without price this is to sell at the market from there on (fix the request)"},
		{Limit, stopPrice, "price_required: a limit order needs a price and takes no stop_price: " + stop + "; " + limited + " (fix the request)"},
		{Limit, two, "stop_price_not_allowed: a limit order takes no stop_price: " + both + "; to leave at 20 what the limit has bought or sold is stop_loss 20 (fix the request)"},
		{Limit, func(r *OrderRequest) { two(r); r.StopPrice = 18 * exact.One }, `; a limit above the market with a stop below it is "oco":{"stop_price":18} (fix the request)`},
		{Market, price, "price_not_allowed: a market order takes no price: " + limited + "; " + stop + "; without price this is to sell at the market now (fix the request)"},
		{Market, stopPrice, "stop_price_not_allowed: a market order takes no stop_price: " + stop + " (fix the request)"},
		{Market, two, "price_not_allowed: a market order takes no price: " + both + " (fix the request)"},
		{TrailingStop, price, "price_not_allowed: a trailing_stop order takes no price: its stop follows the market at the distance of trail_amount or trail_percent; a stop that stays where it is has type stop and stop_price (fix the request)"},
		{TrailingStop, stopPrice, "stop_price_not_allowed: a trailing_stop order takes no stop_price: its stop follows"},
		{TrailingStop, func(*OrderRequest) {}, "bad_trail: a trailing_stop order needs its distance to the market, as trail_amount or trail_percent"},
		{TrailingStop, func(r *OrderRequest) { trail(r); r.TrailAmount = exact.One }, "bad_trail: trail_amount and trail_percent: give one of them"},
		{Market, trail, "bad_trail: a market order takes neither trail_amount nor trail_percent: they are of type trailing_stop, which for a position is an order of its own, on the other side"},
		{"iceberg", price, `bad_type: type "iceberg": write one of market, limit, stop, stop_limit, trailing_stop (fix the request)`},
		{Stop, func(r *OrderRequest) { stopPrice(r); r.PostOnly = true }, "bad_post_only: post_only is for type limit alone, not for stop"},
		{Stop, func(r *OrderRequest) { stopPrice(r); r.TimeInForce = IOC }, "a stop or a post_only order waits: leave time_in_force out"},
		// What was meant to protect a position must not end as the order that sells it.
		{Market, func(r *OrderRequest) { r.ReduceOnly, r.StopLoss.Price = true, 9*exact.One }, "to protect a position place a stop, or a limit with oco, that is reduce_only"},
		{Limit, func(r *OrderRequest) { price(r); r.OCO.StopPrice, r.TimeInForce = 9*exact.One, FOK }, "oco and fok exclude each other: both orders wait, so leave time_in_force out"},
	} {
		r := OrderRequest{Symbol: "AAA", Side: Sell, Type: c.kind, Quantity: exact.One}
		c.change(&r)
		if err := r.normalize(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with price %s and stop_price %s: %v, want %s", c.kind, r.Price, r.StopPrice, err, c.want)
		}
	}
}

// TestLimitOfAnOCOReached: the refusal does not advise to leave the stop out, because the
// limit alone would then be filled at once.
func TestLimitOfAnOCOReached(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		_, err := try(t, e, func(r *OrderRequest) {
			r.Side, r.Type, r.Price, r.OCO.StopPrice = Sell, Limit, 95*exact.One, 90*exact.One
		})
		if code(err) != "bad_oco" || !strings.Contains(err.Error(), "the limit of a sell is above the market and its stop below it") || strings.Contains(err.Error(), "leave oco out") {
			t.Error(err)
		}
	})
}
