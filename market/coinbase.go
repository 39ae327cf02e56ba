package market

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// coinbase is Coinbase Exchange, where a product is spelled BTC-USD.
var coinbase = provider{
	site: site{
		name: "coinbase", env: "WICK_COINBASE_URL", url: "https://api.exchange.coinbase.com",
		limit: 8, window: time.Second, // about ten requests a second are allowed
		explain: func(status int, _ []byte) *Error { // a bare 404 for an unknown product
			if status != http.StatusNotFound {
				return nil
			}
			return unlisted()
		},
	},
	example: "BTC-USD", spell: spellCoinbase,
	usual:   []string{"BTC-USD", "ETH-USD", "SOL-USD", "XRP-USD", "DOGE-USD", "ADA-USD", "AVAX-USD", "LINK-USD", "LTC-USD"},
	native:  []Interval{Minute1, Minute5, Minute15, Hour1, Hour6, Day1},
	columns: []string{ExtraFearGreed},
	rates:   rates{pace: 250 * time.Millisecond},
	page:    coinbasePage,
	single:  coinbaseQuote, grid: coinbaseGrid, list: coinbaseList,
}

func coinbasePage(symbol string, iv Interval, end int64, n, _ int) request[*page] {
	const most = 300
	query := url.Values{"granularity": {strconv.FormatInt(iv.Seconds(), 10)}}
	if end != 0 { // rows that start at start or at end are both in the answer
		query.Set("start", rfc3339(end-int64(min(n, most))*iv.Seconds()))
		query.Set("end", rfc3339(end-iv.Seconds()))
	}
	return request[*page]{path: "/products/" + symbol + "/candles", query: query, read: reads(func(rows [][]number) (*page, error) {
		slices.Reverse(rows) // the newest comes first
		return pageOf(rows, inSeconds, [6]int{0, 3, 2, 1, 4, 5})
	})}
}

func rfc3339(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

func coinbaseQuote(symbol string) request[Quote] {
	return request[Quote]{path: "/products/" + symbol + "/ticker", read: reads(func(told struct {
		Price, Bid, Ask number
		Time            string // of the last trade
	}) (Quote, error) {
		q := Quote{Price: float64(told.Price), Bid: float64(told.Bid), Ask: float64(told.Ask)}
		if t, bad := time.Parse(time.RFC3339, told.Time); bad == nil {
			q.At = t.UnixMilli()
		}
		return q, nil
	})}
}

// coinbaseGrid reads the increments of a product. Its least value is that of
// market orders.
func coinbaseGrid(symbol string) request[Grid] {
	return request[Grid]{path: "/products/" + symbol, read: reads(func(p struct {
		ID, Status string
		Quote      string `json:"quote_increment"`
		Base       string `json:"base_increment"`
		Funds      string `json:"min_market_funds"`
		Disabled   bool   `json:"trading_disabled"`
		Cancel     bool   `json:"cancel_only"`
		Post       bool   `json:"post_only"`
	}) (g Grid, err error) {
		if p.ID != symbol {
			return g, errNotOne
		}
		g = Grid{Tick: p.Quote, Lot: p.Base, Minimum: p.Funds, Halted: halted(p.Status, "online")}
		switch {
		case g.Halted != "":
		case p.Disabled:
			g.Halted = "trading_disabled"
		case p.Cancel:
			g.Halted = "cancel_only"
		case p.Post: // nothing is matched then
			g.Halted = "post_only"
		}
		return g, nil
	})}
}

var coinbaseList = request[[]string]{path: "/products", read: reads(func(rows []struct{ ID, Status string }) (symbols []string, err error) {
	for _, r := range rows {
		if r.Status == "online" {
			symbols = append(symbols, r.ID)
		}
	}
	return symbols, nil
})}

// spellCoinbase writes a pair with a dash: BTCUSD is BTC-USD.
func spellCoinbase(symbol string) string { return spellCoins(symbol, "-", coin) }
