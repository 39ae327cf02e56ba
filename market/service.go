package market

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Service is a source that asks one service over the network: [NewBinance],
// [NewYahoo], [NewCoinbase] and [NewKraken] make them. What the services share
// is here: paging, sorting, checking, resampling, columns. What differs is a
// list of intervals and a function that fetches a page.
type Service struct {
	name   string
	native []Interval // bars it serves itself, on our borders
	// page fetches bars of a native interval: the newest of those that start
	// before end (unix seconds; 0: the newest there are), about n of them if one
	// request gives so many. Rows come as the service sent them.
	page    func(ctx context.Context, symbol string, iv Interval, end int64, n int) (*page, error)
	columns *columns
	period  time.Duration // one look at a symbol each such period takes half of the budget
}

// ServiceOptions configure a Service.
type ServiceOptions struct {
	// BaseURL is where the service is: https, or http to a loopback address. It
	// may have a path. Empty means the service's public address.
	BaseURL string
	// FuturesURL is where Binance's futures data are, and FearGreedURL where
	// alternative.me's index is. Empty means the public addresses.
	FuturesURL, FearGreedURL string
	// Transport carries the requests. Nil means one that connects to public
	// addresses only, or to loopback only when the base URL is loopback, and
	// uses no proxy.
	Transport http.RoundTripper
}

// page is one answer of a service.
type page struct {
	rows     []Bar
	session  *Session // nil: the market never closes
	until    int64    // unix seconds until which the rows are complete
	currency string
	first    bool // the history begins with the first row
	last     bool // older rows cannot be had
}

const maxPages = 70 // Coinbase gives 300 rows a request: 70 are a little more than MaxLimit

// Bars answers q, from the nearest finer interval where the service lacks one.
func (s *Service) Bars(ctx context.Context, q Query) (*Series, error) {
	q, err := q.checked()
	if err != nil {
		return nil, err
	}
	if err := s.columns.check(s.name, q.Extra); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	asked := time.Now()
	base, _ := q.Interval.nearest(s.native) // every service has minutes
	p, err := s.history(ctx, q, base)
	if err != nil {
		return nil, err
	}
	fine := &Series{Symbol: q.Symbol, Interval: base, Source: s.name, Currency: p.currency, AsOf: asked.UnixMilli()}
	if err := fine.fill(p); err != nil {
		return nil, s.unsound(q, err)
	}
	fine, err = resample(fine, base, p.session, p.until) // rows that share a bar become one
	if err != nil {
		return nil, err
	}
	fine.Gaps = countGaps(fine, p.session)
	out, err := resample(fine, q.Interval, p.session, p.until)
	if err != nil {
		return nil, err
	}
	if out.Len() > 1 && !p.first && base != q.Interval && fine.Time[0] > out.Time[0] {
		out = out.Tail(out.Len() - 1) // begun before the first row we have
	}
	out = out.Tail(q.Limit)
	if err := s.columns.add(ctx, out, q.Extra); err != nil {
		return nil, err
	}
	if err := out.Check(); err != nil {
		return nil, s.unsound(q, err)
	}
	return out, nil
}

func (s *Service) unsound(q Query, err error) error {
	return &Error{Source: s.name, Symbol: q.Symbol, Status: http.StatusOK, Reason: "its bars are unsound", Retry: true, Err: err}
}

// history pages backwards until it has rows for q.Limit bars or the history
// ends. The session and completeness are those of the newest page.
func (s *Service) history(ctx context.Context, q Query, base Interval) (*page, error) {
	need := q.Limit
	if base != q.Interval {
		need = int(q.Interval.Seconds()/base.Seconds()) * (q.Limit + 1) // the first may be cut
	}
	if q.Interval == Month1 {
		need += need / 30 // 31 days
	}
	need = min(need, MaxLimit)
	var all *page
	end := int64(0)
	for range maxPages {
		p, err := s.page(ctx, q.Symbol, base, end, need)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = p
		} else {
			all.rows = append(p.rows, all.rows...)
			all.first = p.first || len(p.rows) == 0
		}
		need -= len(p.rows)
		if len(p.rows) == 0 || need <= 0 || p.first || p.last {
			break
		}
		oldest := slices.MinFunc(p.rows, byTime).Time
		if end != 0 && oldest >= end {
			break // it ignores our end: asking again would bring the same rows
		}
		end = oldest
	}
	if len(all.rows) == 0 {
		return nil, &Error{Source: s.name, Symbol: q.Symbol, Status: http.StatusOK, Reason: "it has no trades of it at " + string(base), Advice: "check the symbol"}
	}
	return all, nil
}

func byTime(a, b Bar) int { return cmp.Compare(a.Time, b.Time) }

// fill puts the rows of p into s: sorted, of equal times the later row, without
// those no market can have made. A few such rows are dropped and show as gaps,
// for long histories have them; many, or a bad newest one, condemn the answer.
func (s *Series) fill(p *page) error {
	slices.SortStableFunc(p.rows, byTime)
	bad := 0
	var err error
	for i, b := range p.rows {
		if i+1 < len(p.rows) && p.rows[i+1].Time == b.Time {
			continue
		}
		err = b.Check()
		if err == nil && (b.Time < 0 || b.Time > p.until+day) {
			err = errors.New("time is in the future or before 1970")
		}
		if err != nil {
			bad++
			continue
		}
		s.Append(b)
	}
	if err != nil || bad > len(p.rows)/20+1 {
		return errors.Join(ErrBadBars, err)
	}
	return nil
}

// number is a JSON number, or one in a string as the exchanges send prices.
// Text that is no number becomes NaN, and the bar is dropped at the door.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	s := string(text)
	if len(s) > 1 && s[0] == '"' {
		s = s[1 : len(s)-1]
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		v = math.NaN()
	}
	*n = number(v)
	return nil
}

// rowsOf decodes an array of arrays of numbers, each with at least n items.
func rowsOf(body []byte, n int) ([][]number, error) {
	var rows [][]number
	if err := json.Unmarshal(body, &rows); err != nil {
		return nil, err
	}
	for _, row := range rows {
		if len(row) < n {
			return nil, errors.New("a row is too short")
		}
	}
	return rows, nil
}

func (s *Service) pace(string) time.Duration { return s.period }
