package tools

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wick/chart"
	"wick/indicators"
	"wick/market"
)

var fixedNow = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

type (
	catalogReply struct {
		Total         int
		Note          string
		Sources, More []string
		Indicators    []catalogReplyEntry
	}
	catalogReplyEntry struct {
		Name, Description, Type, Category string
		Overlay                           *bool
		Repaints                          bool
		Aliases                           []string
		Params                            []struct {
			Name, Type, Description string
			Default                 any
			Required                bool
			Example                 string
			Min, Max                *float64
			Choices                 []string
		} `json:"configurable_params"`
		Signals []string
	}
)

// TestCatalogue: every entry of the catalogue is listed; described by name it
// has all the contract asks for, and every listed name and alias is accepted.
func TestCatalogue(t *testing.T) {
	var all catalogReply
	payload(t, Deps{}, "list_indicators", ``, &all)
	var names []string
	for ind := range indicators.All() {
		names = append(names, ind.Name)
	}
	if all.Total != len(names) || len(all.Indicators) != len(names) {
		t.Fatalf("total %d, listed %d of %d", all.Total, len(all.Indicators), len(names))
	}
	for i, name := range names {
		if all.Indicators[i].Name != name {
			t.Fatalf("entry %d is %s, want %s", i, all.Indicators[i].Name, name)
		}
		var c catalogReply
		text := payload(t, Deps{}, "list_indicators", `{"names":`+encode(name)+`}`, &c)
		if c.Total != 1 || c.Indicators[0].Name != name || strings.Contains(string(text), ":null") {
			t.Errorf("%s is described as %s", name, text)
			continue
		}
		takes := strings.Contains(string(text), "one of sources")
		if slices.Contains(c.Sources, "hlc3") != takes {
			t.Errorf("sources %q", c.Sources)
		}
		checkEntry(t, c.Indicators[0])
		for _, name := range append(c.Indicators[0].Aliases, name) {
			if _, err := indicators.Lookup(name); err != nil {
				t.Errorf("%s is listed and refused: %v", name, err)
			}
		}
	}
}

func checkEntry(t *testing.T, ind catalogReplyEntry) {
	t.Helper()
	if ind.Description == "" || ind.Overlay == nil || ind.Aliases == nil || ind.Params == nil || ind.Signals == nil {
		t.Errorf("%s lacks a member: %+v", ind.Name, ind)
	}
	if (ind.Type == "overlay") != *ind.Overlay && ind.Type != "external" {
		t.Errorf("%s is of type %s and overlay %t", ind.Name, ind.Type, *ind.Overlay)
	}
	for _, p := range ind.Params {
		if bounded := p.Min != nil && p.Max != nil; bounded != (p.Type == "integer" || p.Type == "number") {
			t.Errorf("%s %s: type %s, bounds %v %v", ind.Name, p.Name, p.Type, p.Min, p.Max)
		}
		if shared := regexp.MustCompile(", (one of sources or another indicator|as [a-z]+_type)$").MatchString(p.Description); p.Type == "string" && shared == (p.Choices != nil) {
			t.Errorf("%s %s: description %q, choices %q", ind.Name, p.Name, p.Description, p.Choices)
		}
		// What must be given has no default: it has an example.
		required := slices.Contains([]string{"rule when", "formula expr", "backtest enter"}, ind.Name+" "+p.Name)
		if p.Description == "" || (p.Default == nil) != required || p.Required != required || (p.Example != "") != required {
			t.Errorf("%s %s: description %q, default %v, required %t, example %q", ind.Name, p.Name, p.Description, p.Default, p.Required, p.Example)
		}
	}
}

// TestCatalogueTerse: without arguments every entry has its description, aliases,
// parameters, but those that few calls set, and signals, and all of it together stays
// within what clients take.
func TestCatalogueTerse(t *testing.T) {
	var c catalogReply
	text := payload(t, Deps{}, "list_indicators", ``, &c)
	if n := len(text); n >= 72_000 { // maxCatalog
		t.Errorf("the catalogue has %d characters", n)
	}
	for _, ind := range c.Indicators {
		want, err := indicators.Lookup(ind.Name)
		if err != nil {
			t.Fatal(err)
		}
		if ind.Description == "" || !slices.Equal(ind.Aliases, want.Aliases) || !slices.Equal(ind.Signals, want.Signals) {
			t.Errorf("%s: description %q, aliases %q, signals %q", ind.Name, ind.Description, ind.Aliases, ind.Signals)
		}
		if ind.Overlay == nil || *ind.Overlay != want.Traits.Has(indicators.Overlay) {
			t.Errorf("%s: overlay %v, want %t", ind.Name, ind.Overlay, want.Traits.Has(indicators.Overlay))
		}
		if ind.Repaints != want.Traits.Has(indicators.Repaints) {
			t.Errorf("%s: repaints %t, want %t", ind.Name, ind.Repaints, want.Traits.Has(indicators.Repaints))
		}
		listed := slices.DeleteFunc(slices.Clone(want.Params), func(p indicators.Param) bool { return p.Quiet })
		if len(ind.Params) != len(listed) {
			t.Errorf("%s: %d parameters listed, want %d", ind.Name, len(ind.Params), len(listed))
			continue
		}
		for i, p := range listed {
			if got := ind.Params[i]; got.Name != p.Name || got.Default != nil {
				t.Errorf("%s: parameter %d is %+v, want %s alone", ind.Name, i, got, p.Name)
			}
		}
	}
}

