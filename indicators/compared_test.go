package indicators

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
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

// TestCompared: what the catalogue says of the three programs is what the vectors
// prove, no more and no less.
func TestCompared(t *testing.T) {
	found := judged(t)
	// Of percent_rank, which no kernel of ours makes TA-Lib's, only the table speaks.
	found.unlike["percent_rank"] = unlikeTALib["percent_rank"]
	for _, c := range []struct {
		table       string
		says, shown map[string]string
	}{
		{"equalToTALib in compared_talib.go", equalToTALib, found.talib},
		{"unlikeTALib in compared_talib.go", unlikeTALib, found.unlike},
		{"likeTradingView in compared_tradingview.go", likeTradingView, found.tradingView},
		{"likePandas in compared_pandas.go", likePandas, found.pandas},
	} {
		for _, name := range slices.Sorted(maps.Keys(c.says)) {
			if c.shown[name] == "" {
				t.Errorf("%s has %q, for which no line of testdata/vectors/covers.txt leads to vectors: without them it belongs in another table of that file", c.table, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(c.shown)) {
			if c.says[name] != c.shown[name] {
				t.Errorf("%s says %q of %s, and the vectors prove %q", c.table, c.says[name], name, c.shown[name])
			}
		}
	}
}

// TestComparedKinds: of every entry there is one statement for each program, of one
// of the four kinds.
func TestComparedKinds(t *testing.T) {
	files := map[string]string{"ta_lib": "compared_talib.go", "tradingview": "compared_tradingview.go", "pandas_ta": "compared_pandas.go"}
	for ind := range All() {
		for program, words := range ind.Compared() {
			kind := slices.IndexFunc([]string{"equal", "differs from ", "not verified: ", "TA-Lib has none", "TradingView has none", "pandas-ta has none"},
				func(prefix string) bool { return strings.HasPrefix(words, prefix) })
			switch {
			case words == "":
				t.Errorf("%s is in no table of %s", ind.Name, files[program])
			case kind < 0:
				t.Errorf("%s says %q of %s, which is none of the four kinds that compared.go names", files[program], words, ind.Name)
			}
		}
	}
}

// TestComparedNames: an entry is in one table for each program, and the tables
// written by hand speak of entries that exist.
func TestComparedNames(t *testing.T) {
	type table struct {
		name  string
		names iter.Seq[string]
	}
	for file, tables := range map[string][]table{
		"compared_talib.go":  {{"equalToTALib", maps.Keys(equalToTALib)}, {"unlikeTALib", maps.Keys(unlikeTALib)}},
		"compared_pandas.go": {{"likePandas", maps.Keys(likePandas)}, {"unlikePandas", maps.Keys(unlikePandas)}},
		"compared_tradingview.go": {
			{"likeTradingView", maps.Keys(likeTradingView)}, {"unlikeTradingView", maps.Keys(unlikeTradingView)},
			{"unverifiedTradingView", maps.Keys(unverifiedTradingView)}, {"notAtTradingView", slices.Values(notAtTradingView)},
		},
	} {
		in := make(map[string]string) // the table that has an entry
		for _, table := range tables {
			for name := range table.names {
				if ind, err := Lookup(name); err != nil || ind.Name != name {
					t.Errorf("%s: %s has %q, which is no entry of the catalogue", file, table.name, name)
				}
				if in[name] != "" {
					t.Errorf("%s: %q is in %s and in %s", file, name, in[name], table.name)
				}
				in[name] = table.name
			}
		}
	}
}

// TestClassics: the first list of the catalogue has what TA-Lib has, and beside ema the
// stack of it.
func TestClassics(t *testing.T) {
	for _, ind := range classics {
		if equalToTALib[ind.Name] == "" && unlikeTALib[ind.Name] == "" && ind != &indEMAStack {
			t.Errorf("catalog.go: %s is in classics and is no function of TA-Lib (compared_talib.go): it belongs in one of the lists below", ind.Name)
		}
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
	for _, name := range notAtTradingView {
		ind, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, ours := range slices.Concat([]string{ind.Name, ind.Title}, ind.Aliases) {
			if theirs[plainName(ours)] {
				t.Errorf("%s is said to be none of TradingView's, which has %q", name, ours)
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
	want := fmt.Sprintf("Of %d indicators, %d are held to TA-Lib's values, %d more to values on which at least two other libraries agree and %d to those of one", total, held, several, one)
	rest := fmt.Sprintf("The other %d", total-held-several-one)
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, says := range []string{fmt.Sprintf("Charts, %d indicators, alerts", total), want, rest} {
		if !strings.Contains(text, says) {
			t.Errorf("README.md should say %q", says)
		}
	}
}
