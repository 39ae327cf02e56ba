package trade

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// TestSpread: bid and ask are one percent from the price; an order that takes from the
// market pays that, a limit waits until the bid or ask has reached it, and a stop is set
// off by the price itself.
func TestSpread(t *testing.T) {
	inBubble(t, func(o *Options) { o.HalfSpread, o.Slippage = exact.One/100, exact.One/100 }, func(t *testing.T, e *Engine) {
		if got := show(place(t, e, book.Buy, book.Market, "1", "").AveragePrice); got != "102" {
			t.Errorf("bought at %s, want 102: 100, and one percent each for half the spread and the slippage", got)
		}
		if got := show(place(t, e, book.Sell, book.Limit, "1", "99").AveragePrice); got != "99" {
			t.Errorf("sold at %s, want 99, the bid and its limit", got)
		}
		if o := place(t, e, book.Buy, book.Limit, "1", "100.99"); o.Status != book.StatusOpen {
			t.Errorf("a buy at 100.99 is %s with an ask of 101, want open", o.Status)
		}
		waits := ask(t, e, func(r *book.OrderRequest) { r.Type, r.Price, r.PostOnly = book.Limit, 90*exact.One, true }).ID
		stop := ask(t, e, stopping(book.Sell, 90)).ID
		walk(e, 100, minute(0, 100, 100, 89.5, 95))
		if got := found(t, e, waits) + ", " + found(t, e, stop); got != "open, filled 88.2" {
			t.Errorf("at 89.5, with an ask of 90.395, the limit and the stop of 90 are %s, want open, filled 88.2", got)
		}
		walk(e, 95, minute(0, 95, 95, 89.1, 95))
		if got := found(t, e, waits); got != "filled 90" {
			t.Errorf("at 89.1, with an ask of 89.991, the limit of 90 is %s, want filled 90", got)
		}
	})
}

// TestSellAtTheLeastPrice: with a slippage of half a permille, what was bought at the least
// price that there is, or at one tick or less, can be sold there in every way: below one
// step there is no price that the slippage could lead to. A buy pays one step more.
func TestSellAtTheLeastPrice(t *testing.T) {
	for _, c := range []struct {
		price              float64
		tick               string
		bought, sold, edge string // edge is the limit that a sell may have
	}{
		{0.00000001, "0", "0.00000002", "0.00000001", "0.00000001"},
		{0.01, "0.01", "0.02", "0.01", "0.01"},
		{0.005, "0.01", "0.01", "0.005", ""},
		{0.00000002, "0", "0.00000003", "0.00000001", "0.00000001"},
	} {
		inBubble(t, func(o *Options) {
			o.Source, o.Slippage, o.Grid = flat(c.price), exact.One/2000, func(string) (book.Grid, bool) { return book.Grid{Tick: dec(t, c.tick)}, true }
		}, func(t *testing.T, e *Engine) {
			if got := show(place(t, e, book.Buy, book.Market, "5", "").AveragePrice); got != c.bought {
				t.Errorf("at %v bought at %s, want %s", c.price, got, c.bought)
			}
			for name, change := range map[string]func(*book.OrderRequest){
				"market":      func(*book.OrderRequest) {},
				"reduce_only": func(r *book.OrderRequest) { r.ReduceOnly = true },
				"limit":       func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, dec(t, c.edge) },
				"all":         func(r *book.OrderRequest) { r.All, r.Quantity = true, 0 },
			} {
				if name == "limit" && c.edge == "" {
					continue
				}
				o, err := try(t, e, func(r *book.OrderRequest) { r.Side, r.DryRun = book.Sell, true; change(r) })
				if got := show(o.AveragePrice); err != nil || got != c.sold {
					t.Errorf("at %v %s sold at %s, %v, want %s", c.price, name, got, err, c.sold)
				}
			}
		})
	}
}

