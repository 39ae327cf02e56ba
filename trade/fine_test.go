package trade

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// TestPricesBeyondExactNumbers: prices are counted in 0.00000001 up to 92
// billion; one that is not such a number is refused for good, never with advice to
// try again later, and never traded at a rounded price.
func TestPricesBeyondExactNumbers(t *testing.T) {
	for _, c := range []struct {
		price float64
		want  string
	}{
		{0.00001234, "0.00001234"},
		{1234567890.12, "1234567890.12"},
		{261.739990234375, "261.73999023"}, // what a service makes of 261.74 in 32 bits
		{0.0000123456, "price_not_exact"},  // ten decimals: a part in two thousand would be lost
		{0.0000000012, "price_not_exact"},
		{123456789012, "price_not_exact"},
	} {
		inBubble(t, func(o *Options) {
			o.Source = flat(c.price)
			o.Limits.OrderNotional = 9e18
			o.Limits.PositionNotional = 9e18
		}, func(t *testing.T, e *Engine) {
			o, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One})
			if got := strings.TrimSuffix(code(err)+show(o.AveragePrice), "null"); got != c.want {
				t.Errorf("price %v: %s (%v), want %s", c.price, got, err, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), string(book.Never)) {
				t.Errorf("price %v: %v, want a refusal that is for ever", c.price, err)
			}
		})
	}
}

// TestSmallestQuantity: the smallest quantity trades exactly, at 10^-8 of 100.
func TestSmallestQuantity(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "0.00000001", "")
		price(e, "AAA", 100.00000001)
		if p := must(e.Positions(false))[0]; p.Quantity.String() != "0.00000001" || p.EntryPrice.String() != "100" || p.UnrealizedPnL.String() != "0.0000000000000001" {
			t.Errorf("position %+v, want 0.00000001 at 100 with a profit of 10^-16", p)
		}
		if _, err := exact.Parse([]byte("0.000000001")); err == nil || !strings.Contains(err.Error(), "more than 8 decimals") {
			t.Errorf("a quantity below the smallest: %v, want a refusal of more than 8 decimals", err)
		}
	})
}

