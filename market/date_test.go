package market

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// abroad answers for one symbol as Yahoo does: a row for each weekday at the opening, in the
// time of the exchange, with the day of the month as its price.
type abroad struct {
	symbol, zone string
	open, shut   time.Duration // after midnight there
	granularity  string        // "" for what was asked for
	late         time.Duration // trades are told so much later
	idle         time.Duration // nothing was traded for so long before 2001-01-08
	auction      time.Duration // after the session, when there is one more trade
}

func (a abroad) session(d time.Time) (open, shut time.Time) {
	clock := func(h time.Duration) time.Time {
		return time.Date(d.Year(), d.Month(), d.Day(), 0, 0, int(h.Seconds()), 0, d.Location())
	}
	return clock(a.open), clock(a.shut)
}

func (a abroad) RoundTrip(r *http.Request) (*http.Response, error) {
	zone, err := time.LoadLocation(a.zone)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	unix := func(name string) int64 { n, _ := strconv.ParseInt(q.Get(name), 10, 64); return n }
	var times, prices []string
	var open, shut time.Time
	for d := time.Unix(unix("period1"), 0).In(zone); ; d = d.AddDate(0, 0, 1) {
		begin, end := a.session(d)
		if begin.After(time.Now()) || begin.Unix() >= unix("period2") {
			break
		}
		resumed := time.Date(2001, 1, 8, 0, 0, 0, 0, zone)
		if begin.Before(resumed) && begin.After(resumed.Add(-a.idle)) || begin.Before(time.Date(1999, 2, 1, 0, 0, 0, 0, zone)) {
			continue
		}
		if wd := d.Weekday(); wd != time.Saturday && wd != time.Sunday && begin.Unix() >= unix("period1") {
			open, shut = begin, end
			times, prices = append(times, strconv.FormatInt(begin.Unix(), 10)), append(prices, strconv.Itoa(begin.Day()))
		}
	}
	traded := time.Now().Add(-a.late)
	if last := shut.Add(a.auction); traded.After(last) {
		traded = last
	}
	list := func(l []string) string { return "[" + strings.Join(l, ",") + "]" }
	granularity := a.granularity
	if granularity == "" {
		granularity = q.Get("interval")
	}
	return replay(fmt.Sprintf("HTTP/1.1 200 OK\n\n"+`{"chart":{"error":null,"result":[{"meta":{"symbol":%q,"exchangeTimezoneName":%q,"dataGranularity":%q,"regularMarketTime":%d,"firstTradeDate":917827200,"currentTradingPeriod":{"regular":{"start":%d,"end":%d}}},`+
		`"timestamp":%s,"indicators":{"quote":[{"open":%[8]s,"high":%[8]s,"low":%[8]s,"close":%[8]s}]}}]}}`,
		a.symbol, a.zone, granularity, traded.Unix(), open.Unix(), shut.Unix(), list(times), list(prices))).RoundTrip(r)
}

// opened returns when the session of a date opens, and when its bar begins therefore.
func opened(a abroad, date time.Time, zone *time.Location) time.Time {
	open, _ := a.session(time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, zone))
	return open
}

var exchangesAbroad = []abroad{
	{symbol: "7203.T", zone: "Asia/Tokyo", open: 9 * time.Hour, shut: 15*time.Hour + 30*time.Minute},
	{symbol: "BHP.AX", zone: "Australia/Sydney", open: 10 * time.Hour, shut: 16 * time.Hour},
	{symbol: "FPH.NZ", zone: "Pacific/Auckland", open: 10 * time.Hour, shut: 16*time.Hour + 45*time.Minute},
	{symbol: "VOD.L", zone: "Europe/London", open: 8 * time.Hour, shut: 16*time.Hour + 30*time.Minute},
	{symbol: "NPN.JO", zone: "Africa/Johannesburg", open: 9 * time.Hour, shut: 17 * time.Hour},
	{symbol: "EURUSD=X", zone: "Europe/London", shut: 24 * time.Hour},
	{symbol: "AAPL", zone: "America/New_York", open: 9*time.Hour + 30*time.Minute, shut: 16 * time.Hour},
}

