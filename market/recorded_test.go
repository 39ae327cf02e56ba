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
// beside them. Each has at least bars and the refusal of an unknown symbol.
func TestRecordedAnswers(t *testing.T) {
	for _, p := range providers {
		files, err := filepath.Glob(filepath.Join("testdata", p.name, "*.http"))
		if err != nil || len(files) < 2 {
			t.Fatalf("%d recorded answers of %s, %v", len(files), p.name, err)
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
	fmt.Fprintf(&b, "%s %s\nforming=%v gaps=%d currency=%q", s.Symbol, s.Interval, s.Forming, s.Gaps, s.Currency)
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
		c, err := openColumns(reach{nowhere, recorded(t, "columns/"+name)}, []string{name})
		if err != nil {
			t.Fatal(err)
		}
		s := &Series{Symbol: "BTCUSDT", Interval: Hour8, Time: []int64{1570579200, 1570608000, 1570636800}}
		if err := c.add(t.Context(), s, []string{name}); err != nil || fmt.Sprint(s.Extra[name]) != want {
			t.Errorf("%s: %v, %v; want %s", name, s.Extra[name], err, want)
		}
	}
}

// Real answers of the tickers, by canonical symbols.
func TestRecordedTickers(t *testing.T) {
	for _, p := range providers {
		if p.ticker == nil {
			continue
		}
		quotes, err := over(t, p.name, reach{nowhere, recorded(t, "ticker/"+p.name)}).quotes(t.Context(), []string{p.example})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, symbol := range slices.Sorted(maps.Keys(quotes)) {
			got = append(got, fmt.Sprintf("[%s %v]", symbol, quotes[symbol].Price))
		}
		if want := wanted(t, "ticker/"+p.name)[0]; strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", p.name, got, want)
		}
	}
}

// The operator finds every source, and every setting that leads elsewhere, in
// the docs.
func TestSourcesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, spec := range Sources() {
		want = append(want, "| `"+spec+"` |")
	}
	for _, p := range providers {
		want = append(want, "`"+p.env+"`")
	}
	for _, c := range columnSites {
		want = append(want, "`"+c.env+"`")
	}
	for _, w := range want {
		if !strings.Contains(string(text), w) {
			t.Errorf("docs/deploy.md does not have %s", w)
		}
	}
}
