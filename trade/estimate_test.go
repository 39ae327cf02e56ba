package trade

import (
	"cmp"
	"strings"
	"testing"

	"wick/exact"
)

// TestEstimateWithoutPrice: a market order of which no price is known has none in its
// estimate, and so no place for exits that stand at a distance from it.
func TestEstimateWithoutPrice(t *testing.T) {
	far := &Exit{ATR: 2 * exact.One, Distance: 4 * exact.One}
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for _, side := range []Side{Buy, Sell} {
			o := Order{Symbol: "NOBODY", Side: side, Type: Market, Quantity: exact.One, Status: StatusOpen, StopLoss: far, TakeProfit: far}
			if got := e.Estimate(o); got != (Estimate{}) {
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
		side        Side
		stop, limit string
		notional    string
		way         []float64 // of the market, from 100
		price, fee  string    // estimated
		filled, pay string
	}{
		{"a sell that takes", Sell, "98", "75", "150", []float64{97}, "98", "0.196", "97.951", "0.195902"},
		{"a buy that takes", Buy, "102", "103", "206", []float64{103}, "102", "0.204", "102.051", "0.204102"},
		{"a buy that rests", Buy, "102", "99", "198", []float64{103, 97}, "99", "0.0396", "99", "0.0396"},
		{"a sell that rests", Sell, "98", "99", "198", []float64{97, 101}, "99", "0.0396", "99", "0.0396"},
	} {
		fees := func(o *Options) {
			maker := exact.One / 5000
			o.FeeRate, o.MakerFeeRate, o.Slippage = exact.One/1000, &maker, exact.One/2000
		}
		inBubble(t, fees, func(t *testing.T, e *Engine) {
			walk(e, 100, minute(0, 100, 100, 100, 100))
			order := func(r *OrderRequest) {
				r.Side, r.Type, r.Quantity, r.Notional = c.side, StopLimit, 0, dec(t, c.notional)
				r.StopPrice, r.Price = dec(t, c.stop), dec(t, c.limit)
			}
			x := e.Estimate(ask(t, e, func(r *OrderRequest) { order(r); r.DryRun = true }))
			if x.Price.String() != c.price || x.Fee.String() != c.fee || x.Thin {
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

// TestWorthOutOfRange: a part of 1 at 100 and a rest that is worth more than exact numbers
// hold are worth nothing that could be said.
func TestWorthOutOfRange(t *testing.T) {
	x := Estimate{Price: 100 * exact.One, Rest: 90_000_000_000 * exact.One}
	if worth, ok := x.Worth(Order{Quantity: 3 * exact.One, FilledQuantity: exact.One}); ok {
		t.Errorf("worth %s, want that it is out of range", worth)
	}
}

// TestEstimateBeside: of an oco each of the two has its own estimate. By hand, 3 at a
// maker's fee of 0.02 % and one of 0.1 %: 3*97.9*0.0002 = 0.05874, 3*110*0.001 = 0.33.
func TestEstimateBeside(t *testing.T) {
	maker := exact.One / 5000
	inBubble(t, func(o *Options) { o.FeeRate, o.MakerFeeRate = exact.One/1000, &maker }, func(t *testing.T, e *Engine) {
		with := OCO{StopPrice: 110 * exact.One}
		o := ask(t, e, func(r *OrderRequest) {
			r.Type, r.Quantity, r.Price, r.OCO, r.DryRun = Limit, 3*exact.One, dec(t, "97.9"), with, true
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

// TestEstimateThin: in a minute whose volume is used up, a market order is estimated at
// the price of now, and an order that the market has reached says that it lacks volume. An
// order that does not wait for more costs nothing. By hand: 100 with slippage of 0.05 % is
// 100.05, and 3 % below that is 97.0485.
func TestEstimateThin(t *testing.T) {
	thin := func(o *Options) {
		maker := exact.One / 5000
		o.Participation, o.FeeRate, o.MakerFeeRate, o.Slippage = exact.One, exact.One/1000, &maker, exact.One/2000
	}
	inBubble(t, thin, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		traded(e, 0, 100, 10)
		if o := place(t, e, Buy, Market, "10", ""); o.Status != StatusFilled {
			t.Fatalf("the order that uses up the volume: %+v, want it filled", o)
		}
		two := 2 * exact.One
		for _, c := range []struct {
			name   string
			change func(*OrderRequest)
			want   Estimate
		}{
			{"market", func(r *OrderRequest) { r.StopLoss = Exit{Percent: 3 * exact.One} }, Estimate{Price: dec(t, "100.05"), Quantity: two, Fee: dec(t, "0.2001"), StopLoss: dec(t, "97.0485"), Thin: true}},
			{"market fok", func(r *OrderRequest) { r.TimeInForce = FOK }, Estimate{Price: dec(t, "100.05"), Thin: true}},
			{"limit, reached", func(r *OrderRequest) { r.Type, r.Price = Limit, 110*exact.One }, Estimate{Price: dec(t, "110"), Quantity: two, Fee: dec(t, "0.044"), Thin: true}}, // it rests
			{"limit ioc, reached", func(r *OrderRequest) { r.Type, r.Price, r.TimeInForce = Limit, 110*exact.One, IOC }, Estimate{Price: dec(t, "110"), Thin: true}},
			{"limit ioc, not reached", func(r *OrderRequest) { r.Type, r.Price, r.TimeInForce = Limit, 90*exact.One, IOC }, Estimate{Price: dec(t, "90")}},
			{"limit, not reached", func(r *OrderRequest) { r.Type, r.Price = Limit, 90*exact.One }, Estimate{Price: dec(t, "90"), Quantity: two, Fee: dec(t, "0.036")}},
		} {
			o := ask(t, e, func(r *OrderRequest) { r.Quantity, r.DryRun = two, true; c.change(r) })
			if got := e.Estimate(o); got != c.want {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
			}
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
			side  Side
			limit exact.Decimal
			want  string
		}{{Sell, 0, "95"}, {Buy, 0, "105"}, {Sell, 50, "100"}, {Sell, 97, "100"}, {Buy, 150, "105"}, {Sell, 120, "0"}, {Buy, 80, "0"}} {
			o := Order{Symbol: "AAA", Side: c.side, Type: Market, Quantity: exact.One}
			if c.limit != 0 {
				price := c.limit * exact.One
				o.Type, o.Price = Limit, &price
			}
			if got := e.Arrival(o); got.String() != c.want {
				t.Errorf("%s at %d: %s, want %s", c.side, c.limit, got, c.want)
			}
		}
	})
}

// TestArrivalBesideQuote: the source tells a price of 100, a bid of 90 and an ask of 110.
// What arrives takes from bid and ask, but what waits, for volume or because the bid has not
// come to its limit, is filled by trades: a sell limit of 60 or 95 may get 100, the latter
// though nothing of it would be filled at once.
func TestArrivalBesideQuote(t *testing.T) {
	inBubble(t, func(o *Options) { o.Feed, o.Quoted = quoted(90, 110), true }, func(t *testing.T, e *Engine) {
		for _, c := range []struct {
			side  Side
			limit exact.Decimal
			want  string
		}{{Sell, 0, "90"}, {Buy, 0, "110"}, {Sell, 60, "100"}, {Sell, 95, "100"}, {Sell, 101, "0"}, {Buy, 120, "110"}, {Buy, 105, "100"}, {Buy, 99, "0"}} {
			o := ask(t, e, func(r *OrderRequest) {
				r.Side, r.Quantity, r.DryRun = c.side, exact.One, true
				if c.limit != 0 {
					r.Type, r.Price = Limit, c.limit*exact.One
				}
			})
			if got := e.Arrival(o); got.String() != c.want {
				t.Errorf("%s at %d: %s, want %s", c.side, c.limit, got, c.want)
			}
		}
	})
}

// TestEstimatePart: of a limit that the volume fills in part now, the rest waits at its
// limit and pays the maker's fee; the rest of a market order takes later; of an ioc there
// is none, and a fok is not filled at all. By hand, 10 of 30 at 100.05 and 20 at 140:
// 1000.5 + 2800 = 3800.5, and 1000.5*0.001 + 2800*0.0005 = 2.4005.
func TestEstimatePart(t *testing.T) {
	thin := func(o *Options) {
		maker := exact.One / 2000
		o.Participation, o.FeeRate, o.MakerFeeRate, o.Slippage = exact.One/10, exact.One/1000, &maker, exact.One/2000
	}
	inBubble(t, thin, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		traded(e, 0, 100, 100)
		for _, c := range []struct {
			name               string
			change             func(*OrderRequest)
			worth, fee, filled string
		}{
			{"limit", func(r *OrderRequest) { r.Type, r.Price = Limit, 140*exact.One }, "3800.5", "2.4005", "10"},
			{"sell limit", func(r *OrderRequest) { r.Side, r.Type, r.Price = Sell, Limit, 80*exact.One }, "2599.5", "1.7995", "10"},
			{"market", func(*OrderRequest) {}, "3001.5", "3.0015", "10"},
			{"whole", func(r *OrderRequest) { r.Type, r.Price, r.Quantity = Limit, 140*exact.One, 10*exact.One }, "1000.5", "1.0005", "10"},
			{"market ioc", func(r *OrderRequest) { r.TimeInForce = IOC }, "1000.5", "1.0005", "10"},
			{"limit ioc", func(r *OrderRequest) { r.Type, r.Price, r.TimeInForce = Limit, 140*exact.One, IOC }, "1000.5", "1.0005", "10"},
			{"limit ioc, not reached", func(r *OrderRequest) { r.Type, r.Price, r.TimeInForce = Limit, 90*exact.One, IOC }, "0", "0", "0"},
			{"market fok", func(r *OrderRequest) { r.TimeInForce = FOK }, "0", "0", "0"},
			{"limit fok", func(r *OrderRequest) { r.Type, r.Price, r.TimeInForce = Limit, 140*exact.One, FOK }, "0", "0", "0"},
			{"whole fok", func(r *OrderRequest) { r.Quantity, r.TimeInForce = 10*exact.One, FOK }, "1000.5", "1.0005", "10"},
		} {
			o := ask(t, e, func(r *OrderRequest) { r.Quantity, r.DryRun = 30*exact.One, true; c.change(r) })
			x := e.Estimate(o)
			if worth, ok := x.Worth(o); !ok || worth.String() != c.worth || x.Fee.String() != c.fee || o.FilledQuantity.String() != c.filled {
				t.Errorf("%s: %s filled, worth %s, %+v; want %s with a fee of %s", c.name, o.FilledQuantity, worth, x, c.worth, c.fee)
			}
		}
	})
}

// TestEstimateExits: the exits of an entry that the volume fills in part stand where the
// estimate says, counted from the first fill that opens a position. By hand, 3 % below 100.05
// is 97.0485; where the part that is filled now only closes a short, the exits begin with
// the rest, at the limit: 3 % below 140 is 135.8, and 10 % above it 154.
func TestEstimateExits(t *testing.T) {
	thin := func(o *Options) { o.Participation, o.Slippage = exact.One/10, exact.One/2000 }
	for _, c := range []struct {
		name         string
		short        string
		loss, profit string
	}{
		{"from the part", "", "97.0485", "110.055"},
		{"what is left of the part", "4", "97.0485", "110.055"},
		{"from the rest", "10", "135.8", "154"},
		{"from what is left of the rest", "15", "135.8", "154"},
	} {
		inBubble(t, thin, func(t *testing.T, e *Engine) {
			e.ensure(t.Context(), "AAA")
			traded(e, 0, 100, 200)
			if c.short != "" {
				place(t, e, Sell, Market, c.short, "")
			}
			traded(e, 1, 100, 100)
			traded(e, 2, 100, 100)
			order := func(r *OrderRequest) {
				r.Type, r.Price, r.Quantity = Limit, 140*exact.One, 30*exact.One
				r.StopLoss, r.TakeProfit = Exit{Percent: 3 * exact.One}, Exit{Percent: 10 * exact.One}
			}
			dry := ask(t, e, func(r *OrderRequest) { order(r); r.DryRun = true })
			x := e.Estimate(dry)
			if x.StopLoss.String() != c.loss || x.TakeProfit.String() != c.profit || dry.FilledQuantity != 10*exact.One {
				t.Errorf("%s: %s filled, %+v, want 10 filled and exits at %s and %s", c.name, dry.FilledQuantity, x, c.loss, c.profit)
			}
			id := ask(t, e, order).ID
			traded(e, 3, 139, 100) // the limit is reached, and no stop
			traded(e, 4, 139, 100)
			var stands []string // by the id, so the stop first
			for _, o := range e.Orders(true) {
				if o.Group == id {
					stands = append(stands, show(cmp.Or(o.StopPrice, o.Price)))
				}
			}
			if got, want := strings.Join(stands, " "), c.loss+" "+c.profit; got != want {
				t.Errorf("%s: the exits stand at %s, want %s", c.name, got, want)
			}
		})
	}
}