// TestYahooDates: days, weeks and months have the date of their exchange, in UTC, wherever it
// is and whatever its clocks do: a bar of Sydney's Monday is not of Sunday, and October in
// Tokyo is not a bar of September. No gap is between two bars. None closes before its last
// session is over, nor after the next one opens. A day closes a day after its opening.
func TestYahooDates(t *testing.T) {
	for _, a := range exchangesAbroad {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(time.Date(2001, 4, 4, 19, 0, 0, 0, time.UTC))) // New York's session; night in the east
			s := over(t, "yahoo", reach{nowhere, a})
			for _, iv := range []Interval{Day1, Week1, Month1} {
				bars, err := s.Bars(t.Context(), Query{Symbol: a.symbol, Interval: iv, Limit: 300})
				if err != nil || bars.Len() < 12 || len(bars.Gaps) > 0 {
					t.Fatalf("%s %s: %v; gaps %v", a.symbol, iv, err, bars.Gaps)
				}
				zone, _ := time.LoadLocation(a.zone)
				for i := range bars.Time {
					at := time.Unix(bars.Time[i], 0).UTC()
					// Nothing that a bar closes with may be known when the next one opens.
					if next := i + 1; next < bars.Len() {
						of := time.Unix(bars.Time[next], 0).UTC()
						if open, _ := a.session(time.Date(of.Year(), of.Month(), int(bars.Open[next]), 0, 0, 0, 0, zone)); bars.ClosedAt(i) > open.Unix() {
							t.Errorf("%s %s: the bar of %s closes at %s, after the next one opens at %s", a.symbol, iv, at, time.Unix(bars.ClosedAt(i), 0).UTC(), open.UTC())
						}
					}
					// Its open is the day of the month of its first session, its close that of its last.
					first := int(bars.Open[i])
					_, shut := a.session(time.Date(at.Year(), at.Month(), int(bars.Close[i]), 0, 0, 0, 0, zone))
					switch {
					case iv == Day1 && (at.Day() != first || at.Weekday() == time.Saturday || at.Weekday() == time.Sunday):
						t.Errorf("%s: the session of day %d is dated %s", a.symbol, first, at)
					case iv == Day1 && bars.ClosedAt(i) != opened(a, at, zone).Unix()+day:
						t.Errorf("%s: the day %s closes at %s, not a day after its opening", a.symbol, at, time.Unix(bars.ClosedAt(i), 0).UTC())
					case iv == Week1 && (at.Weekday() != time.Monday || at.Day() != first):
						t.Errorf("%s: the week from day %d on is dated %s", a.symbol, first, at)
					case iv == Month1 && (at.Day() != 1 || first > 3 || i > 0 && at.Month() == time.Unix(bars.Time[i-1], 0).UTC().Month()):
						t.Errorf("%s: a month from day %d on is dated %s", a.symbol, first, at)
					case iv != Week1 && bars.ClosedAt(i) < shut.Unix() && a.shut < 24*time.Hour:
						t.Errorf("%s %s: the bar of %s is closed at %d, its last session ends at %d", a.symbol, iv, at, bars.ClosedAt(i), shut.Unix())
					}
				}
			}
		})
	}
}