// TestAlertsBeyondExactNumbers: an alert on a price that is no exact number is refused like an
// order there. Once it is set, it is judged by the price to eight decimals, as it is told, and
// not by one that is out of range.
func TestAlertsBeyondExactNumbers(t *testing.T) {
	for _, price := range []float64{0.0000123456, 1.43e-8, 1.2e-10, 1.5e12} {
		inBubble(t, func(o *Options) { o.Source = real{flat(price)} }, func(t *testing.T, e *Engine) {
			for _, condition := range []string{`{"price_above":0.00001}`, `{"price_below":0.00001}`} {
				if _, err := setAlert(t, e, condition, ""); code(err) != "price_not_exact" || !strings.Contains(err.Error(), string(book.Never)) {
					t.Errorf("%s at %v: %v, want price_not_exact", condition, price, err)
				}
			}
		})
	}
	for _, c := range []struct {
		condition string
		price     float64
		want      string // the message; empty if it does not fire
	}{
		{`{"price_below":261.73999023}`, 261.739990234375, "AAA is at 261.73999023, at or below 261.73999023."},
		{`{"price_below":261.73999022}`, 261.739990234375, ""},
		{`{"price_below":0.00000001}`, 1.43e-8, "AAA is at 0.00000001, at or below 0.00000001."},
		{`{"price_below":0.00000001}`, 1.2e-10, ""},
		{`{"price_above":50000000000}`, 1.5e12, ""},
		{`{"price_above":50000000000}`, 6e10, "AAA is at 60000000000, at or above 50000000000."},
	} {
		for _, repeat := range []book.Repeat{book.Once, book.EachTime, book.EachBar} {
			var told []string
			inBubble(t, func(o *Options) {
				o.Source = real{flat(300)}
				o.Notify = func(n book.Notification, _ []string) { told = append(told, n.Message) }
			}, func(t *testing.T, e *Engine) {
				r := book.AlertRequest{Symbol: "AAA", Repeat: repeat}
				if err := json.Unmarshal([]byte(c.condition), &r.Condition); err != nil {
					t.Fatal(err)
				}
				if _, err := e.SetAlert(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				walk(e, 300, minute(0, c.price, c.price, c.price, c.price))
			})
			if strings.Join(told, " ") != c.want {
				t.Errorf("%v, %s %s: told %q, want %q", c.price, repeat, c.condition, told, c.want)
			}
		}
	}
}

// TestReachedBeforeOutOfRange: a threshold is reached, and when the alert fires the market has
// left the range of exact numbers: its message names no price that the market is not at.
func TestReachedBeforeOutOfRange(t *testing.T) {
	var told []string
	inBubble(t, func(o *Options) {
		o.Source = real{flat(300)}
		o.Notify = func(n book.Notification, _ []string) { told = append(told, n.Message) }
	}, func(t *testing.T, e *Engine) {
		if _, err := setAlert(t, e, `{"price_above":400}`, ""); err != nil {
			t.Fatal(err)
		}
		walk(e, 300, minute(0, 300, 450, 300, 450), minute(1, 1.5e12, 1.5e12, 1.5e12, 1.5e12))
	})
	if want := "AAA reached 450, at or above 400."; strings.Join(told, " ") != want {
		t.Errorf("told %q, want %q", told, want)
	}
}

// TestRestartBeyondExactNumbers: a restart goes on from the price as it was judged. One that was
// out of range fires nothing when the market is back at an exact one and the threshold is not
// reached.
func TestRestartBeyondExactNumbers(t *testing.T) {
	for _, out := range []float64{261.739990234375, 1.2e-9, 1.5e12} {
		synctest.Test(t, func(t *testing.T) {
			p, s := newStill(t, 300)
			p.alert(`{"price_below":200}`, "")
			p.alert(`{"price_above":400}`, "")
			s.trade(out, out, 300)
			time.Sleep(2500 * time.Millisecond)
			p.stop()
			p.start()
			time.Sleep(2500 * time.Millisecond)
			s.trade(300, 300, 300)
			time.Sleep(2500 * time.Millisecond)
			if got := p.lines(); len(got) != 0 {
				t.Errorf("%v: told %q", out, got)
			}
			s.trade(401, 401, 300)
			time.Sleep(2500 * time.Millisecond)
			if got := strings.Join(p.lines(), ", "); got != "price_above 401 now false" {
				t.Errorf("%v: told %q", out, got)
			}
			p.stop()
		})
	}
}

// TestSignalsBeyondExactNumbers: signals are judged on bars whose prices are out of the
// range of exact numbers.
func TestSignalsBeyondExactNumbers(t *testing.T) {
	for _, price := range []float64{1.5e12, 1.2e-9} {
		var told []string
		inBubble(t, func(o *Options) {
			o.Source, o.Intervals = real{flat(price)}, []market.Interval{market.Minute1}
			o.Notify = func(n book.Notification, _ []string) { told = append(told, n.Condition.Signal) }
		}, func(t *testing.T, e *Engine) {
			if _, err := setAlert(t, e, `{"indicator_signal":{"indicator":"rule","when":"close > close[1]","signal":"becomes_true"}}`, "1m"); err != nil {
				t.Fatal(err)
			}
			bar := minute(0, price, 2*price, price, 2*price)
			time.Sleep(time.Minute)
			e.deliver(t.Context(), market.Update{Symbol: "AAA", Source: "test", Price: 2 * price, High: 2 * price, Low: price, From: price, At: time.Now().UnixMilli(),
				Closed: []market.ClosedBar{{Interval: market.Minute1, Bar: bar}}})
		})
		if !slices.Equal(told, []string{"becomes_true"}) {
			t.Errorf("%v: told %q, want one signal", price, told)
		}
	}
}

// TestOrdersBeyondExactNumbers: a price out of the range of exact numbers fills no order
// and values no position: it stays at the last price that fits.
func TestOrdersBeyondExactNumbers(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "1", "")
		place(t, e, book.Sell, book.Limit, "1", "120")
		place(t, e, book.Buy, book.Limit, "1", "80")
		for _, out := range []float64{1.5e12, 1.2e-9} {
			walk(e, 100, minute(0, 100, 100, 100, 100), minute(1, out, out, out, out))
			if p := must(e.Positions(false))[0]; show(p.CurrentPrice) != "100" || len(must(e.Orders(true))) != 2 {
				t.Errorf("at %v: position %+v, open orders %+v", out, p, must(e.Orders(true)))
			}
			if _, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}); code(err) != "price_not_exact" {
				t.Errorf("an order at %v: %v", out, err)
			}
		}
	})
}

