package trade

import (
	"testing"

	"wick/internal/exact"
	"wick/trade/book"
)

// TestEstimateWithoutPrice: a market order of which no price is known has none in its
// estimate, and so no place for exits that stand at a distance from it.
func TestEstimateWithoutPrice(t *testing.T) {
	far := &book.Exit{ATR: 2 * exact.One, Distance: 4 * exact.One}
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for _, side := range []book.Side{book.Buy, book.Sell} {
			o := book.Order{Symbol: "NOBODY", Side: side, Type: book.Market, Quantity: exact.One, Status: book.StatusOpen, StopLoss: far, TakeProfit: far}
			if got := e.Estimate(o); got != (book.Estimate{}) {
				t.Errorf("a %s without a price: %+v, want nothing", side, got)
			}
		}
	})
}

// TestEstimateIsOfOneFill: price and fee of an estimate are those of the fill that the
// order then has, but for the slippage. By hand, at a fee of 0.1 % and a maker's of
// 0.02 %, slippage 0.05 %: a stop_limit whose limit is beyond its stop is filled at the
// stop and takes, one whose limit the stop has passed rests at the limit.
func TestEstimateIsOfOneFill(t *testing.T) {
	for _, c := range []struct {
		name        string
		side        book.Side
		stop, limit string
		notional    string
		way         []float64 // of the market, from 100
		price, fee  string    // estimated
		filled, pay string
	}{
		{"a sell that takes", book.Sell, "98", "75", "150", []float64{97}, "98", "0.196", "97.951", "0.195902"},
		{"a buy that takes", book.Buy, "102", "103", "206", []float64{103}, "102", "0.204", "102.051", "0.204102"},
		{"a buy that rests", book.Buy, "102", "99", "198", []float64{103, 97}, "99", "0.0396", "99", "0.0396"},
		{"a sell that rests", book.Sell, "98", "99", "198", []float64{97, 101}, "99", "0.0396", "99", "0.0396"},
	} {
		fees := func(o *Options) {
			maker := exact.One / 5000
			o.FeeRate, o.MakerFeeRate, o.Slippage = exact.One/1000, &maker, exact.One/2000
		}
		inBubble(t, fees, func(t *testing.T, e *Engine) {
			walk(e, 100, minute(0, 100, 100, 100, 100))
			order := func(r *book.OrderRequest) {
				r.Side, r.Type, r.Quantity, r.Notional = c.side, book.StopLimit, 0, dec(t, c.notional)
				r.StopPrice, r.Price = dec(t, c.stop), dec(t, c.limit)
			}
			x := e.Estimate(ask(t, e, func(r *book.OrderRequest) { order(r); r.DryRun = true }))
			if x.Price.String() != c.price || x.Fee.String() != c.fee {
				t.Errorf("%s: %+v, want %s with a fee of %s", c.name, x, c.price, c.fee)
			}
			id, from := ask(t, e, order).ID, 100.0
			for _, to := range c.way {
				walk(e, from, minute(0, from, max(from, to), min(from, to), to))
				from = to
			}
			if o, err := e.Order(id); err != nil || o.Quantity.String() != "2" || show(o.AveragePrice) != c.filled || o.Fee.String() != c.pay {
				t.Errorf("%s: %+v, %v; want 2 at %s with a fee of %s", c.name, o, err, c.filled, c.pay)
			}
		})
	}
}

// TestWorthOutOfRange: what is worth more than exact numbers hold is worth nothing that could
// be said.
func TestWorthOutOfRange(t *testing.T) {
	x := book.Estimate{Price: 90_000_000_000 * exact.One, Quantity: 2 * exact.One}
	if worth, ok := x.Worth(); ok {
		t.Errorf("worth %s, want that it is out of range", worth)
	}
}

// TestEstimateAtOnce: what is filled at once is estimated whole, at the slipped price and the
// taker's fee, an ioc or fok that the market has not reached at nothing. By hand, 30 at 100.05
// are 3001.5, of which 0.1 % are 3.0015, and 3 % below 100.05 is 97.0485.
func TestEstimateAtOnce(t *testing.T) {
	fees := func(o *Options) {
		maker := exact.One / 2000
		o.FeeRate, o.MakerFeeRate, o.Slippage = exact.One/1000, &maker, exact.One/2000
	}
	inBubble(t, fees, func(t *testing.T, e *Engine) {
		for _, c := range []struct {
			name                     string
			change                   func(*book.OrderRequest)
			worth, fee, filled, loss string
		}{
			{"market", func(r *book.OrderRequest) { r.StopLoss = book.Exit{Percent: 3 * exact.One} }, "3001.5", "3.0015", "30", "97.0485"},
			{"limit", func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 140*exact.One }, "3001.5", "3.0015", "30", "0"},
			{"market fok", func(r *book.OrderRequest) { r.TimeInForce = book.FOK }, "3001.5", "3.0015", "30", "0"},
			{"limit that rests", func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 90*exact.One }, "2700", "1.35", "0", "0"},
			{"limit ioc, not reached", func(r *book.OrderRequest) { r.Type, r.Price, r.TimeInForce = book.Limit, 90*exact.One, book.IOC }, "0", "0", "0", "0"},
			{"limit fok, not reached", func(r *book.OrderRequest) { r.Type, r.Price, r.TimeInForce = book.Limit, 90*exact.One, book.FOK }, "0", "0", "0", "0"},
		} {
			o := ask(t, e, func(r *book.OrderRequest) { r.Quantity, r.DryRun = 30*exact.One, true; c.change(r) })
			x := e.Estimate(o)
			if worth, ok := x.Worth(); !ok || worth.String() != c.worth || x.Fee.String() != c.fee || o.FilledQuantity.String() != c.filled || x.StopLoss.String() != c.loss {
				t.Errorf("%s: %s filled, worth %s, %+v; want %s with a fee of %s and a stop at %s", c.name, o.FilledQuantity, worth, x, c.worth, c.fee, c.loss)
			}
		}
	})
}

