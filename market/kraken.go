package market

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/internal/limit"
)

// kraken is the spot market of Kraken. It gives the newest 720 bars of an
// interval and no older ones.
var kraken = provider{
	site: site{
		name: "kraken", env: "WICK_KRAKEN_URL", url: "https://api.kraken.com",
		limit: 1, window: time.Second, // about one request a second is allowed
	},
	example: "XBTUSD", spell: spellKraken,
	usual: []string{"XBTUSD", "ETHUSD", "SOLUSD", "XRPUSD", "XDGUSD", "ADAUSD", "LINKUSD", "LTCUSD"},
	// Its weekly bars are left out: seven days counted from 1970 start on Thursdays.
	native:  []Interval{Minute1, Minute5, Minute15, Minute30, Hour1, Hour4, Day1},
	columns: []string{ExtraFearGreed},
	period:  2 * time.Second,
	page:    krakenPage,
	ticker:  krakenTicker, batch: 100, every: 5 * time.Second,
	grid: krakenGrid, list: krakenList,
}

func krakenPage(ctx context.Context, h *host, symbol string, iv Interval, _ int64, _ int) (*page, error) {
	query := url.Values{"pair": {symbol}, "interval": {strconv.FormatInt(iv.Seconds()/minute, 10)}}
	p := &page{last: true}
	at, err := askKraken(ctx, h, symbol, "/0/public/OHLC", query, func(result map[string]json.RawMessage) (err error) {
		p.rows, err = krakenBars(result, symbol)
		return err
	})
	p.answered(at)
	return p, err
}

// krakenBars reads rows of time in seconds, open, high, low, close, average price,
// volume and count. They are in a member with Kraken's own name of the pair, which may
// differ from the one in the request. So it takes the only member that is not
// "last", unless that is the name of another pair than symbol.
func krakenBars(result map[string]json.RawMessage, symbol string) (bars []Bar, err error) {
	// "last" is no pair: it says where a next request could begin.
	delete(result, "last")
	if len(result) != 1 {
		return nil, errors.New("not one pair in the answer")
	}
	for name, list := range result {
		if otherPair(name, symbol) {
			return nil, &Error{Reason: "the answer is for another symbol", Advice: "check the spelling"}
		}
		var rows [][]number
		if err := json.Unmarshal(list, &rows); err != nil {
			return nil, err
		}
		bars, err = barsOf(rows, inSeconds, [6]int{0, 1, 2, 3, 4, 6})
	}
	return bars, err
}

// otherPair reports whether a name that Kraken gives to a pair surely means another one than
// symbol: the first of both is a known coin. There are other names that spellKraken does not
// understand, such as ZEURZUSD.
func otherPair(name, symbol string) bool {
	name = spellKraken(name)
	is, _, ok := splitPair(name)
	want, _, too := splitPair(symbol)
	return name != symbol && ok && too && coins[is] && coins[want]
}

// askKraken asks for an answer whose result is by the names of pairs. Kraken sends errors with
// status 200.
func askKraken[V any](ctx context.Context, h *host, symbol, path string, query url.Values, use func(result map[string]V) error) (time.Time, error) {
	return ask(ctx, h, symbol, 1, path, query, func(told struct {
		Error  []string
		Result map[string]V
	}) error {
		if len(told.Error) > 0 {
			return krakenError(told.Error[0])
		}
		return use(told.Result)
	})
}

// krakenError explains an error code of Kraken. Its words are not passed on.
func krakenError(text string) *Error {
	switch {
	case strings.HasPrefix(text, "EQuery:Unknown asset pair"):
		return &Error{Reason: unknownSymbol, unknown: true}
	case strings.HasPrefix(text, "EAPI:Rate limit"):
		return &Error{Reason: "too many requests", Retry: true}
	case strings.HasPrefix(text, "EService:"):
		return &Error{Reason: "the service has a failure", Retry: true}
	}
	return &Error{Reason: "the request was refused", Advice: "check the symbol"}
}