// TestBuyAtTheHighestPrice: with a slippage of half a permille, what was sold short near
// the highest price that there is, 92233720368.54775807, can be bought back there in every
// way: above that price, or the tick below it, there is none that the slippage could lead
// to.
func TestBuyAtTheHighestPrice(t *testing.T) {
	for _, c := range []struct{ price, tick, sold, bought string }{
		{"92187000000", "0", "92140906500", "92233093500"},
		{"92188000000", "0", "92141906000", "92233720368.54775807"},
		{"92188000000", "0.5", "92141906000", "92233720368.5"},
		{"92233720000.3", "1", "92187603140", "92233720368"},
		{"92233720000.3", "10000000000", "90000000000", "92233720000.3"},
	} {
		inBubble(t, func(o *Options) {
			price, _ := strconv.ParseFloat(c.price, 64)
			o.Source, o.Slippage, o.Grid = flat(price), exact.One/2000, func(string) (book.Grid, bool) { return book.Grid{Tick: dec(t, c.tick)}, true }
		}, func(t *testing.T, e *Engine) {
			if got := show(place(t, e, book.Sell, book.Market, "0.00000005", "").AveragePrice); got != c.sold {
				t.Errorf("at %v sold at %s, want %s", c.price, got, c.sold)
			}
			for name, change := range map[string]func(*book.OrderRequest){
				"market":      func(*book.OrderRequest) {},
				"reduce_only": func(r *book.OrderRequest) { r.ReduceOnly = true },
				"limit":       func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, dec(t, c.bought) },
				"all":         func(r *book.OrderRequest) { r.All, r.Quantity = true, 0 },
			} {
				if name == "limit" && c.bought == c.price { // it is not on the tick
					continue
				}
				o, err := try(t, e, func(r *book.OrderRequest) { r.Quantity, r.DryRun = 5, true; change(r) })
				if got := show(o.AveragePrice); err != nil || got != c.bought {
					t.Errorf("at %v %s bought at %s, %v, want %s", c.price, name, got, err, c.bought)
				}
			}
		})
	}
}

// told is a feed that can be asked: for a price with bid and ask, and for the rules
// of the exchange.
type told struct {
	quoting
	grid  func() (market.Grid, error)
	asked *int // how often it was asked for the rules
}

func (f told) Grid(context.Context, string) (market.Grid, error) {
	*f.asked++
	return f.grid()
}

// quoted is a feed that tells a price of 100 with a bid and an ask.
func quoted(bid, ask float64) told {
	return told{
		quoting: quoting{quote: func() (market.Quote, error) {
			return market.Quote{Price: 100, Bid: bid, Ask: ask, At: time.Now().UnixMilli(), Source: "test"}, nil
		}},
		grid: func() (market.Grid, error) { return market.Grid{}, nil }, asked: new(int),
	}
}

// TestBidAndAsk: an order that fills on arrival does so at the bid or ask of the source,
// with slippage, even if the last trade was beyond it. A limit is compared with them, too.
// Without Quoted, or if bid and ask make no sense, half the spread counts.
func TestBidAndAsk(t *testing.T) {
	for _, c := range []struct {
		name         string
		bid, ask     float64
		quoted       bool
		bought, sold string
	}{
		{"around the price", 99, 102, true, "103.02", "98.01"},
		{"the last trade was above the ask", 98, 99, true, "99.99", "97.02"},
		{"switched off by --half-spread", 99, 102, false, "102", "98"},
		{"not told", 0, 0, true, "102", "98"},
		{"one side only", 0, 102, true, "102", "98"},
		{"crossed", 102, 99, true, "102", "98"},
		{"an ask beyond half the price", 99, 151, true, "102", "98"},
		{"a bid below half the price", 49, 102, true, "102", "98"},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := func(o *Options) {
				o.Feed, o.Quoted, o.Slippage, o.HalfSpread = quoted(c.bid, c.ask), c.quoted, exact.One/100, exact.One/100
			}
			inBubble(t, options, func(t *testing.T, e *Engine) {
				bought, sold := place(t, e, book.Buy, book.Market, "1", ""), place(t, e, book.Sell, book.Market, "1", "")
				if show(bought.AveragePrice) != c.bought || show(sold.AveragePrice) != c.sold {
					t.Errorf("bought at %s and sold at %s, want %s and %s", show(bought.AveragePrice), show(sold.AveragePrice), c.bought, c.sold)
				}
			})
		})
	}
	inBubble(t, func(o *Options) { o.Feed, o.Quoted = quoted(99, 102), true }, func(t *testing.T, e *Engine) {
		if o := place(t, e, book.Buy, book.Limit, "1", "101.99"); o.Status != book.StatusOpen {
			t.Errorf("a buy below the ask is %s", o.Status)
		}
		if got := show(place(t, e, book.Buy, book.Limit, "1", "103").AveragePrice); got != "102" {
			t.Errorf("a limit above the ask is filled at %s, want the ask", got)
		}
	})
}

