package tools

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/trade"
	"wick/trade/live/alpaca/alpacatest"
)

// riskView is the reply of view=risk.
type riskView struct {
	Currency                                 string
	Equity, Exposure, Net, Risk, Unprotected *float64
	RiskToStops                              float64 `json:"risk_to_stops"`
	Positions                                []struct {
		Symbol                          string
		Quantity, Price, Worth, Percent float64
		Risk                            float64 `json:"risk_to_stops"`
		Unprotected                     float64
	}
	Excluded    []string
	Correlation *struct {
		Interval string
		Bars     int
		Symbols  []string
		Matrix   [][]float64
	}
	Rebalance *struct {
		Of     float64
		Orders []struct {
			Symbol, Side, Type string
			Quantity, Worth    float64
		}
		Kept []string
	}
}

func near(got, want, by float64) bool { return math.Abs(got-want) <= by }

// TestRiskView: one reply has what is at stake, by arithmetic of its own here, and the orders that
// rebalance, which are placed as they are listed: the money is enough for their fees, and
// afterwards the weights are those that were asked for.
func TestRiskView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir(), func(o *trade.Options) {
			o.Account.Cash, o.Account.Currency, o.FeeRate, o.Slippage = 100_000*exact.One, "USD", exact.One/1000, exact.One/2000
		})
		defer d.stop()
		time.Sleep(3 * time.Second)
		view := func(more string) (v riskView) {
			d.reply(trader, "get_positions", `{"view":"risk"`+more+`}`, &v)
			return v
		}
		if v := view(""); *v.Exposure != 0 || *v.Equity != 100_000 || len(v.Positions) != 0 || v.Correlation != nil {
			t.Errorf("nothing is held: %+v", v)
		}
		var entry struct {
			Price float64 `json:"average_price"`
		}
		d.reply(trader, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","notional":60000,"stop_loss":"5%"}`, &entry)
		d.reply(trader, "place_order", `{"symbol":"ETHUSDT","side":"buy","type":"market","notional":10000}`, new(any))
		v := view("")
		btc, eth := v.Positions[0], v.Positions[1]
		worth := btc.Quantity*btc.Price + eth.Quantity*eth.Price
		risk := btc.Quantity * (btc.Price - entry.Price*0.95)
		switch {
		case btc.Symbol != "BTCUSDT" || eth.Symbol != "ETHUSDT" || !near(*v.Exposure, worth, 1e-6) || !near(*v.Net, worth, 1e-6):
			t.Errorf("exposure %v, net %v, want %v: %+v", *v.Exposure, *v.Net, worth, v)
		case !near(v.RiskToStops, risk, 0.01) || !near(btc.Risk, risk, 0.01) || !near(*v.Unprotected, eth.Worth, 1e-6) || btc.Unprotected != 0:
			t.Errorf("risk %v, of one %v, want %v; unprotected %v, want %v", v.RiskToStops, btc.Risk, risk, *v.Unprotected, eth.Worth)
		case !near(btc.Percent, 100*btc.Worth / *v.Equity, 0.01):
			t.Errorf("%v percent of the equity", btc.Percent)
		case v.Correlation == nil || v.Correlation.Interval != "1d" || v.Correlation.Bars != 90:
			t.Fatalf("correlation %+v", v.Correlation)
		}
		if got, want := v.Correlation.Matrix[0][1], pearson(t, "BTCUSDT", "ETHUSDT", market.Day1, 90); !near(got, want, 0.0051) || v.Correlation.Matrix[1][0] != got || v.Correlation.Matrix[0][0] != 1 {
			t.Errorf("correlation %v, want %v", v.Correlation.Matrix, want)
		}
		if v := view(`,"bars":30,"interval":"4h"`); !near(v.Correlation.Matrix[0][1], pearson(t, "BTCUSDT", "ETHUSDT", market.Hour4, 30), 0.0051) || v.Correlation.Bars != 30 {
			t.Errorf("over 30 bars of 4h: %+v", v.Correlation)
		}
		// The orders, by their own arithmetic: the price moves between the replies.
		const weights = `,"weights":{"BTCUSDT":25,"ETHUSDT":75}`
		v = view(weights)
		if !near(v.Rebalance.Of, *v.Equity, 0.01) || len(v.Rebalance.Orders) != 2 || v.Rebalance.Orders[0].Side != "sell" || v.Rebalance.Orders[1].Side != "buy" {
			t.Fatalf("%+v", v.Rebalance)
		}
		sell, buy := v.Rebalance.Orders[0], v.Rebalance.Orders[1]
		cost := 0.0015
		for i, want := range []float64{v.Positions[0].Worth - 0.25**v.Equity, (0.75**v.Equity - v.Positions[1].Worth) * (1 - cost) / (1 + cost)} {
			if got := v.Rebalance.Orders[i]; !near(got.Worth, want, 0.01) || !near(got.Quantity*v.Positions[i].Price, got.Worth, 0.01) || got.Type != "market" {
				t.Errorf("order %+v, want one worth %v", got, want)
			}
		}
		for _, o := range []any{sell, buy} {
			o := o.(struct {
				Symbol, Side, Type string
				Quantity, Worth    float64
			})
			d.reply(trader, "place_order", fmt.Sprintf(`{"symbol":%q,"side":%q,"type":"market","quantity":%.8f}`, o.Symbol, o.Side, o.Quantity), new(any))
		}
		v = view(weights)
		for _, p := range v.Positions {
			if want := map[string]float64{"BTCUSDT": 25, "ETHUSDT": 75}[p.Symbol]; !near(p.Percent, want, 0.5) {
				t.Errorf("afterwards %s is %v percent, want %v", p.Symbol, p.Percent, want)
			}
		}
		// What is not named stays, and is not divided; 0 sells all of it; a little is not traded.
		v = view(`,"weights":{"BTCUSDT":0,"SOLUSDT":100}`)
		if o := v.Rebalance.Orders; len(o) != 2 || o[0].Symbol != "BTCUSDT" || o[0].Quantity != v.Positions[1].Quantity || !near(v.Rebalance.Of, *v.Equity-v.Positions[0].Worth, 0.01) {
			t.Errorf("%+v of %+v", v.Rebalance, v.Positions)
		}
		if v = view(`,"weights":{"XRPUSDT":0}`); len(v.Rebalance.Orders) != 0 || len(v.Rebalance.Kept) != 1 {
			t.Errorf("nothing to sell: %+v", v.Rebalance)
		}
		for arguments, want := range map[string]string{
			`{"weights":{"BTCUSDT":50}}`:                                    "go with view=risk",
			`{"view":"risk","account":true}`:                                "leave out include_flat and account",
			`{"view":"risk","weights":{}}`:                                  "at least one symbol",
			`{"view":"risk","weights":""}`:                                  "must be an object",
			`{"view":"risk","weights":[50]}`:                                "must be an object",
			`{"view":"risk","weights":{"BTCUSDT":60,"ETHUSDT":60}}`:         "at most 100 percent",
			`{"view":"risk","weights":{"BTCUSDT":-5}}`:                      "no percentage from 0 to 100",
			`{"view":"risk","weights":{"BTCUSDT":"half"}}`:                  "no percentage from 0 to 100",
			`{"view":"risk","weights":{"BTCUSDT":5,"btcusdt":5}}`:           "named twice",
			`{"view":"risk","weights":{"B T C!":5}}`:                        "bad symbol",
			`{"view":"risk","weights":{` + manyWeights(maxWeights+1) + `}}`: "more than 20 symbols",
			`{"view":"risk","bars":5}`:                                      "out of bounds, 10 to 1000",
		} {
			if _, err := d.call(trader, "get_positions", arguments); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", arguments, err, want)
			}
		}
		if v := view(`,"weights":"{\"BTCUSDT\":\"50\"}"`); v.Rebalance == nil {
			t.Error("weights as the JSON of an object are not read")
		}
	})
}

