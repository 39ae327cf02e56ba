package market

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// columns adds to bars what is not in them: Binance's futures data and
// alternative.me's index of fear and greed.
type columns struct {
	names     []string // those it has
	futures   *host
	fearGreed *host
	memo      memo[history]
}

// point is a value and the instant, in unix seconds, from which it is known.
type point struct {
	at    int64
	value float64
}

// history is a column as a service gave it, rising in time. Older values than
// from were not asked for, though the service may have them.
type history struct {
	from   int64
	points []point
}

func newColumns(o ServiceOptions, names ...string) (*columns, error) {
	// 2400 units a minute, but 500 requests in five minutes for funding: a
	// request that counts 24 units keeps both.
	futures, err := newHost("binance futures", orDefault(o.FuturesURL, "https://fapi.binance.com"), o.Transport,
		&gate{limit: 2000, window: time.Minute, used: "X-Mbx-Used-Weight-1m"})
	if err != nil {
		return nil, err
	}
	futures.explain = explainBinance
	fearGreed, err := newHost("alternative.me", orDefault(o.FearGreedURL, "https://api.alternative.me"), o.Transport,
		&gate{limit: 30, window: time.Minute})
	if err != nil {
		return nil, err
	}
	return &columns{names: names, futures: futures, fearGreed: fearGreed}, nil
}

// check refuses columns that the source does not have, before any request.
func (c *columns) check(source string, extra []string) error {
	for _, name := range extra {
		if !slices.Contains(c.names, name) {
			return noColumn(source, name, c.names)
		}
	}
	return nil
}

func noColumn(source, name string, have []string) error {
	if len(have) == 0 {
		return fmt.Errorf("%w: %s has no %q, nor any other beside the bars; choose another --source", ErrNoColumn, source, clip(name))
	}
	return fmt.Errorf("%w: %s has no %q, only %s", ErrNoColumn, source, clip(name), strings.Join(have, ", "))
}

// add puts the columns into s. A bar gets the newest value known before its
// end, so nothing looks ahead, and NaN when there was none yet.
func (c *columns) add(ctx context.Context, s *Series, extra []string) error {
	for _, name := range extra {
		points, err := c.points(ctx, name, s)
		if err != nil {
			return err
		}
		if s.Extra == nil {
			s.Extra = make(map[string][]float64, len(extra))
		}
		s.Extra[name] = align(s, points)
	}
	return nil
}

// align spreads points, which rise in time, over the bars of s.
func align(s *Series, points []point) []float64 {
	column := make([]float64, s.Len())
	value, next := math.NaN(), 0
	for i, t := range s.Time {
		for end := s.Interval.Next(t); next < len(points) && points[next].at < end; next++ {
			value = points[next].value
		}
		column[i] = value
	}
	return column
}

// points fetches or remembers one column from the first bar of s on.
func (c *columns) points(ctx context.Context, name string, s *Series) ([]point, error) {
	key := name
	from := floor(s.Time[0]-day, day)
	if name != ExtraFearGreed { // the mood is the same for all
		key = fmt.Sprintf("%s %s %s", name, plainPair(s.Symbol), s.Interval)
	}
	covers := func(h history) bool { return h.from <= from }
	h, err := c.memo.get(ctx, key, fmt.Sprint(key, from), covers, func(ctx context.Context) (kept[history], error) {
		var list []point
		var err error
		switch name {
		case ExtraFearGreed:
			list, err = c.fetchFearGreed(ctx, from)
		case ExtraFunding:
			list, err = c.fetchFunding(ctx, s.Symbol, from)
		default:
			list, err = c.fetchHistory(ctx, name, s.Symbol, s.Interval)
		}
		finite := slices.DeleteFunc(list, func(p point) bool { return math.IsNaN(p.value) || math.IsInf(p.value, 0) || p.at < 0 })
		slices.SortStableFunc(finite, func(a, b point) int { return cmp.Compare(a.at, b.at) })
		now := time.Now()
		expiry := now.Add(time.Minute)
		if n := len(finite); name == ExtraFearGreed && n > 0 && finite[n-1].at >= floor(now.Unix(), day) {
			expiry = time.Unix(floor(now.Unix(), day)+day, 0) // today's is there: the next comes at midnight UTC
		}
		return kept[history]{value: history{from, finite}, size: 16 * len(finite), expiry: expiry}, err
	})
	return h.points, err
}

