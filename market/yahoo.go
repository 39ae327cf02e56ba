package market

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/internal/limit"
)

// yahoo is Yahoo's chart service: stocks, indices, funds, currencies, futures.
// It is not an official interface, and Yahoo refuses programs when it likes.
var yahoo = provider{
	site: site{
		name: "yahoo", env: "WICK_YAHOO_URL", url: "https://query1.finance.yahoo.com",
		// Nothing is documented; one request a second is what a person might do.
		limit: 60, window: time.Minute, peace: 2 * time.Minute,
		explain: explainYahoo,
	},
	example: "AAPL", spell: spellYahoo,
	usual:  []string{"AAPL", "MSFT", "NVDA", "AMZN", "GOOGL", "META", "TSLA", "SPY", "QQQ", "EURUSD=X", "GC=F", "CL=F", "BTC-USD"},
	venues: []string{"NASDAQ", "NYSE", "AMEX", "ARCA", "NYSEARCA", "BATS"},
	// Half hours are left out: it has sent hours for them. Weeks and months are
	// made of days, so that their borders are the exchange's.
	native: []Interval{Minute1, Minute5, Minute15, Hour1, Day1},
	rates:  rates{pace: 2 * time.Second, batch: 20, every: 5 * time.Second},
	ticker: yahooTicker, find: yahooFind,
	negative: func(symbol string) bool { // contracts and spreads have been below zero
		return strings.HasSuffix(symbol, "=F") || strings.HasPrefix(symbol, "^")
	},
	page: yahooPage,
}

func yahooPage(symbol string, iv Interval, end int64, n, quiet int) request[*page] {
	from, to, oldest := yahooSpan(iv, end, n, quiet, time.Now().Unix())
	query := url.Values{
		"interval": {string(iv)}, "period1": {strconv.FormatInt(from, 10)}, "period2": {strconv.FormatInt(to, 10)},
		"includePrePost": {"false"},
	}
	return request[*page]{path: "/v8/finance/chart/" + symbol, query: query, read: func(body []byte, at time.Time) (*page, error) {
		chart, err := decodeYahoo(body, symbol, iv)
		if err != nil {
			return nil, err
		}
		p := chart.page(iv, at.Add(-settle).Unix())
		p.last = oldest
		if begin := chart.Meta.First; begin > 0 {
			p.first, p.from = from <= begin, from
		} else { // no exchange is closed for ten days: the history begins here
			p.first = len(p.rows) > 0 && p.rows[0].Time > from+10*day
		}
		return p, nil
	}}
}

// yahooSpan returns the span of time that holds about n bars before end, and whether
// there are no older bars to ask for. Exchanges are open for a fifth of the hours of a
// week or less, and on two days in three, so the span is longer than n bars by such a
// factor and an hour. After a page without a row, which may have been a night, it is longer by a weekend
// and holidays, and after more of them by twice as much each time.
func yahooSpan(iv Interval, end int64, n, quiet int, now int64) (from, to int64, oldest bool) {
	more := int64(hour)
	if quiet > 0 {
		more = 12 * day << min(quiet-1, 16)
	}
	// How many seconds one request may span, and how far back there are bars. Nothing is
	// documented: these are the limits that clients of the service found, less a day.
	request, reach := int64(1<<40), now
	stretch := int64(7)
	switch iv {
	case Minute1:
		request, reach = 7*day, 29*day
	case Minute5, Minute15:
		reach = 59 * day
	case Hour1:
		reach = 729 * day
	default:
		stretch = 2
	}
	to, newest := end, end
	if end == 0 {
		to, newest = now+day, now
	}
	from = newest - min(int64(n)*iv.Seconds()*stretch+more, request-day)
	return max(from, now-reach), to, from <= now-reach
}

