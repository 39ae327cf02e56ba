package markettest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var binanceIntervals = map[string]hours{
	"1m": clock(time.Minute), "3m": clock(3 * time.Minute), "5m": clock(5 * time.Minute), "15m": clock(15 * time.Minute),
	"30m": clock(30 * time.Minute), "1h": clock(time.Hour), "2h": clock(2 * time.Hour), "4h": clock(4 * time.Hour),
	"6h": clock(6 * time.Hour), "8h": clock(8 * time.Hour), "12h": clock(12 * time.Hour), "1d": clock(24 * time.Hour),
	"3d": clock(72 * time.Hour), "1w": clock(168 * time.Hour), "1M": months{},
}

// What the services accept as a name.
var (
	binanceSymbol   = regexp.MustCompile(`^[A-Z0-9]{1,20}$`)
	coinbaseProduct = regexp.MustCompile(`^[A-Z0-9]+-[A-Z0-9]+$`)
)

// binance is the spot market's data: klines, the price and the time. Weights
// are counted per minute and told in every answer.
func (x *Exchange) binance(w http.ResponseWriter, r *http.Request, path string, f *Fault) {
	used, ok := x.spend("binance", 2, 6000, 60)
	w.Header().Set("X-MBX-USED-WEIGHT-1M", strconv.Itoa(used))
	if !ok {
		w.Header().Set("Retry-After", strconv.FormatInt(60-time.Now().Unix()%60, 10))
		reply(w, 429, `{"code":-1003,"msg":"Too many requests."}`)
		return
	}
	q := r.URL.Query()
	symbol := q.Get("symbol")
	switch {
	case path == "/api/v3/time":
		reply(w, 200, `{"serverTime":%d}`, x.now().UnixMilli())
	case path == "/api/v3/ticker/price" && q.Has("symbols"):
		x.binancePrices(w, q.Get("symbols"), f)
	case f.Kind == WrongSymbol || !isListed(symbol):
		reply(w, 400, `{"code":-1121,"msg":"Invalid symbol."}`)
	case !binanceSymbol.MatchString(symbol):
		reply(w, 400, `{"code":-1100,"msg":"Illegal characters found in parameter 'symbol'."}`)
	case path == "/api/v3/ticker/price":
		reply(w, 200, `{"symbol":%q,"price":"%.2f"}`, symbol, float64(trade(seed(symbol), x.now().Unix()))/100)
	case path == "/api/v3/ticker/24hr":
		last, bid, ask := x.book(symbol)
		reply(w, 200, `{"symbol":%q,"lastPrice":%q,"bidPrice":%q,"askPrice":%q}`, symbol, last, bid, ask)
	case path == "/api/v3/exchangeInfo":
		reply(w, 200, `{"timezone":"UTC","symbols":[{"symbol":%q,"status":"TRADING","filters":[{"filterType":"PRICE_FILTER","minPrice":"0.01000000","maxPrice":"1000000.00000000","tickSize":"0.01000000"},`+
			`{"filterType":"LOT_SIZE","minQty":"0.00001000","maxQty":"9000.00000000","stepSize":"0.00001000"},{"filterType":"NOTIONAL","minNotional":"5.00000000","applyMinToMarket":true}]}]}`, symbol)
	case path == "/api/v3/klines":
		x.klines(w, q, f)
	default:
		reply(w, 404, `<html>no</html>`)
	}
}

// binancePrices answers for a list of symbols. One that is unknown spoils it all.
func (x *Exchange) binancePrices(w http.ResponseWriter, list string, f *Fault) {
	var symbols []string
	err := json.Unmarshal([]byte(list), &symbols)
	answer := []map[string]string{}
	for _, symbol := range symbols {
		if f.Kind == WrongSymbol || !isListed(symbol) {
			err = errors.New("unknown")
		}
		answer = append(answer, map[string]string{"symbol": symbol, "price": x.price(symbol)})
	}
	if err != nil {
		reply(w, 400, `{"code":-1121,"msg":"Invalid symbol."}`)
		return
	}
	writeJSON(w, answer)
}

