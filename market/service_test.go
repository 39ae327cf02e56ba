package market

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/market/markettest"
)

// listed is a symbol that each service of the table lists, by its name.
var listed = func() map[string]string {
	m := make(map[string]string)
	for _, p := range providers {
		m[p.name] = p.example
	}
	return m
}()

// dollars is what most pairs of a service are in.
var dollars = map[string]string{"binance": "USDT", "kraken": "USD", "coinbase": "USD", "yahoo": "USD"}

// fake opens a service over an exchange, without a network.
func fake(t testing.TB, name string, x *markettest.Exchange) venueOver {
	t.Helper()
	s := over(t, name, reach{env: markettest.Env("http://127.0.0.1"), transport: x.Transport()})
	if s.service.host.base.Path != "/"+name {
		t.Fatalf("markettest has no stand-in for %s", name)
	}
	return s
}

// venueOver is a service of the table, as a venue and with what it is made of.
type venueOver struct {
	*Venue
	service *service
}

// page asks the service for one page of bars.
func (s venueOver) page(ctx context.Context, symbol string, iv Interval, end int64, n int) (*page, error) {
	p, _, err := ask(ctx, s.service.host, symbol, s.service.page(symbol, iv, end, n, 0))
	return p, err
}

// over opens a service of the table.
func over(t testing.TB, name string, r reach) venueOver {
	t.Helper()
	i := slices.IndexFunc(providers, func(p *provider) bool { return p.name == name })
	extra, err := openColumns(r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := providers[i].open(r, extra)
	if err != nil {
		t.Fatal(err)
	}
	return venueOver{s.venue(), s}
}

// nowhere has no other base URLs.
func nowhere(string) string { return "" }

// bubble runs a test in fake time on a Wednesday in the middle of New York's
// session, 2000-01-05 12:34:56 there.
func bubble(t *testing.T, f func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2000, 1, 5, 17, 34, 56, 0, time.UTC)))
		f(t)
		time.Sleep(time.Minute) // fetches that nobody waits for any more end by their own limit
	})
}

// Every interval of every service, against the fake's own cutting of the same
// market, gaps and sessions included; with -short all but months, which need
// most of the history.
func TestEveryInterval(t *testing.T) {
	t.Parallel()
	days, intervals := 185, Intervals()
	if testing.Short() {
		days = 50
		intervals = slices.DeleteFunc(slices.Clone(intervals), func(iv Interval) bool { return iv == Month1 })
	}
	for name, symbol := range listed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				x := frozen(&markettest.Exchange{Sparse: true, Days: days})
				s := fake(t, name, x)
				now := time.Now().Unix()
				for _, iv := range intervals {
					got, err := s.Bars(t.Context(), Query{Symbol: symbol, Interval: iv, Limit: 40})
					if err != nil {
						t.Fatalf("%s: %v", iv, err)
					}
					if !got.Forming || got.Len() < 6 || got.Len() > 40 || got.Source != name || got.Symbol != symbol || got.Interval != iv {
						t.Errorf("%s: %d bars of %s %s from %s, forming %v", iv, got.Len(), got.Symbol, got.Interval, got.Source, got.Forming)
					}
					if iv == Day3 {
						continue // counted from 1970 here; the services do not say
					}
					want := x.Rows(name, symbol, string(iv), got.Time[0], now+1)
					if len(want) != got.Len() {
						t.Errorf("%s: %d bars, the service has %d", iv, got.Len(), len(want))
						continue
					}
					for i, w := range want {
						if b := (Bar{int64(w[0]), w[1], w[2], w[3], w[4], w[5]}); got.Bar(i) != b {
							t.Errorf("%s bar %d of %d:\n got %v\nwant %v", iv, i, got.Len(), got.Bar(i), b)
							break
						}
					}
				}
			})
		})
	}
}

// sessions of symbols that Yahoo lists.
var sessions = map[string]*session{
	"AAPL": {place("America/New_York"), 9*time.Hour + 30*time.Minute}, "EURUSD=X": {place("Europe/London"), 0}, "ETH-USD": {time.UTC, 0},
}

func place(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return zone
}

// frozen makes the market stand still while budgets are waited for.
func frozen(x *markettest.Exchange) *markettest.Exchange {
	now := time.Now()
	x.Now = func() time.Time { return now }
	return x
}

