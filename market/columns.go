package market

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// columns adds extra columns to the bars of services: Binance's futures data
// and alternative.me's index of fear and greed.
type columns struct {
	hosts map[string]*host // where each of them comes from
	memo  memo[[]point]
}

var columnSites = []struct {
	site
	columns []string
}{
	{site{
		name: "binance futures", env: "WICK_BINANCE_FUTURES_URL", url: "https://fapi.binance.com",
		// 2400 units a minute are allowed, but only 500 requests for funding in five
		// minutes. Each request here counts as 24 units, so this limit keeps both rules.
		limit: 2000, window: time.Minute, used: "X-Mbx-Used-Weight-1m",
		explain: explainBinance,
	}, []string{ExtraFunding, ExtraOI, ExtraLong, ExtraShort}},
	{site{
		name: "alternative.me", env: "WICK_FEAR_GREED_URL", url: "https://api.alternative.me",
		limit: 30, window: time.Minute, // no limit is published
	}, []string{ExtraFearGreed}},
}

func openColumns(r reach) (*columns, error) {
	c := &columns{hosts: make(map[string]*host)}
	for _, s := range columnSites {
		h, err := s.site.open(r)
		if err != nil {
			return nil, err
		}
		for _, name := range s.columns {
			c.hosts[name] = h
		}
	}
	return c, nil
}

// point is a value and the instant, in unix seconds, from which it is known.
type point struct {
	at    int64
	value float64
}

// add puts the named columns into s. A bar gets the newest value that was known
// before its end, so that nothing looks ahead, and NaN if there was none yet.
func (c *columns) add(ctx context.Context, s *Series, extra []string) error {
	for _, name := range extra {
		points, err := c.points(ctx, name, s)
		if err != nil {
			return err
		}
		s.setExtra(name, align(s, points))
	}
	return nil
}

// align returns a column for the bars of s from points in order of time. A bar
// has the value of the last point before its end.
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

// points returns the values of one column from the first bar of s on, from
// memory or from its service.
func (c *columns) points(ctx context.Context, name string, s *Series) ([]point, error) {
	// A day earlier, so that the first bar has the value that held when it began, and
	// rounded to whole days, so that queries a little apart share an answer.
	from := floor(s.Time[0]-day, day)
	key := name
	if name != ExtraFearGreed { // the index is the same for all symbols, and all of it is asked for
		key = fmt.Sprintf("%s %s %s %d", name, s.Symbol, s.Interval, from)
	}
	return c.memo.get(ctx, key, key, nil, func(ctx context.Context) (kept[[]point], error) {
		list, err := c.fetch(ctx, name, s, from)
		// A service may send values in any order, and some that are not numbers.
		finite := slices.DeleteFunc(list, func(p point) bool { return math.IsNaN(p.value) || math.IsInf(p.value, 0) || p.at < 0 })
		slices.SortStableFunc(finite, func(a, b point) int { return cmp.Compare(a.at, b.at) })
		now := time.Now()
		expiry := now.Add(time.Minute)
		if n := len(finite); name == ExtraFearGreed && n > 0 && finite[n-1].at >= floor(now.Unix(), day) {
			expiry = time.Unix(floor(now.Unix(), day)+day, 0) // we have today's value: the next comes at midnight UTC
		}
		return kept[[]point]{value: finite, size: 16 * len(finite), expiry: expiry}, err
	})
}

// fetch asks the service of a column for its values since from, or for those that it has.
func (c *columns) fetch(ctx context.Context, name string, s *Series, from int64) (list []point, err error) {
	switch h := c.hosts[name]; name {
	case ExtraFearGreed:
		list, _, err = ask(ctx, h, name, fearGreed)
	case ExtraFunding:
		// How often there is a rate depends on the symbol (mostly every eight hours), so it is
		// not assumed.
		const most, pages = 1000, 20
		for range pages {
			query := url.Values{"symbol": {s.Symbol}, "limit": {strconv.Itoa(most)}, "startTime": {strconv.FormatInt(from*1000, 10)}}
			rates, _, err := ask(ctx, h, s.Symbol, futures("/fapi/v1/fundingRate", query, "fundingTime", "fundingRate"))
			list = append(list, rates...)
			// A page that is not full is the last. A page that ends before from would be sent
			// again and again.
			if err != nil || len(rates) < most || rates[most-1].at < from {
				return list, err
			}
			from = rates[most-1].at + 1 // both ends of the span are in the answer
		}
	default:
		period, _ := s.Interval.nearest(futuresPeriods)
		period = cmp.Or(period, Minute5) // the shortest, for bars of a minute too
		from := statistics[name]
		query := url.Values{"symbol": {s.Symbol}, "period": {string(period)}, "limit": {"500"}}
		list, _, err = ask(ctx, h, s.Symbol, futures(from.path, query, "timestamp", from.value))
		for i := range list {
			list[i].at-- // so that it falls into the bar that ends at that time
		}
	}
	return list, err
}

// statistics says where open interest and the shares of accounts are. There are the newest 500
// values; Binance keeps thirty days. A value carries the time at which its
// period ended, so it belongs to the bar that ended then.
var statistics = map[string]struct{ path, value string }{
	ExtraOI:    {"/futures/data/openInterestHist", "sumOpenInterestValue"},
	ExtraLong:  {"/futures/data/globalLongShortAccountRatio", "longAccount"},
	ExtraShort: {"/futures/data/globalLongShortAccountRatio", "shortAccount"},
}

// futuresPeriods are the periods that the statistics come in.
var futuresPeriods = []Interval{Day1, Hour12, Hour6, Hour4, Hour2, Hour1, Minute30, Minute15, Minute5}

// futures asks for a list of objects that have a time in milliseconds and a value under the names
// at and value.
func futures(path string, query url.Values, at, value string) request[[]point] {
	return request[[]point]{path: path, query: query, weight: 24, read: reads(func(rows []map[string]number) (list []point, err error) {
		for _, r := range rows {
			list = append(list, point{instant(r[at], inMillis), float64(r[value])})
		}
		return list, nil
	})}
}

// fearGreed asks for all there is: one value a day, which holds from 00:00 UTC.
var fearGreed = request[[]point]{path: "/fng/", query: url.Values{"limit": {"0"}, "format": {"json"}}, read: reads(func(told struct {
	Data []struct{ Value, Timestamp number }
}) (list []point, err error) {
	for _, d := range told.Data {
		list = append(list, point{instant(d.Timestamp, inSeconds), float64(d.Value)})
	}
	return list, nil
})}
