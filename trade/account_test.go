package trade

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// funded gives the engine an account of 1,000 with a fee of one percent.
func funded(o *Options) {
	o.Account = book.AccountRules{Cash: 1000 * exact.One, Stablecoins: true}
	o.FeeRate = exact.One / 100
}

// statement returns the account of an engine that has one.
func statement(t *testing.T, e *Engine) book.Account {
	t.Helper()
	a, err := e.Account()
	if a == nil || err != nil {
		t.Fatalf("e.Account() says that there is no account, %v", err)
	}
	return *a
}

// TestAccount: 2 bought at 100 with a fee of 2, one sold at 110 with a fee of 1.1;
// 1000 - 200 - 2 + 110 - 1.1 are left in cash and one is worth 110.
func TestAccount(t *testing.T) {
	inBubble(t, funded, func(t *testing.T, e *Engine) {
		e.tidy()
		place(t, e, book.Buy, book.Market, "2", "")
		price(e, "AAA", 110)
		place(t, e, book.Sell, book.Market, "1", "")
		ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.StopPrice, r.ReduceOnly, r.Quantity = book.Sell, book.Stop, 104*exact.One, true, exact.One/2
		})
		a := statement(t, e)
		for got, want := range map[string]string{
			a.Cash.String(): "906.9", a.Equity.String(): "1016.9", a.Exposure.String(): "110", a.BuyingPower.String(): "906.9",
			a.Realized.String(): "6.9", a.Fees.String(): "3.1", a.Unrealized.String(): "10", a.Total.String(): "16.9",
			a.Risk.String(): "3", a.Unprotected.String(): "55", // half of it would be sold 6 lower
		} {
			if got != want {
				t.Errorf("%s, want %s in %+v", got, want, a)
			}
		}
		if *a.Day != *a.Total || len(a.ByDay) != 1 || a.ByDay[0].Realized != a.Realized || len(a.BySymbol) != 1 || *a.BySymbol[0].Unrealized != *a.Unrealized || !a.Complete {
			t.Errorf("one day and one symbol must add up to the account: %+v", a)
		}
		price(e, "AAA", 80)
		if a := statement(t, e); a.Drawdown.String() != "13.5" || a.Day.String() != "-13.5" { // 906.9 + 40 + 40 - 0.4: the stop was passed at once
			t.Errorf("after a fall to 80: %+v, want a drawdown of 13.5 and a day of -13.5", a)
		}
	})
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		if a, err := e.Account(); a != nil || err != nil {
			t.Errorf("without --cash there is an account: %+v", a)
		}
		if v, ok := e.Venue(); ok || !v.ReadAt.IsZero() {
			t.Errorf("on paper there is an account at a broker: %+v", v)
		}
	})
}

// TestBuyingPower: an account of 1,000 buys 9 at 100 with a fee of 9, not 10; open
// orders reserve what they would cost; leverage adds to the buying power.
func TestBuyingPower(t *testing.T) {
	buy := func(quantity int64, price int64) func(*book.OrderRequest) {
		return func(r *book.OrderRequest) {
			r.Quantity = exact.Decimal(quantity) * exact.One
			if price > 0 {
				r.Type, r.Price = book.Limit, exact.Decimal(price)*exact.One
			}
		}
	}
	inBubble(t, funded, func(t *testing.T, e *Engine) {
		if _, err := try(t, e, buy(10, 0)); code(err) != "buying_power" || !strings.Contains(err.Error(), "1010") || !strings.Contains(err.Error(), "lower the quantity to at most 9.90099009;") { // 1000 / 101
			t.Errorf("an order that needs 1010: %v, want buying_power", err)
		}
		ask(t, e, buy(5, 90)) // 454.5
		if a := statement(t, e); a.Reserved.String() != "454.5" || a.BuyingPower.String() != "545.5" {
			t.Errorf("with an open order: %+v, want 454.5 reserved and a buying power of 545.5", a)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { buy(6, 0)(r); r.Symbol = "BBB" }); code(err) != "buying_power" || !strings.Contains(err.Error(), "at most 5.40099009;") { // 545.5 / 101
			t.Errorf("an order of another symbol that needs 606: %v, want buying_power", err)
		}
		if _, err := try(t, e, buy(6, 0)); code(err) != "buying_power" || !strings.Contains(err.Error(), "1060.5") || !strings.Contains(err.Error(), "at most 5.40099009;") {
			t.Errorf("an order of the same symbol that needs 606 beside 454.5: %v, want buying_power with 1060.5", err)
		}
		most := func(r *book.OrderRequest) { r.Quantity = dec(t, "5.40099009") }
		ask(t, e, func(r *book.OrderRequest) { most(r); r.DryRun = true })
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Quantity = dec(t, "5.4009901") }); code(err) != "buying_power" {
			t.Errorf("the least more than the most: %v, want buying_power", err)
		}
		ask(t, e, func(r *book.OrderRequest) { buy(5, 0)(r); r.Symbol = "BBB" })
		ask(t, e, func(r *book.OrderRequest) { r.Quantity = dec(t, "0.40099009") })
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Quantity, r.Notional = 0, exact.One }); code(err) != "buying_power" || !strings.Contains(err.Error(), "there is nothing left for it") {
			t.Errorf("an order when all is spent: %v, want buying_power", err)
		}
	})
	inBubble(t, func(o *Options) { funded(o); o.Account.Leverage = 2 * exact.One }, func(t *testing.T, e *Engine) {
		ask(t, e, buy(19, 0))
		if _, err := try(t, e, buy(2, 0)); code(err) != "buying_power" {
			t.Errorf("an order beyond the leverage: %v, want buying_power", err)
		}
	})
}

// TestBuyingPowerOfOCO: of an oco counts the higher of the prices at which its orders can be
// filled. For a stop_limit that is its limit, also if it is below the stop: 5 at 104 are 520,
// with the fee 525.2. Which of the two is the older does not matter.
func TestBuyingPowerOfOCO(t *testing.T) {
	inBubble(t, funded, func(t *testing.T, e *Engine) {
		limited := ask(t, e, func(r *book.OrderRequest) {
			r.Quantity, r.Type, r.Price, r.OCO = 5*exact.One, book.Limit, 90*exact.One, book.OCO{StopPrice: 105 * exact.One, Price: 104 * exact.One}
		})
		reserved := func(when string) {
			t.Helper()
			if a := statement(t, e); a.Reserved.String() != "525.2" {
				t.Errorf("%s %s is reserved, want 525.2", when, a.Reserved)
			}
		}
		reserved("at first")
		ask(t, e, func(r *book.OrderRequest) {
			r.Quantity, r.Type, r.StopPrice, r.Price, r.Replaces = 5*exact.One, book.StopLimit, 106*exact.One, 104*exact.One, limited.ID+"-oco"
		})
		reserved("with a younger stop")
		ask(t, e, func(r *book.OrderRequest) {
			r.Quantity, r.Type, r.Price, r.Replaces = 5*exact.One, book.Limit, 91*exact.One, limited.ID
		})
		reserved("with a younger limit")
	})
}