// TestGridOfSource: the rules of the exchange are asked for every ten minutes, and a minute
// after a failure; no order is refused because of a failure. Rules that the operator has set
// come first. A step that is finer than our numbers is ignored.
func TestGridOfSource(t *testing.T) {
	feed, fails := quoted(0, 0), true
	feed.grid = func() (market.Grid, error) {
		if fails {
			return market.Grid{}, errors.New("no answer")
		}
		return market.Grid{Tick: "0.50000000", Lot: "0.000000001", Minimum: "20", Least: "0.3"}, nil
	}
	limit := func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 90*exact.One+exact.One/5 }
	inBubble(t, func(o *Options) { o.Feed = feed }, func(t *testing.T, e *Engine) {
		ask(t, e, limit)
		ask(t, e, limit)
		fails = false
		time.Sleep(time.Minute)
		if _, err := try(t, e, limit); *feed.asked != 2 || err == nil || !strings.HasPrefix(err.Error(), "off_tick: price 90.2: this market counts in steps of 0.5") {
			t.Errorf("asked %d times, want 2; a price off the tick: %v, want off_tick", *feed.asked, err)
		}
		ask(t, e, func(r *book.OrderRequest) { r.Quantity = exact.One/3 + 1 })
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Quantity = exact.One / 10 }); err == nil || !strings.HasPrefix(err.Error(), "min_notional") {
			t.Error(err)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Quantity = exact.One / 4 }); err == nil || !strings.HasPrefix(err.Error(), "min_quantity: the order is for 0.25, and this market takes none below 0.3") {
			t.Error(err)
		}
		time.Sleep(10 * time.Minute)
		if try(t, e, limit); *feed.asked != 3 {
			t.Errorf("ten minutes later the rules were asked for %d times, want 3", *feed.asked)
		}
	})
	*feed.asked = 0
	none := func(o *Options) { o.Feed, o.Grid = feed, func(string) (book.Grid, bool) { return book.Grid{}, true } }
	inBubble(t, none, func(t *testing.T, e *Engine) {
		if ask(t, e, limit); *feed.asked != 1 {
			t.Errorf("the operator has set that there are no rules: whether the market is halted was asked %d times, want 1", *feed.asked)
		}
	})
}

// TestHaltedMarket: in a market that its exchange has halted no order is taken, not even one
// that would wait, whatever the operator has set; one that waits already stays and can be
// cancelled. A minute after the exchange has opened it again orders are taken.
func TestHaltedMarket(t *testing.T) {
	for _, set := range []bool{false, true} {
		feed, status := quoted(0, 0), ""
		feed.grid = func() (market.Grid, error) { return market.Grid{Halted: status}, nil }
		limit := func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 90*exact.One }
		inBubble(t, func(o *Options) {
			o.Feed, o.Grid = feed, func(string) (book.Grid, bool) { return book.Grid{}, set }
		}, func(t *testing.T, e *Engine) {
			waits := ask(t, e, limit)
			status = "BREAK"
			time.Sleep(10 * time.Minute)
			const want = `market_halted: test does not trade AAA now: it calls that market "BREAK"; open orders stay and can be cancelled (retry later)`
			for name, change := range map[string]func(*book.OrderRequest){"a market order": func(*book.OrderRequest) {}, "a limit that would wait": limit, "a dry run": func(r *book.OrderRequest) { r.DryRun = true }} {
				if _, err := try(t, e, change); err == nil || err.Error() != want {
					t.Errorf("%s: %v\nwant %s", name, err, want)
				}
			}
			if _, err := e.CancelOrder(book.Who{}, waits.ID); err != nil {
				t.Error(err)
			}
			status = ""
			time.Sleep(time.Minute)
			ask(t, e, func(*book.OrderRequest) {})
		})
	}
}

