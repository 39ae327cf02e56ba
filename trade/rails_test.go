package trade

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// netOf returns the signed quantity of AAA.
func netOf(e *Engine) string {
	for _, p := range must(e.Positions(false)) {
		if p.Symbol == "AAA" {
			if p.Side == "short" {
				return "-" + p.Quantity.String()
			}
			return p.Quantity.String()
		}
	}
	return "0"
}

// tryPlace places an order of AAA and returns the code of its refusal.
func tryPlace(t *testing.T, e *Engine, side book.Side, typ book.OrderType, quantity, limit string) string {
	t.Helper()
	r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: side, Type: typ, Quantity: dec(t, quantity)}
	if limit != "" {
		r.Price = dec(t, limit)
	}
	_, err := e.Place(t.Context(), r)
	return code(err)
}

// TestLimitsBelowZero: a limit below zero is refused. It once switched the limit of the
// order rate off.
func TestLimitsBelowZero(t *testing.T) {
	for _, l := range []book.Limits{{OrderNotional: -1}, {PositionNotional: -1}, {DailyLoss: -1}, {OpenPerSymbol: -1}, {Open: -1}, {OrdersPerSecond: -5}, {Alerts: -1}, {Symbols: -1}} {
		o := testOptions(t)
		o.Limits = l
		if e, err := Open(o); err == nil {
			e.Close()
			t.Errorf("the limits %+v were accepted", l)
		}
	}
}

// TestTooManySymbols: as many symbols as can be watched may be named for the start, in
// any spelling and repeated. With one more the start is refused.
func TestTooManySymbols(t *testing.T) {
	o := testOptions(t)
	for i := range book.MaxSymbols {
		o.Symbols = append(o.Symbols, fmt.Sprintf("S%d", i), fmt.Sprintf("s%d", i))
	}
	openTest(t, o).Close()
	o.Symbols = append(o.Symbols, "AAA")
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "--symbols names 51 symbols, more than the 50") {
		t.Errorf("%d symbols: %v", book.MaxSymbols+1, err)
	}
}

// TestLargestPositionFits: ten times the largest order that can be written is more than a
// number holds; it must not wrap around to a small or negative limit.
func TestLargestPositionFits(t *testing.T) {
	for order, want := range map[exact.Decimal]exact.Decimal{5 * exact.One: 50 * exact.One, 9_000_000_000 * exact.One: 90_000_000_000 * exact.One, 20_000_000_000 * exact.One: math.MaxInt64, math.MaxInt64: math.MaxInt64} {
		if got := (book.Limits{OrderNotional: order}).WithDefaults().PositionNotional; got != want {
			t.Errorf("with orders of up to %s the largest position is %s, want %s", order, got, want)
		}
	}
}

// TestClosingOrdersAreCountedTogether: long 9 at 100 under a limit of 1,000;
// each sell of 9 alone only closes, but two of them that may open leave short 9, worth 990
// at 110, and a third would leave short 18, worth 1,980. Exits are cut to what is held.
func TestClosingOrdersAreCountedTogether(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.PositionNotional = 1000 * exact.One }, func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "9", "")
		for i, want := range []string{"", "", "max_position_notional", "max_position_notional"} {
			_, err := try(t, e, of(9, func(r *book.OrderRequest) { limiting(book.Sell, 110)(r); r.MayOpen = true }))
			if got := code(err); got != want {
				t.Errorf("sell %d: %q, want %q", i+1, got, want)
			}
		}
		for range 3 {
			ask(t, e, of(9, limiting(book.Sell, 110)))
		}
		price(e, "AAA", 111)
		if got := netOf(e); got != "-9" {
			t.Errorf("the position is %s, want -9", got)
		}
	})
}

// TestReducingCountsOpenOrders: against long 1, one resting sell of 1 that may open uses up
// what others that may open can reduce. One that can only reduce is taken all the same, also
// a market order that does not say so.
func TestReducingCountsOpenOrders(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	defer e.Close()
	place(t, e, book.Buy, book.Market, "1", "")
	if err := os.WriteFile(filepath.Join(o.Dir, haltName), []byte("reducing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "trading_reducing", "trading_reducing"} {
		_, err := try(t, e, func(r *book.OrderRequest) { limiting(book.Sell, 110)(r); r.MayOpen = true })
		if got := code(err); got != want {
			t.Errorf("sell %d: %q, want %q", i+1, got, want)
		}
	}
	if got := tryPlace(t, e, book.Sell, book.Limit, "1", "112"); got != "" {
		t.Errorf("an exit beside the resting one: %q", got)
	}
	if got := tryPlace(t, e, book.Sell, book.Market, "1", ""); got != "" {
		t.Errorf("a market sell beside the resting one: %q", got)
	}
	if got := netOf(e); got != "0" {
		t.Errorf("the position is %s, want 0", got)
	}
}

// TestRailAtTheFill: an order that was within the limit of 1,000 when it was accepted is rejected
// when it would be filled, if by then a second one, counted at its own price of 110, has made the
// position so large that the two together would be worth 3,600 at 400.
func TestRailAtTheFill(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.PositionNotional = 1000 * exact.One }, func(t *testing.T, e *Engine) {
		far := place(t, e, book.Sell, book.Limit, "2", "400")
		place(t, e, book.Sell, book.Limit, "7", "110")
		price(e, "AAA", 100)
		price(e, "AAA", 120)
		price(e, "AAA", 200)
		price(e, "AAA", 400)
		o := must(e.Orders(false))[0]
		if o.ID != far.ID || o.Status != book.StatusRejected || netOf(e) != "-7" {
			t.Errorf("order %+v, position %s; want it rejected and -7", o, netOf(e))
		}
		if want := "max_position_notional"; len(o.Reason) < len(want) || o.Reason[:len(want)] != want {
			t.Errorf("reason %q, want %s", o.Reason, want)
		}
	})
}

