package indicators

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wick/indicators/rules"
	"wick/indicators/rules/rulestest"
	"wick/market"
)

// when returns a request for the entry rule.
func when(t *testing.T, text string) Request {
	t.Helper()
	raw, _ := json.Marshal(text)
	r, err := New("rule", map[string]json.RawMessage{"when": raw})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// formulaOf returns the values of an expression on s.
func formulaOf(t *testing.T, s *market.Series, text string) []float64 {
	t.Helper()
	raw, _ := json.Marshal(text)
	r, err := New("formula", map[string]json.RawMessage{"expr": raw})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r.Compute(s).Lines[0].Values
}

// TestEveryEntryIsAFunction: each entry can stand in an expression, alone, with
// its canonical text, and with every line by its name; or is refused for a reason
// that is told. Lines have distinct names.
func TestEveryEntryIsAFunction(t *testing.T) {
	s := world(300, 100)
	for ind := range All() {
		r, err := New(ind.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		name := ind.Name
		if rules.Builtin(name) {
			name = "ta." + name
		}
		if err := ind.readable(); err != nil {
			if _, parsed := rules.Parse(name, vocabulary{}); parsed == nil || !strings.Contains(parsed.Error(), err.Error()) {
				t.Errorf("%s: %v, want %v", name, parsed, err)
			}
			continue
		}
		lines := r.lineNames()
		seen := make(map[string]bool)
		for i, label := range lines {
			text := name + "." + lineKey(label)
			if seen[text] {
				t.Errorf("two lines are called %s", text)
			}
			seen[text] = true
			e, err := rules.Parse(text, vocabulary{})
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if again, err := rules.Parse(e.String(), vocabulary{}); err != nil || again.String() != e.String() {
				t.Errorf("%s is written as %s, which reads as %v, %v", text, e, again, err)
			}
			result := r.Compute(s)
			want := Values(nil)
			if i < len(result.Lines) {
				want = result.Lines[i].Values
			} else {
				want = result.Histogram[i-len(result.Lines)].Values
			}
			if got := formulaOf(t, s, text); !equalValues(got, want) {
				t.Errorf("%s is not the line of the chart", text)
			}
		}
		for _, label := range ind.Signals {
			// One that the defaults switch off is told of: it would never come.
			e, err := rules.Parse(fmt.Sprintf("signal(%s, %q)", name, label), vocabulary{})
			if err != nil || (e.Silent() != nil) != (r.Silent(label) != "") {
				t.Errorf("signal %s of %s: %v, set %q", label, name, err, r.Silent(label))
			}
		}
	}
}

func equalValues(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// TestExpressionNames: parameters by position and by name, and what is refused.
func TestExpressionNames(t *testing.T) {
	for text, want := range map[string]string{
		"rsi":                            "rsi(14)",
		"rsi(21)":                        "rsi(21)",
		"ema200":                         "ema(200)",
		"sma(20, hl2)":                   `sma(20, source="hl2")`,
		"macd(12,26,9).signal":           "macd(12, 26, 9).signal",
		"macd.hist":                      "macd(12, 26, 9).histogram",
		"bbands(length=20,mult=2).upper": "bbands(20, 2).upper",
		"adx.minus_di":                   "adx(14).minus_di",
		"ta.max(10)":                     "ta.max(10)",
		"stoch(14,3,3).k":                "stoch(14, 3, 3)",
	} {
		e, err := rules.Parse(text, vocabulary{})
		if err != nil || e.String() != want {
			t.Errorf("%s reads as %v, %v; want %s", text, e, err, want)
		}
	}
	for text, want := range map[string]string{
		"rsi(2000)":                 "out of bounds",
		"rsi(14, 3, 5, 6, 7, 8, 9)": "takes no further argument",
		"macd.upper":                "it has macd, signal, histogram",
		"volume_profile":            "column 1: volume_profile",
		"zigzag":                    "changes earlier values",
		"vwap_anchored":             "depends on where a chart begins",
		"rule":                      "cannot stand within an expression",
		"candles":                   "draws no line",
		"rsi(14, length=3)":         "twice",
		"rsi(14)@7x":                "unknown interval",
		"close:\"a b\"":             "letters, digits",
	} {
		if _, err := rules.Parse(text, vocabulary{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// besides returns s with bars beside it: days made of its own, and a second walk
// with holes and the days of that.
func besides(s *market.Series) *market.Series {
	r := rand.New(rand.NewPCG(4, 4))
	eth := like(s, func(_ int, b *market.Bar) { // around the same price, so that comparing the two says something
		f := math.Exp(0.02 * r.NormFloat64())
		b.Open, b.High, b.Low, b.Close = f*b.Open, f*b.High, f*b.Low, f*b.Close
	})
	gaps := &market.Series{Symbol: "ETH", Interval: s.Interval}
	for i := range eth.Len() {
		if r.IntN(10) > 0 {
			b := eth.Bar(i)
			b.Time = s.Time[i]
			gaps.Append(b)
		}
	}
	t := *s
	t.Others = map[market.Other]*market.Series{{Interval: market.Day1}: daily(s), {Symbol: "ETH"}: gaps, {Symbol: "ETH", Interval: market.Day1}: daily(gaps)}
	return &t
}

// TestPlaceAroundPlace: an interval around something computed from another one says on which
// bars that is computed. The last day of a week closes with it, so of its closes the weeks
// are the same as of the weeks themselves, and not those of days.
func TestPlaceAroundPlace(t *testing.T) {
	hours := &market.Series{Symbol: "AAA", Interval: market.Hour1}
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range 24 * 70 {
		price := 100 + 10*rng.Float64()
		hours.Append(market.Bar{Time: 1769990400 + int64(i)*3600, Open: price, High: price, Low: price, Close: price, Volume: 1}) // from a Monday
	}
	days := daily(hours)
	weeks := &market.Series{Symbol: "AAA", Interval: market.Week1}
	for i := 0; i+7 <= days.Len(); i += 7 {
		b := days.Bar(i)
		b.Close = days.Close[i+6]
		weeks.Append(b)
	}
	hours.Others = map[market.Other]*market.Series{{Interval: market.Day1}: days, {Interval: market.Week1}: weeks}
	for nested, plain := range map[string]string{"close@1d[2]@1wk": "close[2]@1wk", "highest(close@1d, 3)@1wk": "highest(close, 3)@1wk"} {
		got, want := formulaOf(t, hours, nested), formulaOf(t, hours, plain)
		if !equalValues(got, want) || math.IsNaN(got[len(got)-1]) {
			t.Errorf("%s is not %s", nested, plain)
		}
	}
	if equalValues(formulaOf(t, hours, "close@1d[2]@1wk"), formulaOf(t, hours, "close[2]@1d")) {
		t.Error("close@1d[2]@1wk is two days ago")
	}
}

// daily returns the days that s makes, the last of them forming.
func daily(s *market.Series) *market.Series {
	days := &market.Series{Symbol: s.Symbol, Interval: market.Day1, Forming: s.Len() > 0}
	for i := range s.Len() {
		b := s.Bar(i)
		b.Time = market.Day1.Start(b.Time)
		last := days.Len() - 1
		if last < 0 || days.Time[last] != b.Time {
			days.Append(b)
			continue
		}
		days.High[last], days.Low[last] = max(days.High[last], b.High), min(days.Low[last], b.Low)
		days.Close[last] = b.Close
		days.Volume[last] += b.Volume
	}
	return days
}

// until returns s as it was known when bar n-1 closed: later bars are gone, and
// those beside it that had not closed.
func until(s *market.Series, n int) *market.Series {
	t := *s.Slice(0, n)
	end := s.Interval.Next(s.Time[n-1])
	t.Others = make(map[market.Other]*market.Series)
	for key, o := range s.Others {
		closed := 0
		for closed < o.Len() && o.Interval.Next(o.Time[closed]) <= end {
			closed++
		}
		t.Others[key] = o.Slice(0, closed)
	}
	return &t
}

// TestRandomRules: for a thousand rules over the catalogue, other intervals and a
// market with gaps, what a bar shows when it closes is what it shows for ever.
func TestRandomRules(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	s := besides(world(900, 100))
	turned, rules := 0, 1000
	if testing.Short() {
		rules = 50
	}
	for k := range rules {
		request := when(t, rulestest.Condition(r, 2, "@1d", ":ETH", "@1d:ETH", "[3]"))
		whole := request.Compute(s)
		turned += len(whole.Signals)
		for _, n := range []int{s.Len() / 2, s.Len()/2 + 1 + k%24, s.Len() - 1} {
			part := request.Compute(until(s, n))
			if err := equal(part, whole, n); err != nil {
				t.Fatalf("%s, the first %d bars alone: %v", request.Label(), n, err)
			}
			if !slices.Equal(part.Shaded, whole.Shaded[:n]) {
				t.Fatalf("%s: the first %d bars alone are shaded otherwise", request.Label(), n)
			}
		}
	}
	if turned < 10*rules {
		t.Errorf("only %d signals in all rules", turned)
	}
}

// FuzzRule: whatever text is taken as a rule is computed without a panic, reads
// the same in its canonical form, and shows at each bar what it showed when the
// bar closed.
func FuzzRule(f *testing.F) {
	for _, text := range []string{
		"rsi(14) < 30 and close > ema(20)@1d", `signal(macd(5,13,4), "cross_up") or since(close:ETH > sma(3)) % 7 == 2`,
		"crosses_below(bbands(10,1).lower, donchian(9).middle[3])", "not (-volume / change(hl2, 4) >= ta.max(5))", "close@1d:ETH != highest(stoch.k, 500)",
	} {
		f.Add(text)
	}
	s := besides(world(200, 100))
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := json.Marshal(text)
		if err != nil {
			return
		}
		r, err := New("rule", map[string]json.RawMessage{"when": raw})
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Errorf("%d bytes of error", len(err.Error()))
			}
			return
		}
		e := r.Args.exprs["when"][0]
		if again, err := rules.Parse(e.String(), vocabulary{}); len(e.String()) <= rules.MaxText && (err != nil || again.String() != e.String()) {
			t.Errorf("%q is written as %s, which reads as %v, %v", text, e, again, err)
		}
		whole := r.Compute(s)
		if err := sound(r, whole, s.Len()); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if err := equal(r.Compute(until(s, 120)), whole, 120); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestRuleByHand: a rule marks the bars on which it turns, and a formula has a value on each.
func TestRuleByHand(t *testing.T) {
	s := closes(1, 3, 2, 4, 5, 1)
	r := when(t, "close > 2").Compute(s)
	if got, want := strings.Join(events(r), ", "), "1 becomes_true, 2 becomes_false, 3 becomes_true, 5 becomes_false"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []bool{false, true, false, true, true, false}; !slices.Equal(r.Shaded, want) {
		t.Errorf("shaded %v, want %v", r.Shaded, want)
	}
	if got, want := formulaOf(t, s, "2*close - close[1]"), []float64{nan, 5, 1, 6, 6, -3}; !same(got, want) {
		t.Errorf("formula %v, want %v", got, want)
	}
}

// TestRulesOnTies: a price that stands still for a while equals its own averages, and
// no rounding error makes it cross them, however many bars were before. The closes are
// ten-thousandths near 1, as of a currency that is pegged to another, so whole numbers tell
// what is true.
func TestRulesOnTies(t *testing.T) {
	r, price := rand.New(rand.NewPCG(3, 14)), 10_000
	var units []int
	var prices []float64
	for range 1000 {
		if r.IntN(6) == 0 {
			price += r.IntN(7) - 3
		}
		units, prices = append(units, price), append(prices, float64(price)/10_000)
	}
	above := func(i int) int { // five times the close minus its mean of five bars
		return 4*units[i] - units[i-1] - units[i-2] - units[i-3] - units[i-4]
	}
	for text, is := range map[string]func(i int) bool{
		"close > sma(5)":                    func(i int) bool { return above(i) > 0 },
		"close <= sma(5)":                   func(i int) bool { return above(i) <= 0 },
		"close == avg(close, 5)":            func(i int) bool { return above(i) == 0 },
		"close - sma(5) > 0":                func(i int) bool { return above(i) > 0 },
		"-sma(5) + close < 0":               func(i int) bool { return above(i) < 0 },
		"close crosses above sma(5)":        func(i int) bool { return above(i) > 0 && above(i-1) <= 0 },
		"close crosses below avg(close, 5)": func(i int) bool { return above(i) < 0 && above(i-1) >= 0 },
		"change(close, 3) != 0":             func(i int) bool { return units[i] != units[i-3] },
		"sum(change(close), 5) > 0":         func(i int) bool { return units[i] > units[i-5] },
	} {
		ties := 0
		for _, bars := range []int{200, 377, 1000} {
			from := len(prices) - bars
			shaded := when(t, text).Compute(closes(prices[from:]...)).Shaded
			for i := 10; i < bars; i++ {
				if want := is(from + i); shaded[i] != want {
					t.Fatalf("%s on bar %d of %d: %v, want %v; closes %v", text, i, bars, shaded[i], want, prices[from+i-6:from+i+1])
				}
				if above(from+i) == 0 {
					ties++
				}
			}
		}
		if ties < 100 {
			t.Errorf("only %d ties", ties)
		}
	}
}

// TestRuleSince: since and bars count from the bar on which the rule turned. If it
// has been as it is on every bar that could be judged, nobody knows when that began,
// and the facts say that it is at least so long.
func TestRuleSince(t *testing.T) {
	s := closes(10, 11, 12, 13, 14)
	for _, c := range []struct {
		name, when, since, bars string
		atLeast                 bool
	}{
		{"always true", "close > 0", "1970-01-01T00:00:00Z", "5", true},
		{"never true", "close > 20", "1970-01-01T00:00:00Z", "5", true},
		{"became true", "close > 11", "1970-01-01T00:00:02Z", "3", false},
		{"became false", "close < 12", "1970-01-01T00:00:02Z", "3", false},
		{"unknown before it was true", "close > close[2]", "1970-01-01T00:00:02Z", "3", true},
		{"unknown before it was false", "close < close[2]", "1970-01-01T00:00:02Z", "3", true},
		{"unknown on one bar between", "5 / (close - 12) > -9", "1970-01-01T00:00:03Z", "2", false},
		{"never known", "close > close[9]", "1970-01-01T00:00:00Z", "5", true},
	} {
		facts := make(map[string]string)
		for _, f := range when(t, c.when).Compute(s).Facts {
			facts[f.Name] = string(f.Value)
		}
		atLeast := ""
		if c.atLeast {
			atLeast = "true"
		}
		if facts["since"] != `"`+c.since+`"` || facts["bars"] != c.bars || facts["at_least"] != atLeast {
			t.Errorf("%s: %s: since %s, bars %s, at_least %q; want %s, %s, %q", c.name, c.when, facts["since"], facts["bars"], facts["at_least"], c.since, c.bars, atLeast)
		}
	}
}

// TestSpelledSymbols: an expression takes the usual spellings of a market in quotes, as
// the argument symbol does, and reads each again as it writes it. The notation of
// perpetuals, of which the part after the colon is another market, is refused.
func TestSpelledSymbols(t *testing.T) {
	for written, want := range map[string]string{
		`ETHUSDT`: "ETHUSDT", `"ETH/USDT"`: "ETH-USDT", `"eth/usdt"`: "ETH-USDT", `"ETH-USDT"`: "ETH-USDT", `^GSPC`: "^GSPC",
		`"BINANCE:ETHUSDT"`: "BINANCE:ETHUSDT", `"binance:eth/usdt"`: "BINANCE:ETH-USDT", `"NASDAQ:AAPL"`: "NASDAQ:AAPL",
	} {
		for again := range 2 {
			e, err := rules.Parse("close:"+written+" > 1", vocabulary{})
			if err != nil {
				t.Errorf("%s, reading %d: %v", written, again, err)
				break
			}
			if others := e.Others(); len(others) != 1 || others[0][0].Symbol != want {
				t.Errorf("%s, reading %d: %v, want %s", written, again, others, want)
			}
			if _, err := market.Resolve(market.Sample{}, e.Others()[0][0].Symbol); err != nil {
				t.Errorf("%s: no source takes %v: %v", written, e.Others(), err)
			}
			written = strconv.Quote(want)
		}
	}
	for written, says := range map[string]string{
		`"BTC/USDT:USDT"`: "perpetuals and other futures", `"BTC:USDT"`: "perpetuals", `"a b"`: "letters, digits", `"../x"`: "letters, digits", `"A:B:C"`: "letters, digits", `":"`: "letters, digits",
	} {
		if _, err := rules.Parse("close:"+written+" > 1", vocabulary{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want a refusal with %q", written, err, says)
		}
	}
}

// TestMarketAndInterval: a market and an interval after one value name one place, in
// either order, and the newest bar there counts that has closed: also while this market
// rests, and while the other one rests since before its last day ended.
func TestMarketAndInterval(t *testing.T) {
	hourly := func(symbol string, hours ...int) *market.Series {
		s := &market.Series{Symbol: symbol, Interval: market.Hour1}
		for _, hour := range hours {
			s.Append(market.Bar{Time: int64(hour) * 3600, Open: 1, High: 1, Low: 1, Close: float64(hour), Volume: 1})
		}
		return s
	}
	day := []int{14, 15, 16} // the hours of an exchange
	next := []int{38, 39, 40}
	always := make([]int, 49)
	for i := range always {
		always[i] = i
	}
	for name, c := range map[string]struct {
		own, other []int
		want       float64 // the close of the other market's newest day that has closed
	}{
		"the other rests":     {always, slices.Concat(day, next), 40}, // at 01:00 of the third day
		"this one rests":      {[]int{14, 15, 16, 49}, always, 47},
		"none rests":          {always, always, 47},
		"as its day ends":     {always[:48], slices.Concat(day, next), 40},
		"an hour before that": {always[:47], slices.Concat(day, next), 16},
	} {
		s, other := hourly("OWN", c.own...), hourly("ETH", c.other...)
		now := market.Hour1.Next(s.Time[s.Len()-1])
		days := func(s *market.Series) *market.Series {
			d := daily(s)
			d.Forming = market.Day1.Next(d.Time[d.Len()-1]) > now
			return d
		}
		s.Others = map[market.Other]*market.Series{{Interval: market.Day1}: days(s), {Symbol: "ETH"}: other, {Symbol: "ETH", Interval: market.Day1}: days(other)}
		for _, text := range []string{"close@1d:ETH", "close:ETH@1d", "(close@1d):ETH", "(close:ETH)@1d"} {
			if v := formulaOf(t, s, text); v[len(v)-1] != c.want {
				t.Errorf("%s: %s is %v, want %v", name, text, v[len(v)-1], c.want)
			}
		}
	}
}

// TestOtherFormingBars: beside a forming bar the forming bar of another market is read,
// though the days of their exchanges begin and end at other hours: a ratio of two markets
// now is one of their prices now. Closed bars read what was closed when they closed, and so
// does the forming one if the other market's forming bar is of its closed day before.
func TestOtherFormingBars(t *testing.T) {
	const day, hour = 86400, 3600
	days := func(symbol string, opening, offset int64, from, to int, forming bool) *market.Series {
		s := &market.Series{Symbol: symbol, Interval: market.Day1, Forming: forming}
		for i := from; i <= to; i++ {
			start := int64(i)*day + opening
			s.Append(market.Bar{Time: start, Open: 1, High: 9, Low: 1, Close: float64(i), Volume: 1})
			if offset != 0 {
				s.Delayed = append(s.Delayed, market.Delay{Start: start, Offset: offset})
			}
		}
		return s
	}
	newYork, london := days("OWN", 14*hour, 0, 1, 4, true), days("OTHER", 8*hour, 0, 1, 4, true)
	sydney, tokyo := days("OWN", 0, -hour, 1, 4, true), days("OTHER", 0, 0, 1, 4, true)
	hours := &market.Series{Symbol: "OWN", Interval: market.Hour1, Forming: true} // at 22:00 and 23:00 of day 3
	for i := range int64(2) {
		hours.Append(market.Bar{Time: 3*day + (22+i)*hour, Open: 1, High: 9, Low: 1, Close: 1, Volume: 1})
	}
	asOther := func(s *market.Series) *market.Series { t := *s; t.Symbol = "OTHER"; return &t }
	for _, c := range []struct {
		why        string
		own, other *market.Series
		want       []float64
	}{
		{"New York reads London", newYork, london, []float64{1, 2, 3, 4}},
		{"London reads New York", london, asOther(newYork), []float64{math.NaN(), 1, 2, 4}},
		{"London reads New York before it opens", london, days("OTHER", 14*hour, 0, 1, 3, true), []float64{math.NaN(), 1, 2, 3}},
		{"Sydney reads Tokyo", sydney, tokyo, []float64{math.NaN(), 1, 2, 4}},
		{"Tokyo reads Sydney", tokyo, asOther(sydney), []float64{1, 2, 3, 4}},
		{"New York reads yesterday's London", newYork, days("OTHER", 8*hour, 0, 1, 3, true), []float64{1, 2, 2, 2}},
		{"hours read days of New York, the last of which is complete and not closed", hours, days("OTHER", 14*hour, 0, 1, 3, false), []float64{2, 2}},
		{"New York, closed, reads London", days("OWN", 14*hour, 0, 1, 3, false), london, []float64{1, 2, 3}},
	} {
		s, text := *c.own, "close:OTHER"
		s.Others = map[market.Other]*market.Series{{Symbol: "OTHER"}: c.other}
		if c.own == hours {
			s.Others, text = map[market.Other]*market.Series{{Symbol: "OTHER", Interval: market.Day1}: c.other}, "close@1d:OTHER"
		}
		got := formulaOf(t, &s, text)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

// TestOtherBarsAreThoseRead: the facts of a rule name the places whose values it read and
// the bars of them, not those that it only passes on its way. This market rests while the
// other goes on: of a market and an interval of one value, in either order, the newest bar
// counts that has closed by now; what an expression on @4h reads of :ETH is as old as this
// market's last closed bar of 4h.
func TestOtherBarsAreThoseRead(t *testing.T) {
	bars := func(symbol string, iv market.Interval, hours ...int) *market.Series {
		s := &market.Series{Symbol: symbol, Interval: iv}
		for _, hour := range hours {
			s.Append(market.Bar{Time: int64(hour) * 3600, Open: 1, High: 1, Low: 1, Close: float64(1 + hour), Volume: 1})
		}
		return s
	}
	s := bars("OWN", market.Hour1, 0, 1, 2, 3, 12)
	s.Others = map[market.Other]*market.Series{
		{Interval: market.Hour4}:                bars("OWN", market.Hour4, 0),
		{Symbol: "ETH"}:                         bars("ETH", market.Hour1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
		{Symbol: "ETH", Interval: market.Hour4}: bars("ETH", market.Hour4, 0, 4, 8),
	}
	for _, c := range []struct {
		when, want string
		value      float64 // of what stands before the sign
	}{
		{"close@4h:ETH > 0", `{":ETH@4h":"1970-01-01T08:00:00Z"}`, 9},
		{"close:ETH@4h > 0", `{":ETH@4h":"1970-01-01T08:00:00Z"}`, 9},
		{"avg(close:ETH, 1)@4h > 0", `{":ETH@4h":"1970-01-01T00:00:00Z"}`, 1},
		{"avg(close:ETH, 1)@4h > close@4h:ETH", `{":ETH@4h":"1970-01-01T08:00:00Z"}`, 1}, // the newest that was read
		{"(close@4h + open):ETH > 0", `{":ETH":"1970-01-01T12:00:00Z",":ETH@4h":"1970-01-01T08:00:00Z"}`, 10},
		{"close@4h > 0", `{"@4h":"1970-01-01T00:00:00Z"}`, 1},
		{"close > 0", "", 13},
	} {
		r, got := when(t, c.when), ""
		for _, f := range r.Compute(s).Facts {
			if f.Name == OtherBars {
				got = string(f.Value)
			}
		}
		before, _, _ := strings.Cut(c.when, " > ")
		if v := formulaOf(t, s, before); got != c.want || v[len(v)-1] != c.value {
			t.Errorf("%s reads %v of %s, want %v of %s", c.when, v[len(v)-1], got, c.value, c.want)
		}
	}
}

// TestClockOfExchange: a rule reads the clock of the exchange, whose zone the source says;
// without one it is UTC. A daily bar has its date, which begins at midnight UTC.
func TestClockOfExchange(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 2, 14, 30, 0, 0, time.UTC).Unix() // a Monday, half past nine in New York
	for _, test := range []struct {
		zone *time.Location
		iv   market.Interval
		at   int64
		text string
		want float64
	}{
		{newYork, market.Minute15, at, "60 * hour + minute", 570},
		{nil, market.Minute15, at, "60 * hour + minute", 870},
		{nil, market.Minute15, at, `hour("Asia/Tokyo")`, 23},
		{newYork, market.Day1, at - at%86400, "10 * weekday + day", 12},
		{nil, market.Hour1, at, `line("2026-11-02T13:30", 10, "2026-11-02T15:30", 20)`, 15},
	} {
		s := &market.Series{Symbol: "AAA", Interval: test.iv, Zone: test.zone}
		s.Append(market.Bar{Time: test.at, Open: 1, High: 1, Low: 1, Close: 1, Volume: 1})
		if got := formulaOf(t, s, test.text); got[0] != test.want {
			t.Errorf("%s in %v at %s: %v, want %v", test.text, test.zone, test.iv, got[0], test.want)
		}
	}
}
