package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"math"
	"strings"
	"testing"

	"wick/chart"
	"wick/indicators"
	"wick/market"
	"wick/mcp"
)

// call runs a tool by name with JSON arguments.
func call(t testing.TB, d Deps, name, arguments string) (*mcp.Result, error) {
	t.Helper()
	for _, tool := range All(d) {
		if tool.Name == name {
			return tool.Handle(t.Context(), mcp.Call{Caller: mcp.Caller{ID: "test"}, Arguments: json.RawMessage(arguments)})
		}
	}
	t.Fatalf("no tool %s", name)
	return nil, nil
}

// payload runs a tool and decodes its only text.
func payload(t testing.TB, d Deps, name, arguments string, into any) []byte {
	t.Helper()
	r, err := call(t, d, name, arguments)
	if err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	if len(r.Content) != 1 || r.Content[0].MIME != "" {
		t.Fatalf("%s %s: content %v, want one text", name, arguments, r.Content)
	}
	text := r.Content[0].Text
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	return text
}

// fixed is a source with the bars of the sample at one instant, as if real.
type fixed struct {
	queries []market.Query
	err     error
}

func (f *fixed) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	f.queries = append(f.queries, q)
	if f.err != nil {
		return nil, f.err
	}
	s, err := market.Sample{}.At(q, fixedNow)
	if err == nil {
		s.Synthetic, s.Source = false, "fixed"
	}
	return s, err
}

// TestChartFormats: what each format returns, as the specification's table has
// it.
func TestChartFormats(t *testing.T) {
	d := Deps{Source: &fixed{}}
	for format, want := range map[string]string{"": "image", "png": "image", "summary": "text", "both": "image text", "series": "text"} {
		r, err := call(t, d, "generate_chart", fmt.Sprintf(`{"symbol":"btcusdt","bars":60,"format":%q}`, format))
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		var kinds []string
		for _, c := range r.Content {
			if c.MIME == "image/png" {
				img, err := png.Decode(bytes.NewReader(c.Data))
				if err != nil || img.Bounds().Dx() != defaultWidth || img.Bounds().Dy() != defaultHeight {
					t.Errorf("%s: %v, %v", format, err, img.Bounds())
				}
				kinds = append(kinds, "image")
			} else {
				kinds = append(kinds, "text")
			}
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("format %q returns %q, want %q", format, got, want)
		}
	}
}

type summary struct {
	Symbol, Interval, Source string
	Synthetic, Forming       bool
	Bars                     any
	Price                    struct{ Bars int }
	Indicators               map[string]struct {
		Label     string
		IsOverlay bool `json:"is_overlay"`
		Lines     []struct {
			Label     string
			LastValue *float64 `json:"last_value"`
			Values    []*float64
		}
	}
}

// TestMissingIsTold: the reply to a picture names the panels for which it is not high
// enough and the marks that it does not show. A picture that shows all is the only content.
func TestMissingIsTold(t *testing.T) {
	sixteen := `"indicators":["rsi","macd","atr","stoch","adx","cci","mfi","obv","roc","willr","rsi","macd","atr","stoch","adx","cci"]`
	const marks = `"marks":[{"type":"text","price":10,"time":"2020-01-01","text":"x"},{"type":"line","price":10,"price2":11,"time":"2127-01-01","time2":"2128-01-01"},` +
		`{"type":"level","price":1000,"text":"far"},{"type":"level","price":10}]`
	for _, c := range []struct{ arguments, want string }{
		{sixteen + `,"format":"png"`, "The picture is not high enough for all panels and leaves out roc"},
		{sixteen + `,"format":"both"`, ", cci#2: ask for a larger height, or for fewer at once."},
		{sixteen + `,"format":"summary","bars":20`, ""},
		{marks, "Outside the times or prices shown, and not drawn: marks[0] (text), marks[1] (line). from, to and bars choose the times."},
		{`"indicators":["rsi"]`, ""},
		{`"indicators":["bbands","keltner","donchian","ichimoku","supertrend","vwap"]`, ""},
		{`"marks":[{"type":"level","price":10,"text":"x"}]`, ""},
	} {
		r, err := call(t, Deps{Source: &fixed{}}, "generate_chart", `{"symbol":"BTCUSDT",`+c.arguments+`}`)
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		for _, content := range r.Content {
			if text := string(content.Text); text != "" && text[0] != '{' {
				notes = append(notes, text)
			}
		}
		if got := strings.Join(notes, "\n"); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: the reply says %q, want %q", c.arguments, got, c.want)
		}
	}
}

