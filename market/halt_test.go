package market

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// replies answers a request by its path with the text that belongs to the first part of the
// path that it has.
type replies map[string]func() string

func (r replies) RoundTrip(req *http.Request) (*http.Response, error) {
	for part, text := range r {
		if strings.Contains(req.URL.Path, part) {
			return replay("HTTP/1.1 200 OK\n\n" + text()).RoundTrip(req)
		}
	}
	return nil, fmt.Errorf("no answer to %s", req.URL.Path)
}

// TestQuoteOfStoppedMarket: a market that has stopped still has a last price, a bid and an
// ask. Its quote is as old as its last trade, so that nobody trades at it. A trade that is
// ahead of our clock by a little is of now, one far ahead is refused. Once there was a newer
// trade its price counts, although the feed has seen the older one later.
func TestQuoteOfStoppedMarket(t *testing.T) {
	for name, answer := range map[string]func(price float64, at time.Time) string{
		"binance": func(price float64, at time.Time) string {
			return fmt.Sprintf(`{"symbol":"BTCUSDT","lastPrice":"%v","bidPrice":"99","askPrice":"101","closeTime":%d}`, price, at.UnixMilli())
		},
		"coinbase": func(price float64, at time.Time) string {
			return fmt.Sprintf(`{"price":"%v","bid":"99","ask":"101","time":%q}`, price, at.UTC().Format(time.RFC3339Nano))
		},
	} {
		bubble(t, func(t *testing.T) {
			price, traded := 100.0, time.Duration(0)
			s := over(t, name, reach{nowhere, replies{"/ticker": func() string { return answer(price, time.Now().Add(traded)) }}})
			f := NewFeed(s, nil)
			f.Resume(s.service.example, nil, 100, time.Now().Add(-time.Millisecond).UnixMilli())
			for _, c := range []struct {
				price  float64
				traded time.Duration
				want   time.Duration // how old the price is
			}{{100, -72 * time.Hour, 72 * time.Hour}, {100, -3 * time.Second, 3 * time.Second}, {101, -2 * time.Second, 2 * time.Second}, {100, 5 * time.Second, 0}} {
				time.Sleep(2 * quoteAge)
				price, traded = c.price, c.traded
				q, err := f.Quote(t.Context(), s.service.example)
				if got := time.Since(time.UnixMilli(q.At)); err != nil || q.Price != c.price || got != c.want || q.Known != time.Now().UnixMilli() {
					t.Errorf("%s: %+v, %s old, %v; want %+v", name, q, got, err, c)
				}
			}
			time.Sleep(2 * quoteAge)
			traded = time.Hour
			if q, err := f.Quote(t.Context(), s.service.example); err == nil || !strings.Contains(err.Error(), "in the future") {
				t.Errorf("%s: a trade in an hour: %+v, %v", name, q, err)
			}
		})
	}
}

// TestStoppedMarketIsSilent: the ticker of Binance tells the last price of a market that has
// stopped for ever, and does not say when it was traded. The feed tells it once: alerts that
// are true already wait for a trade.
func TestStoppedMarketIsSilent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		stopped := time.Now().Add(-72 * time.Hour).Truncate(time.Minute)
		price := "100"
		s := over(t, "binance", reach{nowhere, replies{
			"/klines": func() string {
				return fmt.Sprintf(`[[%d,"100","101","99","100","5",%d,"1",5,"1","1","0"]]`, stopped.UnixMilli(), stopped.Add(time.Minute).UnixMilli()-1)
			},
			"/ticker/price": func() string { return fmt.Sprintf(`[{"symbol":"BTCUSDT","price":%q}]`, price) },
		}})
		f, l := NewFeed(s, nil), &listener{}
		f.Watch("BTCUSDT", Minute1)
		run(t, f, l, 5*time.Minute)
		if got := l.updates["BTCUSDT"]; len(got) != 1 || got[0].At != stopped.Add(time.Minute).UnixMilli() {
			t.Errorf("%d updates, the first %+v", len(got), got[0])
		}
		price = "102"
		run(t, f, l, time.Minute)
		if got := l.updates["BTCUSDT"]; len(got) != 2 || got[1].Price != 102 {
			t.Errorf("after a trade there are %d updates", len(got))
		}
	})
}

// TestHaltedMarkets: the words of each exchange for a market in which nothing is traded, and
// for one that is open.
func TestHaltedMarkets(t *testing.T) {
	for _, c := range []struct{ name, told, want string }{
		{"binance", `"TRADING"`, ""},
		{"binance", `"BREAK"`, "BREAK"},
		{"binance", `"HALT"`, "HALT"},
		{"binance", `""`, ""},
		{"coinbase", `"online"`, ""},
		{"coinbase", `"online","limit_only":true`, ""},
		{"coinbase", `"delisted","trading_disabled":true`, "delisted"},
		{"coinbase", `"online","trading_disabled":true`, "trading_disabled"},
		{"coinbase", `"online","cancel_only":true`, "cancel_only"},
		{"coinbase", `"online","post_only":true`, "post_only"},
		{"kraken", `"online"`, ""},
		{"kraken", `"limit_only"`, ""},
		{"kraken", `"cancel_only"`, "cancel_only"},
		{"kraken", `"delisted\u001b[2J"`, "delisted [2J"},
	} {
		status := map[string]string{
			"binance":  `{"symbols":[{"symbol":"BTCUSDT","status":` + c.told + `}]}`,
			"coinbase": `{"id":"BTC-USD","status":` + c.told + `}`,
			"kraken":   `{"error":[],"result":{"XXBTZUSD":{"status":` + c.told + `}}}`,
		}[c.name]
		s := over(t, c.name, reach{nowhere, replies{"": func() string { return status }}})
		if g, err := NewFeed(s, nil).Grid(t.Context(), s.service.example); err != nil || g.Halted != c.want {
			t.Errorf("%s %s: %q, %v; want %q", c.name, c.told, g.Halted, err, c.want)
		}
	}
}