// TestTurningAround: what turns a position around needs its share of the value that opens
// the new one, less what the old one is worth, and the fee of all of it. By hand: 9 bought
// at 100 leave 91 of 1,000. To sell 12 opens 3, which are worth less than the 9. Then 979 are
// there and 3 short, so 679 can be spent; to buy 12 opens 9 and needs 900 - 300 + 12 = 612,
// and to buy 13 opens 10 and needs 1000 - 300 + 13 = 713.
func TestTurningAround(t *testing.T) {
	inBubble(t, func(o *Options) { funded(o); o.Account.Short = true }, func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "9", "")
		place(t, e, book.Sell, book.Market, "12", "")
		if a := statement(t, e); a.Equity.String() != "979" || a.BuyingPower.String() != "679" {
			t.Errorf("equity %s and buying power %s, want 979 and 679", a.Equity, a.BuyingPower)
		}
		_, err := try(t, e, func(r *book.OrderRequest) { r.Quantity = 13 * exact.One })
		if code(err) != "buying_power" || !strings.Contains(err.Error(), "needs 713 and 679 ") {
			t.Errorf("a buy of 13: %v, want buying_power", err)
		}
		place(t, e, book.Buy, book.Market, "12", "")
	})
}

// TestNoPriceOfPosition: after a start a position has no price until its source has told one.
// What the account is worth is not known until then, and what needs buying power is refused,
// or waits if it was accepted before; what only reduces a position passes. The account says
// null for what depends on the price, not a loss.
func TestNoPriceOfPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, o := journaltest.NewDisk(), testOptions(t)
		funded(&o)
		e, err := openOn(o, d)
		if err != nil {
			t.Fatal(err)
		}
		place(t, e, book.Buy, book.Market, "2", "")
		limit := ask(t, e, func(r *book.OrderRequest) { r.Symbol, r.Type, r.Price = "BBB", book.Limit, 95*exact.One }).ID
		stop := ask(t, e, func(r *book.OrderRequest) { r.Symbol = "BBB"; stopping(book.Buy, 105)(r) }).ID
		e.Close()
		if e, err = openOn(o, d); err != nil {
			t.Fatal(err)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Symbol = "BBB" }); code(err) != "no_price" || !strings.Contains(err.Error(), "not known: no price of AAA") {
			t.Errorf("a buy of another symbol: %v, want no_price, and that it is AAA's", err)
		}
		// 2 were bought at 100 with a fee of 2. One of each side needs 95 + 105 and 2 of fees.
		got, _ := json.Marshal(statement(t, e))
		const want = `{"currency":"USD","cash":798,"equity":null,"buying_power":null,"reserved":202,"exposure":null,` +
			`"realized_pnl":-2,"unrealized_pnl":null,"fees":2,"total_pnl":null,"day_pnl":null,"drawdown":null,"risk_to_stops":null,"unprotected":null,` +
			`"by_symbol":[{"symbol":"AAA","realized_pnl":-2,"unrealized_pnl":null,"fees":2}],` +
			`"by_day":[{"date":"2000-01-01","pnl":null,"realized_pnl":-2,"fees":2,"equity":null}],"complete":false,"synthetic":true,` +
			`"note":"USDT and USDC are counted as USD; AAA: no price is known now, and what depends on one is null until it is"}`
		if string(got) != want {
			t.Errorf("the account is\n%s, want\n%s", got, want)
		}
		for _, p := range []float64{94, 106, 100} {
			price(e, "BBB", p)
		}
		if l, s := found(t, e, limit), found(t, e, stop); l != "open" || s != "open" {
			t.Errorf("reached while the account cannot be valued: the limit is %s and the stop %s, want both open", l, s)
		}
		// Each says why it waits, in one record, however often it is reached.
		records := e.Status().Records
		for _, p := range []float64{94, 106, 100} {
			price(e, "BBB", p)
		}
		for _, id := range []string{limit, stop} {
			const want = "the market reached it while the account could not be valued (no price of AAA): a later price decides"
			if o, err := e.Order(id); o.Reason != want || err != nil {
				t.Errorf("the reason of %s is %q, want %q (%v)", id, o.Reason, want, err)
			}
		}
		if n := e.Status().Records - records; n != 0 {
			t.Errorf("%d more records while they wait, want none", n)
		}
		place(t, e, book.Sell, book.Market, "1", "")
		price(e, "BBB", 93)
		price(e, "BBB", 107)
		if l, s := found(t, e, limit), found(t, e, stop); l != "filled 95" || s != "filled 107" {
			t.Errorf("reached once it can be: the limit is %s and the stop %s, want filled at 95 and 107", l, s)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Symbol = "BBB" }); err != nil {
			t.Errorf("a buy of another symbol once there is a price: %v", err)
		}
		e.Close()
	})
}