// TestYahooDayCloses: the bar of the day is forming until the session is over, also where it
// begins on the day before in UTC.
func TestYahooDayCloses(t *testing.T) {
	for _, a := range exchangesAbroad {
		if a.shut == 24*time.Hour {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			zone, _ := time.LoadLocation(a.zone)
			open, shut := a.session(time.Date(2001, 1, 16, 0, 0, 0, 0, zone)) // a Tuesday, summer in Sydney
			s := over(t, "yahoo", reach{nowhere, a})
			for _, c := range []struct {
				at      time.Time
				forming bool
			}{{open.Add(time.Minute), true}, {shut.Add(-time.Minute), true}, {shut.Add(46 * time.Minute), false}} {
				time.Sleep(time.Until(c.at))
				bars, err := s.Bars(t.Context(), Query{Symbol: a.symbol, Interval: Day1, Limit: 5})
				if err != nil {
					t.Fatal(err)
				}
				if last := time.Unix(bars.Time[4], 0).UTC(); bars.Forming != c.forming || last.Day() != 16 || bars.Close[4] != 16 {
					t.Errorf("%s at %s: the last bar is of %s, forming %v", a.symbol, c.at.UTC(), last, bars.Forming)
				}
				// Whoever is told of the forming bar learns when it closes.
				g := &result{Update: Update{Forming: make(map[Interval]FormingBar)}, next: seen{told: make(map[Interval]int64), complete: make(map[Interval]CompleteBar)}}
				g.bar(bars, true)
				if b, ok := g.Forming[Day1]; ok != c.forming || ok && b.Time+day+b.Delay.Offset != open.Unix()+day {
					t.Errorf("%s at %s: told %v %v, which opened at %d", a.symbol, c.at.UTC(), ok, b, open.Unix())
				}
			}
		})
	}
}

// TestYahooLate: some exchanges tell their trades late, so a bar is forming until a trade after
// its end was told, or could have been: half an hour after it. A day is forming until the last
// trade of its closing auction could have been told. It does not become forming again.
func TestYahooLate(t *testing.T) {
	london := exchangesAbroad[3]
	for _, c := range []struct {
		iv     Interval
		end    time.Duration // of the bar, after midnight
		late   time.Duration
		closes time.Duration // after the end
	}{
		{Hour1, 9 * time.Hour, 0, 0},
		{Hour1, 9 * time.Hour, 20 * time.Minute, 20 * time.Minute},
		{Hour1, 9 * time.Hour, 2 * time.Hour, 30 * time.Minute}, // nothing is traded
		{Day1, london.shut, 0, 45 * time.Minute},
		{Day1, london.shut, 20 * time.Minute, 45 * time.Minute},
		{Day1, london.shut, 8 * time.Hour, 45 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := london
			a.late, a.auction = c.late, 10*time.Minute
			s := over(t, "yahoo", reach{nowhere, a})
			midnight := time.Date(2001, 1, 16, 0, 0, 0, 0, time.UTC)
			for _, after := range []time.Duration{-time.Minute, time.Minute, 10 * time.Minute, 6*time.Hour + 50*time.Minute, 7 * time.Hour, 14 * time.Hour} {
				time.Sleep(time.Until(midnight.Add(c.end + c.closes + after)))
				bars, err := s.Bars(t.Context(), Query{Symbol: a.symbol, Interval: c.iv, Limit: 2})
				if err != nil {
					t.Fatal(err)
				}
				if bars.Close[1] != 16 || bars.Forming != (after < 0) {
					t.Errorf("%s, trades %s late: at %s the bar of day %v is forming: %v", c.iv, c.late, time.Now().UTC(), bars.Close[1], bars.Forming)
				}
			}
		})
	}
}

// TestYahooIdle: a stock in which nothing was traded for months has an older history. As many
// bars come as were asked for, if there are so many, and it begins with the first trade.
func TestYahooIdle(t *testing.T) {
	for _, days := range []int{0, 10, 14, 35, 60, 300} {
		for iv, most := range map[Interval]int{Hour1: 60, Day1: 200, Week1: 40} {
			synctest.Test(t, func(t *testing.T) {
				a := exchangesAbroad[6]
				a.idle = time.Duration(days) * 24 * time.Hour
				time.Sleep(time.Until(time.Date(2001, 1, 16, 19, 0, 0, 0, time.UTC)))
				s := over(t, "yahoo", reach{nowhere, a})
				for _, limit := range []int{4, most} {
					bars, err := s.Bars(t.Context(), Query{Symbol: a.symbol, Interval: iv, Limit: limit})
					if err != nil || bars.Len() != limit {
						t.Errorf("%s, idle for %d days: %d bars, %v; want %d", iv, days, bars.Len(), err, limit)
					}
				}
				bars, err := s.Bars(t.Context(), Query{Symbol: a.symbol, Interval: Day1, Limit: 1000})
				if err != nil || time.Unix(bars.Time[0], 0).UTC().Format(time.DateOnly) != "1999-02-01" {
					t.Errorf("idle for %d days: the history begins at %d; %v", days, bars.Time[0], err)
				}
			})
		}
	}
}

