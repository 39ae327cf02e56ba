package trade

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/exact"
	"wick/market"
)

// TestPricesBeyondExactNumbers: prices are counted in 0.00000001 up to 92
// billion. One that is not such a number is refused for good, never with advice to
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
			o, err := e.Place(t.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One})
			if got := strings.TrimSuffix(code(err)+show(o.AveragePrice), "null"); got != c.want {
				t.Errorf("price %v: %s (%v), want %s", c.price, got, err, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), string(never)) {
				t.Errorf("price %v: %v, want a refusal that is for ever", c.price, err)
			}
		})
	}
}

// TestSmallestQuantity: the smallest quantity trades exactly, at 10^-8 of 100.
func TestSmallestQuantity(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		place(t, e, Buy, Market, "0.00000001", "")
		price(e, "AAA", 100.00000001)
		if p := e.Positions()[0]; p.Quantity.String() != "0.00000001" || p.EntryPrice.String() != "100" || p.UnrealizedPnL.String() != "0.0000000000000001" {
			t.Errorf("position %+v, want 0.00000001 at 100 with a profit of 10^-16", p)
		}
		if _, err := exact.Parse([]byte("0.000000001")); err == nil || !strings.Contains(err.Error(), "more than 8 decimals") {
			t.Errorf("a quantity below the smallest: %v, want a refusal of more than 8 decimals", err)
		}
	})
}

// TestAlertsBeyondExactNumbers: a price alert is judged by the price as the source told
// it, also if that has more than eight decimals or is out of the range of exact numbers,
// and the price is told like that.
func TestAlertsBeyondExactNumbers(t *testing.T) {
	for _, c := range []struct {
		price     float64
		condition string
		stands    string
		bar       market.Bar // what comes after
		want      string     // the message; empty if it does not fire
	}{
		{1.43e-8, `{"price_below":0.00000001}`, `{"price":0.0000000143,"true":false}`, minute(0, 1.43e-8, 1.43e-8, 1.42857e-8, 1.43e-8), ""},
		{1.43e-8, `{"price_below":0.00000002}`, `{"price":0.0000000143,"true":true}`, minute(0, 1.43e-8, 1.43e-8, 1.42857e-8, 1.42857e-8), "AAA is at 0.0000000142857, at or below 0.00000002."},
		{1.43e-8, `{"price_above":0.00000001}`, `{"price":0.0000000143,"true":true}`, minute(0, 1.43e-8, 1.43e-8, 1.42857e-8, 1.42857e-8), "AAA is at 0.0000000142857, at or above 0.00000001."},
		{1.43e-8, `{"price_above":0.00000002}`, `{"price":0.0000000143,"true":false}`, minute(0, 1.43e-8, 1.9e-8, 1.43e-8, 1.8e-8), ""},
		{1.43e-8, `{"price_below":0.00000001}`, `{"price":0.0000000143,"true":false}`, minute(0, 1.43e-8, 1.43e-8, 9.9e-9, 1.2e-8), "AAA reached 0.0000000099, at or below 0.00000001, and is at 0.000000012."},
		{0.0000123456789, `{"price_above":0.00001236}`, `{"price":0.0000123456789,"true":false}`, minute(0, 0.0000123456789, 0.00001235802, 0.0000123456789, 0.00001235802), ""},
		{0.0000123456789, `{"price_above":0.00001235}`, `{"price":0.0000123456789,"true":false}`, minute(0, 0.0000123456789, 0.000012349999, 0.0000123456789, 0.0000123456789), ""},
		{0.0000123456789, `{"price_above":0.00001235}`, `{"price":0.0000123456789,"true":false}`, minute(0, 0.0000123456789, 0.00001235802, 0.0000123456789, 0.0000123456789), "AAA reached 0.00001235802, at or above 0.00001235, and is at 0.0000123456789."},
		{261.739990234375, `{"price_below":261.73999023}`, `{"price":261.739990234375,"true":false}`, minute(0, 261.739990234375, 261.75, 261.739990234375, 261.75), ""},
		{1.2e-9, `{"price_below":0.00000001}`, `{"price":0.0000000012,"true":true}`, minute(0, 1.2e-9, 1.3e-9, 1.2e-9, 1.3e-9), "AAA is at 0.0000000013, at or below 0.00000001."},
		{1.2e-10, `{"price_above":0.00000001}`, `{"price":1.2e-10,"true":false}`, minute(0, 1.2e-10, 1.3e-8, 1.2e-10, 1.3e-10), "AAA reached 0.000000013, at or above 0.00000001, and is at 1.3e-10."},
		{1.5e12, `{"price_above":50000000000}`, `{"price":1500000000000,"true":true}`, minute(0, 1.5e12, 1.6e12, 1.5e12, 1.6e12), "AAA is at 1600000000000, at or above 50000000000."},
		{1.5e12, `{"price_below":92233720368.54775807}`, `{"price":1500000000000,"true":false}`, minute(0, 1.5e12, 1.5e12, 1e11, 1e11), ""},
		{1.5e12, `{"price_below":50000000000}`, `{"price":1500000000000,"true":false}`, minute(0, 1.5e12, 1.5e12, 4e10, 1e11), "AAA reached 40000000000, at or below 50000000000, and is at 100000000000."},
		{4e10, `{"price_above":50000000000}`, `{"price":40000000000,"true":false}`, minute(0, 4e10, 1.5e12, 4e10, 4e10), "AAA reached 1500000000000, at or above 50000000000, and is at 40000000000."},
	} {
		for _, repeat := range []Repeat{Once, EachTime, EachBar} {
			var told []string
			inBubble(t, func(o *Options) {
				o.Source = real{flat(c.price)}
				o.Notify = func(n Notification, _ []string) { told = append(told, n.Message) }
			}, func(t *testing.T, e *Engine) {
				r := AlertRequest{Symbol: "AAA", Repeat: repeat}
				if err := json.Unmarshal([]byte(c.condition), &r.Condition); err != nil {
					t.Fatal(err)
				}
				a, err := e.SetAlert(t.Context(), r)
				stands, _ := json.Marshal(e.Standing(t.Context(), a))
				if err != nil || string(stands) != c.stands {
					t.Errorf("%v, %s: the market stands at %s (%v), want %s", c.price, c.condition, stands, err, c.stands)
				}
				bar := c.bar
				bar.Time = minute(0, 0, 0, 0, 0).Time
				walk(e, c.price, bar)
			})
			if strings.Join(told, " ") != c.want {
				t.Errorf("%v, %s %s: told %q, want %q", c.price, repeat, c.condition, told, c.want)
			}
		}
	}
}