// TestNoPriceOfOrder: what open orders reserve is null while it depends on a price that is
// not known, and so is the buying power, of which it is taken off. What does not depend on
// one stays. By hand, with a fee of one percent.
func TestNoPriceOfOrder(t *testing.T) {
	for _, c := range []struct {
		name          string
		held          string // bought at 100 before
		ask           func(*book.OrderRequest)
		before, after string // what is reserved
	}{
		// It opens 1 at 95 and closes 2, which are worth 200.
		{"turns a position around", "2", func(r *book.OrderRequest) { stopping(book.Sell, 95)(r); r.Quantity, r.MayOpen = 3*exact.One, true }, "0", "null"},
		// It stands at 105, and 1.05 are the fee. It would follow a price that has risen.
		{"trails", "", func(r *book.OrderRequest) { r.Type, r.TrailAmount = book.TrailingStop, 5*exact.One }, "106.05", "null"},
		{"trails, and only reduces", "2", func(r *book.OrderRequest) { r.Side, r.Type, r.TrailAmount = book.Sell, book.TrailingStop, 5*exact.One }, "0", "0"},
		{"adds to a position", "2", func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 95*exact.One }, "95.95", "95.95"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, o := journaltest.NewDisk(), testOptions(t)
				funded(&o)
				o.Account.Short = true
				e, err := openOn(o, d)
				if err != nil {
					t.Fatal(err)
				}
				if c.held != "" {
					place(t, e, book.Buy, book.Market, c.held, "")
				}
				ask(t, e, c.ask)
				if a := statement(t, e); show(a.Reserved) != c.before || !a.Complete {
					t.Errorf("%s is reserved, want %s; complete is %v", show(a.Reserved), c.before, a.Complete)
				}
				e.Close()
				if e, err = openOn(o, d); err != nil {
					t.Fatal(err)
				}
				a := statement(t, e)
				if show(a.Reserved) != c.after || a.BuyingPower != nil || a.Complete || !strings.Contains(a.Note, "; AAA: no price is known now") {
					t.Errorf("without a price %s is reserved, want %s; the buying power is %s, want null; complete is %v, want false; the note must name AAA: %s",
						show(a.Reserved), c.after, show(a.BuyingPower), a.Complete, a.Note)
				}
				if _, err := try(t, e, func(r *book.OrderRequest) { r.Symbol = "BBB" }); code(err) != "no_price" {
					t.Errorf("a buy of another symbol: %v, want no_price", err)
				}
				e.ensure(t.Context(), "AAA")
				if a := statement(t, e); show(a.Reserved) != c.before || !a.Complete {
					t.Errorf("with a price again %s is reserved, want %s; complete is %v", show(a.Reserved), c.before, a.Complete)
				}
				e.Close()
			})
		})
	}
}

// TestPowerBeyondExactNumbers: 60 billion times a leverage of 2 is more than an exact number
// holds. The buying power is the largest one then, which no order can be worth more than.
func TestPowerBeyondExactNumbers(t *testing.T) {
	inBubble(t, func(o *Options) {
		o.Account = book.AccountRules{Cash: 60_000_000_000 * exact.One, Leverage: 2 * exact.One}
	}, func(t *testing.T, e *Engine) {
		if a := statement(t, e); show(a.BuyingPower) != "92233720368.54775807" || !a.Complete || a.Equity.String() != "60000000000" {
			t.Errorf("buying power %s of an equity of %s, complete %v; want the largest number of 60000000000, true", show(a.BuyingPower), a.Equity, a.Complete)
		}
		if _, err := try(t, e, func(*book.OrderRequest) {}); err != nil {
			t.Errorf("an order: %v", err)
		}
	})
}

// TestReducingNeedsNothing: an account that has spent all can sell a part of what it
// holds at any price, now or later, and cannot buy more below the market.
func TestReducingNeedsNothing(t *testing.T) {
	inBubble(t, funded, func(t *testing.T, e *Engine) {
		ask(t, e, func(r *book.OrderRequest) { r.Quantity = 99 * exact.One / 10 }) // 990 and a fee of 9.9: 0.1 is left
		if o, err := try(t, e, func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 90*exact.One }); code(err) != "buying_power" {
			t.Errorf("one more at 90: %+v, %v, want buying_power", o, err)
		}
		id := ask(t, e, func(r *book.OrderRequest) { r.Side, r.Type, r.Price = book.Sell, book.Limit, 150*exact.One }).ID
		walk(e, 100, minute(0, 100, 151, 100, 100))
		if got := found(t, e, id); got != "filled 150" {
			t.Errorf("the sell limit at 150 is %s, want filled 150", got)
		}
	})
	inBubble(t, funded, func(t *testing.T, e *Engine) { // what was free when the order came is spent when it is filled
		ask(t, e, func(r *book.OrderRequest) { r.Quantity = 4 * exact.One })
		id := ask(t, e, func(r *book.OrderRequest) { r.Type, r.Price, r.Quantity = book.Limit, 90*exact.One, 5*exact.One }).ID
		e.book.Rules.Account.Cash = 700 * exact.One
		walk(e, 100, minute(0, 100, 100, 89, 100))
		if got := found(t, e, id); got != "rejected" {
			t.Errorf("the buy of five at 90 with 296 left is %s, want rejected", got)
		}
	})
}

// TestNoShort: an account sells what it has, unless shorting is allowed. Open orders that
// may open a position are counted, exits are not.
func TestNoShort(t *testing.T) {
	sell := func(r *book.OrderRequest) { r.Side, r.MayOpen = book.Sell, true }
	resting := func(r *book.OrderRequest) { sell(r); r.Type, r.Price = book.Limit, 120*exact.One }
	inBubble(t, funded, func(t *testing.T, e *Engine) {
		if _, err := try(t, e, sell); code(err) != "no_short" || !strings.Contains(err.Error(), "holds 0 of AAA, and may not sell more than it has (short in --paper-file): nothing can be sold") {
			t.Errorf("a sell without a position: %v, want no_short", err)
		}
		place(t, e, book.Buy, book.Market, "1", "")
		ask(t, e, func(r *book.OrderRequest) { resting(r); r.Quantity = dec(t, "0.6") })
		if _, err := try(t, e, sell); code(err) != "no_short" || !strings.Contains(err.Error(), "holds 1 of AAA, of which open orders sell 0.6, and may not sell more than it has (short in --paper-file): lower the quantity to at most 0.4") {
			t.Errorf("a sell of more than open orders leave: %v, want no_short with at most 0.4", err)
		}
		ask(t, e, func(r *book.OrderRequest) { resting(r); r.Quantity = dec(t, "0.4") })
		if _, err := try(t, e, sell); code(err) != "no_short" || !strings.Contains(err.Error(), "of which open orders sell 1, and may not sell more than it has (short in --paper-file): cancel or replace one of them") {
			t.Errorf("a sell when open orders sell everything: %v, want no_short with advice to cancel one", err)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity = book.Sell, 2*exact.One }); code(err) != "no_short" {
			t.Errorf("a sell of more than is held: %v, want no_short", err)
		}
		ask(t, e, func(r *book.OrderRequest) { r.Side = book.Sell }) // which can only reduce
	})
	inBubble(t, func(o *Options) { funded(o); o.Account.Short = true }, func(t *testing.T, e *Engine) {
		ask(t, e, sell)
		if a := statement(t, e); a.Cash.String() != "1099" || a.Equity.String() != "999" || a.BuyingPower.String() != "899" {
			t.Errorf("one sold short: %+v, want cash 1099, equity 999 and buying power 899", a)
		}
	})
}

