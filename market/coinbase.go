package market

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// NewCoinbase returns the source of Coinbase Exchange. Products are spelled
// BTC-USD; BTCUSD is understood. It has the column fear_greed.
func NewCoinbase(o ServiceOptions) (*Service, error) {
	// About ten requests a second are allowed.
	h, err := newHost("coinbase", orDefault(o.BaseURL, "https://api.exchange.coinbase.com"), o.Transport,
		&gate{limit: 8, window: time.Second})
	if err != nil {
		return nil, err
	}
	h.explain = func(status int, _ []byte) *Error {
		if status == 404 {
			return &Error{Reason: "it knows no such product", Advice: "check the spelling, such as BTC-USD"}
		}
		return nil
	}
	columns, err := newColumns(o, ExtraFearGreed)
	if err != nil {
		return nil, err
	}
	s := &Service{name: "coinbase", columns: columns, period: 250 * time.Millisecond}
	s.native = []Interval{Minute1, Minute5, Minute15, Hour1, Hour6, Day1}
	s.page = func(ctx context.Context, symbol string, iv Interval, end int64, n int) (*page, error) {
		const most = 300
		query := url.Values{"granularity": {strconv.FormatInt(iv.Seconds(), 10)}}
		if end != 0 { // both ends count
			query.Set("start", rfc3339(end-int64(min(n, most))*iv.Seconds()))
			query.Set("end", rfc3339(end-iv.Seconds()))
		}
		var p page
		now, err := h.get(ctx, symbol, 1, "/products/"+product(symbol)+"/candles", query, func(body []byte) (err error) {
			p.rows, err = decodeCoinbase(body)
			return err
		})
		p.until = now.Unix()
		return &p, err
	}
	return s, nil
}

// decodeCoinbase reads rows of time in s, low, high, open, close, volume,
// newest first, and turns them round.
func decodeCoinbase(body []byte) ([]Bar, error) {
	rows, err := rowsOf(body, 6)
	bars := make([]Bar, 0, len(rows))
	for _, r := range slices.Backward(rows) {
		bars = append(bars, Bar{whole(r[0]), float64(r[3]), float64(r[2]), float64(r[1]), float64(r[4]), float64(r[5])})
	}
	return bars, err
}

func rfc3339(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

// product writes a pair with a dash.
func product(symbol string) string {
	if base, quote, ok := splitPair(symbol); ok {
		return base + "-" + quote
	}
	return strings.ReplaceAll(symbol, "_", "-")
}
