package indicators

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"wick/indicators/kernel"
	"wick/market"
)

// evidence is what the vectors prove: by entry the functions of TA-Lib, of
// TradingView and of pandas-ta that it equals or differs from (unlike has those of TA-Lib
// whose values it shows otherwise); and, by entry and by
// the settings of ours that they imply, the libraries that give its values.
type evidence struct {
	talib, unlike, tradingView, pandas map[string]string
	libraries                          map[string]map[string][]string
}

// judged reads the vectors for what they prove.
func judged(t *testing.T) evidence {
	t.Helper()
	found := evidence{talib: make(map[string]string), unlike: make(map[string]string), tradingView: make(map[string]string), pandas: make(map[string]string), libraries: make(map[string]map[string][]string)}
	for _, file := range vectorFiles(t) {
		for _, c := range readVectors(t, file) {
			how := vectors[c.Function]
			switch {
			case how.entry == "":
			case c.Group == "pine" || c.Group == "script" || c.Group == "expression":
				also(found.tradingView, how.entry, how.related(c.Function))
			case c.Group == "pandas-ta":
				also(found.pandas, how.entry, how.related(strings.TrimPrefix(c.Function, "pta.")))
			case c.Libraries == nil && how.differs != "":
				also(found.unlike, how.entry, how.related(c.Function))
			case c.Libraries == nil:
				also(found.talib, how.entry, how.told(c.Function))
			default:
				if slices.Contains(c.Libraries, "pandas-ta-classic") {
					also(found.pandas, how.entry, "equal"+how.told(""))
				}
			}
			found.credit(how, c)
		}
	}
	for entry, words := range found.pandas {
		found.pandas[entry] = shortest(words)
	}
	return found
}

// credit notes which libraries gave the values of a case that the entry equals. An
// expression of ours that another program computed is no library's function, and
// counts for none.
func (found evidence) credit(how cover, c vectorCase) {
	libraries := map[string][]string{"pine": {"pinets"}, "script": {"lightweight-charts-indicators"}, "pandas-ta": {"pandas-ta-classic"}}[c.Group]
	if libraries = append(libraries, c.Libraries...); len(libraries) == 0 || how.entry == "" || how.differs != "" {
		return
	}
	if found.libraries[how.entry] == nil {
		found.libraries[how.entry] = make(map[string][]string)
	}
	list := append(found.libraries[how.entry][fmt.Sprint(how.fixed)], libraries...)
	slices.Sort(list)
	found.libraries[how.entry][fmt.Sprint(how.fixed)] = slices.Compact(list)
}

// also adds words to what is known of an entry, in alphabetical order.
func also(known map[string]string, entry, words string) {
	var list []string
	if known[entry] != "" {
		list = strings.Split(known[entry], "; ")
	}
	if !slices.Contains(list, words) {
		list = append(list, words)
	}
	slices.Sort(list)
	known[entry] = strings.Join(list, "; ")
}

// shortest leaves of several relations to pandas-ta the one that is said in the
// fewest words: "equal" beside "equal with variant window".
func shortest(words string) string {
	return slices.MinFunc(strings.Split(words, "; "), func(a, b string) int { return len(a) - len(b) })
}

// related writes how the entry relates to a function.
func (how cover) related(function string) string {
	if how.differs != "" {
		return "differs from " + function + ": " + how.differs
	}
	return "equal to " + how.told(function)
}

// told writes a function with the parameters that make the entry equal.
func (how cover) told(function string) string {
	if strings.HasPrefix(function, "CDL") {
		return "CDL*"
	}
	var with []string
	for _, key := range slices.Sorted(maps.Keys(how.fixed)) {
		with = append(with, key+" "+how.fixed[key])
	}
	if how.times != 0 {
		function += fmt.Sprintf(" times %g", 1/how.times)
	}
	if len(with) > 0 {
		function += " with " + strings.Join(with, ", ")
	}
	if how.from > 0 {
		function += ", begins differently"
	}
	return function
}