// TestCurrencies: what is priced in another currency cannot be paid from the
// account and is not added up with it; USDT and USDC count as USD if asked for.
func TestCurrencies(t *testing.T) {
	for _, c := range []struct {
		symbol      string
		stablecoins bool
		want        string
	}{{"BTCUSD", false, ""}, {"BTCUSDT", true, ""}, {"BTCUSDC", true, ""}, {"BTCUSDT", false, "currency"}, {"BTCEUR", true, "currency"}, {"AAPL", false, ""},
		{"USDTJPY", true, "currency"}, {"BNBEUR", true, "currency"}, {"PEPE-EUR", true, "currency"}, {"BNBUSD", false, ""}, {"BATUSD", false, ""}} {
		inBubble(t, func(o *Options) { funded(o); o.Account.Stablecoins = c.stablecoins }, func(t *testing.T, e *Engine) {
			if _, err := try(t, e, func(r *book.OrderRequest) { r.Symbol = c.symbol }); code(err) != c.want {
				t.Errorf("%s: %v, want %q", c.symbol, err, c.want)
			}
		})
	}
	o := testOptions(t)
	e := openTest(t, o)
	if _, err := e.Place(t.Context(), book.OrderRequest{Symbol: "BTCEUR", Side: book.Buy, Type: book.Market, Quantity: exact.One}); err != nil {
		t.Fatal(err)
	}
	e.Close()
	funded(&o)
	e = openTest(t, o)
	defer e.Close()
	if a := statement(t, e); a.Equity.String() != "1000" || len(a.Excluded) != 1 || a.Excluded[0] != "BTCEUR" || len(a.BySymbol) != 0 {
		t.Errorf("with a position in euros: %+v, want an equity of 1000 and BTCEUR excluded", a)
	}
	sell := func(quantity exact.Decimal) error {
		_, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "BTCEUR", Side: book.Sell, Type: book.Market, Quantity: quantity})
		return err
	}
	if err := sell(2 * exact.One); code(err) != "currency" {
		t.Errorf("a sell of two when one is held in euros: %v, want currency", err)
	}
	if err := sell(exact.One); err != nil {
		t.Errorf("the position in euros cannot be closed: %v", err)
	}
	if a := statement(t, e); a.Cash.String() != "1000" {
		t.Errorf("closing it changed the cash: %+v, want 1000", a)
	}
}

// london is a market whose source names the currency: VOD.L is priced in pence, all else in pounds.
type london struct{ market.Source }

func (s london) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	bars, err := s.Source.Bars(ctx, q)
	if err == nil {
		bars.Currency = "GBP"
		if bars.Symbol == "VOD.L" {
			bars.Currency = "GBp"
		}
	}
	return bars, err
}

// TestPence: an account in pence pays for what is priced in pence, and not for what is priced in
// pounds, a hundred times as much. Once GBp became GBP, and both were the other way round.
func TestPence(t *testing.T) {
	for _, c := range []struct{ currency, counted, other string }{{"GBp", "VOD.L", "BARC.L"}, {"GBP", "BARC.L", "VOD.L"}} {
		inBubble(t, func(o *Options) { funded(o); o.Account.Currency, o.Source = c.currency, london{o.Source} }, func(t *testing.T, e *Engine) {
			if _, err := try(t, e, func(r *book.OrderRequest) { r.Symbol = c.counted }); err != nil {
				t.Errorf("%s from an account in %s: %v", c.counted, c.currency, err)
			}
			if _, err := try(t, e, func(r *book.OrderRequest) { r.Symbol = c.other }); code(err) != "currency" {
				t.Errorf("%s from an account in %s: %v, want currency", c.other, c.currency, err)
			}
			if a := statement(t, e); a.Currency != c.currency || len(a.BySymbol) != 1 || a.BySymbol[0].Symbol != c.counted {
				t.Errorf("the account in %s: %+v", c.currency, a)
			}
		})
	}
}

// TestCashChanges: another amount of --cash at the next start is neither a profit
// nor a loss of the day, and does not trip the limit of a day's loss.
func TestCashChanges(t *testing.T) {
	o := testOptions(t)
	funded(&o)
	o.Limits.DailyLoss = 50 * exact.One
	open := func() *Engine {
		e := openTest(t, o)
		if err := e.ensure(t.Context(), "AAA"); err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	e.tidy()
	place(t, e, book.Buy, book.Market, "1", "") // a fee of 1
	e.Close()
	for _, cash := range []exact.Decimal{500, 3000} {
		o.Account.Cash = cash * exact.One
		e = open()
		a := statement(t, e)
		if a.Day.String() != "-1" || a.ByDay[0].Profit.String() != "-1" || a.Drawdown.String() != "1" || a.Total.String() != "-1" {
			t.Errorf("with %d paid in: day %s, by day %+v, drawdown %s, total %s, want -1, -1, 1 and -1", cash, a.Day, a.ByDay, a.Drawdown, a.Total)
		}
		if err := e.refreshTrading(); err != nil || e.Status().Trading != book.Active {
			t.Errorf("with %d paid in: trading is %s, %v, want active", cash, e.Status().Trading, err)
		}
		e.Close()
	}
	o.Account.Cash = 1000 * exact.One
	o.Limits.DailyLoss = exact.One
	e = open()
	defer e.Close()
	if err := e.refreshTrading(); err != nil || e.Status().Trading != book.Reducing {
		t.Errorf("with one lost: trading is %s, %v, want reducing", e.Status().Trading, err)
	}
}

// TestDays: what each day made is listed, and survives a restart.
func TestDays(t *testing.T) {
	inBubble(t, funded, func(t *testing.T, e *Engine) {
		e.tidy()
		place(t, e, book.Buy, book.Market, "1", "") // a fee of 1
		price(e, "AAA", 105)
		time.Sleep(24 * time.Hour)
		e.tidy() // 999 + 5
		price(e, "AAA", 103)
		ask(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity, r.All = book.Sell, 0, true }) // a fee of 1.03
		a := statement(t, e)
		if len(a.ByDay) != 2 || a.ByDay[1].Profit.String() != "4" || a.ByDay[1].Realized.String() != "-1" || a.ByDay[0].Profit.String() != "-3.03" || a.Day != a.ByDay[0].Profit {
			t.Errorf("by day: %+v, want -3.03 today and 4 the day before, of which -1 is realized", a.ByDay)
		}
		text, err := e.book.Snapshot().Encode()
		if err != nil {
			t.Fatal(err)
		}
		s, err := book.DecodeState(e.book.Store, e.book.Seq, text)
		if err != nil || len(s.Days) != 2 || s.Days[1] != e.book.Days[1] {
			t.Errorf("the days read back from a snapshot: %+v, %v", s.Days, err)
		}
	})
}