// book is the newest price of a symbol, and its bid and ask a cent below and above.
func (x *Exchange) book(symbol string) (last, bid, ask string) {
	cents := trade(seed(symbol), x.now().Unix()/tradeStep*tradeStep)
	return fmt.Sprintf("%.2f", float64(cents)/100), fmt.Sprintf("%.2f", float64(cents-1)/100), fmt.Sprintf("%.2f", float64(cents+1)/100)
}

// price is the newest price of a symbol.
func (x *Exchange) price(symbol string) string { return x.priceAt(symbol, x.now().Unix()) }

// priceAt is the price of a symbol at an instant in unix seconds.
func (x *Exchange) priceAt(symbol string, at int64) string {
	return fmt.Sprintf("%.2f", float64(trade(seed(symbol), at/tradeStep*tradeStep))/100)
}

func (x *Exchange) klines(w http.ResponseWriter, q url.Values, f *Fault) {
	h, ok := binanceIntervals[q.Get("interval")]
	if !ok {
		reply(w, 400, `{"code":-1120,"msg":"Invalid interval."}`)
		return
	}
	limit := min(atoi(q.Get("limit"), 500), 1000)
	to := x.now().Unix() + 1
	if end := atoi(q.Get("endTime"), 0); end > 0 {
		to = min(to, int64(end)/1000+1)
	}
	first, next, _ := h.cut(0) // January has 31 days
	from := to - int64(limit+2)*(next-first)
	if start := atoi(q.Get("startTime"), 0); start > 0 {
		from = int64(start) / 1000
	}
	list := rows(x.candles(q.Get("symbol"), h, max(from, 0), to), limit, f)
	reply(w, 200, "%s", array(list, func(b row) string {
		return cells(whole(b.start*1000), null(b.open), null(b.high), null(b.low), null(b.close), null(b.volume), whole(b.end*1000-1), `"0",4,"0","0","0"`)
	}))
}

// futures is Binance's public data on perpetual contracts.
func (x *Exchange) futures(w http.ResponseWriter, r *http.Request, path string, f *Fault) {
	used, ok := x.spend("futures", 1, 100, 60)
	w.Header().Set("X-MBX-USED-WEIGHT-1M", strconv.Itoa(used))
	q := r.URL.Query()
	symbol := q.Get("symbol")
	now := x.now().Unix()
	switch {
	case !ok:
		reply(w, 429, `{"code":-1003,"msg":"Too many requests."}`)
		return
	case f.Kind == WrongSymbol || !isListed(symbol):
		reply(w, 400, `{"code":-1121,"msg":"Invalid symbol."}`)
		return
	case f.Kind == Empty:
		reply(w, 200, `[]`)
		return
	}
	answer := []map[string]any{}
	switch path {
	case "/fapi/v1/fundingRate":
		limit := min(atoi(q.Get("limit"), 100), 1000)
		from := max(int64(atoi(q.Get("startTime"), 0))/1000, now-int64(400*86400))
		for t := (from + 8*3600 - 1) / (8 * 3600) * 8 * 3600; t <= now && len(answer) < limit; t += 8 * 3600 {
			// A few milliseconds late and without a mark price, as they come.
			answer = append(answer, map[string]any{"symbol": symbol, "fundingRate": fundingText(t), "fundingTime": t*1000 + 3, "markPrice": ""})
		}
	case "/futures/data/openInterestHist", "/futures/data/globalLongShortAccountRatio":
		step := map[string]int64{"5m": 300, "15m": 900, "30m": 1800, "1h": 3600, "2h": 7200, "4h": 14400, "6h": 21600, "12h": 43200, "1d": 86400}[q.Get("period")]
		if step == 0 {
			reply(w, 400, `{"code":-1130,"msg":"Data sent for parameter 'period' is not valid."}`)
			return
		}
		count := min(int64(min(atoi(q.Get("limit"), 30), 500)), 30*86400/step)
		for t := now/step*step - (count-1)*step; t <= now; t += step {
			stamp := any(t * 1000)
			if t/step%2 == 0 {
				stamp = strconv.FormatInt(t*1000, 10) // both forms are in the documentation
			}
			answer = append(answer, map[string]any{
				"symbol": symbol, "sumOpenInterest": "1", "sumOpenInterestValue": fmt.Sprint(t % 100000), "longShortRatio": "1.5",
				"longAccount": "0.6000", "shortAccount": "0.4000", "timestamp": stamp,
			})
		}
	default:
		reply(w, 404, `{}`)
		return
	}
	writeJSON(w, answer)
}

