package trade

import (
	"strings"
	"testing"

	"wick/internal/exact"
	"wick/trade/book"
)

// TestRefusalsCanBeFollowed: a client follows the text of a refusal to the letter, so it
// says what each price does, and does not advise another type. A sell stop of 20 whose
// stop_price was written as price was once told to send type limit, which sold at once.
func TestRefusalsCanBeFollowed(t *testing.T) {
	const which = ": price is the limit of a limit or stop_limit order, which fills at once where the market has reached it; " +
		"stop_price is where the market triggers a stop or stop_limit order; trail_amount or trail_percent is the distance of a trailing_stop (fix the request)"
	price := func(r *book.OrderRequest) { r.Price = 20 * exact.One }
	stopPrice := func(r *book.OrderRequest) { r.StopPrice = 20 * exact.One }
	two := func(r *book.OrderRequest) { r.StopPrice, r.Price = 20*exact.One, 19*exact.One }
	trail := func(r *book.OrderRequest) { r.TrailPercent = 3 * exact.One }
	for _, c := range []struct {
		kind   book.OrderType
		change func(r *book.OrderRequest)
		want   string
	}{
		{book.Stop, price, "price_not_allowed: a stop order takes no price" + which},
		{book.Stop, two, "price_not_allowed: a stop order takes no price" + which},
		{book.Limit, stopPrice, "price_required: a limit order needs a price and takes no stop_price" + which},
		{book.Limit, two, "stop_price_not_allowed: a limit order takes no stop_price" + which},
		{book.Market, price, "price_not_allowed: a market order takes no price" + which},
		{book.Market, stopPrice, "stop_price_not_allowed: a market order takes no stop_price" + which},
		{book.TrailingStop, price, "price_not_allowed: a trailing_stop order takes no price" + which},
		{book.TrailingStop, stopPrice, "stop_price_not_allowed: a trailing_stop order takes no stop_price" + which},
		{book.TrailingStop, func(*book.OrderRequest) {}, "bad_trail: a trailing_stop order needs its distance to the market, as trail_amount or trail_percent"},
		{book.TrailingStop, func(r *book.OrderRequest) { trail(r); r.TrailAmount = exact.One }, "bad_trail: trail_amount and trail_percent: give one of them"},
		{book.Market, trail, "bad_trail: a market order takes neither trail_amount nor trail_percent: they are of type trailing_stop, which for a position is an order of its own, on the other side"},
		{"iceberg", price, `bad_type: type "iceberg": write one of market, limit, stop, stop_limit, trailing_stop (fix the request)`},
		{book.Stop, func(r *book.OrderRequest) { stopPrice(r); r.PostOnly = true }, "bad_post_only: post_only is for type limit alone, not for stop"},
		{book.Stop, func(r *book.OrderRequest) { stopPrice(r); r.TimeInForce = book.IOC }, "a stop or a post_only order waits: leave time_in_force out"},
		// What was meant to protect a position must not end as the order that sells it.
		{book.Market, func(r *book.OrderRequest) { r.ReduceOnly, r.StopLoss.Price = true, 9*exact.One }, "to protect a position place a stop, or a limit with oco, that is reduce_only"},
		{book.Limit, func(r *book.OrderRequest) { price(r); r.OCO.StopPrice, r.TimeInForce = 9*exact.One, book.FOK }, "oco and fok exclude each other: both orders wait, so leave time_in_force out"},
	} {
		r := book.OrderRequest{Symbol: "AAA", Side: book.Sell, Type: c.kind, Quantity: exact.One}
		c.change(&r)
		if err := r.Normalize(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with price %s and stop_price %s: %v, want %s", c.kind, r.Price, r.StopPrice, err, c.want)
		}
	}
}

// TestLimitOfAnOCOReached: the refusal does not advise to leave the stop out, because the
// limit alone would then be filled at once.
func TestLimitOfAnOCOReached(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		_, err := try(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.Price, r.OCO.StopPrice = book.Sell, book.Limit, 95*exact.One, 90*exact.One
		})
		if code(err) != "bad_oco" || !strings.Contains(err.Error(), "the limit of a sell is above the market and its stop below it") || strings.Contains(err.Error(), "leave oco out") {
			t.Error(err)
		}
	})
}
