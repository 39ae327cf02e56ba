package market

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// NewKraken returns the source of Kraken's spot market. Pairs are spelled
// XBTUSD or BTC-USD. It gives the newest 720 bars and no older ones. It has
// the column fear_greed.
func NewKraken(o ServiceOptions) (*Service, error) {
	// About one request a second is allowed.
	h, err := newHost("kraken", orDefault(o.BaseURL, "https://api.kraken.com"), o.Transport, &gate{limit: 1, window: time.Second})
	if err != nil {
		return nil, err
	}
	columns, err := newColumns(o, ExtraFearGreed)
	if err != nil {
		return nil, err
	}
	s := &Service{name: "kraken", columns: columns, period: 2 * time.Second}
	// Its weekly bars are left out: seven days counted from 1970 start on Thursdays.
	s.native = []Interval{Minute1, Minute5, Minute15, Minute30, Hour1, Hour4, Day1}
	s.page = func(ctx context.Context, symbol string, iv Interval, _ int64, _ int) (*page, error) {
		query := url.Values{"pair": {krakenPair(symbol)}, "interval": {strconv.FormatInt(iv.Seconds()/minute, 10)}}
		p := page{last: true}
		now, err := h.get(ctx, symbol, 1, "/0/public/OHLC", query, func(body []byte) (err error) {
			p.rows, err = decodeKraken(body)
			return err
		})
		p.until = now.Unix()
		return &p, err
	}
	return s, nil
}

// decodeKraken reads rows of time in s, open, high, low, close, vwap, volume,
// count. They stand under Kraken's own name of the pair, which is not the one we
// asked for, so it takes the one member that is not "last". Errors come with
// status 200.
func decodeKraken(body []byte) ([]Bar, error) {
	var told struct {
		Error  []string                   `json:"error"`
		Result map[string]json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(body, &told); err != nil {
		return nil, err
	}
	if len(told.Error) > 0 {
		return nil, krakenError(told.Error[0])
	}
	delete(told.Result, "last")
	if len(told.Result) != 1 {
		return nil, errors.New("not one pair in the answer")
	}
	var bars []Bar
	for _, list := range told.Result {
		rows, err := rowsOf(list, 7)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			bars = append(bars, Bar{whole(r[0]), float64(r[1]), float64(r[2]), float64(r[3]), float64(r[4]), float64(r[6])})
		}
	}
	return bars, nil
}

func krakenError(text string) *Error {
	switch {
	case strings.HasPrefix(text, "EQuery:Unknown asset pair"):
		return &Error{Reason: "it knows no such pair", Advice: "check the spelling, such as XBTUSD"}
	case strings.HasPrefix(text, "EAPI:Rate limit"):
		return &Error{Reason: "too many requests", Retry: true}
	case strings.HasPrefix(text, "EService:"):
		return &Error{Reason: "the service has a failure", Retry: true}
	}
	return &Error{Reason: "it does not take the request", Advice: "check the symbol"}
}

// krakenPair writes a pair as Kraken does: without a dash, bitcoin as XBT and
// dogecoin as XDG.
func krakenPair(symbol string) string {
	base, quote, ok := splitPair(symbol)
	if !ok {
		return plainPair(symbol)
	}
	switch base {
	case "BTC":
		base = "XBT"
	case "DOGE":
		base = "XDG"
	}
	return base + quote
}