// TestChartKeys: results come back under the names they were asked for by, a
// name that comes twice with #2.
func TestChartKeys(t *testing.T) {
	var s summary
	payload(t, Deps{Source: &fixed{}}, "generate_chart",
		`{"ticker":" ethusdt","timeframe":"60","indicators":["bollinger",{"name":"rsi","length":"21"},"rsi"],"format":"summary"}`, &s)
	if s.Symbol != "ETHUSDT" || s.Interval != "1h" || s.Source != "fixed" || s.Synthetic || !s.Forming || s.Price.Bars != 200 {
		t.Errorf("got %+v", s)
	}
	for key, label := range map[string]string{"bollinger": "BB(20, 2)", "rsi": "RSI(21)", "rsi#2": "RSI(14)"} {
		if got := s.Indicators[key].Label; got != label {
			t.Errorf("%s is labelled %q, want %q", key, got, label)
		}
	}
}

// TestSymbolSpellings: a market is found under any usual spelling of its symbol,
// and the answer shows the canonical one.
func TestSymbolSpellings(t *testing.T) {
	for _, spelling := range []string{"btcusdt", "BTC/USDT", "btc-usdt", "BINANCE:BTCUSDT"} {
		for tool, more := range map[string]string{"generate_chart": `,"format":"summary"`, "get_indicators": `,"indicators":"rsi"`} {
			var s summary
			if payload(t, Deps{Source: &fixed{}}, tool, `{"symbol":"`+spelling+`"`+more+`}`, &s); s.Symbol != "BTCUSDT" {
				t.Errorf("%s of %s shows %s", tool, spelling, s.Symbol)
			}
		}
	}
}

// TestChartSample: without a symbol the bars are synthetic, whatever the
// source, and the payload says so.
func TestChartSample(t *testing.T) {
	f := &fixed{err: errors.New("not to be asked")}
	var s summary
	payload(t, Deps{Source: f}, "generate_chart", `{"format":"summary"}`, &s)
	if !s.Synthetic || s.Symbol != sampleSymbol || len(f.queries) != 0 {
		t.Errorf("got %+v after %d queries", s, len(f.queries))
	}
}

// TestChartFailure: a source that fails makes the tool fail. It is never
// replaced by invented bars.
func TestChartFailure(t *testing.T) {
	f := &fixed{err: errors.New("binance: status 451")}
	for _, format := range []string{"png", "summary", "both", "series"} {
		r, err := call(t, Deps{Source: f}, "generate_chart", fmt.Sprintf(`{"symbol":"BTCUSDT","format":%q}`, format))
		if err == nil || !strings.Contains(err.Error(), "451") {
			t.Errorf("%s: result %v, error %v", format, r, err)
		}
	}
}

// TestChartWarm: the first value shown is what a longer chart shows there.
func TestChartWarm(t *testing.T) {
	d := Deps{Source: &fixed{}}
	var short, long summary
	const request = `{"symbol":"BTCUSDT","indicators":["ema_stack","rsi","macd","bbands"],"format":"series","bars":%d}`
	payload(t, d, "generate_chart", fmt.Sprintf(request, 30), &short)
	payload(t, d, "generate_chart", fmt.Sprintf(request, 1000), &long)
	for key, ind := range short.Indicators {
		for i, line := range ind.Lines {
			longer := long.Indicators[key].Lines[i].Values
			got, want := line.Values[0], longer[len(longer)-30]
			if got == nil || want == nil || math.Abs(*got-*want) > 1e-6*math.Abs(*want) {
				t.Errorf("%s %s: first value %v, a longer chart has %v", key, line.Label, got, want)
			}
		}
	}
}

