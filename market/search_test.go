package market

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSearch: a part of a symbol or of a name finds the symbols as the source spells them, the
// best first. The answers are of the form that the services document.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ETHUSDT-1h.csv", "AAPL.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answering := func(name, body string) Source {
		return Cached(over(t, name, reach{transport: answers{200, body}, env: nowhere}))
	}
	files, err := Open("csv:"+dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	const (
		binance  = `[{"symbol":"ETHBTC","price":"0.03"},{"symbol":"BTCUSDC","price":"1"},{"symbol":"WBTCUSDT","price":"1"},{"symbol":"BTCUSDT","price":"1"}]`
		coinbase = `[{"id":"BTC-EUR","status":"online"},{"id":"BTC-USD","status":"online"},{"id":"BTC-GBP","status":"delisted"}]`
		kraken   = `{"error":[],"result":{"XXBTZUSD":{"altname":"XBTUSD","wsname":"XBT/USD"},"ADAEUR":{"altname":"ADAEUR"}}}`
		yahoo    = `{"quotes":[{"symbol":"AAPL","shortname":"Apple Inc.","longname":"Apple Incorporated","quoteType":"EQUITY"},{"symbol":"../x","shortname":"odd"}]}`
	)
	for _, c := range []struct {
		name   string
		source Source
		text   string
		want   []Found
	}{
		{"a part of a symbol", answering("binance", binance), "btc", []Found{{"BTCUSDC", "Bitcoin"}, {"BTCUSDT", "Bitcoin"}, {"ETHBTC", "Ethereum"}, {"WBTCUSDT", ""}}},
		{"a whole symbol, in another spelling", answering("binance", binance), "btc/usdt", []Found{{"BTCUSDT", "Bitcoin"}, {"WBTCUSDT", ""}}},
		{"a name", answering("binance", binance), "ethereum", []Found{{"ETHBTC", "Ethereum"}}},
		{"nothing", answering("binance", binance), "zzz", nil},
		{"no text", files, " ", []Found{{"AAPL", "Apple"}, {"ETHUSDT", "Ethereum"}}},
		{"what is traded", answering("coinbase", coinbase), "bitcoin", []Found{{"BTC-EUR", "Bitcoin"}, {"BTC-USD", "Bitcoin"}}},
		{"Kraken's own names", answering("kraken", kraken), "bitcoin", []Found{{"XBTUSD", "Bitcoin"}}},
		{"Yahoo's own search", answering("yahoo", yahoo), "aple", []Found{{"AAPL", "Apple Incorporated"}}},
		{"files", files, "apple", []Found{{"AAPL", "Apple"}}},
		{"the sample", Sample{}, "doge", []Found{{"DOGEUSDT", "Dogecoin"}}},
	} {
		got, err := Search(t.Context(), c.source, c.text)
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
	if _, err := Search(t.Context(), Cached(over(t, "binance", reach{transport: answers{400, "{}"}, env: nowhere})), "btc"); err == nil {
		t.Error("the service refuses, and the search found nothing without an error")
	}
}