// Resampling a service's fine bars gives its own coarse bars, whatever fine
// interval they come from.
func TestResampleEqualsTheService(t *testing.T) {
	t.Parallel()
	for _, p := range providers {
		native := slices.DeleteFunc(Intervals(), func(iv Interval) bool { return !slices.Contains(p.native, iv) })
		if testing.Short() { // the finest, which are the quickest
			native = slices.DeleteFunc(native, func(iv Interval) bool { return iv.Seconds() > hour })
		}
		symbols := []string{p.example}
		if p == &yahoo { // markets with other hours
			symbols = append(symbols, "EURUSD=X", "ETH-USD")
		}
		for _, symbol := range symbols {
			t.Run(p.name+" "+symbol, func(t *testing.T) {
				t.Parallel()
				bubble(t, func(t *testing.T) {
					s := fake(t, p.name, frozen(&markettest.Exchange{Sparse: true, Days: 130}))
					newest, err := s.page(t.Context(), symbol, native[0], 0, 1)
					if err != nil {
						t.Fatal(err)
					}
					at, known := sessions[symbol]
					if !known {
						at = newest.session // TestEveryInterval holds it to the stand-in's own
					}
					bars := make(map[Interval]*Series)
					for _, iv := range native {
						if bars[iv], err = s.Bars(t.Context(), Query{Symbol: symbol, Interval: iv, Limit: 500}); err != nil {
							t.Fatal(err)
						}
						if zone := bars[iv].Zone; known && zone.String() != at.zone.String() {
							t.Errorf("%s: the zone of the exchange is %v, want %v", iv, zone, at.zone)
						}
					}
					for _, to := range native {
						for _, from := range native {
							// Of 500 fine bars at least four coarse ones are made.
							if from != to && to.holds(from) && to.Seconds()/from.Seconds() <= 500/4 {
								sameBars(t, bars[from], bars[to], at)
							}
						}
					}
				})
			})
		}
	}
}

// sameBars compares the coarse bars of a service with those made of its fine ones.
func sameBars(t *testing.T, fine, coarse *Series, at *session) {
	t.Helper()
	made := resampled(fine, coarse.Interval, at)
	made = made.Tail(made.Len() - 1) // the first is cut short by the limit
	own := coarse.Tail(made.Len())
	if made.Len() < 2 || made.Forming != own.Forming {
		t.Errorf("%s of %s: %d bars, forming %v, own %v", own.Interval, fine.Interval, made.Len(), made.Forming, own.Forming)
	}
	for i := range made.Len() {
		if made.Bar(i) != own.Bar(i) {
			t.Errorf("%s of %s, bar %d of %d:\nmade %v\n own %v", own.Interval, fine.Interval, i, made.Len(), made.Bar(i), own.Bar(i))
			return
		}
	}
}

