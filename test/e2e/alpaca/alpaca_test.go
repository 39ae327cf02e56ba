// Package alpaca lets Alpaca's own Go client speak to the fake that wick is tested
// with: the fake understands what the client sends, and the client what it answers.
package alpaca

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/alpacahq/alpaca-trade-api-go/v3/alpaca"
	"github.com/shopspring/decimal"

	"wick/internal/exact"
	"wick/trade/live/alpaca/alpacatest"
)

func dec(text string) *decimal.Decimal {
	d := decimal.RequireFromString(text)
	return &d
}

// dial starts a fake and returns it with a client of it.
func dial(t *testing.T) (*alpacatest.Venue, *alpaca.Client) {
	v := alpacatest.New()
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	t.Cleanup(v.CutStreams)
	return v, alpaca.NewClient(alpaca.ClientOpts{APIKey: v.Keys[0], APISecret: v.Keys[1], BaseURL: server.URL, RetryLimit: 0})
}

// must returns what a call returned, or ends the test.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestOrders takes an order through placing, replacing, filling and cancelling.
func TestOrders(t *testing.T) {
	v, c := dial(t)
	if a := must[*alpaca.Account](t)(c.GetAccount()); a.AccountNumber != v.Number || a.Status != "ACTIVE" || !a.BuyingPower.Equal(*dec("100000.123456789")) {
		t.Errorf("account: %+v", a)
	}
	if a := must[*alpaca.Asset](t)(c.GetAsset("AAPL")); a.Class != alpaca.USEquity || !a.Tradable || !a.Fractionable || a.Status != alpaca.AssetActive {
		t.Errorf("asset: %+v", a)
	}
	if k := must[*alpaca.Clock](t)(c.GetClock()); !k.IsOpen {
		t.Errorf("clock: %+v", k)
	}
	o := must[*alpaca.Order](t)(c.PlaceOrder(alpaca.PlaceOrderRequest{
		Symbol: "AAPL", Qty: dec("3"), Side: alpaca.Buy, Type: alpaca.Limit, TimeInForce: alpaca.GTC, LimitPrice: dec("95.5"), ClientOrderID: "mine",
	}))
	if o.ClientOrderID != "mine" || o.Status != "new" || !o.LimitPrice.Equal(*dec("95.5")) || !o.Qty.Equal(*dec("3")) {
		t.Errorf("order: %+v", o)
	}
	if _, err := c.PlaceOrder(alpaca.PlaceOrderRequest{Symbol: "AAPL", Qty: dec("3"), Side: alpaca.Buy, Type: alpaca.Limit, TimeInForce: alpaca.GTC, LimitPrice: dec("95.5"), ClientOrderID: "mine"}); err == nil {
		t.Error("the same client_order_id was taken twice")
	} else if api, ok := err.(*alpaca.APIError); !ok || api.StatusCode != 422 {
		t.Errorf("the same client_order_id: %v", err)
	}
	n := must[*alpaca.Order](t)(c.ReplaceOrder(o.ID, alpaca.ReplaceOrderRequest{Qty: dec("2"), LimitPrice: dec("96"), TimeInForce: alpaca.GTC, ClientOrderID: "mine-2"}))
	if n.Replaces == nil || *n.Replaces != o.ID || !n.Qty.Equal(*dec("2")) {
		t.Errorf("replaced: %+v", n)
	}
	if old := must[*alpaca.Order](t)(c.GetOrder(o.ID)); old.Status != "replaced" || *old.ReplacedBy != n.ID {
		t.Errorf("the one before: %+v", old)
	}
	v.Fill("mine-2", exact.One, 96*exact.One)
	if got := must[*alpaca.Order](t)(c.GetOrderByClientOrderID("mine-2")); got.Status != "partially_filled" || !got.FilledAvgPrice.Equal(*dec("96")) {
		t.Errorf("by its client id: %+v", got)
	}
	if held := must[[]alpaca.Position](t)(c.GetPositions()); len(held) != 1 || !held[0].Qty.Equal(*dec("1")) || held[0].Symbol != "AAPL" {
		t.Errorf("positions: %+v", held)
	}
	if err := c.CancelOrder(n.ID); err != nil {
		t.Error(err)
	}
	if err := c.CancelOrder(n.ID); err == nil {
		t.Error("cancelled twice")
	}
}

// TestBracket: exits are legs, below their entry.
func TestBracket(t *testing.T) {
	_, c := dial(t)
	o := must[*alpaca.Order](t)(c.PlaceOrder(alpaca.PlaceOrderRequest{
		Symbol: "AAPL", Qty: dec("1"), Side: alpaca.Buy, Type: alpaca.Limit, TimeInForce: alpaca.Day, LimitPrice: dec("95"), OrderClass: alpaca.Bracket, ClientOrderID: "b",
		TakeProfit: &alpaca.TakeProfit{LimitPrice: dec("120")}, StopLoss: &alpaca.StopLoss{StopPrice: dec("90")},
	}))
	if len(o.Legs) != 2 || o.OrderClass != alpaca.Bracket || o.Legs[0].Type != alpaca.Limit || o.Legs[1].Type != alpaca.Stop || o.Legs[1].Status != "held" {
		t.Errorf("order: %+v", o)
	}
	open := must[[]alpaca.Order](t)(c.GetOrders(alpaca.GetOrdersRequest{Status: "open", Nested: true, Limit: 500, Direction: "asc"}))
	if len(open) != 1 || len(open[0].Legs) != 2 {
		t.Errorf("open: %+v", open)
	}
	if err := c.CancelAllOrders(); err != nil {
		t.Error(err)
	}
	if open := must[[]alpaca.Order](t)(c.GetOrders(alpaca.GetOrdersRequest{Status: "open", Nested: true})); len(open) != 0 {
		t.Errorf("after all were cancelled: %+v", open)
	}
}

// TestStream: the client reads the fake's events, and goes on after one.
func TestStream(t *testing.T) {
	v, c := dial(t)
	read := func(since string, n int, do func()) []alpaca.TradeUpdate {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := make(chan alpaca.TradeUpdate, 16)
		go c.StreamTradeUpdates(ctx, func(u alpaca.TradeUpdate) { got <- u }, alpaca.StreamTradeUpdatesRequest{SinceID: since})
		for v.Streams() == 0 {
			time.Sleep(time.Millisecond)
		}
		do()
		var all []alpaca.TradeUpdate
		for len(all) < n {
			all = append(all, <-got)
		}
		return all
	}
	first := read("", 2, func() { v.Fill(v.Foreign("AAPL", "buy", 2*exact.One, 95*exact.One), exact.One, 95*exact.One) })
	if first[0].Event != "new" || first[1].Event != "partial_fill" || first[1].ExecutionID == "" || !first[1].Price.Equal(*dec("95")) || !first[1].Order.FilledQty.Equal(*dec("1")) {
		t.Errorf("%+v", first)
	}
	v.CutStreams()
	for v.Streams() > 0 {
		time.Sleep(time.Millisecond)
	}
	again := read(first[0].EventID, 2, func() { v.Foreign("AAPL", "buy", exact.One, 95*exact.One) })
	if again[0].EventID != first[1].EventID || again[1].Event != "new" {
		t.Errorf("%+v", again)
	}
}
