package market

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/internal/limit"
)

// binanceNames are Binance's own spellings of the intervals, in which 1m is a
// minute and 1M a month. Its three-day bars are left out: where they start is
// not documented.
var binanceNames = map[Interval]string{
	Minute1: "1m", Minute3: "3m", Minute5: "5m", Minute15: "15m", Minute30: "30m", Hour1: "1h", Hour2: "2h", Hour4: "4h",
	Hour6: "6h", Hour8: "8h", Hour12: "12h", Day1: "1d", Week1: "1w", Month1: "1M",
}

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
	usual:   []string{"BTCUSDT", "ETHUSDT", "SOLUSDT", "BNBUSDT", "XRPUSDT", "DOGEUSDT", "ADAUSDT", "AVAXUSDT", "LINKUSDT", "LTCUSDT"},
	native:  slices.Collect(maps.Keys(binanceNames)),
	columns: []string{ExtraFunding, ExtraOI, ExtraLong, ExtraShort, ExtraFearGreed},
	period:  50 * time.Millisecond,
	page:    binancePage,
	ticker:  binanceTicker, batch: 100, every: 2 * time.Second,
	single: binanceQuote, grid: binanceGrid, list: binanceList,
}

func binancePage(ctx context.Context, h *host, symbol string, iv Interval, end int64, n int) (*page, error) {
	const most, weight = 1000, 2
	query := url.Values{"symbol": {symbol}, "interval": {binanceNames[iv]}, "limit": {strconv.Itoa(min(n, most))}}
	if end != 0 {
		query.Set("endTime", strconv.FormatInt(end*1000-1, 10))
	}
	p := &page{}
	at, err := ask(ctx, h, symbol, weight, "/api/v3/klines", query, func(rows [][]number) (err error) {
		p.rows, err = barsOf(rows, inMillis, [6]int{0, 1, 2, 3, 4, 5})
		return err
	})
	p.answered(at)
	return p, err
}

// binanceTicker reads the price of the last trade of each symbol. If one of them
// is unknown, Binance refuses the whole list.
func binanceTicker(ctx context.Context, h *host, symbols []string) (map[string]Quote, time.Time, error) {
	list, _ := json.Marshal(symbols) // texts can always be encoded
	// What Binance counts for a list of symbols, however short.
	const weight = 4
	quotes := make(map[string]Quote, len(symbols))
	at, err := ask(ctx, h, limit.Clip(strings.Join(symbols, " ")), weight, "/api/v3/ticker/price", url.Values{"symbols": {string(list)}}, func(rows []struct {
		Symbol string
		Price  number
	}) error {
		for _, r := range rows {
			quotes[r.Symbol] = Quote{Price: float64(r.Price)}
		}
		return nil
	})
	return quotes, at, err
}

// binanceQuote reads the last price of a symbol with its bid and ask, from the
// statistics of its day: no smaller answer has all three. The day ends now if the market is
// trading, and stays where it was if the market has stopped, so the last trade is no later
// than its end. Whether it moves on in a quiet market is not documented.
func binanceQuote(ctx context.Context, h *host, symbol string) (q Quote, at time.Time, err error) {
	const weight = 2
	at, err = ask(ctx, h, symbol, weight, "/api/v3/ticker/24hr", url.Values{"symbol": {symbol}}, func(told struct {
		Symbol string
		Price  number `json:"lastPrice"`
		Bid    number `json:"bidPrice"`
		Ask    number `json:"askPrice"`
		End    number `json:"closeTime"`
	}) error {
		if told.Symbol != symbol {
			return errNotOne
		}
		q = Quote{Price: float64(told.Price), Bid: float64(told.Bid), Ask: float64(told.Ask)}
		if instant(told.End, inMillis) > 0 {
			q.At = int64(told.End)
		}
		return nil
	})
	return q, at, err
}

func binanceList(ctx context.Context, h *host) (symbols []string, err error) {
	_, err = ask(ctx, h, "", 4, "/api/v3/ticker/price", url.Values{}, func(rows []struct{ Symbol string }) error {
		for _, r := range rows {
			symbols = append(symbols, r.Symbol)
		}
		return nil
	})
	return symbols, err
}

// binanceGrid reads the filters of a symbol. The least value of an order is in NOTIONAL,
// or in MIN_NOTIONAL, as that filter was called before.
func binanceGrid(ctx context.Context, h *host, symbol string) (g Grid, err error) {
	const weight = 20
	_, err = ask(ctx, h, symbol, weight, "/api/v3/exchangeInfo", url.Values{"symbol": {symbol}}, func(answer struct {
		Symbols []struct {
			Symbol, Status string
			Filters        []struct {
				Type                            string `json:"filterType"`
				TickSize, StepSize, MinNotional string
				MinQuantity                     string `json:"minQty"`
			}
		}
	}) error {
		if len(answer.Symbols) != 1 || answer.Symbols[0].Symbol != symbol {
			return errNotOne
		}
		g.Halted = halted(answer.Symbols[0].Status, "TRADING")
		for _, f := range answer.Symbols[0].Filters {
			switch f.Type {
			case "PRICE_FILTER":
				g.Tick = f.TickSize
			case "LOT_SIZE":
				g.Lot, g.Least = f.StepSize, f.MinQuantity
			case "NOTIONAL", "MIN_NOTIONAL":
				g.Minimum = f.MinNotional
			}
		}
		return nil
	})
	return g, err
}

// halted returns the status of a market, as the exchange words it, unless it is empty or one
// of those in which trades are made.
func halted(status string, trading ...string) string {
	if status == "" || slices.Contains(trading, status) {
		return ""
	}
	return tidyText(status)
}

// explainBinance explains the codes that a misspelled symbol or interval leads
// to. It looks at the codes because the texts beside them change.
func explainBinance(_ int, body []byte) *Error {
	var told struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(body, &told) != nil {
		return nil
	}
	switch told.Code {
	// The codes are Binance's: invalid symbol, and invalid interval.
	case -1121:
		return &Error{Reason: unknownSymbol, unknown: true}
	case -1120:
		return &Error{Reason: "the interval is unknown there", Advice: "choose another interval"}
	}
	return nil
}

// spellBinance writes a pair without a separator: BTC-USDT is BTCUSDT.
func spellBinance(symbol string) string {
	if base, quote, ok := cryptoPair(symbol); ok {
		symbol = coin(base) + coin(quote)
	}
	return noSeparator.Replace(symbol)
}