// TestRestingBeyondExactNumbers: an order rests at 0.0003, and the market goes on with more
// than eight decimals. It is judged by prices to the nearest eight: a stop must not be left
// open because the market counts finer.
func TestRestingBeyondExactNumbers(t *testing.T) {
	for _, c := range []struct {
		side                   book.Side
		typ                    book.OrderType
		limit, stop            exact.Decimal
		open, high, low, price float64 // of the second minute
		want                   string
	}{
		{book.Buy, book.Limit, 29000, 0, 3e-4, 3e-4, 2.9000643e-4, 3e-4, "open"},
		{book.Buy, book.Limit, 29000, 0, 3e-4, 3e-4, 2.9000143e-4, 3e-4, "filled 0.00029"},
		{book.Sell, book.Limit, 31000, 0, 3e-4, 3.0999357e-4, 3e-4, 3e-4, "open"},
		{book.Sell, book.Limit, 31000, 0, 3e-4, 3.0999857e-4, 3e-4, 3e-4, "filled 0.00031"},
		{book.Sell, book.Stop, 0, 29000, 3e-4, 3e-4, 2.9000643e-4, 3e-4, "open"},
		{book.Sell, book.Stop, 0, 29000, 3e-4, 3e-4, 2.9000143e-4, 3e-4, "filled 0.00029"},
		{book.Buy, book.Stop, 0, 31000, 3e-4, 3.0999357e-4, 3e-4, 3e-4, "open"},
		{book.Buy, book.Stop, 0, 31000, 3e-4, 3.0999857e-4, 3e-4, 3e-4, "filled 0.00031"},
		// The minute opens beyond it.
		{book.Buy, book.Limit, 29000, 0, 2.8000643e-4, 2.9e-4, 2.8e-4, 2.9e-4, "filled 0.00028001"},
		{book.Sell, book.Stop, 0, 29000, 2.7999357e-4, 2.9e-4, 2.7e-4, 2.9e-4, "filled 0.00027999"},
		// A trailing stop 0.00001 away has moved.
		{book.Sell, book.TrailingStop, 0, 0, 3.1e-4, 3.100068e-4, 3.1e-4, 3.1e-4, "open at 0.00030001"},
		{book.Buy, book.TrailingStop, 0, 0, 2.9e-4, 2.9e-4, 2.899932e-4, 2.9e-4, "open at 0.00029999"},
	} {
		inBubble(t, func(o *Options) { o.Source = flat(3e-4) }, func(t *testing.T, e *Engine) {
			id := ask(t, e, func(r *book.OrderRequest) {
				r.Side, r.Type, r.Price, r.StopPrice = c.side, c.typ, c.limit, c.stop
				if c.typ == book.TrailingStop {
					r.TrailAmount = 1000
				}
			}).ID
			price(e, "AAA", 3e-4)
			walk(e, 3e-4, minute(0, 3e-4, 3e-4, 3e-4, 3e-4), minute(1, c.open, c.high, c.low, c.price))
			got := found(t, e, id)
			if o, err := e.Order(id); err == nil && c.typ == book.TrailingStop {
				got += " at " + show(o.StopPrice)
			}
			if got != c.want {
				t.Errorf("%s %s at %v within %v to %v: %s, want %s", c.side, c.typ, c.limit+c.stop, c.low, c.high, got, c.want)
			}
		})
	}
}

// TestRestingNearNothing: below half of 0.00000001 there is no price at which an order could be
// filled.
func TestRestingNearNothing(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source = flat(3e-8) }, func(t *testing.T, e *Engine) {
		buy := place(t, e, book.Buy, book.Limit, "1", "0.00000001").ID
		stop := ask(t, e, func(r *book.OrderRequest) { r.Side, r.Type, r.StopPrice = book.Sell, book.Stop, 1 }).ID
		for _, told := range []float64{1.53e-8, 4e-9, 1.53e-8} {
			price(e, "AAA", told)
			if found(t, e, buy) != "open" || found(t, e, stop) != "open" {
				t.Errorf("at %v the buy is %s and the stop %s, want both open", told, found(t, e, buy), found(t, e, stop))
			}
		}
		price(e, "AAA", 1e-8)
		if found(t, e, buy) != "filled 0.00000001" || found(t, e, stop) != "filled 0.00000001" {
			t.Errorf("at 1e-8 the buy is %s and the stop %s, want both filled there", found(t, e, buy), found(t, e, stop))
		}
	})
}
