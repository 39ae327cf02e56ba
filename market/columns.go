package market

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/internal/limit"
)

// columns adds extra columns to the bars of one source: Binance's futures data
// and alternative.me's index of fear and greed.
type columns struct {
	names []string         // the columns that the source has
	hosts map[string]*host // where each of them comes from
	memo  memo[history]
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

func openColumns(r reach, names []string) (*columns, error) {
	c := &columns{names: names, hosts: make(map[string]*host)}
	for _, s := range columnSites {
		if !slices.ContainsFunc(s.columns, func(name string) bool { return slices.Contains(names, name) }) {
			continue
		}
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

// history is a column as a service gave it, in order of time. Values older than
// from were not asked for; the service may have them.
type history struct {
	from   int64
	points []point
}

// check returns an error if the source lacks a column. It makes no request.
func (c *columns) check(source string, extra []string) error {
	for _, name := range extra {
		if !slices.Contains(c.names, name) {
			has := cmp.Or(strings.Join(c.names, ", "), "no extra column; choose another --source")
			return fmt.Errorf("%w: %s has no %q: it has %s", errNoColumn, source, limit.Clip(name), has)
		}
	}
	return nil
}

// add puts the named columns into s. A bar gets the newest value that was known
// before its end, so that nothing looks ahead, and NaN if there was none yet.
func (c *columns) add(ctx context.Context, s *Series, extra []string) error {
	for _, name := range extra {
		points, err := c.points(ctx, name, s)
		if err != nil {
			return err
		}
		s.setExtra(name, align(s, points, true))
	}
	return nil
}

// align returns a column for the bars of s from points in order of time. A bar
// has the value of the last point before its end that has one, or of its own points alone if a
// value is of a moment and does not last.
func align(s *Series, points []point, lasts bool) []float64 {
	column := make([]float64, s.Len())
	value, next := math.NaN(), 0
	for i, t := range s.Time {
		if !lasts {
			value = math.NaN()
		}
		for end := s.Interval.Next(t); next < len(points) && points[next].at < end; next++ {
			replaced := next+1 < len(points) && points[next+1].at == points[next].at
			if !replaced && !math.IsNaN(points[next].value) {
				value = points[next].value
			}
		}
		column[i] = value
	}
	return column
}

// compare orders points by their time.
func (p point) compare(q point) int { return cmp.Compare(p.at, q.at) }

// points returns the values of one column from the first bar of s on, from
// memory or from its service.
func (c *columns) points(ctx context.Context, name string, s *Series) ([]point, error) {
	key := name
	// A day earlier, so that the first bar has the value that held when it began, and
	// rounded to whole days, so that queries a little apart share an answer.
	from := floor(s.Time[0]-day, day)
	if name != ExtraFearGreed { // the index is the same for all symbols
		key = fmt.Sprintf("%s %s %s", name, s.Symbol, s.Interval)
	}
	// A column that reaches further back than asked for serves as well.
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
		// A service may send values in any order, and some that are not numbers.
		finite := slices.DeleteFunc(list, func(p point) bool { return math.IsNaN(p.value) || math.IsInf(p.value, 0) || p.at < 0 })
		slices.SortStableFunc(finite, point.compare)
		now := time.Now()
		expiry := now.Add(time.Minute)
		if n := len(finite); name == ExtraFearGreed && n > 0 && finite[n-1].at >= floor(now.Unix(), day) {
			expiry = time.Unix(floor(now.Unix(), day)+day, 0) // we have today's value: the next comes at midnight UTC
		}
		return kept[history]{value: history{from, finite}, size: 16 * len(finite), expiry: expiry}, err
	})
	return h.points, err
}

// fetchFunding fetches the funding rates since from, page by page. How often there is
// one depends on the symbol (mostly every eight hours), so it is not assumed.
func (c *columns) fetchFunding(ctx context.Context, symbol string, from int64) (all []point, err error) {
	const most, pages = 1000, 20
	for range pages {
		// Both ends of the span are in the answer, so the next page begins one
		// second later.
		query := url.Values{"symbol": {symbol}, "limit": {strconv.Itoa(most)}, "startTime": {strconv.FormatInt(from*1000, 10)}}
		before := len(all)
		_, err := ask(ctx, c.hosts[ExtraFunding], symbol, 24, "/fapi/v1/fundingRate", query, func(rows []struct{ FundingRate, FundingTime number }) error {
			for _, r := range rows {
				all = append(all, point{instant(r.FundingTime, inMillis), float64(r.FundingRate)})
			}
			return nil
		})
		// A page that is not full is the last. A page that ends before from would be sent
		// again and again.
		if err != nil || len(all) < before+most || all[len(all)-1].at < from {
			return all, err
		}
		from = all[len(all)-1].at + 1
	}
	return all, nil
}

// futuresPeriods are the periods that the statistics of fetchHistory come in, longest
// first.
var futuresPeriods = []Interval{Day1, Hour12, Hour6, Hour4, Hour2, Hour1, Minute30, Minute15, Minute5}

// fetchHistory fetches the newest 500 values of open interest or of the share of
// accounts; Binance keeps thirty days. A value carries the time at which its
// period ended, so it belongs to the bar that ended then.
func (c *columns) fetchHistory(ctx context.Context, name, symbol string, iv Interval) (list []point, err error) {
	period := Minute5 // the shortest, for bars of a minute too
	if i := slices.IndexFunc(futuresPeriods, func(p Interval) bool { return p.Seconds() <= iv.Seconds() }); i >= 0 {
		period = futuresPeriods[i]
	}
	path := "/futures/data/globalLongShortAccountRatio"
	if name == ExtraOI {
		path = "/futures/data/openInterestHist"
	}
	query := url.Values{"symbol": {symbol}, "period": {string(period)}, "limit": {"500"}}
	_, err = ask(ctx, c.hosts[name], symbol, 24, path, query, func(rows []struct{ SumOpenInterestValue, LongAccount, ShortAccount, Timestamp number }) error {
		for _, r := range rows {
			value := map[string]number{ExtraOI: r.SumOpenInterestValue, ExtraLong: r.LongAccount, ExtraShort: r.ShortAccount}[name]
			// A second earlier, so that it falls into the bar that ends at that time.
			list = append(list, point{instant(r.Timestamp, inMillis) - 1, float64(value)})
		}
		return nil
	})
	return list, err
}

// fetchFearGreed fetches one value a day since from; each holds from 00:00 UTC.
func (c *columns) fetchFearGreed(ctx context.Context, from int64) (list []point, err error) {
	// The newest value comes first, so the number of days says how far back.
	days := (time.Now().Unix()-from)/day + 2
	query := url.Values{"limit": {strconv.FormatInt(max(days, 2), 10)}, "format": {"json"}}
	_, err = ask(ctx, c.hosts[ExtraFearGreed], ExtraFearGreed, 1, "/fng/", query, func(answer struct {
		Data []struct{ Value, Timestamp number }
	}) error {
		for _, d := range answer.Data {
			list = append(list, point{instant(d.Timestamp, inSeconds), float64(d.Value)})
		}
		return nil
	})
	return list, err
}