// TestGrid: in a market that counts prices in 0.5, quantities in 0.1 and takes no order below 20,
// what is off these steps or below that is refused by name, and what is worked out lies on them.
func TestGrid(t *testing.T) {
	grid := func(string) (book.Grid, bool) {
		return book.Grid{Tick: exact.One / 2, Lot: exact.One / 10, Minimum: 20 * exact.One}, true
	}
	inBubble(t, func(o *Options) { o.Grid, o.Slippage = grid, exact.One/1000 }, func(t *testing.T, e *Engine) {
		for want, change := range map[string]func(*book.OrderRequest){
			"off_tick: price 90.2: this market counts in steps of 0.5; the nearest are 90 and 90.5": func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 90*exact.One+exact.One/5 },
			"off_tick: stop_loss 90.1": func(r *book.OrderRequest) { r.StopLoss.Price = 90*exact.One + exact.One/10 },
			"off_tick: oco stop_price": func(r *book.OrderRequest) {
				r.Type, r.Price, r.OCO.StopPrice = book.Limit, 90*exact.One, 110*exact.One+1
			},
			"off_lot: quantity 1.23: ":               func(r *book.OrderRequest) { r.Quantity = exact.One + 23*exact.One/100 },
			"min_notional: the order is worth 10.05": func(r *book.OrderRequest) { r.Quantity = exact.One / 10 },
		} {
			if _, err := try(t, e, change); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		o := ask(t, e, func(r *book.OrderRequest) { r.Quantity, r.Notional = 0, 555*exact.One })
		if o.Quantity.String() != "5.5" || show(o.AveragePrice) != "100.5" { // 100.1 is on no tick
			t.Errorf("a notional of 555: %+v, want 5.5 at 100.5", o)
		}
		entry := ask(t, e, func(r *book.OrderRequest) {
			r.StopLoss, r.TakeProfit = book.Exit{Percent: 3 * exact.One}, book.Exit{Percent: 3 * exact.One}
		})
		for _, leg := range must(e.Group(entry.ID)) { // 3 percent of 100.5 are 3.015
			if got := leg.Worst().String(); got != "97" && got != "104" {
				t.Errorf("an exit is at %s, want 97 or 104", got)
			}
		}
		trailing := ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.TrailPercent = book.Sell, book.TrailingStop, exact.One/10
		})
		if show(trailing.StopPrice) != "99.5" {
			t.Errorf("a trailing stop is at %s, want 99.5", show(trailing.StopPrice))
		}
		ask(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity = book.Sell, exact.One/10 }) // an order that reduces may be below the least value
	})
}

