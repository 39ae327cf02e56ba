package market

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// recorded is a transport that answers every request with the response in a
// file of testdata.
func recorded(t *testing.T, name string) http.RoundTripper {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".http"))
	if err != nil {
		t.Fatal(err)
	}
	return replay(text)
}

type replay []byte

func (r replay) RoundTrip(req *http.Request) (*http.Response, error) {
	head, body, _ := bytes.Cut(r, []byte("\n\n"))
	text := fmt.Sprintf("%s\r\nContent-Length: %d\r\n\r\n%s", strings.ReplaceAll(string(head), "\n", "\r\n"), len(body), body)
	return http.ReadResponse(bufio.NewReader(strings.NewReader(text)), req)
}

// Real answers of every service become the bars, or the message, that stand
// beside them. TestSourcesAreComplete says which of them a service must have.
func TestRecordedAnswers(t *testing.T) {
	for _, p := range providers {
		files, err := filepath.Glob(filepath.Join("testdata", p.name, "*.http"))
		if err != nil {
			t.Fatal(err)
		}
		bars := wanted(t, p.name+"/bars")
		symbol, iv, _ := strings.Cut(bars[0], " ")
		q := Query{Symbol: symbol, Interval: Interval(iv), Limit: 10}
		for _, file := range files {
			name := p.name + "/" + strings.TrimSuffix(filepath.Base(file), ".http")
			s, err := over(t, p.name, reach{nowhere, recorded(t, name)}).Bars(t.Context(), q)
			got := fmt.Sprint(err)
			if err == nil {
				got = describe(s)
			}
			if want := strings.Join(wanted(t, name), "\n"); got != want {
				t.Errorf("%s:\n got %s\nwant %s", name, got, want)
			}
		}
	}
}

// wanted returns the lines of a .want file.
func wanted(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".want"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// describe writes a series as .want files do.
func describe(s *Series) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\nforming=%v gaps=%d currency=%q", s.Symbol, s.Interval, s.Forming, len(s.Gaps), s.Currency)
	for i := range s.Len() {
		r := s.Bar(i)
		fmt.Fprintf(&b, "\n%d", r.Time)
		for _, v := range []float64{r.Open, r.High, r.Low, r.Close, r.Volume} {
			b.WriteString(" " + strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	return b.String()
}

// Real answers of the services of extra columns, at the bars around them. A
// value holds from its time on; those of periods have the time of their end and
// belong to the bar that ends then.
func TestRecordedColumns(t *testing.T) {
	for name, want := range map[string]string{
		ExtraFunding: "[NaN -0.0375 0.0001]", ExtraOI: "[1.505707840780998e+08 1.4994075214464447e+08 1.4994075214464447e+08]",
		ExtraLong: "[0.6622 0.6617 0.6617]", ExtraShort: "[0.3378 0.3382 0.3382]", ExtraFearGreed: "[40 40 40]",
	} {
		c, err := openColumns(reach{nowhere, recorded(t, "columns/"+name)})
		if err != nil {
			t.Fatal(err)
		}
		s := &Series{Symbol: "BTCUSDT", Interval: Hour8, Time: []int64{1570579200, 1570608000, 1570636800}}
		if err := c.add(t.Context(), s, []string{name}); err != nil || fmt.Sprint(s.Extra[name]) != want {
			t.Errorf("%s: %v, %v; want %s", name, s.Extra[name], err, want)
		}
	}
}

// Real answers with the price, bid and ask of one symbol, and the time of the last trade.
func TestRecordedQuotes(t *testing.T) {
	for _, p := range providers {
		if p.single == nil {
			continue
		}
		q, err := over(t, p.name, reach{nowhere, recorded(t, "quote/"+p.name)}).Venue.quote(t.Context(), p.example)
		if got, want := fmt.Sprint(q.Price, q.Bid, q.Ask, " ", time.UnixMilli(q.At).UTC().Format(time.RFC3339Nano)), wanted(t, "quote/"+p.name)[0]; err != nil || got != want || q.Source != p.name {
			t.Errorf("%s: %s of %q, %v; want %s", p.name, got, q.Source, err, want)
		}
	}
}

// Real answers with the rules of one market.
func TestRecordedGrids(t *testing.T) {
	for _, p := range providers {
		if p.grid == nil {
			continue
		}
		feed := NewFeed(Cached(over(t, p.name, reach{nowhere, recorded(t, "grid/"+p.name)})), nil)
		g, err := feed.Grid(t.Context(), p.example)
		if got, want := strings.TrimSpace(fmt.Sprint(g.Tick, " ", g.Lot, " ", g.Minimum, " ", g.Least)), wanted(t, "grid/"+p.name)[0]; err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", p.name, got, err, want)
		}
	}
}

// The rules of a market are asked for once a minute, by however many at once, and
// sources without any are not asked at all.
func TestGridIsAskedOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		asked := &counts{RoundTripper: recorded(t, "grid/coinbase")}
		feed := NewFeed(over(t, "coinbase", reach{nowhere, asked}), nil)
		for range 3 {
			if _, err := feed.Grid(t.Context(), "BTC-USD"); err != nil {
				t.Fatal(err)
			}
		}
		if asked.n != 1 {
			t.Errorf("three orders asked %d times", asked.n)
		}
		time.Sleep(gridAge)
		feed.Grid(t.Context(), "BTC-USD")
		if asked.n != 2 {
			t.Errorf("a minute later it was asked %d times, want 2", asked.n)
		}
		if g, err := NewFeed(Sample{}, nil).Grid(t.Context(), "BTCUSDT"); g != (Grid{}) || err != nil {
			t.Errorf("sample: %v, %v", g, err)
		}
	})
}

// counts counts requests.
type counts struct {
	http.RoundTripper
	n int
}

func (c *counts) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n++
	return c.RoundTripper.RoundTrip(r)
}

// Real answers of the tickers, by canonical symbols.
func TestRecordedTickers(t *testing.T) {
	for _, p := range providers {
		if p.ticker == nil {
			continue
		}
		quotes, err := over(t, p.name, reach{nowhere, recorded(t, "ticker/"+p.name)}).prices(t.Context(), []string{p.example})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, symbol := range slices.Sorted(maps.Keys(quotes)) {
			q := quotes[symbol]
			got = append(got, fmt.Sprintf("[%s %v %v %v]", symbol, q.Price, q.Bid, q.Ask))
		}
		if want := wanted(t, "ticker/"+p.name)[0]; strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", p.name, got, want)
		}
	}
}