func manyWeights(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"S%dUSDT":1`, i))
	}
	return strings.Join(all, ",")
}

// pearson is the coefficient of the last n changes from close to close of two markets of the sample.
func pearson(t *testing.T, a, b string, iv market.Interval, n int) float64 {
	t.Helper()
	changes := func(symbol string) (out []float64) {
		s, err := market.Sample{}.At(market.Query{Symbol: symbol, Interval: iv, Limit: n + 1}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < s.Len(); i++ {
			out = append(out, s.Close[i]/s.Close[i-1]-1)
		}
		return out
	}
	x, y := changes(a), changes(b)
	var mx, my, xy, xx, yy float64
	for i := range x {
		mx, my = mx+x[i]/float64(n), my+y[i]/float64(n)
	}
	for i := range x {
		xy, xx, yy = xy+(x[i]-mx)*(y[i]-my), xx+(x[i]-mx)*(x[i]-mx), yy+(y[i]-my)*(y[i]-my)
	}
	return xy / math.Sqrt(xx*yy)
}

// TestRiskViewElsewhere: at a broker the equity is the broker's, a position that only the account has
// counts, and orders are in its steps. Without an account the percentages are of what is named.
func TestRiskViewElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		v.Adjust("MSFT", 10*exact.One)
		v.Equity(50_000*exact.One, 50_000*exact.One)
		d := openDesk(t, t.TempDir(), atVenue(t, v), func(o *trade.Options) { o.Account.Currency = "USD" })
		defer d.stop()
		time.Sleep(5 * time.Second)
		var got riskView
		d.reply(trader, "get_positions", `{"view":"risk","weights":{"AAPL":10}}`, &got)
		if *got.Equity != 50_000 || len(got.Positions) != 1 || got.Positions[0].Symbol != "MSFT" || got.Positions[0].Quantity != 10 || got.Positions[0].Unprotected != got.Positions[0].Worth {
			t.Errorf("%+v", got)
		}
		if o := got.Rebalance.Orders; len(o) != 1 || o[0].Symbol != "AAPL" || !near(o[0].Worth, (50_000-got.Positions[0].Worth)/10, 300) {
			t.Errorf("%+v", got.Rebalance)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir(), func(o *trade.Options) { o.Account.Currency = "USD" })
		defer d.stop()
		time.Sleep(3 * time.Second)
		d.reply(trader, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","notional":6000}`, new(any))
		var got riskView
		d.reply(trader, "get_positions", `{"view":"risk","weights":{"BTCUSDT":50,"ETHUSDT":50}}`, &got)
		if got.Equity != nil || !near(got.Rebalance.Of, got.Positions[0].Worth, 0.01) || len(got.Rebalance.Orders) != 2 || !near(got.Rebalance.Orders[0].Worth, 3000, 10) {
			t.Errorf("%+v", got)
		}
	})
}

