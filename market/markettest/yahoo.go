package markettest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// yahooMarket returns where a symbol trades: coins around the clock, currencies
// on London's weekdays, all else in New York.
func yahooMarket(symbol string) (e exchange, zone string) {
	zone = "America/New_York"
	e = exchange{open: 9*time.Hour + 30*time.Minute, close: 16 * time.Hour}
	switch {
	case strings.HasSuffix(symbol, "=X"):
		zone, e = "Europe/London", exchange{close: 24 * time.Hour}
	case strings.HasSuffix(symbol, "-USD"):
		zone, e = "UTC", exchange{close: 24 * time.Hour, weekends: true}
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	e.zone = location
	return e, zone
}

// yahoo answers charts: arrays side by side, the newest row at the time of the
// last trade.
func (x *Exchange) yahoo(w http.ResponseWriter, r *http.Request, path string, f *Fault) {
	q := r.URL.Query()
	if path == "/v7/finance/spark" {
		x.spark(w, strings.Split(q.Get("symbols"), ","), f)
		return
	}
	symbol := strings.TrimPrefix(path, "/v8/finance/chart/")
	e, zone := yahooMarket(symbol)
	steps := map[string]int64{"1m": 60, "2m": 120, "5m": 300, "15m": 900, "30m": 1800, "60m": 3600, "90m": 5400, "1h": 3600}
	interval := q.Get("interval")
	e.step = steps[interval]
	e.unit = map[string]string{"1d": "day", "1wk": "week", "1mo": "month"}[interval]
	now := x.now().Unix()
	from, to := int64(atoi(q.Get("period1"), 0)), int64(atoi(q.Get("period2"), 0))
	reach := map[string]int64{"1m": 30, "5m": 60, "15m": 60, "30m": 60, "1h": 730}[interval] * 86400
	switch {
	case f.Kind == WrongSymbol || !isListed(symbol) || strings.Contains(symbol, "/"):
		reply(w, 404, `{"chart":{"result":null,"error":{"code":"Not Found","description":"No data found, symbol may be delisted"}}}`)
		return
	case e.step == 0 && e.unit == "" || reach > 0 && from < now-reach || interval == "1m" && to-from > 8*86400:
		reply(w, 422, `{"chart":{"result":null,"error":{"code":"Unprocessable Entity","description":"%s data not available for startTime=%d and endTime=%d."}}}`, interval, from, to)
		return
	}
	list := x.candles(symbol, &e, from, to)
	out := rows(list, 1<<30, f)
	if n := len(list); n > 0 && len(out) > 0 && list[n-1].end > now && e.unit != "week" && e.unit != "month" {
		live := out[len(out)-1]
		live.start = now
		if e.unit == "" { // a day repeats itself whole, shorter bars only the last trade
			live.open, live.high, live.low, live.volume = live.close, live.close, live.close, "0"
		}
		out = append(out, live)
	}
	meta, err := json.Marshal(x.meta(symbol, e, zone, interval))
	if err != nil {
		panic(err) // our own struct
	}
	reply(w, 200, `{"chart":{"error":null,"result":[{"meta":%s,"timestamp":%s,"indicators":{"quote":[{"open":%s,"high":%s,"low":%s,"close":%s,"volume":%s}]}}]}}`,
		meta, array(out, func(b row) string { return whole(b.start) }),
		array(out, func(b row) string { return bare(b.open) }), array(out, func(b row) string { return bare(b.high) }),
		array(out, func(b row) string { return bare(b.low) }), array(out, func(b row) string { return bare(b.close) }),
		array(out, func(b row) string { return bare(b.volume) }))
}

// meta is what an answer says of a symbol.
func (x *Exchange) meta(symbol string, e exchange, zone, interval string) map[string]any {
	y, m, d := x.now().In(e.zone).Date()
	open, shut := e.session(y, m, d)
	return map[string]any{
		"currency": "USD", "symbol": symbol, "exchangeTimezoneName": zone, "gmtoffset": 0, "dataGranularity": interval,
		"regularMarketTime":    e.lastTrade(x.now()),
		"currentTradingPeriod": map[string]any{"regular": map[string]any{"start": open, "end": shut}},
	}
}

// spark answers for up to twenty symbols with the last trade of each, and leaves
// out those it does not know.
func (x *Exchange) spark(w http.ResponseWriter, symbols []string, f *Fault) {
	if len(symbols) > 20 {
		reply(w, 400, `{"spark":{"result":null,"error":{"code":"Bad Request","description":"Number of symbols exceeds the limit"}}}`)
		return
	}
	result := []any{}
	for _, symbol := range symbols {
		if f.Kind == WrongSymbol || !isListed(symbol) {
			continue
		}
		e, zone := yahooMarket(symbol)
		last := e.lastTrade(x.now())
		meta := x.meta(symbol, e, zone, "1d")
		meta["regularMarketPrice"] = json.Number(x.priceAt(symbol, last))
		result = append(result, map[string]any{"symbol": symbol, "response": []any{map[string]any{"meta": meta}}})
	}
	writeJSON(w, map[string]any{"spark": map[string]any{"result": result, "error": nil}})
}

// lastTrade returns when the market was last open, in unix seconds.
func (e *exchange) lastTrade(now time.Time) int64 {
	y, m, d := now.In(e.zone).Date()
	for ; ; d-- {
		open, shut := e.session(y, m, d)
		if shut > open && now.Unix() >= open {
			return min(now.Unix(), shut)
		}
	}
}

// cutBySession cuts the hours of the exchange that a symbol is traded at.
func cutBySession(symbol, interval string) hours {
	e, _ := yahooMarket(symbol)
	e.unit = map[string]string{"1d": "day", "1wk": "week", "1mo": "month"}[interval]
	if length, err := time.ParseDuration(interval); err == nil {
		e.step = int64(length.Seconds())
	}
	if e.step == 0 && e.unit == "" {
		return nil
	}
	return &e
}

// Rows returns a service's own bars straight from the market, for comparison:
// start, open, high, low, close, volume. The interval is spelled as in "5m",
// "4h", "1d", "1wk", "1mo". It returns nil if the service has no such bars.
func (x *Exchange) Rows(name, symbol, interval string, from, to int64) [][6]float64 {
	at := slices.IndexFunc(services, func(s service) bool { return s.name == name && s.cut != nil })
	if at < 0 {
		return nil
	}
	h := services[at].cut(symbol, interval)
	if h == nil {
		return nil
	}
	var out [][6]float64
	for _, c := range x.candles(symbol, h, from, to) {
		price := func(cents int32) float64 { return float64(cents) / 100 }
		out = append(out, [6]float64{float64(c.start), price(c.open), price(c.high), price(c.low), price(c.close), float64(c.volume)})
	}
	return out
}