// spellYahoo writes a pair as Yahoo does: EURUSD is EURUSD=X, and BTCUSD is
// BTC-USD. A currency alone is its price in dollars: JPY=X is USDJPY=X.
func spellYahoo(symbol string) string {
	base, quote, pair := splitPair(symbol)
	switch {
	case pair && fiat[base] && fiat[quote]:
		return base + quote + "=X"
	case pair:
		return coin(base) + "-" + coin(quote)
	case len(symbol) == 5 && fiat[symbol[:3]] && symbol[3:] == "=X" && symbol != "USD=X":
		return "USD" + symbol
	}
	return symbol
}

// yahooChart is the result in an answer: parallel arrays, in which any cell may
// be null.
type yahooChart struct {
	Meta       yahooMeta
	Timestamp  []int64
	Indicators struct {
		Quote []struct{ Open, High, Low, Close, Volume []number }
	}
}

type yahooMeta struct {
	Symbol, Currency string
	Step             string  `json:"dataGranularity"` // the interval of the bars
	Zone             string  `json:"exchangeTimezoneName"`
	Offset           int     `json:"gmtoffset"`
	Price            float64 `json:"regularMarketPrice"`
	First            int64   `json:"firstTradeDate"`    // in unix seconds
	Time             int64   `json:"regularMarketTime"` // of the last trade, in unix seconds
	Period           struct {
		Regular struct{ Start, End int64 }
	} `json:"currentTradingPeriod"`
}

// hours returns the session of the exchange. It returns none if the session is longer
// than 20 hours: coins and currencies have sessions of a day, and do not close after it.
func (m *yahooMeta) hours() Hours {
	h := Hours{m.Period.Regular.Start, m.Period.Regular.End}
	if h.Open <= 0 || h.Close <= h.Open || h.Close-h.Open > 20*hour {
		return Hours{}
	}
	return h
}

// yahooTicker reads the last trades of up to twenty symbols. Those that Yahoo
// does not know are missing in its answer.
func yahooTicker(symbols []string) request[map[string]Quote] {
	query := url.Values{"symbols": {strings.Join(symbols, ",")}, "range": {"1d"}, "interval": {"1d"}}
	return request[map[string]Quote]{path: "/v7/finance/spark", query: query, read: reads(func(told struct {
		Spark struct {
			Result []struct {
				Response []struct{ Meta yahooMeta }
			}
		}
	}) (map[string]Quote, error) {
		quotes := make(map[string]Quote, len(symbols))
		for _, r := range told.Spark.Result {
			if len(r.Response) == 1 && r.Response[0].Meta.Time > 0 {
				m := r.Response[0].Meta
				quotes[strings.ToUpper(m.Symbol)] = Quote{Price: m.Price, At: m.Time * 1000, Hours: m.hours()}
			}
		}
		return quotes, nil
	})}
}

// yahooFind asks Yahoo's own search, which knows names, misspelled ones too.
func yahooFind(text string) request[[]Found] {
	query := url.Values{"q": {text}, "quotesCount": {"20"}, "newsCount": {"0"}}
	return request[[]Found]{path: "/v1/finance/search", query: query, read: reads(func(told struct {
		Quotes []struct{ Symbol, ShortName, LongName string }
	}) (found []Found, err error) {
		for _, q := range told.Quotes {
			found = append(found, Found{q.Symbol, cmp.Or(q.LongName, q.ShortName)})
		}
		return found, nil
	})}
}

type yahooAnswer struct {
	Chart *struct {
		Result []yahooChart
		Error  *struct{ Description string }
	}
}

// decodeYahoo returns the chart in an answer, which must be of the symbol name and have bars
// of iv.
func decodeYahoo(body []byte, name string, iv Interval) (*yahooChart, error) {
	var answer yahooAnswer
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	if answer.Chart != nil && answer.Chart.Error != nil {
		return nil, explainYahoo(200, body)
	}
	if answer.Chart == nil || len(answer.Chart.Result) != 1 {
		return nil, errors.New("not one chart in the answer")
	}
	chart := &answer.Chart.Result[0]
	// A mix-up at the service must not become a chart of this symbol.
	if !strings.EqualFold(chart.Meta.Symbol, name) {
		return nil, &Error{Reason: "the answer is for another symbol", Advice: "check the spelling"}
	}
	// Yahoo has sent longer bars than it was asked for. It spells an hour "1h" or "60m".
	if step, err := ParseInterval(chart.Meta.Step); chart.Meta.Step != "" && (err != nil || step != iv) {
		return nil, &Error{Reason: fmt.Sprintf("the answer has bars of %q, not of %s", limit.Line(chart.Meta.Step, maxTold), iv), Advice: "choose another interval"}
	}
	return chart, nil
}