// TestDailyLoss: with 50 lost only closing orders are taken, though the price
// recovers, until the day is over.
func TestDailyLoss(t *testing.T) {
	inBubble(t, func(o *Options) { funded(o); o.Limits.DailyLoss = 50 * exact.One }, func(t *testing.T, e *Engine) {
		e.tidy()
		place(t, e, book.Buy, book.Market, "4", "") // a fee of 4
		waiting := ask(t, e, func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 85*exact.One }).ID
		price(e, "AAA", 89) // 44 more
		if err := e.refreshTrading(); err != nil || e.Status().Trading != book.Active {
			t.Errorf("48 are lost: trading is %s, %v, want active", e.Status().Trading, err)
		}
		price(e, "AAA", 88)
		price(e, "AAA", 120)
		if _, err := try(t, e, func(*book.OrderRequest) {}); err != nil { // nobody looked while it was down
			t.Fatal(err)
		}
		price(e, "AAA", 86)
		if _, err := try(t, e, func(*book.OrderRequest) {}); code(err) != "max_daily_loss" || e.Status().Trading != book.Reducing || !strings.Contains(err.Error(), "today (--max-daily-loss, which is 50 now), and has lost 95.2 by now:") { // 4 of 100 and 1 of 120 at 86, and 1 % of fees
			t.Errorf("over 50 are lost: %v, trading is %s, want max_daily_loss and reducing", err, e.Status().Trading)
		}
		price(e, "AAA", 120)
		if _, err := try(t, e, func(*book.OrderRequest) {}); code(err) != "max_daily_loss" || !strings.Contains(err.Error(), "today (--max-daily-loss, which is 50 now), and has made up for it since:") {
			t.Errorf("after the price recovered: %v, want max_daily_loss", err)
		}
		price(e, "AAA", 84)
		if got := found(t, e, waiting); got != "open" {
			t.Errorf("a buy order that rests is %s, want open", got)
		}
		ask(t, e, func(r *book.OrderRequest) { r.Side = book.Sell })
		// 4 are left, and a limit that waits for one of them does not count against closing them.
		place(t, e, book.Sell, book.Limit, "1", "130")
		_, err := try(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity = book.Sell, 5*exact.One })
		if code(err) != "max_daily_loss" || !strings.Contains(err.Error(), "this one, with the open orders of its side, opens or grows one") {
			t.Errorf("a sell of one more than is held: %v, want max_daily_loss", err)
		}
		ask(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity = book.Sell, 4*exact.One })
		time.Sleep(24 * time.Hour)
		e.tidy()
		if err := e.refreshTrading(); err != nil || e.Status().Trading != book.Active {
			t.Errorf("on the next day: trading is %s, %v, want active", e.Status().Trading, err)
		}
	})
}

// goOn lets the price of AAA go from where it is to each of a few prices.
func goOn(e *Engine, from float64, way []float64) {
	for _, p := range way {
		time.Sleep(2 * time.Millisecond)
		e.deliver(context.Background(), market.Update{Symbol: "AAA", Synthetic: true, Price: p, From: from, High: max(from, p), Low: min(from, p), At: time.Now().UnixMilli()})
		from = p
	}
}

// TestDailyLossOnTheWay: one price leads from 100 to 80, and on the way there the account reaches
// the limit of the daily loss; what waits above that is filled, what opens a position below it is
// not, and a stop that would turn the position around closes it. The prices before and after do not
// matter, nor how many there are.
func TestDailyLossOnTheWay(t *testing.T) {
	for _, way := range [][]float64{{80}, {94, 86, 80}} {
		inBubble(t, func(o *Options) { funded(o); o.FeeRate, o.Account.Short, o.Limits.DailyLoss = 0, true, 50*exact.One }, func(t *testing.T, e *Engine) {
			e.tidy()
			place(t, e, book.Buy, book.Market, "4", "")
			var ids []string
			for _, change := range []func(*book.OrderRequest){limiting(book.Buy, 95), limiting(book.Buy, 85), of(8, func(r *book.OrderRequest) {
				stopping(book.Sell, 84)(r)
				r.MayOpen = true
			})} {
				ids = append(ids, ask(t, e, change).ID)
			}
			goOn(e, 100, append([]float64{100}, way...))
			var got []string
			for _, id := range ids {
				got = append(got, found(t, e, id))
			}
			h := must(e.Positions(true))[0]
			if want := []string{"filled 95", "open", "cancelled 84"}; !slices.Equal(got, want) || h.Quantity != 0 || e.Status().Trading != book.Reducing {
				t.Errorf("by way of %v: %q, %s %s held, trading is %s, want %q, nothing and reducing", way, got, h.Side, h.Quantity, e.Status().Trading, want)
			}
		})
	}
}

// TestDailyLossOfPriceAskedFor: the price that an order asks for is the one by which the account has
// lost too much.
func TestDailyLossOfPriceAskedFor(t *testing.T) {
	now := 100.0
	feed := quoting{quote: func() (market.Quote, error) {
		return market.Quote{Symbol: "AAA", Price: now, At: time.Now().UnixMilli(), Source: "test"}, nil
	}}
	inBubble(t, func(o *Options) { funded(o); o.Feed, o.Limits.DailyLoss = feed, 50*exact.One }, func(t *testing.T, e *Engine) {
		e.tidy()
		ask(t, e, of(4, func(*book.OrderRequest) {}))
		time.Sleep(time.Second)
		now = 80
		if _, err := try(t, e, func(*book.OrderRequest) {}); code(err) != "max_daily_loss" || e.Status().Trading != book.Reducing {
			t.Errorf("over 50 are lost at the price that the order asks for: %v, trading is %s, want max_daily_loss and reducing", err, e.Status().Trading)
		}
		ask(t, e, of(4, func(r *book.OrderRequest) { r.Side = book.Sell }))
	})
}

// TestBuyingPowerOnTheWay: whether the account can pay for an order that the market reaches is
// judged where the market is then, and not where the price goes on to.
func TestBuyingPowerOnTheWay(t *testing.T) {
	for _, way := range [][]float64{{90}, {98, 94, 90}} {
		inBubble(t, func(o *Options) { funded(o); o.FeeRate, o.Account.Leverage = 0, 3*exact.One }, func(t *testing.T, e *Engine) {
			place(t, e, book.Buy, book.Market, "25", "")
			high, low := ask(t, e, of(2, limiting(book.Buy, 98))).ID, ask(t, e, of(2, limiting(book.Buy, 91))).ID
			goOn(e, 100, append([]float64{100}, way...))
			if got := found(t, e, high) + ", " + found(t, e, low); got != "filled 98, rejected" {
				t.Errorf("by way of %v: %s, want the one at 98 filled and the one at 91 rejected", way, got)
			}
		})
	}
}

