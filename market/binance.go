package market

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// binanceNames are Binance's own spellings; it has the letter's case mean
// something. Its three-day bars are left out: their border is not documented.
var binanceNames = map[Interval]string{
	Minute1: "1m", Minute3: "3m", Minute5: "5m", Minute15: "15m", Minute30: "30m", Hour1: "1h", Hour2: "2h", Hour4: "4h",
	Hour6: "6h", Hour8: "8h", Hour12: "12h", Day1: "1d", Week1: "1w", Month1: "1M",
}

// NewBinance returns the source of Binance's spot market. By default it asks
// the host that serves market data alone, which more countries can reach. It
// has the columns funding, oi, long and short, from the futures market of the
// same symbol, and fear_greed.
func NewBinance(o ServiceOptions) (*Service, error) {
	// The documented budget is 6000 units a minute and address.
	h, err := newHost("binance", orDefault(o.BaseURL, "https://data-api.binance.vision"), o.Transport,
		&gate{limit: 4800, window: time.Minute, used: "X-Mbx-Used-Weight-1m"})
	if err != nil {
		return nil, err
	}
	h.explain = explainBinance
	columns, err := newColumns(o, ExtraFunding, ExtraOI, ExtraLong, ExtraShort, ExtraFearGreed)
	if err != nil {
		return nil, err
	}
	s := &Service{name: "binance", columns: columns, period: 50 * time.Millisecond}
	for iv := range binanceNames {
		s.native = append(s.native, iv)
	}
	s.page = func(ctx context.Context, symbol string, iv Interval, end int64, n int) (*page, error) {
		const most, weight = 1000, 2
		query := url.Values{"symbol": {plainPair(symbol)}, "interval": {binanceNames[iv]}, "limit": {strconv.Itoa(min(n, most))}}
		if end != 0 {
			query.Set("endTime", strconv.FormatInt(end*1000-1, 10))
		}
		var p page
		now, err := h.get(ctx, symbol, weight, "/api/v3/klines", query, func(body []byte) (err error) {
			p.rows, err = decodeBinance(body)
			return err
		})
		p.until = now.Unix()
		return &p, err
	}
	return s, nil
}

// decodeBinance reads rows of open time in ms, open, high, low, close, volume
// and six items more.
func decodeBinance(body []byte) ([]Bar, error) {
	rows, err := rowsOf(body, 6)
	bars := make([]Bar, 0, len(rows))
	for _, r := range rows {
		bars = append(bars, Bar{whole(r[0]) / 1000, float64(r[1]), float64(r[2]), float64(r[3]), float64(r[4]), float64(r[5])})
	}
	return bars, err
}

// whole returns a time as an integer, and -1, which no bar may have, when it is
// none.
func whole(n number) int64 {
	if v := float64(n); v >= 0 && v < 1e15 {
		return int64(v)
	}
	return -1
}

// explainBinance knows the codes that a reader of charts can cause. The codes
// are stable, the texts are not.
func explainBinance(_ int, body []byte) *Error {
	var told struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(body, &told) != nil {
		return nil
	}
	switch told.Code {
	case -1121:
		return &Error{Reason: "it knows no such symbol", Advice: "check the spelling, such as BTCUSDT"}
	case -1120:
		return &Error{Reason: "it knows no such interval", Advice: "choose another interval"}
	}
	return nil
}

// plainPair writes a pair without its separator: BTC-USDT is BTCUSDT.
func plainPair(symbol string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(symbol)
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