// TestReducingAtTheFill: three sells of 1 against long 1 were accepted while
// trading was active; under reducing the first closes, the others wait, and
// they fill once the file is gone.
func TestReducingAtTheFill(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	defer e.Close()
	place(t, e, book.Buy, book.Market, "1", "")
	for range 3 {
		ask(t, e, func(r *book.OrderRequest) { limiting(book.Sell, 110)(r); r.MayOpen = true })
	}
	halt := filepath.Join(o.Dir, haltName)
	for _, step := range []struct{ halt, want string }{{"", "1"}, {"reducing", "0"}, {"gone", "-2"}} {
		if err := os.WriteFile(halt, []byte(step.halt), 0o600); err != nil {
			t.Fatal(err)
		}
		if step.halt == "gone" {
			os.Remove(halt)
		}
		if err := e.refreshTrading(); err != nil {
			t.Fatal(err)
		}
		price(e, "AAA", 120)
		if got := netOf(e); got != step.want {
			t.Errorf("HALT %q: the position is %s, want %s", step.halt, got, step.want)
		}
	}
	for _, o := range must(e.Orders(false))[1:] {
		if show(o.AveragePrice) != "110" && show(o.AveragePrice) != "120" {
			t.Errorf("order %+v, want it filled at 110 or 120", o)
		}
	}
}

// TestOCOOfStopsCounts: an oco whose limit was replaced by a stop still counts as one
// order: neither as none, which could exceed the largest position, nor as two.
func TestOCOOfStopsCounts(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.PositionNotional = 1000 * exact.One }, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		id := ask(t, e, func(r *book.OrderRequest) {
			r.Type, r.Price, r.OCO, r.Quantity = book.Limit, 90*exact.One, book.OCO{StopPrice: 110 * exact.One}, 5*exact.One
		}).ID
		ask(t, e, func(r *book.OrderRequest) {
			r.Type, r.StopPrice, r.Replaces, r.Quantity = book.Stop, 105*exact.One, id, 5*exact.One
		})
		if got := tryPlace(t, e, book.Buy, book.Limit, "6", "95"); got != "max_position_notional" {
			t.Errorf("6 more beside an oco of 5: %q, want max_position_notional", got)
		}
		if got := tryPlace(t, e, book.Buy, book.Limit, "5", "95"); got != "" {
			t.Errorf("5 more beside an oco of 5: %q, want no refusal", got)
		}
	})
}

// TestRatesRefused: a rate that cannot be is refused by its own name, with the limit.
func TestRatesRefused(t *testing.T) {
	all := func(o *Options, d exact.Decimal) { o.FeeRate, o.Slippage, o.HalfSpread = d, d, d }
	for want, change := range map[string]func(*Options){
		"slippage 1: it must be from 0 to below 1, such as 0.0005":                                               func(o *Options) { o.Slippage = exact.One },
		"fee rate 2: it must be from 0 to below 1, such as 0.001":                                                func(o *Options) { o.FeeRate = 2 * exact.One },
		"fee rate -1: it must be from 0 to below 1, such as 0.001":                                               func(o *Options) { o.FeeRate = -exact.One },
		"maker fee rate 1: it must be from 0 to below 1, such as 0.0005":                                         func(o *Options) { one := exact.One; o.MakerFeeRate = &one },
		"half spread 1: it must be from 0 to below 1, such as 0.0002":                                            func(o *Options) { o.HalfSpread = exact.One },
		"half spread 0.5 and slippage 0.5: together they must be below 1, or a sell would be filled at no price": func(o *Options) { o.HalfSpread, o.Slippage = exact.One/2, exact.One/2 },
		"fee rate 92233720368.54775807: it must be from 0 to below 1, such as 0.001":                             func(o *Options) { all(o, math.MaxInt64) },
		"slippage 92233720368.54775807: it must be from 0 to below 1, such as 0.0005":                            func(o *Options) { o.Slippage, o.HalfSpread = math.MaxInt64, math.MaxInt64 },
	} {
		o := testOptions(t)
		change(&o)
		if _, err := openOn(o, journaltest.NewDisk()); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
