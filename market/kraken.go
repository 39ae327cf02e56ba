package market

import (
	"cmp"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
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
	rates:   rates{pace: 2 * time.Second, batch: 100, every: 5 * time.Second},
	page:    krakenPage, ticker: krakenTicker,
	grid: krakenGrid, list: krakenList,
}

// krakenPage reads rows of time in seconds, open, high, low, close, average price,
// volume and count. They are in a member with Kraken's own name of the pair, which may
// differ from the one in the request. So it takes the only member that is not
// "last", unless that is the name of another pair than symbol.
func krakenPage(symbol string, iv Interval, _ int64, _, _ int) request[*page] {
	query := url.Values{"pair": {symbol}, "interval": {strconv.FormatInt(iv.Seconds()/minute, 10)}}
	return request[*page]{path: "/0/public/OHLC", query: query, read: readsKraken(func(result map[string]json.RawMessage) (*page, error) {
		delete(result, "last") // no pair: it says where a next request could begin
		if len(result) != 1 {
			return nil, errNotOne
		}
		var rows [][]number
		for name, list := range result {
			if otherPair(name, symbol) {
				return nil, &Error{Reason: "the answer is for another symbol", Advice: "check the spelling"}
			}
			if err := json.Unmarshal(list, &rows); err != nil {
				return nil, err
			}
		}
		p, err := pageOf(rows, inSeconds, [6]int{0, 1, 2, 3, 4, 6})
		p.last = true // older ones cannot be had
		return p, err
	})}
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

// readsKraken is reads for an answer whose result is by the names of pairs. Kraken sends errors
// with status 200.
func readsKraken[V, A any](use func(result map[string]V) (A, error)) func([]byte, time.Time) (A, error) {
	return reads(func(told struct {
		Error  []string
		Result map[string]V
	}) (answer A, err error) {
		if len(told.Error) > 0 {
			// Its codes; its words are not passed on.
			switch code := told.Error[0]; {
			case strings.HasPrefix(code, "EQuery:Unknown asset pair"):
				return answer, unlisted()
			case strings.HasPrefix(code, "EAPI:Rate limit"):
				return answer, &Error{Reason: "too many requests", Retry: true}
			case strings.HasPrefix(code, "EService:"):
				return answer, &Error{Reason: "the service has a failure", Retry: true}
			}
			return answer, &Error{Reason: "the request was refused", Advice: "check the symbol"}
		}
		return use(told.Result)
	})
}

// krakenTicker reads the last trade, bid and ask of each pair. They are under Kraken's own
// names of the pairs, which spellKraken understands.
func krakenTicker(symbols []string) request[map[string]Quote] {
	query := url.Values{"pair": {strings.Join(symbols, ",")}}
	return request[map[string]Quote]{path: "/0/public/Ticker", query: query, read: readsKraken(func(pairs map[string]struct {
		Last []number `json:"c"` // price and volume of the last trade; Kraken does not say when it was
		Bid  []number `json:"b"` // price and volumes
		Ask  []number `json:"a"`
	}) (map[string]Quote, error) {
		quotes := make(map[string]Quote, len(pairs))
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
		return quotes, nil
	})}
}

// krakenList has all pairs by their usual names.
var krakenList = request[[]string]{path: "/0/public/AssetPairs", read: readsKraken(func(pairs map[string]struct{ Altname string }) (symbols []string, err error) {
	for _, pair := range pairs {
		symbols = append(symbols, pair.Altname)
	}
	slices.Sort(symbols)
	return symbols, nil
})}

// krakenGrid reads the rules of a pair. Kraken gives the step of quantities as a number
// of decimals, and that of prices too where it names no tick size.
func krakenGrid(symbol string) request[Grid] {
	return request[Grid]{path: "/0/public/AssetPairs", query: url.Values{"pair": {symbol}}, read: readsKraken(func(pairs map[string]struct {
		Tick          string `json:"tick_size"`
		PriceDecimals int    `json:"pair_decimals"`
		LotDecimals   int    `json:"lot_decimals"`
		Cost          string `json:"costmin"`
		Least         string `json:"ordermin"`
		Status        string
	}) (g Grid, err error) {
		for name, p := range pairs {
			if len(pairs) == 1 && !otherPair(name, symbol) {
				return Grid{Tick: cmp.Or(p.Tick, decimals(p.PriceDecimals)), Lot: decimals(p.LotDecimals), Minimum: p.Cost, Least: p.Least,
					Halted: halted(p.Status, "online", "limit_only", "reduce_only")}, nil
			}
		}
		return g, errNotOne
	})}
}

// decimals returns the step of numbers with n decimals, empty for more than a
// market can have.
func decimals(n int) string {
	if n < 0 || n > 18 {
		return ""
	}
	return strconv.FormatFloat(math.Pow10(-n), 'f', n, 64)
}

// spellKraken writes a pair as Kraken does: without a dash, bitcoin as XBT and
// dogecoin as XDG. Its long names, in which X marks a coin and Z a currency, are
// understood: XXBTZUSD, XETHXXBT, USDTZUSD.
func spellKraken(symbol string) string {
	if len(symbol) == 8 && (symbol[4] == 'Z' && fiat[symbol[5:]] || symbol[4] == 'X' && coins[symbol[5:]]) {
		symbol = strings.TrimPrefix(symbol[:4], "X") + symbol[5:]
	}
	return spellCoins(symbol, "", func(name string) string { // the inverse of coin
		return cmp.Or(map[string]string{"BTC": "XBT", "DOGE": "XDG"}[name], name)
	})
}