// TestCatalogueSearch: the likeliest entry comes first; words may be in names,
// aliases, descriptions, parameters and signals.
func TestCatalogueSearch(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"query":"200 ema"}`:                    "ema",
		`{"query":"ema"}`:                        "ema",
		`{"query":"rsi"}`:                        "rsi",
		`{"query":"bollinger"}`:                  "bbands",
		`{"query":"Bollinger Bands"}`:            "bbands",
		`{"query":"Relative STRENGTH index"}`:    "rsi",
		`{"query":"stochastic rsi"}`:             "stoch_rsi",
		`{"query":"volume profile"}`:             "volume_profile",
		`{"query":"moving average 50"}`:          "sma",
		`{"query":"cloud_break_up"}`:             "ichimoku",
		`{"query":"supertr"}`:                    "supertrend",
		`{"category":"momentum","query":"macd"}`: "macd",
		`{"query":"qqzzx wwyyx"}`:                "",
	} {
		var c catalogReply
		payload(t, Deps{}, "list_indicators", arguments, &c)
		got := ""
		if c.Total > 0 {
			got = c.Indicators[0].Name
		}
		if got != want {
			t.Errorf("%s finds %q first of %d, want %q", arguments, got, c.Total, want)
		}
	}
	if _, err := call(t, Deps{}, "list_indicators", `{"category":"nonsense"}`); err == nil || !strings.Contains(err.Error(), "momentum") {
		t.Errorf("an unknown category: %v", err)
	}
	var c catalogReply
	payload(t, Deps{}, "list_indicators", `{"query":"average"}`, &c)
	if len(c.Indicators)+len(c.More) != c.Total || len(c.More) == 0 {
		t.Errorf("%d described and %d named of %d", len(c.Indicators), len(c.More), c.Total)
	}
}

// TestAskedSizes: a search answers in under 1,500 tokens of four characters, and a computation covers
// the bars that were asked for, to which the places of its signals belong.
func TestAskedSizes(t *testing.T) {
	for _, query := range []string{"momentum", "moving average", "rsi divergence", "overbought", "volume profile"} {
		var c catalogReply
		if text := payload(t, Deps{}, "list_indicators", `{"query":`+encode(query)+`}`, &c); len(text) > 6000 || len(c.Indicators) == 0 {
			t.Errorf("%s: %d characters with %d entries, want at most 6000", query, len(text), len(c.Indicators))
		}
	}
	for bars, want := range map[string]int{`,"bars":100`: 100, `,"bars":300`: 300, ``: 200} {
		var r struct {
			Bars       int
			Indicators map[string]struct{ Signals []struct{ X int } }
		}
		payload(t, Deps{Source: market.Sample{}}, "get_indicators", `{"symbol":"BTCUSDT","indicators":["macd"]`+bars+`}`, &r)
		signals := r.Indicators["macd"].Signals
		if r.Bars != want || len(signals) == 0 || signals[len(signals)-1].X >= want {
			t.Errorf("%s: %d bars and signals %+v, want %d", bars, r.Bars, signals, want)
		}
	}
}

// TestWeightIsWidth: the heaviest level of a profile has the weight 0.3, whatever its share of
// the volume is.
func TestWeightIsWidth(t *testing.T) {
	for _, name := range []string{"volume_profile", "tpo"} {
		var reply struct {
			Indicators map[string]struct {
				Top []struct{ Weight float64 } `json:"hbars_top"`
			}
		}
		payload(t, Deps{Source: market.Sample{}}, "get_indicators", `{"symbol":"BTCUSDT","indicators":["`+name+`"]}`, &reply)
		most := 0.0
		for _, level := range reply.Indicators[name].Top {
			most = max(most, level.Weight)
		}
		if most != 0.3 {
			t.Errorf("the heaviest level of %s has the weight %g, want 0.3", name, most)
		}
	}
}

// TestCatalogueQuestions: of a question only the words that say what is wanted count. Each
// finds one of the indicators that textbooks name first for it, among the first three.
func TestCatalogueQuestions(t *testing.T) {
	for query, want := range map[string]string{
		"what shows overbought?":           "rsi",
		"indicators for volume":            "obv vwap mfi",
		"which one is best for volatility": "atr bbands",
		"what tells me about momentum":     "rsi macd",
		"show me support and resistance":   "support_resistance",
		"on balance volume":                "obv",
		"balance of power":                 "bop",
		"rate of change":                   "roc",
		"center of gravity":                "center_of_gravity",
		"fear and greed":                   "fear_greed",
		"OR":                               "opening_range", // a filler alone is a name
	} {
		var c catalogReply
		payload(t, Deps{}, "list_indicators", `{"query":`+encode(query)+`}`, &c)
		var first []string
		for _, ind := range c.Indicators[:min(3, len(c.Indicators))] {
			first = append(first, ind.Name)
		}
		if !slices.ContainsFunc(first, func(name string) bool { return slices.Contains(strings.Fields(want), name) }) {
			t.Errorf("%s finds %q first, want one of %s", query, first, want)
		}
	}
}

// TestCatalogueNothing: where nothing matches, the reply says what finds something: a
// query of words that say nothing, or of words that no indicator has.
func TestCatalogueNothing(t *testing.T) {
	for _, query := range []string{"best indicator", "indicators", "what is it for?", "qwertz"} {
		var c catalogReply
		payload(t, Deps{}, "list_indicators", `{"query":`+encode(query)+`}`, &c)
		if c.Total != 0 || !strings.Contains(c.Note, "neither query nor category") {
			t.Errorf("%s: %d found, note %q", query, c.Total, c.Note)
		}
	}
	var c catalogReply
	payload(t, Deps{}, "list_indicators", `{"query":"rsi"}`, &c)
	if c.Total == 0 || strings.Contains(c.Note, "neither query nor category") {
		t.Errorf("rsi: %d found, note %q", c.Total, c.Note)
	}
}

// TestGetIndicators: defaults, the shape, and that what is required is.
func TestGetIndicators(t *testing.T) {
	d := Deps{Source: &fixed{}}
	var s summary
	payload(t, d, "get_indicators", `{"symbol":"btcusdt","indicators":"rsi"}`, &s)
	if s.Interval != "4h" || s.Source != "fetched" || s.Bars != float64(computedBars) || s.Indicators["rsi"].Lines[0].LastValue == nil {
		t.Errorf("got %+v", s)
	}
	for arguments, want := range map[string]string{
		`{"indicators":["rsi"]}`:              "symbol is required, such as BTCUSDT; symbols may be given in its place",
		`{"symbol":"X"}`:                      "indicators is required",
		`{"symbol":"X","indicators":[]}`:      "indicators is required",
		`{"symbol":"X","indicators":["foo"]}`: "unknown indicator",
	} {
		if _, err := call(t, d, "get_indicators", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
	// Symbols that are refused are not said to be missing.
	for arguments, want := range map[string]string{
		`{"symbol":"X","ticker":"Y","indicators":["rsi"]}`:                              "symbol and ticker are one argument and were given different values: send symbol alone (fix the request)",
		`{"symbols":["X",5],"indicators":["rsi"]}`:                                      "symbols must hold strings, not 5 (fix the request)",
		`{"symbols":"` + strings.Repeat("X,", maxSymbols+1) + `","indicators":["rsi"]}`: "symbols has 201 items: at most 200 a call (fix the request)",
		`{"symbols":[" "],"indicators":["rsi"]}`:                                        "symbol is required, such as BTCUSDT; symbols may be given in its place (fix the request)",
	} {
		if _, err := call(t, d, "get_indicators", arguments); err == nil || err.Error() != want {
			t.Errorf("%.60s: %v, want %s", arguments, err, want)
		}
	}
}

// leastDescription is how many characters the description of a tool has at least.
const leastDescription = 40

// TestSchemas: what all model vendors accept: an object on top without
// combinators, no arrays of types, string enums.
func TestSchemas(t *testing.T) {
	for _, tool := range All(Deps{}) {
		var top map[string]any
		if err := json.Unmarshal(tool.Schema, &top); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		for _, combinator := range []string{"anyOf", "oneOf", "allOf", "not"} {
			if _, has := top[combinator]; has {
				t.Errorf("%s has %s at the top", tool.Name, combinator)
			}
		}
		if top["type"] != "object" {
			t.Errorf("%s: the schema is of type %v: model vendors take an object alone", tool.Name, top["type"])
		}
		if tool.Title == "" {
			t.Errorf("%s has no title, which clients show to people", tool.Name)
		}
		if len(tool.Description) < leastDescription {
			t.Errorf("%s: the description %q has %d characters, want %d or more: a model chooses the tool by it, so it says what the tool does and when to call it",
				tool.Name, tool.Description, len(tool.Description), leastDescription)
		}
		walkSchema(t, tool.Name, top)
	}
}

func walkSchema(t *testing.T, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, list := v["type"].([]any); list {
			t.Errorf("%s: an array of types", path)
		}
		if enum, ok := v["enum"].([]any); ok {
			for _, word := range enum {
				if _, ok := word.(string); !ok {
					t.Errorf("%s: enum of %v", path, word)
				}
			}
		}
		for key, inner := range v {
			walkSchema(t, path+"."+key, inner)
		}
	case []any:
		for _, inner := range v {
			walkSchema(t, path, inner)
		}
	}
}

// TestUnsettled: values of too short a history say so, in the reply too.
func TestUnsettled(t *testing.T) {
	for _, c := range []struct {
		indicator string
		bars      int // in all, of which 20 are shown
		unsettled bool
	}{
		{`{"name":"ema","length":100}`, 200, true},
		{`{"name":"ema","length":100}`, 5000, false},
		{`{"name":"formula","expr":"close"}`, 20, false},
		{`{"name":"rule","when":"close > open[2]"}`, 21, true},
		{`{"name":"rule","when":"close > open[2]"}`, 22, false},
	} {
		requests, err := indicators.Parse([]json.RawMessage{json.RawMessage(c.indicator)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := market.Sample{}.At(market.Query{Symbol: "X", Interval: market.Hour1, Limit: c.bars}, fixedNow)
		if err != nil {
			t.Fatal(err)
		}
		v, err := compute(t.Context(), s, requests, 20)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := chart.Computed(v, "fetched", c.bars).Newest(nil, 1)
		reply := string(text)
		if got := strings.Contains(reply, `"settled":false`); got != c.unsettled || v.Panels[0].Result.Unsettled != c.unsettled {
			t.Errorf("%s after %d bars: %s, want unsettled: %v", c.indicator, c.bars, reply, c.unsettled)
		}
	}
}

// TestUnsettledStop: a stop that never turned depends on where the bars begin, however
// many there are; one that did does not.
func TestUnsettledStop(t *testing.T) {
	requests, err := indicators.Parse([]json.RawMessage{json.RawMessage(`"supertrend"`)})
	if err != nil {
		t.Fatal(err)
	}
	for swing, unsettled := range map[float64]bool{0: true, 40: false} {
		s := &market.Series{Symbol: "X", Interval: market.Hour1}
		for i := range 3000 {
			price := 100 + float64(i)/10 + swing*math.Sin(float64(i)/30)
			s.Append(market.Bar{Time: int64(i) * 3600, Open: price, High: price + 1, Low: price - 1, Close: price, Volume: 1})
		}
		v, err := compute(t.Context(), s, requests, 20)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := chart.Computed(v, "fetched", 3000).Newest(nil, 1)
		if got := strings.Contains(string(text), `"settled":false`); got != unsettled {
			t.Errorf("a stop in a market that swings by %v is unsettled: %t", swing, got)
		}
	}
}

// TestCatalogueOfRules: who asks for rules, conditions or backtests finds the
// entries for them first.
func TestCatalogueOfRules(t *testing.T) {
	for _, query := range []string{"rule", "combine several conditions", "backtest a strategy", "custom formula", "condition rsi and ema"} {
		var c catalogReply
		payload(t, Deps{}, "list_indicators", `{"query":`+encode(query)+`}`, &c)
		var names []string
		for _, ind := range c.Indicators {
			names = append(names, ind.Name)
		}
		if names = append(names, c.More...); !slices.Equal(names[:3], []string{"rule", "formula", "backtest"}) {
			t.Errorf("%s finds %v first", query, names)
		}
	}
}

// TestOtherMarkets: the bars of another market are loaded beside the chart's, and
// one that does not exist fails the call.
func TestOtherMarkets(t *testing.T) {
	d := Deps{Source: market.Sample{}}
	var s summary
	payload(t, d, "get_indicators", `{"symbol":"BTCUSDT","indicators":[{"name":"ratio","versus":"eth-usdt"},{"name":"ema","source":{"name":"beta_versus","versus":"ETHUSDT"}}]}`, &s)
	for _, key := range []string{"ratio", "ema"} {
		if lines := s.Indicators[key].Lines; len(lines) == 0 || lines[0].LastValue == nil {
			t.Errorf("%s has no value: %+v", key, s.Indicators[key])
		}
	}
	if _, err := call(t, d, "get_indicators", `{"symbol":"BTCUSDT","indicators":[{"name":"ratio","versus":"no such market"}]}`); err == nil {
		t.Error("a market that does not exist is compared with")
	}
}
