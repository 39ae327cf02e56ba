package market

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"time"

	"wick/internal/limit"
)

// binanceNames are the intervals that Binance spells in its own way: 1m is a minute there.
var binanceNames = map[Interval]string{Week1: "1w", Month1: "1M"}

// binance is the spot market of Binance, at the host that serves market data
// alone, which more countries can reach. The columns come from the futures
// market of the same symbol and from alternative.me.
var binance = provider{
	site: site{
		name: "binance", env: "WICK_BINANCE_URL", url: "https://data-api.binance.vision",
		// 6000 units a minute and address are documented; others may share ours.
		limit: 4800, window: time.Minute, used: "X-Mbx-Used-Weight-1m",
		explain: explainBinance,
	},
	example: "BTCUSDT", spell: spellBinance,
	usual: []string{"BTCUSDT", "ETHUSDT", "SOLUSDT", "BNBUSDT", "XRPUSDT", "DOGEUSDT", "ADAUSDT", "AVAXUSDT", "LINKUSDT", "LTCUSDT"},
	// Its three-day bars are left out: where they start is not documented.
	native:  slices.DeleteFunc(Intervals(), func(iv Interval) bool { return iv == Day3 }),
	columns: []string{ExtraFunding, ExtraOI, ExtraLong, ExtraShort, ExtraFearGreed},
	rates:   rates{pace: 50 * time.Millisecond, batch: 100, every: 2 * time.Second},
	page:    binancePage, ticker: binanceTicker,
	single: binanceQuote, grid: binanceGrid, list: binanceList,
}

func binancePage(symbol string, iv Interval, end int64, n, _ int) request[*page] {
	const most = 1000
	query := url.Values{"symbol": {symbol}, "interval": {cmp.Or(binanceNames[iv], string(iv))}, "limit": {strconv.Itoa(min(n, most))}}
	if end != 0 {
		query.Set("endTime", strconv.FormatInt(end*1000-1, 10))
	}
	return request[*page]{path: "/api/v3/klines", query: query, weight: 2, read: reads(func(rows [][]number) (*page, error) {
		return pageOf(rows, inMillis, [6]int{0, 1, 2, 3, 4, 5})
	})}
}

// binanceTicker reads the price of the last trade of each symbol. If one of them
// is unknown, Binance refuses the whole list.
func binanceTicker(symbols []string) request[map[string]Quote] {
	list, _ := json.Marshal(symbols) // texts can always be encoded
	return request[map[string]Quote]{
		path: "/api/v3/ticker/price", query: url.Values{"symbols": {string(list)}},
		weight: 4, // what Binance counts for a list of symbols, however short
		read: reads(func(rows []struct {
			Symbol string
			Price  number
		}) (map[string]Quote, error) {
			quotes := make(map[string]Quote, len(rows))
			for _, r := range rows {
				quotes[r.Symbol] = Quote{Price: float64(r.Price)}
			}
			return quotes, nil
		}),
	}
}

// binanceQuote reads the last price of a symbol with its bid and ask, from the
// statistics of its day: no smaller answer has all three. The day ends now if the market is
// trading, and stays where it was if the market has stopped, so the last trade is no later
// than its end. Whether it moves on in a quiet market is not documented.
func binanceQuote(symbol string) request[Quote] {
	return request[Quote]{path: "/api/v3/ticker/24hr", query: url.Values{"symbol": {symbol}}, weight: 2, read: reads(func(told struct {
		Symbol string
		Price  number `json:"lastPrice"`
		Bid    number `json:"bidPrice"`
		Ask    number `json:"askPrice"`
		End    number `json:"closeTime"`
	}) (Quote, error) {
		if told.Symbol != symbol {
			return Quote{}, errNotOne
		}
		q := Quote{Price: float64(told.Price), Bid: float64(told.Bid), Ask: float64(told.Ask)}
		if instant(told.End, inMillis) > 0 {
			q.At = int64(told.End)
		}
		return q, nil
	})}
}

var binanceList = request[[]string]{path: "/api/v3/ticker/price", weight: 4, read: reads(func(rows []struct{ Symbol string }) (symbols []string, err error) {
	for _, r := range rows {
		symbols = append(symbols, r.Symbol)
	}
	return symbols, nil
})}

// binanceGrid reads the filters of a symbol. The least value of an order is in NOTIONAL,
// or in MIN_NOTIONAL, as that filter was called before.
func binanceGrid(symbol string) request[Grid] {
	return request[Grid]{path: "/api/v3/exchangeInfo", query: url.Values{"symbol": {symbol}}, weight: 20, read: reads(func(told struct {
		Symbols []struct {
			Symbol, Status string
			Filters        []struct {
				Type                            string `json:"filterType"`
				TickSize, StepSize, MinNotional string
				MinQuantity                     string `json:"minQty"`
			}
		}
	}) (g Grid, err error) {
		if len(told.Symbols) != 1 || told.Symbols[0].Symbol != symbol {
			return g, errNotOne
		}
		g.Halted = halted(told.Symbols[0].Status, "TRADING")
		for _, f := range told.Symbols[0].Filters {
			switch f.Type {
			case "PRICE_FILTER":
				g.Tick = f.TickSize
			case "LOT_SIZE":
				g.Lot, g.Least = f.StepSize, f.MinQuantity
			case "NOTIONAL", "MIN_NOTIONAL":
				g.Minimum = f.MinNotional
			}
		}
		return g, nil
	})}
}

// halted returns the status of a market, as the exchange words it, unless it is empty or one
// of those in which trades are made.
func halted(status string, trading ...string) string {
	if status == "" || slices.Contains(trading, status) {
		return ""
	}
	return limit.Line(status, maxTold)
}

// explainBinance explains the code of an invalid symbol. It looks at the code because the text
// beside it changes.
func explainBinance(_ int, body []byte) *Error {
	var told struct{ Code int }
	_ = json.Unmarshal(body, &told) // without a code the status says enough
	if told.Code == -1121 {
		return unlisted()
	}
	return nil
}

// spellBinance writes a pair without a separator: BTC-USDT is BTCUSDT.
func spellBinance(symbol string) string { return spellCoins(symbol, "", coin) }