// TestEstimateBeside: of an oco each of the two has its own estimate. By hand, 3 at a
// maker's fee of 0.02 % and one of 0.1 %: 3*97.9*0.0002 = 0.05874, 3*110*0.001 = 0.33.
func TestEstimateBeside(t *testing.T) {
	maker := exact.One / 5000
	inBubble(t, func(o *Options) { o.FeeRate, o.MakerFeeRate = exact.One/1000, &maker }, func(t *testing.T, e *Engine) {
		with := book.OCO{StopPrice: 110 * exact.One}
		o := ask(t, e, func(r *book.OrderRequest) {
			r.Type, r.Quantity, r.Price, r.OCO, r.DryRun = book.Limit, 3*exact.One, dec(t, "97.9"), with, true
		})
		limit, stop := e.Estimate(o), e.EstimateBeside(o, with)
		if limit.Price.String() != "97.9" || limit.Fee.String() != "0.05874" || stop.Price.String() != "110" || stop.Fee.String() != "0.33" {
			t.Errorf("the limit %+v, the stop %+v; want 97.9 with a fee of 0.05874, and 110 with 0.33", limit, stop)
		}
		with.Price = 109 * exact.One // the market is beyond it at 110: it rests there
		if stop = e.EstimateBeside(o, with); stop.Price.String() != "109" || stop.Fee.String() != "0.0654" {
			t.Errorf("a stop_limit beside it: %+v, want 109 with a fee of 0.0654", stop)
		}
	})
}

// TestArrival: with slippage of 5 % at 100 a market order gets 95 or pays 105; a limit that the
// market has passed gets at most 100, since what waits is filled without slippage, or pays at
// most 105; and one that is not reached arrives nowhere.
func TestArrival(t *testing.T) {
	inBubble(t, func(o *Options) { o.Slippage = exact.One / 20 }, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		for _, c := range []struct {
			side  book.Side
			limit exact.Decimal
			want  string
		}{{book.Sell, 0, "95"}, {book.Buy, 0, "105"}, {book.Sell, 50, "100"}, {book.Sell, 97, "100"}, {book.Buy, 150, "105"}, {book.Sell, 120, "0"}, {book.Buy, 80, "0"}} {
			o := book.Order{Symbol: "AAA", Side: c.side, Type: book.Market, Quantity: exact.One}
			if c.limit != 0 {
				price := c.limit * exact.One
				o.Type, o.Price = book.Limit, &price
			}
			if got := e.Arrival(o); got.String() != c.want {
				t.Errorf("%s at %d: %s, want %s", c.side, c.limit, got, c.want)
			}
		}
	})
}

// TestArrivalBesideQuote: the source tells a price of 100, a bid of 90 and an ask of 110;
// what arrives takes from bid and ask, but what waits, because the bid has not come to its
// limit, is filled by trades: a sell limit of 60 or 95 may get 100, the latter
// though nothing of it would be filled at once.
func TestArrivalBesideQuote(t *testing.T) {
	inBubble(t, func(o *Options) { o.Feed, o.Quoted = quoted(90, 110), true }, func(t *testing.T, e *Engine) {
		for _, c := range []struct {
			side  book.Side
			limit exact.Decimal
			want  string
		}{{book.Sell, 0, "90"}, {book.Buy, 0, "110"}, {book.Sell, 60, "100"}, {book.Sell, 95, "100"}, {book.Sell, 101, "0"}, {book.Buy, 120, "110"}, {book.Buy, 105, "100"}, {book.Buy, 99, "0"}} {
			o := ask(t, e, func(r *book.OrderRequest) {
				r.Side, r.Quantity, r.DryRun = c.side, exact.One, true
				if c.limit != 0 {
					r.Type, r.Price = book.Limit, c.limit*exact.One
				}
			})
			if got := e.Arrival(o); got.String() != c.want {
				t.Errorf("%s at %d: %s, want %s", c.side, c.limit, got, c.want)
			}
		}
	})
}
