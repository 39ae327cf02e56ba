package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/chart"
	"wick/indicators"
	"wick/market"
	"wick/mcp"
)

// failing is a source that does not know one symbol.
type failing struct{ symbol string }

func (f *failing) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if q.Symbol == f.symbol {
		return nil, errors.New("no such symbol")
	}
	return market.Sample{}.At(q, fixedNow)
}

// TestScan: many symbols come as one table: a row for each, its cells under
// their columns and equal to what a call for that symbol alone gives; signals
// with their date and age; a symbol that fails by name.
func TestScan(t *testing.T) {
	d := Deps{Source: &failing{"BADUSDT"}}
	var table struct {
		Interval, Source string
		Columns          []string
		Rows             [][]any
		Failed           map[string]string
	}
	payload(t, d, "get_indicators", `{"symbols":["btcusdt","ETHUSDT","BADUSDT","BTCUSDT"],"indicators":["rsi","macd",{"name":"rsi","length":21}],"bars":60}`, &table)
	want := []string{"symbol", "date", "forming", "close", "change_24h", "rsi", "macd.MACD", "macd.Signal", "macd.histogram", "rsi#2", "change_24h_since", "signals"}
	if !slices.Equal(table.Columns, want) || table.Interval != "4h" || table.Source != "fetched" {
		t.Fatalf("got %+v", table)
	}
	if len(table.Rows) != 2 || table.Rows[1][0] != "ETHUSDT" || !strings.Contains(table.Failed["BADUSDT"], "no such symbol") {
		t.Fatalf("rows %v, failed %v", table.Rows, table.Failed)
	}
	var alone summary
	payload(t, d, "get_indicators", `{"symbol":"ETHUSDT","indicators":["rsi","macd"],"bars":60}`, &alone)
	if got, want := table.Rows[1][5], *alone.Indicators["rsi"].Lines[0].LastValue; got != want {
		t.Errorf("rsi of ETHUSDT is %v in the table, %v alone", got, want)
	}
	seen := 0
	for _, row := range table.Rows {
		for _, cell := range row[11].([]any) {
			s := cell.(map[string]any)
			at, err := time.Parse(time.RFC3339, s["date"].(string))
			last, _ := time.Parse(time.RFC3339, row[1].(string))
			if ago := s["bars_ago"].(float64); err != nil || ago >= 60 || last.Sub(at) != time.Duration(ago)*4*time.Hour {
				t.Errorf("%v: signal %v", row[0], s)
			}
			seen++
		}
	}
	if seen == 0 {
		t.Error("no signal in 60 bars of two symbols")
	}
	if _, err := call(t, d, "get_indicators", `{"symbols":"BADUSDT","indicators":"rsi"}`); err == nil || !strings.Contains(err.Error(), "no such symbol") {
		t.Errorf("nothing but failures: %v", err)
	}
	payload(t, d, "get_indicators", `{"symbols":["BTCUSDT","B T C!"],"symbol":"","indicators":"rsi"}`, &table)
	if len(table.Rows) != 1 || !strings.Contains(table.Failed["B T C!"], `bad symbol "B T C!"`) {
		t.Errorf("a malformed symbol: rows %v, failed %v", table.Rows, table.Failed)
	}
	for arguments, want := range map[string]string{`"symbols":["B T","!"]`: `bad symbol "B T"`, `"symbols":[]`: "symbol is required", `"symbols":""`: "symbol is required", `"symbols":[" "]`: "symbol is required", `"symbol":" "`: "symbol is required"} {
		if _, err := call(t, d, "get_indicators", `{`+arguments+`,"indicators":"rsi"}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", arguments, err, want)
		}
	}
}

// TestSignalBars: signals come from the newest 20 bars unless more are wanted,
// with their date and how many bars ago they were; the values do not depend on
// it.
func TestSignalBars(t *testing.T) {
	d := Deps{Source: &fixed{}}
	counts := make(map[int]int)
	var values []string
	for _, bars := range []int{20, 200, 1000} {
		var reply struct {
			Bars       int
			Indicators map[string]struct {
				Lines   json.RawMessage
				Signals []struct {
					X       int
					Date    time.Time
					BarsAgo int `json:"bars_ago"`
				}
			}
		}
		arguments := `{"symbol":"BTCUSDT","indicators":["macd"]}`
		if bars != signalBars {
			arguments = fmt.Sprintf(`{"symbol":"BTCUSDT","indicators":["macd"],"bars":%d}`, bars)
		}
		payload(t, d, "get_indicators", arguments, &reply)
		if reply.Bars != max(bars, computedBars) {
			t.Errorf("%d bars wanted, %d used", bars, reply.Bars)
		}
		newest := fixedNow.Truncate(4 * time.Hour)
		for _, s := range reply.Indicators["macd"].Signals {
			if s.BarsAgo >= bars || s.X != reply.Bars-1-s.BarsAgo || newest.Sub(s.Date) != time.Duration(s.BarsAgo)*4*time.Hour {
				t.Errorf("of %d bars: signal %+v", bars, s)
			}
		}
		counts[bars] = len(reply.Indicators["macd"].Signals)
		values = append(values, string(reply.Indicators["macd"].Lines))
	}
	if counts[20] >= counts[200] || counts[200] >= counts[1000] {
		t.Errorf("signals of 20, 200 and 1000 bars: %v", counts)
	}
	if values[0] != values[1] || values[0] != values[2] {
		t.Errorf("values differ: %q", values)
	}
}

// TestSignalsAreCounted: a reply that does not hold all signals says in the
// indicator's own object how many older ones there are, in the summary too; one
// that holds them all says nothing of it.
func TestSignalsAreCounted(t *testing.T) {
	d := Deps{Source: &fixed{}}
	type reply struct {
		Indicators map[string]struct {
			Signals []struct{ X int }
			Older   *int `json:"older_signals"`
		}
	}
	ask := func(tool, when string, bars int, more string) (shown, older int) {
		result, err := call(t, d, tool, fmt.Sprintf(`{"symbol":"BTCUSDT","indicators":[{"name":"rule","when":%q}],"bars":%d%s}`, when, bars, more))
		if err != nil {
			t.Fatal(err)
		}
		var r reply
		if err := json.Unmarshal(result.Content[0].Text, &r); err != nil {
			t.Fatal(err)
		}
		rule := r.Indicators["rule"]
		if rule.Older != nil {
			older = *rule.Older
		}
		return len(rule.Signals), older
	}
	s, err := market.Sample{}.At(market.Query{Symbol: "BTCUSDT", Interval: market.Hour4, Limit: 2001}, fixedNow)
	if err != nil {
		t.Fatal(err)
	}
	turns := 0 // of close > open, by hand, on the newest 2000 bars
	for i := 1; i < s.Len(); i++ {
		if (s.Close[i] > s.Open[i]) != (s.Close[i-1] > s.Open[i-1]) {
			turns++
		}
	}
	for tool, more := range map[string]string{"get_indicators": "", "generate_chart": `,"format":"summary"`} {
		if shown, older := ask(tool, "close > open", 2000, more); older == 0 || shown+older != turns {
			t.Errorf("%s shows %d signals and says that there are %d more, want %d in all", tool, shown, older, turns)
		}
		if shown, older := ask(tool, "close > open", 50, more); shown == 0 || older != 0 {
			t.Errorf("%s shows %d signals of 50 bars and says that there are %d more", tool, shown, older)
		}
	}
}

// TestBacktestReply: a backtest answers with its facts in less than a thousand tokens, of
// three characters at the least, however many trades it made; the trades come when they are
// asked for, in pages that fit into a reply and miss none.
func TestBacktestReply(t *testing.T) {
	const test = `{"symbol":"BTCUSDT","bars":5000,"indicators":[{"name":"backtest","enter":"close > open","stop_loss":4,"split":0.7%s}]}`
	var r struct {
		Indicators struct {
			Backtest struct {
				Facts struct {
					Result struct{ Trades int }
					Trades struct {
						Rows [][]any
						Next string
					}
				}
			}
		}
	}
	result, err := call(t, Deps{Source: &fixed{}}, "get_indicators", fmt.Sprintf(test, ""))
	if err != nil || len(result.Content) != 1 || len(result.Content[0].Text) > 3000 {
		t.Fatalf("%v, %d texts, the first of %d characters", err, len(result.Content), len(result.Content[0].Text))
	}
	seen := make(map[string]bool)
	total := 0
	for next := ""; ; {
		r.Indicators.Backtest.Facts.Trades.Next = ""
		result, err := call(t, Deps{Source: &fixed{}}, "get_indicators", fmt.Sprintf(test, `,"trades":true`+next))
		if err != nil || len(result.Content[0].Text) > replySize {
			t.Fatalf("%s: %v, %d characters", next, err, len(result.Content[0].Text))
		}
		if err := json.Unmarshal(result.Content[0].Text, &r); err != nil {
			t.Fatal(err)
		}
		facts := r.Indicators.Backtest.Facts
		for _, row := range facts.Trades.Rows {
			seen[encode(row)] = true
		}
		total = facts.Result.Trades
		if facts.Trades.Next == "" {
			break
		}
		next = strings.Replace(facts.Trades.Next, "skip ", `,"skip":`, 1)
	}
	if total < 500 || len(seen) != total {
		t.Errorf("%d of %d trades came", len(seen), total)
	}
}

// TestOlderSignals: a reply holds as many signals as it has room for, whatever number of
// bars they are of, and by following its advice a client comes to those that it left out.
func TestOlderSignals(t *testing.T) {
	d := Deps{Source: &fixed{}}
	advised := regexp.MustCompile(`^(\d+) older signals and divergences were left out: .*generate_chart with format=summary and to=(\d+) returns`)
	ask := func(tool, more string) (dates []string, size, left int, to string) {
		t.Helper()
		result, err := call(t, d, tool, `{"symbol":"BTCUSDT","indicators":["candles"]`+more+`}`)
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			Indicators map[string]struct {
				Signals []struct{ Date, Label string }
			}
		}
		if err := json.Unmarshal(result.Content[0].Text, &r); err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Indicators["candles"].Signals {
			dates = append(dates, s.Date+" "+s.Label)
		}
		if len(result.Content) > 1 {
			said := advised.FindSubmatch(result.Content[1].Text)
			if said == nil {
				t.Fatalf("%s", result.Content[1].Text)
			}
			left, _ = strconv.Atoi(string(said[1]))
			to = string(said[2])
		}
		return dates, len(result.Content[0].Text), left, to
	}
	for _, bars := range []int{200, 1000} {
		all, size, left, to := ask("get_indicators", fmt.Sprintf(`,"bars":%d`, bars))
		if total := len(all) + left; left == 0 || size > replySize || size < replySize*9/10 {
			t.Errorf("%d bars: %d of %d signals in %d characters", bars, len(all), total, size)
		}
		// Page by page, until all that was left out has come.
		for want := len(all) + left; len(all) < want; {
			page, _, more, next := ask("generate_chart", fmt.Sprintf(`,"bars":%d,"format":"summary","to":%s`, bars, to))
			before := len(all)
			for _, s := range slices.Backward(page) {
				if len(all) < want && !slices.Contains(all, s) {
					all = append(all, s)
				}
			}
			if len(all) == before || more == 0 && len(all) < want {
				t.Fatalf("%d bars: to=%s brings no signal that was left out: %d of %d", bars, to, len(all), want)
			}
			to = next
		}
	}
}

// TestChartsOnlyFetches: who may not trade does not learn which symbols the
// engine watches.
func TestChartsOnlyFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		charts := trader
		charts.Scope = "charts"
		for want, caller := range map[string]struct{ scope string }{"fetched": {"charts"}, "engine_cache": {trader.Scope}} {
			charts.Scope = caller.scope
			var s summary
			if d.reply(charts, "get_indicators", `{"symbol":"BTCUSDT","indicators":["sma"]}`, &s); s.Source != want {
				t.Errorf("a token with %q sees %q", caller.scope, s.Source)
			}
		}
	})
}

// TestScanRule: with a rule the table says who makes it true, since when, and the
// values it compares; those come first, or what the expression ranks highest. A
// list of the operator's stands for its symbols.
func TestScanRule(t *testing.T) {
	d := Deps{Source: &failing{}, Watchlists: map[string][]string{"majors": {"BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "ADAUSDT"}}}
	type scan struct {
		Columns []string
		Rows    [][]any
	}
	var table scan
	payload(t, d, "get_indicators", `{"symbols":"@majors","interval":"1h","indicators":[{"name":"rule","when":"rsi(14) > 50 and close > ema(20)@4h"}]}`, &table)
	want := []string{"symbol", "date", "forming", "close", "change_24h", "rule.true", "rule.since", "rule.bars", "rule.rsi(14)", "rule.close", "rule.ema(20)@4h", "change_24h_since", "signals"}
	if !slices.Equal(table.Columns, want) || len(table.Rows) != 5 {
		t.Fatalf("got %+v", table)
	}
	falseSeen := false
	for _, row := range table.Rows {
		is := row[5].(bool)
		if is && falseSeen || is != (row[8].(float64) > 50 && row[9].(float64) > row[10].(float64)) || row[9] != row[3] {
			t.Errorf("row %v", row)
		}
		falseSeen = falseSeen || !is
	}
	if !falseSeen || !table.Rows[0][5].(bool) {
		t.Errorf("all are the same: %v", table.Rows)
	}
	for sort, sign := range map[string]float64{"rsi(14)": 1, "-rsi(14)": -1} {
		var ranked scan
		payload(t, d, "get_indicators", `{"symbols":["@majors","BNBUSDT"],"interval":"1h","indicators":["rsi"],"sort":"`+sort+`"}`, &ranked)
		at := slices.Index(ranked.Columns, "sort")
		for i, row := range ranked.Rows {
			if row[at].(float64) != sign*row[5].(float64) || i > 0 && row[at].(float64) > ranked.Rows[i-1][at].(float64) {
				t.Errorf("%s: row %v", sort, row)
			}
		}
		if len(ranked.Rows) != 6 {
			t.Errorf("%s: %v", sort, ranked.Rows)
		}
	}
	for _, sort := range []string{"change(obv(20), 10)", "nvi(1000, 255) / nvi(1000, 255)[10]", "obv - avg(obv, 5) asc"} {
		if _, err := call(t, d, "get_indicators", `{"symbols":"@majors","indicators":["rsi"],"sort":"`+sort+`"}`); err != nil {
			t.Errorf("%s: %v", sort, err)
		}
	}
	for arguments, want := range map[string]string{
		`"symbols":"@minors","indicators":["rsi"]`:                                                          "there are @majors",
		`"symbols":"@majors","indicators":["rsi"],"sort":"rsy()"`:                                           "sort: ",
		`"symbols":"@majors","indicators":["rsi"],"sort":"obv / volume"`:                                    "take how it moved, as in change(obv(20), 10)",
		`"symbols":"@majors","indicators":["rsi"],"sort":"nvi asc"`:                                         "as in nvi(1000, 255) / nvi(1000, 255)[10]",
		`"symbols":"@majors","indicators":["rsi"],"sort":"vwap(anchor=\"none\")"`:                           "set anchor to day",
		`"symbols":"@majors","indicators":["rsi"],"sort":"close; open"`:                                     "sort: bad indicator parameter: 2 expressions cannot rank: give one",
		`"symbols":"@majors","indicators":["rsi"],"sort":"asc"`:                                             "sort: ",
		`"symbols":"@majors","indicators":["rsi"],"sort":"barssince(signal(rsi(14), \"hidden_bull_div\"))"`: "never emits",
	} {
		if _, err := call(t, d, "get_indicators", `{`+arguments+`}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
}

// closedFor is a source whose markets are all open but one, whose newest bar has
// closed.
type closedFor struct{ symbol string }

func (f closedFor) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	s, err := market.Sample{}.At(q, fixedNow)
	if err == nil {
		s.Forming = s.Symbol != f.symbol
	}
	return s, err
}

// TestScanForming: each row says whether its newest bar, on which a rule is
// judged, may still change.
func TestScanForming(t *testing.T) {
	var table struct {
		Columns []string
		Rows    [][]any
	}
	payload(t, Deps{Source: closedFor{"AAPL"}}, "get_indicators",
		`{"symbols":["BTCUSDT","AAPL"],"interval":"1h","indicators":[{"name":"rule","when":"close > 0"}]}`, &table)
	at := slices.Index(table.Columns, "forming")
	if at < 0 || len(table.Rows) != 2 {
		t.Fatalf("got %+v", table)
	}
	for _, row := range table.Rows {
		if row[at] != (row[0] != "AAPL") {
			t.Errorf("row %v", row)
		}
	}
}

// TestScanSort: the direction may be said in words, as people write it. The column
// shows the value itself, and rows without one come last either way: here those
// whose price fell, for which it divides by zero. Signals of the ranking are not
// among those that were asked for.
func TestScanSort(t *testing.T) {
	const rank = "1 / max(0, change(close, 3))"
	for words, highest := range map[string]bool{"": true, " desc": true, "  DESCENDING": true, " asc": false, " Ascending ": false} {
		var table struct {
			Columns []string
			Rows    [][]any
		}
		payload(t, Deps{Source: &failing{}}, "get_indicators", `{"symbols":["BTCUSDT","ETHUSDT","SOLUSDT","XRPUSDT","ADAUSDT","DOGEUSDT"],
			"interval":"1h","bars":200,"indicators":[{"name":"formula","expr":"`+rank+`"}],"sort":"`+rank+words+`"}`, &table)
		value, at, signals := slices.Index(table.Columns, "formula"), slices.Index(table.Columns, "sort"), len(table.Columns)-1
		var ranked []float64
		for i, row := range table.Rows {
			v, known := row[at].(float64)
			if row[at] != row[value] || known && len(ranked) < i {
				t.Errorf("%q: row %v", words, row)
			}
			if known {
				ranked = append(ranked, v)
			}
			for _, g := range row[signals].([]any) {
				if g.(map[string]any)["indicator"] == "sort" {
					t.Errorf("%q: signal %v", words, g)
				}
			}
		}
		if highest {
			slices.Reverse(ranked)
		}
		if len(table.Rows) != 6 || len(ranked) < 2 || len(ranked) == 6 || !slices.IsSorted(ranked) {
			t.Errorf("%q: ranked %v of %v", words, ranked, table.Rows)
		}
	}
}

// TestScanSortByChange: the column change_24h, which is no expression, is an order
// too. For short bars more are fetched, until they reach back a day, and the values of
// the indicators stay what they are without that; for bars longer than a day there is
// no such change, and the refusal says what would be right. A table in which the change
// is null says why.
func TestScanSortByChange(t *testing.T) {
	const scan = `{"symbols":["BTCUSDT","ETHUSDT","SOLUSDT","XRPUSDT"],"interval":%q,"indicators":["rsi","volume_profile"]%s}`
	type table struct {
		Columns []string
		Rows    [][]any
		Note    string
	}
	for _, interval := range []market.Interval{market.Minute1, market.Minute3, market.Minute5, market.Hour1, market.Day1} {
		var plain, sorted table
		payload(t, Deps{Source: &failing{}}, "get_indicators", fmt.Sprintf(scan, interval, ""), &plain)
		payload(t, Deps{Source: &failing{}}, "get_indicators", fmt.Sprintf(scan, interval, `,"sort":"change_24h asc"`), &sorted)
		at := slices.Index(sorted.Columns, "change_24h")
		change := func(row []any) float64 {
			if v, ok := row[at].(float64); ok {
				return v
			}
			t.Errorf("%s: no change of %v", interval, row[0])
			return 0
		}
		if len(sorted.Rows) != 4 || !slices.IsSortedFunc(sorted.Rows, func(a, b []any) int { return cmp.Compare(change(a), change(b)) }) {
			t.Errorf("%s: %v", interval, sorted.Rows)
		}
		// 200 bars of five minutes are less than 17 hours.
		short := interval.Seconds() <= market.Minute5.Seconds()
		if told := strings.Contains(plain.Note, "do not reach back a day"); told != short || (plain.Rows[0][at] == nil) != short || sorted.Note != "" {
			t.Errorf("%s: change %v with the note %q, and sorted by it %q", interval, plain.Rows[0][at], plain.Note, sorted.Note)
		}
		// The same row has the same values, whether or not a day was fetched for the order.
		for _, row := range sorted.Rows {
			i := slices.IndexFunc(plain.Rows, func(other []any) bool { return other[0] == row[0] })
			since := slices.Index(sorted.Columns, "change_24h_since") // of the change
			row[since], plain.Rows[i][since] = nil, nil
			if got, want := encode(row[at+1:]), encode(plain.Rows[i][at+1:]); got != want {
				t.Errorf("%s: %v has %s, and without sort %s", interval, row[0], got, want)
			}
		}
	}
	for _, interval := range []market.Interval{market.Day3, market.Week1, market.Month1} {
		var plain table
		payload(t, Deps{Source: &failing{}}, "get_indicators", fmt.Sprintf(scan, interval, ""), &plain)
		if !strings.Contains(plain.Note, "or are longer than one") {
			t.Errorf("%s: the note is %q", interval, plain.Note)
		}
		_, err := call(t, Deps{Source: &failing{}}, "get_indicators", fmt.Sprintf(scan, interval, `,"sort":"change_24h"`))
		if err == nil || !strings.Contains(err.Error(), "sort change_24h needs bars of a day or shorter, and these are of "+string(interval)+": take interval 1d or a shorter one") {
			t.Errorf("%s: %v", interval, err)
		}
	}
}

// TestScanMany: of two hundred symbols the reply has the first rows in their order and names
// the others, and says so in a second text; calls for those that were left out come to the
// end with the same rows as one call would have. Symbols that fail count as well.
func TestScanMany(t *testing.T) {
	var symbols, wrong []string
	for i := range maxSymbols {
		symbols = append(symbols, fmt.Sprintf("SYM%dUSDT", i))
		wrong = append(wrong, fmt.Sprintf("%s/%d!", strings.Repeat("x", 40), i))
	}
	for _, tt := range []struct {
		name, arguments string
		symbols         []string
		falling         int // column by which the rows fall; 0 for the order that was given
	}{
		{"plain", `"interval":"1h","indicators":["rsi"]`, symbols, 0},
		{"sorted", `"interval":"1h","indicators":["rsi"],"sort":"rsi(14)"`, symbols, 5},
		{"many columns", `"indicators":["rsi","macd","bbands","ichimoku","supertrend","adx"]`, symbols, 0},
		{"failed", `"indicators":["rsi"]`, append(wrong[1:], "BTCUSDT"), 0},
	} {
		var seen []string
		for rest := tt.symbols; len(rest) > 0; {
			var table struct {
				Rows    [][]any
				Failed  map[string]string
				LeftOut []string `json:"left_out"`
			}
			r, err := call(t, Deps{Source: &failing{}}, "get_indicators", `{"symbols":`+encode(rest)+`,`+tt.arguments+`}`)
			if err != nil && len(seen) > 0 && tt.name == "failed" {
				break // all that are left fail, which is one refusal
			}
			if err != nil || json.Unmarshal(r.Content[0].Text, &table) != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if n := len(r.Content[0].Text); n > replySize+500 {
				t.Errorf("%s: %d characters for %d symbols", tt.name, n, len(rest))
			}
			got := len(table.Rows) + len(table.Failed)
			if got == 0 || got+len(table.LeftOut) != len(rest) {
				t.Fatalf("%s: %d of %d symbols answered, %d left out", tt.name, got, len(rest), len(table.LeftOut))
			}
			said := len(r.Content) == 2 && strings.HasPrefix(string(r.Content[1].Text), fmt.Sprintf("%d more of %d symbols", len(table.LeftOut), len(rest)))
			if said != (len(table.LeftOut) > 0) {
				t.Errorf("%s: %d are left out and the reply says %s", tt.name, len(table.LeftOut), r.Content[1:])
			}
			for i, row := range table.Rows {
				if seen = append(seen, row[0].(string)); tt.falling > 0 && i > 0 && table.Rows[i-1][tt.falling].(float64) < row[tt.falling].(float64) {
					t.Errorf("%s: row %d is out of order", tt.name, i)
				}
			}
			for symbol := range table.Failed {
				seen = append(seen, symbol)
			}
			rest = table.LeftOut
		}
		if tt.name == "plain" && !slices.Equal(seen, symbols) {
			t.Errorf("%s: the rows came as %q", tt.name, seen)
		}
		if slices.Sort(seen); tt.name != "failed" && len(slices.Compact(seen)) != maxSymbols {
			t.Errorf("%s: %d symbols came", tt.name, len(slices.Compact(seen)))
		}
	}
}

// away is a source that answers every question with this error.
type away string

func (a away) Bars(context.Context, market.Query) (*market.Series, error) {
	return nil, errors.New(string(a))
}

// TestScanAllFail: a scan of which every symbol fails names them with their reasons, the
// first ten, and says how many more there are.
func TestScanAllFail(t *testing.T) {
	var many []string
	for i := range maxSymbols {
		many = append(many, fmt.Sprintf("M%03dUSDT", i))
	}
	for _, c := range []struct {
		name    string
		reason  string
		symbols []string
		named   int // of the symbols, the first ones
	}{
		{"two", "no such symbol", []string{"AAAUSDT", "BBBUSDT"}, 2},
		{"all", "no such symbol", many, 10},
		{"long reasons", strings.Repeat("x", 988), many, 10},
		{"malformed", "no such symbol", []string{"A!", "AAAUSDT", "B!"}, 3},
		{"all malformed", "", []string{"A!", "B!"}, 2},
	} {
		_, err := call(t, Deps{Source: away(c.reason)}, "get_indicators", `{"symbols":`+encode(c.symbols)+`,"indicators":"rsi"}`)
		if err == nil || !strings.HasPrefix(err.Error(), "no symbol could be computed: ") || len(err.Error()) > replySize+100 {
			t.Errorf("%s: %.300v", c.name, err)
			continue
		}
		for i, symbol := range c.symbols {
			if got := strings.Contains(err.Error(), symbol+": "); got != (i < c.named) {
				t.Errorf("%s: it is %v that %s is named: %.300v", c.name, got, symbol, err)
			}
		}
		more := fmt.Sprintf(", and %d more", len(c.symbols)-c.named)
		if strings.HasSuffix(err.Error(), more) != (c.named < len(c.symbols)) {
			t.Errorf("%s: it does not end with %q", c.name, more)
		}
	}
}

// TestScanHistograms: of an indicator with several histograms the table has each.
func TestScanHistograms(t *testing.T) {
	d := Deps{Source: &failing{}}
	var table struct {
		Columns []string
		Rows    [][]any
	}
	payload(t, d, "get_indicators", `{"symbols":["BTCUSDT"],"indicators":["elder_ray","gator"]}`, &table)
	want := []string{"symbol", "date", "forming", "close", "change_24h", "elder_ray.Bull", "elder_ray.Bear", "gator.Upper", "gator.Lower", "change_24h_since", "signals"}
	if !slices.Equal(table.Columns, want) {
		t.Errorf("columns %q, want %q", table.Columns, want)
	}
	for i, cell := range table.Rows[0][5:9] {
		if v, ok := cell.(float64); !ok || v == 0 {
			t.Errorf("%s is %v", want[5+i], cell)
		}
	}
}

// TestScanLevels: an indicator that has nothing but levels has a column for each, with the
// value that a call for the symbol alone gives; several of one name are numbered.
func TestScanLevels(t *testing.T) {
	d := Deps{Source: &failing{}}
	for name, want := range map[string]string{
		"volume_profile": "POC VAH VAL", "tpo": "POC VAH VAL", "fibonacci_retracement": "0% 23.6% 38.2% 50% 61.8% 78.6% 100%", "hvn_lvn": "HVN LVN LVN#2",
	} {
		var table struct {
			Columns []string
			Rows    [][]any
		}
		var alone struct {
			Indicators map[string]struct{ HLines []struct{ Y float64 } }
		}
		payload(t, d, "get_indicators", `{"symbols":["BTCUSDT"],"indicators":["`+name+`"]}`, &table)
		payload(t, d, "get_indicators", `{"symbol":"BTCUSDT","indicators":["`+name+`"]}`, &alone)
		columns := table.Columns[5 : len(table.Columns)-2]
		for i, label := range strings.Fields(want) {
			if i >= len(columns) || columns[i] != name+"."+label {
				t.Fatalf("columns %q, want %s of %s", columns, want, name)
			}
		}
		for i, level := range alone.Indicators[name].HLines {
			if table.Rows[0][5+i] != level.Y {
				t.Errorf("%s is %v in the table, %v alone", columns[i], table.Rows[0][5+i], level.Y)
			}
		}
		if n := len(alone.Indicators[name].HLines); n != len(columns) {
			t.Errorf("%s has %d levels, the table %q", name, n, columns)
		}
	}
}

// BenchmarkScan scans two hundred symbols whose bars are in memory.
func BenchmarkScan(b *testing.B) {
	d := Deps{Source: market.Cached(&failing{})}
	var symbols []string
	for i := range maxSymbols {
		symbols = append(symbols, fmt.Sprintf("SYM%dUSDT", i))
	}
	tool := newHandlers(d).getIndicators()
	call := mcp.Call{Arguments: json.RawMessage(`{"symbols":` + encode(symbols) + `,"indicators":[{"name":"rule","when":"rsi(14) < 30 and close > ema(200)"}]}`)}
	if _, err := tool.Handle(b.Context(), call); err != nil { // the bars are cached from here on
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := tool.Handle(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSummary computes three indicators, one of them with a long history, from bars in
// memory, and sums them up: as get_indicators does, and as generate_chart.
func BenchmarkSummary(b *testing.B) {
	h := newHandlers(Deps{Source: market.Cached(market.Sample{})})
	for _, bb := range []struct {
		tool tool
		call mcp.Call
	}{
		{h.getIndicators(), mcp.Call{Arguments: json.RawMessage(`{"symbol":"BTCUSDT","indicators":["ema_stack","rsi","macd"]}`)}},
		{h.generateChart(), mcp.Call{Arguments: json.RawMessage(`{"symbol":"BTCUSDT","indicators":["ema_stack","rsi","macd"],"format":"summary"}`)}},
	} {
		b.Run(bb.tool.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bb.tool.Handle(b.Context(), bb.call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLongSummary shortens a summary of more signals than fit. It fails when that takes as
// long as writing the summary once more would.
func BenchmarkLongSummary(b *testing.B) {
	requests, err := indicators.Parse([]json.RawMessage{json.RawMessage(`"rsi"`), json.RawMessage(`"macd"`), json.RawMessage(`"ema_stack"`)})
	if err != nil {
		b.Fatal(err)
	}
	s, err := market.Sample{}.At(market.Query{Symbol: "X", Interval: market.Hour1, Limit: maxBars}, fixedNow)
	if err != nil {
		b.Fatal(err)
	}
	v, err := compute(b.Context(), s, requests, maxBars)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		written, shortened := time.Hour, time.Hour
		for range 50 { // in turn, so that a busy machine slows both
			start := time.Now()
			summary := chart.Summarize(v)
			once := time.Since(start)
			content := bounded(summary, s, replySize)
			written, shortened = min(written, once), min(shortened, time.Since(start)-once)
			if len(content) != 2 {
				b.Fatal("nothing was left out")
			}
		}
		ratio := float64(shortened) / float64(written)
		b.ReportMetric(ratio, "shorten/write")
		if ratio > 0.7 {
			b.Errorf("shortening takes %.2f of the time of writing", ratio)
		}
	}
}