// newborn is a source with few bars, as of a symbol listed yesterday.
type newborn struct{ fixed }

func (n *newborn) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	s, err := n.fixed.Bars(ctx, q)
	if err == nil {
		s = s.Tail(10)
	}
	return s, err
}

// TestAveragedCandlesBegin: averaged candles begin before the first bar shown, so that the
// colour of a bar does not depend on how many are shown. What is right is a recursion over
// 3,000 bars, and the indicator of that name says the same.
func TestAveragedCandlesBegin(t *testing.T) {
	all, err := new(fixed).Bars(t.Context(), market.Query{Symbol: "BTCUSDT", Interval: market.Hour4, Limit: 3000})
	if err != nil {
		t.Fatal(err)
	}
	opens := make([]float64, all.Len())
	for i := range opens {
		opens[i] = (all.Open[i] + all.Close[i]) / 2
		if i > 0 {
			k := i - 1
			opens[i] = (opens[k] + (all.Open[k]+all.High[k]+all.Low[k]+all.Close[k])/4) / 2
		}
	}
	for _, bars := range []int{1, 20, 21, 57, 200} {
		want := opens[all.Len()-bars]
		var got struct {
			Open       float64 `json:"heikin_ashi_open"`
			Indicators map[string]struct{ Lines []struct{ Values []float64 } }
		}
		payload(t, Deps{Source: new(fixed)}, "generate_chart", fmt.Sprintf(`{"symbol":"BTCUSDT","format":"series","bars":%d,"indicators":["heikin_ashi"]}`, bars), &got)
		if line := got.Indicators["heikin_ashi"].Lines[0].Values; math.Abs(got.Open-want) > 1e-9*want || math.Abs(got.Open-line[0]) > 1e-9*want {
			t.Errorf("%d bars: the series opens at %v, the indicator at %v, want %v", bars, got.Open, line[0], want)
		}
		r := chartAsked(t, fmt.Sprintf(`{"symbol":"BTCUSDT","type":"heikin_ashi","bars":%d,"indicators":[]}`, bars))
		v, err := newHandlers(Deps{Source: new(fixed)}).chartView(t.Context(), mcp.Caller{}, r)
		if err != nil || v.AveragedOpen == nil || math.Abs(*v.AveragedOpen-want) > 1e-9*want {
			t.Errorf("%d bars: the picture of %v opens at %v, want %v", bars, err, v.AveragedOpen, want)
		}
	}
}