// TestGridAdvice: the bounds in a refusal are on the grid, and the refusal of a value off the
// grid names the nearest that are on it. By hand, at a price of 10.56 and steps of 0.01 and
// 0.001: a limit of 100000 per order is 9469.697 at 10.56, a buy may stand from 2.112 to 15.84
// and a sell from 5.28 to 52.8.
func TestGridAdvice(t *testing.T) {
	grid := func(string) (book.Grid, bool) {
		return book.Grid{Tick: exact.One / 100, Lot: exact.One / 1000, Minimum: 5 * exact.One}, true
	}
	limited := func(side book.Side, price string) func(*book.OrderRequest) {
		return func(r *book.OrderRequest) { r.Side, r.Type, r.Price = side, book.Limit, dec(t, price) }
	}
	sized := func(quantity string) func(*book.OrderRequest) {
		return func(r *book.OrderRequest) { r.Quantity = dec(t, quantity) }
	}
	inBubble(t, func(o *Options) { o.Grid, o.Source = grid, real{flat(10.56)} }, func(t *testing.T, e *Engine) {
		for _, c := range []struct {
			change func(*book.OrderRequest)
			want   string // in the refusal; empty where it passes
		}{
			{sized("100000"), "lower the quantity to at most 9469.696 "},
			{sized("9469.6969"), "off_lot: quantity 9469.6969: this market counts in steps of 0.001; the nearest are 9469.696 and 9469.697 "},
			{sized("9469.696"), ""},
			{sized("0.0004"), "off_lot: quantity 0.0004: this market counts in steps of 0.001; the nearest is 0.001 "},
			{sized("92233720368.54775807"), "; the nearest is 92233720368.547 "}, // the next step is out of range
			// By hand, 5/10.56 is 0.4735, and 0.474 at 10.56 is 5.00544.
			{sized("0.1"), "min_notional: the order is worth 1.056, and this market takes none below 5; raise the quantity to at least 0.474 "},
			{func(r *book.OrderRequest) { r.Quantity, r.Notional = 0, dec(t, "0.001") }, "bad_quantity: a notional of 0.001 buys nothing at 10.56; the least is 5.00544 "},
			{func(r *book.OrderRequest) { r.Quantity, r.Notional = 0, dec(t, "5.00544") }, ""},
			{limited(book.Buy, "30"), "2.12 to 15.84 is allowed"},
			{limited(book.Sell, "100"), "5.28 to 52.8 is allowed"},
			{limited(book.Buy, "9.001"), "off_tick: price 9.001: this market counts in steps of 0.01; the nearest are 9 and 9.01 "},
			{limited(book.Buy, "0.001"), "; the nearest is 0.01 "},
			{func(r *book.OrderRequest) { limited(book.Buy, "2.12")(r); r.Quantity = 10 * exact.One }, ""},
			{func(r *book.OrderRequest) { r.Type, r.StopPrice = book.Stop, dec(t, "10.5601") }, "off_tick: stop_price 10.5601: "},
			{func(r *book.OrderRequest) { r.StopLoss = book.Exit{Price: dec(t, "5.2701")} }, "; the nearest are 5.27 and 5.28 "},
			{func(r *book.OrderRequest) { limited(book.Buy, "9")(r); r.OCO = book.OCO{StopPrice: dec(t, "52.8001")} }, "oco stop_price 52.8001: this market counts in steps of 0.01; the nearest are 52.8 and 52.81 "},
		} {
			_, err := try(t, e, func(r *book.OrderRequest) { r.DryRun = true; c.change(r) })
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		}
	})
	// Markets with a least quantity, on the step or not, and no least value; and one without
	// rules.
	for _, c := range []struct {
		grid   book.Grid
		change func(*book.OrderRequest)
		want   string
	}{
		{book.Grid{Lot: exact.One / 10, Least: 3 * exact.One / 10}, sized("0.04"), "; the nearest is 0.3 "},
		{book.Grid{Lot: exact.One / 10, Least: 3 * exact.One / 10}, sized("0.2"), "min_quantity: the order is for 0.2, and this market takes none below 0.3; raise the quantity to at least 0.3 "},
		{book.Grid{Lot: exact.One / 5, Least: 3 * exact.One / 10}, sized("0.2"), "raise the quantity to at least 0.4 "},
		{book.Grid{Lot: exact.One / 5}, sized("0.04"), "; the nearest is 0.2 "},
		{book.Grid{Lot: exact.One / 5, Least: 3 * exact.One / 10}, sized("0.5"), "; the nearest are 0.4 and 0.6 "},
		{book.Grid{}, func(r *book.OrderRequest) { r.Quantity, r.Notional = 0, 1 }, "a notional of 0.00000001 buys nothing at 10.56; the least is 0.00000011 "},
	} {
		inBubble(t, func(o *Options) {
			o.Grid, o.Source = func(string) (book.Grid, bool) { return c.grid, true }, real{flat(10.56)}
		}, func(t *testing.T, e *Engine) {
			if _, err := try(t, e, c.change); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v, want %q", c.grid, err, c.want)
			}
		})
	}
	// If a coin is so cheap that the quantity does not fit, the refusal must not say that the
	// notional buys nothing.
	inBubble(t, func(o *Options) { o.Source = real{flat(0.00000001)} }, func(t *testing.T, e *Engine) {
		_, err := try(t, e, func(r *book.OrderRequest) { r.Quantity, r.Notional = 0, 1000*exact.One })
		if err == nil || !strings.Contains(err.Error(), "out_of_range: a notional of 1000 at 0.00000001 is beyond the range of exact numbers; lower it ") {
			t.Errorf("a notional of a cheap coin: %v", err)
		}
	})
	// What was bought before the market counted in larger steps.
	lot := exact.Decimal(0)
	inBubble(t, func(o *Options) { o.Grid = func(string) (book.Grid, bool) { return book.Grid{Lot: lot}, true } }, func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "1.2345", "")
		lot = exact.One / 10
		for _, side := range []book.Side{book.Buy, book.Sell} {
			_, err := try(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity, r.ReduceOnly = side, 5*exact.One, true })
			if err == nil || !strings.Contains(err.Error(), "at most 1.2 reduces it") {
				t.Errorf("a reduce_only %s: %v", side, err)
			}
		}
		lot = 10 * exact.One
		for _, side := range []book.Side{book.Buy, book.Sell} {
			_, err := try(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity, r.ReduceOnly = side, 50*exact.One, true })
			if err == nil || !strings.Contains(err.Error(), `the position in AAA is 1.2345, less than the market's step of 10, and a reduce_only `+string(side)+` of 50 is more; quantity "all" closes it `) {
				t.Errorf("a reduce_only %s where a lot is more than the position: %v", side, err)
			}
		}
		if o, err := try(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity, r.All = book.Sell, 0, true }); err != nil || o.Status != book.StatusFilled {
			t.Errorf("quantity all of what is less than a lot: %+v, %v", o, err)
		}
	})
}