// TestRebalanceShorts: what is short is bought back first, since that frees the money for the rest, and every order
// can be placed as it is listed.
func TestRebalanceShorts(t *testing.T) {
	for _, c := range []struct {
		short   float64 // of the equity
		weights string
		want    map[string]float64 // percent afterwards
	}{
		{0.4, `{"BTCUSDT":100}`, map[string]float64{"BTCUSDT": 100}},
		{0.4, `{"BTCUSDT":50,"AAVEUSDT":50}`, map[string]float64{"BTCUSDT": 50, "AAVEUSDT": 50}},
		{0.95, `{"BTCUSDT":0,"AAVEUSDT":100}`, map[string]float64{"AAVEUSDT": 100}},
		{0.95, `{"BTCUSDT":10,"AAVEUSDT":90}`, map[string]float64{"BTCUSDT": 10, "AAVEUSDT": 90}},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := openDesk(t, t.TempDir(), func(o *trade.Options) {
				o.Account.Cash, o.Account.Currency, o.Account.Short, o.FeeRate, o.Slippage = 10_000*exact.One, "USD", true, exact.One/1000, exact.One/2000
			})
			defer d.stop()
			time.Sleep(3 * time.Second)
			d.reply(trader, "place_order", fmt.Sprintf(`{"symbol":"BTCUSDT","side":"sell","type":"market","notional":%g}`, 10_000*c.short), new(any))
			var v riskView
			d.reply(trader, "get_positions", `{"view":"risk","weights":`+c.weights+`}`, &v)
			for _, o := range v.Rebalance.Orders {
				d.reply(trader, "place_order", fmt.Sprintf(`{"symbol":%q,"side":%q,"type":"market","quantity":%.8f}`, o.Symbol, o.Side, o.Quantity), new(any))
			}
			v = riskView{}
			d.reply(trader, "get_positions", `{"view":"risk"}`, &v)
			for _, p := range v.Positions {
				if !near(p.Percent, c.want[p.Symbol], 1) || p.Quantity < 0 {
					t.Errorf("%s from a short of %g: %+v", c.weights, c.short, p)
				}
			}
			if len(v.Positions) != len(c.want) {
				t.Errorf("%s from a short of %g: %+v", c.weights, c.short, v.Positions)
			}
		})
	}
}