// TestDailyLossAfterHalt: a halt, or the word reducing in HALT, on the day of the loss does
// not end what the loss has begun. The next day does, and while trading is halted it
// writes nothing, so that the owner is not told of a change that is none.
func TestDailyLossAfterHalt(t *testing.T) {
	for _, word := range []string{"", "reducing"} {
		t.Run("HALT="+word, func(t *testing.T) { testLossAfterHalt(t, word) })
	}
}

// testLossAfterHalt is TestDailyLossAfterHalt for a word in the file HALT.
func testLossAfterHalt(t *testing.T, word string) {
	inBubble(t, func(o *Options) { funded(o); o.Limits.DailyLoss = 50 * exact.One }, func(t *testing.T, e *Engine) {
		halt := func() {
			t.Helper()
			if err := os.WriteFile(filepath.Join(e.options.Dir, haltName), []byte(word), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := e.refreshTrading(); err != nil || e.Status().Trading == book.Active {
				t.Fatalf("HALT with %q: trading is %s, %v", word, e.Status().Trading, err)
			}
		}
		e.tidy()
		place(t, e, book.Buy, book.Market, "4", "")
		price(e, "AAA", 86)
		if _, err := try(t, e, func(*book.OrderRequest) {}); code(err) != "max_daily_loss" {
			t.Fatalf("over 50 are lost: got %v, want max_daily_loss", err)
		}
		price(e, "AAA", 120)
		halt()
		if err := e.SetHalt(false); err != nil || e.Status().Trading != book.Reducing {
			t.Errorf("HALT with %q is gone on the day of the loss: trading is %s, %v, want reducing", word, e.Status().Trading, err)
		}
		if _, err := try(t, e, func(*book.OrderRequest) {}); code(err) != "max_daily_loss" {
			t.Errorf("after HALT with %q on the day of the loss: got %v, want max_daily_loss", word, err)
		}
		halt()
		time.Sleep(24 * time.Hour)
		e.tidy()
		before := e.book.Seq
		if err := e.refreshTrading(); err != nil || word == "" && e.book.Seq != before {
			t.Errorf("on the next day, still halted: %d records, %v, want none", e.book.Seq-before, err)
		}
		if err := e.SetHalt(false); err != nil || e.Status().Trading != book.Active {
			t.Errorf("HALT with %q is gone on the next day: trading is %s, %v, want active", word, e.Status().Trading, err)
		}
	})
}

// TestDailyLossDuringHalt: a loss that reaches the limit while the owner restricts trading
// counts once the restriction is over, though the price has recovered by then. It is told
// once, as a loss.
func TestDailyLossDuringHalt(t *testing.T) {
	for _, word := range []string{"", "reducing"} {
		inBubble(t, func(o *Options) { funded(o); o.Limits.DailyLoss = 50 * exact.One }, func(t *testing.T, e *Engine) {
			refresh := func(when string, want book.TradingState) {
				t.Helper()
				if err := e.refreshTrading(); err != nil || e.Status().Trading != want {
					t.Errorf("HALT with %q, %s: trading is %s, %v, want %s", word, when, e.Status().Trading, err, want)
				}
			}
			e.tidy()
			place(t, e, book.Buy, book.Market, "4", "")
			if err := os.WriteFile(filepath.Join(e.options.Dir, haltName), []byte(word), 0o600); err != nil {
				t.Fatal(err)
			}
			restricted := cmp.Or(book.TradingState(word), book.Halted)
			refresh("at first", restricted)
			price(e, "AAA", 86) // 4 bought at 100 have lost 56
			before := e.book.Seq
			refresh("with the loss", restricted)
			refresh("with the loss, a second later", restricted)
			if e.book.Tripped == "" || e.book.Seq == before {
				t.Errorf("HALT with %q: the loss is not written down", word)
			}
			price(e, "AAA", 120)
			written := e.book.Seq
			refresh("after the price recovered", restricted)
			if e.book.Seq != written {
				t.Errorf("HALT with %q: %d records more for one loss", word, e.book.Seq-written)
			}
			if err := e.SetHalt(false); err != nil {
				t.Fatal(err)
			}
			if _, err := try(t, e, func(*book.OrderRequest) {}); code(err) != "max_daily_loss" {
				t.Errorf("HALT with %q is gone: got %v, want max_daily_loss", word, err)
			}
		})
	}
}

// TestDailyLossAfterSharedHalt: on a shared log, too, a halt on the day of the loss does not
// end what the loss has begun, and what the loss has begun does not end the halt. The next
// day lets trading go on once the halt is lifted.
func TestDailyLossAfterSharedHalt(t *testing.T) {
	inBubble(t, func(o *Options) { funded(o); o.Limits.DailyLoss = 50 * exact.One }, func(t *testing.T, e *Engine) {
		e.peers = struct{ Shared }{} // a leader that asks nobody
		defer func() { e.peers = nil }()
		is := func(when string, want book.TradingState, err error) {
			t.Helper()
			if err == nil {
				err = e.refreshTrading() // as every second
			}
			if got := e.Status().Trading; err != nil || got != want {
				t.Errorf("%s: trading is %s, %v, want %s", when, got, err, want)
			}
		}
		e.tidy()
		place(t, e, book.Buy, book.Market, "4", "")
		price(e, "AAA", 86)
		is("over 50 are lost", book.Reducing, nil)
		price(e, "AAA", 120)
		is("halted on the day of the loss", book.Halted, e.SetHalt(true))
		is("lifted on the day of the loss", book.Reducing, e.SetHalt(false))
		if _, err := try(t, e, func(*book.OrderRequest) {}); code(err) != "max_daily_loss" {
			t.Errorf("an order after the halt on the day of the loss: got %v, want max_daily_loss", err)
		}
		is("halted once more", book.Halted, e.SetHalt(true))
		time.Sleep(24 * time.Hour)
		e.tidy()
		is("still halted on the next day", book.Halted, nil)
		is("lifted on the next day", book.Active, e.SetHalt(false))
	})
}

// TestDailyLossAfterSharedReducing: on a shared log the word reducing in the leader's HALT does
// not end what the loss has begun either, and a loss that is reached meanwhile counts. The word
// lasts until the owner lifts it, also over the end of the day, without the file, and in what
// the next leader reads.
func TestDailyLossAfterSharedReducing(t *testing.T) {
	for _, lost := range []string{"before", "meanwhile"} {
		inBubble(t, func(o *Options) { funded(o); o.Limits.DailyLoss = 50 * exact.One }, func(t *testing.T, e *Engine) {
			e.peers = struct{ Shared }{} // a leader that asks nobody
			defer func() { e.peers = nil }()
			is := func(when string, want book.TradingState, err error) {
				t.Helper()
				if err == nil {
					err = e.refreshTrading() // as every second
				}
				if got := e.Status().Trading; err != nil || got != want {
					t.Errorf("lost %s, %s: trading is %s, %v, want %s", lost, when, got, err, want)
				}
			}
			name := filepath.Join(e.options.Dir, haltName)
			write := func() error { return os.WriteFile(name, []byte(book.Reducing), 0o600) }
			lose := func() {
				price(e, "AAA", 86)
				is("over 50 are lost", book.Reducing, nil)
				price(e, "AAA", 120)
			}
			e.tidy()
			place(t, e, book.Buy, book.Market, "4", "")
			if lost == "before" {
				lose()
			}
			is("with the file", book.Reducing, write())
			if lost == "meanwhile" {
				lose()
			}
			is("without the file", book.Reducing, os.Remove(name))
			is("lifted on the day of the loss", book.Reducing, e.SetHalt(false))
			if _, err := try(t, e, func(*book.OrderRequest) {}); code(err) != "max_daily_loss" {
				t.Errorf("lost %s, an order on the day of the loss: got %v, want max_daily_loss", lost, err)
			}
			is("with the file once more", book.Reducing, write())
			is("without the file once more", book.Reducing, os.Remove(name))
			text, err := e.book.Snapshot().Encode()
			next, wrong := book.DecodeState("", 0, text)
			if err != nil || wrong != nil || next.Tripped == "" || next.Tripped != e.book.Tripped || !next.ByOwner {
				t.Errorf("lost %s: the next leader reads %+v, %v, %v", lost, next, err, wrong)
			}
			time.Sleep(24 * time.Hour)
			e.tidy()
			is("on the next day", book.Reducing, nil)
			is("lifted on the next day", book.Active, e.SetHalt(false))
		})
	}
}

// TestSharedHaltBesideReducing: on a shared log a halt lasts until it is lifted, also if the
// leader's HALT says reducing. What lifts it removes the file, as without a shared log:
// otherwise the next look at the file would restrict trading again.
func TestSharedHaltBesideReducing(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.peers = struct{ Shared }{} // a leader that asks nobody
		defer func() { e.peers = nil }()
		name := filepath.Join(e.options.Dir, haltName)
		for _, c := range []struct {
			when string
			do   func() error
			want book.TradingState
		}{
			{"with the file", func() error { return os.WriteFile(name, []byte(book.Reducing), 0o600) }, book.Reducing},
			{"halted", func() error { return e.SetHalt(true) }, book.Halted},
			{"lifted", func() error { return e.SetHalt(false) }, book.Active},
			{"with a file that halts", func() error { return os.WriteFile(name, nil, 0o600) }, book.Halted},
			{"lifted once more", func() error { return e.SetHalt(false) }, book.Active},
		} {
			err := c.do()
			if err == nil {
				err = e.refreshTrading() // as every second
			}
			if got := e.Status().Trading; err != nil || got != c.want {
				t.Errorf("%s: trading is %s, %v, want %s", c.when, got, err, c.want)
			}
		}
	})
}