// TestNoQuantityFits: where the limit of an order is less than the smallest step of the
// market, no quantity is advised, least of all 0.
func TestNoQuantityFits(t *testing.T) {
	for _, c := range []struct {
		grid book.Grid
		most string
		size string
		want string
	}{
		{book.Grid{}, "50", "1", "lower the quantity to at most 0.5 "},
		{book.Grid{Lot: exact.One / 10}, "50", "1", "lower the quantity to at most 0.5 "},
		{book.Grid{Lot: exact.One}, "50", "1", "max_order_notional: the order is worth 100, over the limit of 50 per order; the smallest step of this market, 1, is worth more "},
		{book.Grid{Lot: exact.One / 10, Minimum: 75 * exact.One}, "50", "0.5", "min_notional: the order is worth 50, and this market takes none below 75; raise the quantity to at least 0.8 "},
		{book.Grid{}, "0.0000001", "1", "; the smallest step of this market, 0.00000001, is worth more "},
	} {
		limits := func(o *Options) {
			o.Grid, o.Limits.OrderNotional, o.Source = func(string) (book.Grid, bool) { return c.grid, true }, dec(t, c.most), real{o.Source}
		}
		inBubble(t, limits, func(t *testing.T, e *Engine) {
			_, err := try(t, e, func(r *book.OrderRequest) { r.Type, r.Price, r.Quantity = book.Limit, 100*exact.One, dec(t, c.size) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %+v with a limit of %s: %v, want %q", c.size, c.grid, c.most, err, c.want)
			}
		})
	}
}

// TestMostThatIsTaken: an order over the limit for one, of an account that can pay for less than that,
// is told what the account can pay for: that much is taken, and a step more is not.
func TestMostThatIsTaken(t *testing.T) {
	inBubble(t, protectedAccount(false), func(t *testing.T, e *Engine) {
		buy := func(quantity string) error {
			_, err := try(t, e, func(r *book.OrderRequest) { r.DryRun, r.Quantity = true, dec(t, quantity) })
			return err
		}
		for _, much := range []string{"50000", "1001", "500"} {
			if err := buy(much); err == nil || !strings.Contains(err.Error(), "lower the quantity to at most 100;") {
				t.Errorf("%s at 100 of 10,000 in cash: %v", much, err)
			}
		}
		if err := buy("100"); err != nil {
			t.Error(err)
		}
		if err := buy("100.00000001"); code(err) != "buying_power" {
			t.Error(err)
		}
	})
}

// TestNotionalAdvised: the refusal of an order by value advises a quantity, which passes. The market
// is at 10.56 and counts in thousandths; by hand, 5/10.56 is 0.474 lots up. A sell with a limit of
// 10 is counted at 10 and filled at 10.56, so 100000 at that price are 9469.696.
func TestNotionalAdvised(t *testing.T) {
	grid := func(string) (book.Grid, bool) { return book.Grid{Lot: exact.One / 1000, Minimum: 5 * exact.One}, true }
	inBubble(t, func(o *Options) { o.Grid, o.Source = grid, real{flat(10.56)} }, func(t *testing.T, e *Engine) {
		for _, c := range []struct{ price, notional, want, advised string }{
			{"", "500000", "max_order_notional: ", "9469.696"},
			{"9", "500000", "max_order_notional: ", "11111.111"},
			{"10", "99999", "max_order_notional: ", "9469.696"},
			{"", "1", "min_notional: ", "0.474"},
		} {
			change := func(r *book.OrderRequest) {
				r.DryRun, r.Quantity, r.Notional = true, 0, dec(t, c.notional)
				if c.price != "" {
					r.Type, r.Price = book.Limit, dec(t, c.price)
				}
				if c.price == "10" {
					r.Side = book.Sell
				}
			}
			_, err := try(t, e, change)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), " "+c.advised+" ") {
				t.Errorf("%v: %v", c, err)
			}
			if _, err := try(t, e, func(r *book.OrderRequest) { change(r); r.Notional, r.Quantity = 0, dec(t, c.advised) }); err != nil {
				t.Errorf("%v, as advised: %v", c, err)
			}
		}
	})
}