// TestEndsEarly: the price of a day that closes an hour before its end is of then, and an answer
// with it is kept no longer.
func TestEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().Unix()
		s := &Series{Interval: Day1, Forming: true, Time: []int64{start - day, start}, Delayed: []Delay{{start - day, -hour, 0}, {start, -hour, 0}}}
		s.Open, s.High, s.Low, s.Close, s.Volume = []float64{1, 1}, []float64{1, 1}, []float64{1, 1}, []float64{1, 1}, []float64{1, 1}
		if got := s.Closed().PriceAt; got != (start-hour)*1000 {
			t.Errorf("the price of the closed bars is of %d, want %d", got, (start-hour)*1000)
		}
		if got := s.priceAt((start + 2*day) * 1000); got != (start+day-hour)*1000 {
			t.Errorf("the last price is of %d, want %d", got, (start+day-hour)*1000)
		}
		closes := time.Unix(start+day-hour, 0)
		time.Sleep(time.Until(closes.Add(-10 * time.Second)))
		if got := goodUntil(s); !got.Equal(closes.Add(settle)) {
			t.Errorf("ten seconds before it closes, the answer is kept until %s, want %s", got, closes)
		}
	})
}

// TestFormingEnds: a forming bar is brought up to date with newer prices only until it
// closes, which a week in Sydney does hours before it is over in UTC: the next session belongs
// to the next bar.
func TestFormingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		date := time.Date(2001, 1, 15, 0, 0, 0, 0, time.UTC) // a Monday
		shut := date.Add(7*24*time.Hour - 11*time.Hour)      // midnight in Sydney
		was := seen{forming: map[Interval]FormingBar{Week1: {Bar{Time: date.Unix(), Open: 1, High: 1, Low: 1, Close: 1}, Delay{date.Unix(), -11 * hour, 0}}}}
		for _, c := range []struct {
			at   time.Time
			want bool
		}{{date.Add(-50 * time.Minute), true}, {date.Add(4 * time.Hour), true}, {shut, false}, {shut.Add(10*time.Hour + 10*time.Minute), false}} {
			time.Sleep(time.Until(c.at))
			was.last = Bar{Time: c.at.Unix() - minute}
			if got := was.extends(Week1, series(Minute1, was.last)); got != c.want {
				t.Errorf("at %s it is extended: %v, want %v", c.at, got, c.want)
			}
		}
	})
}

// TestYahooHoursOfNobody: a session that ends at the end of all time makes no bar complete, and
// no forming bar unknown.
func TestYahooHoursOfNobody(t *testing.T) {
	var c yahooChart
	c.Meta.Zone, c.Meta.Period.Regular.Start, c.Meta.Period.Regular.End = "America/New_York", math.MaxInt64-3600, math.MaxInt64
	const now = 1_700_000_000
	if p := c.page(Day1, now); p.until != now {
		t.Errorf("complete until %d, want %d", p.until, now)
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().Unix()
		was := seen{last: Bar{Time: start}, forming: map[Interval]FormingBar{Day1: {Bar: Bar{start, 1, 1, 1, 1, 1}}}}
		s := series(Minute1, was.last)
		s.Hours.Close = math.MaxInt64
		if !was.extends(Day1, s) {
			t.Error("the forming bar is asked for though its session goes on")
		}
	})
}