// explainYahoo passes on Yahoo's own description, which often says what to do. Answers
// with status 429 or 403 have none.
func explainYahoo(status int, body []byte) *Error {
	if status == 429 || status == 403 {
		return &Error{Reason: "it refuses programs for a while", Advice: "wait some minutes, or choose another --source"}
	}
	var answer yahooAnswer
	if json.Unmarshal(body, &answer) != nil || answer.Chart == nil || answer.Chart.Error == nil {
		return nil
	}
	told := &Error{Reason: "it says " + strconv.Quote(limit.Line(answer.Chart.Error.Description, maxTold)), Advice: "check the symbol"}
	if status == http.StatusNotFound {
		told.Err = ErrUnlisted
	}
	return told
}

// page returns the rows that have all four prices; a missing volume counts as
// zero. Now is the time at the service in unix seconds.
func (c *yahooChart) page(iv Interval, now int64) *page {
	// The zone is a stranger's text: LoadLocation refuses paths, and "Local" would
	// be this machine's.
	zone, err := time.LoadLocation(c.Meta.Zone)
	if err != nil || c.Meta.Zone == "" || c.Meta.Zone == "Local" {
		zone = time.FixedZone("", c.Meta.Offset%day)
	}
	// Bars shorter than a day are counted from the opening of the exchange.
	opening := c.Meta.Period.Regular.Start
	if opening <= 0 && len(c.Timestamp) > 0 {
		opening = c.Timestamp[0]
	}
	h, m, sec := time.Unix(opening, 0).In(zone).Clock()
	p := &page{until: now, currency: limit.Line(c.Meta.Currency, maxTold), hours: c.Meta.hours()}
	p.session = &session{zone: zone, open: time.Duration(h*hour+m*minute+sec) * time.Second}
	p.rows = c.rows()
	slices.SortStableFunc(p.rows, byTime)
	// The newest row has the time of the last trade. Among daily bars it repeats
	// the row of its day, which is the one before it.
	if n := len(p.rows); iv == Day1 && n > 1 && sameDay(p.rows[n-2].Time, p.rows[n-1].Time, zone) {
		p.rows = append(p.rows[:n-2], p.rows[n-1])
	}
	// Trades come in order, so bars that ended before the last one are complete. Before the
	// exchange opens there are none that could come late.
	if last := c.Meta.Time; last > 0 && now >= c.Meta.Period.Regular.Start {
		p.until = max(now-lateTrades, min(last, now))
	}
	// After the exchange has closed, and the last trade of its closing auction was told, all
	// bars of the day are complete.
	if end := c.Meta.Period.Regular.End; end > 0 && now-lastTold >= end {
		y, m, d := time.Unix(end-1, 0).In(zone).Date()
		p.until = max(p.until, time.Date(y, m, d+1, 0, 0, 0, 0, zone).Unix())
	}
	return p
}

// rows returns the bars that have all four prices: Yahoo sends null for minutes without a trade.
func (c *yahooChart) rows() (rows []Bar) {
	if len(c.Indicators.Quote) == 0 {
		return nil
	}
	q := c.Indicators.Quote[0]
	for i, t := range c.Timestamp {
		cell := func(column []number) float64 {
			if i < len(column) {
				return float64(column[i])
			}
			return math.NaN()
		}
		b := Bar{t, cell(q.Open), cell(q.High), cell(q.Low), cell(q.Close), cell(q.Volume)}
		if math.IsNaN(b.Volume) { // only prices must be there
			b.Volume = 0
		}
		if !math.IsNaN(b.Open + b.High + b.Low + b.Close) {
			rows = append(rows, b)
		}
	}
	return rows
}