// Each service's faults become the errors that they should, with the right advice. Retry-After of
// two seconds is waited for within the call; what cannot be waited for is an error that says so.
func TestFaults(t *testing.T) {
	t.Parallel()
	inTwo := func() string { return time.Now().Add(2 * time.Second).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT") }
	date := func() string { return time.Now().Add(time.Hour).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT") }
	type want struct {
		ok     bool
		status int
		says   string
		retry  bool
	}
	for i, c := range []struct {
		name  string
		fault markettest.Fault
		when  func() string // Retry-After, once in the bubble
		want  want
	}{
		{"well", markettest.Fault{}, nil, want{ok: true}},
		{"429 once, seconds", markettest.Fault{Kind: markettest.TooMany, Times: 1, RetryAfter: "2"}, nil, want{ok: true}},
		{"429 once, date", markettest.Fault{Kind: markettest.TooMany, Times: 1}, inTwo, want{ok: true}},
		{"429, an hour in seconds", markettest.Fault{Kind: markettest.TooMany, RetryAfter: "3600"}, nil, want{false, 429, "try again in", true}},
		{"429, an hour as a date", markettest.Fault{Kind: markettest.TooMany}, date, want{false, 429, "try again in", true}},
		{"418", markettest.Fault{Kind: markettest.Banned, RetryAfter: "600"}, nil, want{false, 418, "try again in 10m0s", true}},
		{"403", markettest.Fault{Kind: markettest.Firewall}, nil, want{false, 403, "try again in 2m0s", true}},
		{"451", markettest.Fault{Kind: markettest.Legal}, nil, want{false, 451, "choose another --source", false}},
		{"502 once", markettest.Fault{Kind: markettest.Broken, Times: 1}, nil, want{ok: true}},
		{"502", markettest.Fault{Kind: markettest.Broken}, nil, want{false, 502, "failure", true}},
		{"page with 200", markettest.Fault{Kind: markettest.Page}, nil, want{false, 200, "web page", true}},
		{"truncated", markettest.Fault{Kind: markettest.Truncated}, nil, want{false, 0, "broke off", true}},
		{"truncated once", markettest.Fault{Kind: markettest.Truncated, Times: 1}, nil, want{ok: true}},
		{"slow", markettest.Fault{Kind: markettest.Slow, Delay: 30 * time.Second}, nil, want{false, 0, "in time", true}},
		{"a little slow", markettest.Fault{Kind: markettest.Slow, Delay: 3 * time.Second}, nil, want{ok: true}},
		{"huge", markettest.Fault{Kind: markettest.Huge}, nil, want{false, 200, "longer than 4 MiB", false}},
		{"redirect", markettest.Fault{Kind: markettest.Redirect, To: "http://169.254.169.254/latest"}, nil, want{false, 302, "redirect", false}},
		{"wrong symbol", markettest.Fault{Kind: markettest.WrongSymbol}, nil, want{false, -1, "check the s", false}},
		{"empty", markettest.Fault{Kind: markettest.Empty}, nil, want{false, 200, "no bars", false}},
		{"out of order", markettest.Fault{Kind: markettest.OutOfOrder}, nil, want{ok: true}},
		{"doubled", markettest.Fault{Kind: markettest.Doubled}, nil, want{ok: true}},
	} {
		for k, name := range slices.Sorted(maps.Keys(listed)) {
			if testing.Short() && k != i%len(listed) {
				continue // each fault at one of the services
			}
			symbol := listed[name]
			t.Run(c.name+" "+name, func(t *testing.T) {
				t.Parallel()
				bubble(t, func(t *testing.T) {
					x := &markettest.Exchange{Days: 10} // more than the bars asked for
					s := fake(t, name, x)
					q := Query{Symbol: symbol, Interval: Hour1, Limit: 50}
					clean, err := s.Bars(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					fault := c.fault // a copy: the subtests run at the same time
					fault.Service = name
					if c.when != nil {
						fault.RetryAfter = c.when()
					}
					x.Inject(fault)
					expect := c.want
					if c.fault.Kind == markettest.TooMany && expect.ok && s.service.peace > 0 {
						expect = want{false, 429, s.service.peace.String(), true} // it is left alone for minutes, whatever it says
					}
					start := time.Now()
					got, err := s.Bars(t.Context(), q)
					if took := time.Since(start); took > callTime {
						t.Errorf("took %s", took)
					}
					if expect.ok {
						if err != nil {
							t.Fatal(err)
						}
						for i := range min(got.Len(), clean.Len()) - 1 {
							if got.Bar(i) != clean.Bar(i) {
								t.Fatalf("bar %d is %v, without the fault %v", i, got.Bar(i), clean.Bar(i))
							}
						}
						return
					}
					var e *Error
					if !errors.As(err, &e) {
						t.Fatalf("got %v, %v", got, err)
					}
					if expect.status >= 0 && e.Status != expect.status || e.Retry != expect.retry || e.Source != name || e.Symbol != symbol {
						t.Errorf("error %+v, want %+v", e, expect)
					}
					if text := e.Error(); !strings.Contains(text, expect.says) || strings.ContainsAny(text, "\n<") || strings.Contains(text, "evil") || len(text) > 300 {
						t.Errorf("error %q, want it to say %q, on one clean line", text, expect.says)
					}
					if n := x.Hosts()["169.254.169.254"]; n > 0 {
						t.Errorf("followed the redirect %d times", n)
					}
				})
			})
		}
	}
}

// Bars that are missing or unsound show as gaps; nothing takes their place.
func TestGapsAreReportedNotFilled(t *testing.T) {
	t.Parallel()
	for _, kind := range []markettest.Kind{markettest.Gap, markettest.NaN, markettest.Nulls} {
		for name, symbol := range listed {
			t.Run(fmt.Sprint(kind, " ", name), func(t *testing.T) {
				t.Parallel()
				bubble(t, func(t *testing.T) {
					x := &markettest.Exchange{Days: 100}
					s := fake(t, name, x)
					answers := &keeps{RoundTripper: x.Transport()}
					s.service.host.client.Transport = answers
					q := Query{Symbol: symbol, Interval: Minute1, Limit: oneAnswer(t, s)}
					clean, err := s.Bars(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					if len(clean.Gaps) != 0 {
						t.Errorf("gaps %v in what has none", clean.Gaps)
					}
					x.Inject(markettest.Fault{Kind: kind})
					got, err := s.Bars(t.Context(), q)
					if !json.Valid(answers.last) { // a bare NaN
						if err == nil || kind != markettest.NaN {
							t.Errorf("%v for an answer that is not JSON", err)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					if len(got.Gaps) != 1 || got.Check() != nil {
						t.Errorf("gaps %v, want 1; %v", got.Gaps, got.Check())
					}
					// It is one of the bars around it alone.
					i := slices.Index(got.Time, got.Gaps[0])
					if after, around := got.Slice(i, got.Len()), got.Slice(i-1, i+1); len(after.Gaps) != 0 || len(around.Gaps) != 1 {
						t.Errorf("the bars after a gap have gaps %v, those on either side of it %v", after.Gaps, around.Gaps)
					}
				})
			})
		}
	}
}

// oneAnswer returns how many minutes to ask s for so that one answer has them, and its
// middle, where a fault removes rows, is among them.
func oneAnswer(t *testing.T, s venueOver) int {
	t.Helper()
	p, err := s.page(t.Context(), s.service.example, Minute1, 0, MaxLimit)
	if err != nil {
		t.Fatal(err)
	}
	return len(p.rows) * 2 / 3
}

// keeps keeps the last answer.
type keeps struct {
	http.RoundTripper
	last []byte
}

func (k *keeps) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := k.RoundTripper.RoundTrip(req)
	if err == nil {
		k.last, err = io.ReadAll(res.Body)
		res.Body = io.NopCloser(bytes.NewReader(k.last))
	}
	return res, err
}

// The newest bar changes until it closes, and says so.
func TestFormingBar(t *testing.T) {
	t.Parallel()
	for name, symbol := range listed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				s := fake(t, name, &markettest.Exchange{Days: 50})
				q := Query{Symbol: symbol, Interval: Minute5, Limit: 5}
				first, err := s.Bars(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				last := first.Bar(first.Len() - 1)
				time.Sleep(30 * time.Second) // 12:35:26: a new bar
				second, err := s.Bars(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				n := second.Len()
				if second.Time[n-1] != Minute5.Next(last.Time) || second.Time[n-2] != last.Time || !second.Forming {
					t.Fatalf("bars end at %v and %v after %v, forming %v", second.Time[n-2], second.Time[n-1], last.Time, second.Forming)
				}
				time.Sleep(30 * time.Second)
				third, err := s.Bars(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if third.Bar(n-2) != second.Bar(n-2) || third.Bar(n-1) == second.Bar(n-1) {
					t.Error("the closed bar changed, or the forming one did not")
				}
			})
		})
	}
}

// After the bell the day is closed, though midnight is far, and so are its last two and
// four hours, which are made of hours and would end after the bell. The week is closed
// when it is Monday in New York.
func TestFormingAtExchange(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		s := fake(t, "yahoo", &markettest.Exchange{Days: 50})
		for _, c := range []struct {
			now, forming, closed string
			day                  string // the start of the last daily bar
		}{
			{"2000-01-05T17:34:56Z", "2h 4h 1d 1wk", "", "05 14:30"}, {"2000-01-05T21:44:00Z", "2h 4h 1d 1wk", "", "05 14:30"}, {"2000-01-05T21:45:02Z", "1wk", "2h 4h 1d", "05 14:30"},
			{"2000-01-06T09:00:00Z", "1wk", "2h 4h 1d", "05 14:30"}, {"2000-01-08T12:00:00Z", "1wk", "2h 4h 1d", "07 14:30"}, {"2000-01-10T05:00:02Z", "", "2h 4h 1d 1wk", "07 14:30"},
		} {
			time.Sleep(time.Until(time.Unix(at(t, c.now), 0)))
			for iv := range strings.FieldsSeq(c.forming + " " + c.closed) {
				got, err := s.Bars(t.Context(), Query{Symbol: "AAPL", Interval: Interval(iv), Limit: 5})
				if err != nil || got.Forming != slices.Contains(strings.Fields(c.forming), iv) {
					t.Errorf("%s at %s: %+v, %v", iv, c.now, got, err)
				}
				if start := time.Unix(got.Time[got.Len()-1], 0).UTC().Format("02 15:04"); iv == "1d" && start != c.day {
					t.Errorf("at %s the last day starts %s", c.now, start)
				}
			}
		}
	})
}

// More bars than one request gives are paged, without a seam: an older page ends just
// before its end. A service without older pages says that its newest one is the last.
func TestPaging(t *testing.T) {
	t.Parallel()
	for _, p := range providers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				x := &markettest.Exchange{Days: 50}
				s := fake(t, p.name, x)
				newest, err := s.page(t.Context(), p.example, Minute1, 0, MaxLimit)
				if err != nil {
					t.Fatal(err)
				}
				slices.SortFunc(newest.rows, byTime)
				want, limit := len(newest.rows), 2*len(newest.rows)
				if !newest.last {
					limit = min(limit+want/2, MaxLimit)
					want = limit
					middle := len(newest.rows) / 2
					end, before := newest.rows[middle].Time, newest.rows[middle-1].Time
					older, err := s.page(t.Context(), p.example, Minute1, end, 10)
					if err != nil {
						t.Fatal(err)
					}
					if last := slices.MaxFunc(older.rows, byTime).Time; last != before {
						t.Errorf("the newest row before %d is of %d, want %d: page has to heed end, or to set last", end, last, before)
					}
				}
				asked := x.Requests(p.name)
				got, err := s.Bars(t.Context(), Query{Symbol: p.example, Interval: Minute1, Limit: limit})
				if err != nil {
					t.Fatal(err)
				}
				if got.Len() != want || len(got.Gaps) != 0 {
					t.Errorf("%d bars with gaps %v, want %d of %d", got.Len(), got.Gaps, want, limit)
				}
				if n := x.Requests(p.name) - asked; (n > 1) != (want > len(newest.rows)) {
					t.Errorf("%d requests for %d bars, %d to a page", n, want, len(newest.rows))
				}
			})
		})
	}
}