// fundingText is the funding rate of the instant t, which the futures service
// gives every eight hours.
func fundingText(t int64) string { return fmt.Sprintf("%.8f", float64(t/28800%100)/1e6) }

// fearGreed is alternative.me: one value a day, newest first, all texts.
func (x *Exchange) fearGreed(w http.ResponseWriter, r *http.Request, path string, f *Fault) {
	limit := atoi(r.URL.Query().Get("limit"), 1)
	if limit == 0 {
		limit = 3000
	}
	data := []map[string]string{}
	today := x.now().Unix() / 86400
	for i := range int64(limit) {
		data = append(data, map[string]string{
			"value": strconv.FormatInt((today-i)%100, 10), "value_classification": "Fear", "timestamp": strconv.FormatInt((today-i)*86400, 10),
		})
	}
	if f.Kind == Empty {
		data = nil
	}
	writeJSON(w, map[string]any{"name": "Fear and Greed Index", "data": data, "metadata": map[string]any{"error": nil}})
}

// coinbase gives at most 300 candles, newest first, low before high before open,
// as numbers.
func (x *Exchange) coinbase(w http.ResponseWriter, r *http.Request, path string, f *Fault) {
	if _, ok := x.spend("coinbase", 1, 10, 1); !ok {
		reply(w, 429, `{"message":"Public rate limit exceeded"}`)
		return
	}
	product, rest, _ := strings.Cut(strings.TrimPrefix(path, "/products/"), "/")
	if f.Kind == WrongSymbol || !coinbaseProduct.MatchString(product) || !isListed(product) {
		reply(w, 404, `{"message":"NotFound"}`)
		return
	}
	switch rest {
	case "candles":
		x.coinbaseCandles(w, r.URL.Query(), product, f)
	case "ticker":
		last, bid, ask := x.book(product)
		reply(w, 200, `{"trade_id":1,"price":%q,"size":"1","bid":%q,"ask":%q,"volume":"1"}`, last, bid, ask)
	case "":
		reply(w, 200, `{"id":%q,"quote_increment":"0.01","base_increment":"0.00000001","min_market_funds":"1"}`, product)
	default:
		reply(w, 404, `{"message":"NotFound"}`)
	}
}

func (x *Exchange) coinbaseCandles(w http.ResponseWriter, q url.Values, product string, f *Fault) {
	step := int64(atoi(q.Get("granularity"), 60))
	if !strings.Contains(" 60 300 900 3600 21600 86400 ", fmt.Sprintf(" %d ", step)) {
		reply(w, 400, `{"message":"Unsupported granularity"}`)
		return
	}
	to := x.now().Unix() + 1
	from := to - 300*step
	if q.Has("start") || q.Has("end") {
		start, err1 := time.Parse(time.RFC3339, q.Get("start"))
		end, err2 := time.Parse(time.RFC3339, q.Get("end"))
		if err1 != nil || err2 != nil {
			reply(w, 400, `{"message":"Invalid start"}`)
			return
		}
		if from, to = start.Unix(), end.Unix()+1; (to-from)/step > 300 {
			reply(w, 400, `{"message":"granularity too small for the requested time range. Count of aggregations requested exceeds 300"}`)
			return
		}
	}
	list := rows(x.candles(product, clock(time.Duration(step)*time.Second), from, to), 300, f)
	slices.Reverse(list)
	reply(w, 200, "%s", array(list, func(b row) string {
		return cells(whole(b.start), bare(b.low), bare(b.high), bare(b.open), bare(b.close), bare(b.volume))
	}))
}