// TestReturnsBeyondExactNumbers: an alert that repeats fires when the price comes to the
// threshold from the other side, by less than eight decimals can tell.
func TestReturnsBeyondExactNumbers(t *testing.T) {
	var told []string
	inBubble(t, func(o *Options) {
		o.Source = real{flat(1.1e-8)}
		o.Notify = func(n Notification, _ []string) { told = append(told, n.Value.String()) }
	}, func(t *testing.T, e *Engine) {
		r := AlertRequest{Symbol: "AAA", Repeat: EachTime, Condition: Condition{Type: PriceBelow, Threshold: 1}}
		if _, err := e.SetAlert(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		from := 1.1e-8
		for _, price := range []float64{9e-9, 8e-9, 1.1e-8, 1.2e-8, 9.5e-9} {
			walk(e, from, minute(0, from, max(from, price), min(from, price), price))
			from = price
		}
	})
	if want := []string{"0.000000009", "0.0000000095"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// TestRestartBeyondExactNumbers: a restart goes on from the price as it was told. From a
// rounded one an alert would fire at once, and it would not know a price that it has seen.
func TestRestartBeyondExactNumbers(t *testing.T) {
	for _, c := range []struct {
		price            float64
		waits, true, met string
		later            float64
		want             string
	}{
		{1.43e-8, `{"price_below":0.00000001}`, `{"price_below":0.00000002}`, `{"price_above":0.00000002}`, 2.1e-8, "price_above 0.000000021 now false"},
		{1.5e12, `{"price_below":90000000000}`, `{"price_above":90000000000}`, `{"price_below":80000000000}`, 7e10, "price_below 70000000000 now false, price_below 70000000000 now false"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, s := newStill(t, c.price)
			p.alert(c.waits, "")
			p.alert(c.true, "")
			p.alert(c.met, "")
			p.stop()
			p.start()
			time.Sleep(2500 * time.Millisecond)
			if got := p.lines(); len(got) != 0 {
				t.Errorf("%v: told %q after a restart without a new price", c.price, got)
			}
			s.trade(c.later, c.later, c.price)
			time.Sleep(2500 * time.Millisecond)
			if got := strings.Join(p.lines(), ", "); got != c.want {
				t.Errorf("%v: told %q, want %q", c.price, got, c.want)
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
			o.Notify = func(n Notification, _ []string) { told = append(told, n.Condition.Signal) }
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
		place(t, e, Buy, Market, "1", "")
		place(t, e, Sell, Limit, "1", "120")
		place(t, e, Buy, Limit, "1", "80")
		for _, out := range []float64{1.5e12, 1.2e-9} {
			walk(e, 100, minute(0, 100, 100, 100, 100), minute(1, out, out, out, out))
			if p := e.Positions()[0]; show(p.CurrentPrice) != "100" || len(e.Orders(true)) != 2 {
				t.Errorf("at %v: position %+v, open orders %+v", out, p, e.Orders(true))
			}
			if _, err := e.Place(t.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One}); code(err) != "price_not_exact" {
				t.Errorf("an order at %v: %v", out, err)
			}
		}
	})
}

// TestRestingBeyondExactNumbers: an order rests at 0.0003, and the market goes on with more
// than eight decimals. It is set off only by a price that has reached it as it was told, and
// what is filled at such a price is filled at the next one that is worse for the trader.
func TestRestingBeyondExactNumbers(t *testing.T) {
	for _, c := range []struct {
		side                   Side
		typ                    OrderType
		limit, stop            exact.Decimal
		open, high, low, price float64 // of the second minute
		want                   string
	}{
		// Told prices next to a limit or a stop: to the nearest eight decimals all of them are at it.
		{Buy, Limit, 29000, 0, 3e-4, 3e-4, 2.9000143e-4, 3e-4, "open"},
		{Buy, Limit, 29000, 0, 3e-4, 3e-4, 2.8999997e-4, 3e-4, "filled 0.00029"},
		{Sell, Limit, 31000, 0, 3e-4, 3.0999957e-4, 3e-4, 3e-4, "open"},
		{Sell, Limit, 31000, 0, 3e-4, 3.1000003e-4, 3e-4, 3e-4, "filled 0.00031"},
		{Sell, Stop, 0, 29000, 3e-4, 3e-4, 2.9000143e-4, 3e-4, "open"},
		{Sell, Stop, 0, 29000, 3e-4, 3e-4, 2.8999997e-4, 3e-4, "filled 0.00029"},
		{Buy, Stop, 0, 31000, 3e-4, 3.0999957e-4, 3e-4, 3e-4, "open"},
		{Buy, Stop, 0, 31000, 3e-4, 3.1000003e-4, 3e-4, 3e-4, "filled 0.00031"},
		// The minute opens beyond it.
		{Buy, Limit, 29000, 0, 2.8000143e-4, 2.9e-4, 2.8e-4, 2.9e-4, "filled 0.00028001"},
		{Sell, Limit, 31000, 0, 3.1999957e-4, 3.2e-4, 3.1e-4, 3.1e-4, "filled 0.00031999"},
		{Sell, Stop, 0, 29000, 2.7999957e-4, 2.9e-4, 2.7e-4, 2.9e-4, "filled 0.00027999"},
		{Buy, Stop, 0, 31000, 3.2000143e-4, 3.3e-4, 3.1e-4, 3.1e-4, "filled 0.00032001"},
		// A trailing stop 0.00001 away has moved by no more than the market was told to.
		{Sell, TrailingStop, 0, 0, 3.1e-4, 3.100008e-4, 3.1e-4, 3.1e-4, "open at 0.0003"},
		{Buy, TrailingStop, 0, 0, 2.9e-4, 2.9e-4, 2.899912e-4, 2.9e-4, "open at 0.0003"},
	} {
		inBubble(t, func(o *Options) { o.Source = flat(3e-4) }, func(t *testing.T, e *Engine) {
			id := ask(t, e, func(r *OrderRequest) {
				r.Side, r.Type, r.Price, r.StopPrice = c.side, c.typ, c.limit, c.stop
				if c.typ == TrailingStop {
					r.TrailAmount = 1000
				}
			}).ID
			price(e, "AAA", 3e-4)
			walk(e, 3e-4, minute(0, 3e-4, 3e-4, 3e-4, 3e-4), minute(1, c.open, c.high, c.low, c.price))
			got := found(t, e, id)
			if o, err := e.Order(id); err == nil && c.typ == TrailingStop {
				got += " at " + show(o.StopPrice)
			}
			if got != c.want {
				t.Errorf("%s %s at %v within %v to %v: %s, want %s", c.side, c.typ, c.limit+c.stop, c.low, c.high, got, c.want)
			}
		})
	}
}

// TestRestingNearNothing: below 0.00000001 there is no price at which a sell could be filled,
// and a buy at 0.00000001 is not filled by a price that was told to be above it.
func TestRestingNearNothing(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source = flat(3e-8) }, func(t *testing.T, e *Engine) {
		buy := place(t, e, Buy, Limit, "1", "0.00000001").ID
		stop := ask(t, e, func(r *OrderRequest) { r.Side, r.Type, r.StopPrice = Sell, Stop, 1 }).ID
		for _, told := range []float64{1.43e-8, 7e-9, 1.43e-8} {
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