// TestCompared: what compared.txt says of the three programs is what the vectors prove, no
// more and no less. What follows ", except" is not in the vectors.
func TestCompared(t *testing.T) {
	found := judged(t)
	// Neither TA-Lib's percent_rank nor the forms of pandas-ta that give no value for each
	// bar are in the vectors.
	unproven := map[string]bool{"ta_lib percent_rank": true, "pandas_ta linreg_channel": true, "pandas_ta liquidity_sweep": true, "pandas_ta max_drawdown": true,
		"pandas_ta sharpe": true, "pandas_ta sortino": true, "pandas_ta td_sequential": true, "pandas_ta volume_profile": true}
	for name, row := range comparisons() {
		talib := found.unlike[name]
		if words := found.talib[name]; words != "" {
			talib = "equal to " + words
		}
		for i, program := range []struct{ name, shown string }{{"ta_lib", talib}, {"tradingview", found.tradingView[name]}, {"pandas_ta", found.pandas[name]}} {
			says, _, _ := strings.Cut(row.says[i], ", except ")
			if strings.HasPrefix(says, "~") || strings.HasPrefix(says, "not verified: ") || unproven[program.name+" "+name] {
				says = ""
			}
			if says != program.shown {
				t.Errorf("compared.txt says %q of %s and %s, and the vectors prove %q", says, name, program.name, program.shown)
			}
		}
	}
}

// TestComparedKinds: of every entry there is one line in compared.txt, with statements of the
// kinds that it names, and of no other names.
func TestComparedKinds(t *testing.T) {
	for ind := range All() {
		if _, ok := comparisons()[ind.Name]; !ok {
			t.Errorf("%s is not in compared.txt", ind.Name)
		}
		for program, words := range ind.Compared() {
			kinds := []string{"equal", "differs from ", "not verified: ", "TA-Lib has none", "TradingView has none", "pandas-ta has none"}
			if !slices.ContainsFunc(kinds, func(prefix string) bool { return strings.HasPrefix(words, prefix) }) {
				t.Errorf("compared.txt says %q of %s and %s, which is none of the kinds that it names", words, ind.Name, program)
			}
		}
	}
	if n := len(slices.Collect(All())); len(comparisons()) != n {
		t.Errorf("compared.txt has %d entries, the catalogue %d", len(comparisons()), n)
	}
}

// TestExceptions: "equal" is said with the ties and degenerate windows in which it is not so.
func TestExceptions(t *testing.T) {
	for _, name := range []string{"imi", "efficiency_ratio", "vortex", "vwma", "mass_index", "rvi_volatility", "adx"} {
		if words := byName()[name].Compared()["ta_lib"]; !strings.Contains(words, ", except ") {
			t.Errorf("%s says %q of TA-Lib, without the exceptions", name, words)
		}
	}
	if words := byName()["supertrend"].Compared()["pandas_ta"]; !strings.Contains(words, ", except ") {
		t.Errorf("supertrend says %q of pandas-ta, whose flips are on other bars", words)
	}
}

// TestNoneAtTradingView: an entry of which TradingView is said to have none bears no
// name of what it has.
func TestNoneAtTradingView(t *testing.T) {
	text, err := os.ReadFile("testdata/tradingview.txt")
	if err != nil {
		t.Fatal(err)
	}
	theirs := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		sep := " "
		if strings.Contains(line, ";") {
			sep = ";"
		}
		for name := range strings.SplitSeq(line, sep) {
			theirs[plainName(name)] = line[0] != '#' && line[0] != '['
		}
	}
	if len(theirs) < 200 {
		t.Fatalf("only %d names of TradingView", len(theirs))
	}
	for ind := range All() {
		if comparisons()[ind.Name].says[1] != "" {
			continue
		}
		for _, ours := range slices.Concat([]string{ind.Name, ind.Title}, ind.Aliases) {
			if theirs[plainName(ours)] {
				t.Errorf("%s is said to be none of TradingView's, which has %q", ind.Name, ours)
			}
		}
	}
}

// plainName is a name in lower case, of letters and digits alone.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name)
}

// TestEvidence: README tells exactly how many entries rest on what.
func TestEvidence(t *testing.T) {
	found := judged(t)
	total, held, several, one := 0, 0, 0, 0
	for ind := range All() {
		total++
		most := 0
		for _, libraries := range found.libraries[ind.Name] {
			most = max(most, len(libraries))
		}
		switch {
		case found.talib[ind.Name] != "" || found.unlike[ind.Name] != "":
			held++
		case most > 1:
			several++
		case most == 1:
			one++
		}
	}
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Of %d indicators, %d are tested against TA-Lib, %d more against at least two other libraries and %d against one", total, held, several, one)
	rest := fmt.Sprintf("The other %d", total-held-several-one)
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, says := range []string{fmt.Sprintf("Charts, %d indicators, alerts", total), want, rest} {
		if !strings.Contains(text, says) {
			t.Errorf("README.md should say %q", says)
		}
	}
}