// TestSharedHaltStays: if the leader's HALT cannot be removed, the halt is not lifted, not
// even until the file is looked at again.
func TestSharedHaltStays(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.peers = struct{ Shared }{} // a leader that asks nobody
		defer func() { e.peers = nil }()
		if err := os.MkdirAll(filepath.Join(e.options.Dir, haltName, "full"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := e.refreshTrading(); err != nil {
			t.Fatal(err)
		}
		if err := e.SetHalt(false); err == nil || e.Status().Trading != book.Halted {
			t.Errorf("lifted: %v, trading is %s", err, e.Status().Trading)
		}
	})
}

// asking is a shared log that notes what a follower asks. Its leader is another process.
type asking struct {
	Shared
	silent []error // what the first questions end with, once nobody waits any more
	asked  []string
}

func (a *asking) Ask(ctx context.Context, what string, in, _ any) error {
	a.asked = append(a.asked, fmt.Sprint(what, " ", in))
	if n := len(a.asked); n <= len(a.silent) {
		<-ctx.Done()
		return a.silent[n-1]
	}
	return nil
}

func (a *asking) Tail(context.Context) (uint64, error) {
	a.asked = append(a.asked, "tail")
	return 0, nil
}

// follow has e follow another process until the test ends, and returns what it asks.
func follow(t *testing.T, e *Engine) *asking {
	a := &asking{}
	set := func(shared Shared, following bool) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.peers, e.following = shared, following
	}
	set(a, true)
	t.Cleanup(func() { set(nil, false) })
	return a
}

// TestHaltAtFollower: the leader lifts a halt, and the follower waits until it knows what
// that has led to, because the owner is told: a loss may still restrict trading. The leader
// cancels, too. One that does not answer to a halt is asked until the next may lead, which
// takes over four seconds. If none does, the owner is told that nothing was done, unless it
// may have been.
func TestHaltAtFollower(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		a := follow(t, e)
		if err := e.SetHalt(false); err != nil || !slices.Equal(a.asked, []string{"halt false", "tail"}) {
			t.Errorf("lifted: %v, asked %q", err, a.asked)
		}
		a.asked = nil
		if err := e.CancelEverything(t.Context(), book.Who{Name: "owner"}); err != nil || !slices.Equal(a.asked, []string{"cancel {owner  }"}) {
			t.Errorf("cancelled: %v, asked %q", err, a.asked)
		}
		lost, nobody := fmt.Errorf("%w: no answer", journal.ErrUnknown), errors.New("nobody leads")
		a.asked, a.silent = nil, []error{lost, nobody}
		if err := e.SetHalt(true); err != nil || !slices.Equal(a.asked, []string{"halt true", "halt true", "halt true", "tail"}) {
			t.Errorf("halted while the leader is paused: %v, asked %q", err, a.asked)
		}
		for _, ends := range [][]error{{lost, lost, lost}, {nobody, lost, nobody}, {nobody, nobody, nobody}} {
			a.asked, a.silent = nil, ends
			if err := e.SetHalt(true); err != ends[1] {
				t.Errorf("halted, and three questions ended with %q: %v", ends, err)
			}
		}
	})
}