// TestFillsWhole: a paper order is filled whole, on arrival and while it rests, however little
// was traded, and its subscriber hears of it once.
func TestFillsWhole(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		if _, err := e.Subscribe(from("orders"), Filter{AlertTypes: []string{"order"}}); err != nil {
			t.Fatal(err)
		}
		thin := func(i int, price float64) {
			b := minute(i, price, price, price, price)
			b.Volume = 0.1
			walk(e, price, b)
		}
		thin(0, 100)
		if o := place(t, e, book.Buy, book.Market, "100", ""); o.Status != book.StatusFilled || o.FilledQuantity != 100*exact.One {
			t.Errorf("a market order: %+v, want all of it filled", o)
		}
		limit, stop := place(t, e, book.Buy, book.Limit, "100", "99"), ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.StopPrice, r.Quantity, r.MayOpen = book.Sell, book.Stop, 98*exact.One, 200*exact.One, true
		})
		thin(1, 99)
		thin(2, 98)
		thin(3, 97)
		if got := found(t, e, limit.ID) + ", " + found(t, e, stop.ID); got != "filled 99, filled 98" {
			t.Errorf("the limit and the stop are %s, want both filled whole", got)
		}
		if n := e.PendingNotifications(""); n != 2 {
			t.Errorf("%d notifications of two orders, want 2", n)
		}
	})
}