// krakenTicker reads the last trade, bid and ask of each pair. They are under Kraken's own
// names of the pairs, which spellKraken understands.
func krakenTicker(ctx context.Context, h *host, symbols []string) (map[string]Quote, time.Time, error) {
	quotes := make(map[string]Quote, len(symbols))
	at, err := askKraken(ctx, h, limit.Clip(strings.Join(symbols, " ")), "/0/public/Ticker", url.Values{"pair": {strings.Join(symbols, ",")}}, func(pairs map[string]struct {
		Last []number `json:"c"` // price and volume of the last trade; Kraken does not say when it was
		Bid  []number `json:"b"` // price and volumes
		Ask  []number `json:"a"`
	}) error {
		for name, pair := range pairs {
			if len(pair.Last) == 0 {
				continue
			}
			q := Quote{Price: float64(pair.Last[0])}
			if len(pair.Bid) > 0 && len(pair.Ask) > 0 {
				q.Bid, q.Ask = float64(pair.Bid[0]), float64(pair.Ask[0])
			}
			quotes[spellKraken(name)] = q
		}
		return nil
	})
	return quotes, at, err
}

// krakenList returns all pairs by their usual names.
func krakenList(ctx context.Context, h *host) (symbols []string, err error) {
	_, err = askKraken(ctx, h, "", "/0/public/AssetPairs", url.Values{}, func(pairs map[string]struct{ Altname string }) error {
		for _, pair := range pairs {
			symbols = append(symbols, pair.Altname)
		}
		slices.Sort(symbols)
		return nil
	})
	return symbols, err
}

// krakenGrid reads the rules of a pair. Kraken gives the step of quantities as a number
// of decimals, and that of prices too where it names no tick size.
func krakenGrid(ctx context.Context, h *host, symbol string) (g Grid, err error) {
	_, err = askKraken(ctx, h, symbol, "/0/public/AssetPairs", url.Values{"pair": {symbol}}, func(pairs map[string]struct {
		Tick          string `json:"tick_size"`
		PriceDecimals int    `json:"pair_decimals"`
		LotDecimals   int    `json:"lot_decimals"`
		Cost          string `json:"costmin"`
		Least         string `json:"ordermin"`
		Status        string
	}) error {
		if len(pairs) != 1 {
			return errNotOne
		}
		for name, p := range pairs {
			if otherPair(name, symbol) {
				return errNotOne
			}
			g = Grid{Tick: cmp.Or(p.Tick, decimals(p.PriceDecimals)), Lot: decimals(p.LotDecimals), Minimum: p.Cost, Least: p.Least,
				Halted: halted(p.Status, "online", "limit_only", "reduce_only")}
		}
		return nil
	})
	return g, err
}

// decimals returns the step of numbers with n decimals, empty for more than a
// market can have.
func decimals(n int) string {
	if n < 0 || n > 18 {
		return ""
	}
	if n == 0 {
		return "1"
	}
	return "0." + strings.Repeat("0", n-1) + "1"
}

// spellKraken writes a pair as Kraken does: without a dash, bitcoin as XBT and
// dogecoin as XDG. Its long names, in which X marks a coin and Z a currency, are
// understood: XXBTZUSD, XETHXXBT, USDTZUSD.
func spellKraken(symbol string) string {
	if len(symbol) == 8 && (symbol[4] == 'Z' && fiat[symbol[5:]] || symbol[4] == 'X' && coins[symbol[5:]]) {
		symbol = strings.TrimPrefix(symbol[:4], "X") + symbol[5:]
	}
	if base, quote, ok := cryptoPair(symbol); ok {
		symbol = krakenCoin(base) + krakenCoin(quote)
	}
	return noSeparator.Replace(symbol)
}

// krakenCoin is the inverse of coin.
func krakenCoin(name string) string {
	return cmp.Or(map[string]string{"BTC": "XBT", "DOGE": "XDG"}[name], name)
}