// kraken gives the newest 720 rows under its own name of the pair, and errors
// with status 200.
func (x *Exchange) kraken(w http.ResponseWriter, r *http.Request, path string, f *Fault) {
	q := r.URL.Query()
	pair, step := q.Get("pair"), int64(atoi(q.Get("interval"), 1))*60
	_, ok := x.spend("kraken", 1, 1, 1)
	switch {
	case !ok:
		reply(w, 200, `{"error":["EAPI:Rate limit exceeded"]}`)
		return
	case path == "/0/public/Ticker":
		x.krakenTicker(w, strings.Split(pair, ","), f)
		return
	case path == "/0/public/AssetPairs" && isListed(pair):
		reply(w, 200, `{"error":[],"result":{%q:{"altname":%q,"pair_decimals":1,"lot_decimals":8,"ordermin":"0.00005","costmin":"0.5","tick_size":"0.01"}}}`, pair, pair)
		return
	case path != "/0/public/OHLC" || !strings.Contains(" 1 5 15 30 60 240 1440 10080 21600 ", fmt.Sprintf(" %d ", step/60)):
		reply(w, 200, `{"error":["EGeneral:Invalid arguments"]}`)
		return
	case f.Kind == WrongSymbol || !isListed(pair):
		reply(w, 200, `{"error":["EQuery:Unknown asset pair"]}`)
		return
	}
	to := x.now().Unix() + 1
	list := rows(x.candles(pair, unixClock(step), to-721*step, to), 720, f)
	reply(w, 200, `{"error":[],"result":{%q:%s,"last":%d}}`, "XX"+pair[:min(3, len(pair))]+"ZUSD", array(list, func(b row) string {
		return cells(whole(b.start), null(b.open), null(b.high), null(b.low), null(b.close), null(b.close), null(b.volume), "4")
	}), to-step)
}

// krakenTicker answers for a list of pairs. One that is unknown spoils it all.
func (x *Exchange) krakenTicker(w http.ResponseWriter, pairs []string, f *Fault) {
	result := map[string]any{}
	for _, pair := range pairs {
		if f.Kind == WrongSymbol || !isListed(pair) {
			reply(w, 200, `{"error":["EQuery:Unknown asset pair"]}`)
			return
		}
		name := pair
		if len(pair) == 6 && (pair[:3] == "XBT" || pair[:3] == "ETH") {
			name = "X" + pair[:3] + "Z" + pair[3:]
		}
		last, bid, ask := x.book(pair)
		result[name] = map[string]any{"a": []string{ask, "1", "1"}, "b": []string{bid, "1", "1"}, "c": []string{last, "0.5"}, "o": "1"}
	}
	writeJSON(w, map[string]any{"error": []string{}, "result": result})
}

// array returns a JSON array of what text gives for each row, which is JSON already.
// Rows are most of what the fakes write, and encoding/json takes several times as
// long for them.
func array(list []row, text func(row) string) []byte {
	b := []byte{'['}
	for i, r := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, text(r)...)
	}
	return append(b, ']')
}

// cells returns a JSON array of texts that are JSON already.
func cells(texts ...string) string { return "[" + strings.Join(texts, ",") + "]" }

// whole writes a number.
func whole(n int64) string { return strconv.FormatInt(n, 10) }

// null writes a text as a JSON string, and "" as null.
func null(text string) string {
	if text == "" {
		return "null"
	}
	return `"` + text + `"`
}

// bare writes a text as a JSON number, and "" as null. NaN, which JSON lacks, stands
// there bare all the same, as broken servers send it.
func bare(text string) string {
	if text == "" {
		return "null"
	}
	return text
}

func writeJSON(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own structs
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

func atoi(text string, fallback int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return fallback
}