// chartAsked returns the request of a call of generate_chart.
func chartAsked(t *testing.T, arguments string) *chartRequest {
	t.Helper()
	r := &chartRequest{}
	values, _, err := read(r.args(), json.RawMessage(arguments))
	if err = errors.Join(err, r.check(values)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestChartNeeds: an indicator that has no value yet says in its legend how
// many bars it takes: the length of an average, one more where changes are
// averaged, what the definitions say of the others. The picture is compared
// with one drawn for that number.
func TestChartNeeds(t *testing.T) {
	for _, c := range []struct {
		indicator string
		needs     int
	}{
		{`{"name":"sma","length":50}`, 50},
		{`"bbands"`, 20},
		{`"rsi"`, 15},  // 14 changes
		{`"macd"`, 34}, // 26 for the slower average, 8 more for the signal
		{`"cci"`, 20},
	} {
		arguments := `{"symbol":"NEW","indicators":[` + c.indicator + `]}`
		got, err := call(t, Deps{Source: &newborn{}}, "generate_chart", arguments)
		if err != nil {
			t.Fatalf("%s: %v", c.indicator, err)
		}
		r := chartAsked(t, arguments)
		v, _, err := newHandlers(Deps{Source: &newborn{}}).span(t.Context(), r.question)
		if err != nil {
			t.Fatal(err)
		}
		v.Panels[0].Needs = func() int { return c.needs }
		want, _, err := chart.Draw(t.Context(), v, r.options)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Content[0].Data, want) {
			t.Errorf("%s: the picture does not say that it needs %d bars, but %d", c.indicator, c.needs, barsNeeded(r.indicators[0], r.interval))
		}
	}
}

// TestChartRefusals: a wrong word is an error that says what would be right, before any
// bar is fetched.
func TestChartRefusals(t *testing.T) {
	f := &fixed{}
	for arguments, want := range map[string]string{
		`{"format":"jpeg"}`:                          "png, summary, both, series",
		`{"theme":"pink"}`:                           "dark, light, colorblind",
		`{"interval":"15M"}`:                         "15m",
		`{"symbol":"../x"}`:                          "BTCUSDT",
		`{"indicators":["rsii"]}`:                    `did you mean "rsi"`,
		`{"indicators":[{"length":3}]}`:              "name",
		`{"indicators":[{"name":"rsi","length":0}]}`: "1 to 1000",
		`{"indicators":[{"name":"rsi","lenght":9}]}`: `did you mean "length"`,
	} {
		if !strings.Contains(arguments, "symbol") {
			arguments = `{"symbol":"BTCUSDT",` + arguments[1:]
		}
		if _, err := call(t, Deps{Source: f}, "generate_chart", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", arguments, err, want)
		}
	}
	if len(f.queries) > 0 {
		t.Errorf("bars were fetched for a request that was refused: %v", f.queries)
	}
}

// TestPayloadSizes holds the sizes that clients take: a picture under 100 KB,
// a summary under 8 KB, a series of 200 bars under 45 KB.
func TestPayloadSizes(t *testing.T) {
	d := Deps{Source: &fixed{}}
	for format, most := range map[string]int{"png": 100_000, "summary": 8_000, "series": 45_000} {
		r, err := call(t, d, "generate_chart", fmt.Sprintf(`{"symbol":"BTCUSDT","format":%q}`, format))
		if err != nil {
			t.Fatal(err)
		}
		if size := len(r.Content[0].Text) + len(r.Content[0].Data); size > most {
			t.Errorf("%s has %d bytes, want at most %d", format, size, most)
		}
	}
}

// TestExternalRefused: an indicator whose column the source lacks is refused by
// name; the sample source has the columns.
func TestExternalRefused(t *testing.T) {
	for ind := range indicators.All() {
		if len(ind.Needs) == 0 {
			continue
		}
		arguments := fmt.Sprintf(`{"indicators":[%q],"format":"summary","symbol":"BTCUSDT"}`, ind.Name)
		if _, err := call(t, Deps{Source: bare{}}, "generate_chart", arguments); err == nil || !strings.Contains(err.Error(), ind.Name) {
			t.Errorf("%s without its column: %v", ind.Name, err)
		}
		if _, err := call(t, Deps{Source: market.Sample{}}, "generate_chart", arguments); err != nil {
			t.Errorf("%s from the sample source: %v", ind.Name, err)
		}
	}
}

// bare is a source without extra columns.
type bare struct{}

func (bare) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	q.Extra = nil
	return market.Sample{}.Bars(ctx, q)
}

// TestSeriesTooLarge: a series past what the tool announces, and clients take, is refused
// with what to do about it.
func TestSeriesTooLarge(t *testing.T) {
	d := Deps{Source: market.Sample{}}
	for _, request := range []string{
		`{"symbol":"BTCUSDT","format":"series","bars":5000,"indicators":["ichimoku","gmma","bbands","keltner","donchian","alligator","macd","stoch"]}`,
		`{"symbol":"BTCUSDT","format":"series","bars":2600}`, // a little too long
	} {
		_, err := call(t, d, "generate_chart", request)
		if err == nil || !strings.Contains(err.Error(), "more than the 500000 that clients take: ask for fewer bars") {
			t.Errorf("%s: got %v, want a refusal", request, err)
		}
	}
	if r, err := call(t, d, "generate_chart", `{"symbol":"BTCUSDT","format":"series","bars":2400}`); err != nil || len(r.Content[0].Text) < 450_000 {
		t.Errorf("a series that is not too long: %v", err)
	}
	if announced := newHandlers(d).generateChart().MaxResult; announced != 500_000 {
		t.Errorf("%d characters are announced", announced)
	}
}