// The history of a young listing ends where it begins.
func TestYoungListing(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		for name, symbol := range listed {
			s := fake(t, name, &markettest.Exchange{Days: 3})
			got, err := s.Bars(t.Context(), Query{Symbol: symbol, Interval: Week1, Limit: 100})
			if err != nil || got.Len() < 1 || got.Len() > 2 {
				t.Errorf("%s: %v, %v; want the week or two it has existed", name, got, err)
			}
		}
	})
}

func TestQueriesRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		x := &markettest.Exchange{}
		for name := range listed {
			s := fake(t, name, x)
			for _, q := range []Query{
				{"../x", Hour1, 10, nil}, {"", Hour1, 10, nil}, {"AAPL", "7m", 10, nil}, {"AAPL", Hour1, 0, nil}, {"AAPL", Hour1, MaxLimit + 1, nil},
				{"AAPL", Hour1, 10, []string{"moon"}},
			} {
				if _, err := s.Bars(t.Context(), q); err == nil {
					t.Errorf("%s answered %+v", name, q)
				}
			}
		}
		if n := len(x.Hosts()); n > 0 {
			t.Errorf("asked %d hosts for refused queries", n)
		}
	})
}

// A caller that gives up gets its own error, and soon.
func TestCancel(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		x := &markettest.Exchange{Days: 3}
		x.Inject(markettest.Fault{Kind: markettest.Slow, Delay: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := fake(t, "binance", x).Bars(ctx, Query{Symbol: "BTCUSDT", Interval: Hour1, Limit: 1})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// Our clock is ten minutes ahead of the service's: its newest bar is not closed
// because of that, and its price is as old as the service says. If ours is
// behind, bars more than two minutes ahead of it are left out.
func TestServiceClockDecides(t *testing.T) {
	t.Parallel()
	for name, symbol := range listed {
		for _, off := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
			bubble(t, func(t *testing.T) {
				x := &markettest.Exchange{Days: 3, Now: func() time.Time { return time.Now().Add(off) }}
				got, err := fake(t, name, x).Bars(t.Context(), Query{Symbol: symbol, Interval: Minute1, Limit: 10})
				if err != nil {
					t.Fatal(err)
				}
				seen := time.Now().Add(min(off, maxAhead*time.Second))
				last := got.Time[got.Len()-1]
				if want := Minute1.Start(seen.Unix()); !got.Forming || last != want {
					t.Errorf("%s %s: last bar %d, forming %v; want %d, forming", name, off, last, got.Forming, want)
				}
				if late := got.PriceAt - time.Now().Add(min(off, 0)).UnixMilli(); late > 1000 || late < -1000 {
					t.Errorf("%s %s: the price is of %d, %d ms off", name, off, got.PriceAt, late)
				}
			})
		}
	}
}

// A Date header that is wrong by an hour closes no forming bar.
func TestWrongDateHeader(t *testing.T) {
	t.Parallel()
	for name, symbol := range listed {
		bubble(t, func(t *testing.T) {
			x := &markettest.Exchange{Days: 3}
			for _, off := range []time.Duration{-time.Hour, time.Hour} {
				s := over(t, name, reach{markettest.Env("http://127.0.0.1"), dated{x.Transport(), off}})
				got, err := s.Bars(t.Context(), Query{Symbol: symbol, Interval: Minute1, Limit: 10})
				if err != nil || !got.Forming || got.Time[9] != Minute1.Start(time.Now().Unix()) {
					t.Errorf("%s %s: %+v, %v", name, off, got, err)
				}
			}
		})
	}
}

// dated changes the Date header of every answer.
type dated struct {
	http.RoundTripper
	off time.Duration
}

func (d dated) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := d.RoundTripper.RoundTrip(req)
	if err == nil {
		res.Header.Set("Date", time.Now().Add(d.off).UTC().Format(http.TimeFormat))
	}
	return res, err
}

// Bars in the future and prices of zero or less reach nobody; where prices may
// be negative they do.
func TestImpossibleRows(t *testing.T) {
	now := time.Now().Unix()
	start := Hour1.Start(now)
	row := func(t int64, price float64) Bar { return Bar{t, price, price, price, price, 1} }
	for _, c := range []struct {
		name     string
		rows     []Bar
		positive bool
		bars     int // 0 for an error
	}{
		{"sound", []Bar{row(start-7200, 5), row(start-3600, 5), row(start, 5)}, true, 3},
		{"the newest a day ahead", []Bar{row(start-3600, 5), row(start, 5), row(start+86400, 9)}, true, 2},
		{"all ahead", []Bar{row(start+7200, 5), row(start+10800, 5)}, true, 0},
		{"a zero among them", []Bar{row(start-7200, 0), row(start-3600, 5), row(start, 5)}, true, 2},
		{"one too large to be drawn", []Bar{row(start-7200, 1e300), row(start-3600, 5), row(start, 5)}, true, 2},
		{"the newest is too large", []Bar{row(start-3600, 5), row(start, 1e308)}, true, 0},
		{"the newest is zero", []Bar{row(start-3600, 5), row(start, 0)}, true, 0},
		{"the newest is negative", []Bar{row(start-3600, 5), row(start, -5)}, true, 0},
		{"negative where it may be", []Bar{row(start-3600, 5), row(start, -37.63)}, false, 2},
	} {
		rows, err := sound(c.rows, now+maxAhead, c.positive)
		if (err != nil) != (c.bars == 0) || err == nil && len(rows) != c.bars {
			t.Errorf("%s: %d bars, %v; want %d", c.name, len(rows), err, c.bars)
		}
	}
	if !yahoo.negative("CL=F") || yahoo.negative("AAPL") {
		t.Error("oil has been below zero, and a share never")
	}
}

// Yahoo names the symbol it answers for; a mix-up must not become a chart.
func TestYahooAnswersForAnother(t *testing.T) {
	body := []byte(`{"chart":{"result":[{"meta":{"symbol":"MSFT"},"timestamp":[]}],"error":null}}`)
	var e *Error
	if _, err := decodeYahoo(body, "AAPL", Day1); !errors.As(err, &e) || e.Retry {
		t.Errorf("%v", err)
	}
	if _, err := decodeYahoo(body, "MSFT", Day1); err != nil {
		t.Error(err)
	}
}

// TestKrakenAnswersForAnother: Kraken has its own names of pairs. One that is surely of
// another pair is refused, and one that is not understood is taken.
func TestKrakenAnswersForAnother(t *testing.T) {
	for _, c := range []struct {
		symbol, name string
		ok           bool
	}{
		{"XBTUSD", "XXBTZUSD", true}, {"XBTUSD", "XBTUSD", true}, {"ETHXBT", "XETHXXBT", true}, {"XDGUSD", "XDGUSD", true}, {"EURUSD", "ZEURZUSD", true},
		{"USDTUSD", "USDTZUSD", true}, {"PEPEUSD", "PEPEUSD", true}, {"XBTUSD", "XETHZUSD", false}, {"XBTUSD", "XXBTZEUR", false}, {"XBTUSD", "XBTUSDT", false},
	} {
		body := fmt.Appendf(nil, `{"error":[],"result":{%q:[[1688671200,"5","6","4","5","5","1",23]],"last":1}}`, c.name)
		if p, err := krakenPage(c.symbol, Hour1, 0, 1, 0).read(body, time.Now()); (err == nil) != c.ok || c.ok && len(p.rows) != 1 {
			t.Errorf("%s for %s: %+v, %v", c.name, c.symbol, p, err)
		}
	}
}

// TestYahooSendsOtherBars: Yahoo says of which interval its bars are. Those of a day must
// not be drawn as hours.
func TestYahooSendsOtherBars(t *testing.T) {
	for step, ok := range map[string]bool{"1h": true, "60m": true, "": true, "1d": false, "5m": false, "90m": false} {
		body := fmt.Appendf(nil, `{"chart":{"result":[{"meta":{"symbol":"MSFT","dataGranularity":%q},"timestamp":[]}],"error":null}}`, step)
		if _, err := decodeYahoo(body, "MSFT", Hour1); (err == nil) != ok {
			t.Errorf("bars of %q for an hour: %v", step, err)
		}
	}
}

// TestRefusalsOfServices: what a service refuses in words of its own becomes a reason of
// ours, and the error says whether to try again.
func TestRefusalsOfServices(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, c := range []struct {
			name         string
			status       int
			answer, says string
		}{
			{"kraken", 200, `{"error":["EGeneral:evil"],"result":{}}`, "the request was refused (status 200); check the symbol; trying again will not help"},
			{"kraken", 200, `{"error":["EService:Busy"],"result":{}}`, "the service has a failure (status 200); try again in"},
			{"yahoo", 200, `{"chart":{"result":[{"meta":{"symbol":"AAPL","exchangeTimezoneName":"America/New_York"},"timestamp":[946684800],"indicators":{"quote":[]}}]}}`, "no bars"},
		} {
			s := over(t, c.name, reach{transport: answers{c.status, c.answer}, env: nowhere})
			_, err := s.Bars(t.Context(), Query{Symbol: listed[c.name], Interval: Hour1, Limit: 5})
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "evil") {
				t.Errorf("%s %s: %v, want it to say %q", c.name, c.answer, err, c.says)
			}
		}
	})
}

// TestErrorSaysWhetherToTryAgain: an error that may pass says so, with the time if it is known.
func TestErrorSaysWhetherToTryAgain(t *testing.T) {
	for _, c := range []struct {
		err  Error
		says string
	}{
		{Error{Reason: "no"}, "; trying again will not help"},
		{Error{Reason: "no", Retry: true}, "; trying again may help"},
		{Error{Reason: "no", Retry: true, After: time.Millisecond}, "; try again in 1s"},
	} {
		if text := c.err.Error(); !strings.HasSuffix(text, c.says) {
			t.Errorf("%q, want it to end with %q", text, c.says)
		}
	}
}

// answers is a service that gives every request the same answer.
type answers struct {
	status int
	body   string
}

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}