// fetchFunding pages forwards. Funding is mostly eight-hourly but not for all
// symbols, so nothing is assumed about its spacing.
func (c *columns) fetchFunding(ctx context.Context, symbol string, from int64) ([]point, error) {
	const most, pages = 1000, 20
	var all []point
	for range pages {
		query := url.Values{"symbol": {plainPair(symbol)}, "limit": {strconv.Itoa(most)}, "startTime": {strconv.FormatInt(from*1000, 10)}}
		var rows []struct {
			Rate number `json:"fundingRate"`
			Time number `json:"fundingTime"`
		}
		_, err := c.futures.get(ctx, symbol, 24, "/fapi/v1/fundingRate", query, func(body []byte) error {
			rows = nil
			return json.Unmarshal(body, &rows)
		})
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			all = append(all, point{whole(r.Time) / 1000, float64(r.Rate)})
		}
		if len(rows) < most || all[len(all)-1].at < from {
			return all, nil
		}
		from = all[len(all)-1].at + 1
	}
	return all, nil
}

// futuresPeriods are those of the statistics below, longest first.
var futuresPeriods = []Interval{Day1, Hour12, Hour6, Hour4, Hour2, Hour1, Minute30, Minute15, Minute5}

// fetchHistory gets the newest 500 periods of open interest or of the accounts'
// ratio; Binance keeps thirty days. A period's value carries the time of its
// end and so belongs to the bar that ends there.
func (c *columns) fetchHistory(ctx context.Context, name, symbol string, iv Interval) ([]point, error) {
	period := Minute5
	for _, p := range futuresPeriods {
		if p.Seconds() <= iv.Seconds() {
			period = p
			break
		}
	}
	path := "/futures/data/globalLongShortAccountRatio"
	if name == ExtraOI {
		path = "/futures/data/openInterestHist"
	}
	var rows []struct {
		OI    number `json:"sumOpenInterestValue"`
		Long  number `json:"longAccount"`
		Short number `json:"shortAccount"`
		Time  number `json:"timestamp"`
	}
	query := url.Values{"symbol": {plainPair(symbol)}, "period": {string(period)}, "limit": {"500"}}
	_, err := c.futures.get(ctx, symbol, 24, path, query, func(body []byte) error {
		rows = nil
		return json.Unmarshal(body, &rows)
	})
	var list []point
	for _, r := range rows {
		value := map[string]number{ExtraOI: r.OI, ExtraLong: r.Long, ExtraShort: r.Short}[name]
		list = append(list, point{whole(r.Time)/1000 - 1, float64(value)})
	}
	return list, err
}

// fetchFearGreed gets one value a day, in force from 00:00 UTC.
func (c *columns) fetchFearGreed(ctx context.Context, from int64) ([]point, error) {
	days := (time.Now().Unix()-from)/day + 2
	var answer struct {
		Data []struct {
			Value number `json:"value"`
			Time  number `json:"timestamp"`
		} `json:"data"`
	}
	query := url.Values{"limit": {strconv.FormatInt(max(days, 2), 10)}, "format": {"json"}}
	_, err := c.fearGreed.get(ctx, ExtraFearGreed, 1, "/fng/", query, func(body []byte) error {
		answer.Data = nil
		return json.Unmarshal(body, &answer)
	})
	var list []point
	for _, d := range answer.Data {
		list = append(list, point{whole(d.Time), float64(d.Value)})
	}
	return list, err
}
