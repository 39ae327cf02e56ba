package trade

import (
	"testing"

	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// kraken is a source with the names of Kraken and a price of 100.
type kraken struct {
	flat
	named
}

type named interface {
	Resolve(text string) (string, error)
}

func krakenSource(t *testing.T) kraken {
	source, err := market.Open("kraken", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return kraken{flat(100), source.(named)}
}

// TestOneMarketOneBook: five spellings of one market are one position, under
// the name that the source has for it.
func TestOneMarketOneBook(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source, o.Symbols = krakenSource(t), []string{"btc/usd"} }, func(t *testing.T, e *Engine) {
		for _, text := range []string{"BTCUSD", "BTC-USD", "XBTUSD", "btc/usd", "KRAKEN:XBTUSD"} {
			o, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: text, Side: book.Buy, Type: book.Market, Quantity: exact.One})
			if err != nil || o.Symbol != "XBTUSD" {
				t.Errorf("order of %s: %+v, %v", text, o, err)
			}
		}
		if p := must(e.Positions(false)); len(p) != 1 || p[0].Symbol != "XBTUSD" || p[0].Quantity != 5*exact.One {
			t.Errorf("positions %+v, want 5 of XBTUSD", p)
		}
		if got := e.Symbols(); len(got) != 1 || got[0] != "XBTUSD" {
			t.Errorf("watched are %v, want XBTUSD", got)
		}
		if _, err := e.Place(t.Context(), book.OrderRequest{Symbol: "NASDAQ:AAPL", Side: book.Buy, Type: book.Market, Quantity: exact.One}); code(err) != "bad_symbol" {
			t.Errorf("an exchange that is not asked: %v", err)
		}
	})
}

// TestOneMarketOfAlerts: alerts and subscriptions understand the same spellings as orders,
// and a firing reaches a subscription whatever spelling each of the two was made with.
func TestOneMarketOfAlerts(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source = krakenSource(t) }, func(t *testing.T, e *Engine) {
		for i, text := range []string{"btc/usd", "KRAKEN:XBTUSD", "BTC-USD"} {
			sub, err := e.Subscribe(from(text), Filter{Symbols: []string{text}})
			if err != nil || len(sub.Filter.Symbols) != 1 || sub.Filter.Symbols[0] != "XBTUSD" {
				t.Fatalf("subscription to %s: %+v, %v", text, sub, err)
			}
			a, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: text, Condition: book.Condition{Type: book.PriceAbove, Threshold: exact.Decimal(101+i) * exact.One}})
			if err != nil || a.Symbol != "XBTUSD" {
				t.Fatalf("alert on %s: %+v, %v", text, a, err)
			}
		}
		price(e, "XBTUSD", 110)
		for _, caller := range []string{"btc/usd", "KRAKEN:XBTUSD", "BTC-USD"} {
			if _, waiting, _ := e.hub.Status(caller); waiting != 3 {
				t.Errorf("%d notifications wait for %s, want 3", waiting, caller)
			}
		}
		if _, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: "NASDAQ:AAPL", Condition: book.Condition{Type: book.PriceAbove, Threshold: exact.One}}); code(err) != "bad_symbol" {
			t.Errorf("an exchange that is not asked: %v", err)
		}
	})
}

// TestNameOfAnotherSource: a position that was made with another source, under the name that it had
// there, can still be named by that name until it is gone.
func TestNameOfAnotherSource(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source = krakenSource(t) }, func(t *testing.T, e *Engine) {
		old := &book.Order{ID: "o-old-1", ClientOrderID: "old", Symbol: "BTC-USD", Side: book.Buy, Type: book.Market, Quantity: exact.One, Status: book.StatusFilled,
			FilledQuantity: exact.One, Broker: book.PaperName, CreatedAt: now(), UpdatedAt: now()}
		h, err := book.Holding{}.Fill(exact.One, 100*exact.One, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Do(func(*book.State) error {
			return e.book.Propose(book.KindPlaced, &book.Event{At: now(), Order: old, Holding: &h})
		}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"BTC-USD", "XBTUSD"} { // flat after the first
			o, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "btc-usd", Side: book.Sell, Type: book.Market, Quantity: exact.One})
			if err != nil || o.Symbol != want {
				t.Errorf("%+v, %v; want %s", o, err, want)
			}
		}
	})
}