// TestSharedHaltNotesPrices: on a shared log, too, the end of a halt writes down how far the
// market was judged, so that the next leader does not fill an order at a price that came
// during the halt. Refusals name no file, because there may be none.
func TestSharedHaltNotesPrices(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.peers = struct{ Shared }{} // a leader that asks nobody
		defer func() { e.peers = nil }()
		place(t, e, book.Buy, book.Limit, "1", "95")
		if err := e.SetHalt(true); err != nil {
			t.Fatal(err)
		}
		if _, err := try(t, e, func(*book.OrderRequest) {}); code(err) != "trading_halted" || strings.Contains(err.Error(), "HALT") {
			t.Errorf("an order during the halt, which needs no file: %v", err)
		}
		price(e, "AAA", 90)
		price(e, "AAA", 110)
		if err := e.SetHalt(false); err != nil {
			t.Fatal(err)
		}
		if s := e.book.Seen["AAA"]; s == nil || s.Price != 110*exact.One {
			t.Errorf("the halt is over and the price of 110 was judged: the journal has %+v", s)
		}
	})
}

// TestRiskOfNearestStop: the stop that a fall comes to first is the one that counts,
// whichever was placed first. 2 are held at 100: 1 is sold at 95 and 1 at 80.
func TestRiskOfNearestStop(t *testing.T) {
	inBubble(t, funded, func(t *testing.T, e *Engine) {
		e.tidy()
		place(t, e, book.Buy, book.Market, "2", "")
		for i, c := range []struct{ quantity, stop, risk int64 }{{2, 80, 40}, {1, 95, 25}} {
			ask(t, e, func(r *book.OrderRequest) {
				r.Side, r.Type, r.StopPrice, r.ReduceOnly, r.Quantity = book.Sell, book.Stop, exact.Decimal(c.stop)*exact.One, true, exact.Decimal(c.quantity)*exact.One
			})
			if got := statement(t, e).Risk.String(); got != fmt.Sprint(c.risk) {
				t.Errorf("after stop %d: risk %s, want %d", i+1, got, c.risk)
			}
		}
	})
}

// TestCloseAgain: an order that closes a position is not taken for a repetition of the
// one that closed the position before. A position that stays is listed with the reason
// and without an order.
func TestCloseAgain(t *testing.T) {
	inBubble(t, funded, func(t *testing.T, e *Engine) {
		for range 2 {
			ask(t, e, func(r *book.OrderRequest) {
				r.Quantity, r.ClientOrderID = exact.One, fmt.Sprint(len(must(e.Orders(false))))
			})
			closed, err := e.CloseAll(t.Context(), book.OrderRequest{Type: book.Market, All: true}, nil)
			if err != nil || len(closed) != 1 || closed[0].Error != "" || len(must(e.Positions(false))) != 0 {
				t.Errorf("closed %+v, %v, want one position closed and none left", closed, err)
			}
		}
	})
	text, err := json.Marshal(Closed{Placed: book.Placed{Order: book.Order{Symbol: "AAA"}}, Error: "why"})
	if want := `{"symbol":"AAA","error":"why"}`; err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}

// TestExitMeantInPercent: a bare number is a price; one that can only have been
// meant in percent is refused, and the refusal says how that is written.
func TestExitMeantInPercent(t *testing.T) {
	inBubble(t, funded, func(t *testing.T, e *Engine) { // the price is 100
		for text, meant := range map[string]bool{"3": true, "0.03": true, "49": true, "50": false, "51": false, "3%": false, "60%": false} {
			err := tryExit(t, e, book.Buy, text, "")
			if (err != nil) != meant || err != nil && (code(err) != "bad_exit" || !strings.Contains(err.Error(), `write "3%"`)) {
				t.Errorf("stop_loss %s: %v, want a word of percent: %t", text, err, meant)
			}
		}
	})
}

// tryExit returns the refusal of an entry at 100 with these exits; "" is none.
func tryExit(t *testing.T, e *Engine, side book.Side, stop, profit string) error {
	t.Helper()
	_, err := try(t, e, func(r *book.OrderRequest) {
		r.Side, r.Quantity, r.DryRun = side, exact.One, true
		for text, x := range map[string]*book.Exit{stop: &r.StopLoss, profit: &r.TakeProfit} {
			var err error
			if *x, err = book.ParseExit(text); text != "" && err != nil {
				t.Fatal(err)
			}
		}
	})
	return err
}

// TestExitBounds: the refusal of an exit that is too far away names the farthest prices, which
// are then taken, and says how a distance is written.
func TestExitBounds(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) { // the price is 100
		for _, c := range []struct {
			side         book.Side
			stop, profit string
			want         string // in the refusal
			works        string // is taken in its place
		}{
			{book.Buy, "49.5", "", "from 50 to 150;", "50"},
			{book.Sell, "151", "", "from 50 to 150;", "150"},
			{book.Buy, "", "1001", "from 10 to 1000;", "1000"},
			{book.Sell, "", "9", "from 10 to 1000;", "10"},
			{book.Sell, "3", "", `write "3%"`, "3%"},
			{book.Buy, "101", "", "of a buy it is below the entry", "99"},
			{book.Sell, "99", "", "of a sell it is above the entry", "101"},
		} {
			err := tryExit(t, e, c.side, c.stop, c.profit)
			if code(err) != "bad_exit" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: got %v", c, err)
			}
			stop, profit := c.works, ""
			if c.profit != "" {
				stop, profit = "", c.works
			}
			if err := tryExit(t, e, c.side, stop, profit); err != nil {
				t.Errorf("%s in place of %+v gives %v", c.works, c, err)
			}
		}
		// What the refusal of a percentage says is then taken.
		if err := tryExit(t, e, book.Buy, "", "250"); err != nil {
			t.Errorf("a take_profit 150 %% away, written as a price, is refused: %v", err)
		}
		for _, text := range []string{"100%", "150%"} {
			if _, err := book.ParseExit(text); code(err) != "bad_exit" || !strings.Contains(err.Error(), "in percent such as 3% (above 0 and below 100)") ||
				!strings.Contains(err.Error(), "further away a take_profit is written as a price, and a stop_loss in average true ranges") {
				t.Errorf("exit %q: %v, want bad_exit with how to write it", text, err)
			}
		}
	})
}