// TestExceptionsHold: in the ties and degenerate windows that compared.txt excepts, the values
// are what it says they are here.
func TestExceptionsHold(t *testing.T) {
	// bars returns a market of n bars with these extremes and closes, each opening at its close.
	bars := func(n int, at func(i int) (high, low, close, volume float64)) *market.Series {
		s := &market.Series{Symbol: "AAA", Interval: market.Hour1}
		for i := range n {
			high, low, close, volume := at(i)
			s.Append(market.Bar{Time: int64(i) * 3600, Open: close, High: high, Low: low, Close: close, Volume: volume})
		}
		return s
	}
	dead := func(int) (high, low, close, volume float64) { return 7.1, 7.1, 7.1, 0 }
	// After moves whose sums in binary are not exact, nothing moves any more and nothing is traded.
	stops := bars(200, func(i int) (high, low, close, volume float64) {
		if i >= 100 {
			return dead(i)
		}
		close = 7.1 + 0.1*float64(i*i%13)
		return close + 0.3, close - 0.7, close, 1.1 * float64(1+i%7)
	})
	// The range grows on both sides by 0.1, which rounding makes more on one side or the other.
	widens := bars(200, func(i int) (high, low, close, volume float64) {
		return 40.3 + 0.1*float64(i), 39.9 - 0.1*float64(i), 40.1, 1
	})
	// The price is 0.3 throughout, but for rounding.
	still := bars(200, func(i int) (high, low, close, volume float64) {
		if close = 0.3; i%2 == 1 {
			close = 0.1 + 0.2
		}
		return 1, 0.1, close, 1
	})
	for _, c := range []struct {
		name, overrides, line string
		s                     *market.Series
		want                  float64 // NaN is no value
	}{
		{"imi", `{}`, "IMI", stops, math.NaN()},
		{"efficiency_ratio", `{}`, "ER", stops, math.NaN()},
		{"vortex", `{}`, "VI+", stops, math.NaN()},
		{"vortex", `{}`, "VI-", stops, math.NaN()},
		{"vwma", `{}`, "VWMA", stops, math.NaN()},
		{"mass_index", `{}`, "Mass", bars(200, dead), 0},
		{"adx", `{}`, "ADX", widens, 0},
		{"rvi_volatility", `{"variant":"talib"}`, "RVI", still, 0},
		{"rvi_volatility", `{"variant":"talib"}`, "RVI", bars(200, dead), 0},
	} {
		values, err := seriesOf(compute(t, c.s, c.name, c.overrides), c.line)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := values[len(values)-1]; got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s %s: %s ends with %v, want %v", c.name, c.overrides, c.line, got, c.want)
		}
	}
}

// TestSupertrendBeside: where supertrend is not what pandas-ta's loop makes of the same ranges,
// that began in one of the three ways that compared.txt names: at a turn of both, at a close
// between the stop of its own bar and that of the bar before, or at one beyond the other band.
// Each of them does occur.
func TestSupertrendBeside(t *testing.T) {
	var turns, betweens, leaps int
	for _, s := range []*market.Series{ticks(3000, 5), world(3000, 100)} {
		for _, mult := range []float64{0.5, 3} {
			stop, up := supertrendOf(s, 10, mult)
			atr := kernel.ATRPine(s, 10)
			upper, lower, rises, differs := math.Inf(1), math.Inf(-1), false, true
			for i := kernel.FirstValid(atr); i < s.Len(); i++ {
				mid, reach := (s.High[i]+s.Low[i])/2, float64(mult*atr[i])
				newUpper, newLower, leaves, before := mid+reach, mid-reach, true, rises
				// Only the band in force is kept, and not even that by a close beyond the other.
				switch {
				case s.Close[i] > upper:
					rises = true
				case s.Close[i] < lower:
					rises = false
				case rises:
					newLower, leaves = max(lower, newLower), false
				default:
					newUpper, leaves = min(upper, newUpper), false
				}
				upper, lower = newUpper, newLower
				theirs := upper
				if rises {
					theirs = lower
				}
				same := rises == up[i] && math.Abs(theirs-stop[i]) < 1e-9*stop[i]
				switch {
				case same || differs:
				case rises != before && up[i] == rises:
					turns++
				case up[i] != before && rises == before:
					betweens++
				case leaves && rises == before && up[i] == rises:
					leaps++
				default:
					t.Errorf("%s, mult %g, bar %d: the stop is %v and theirs %v, for another reason", s.Symbol, mult, i, stop[i], theirs)
				}
				differs = !same
			}
		}
	}
	if turns == 0 || betweens == 0 || leaps == 0 {
		t.Errorf("the two begin to differ at %d turns, %d closes between two stops and %d beyond the other band", turns, betweens, leaps)
	}
}
