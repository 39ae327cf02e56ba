package indicators

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// judged returns what the vectors prove: by entry the functions of TA-Lib that it
// equals, and the entries that other libraries and pandas-ta among them agree
// with.
func judged(t *testing.T) (talib map[string]string, others, pandas map[string]bool) {
	t.Helper()
	functions := make(map[string][]string)
	others, pandas = make(map[string]bool), make(map[string]bool)
	for _, file := range vectorFiles(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct {
			Function  string
			Libraries []string
		}
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			how := vectors[c.Function]
			switch {
			case how.entry == "":
			case c.Libraries != nil:
				others[how.entry] = true
				pandas[how.entry] = pandas[how.entry] || slices.Contains(c.Libraries, "pandas-ta-classic")
			case !slices.Contains(functions[how.entry], how.told(c.Function)):
				functions[how.entry] = append(functions[how.entry], how.told(c.Function))
			}
		}
	}
	maps.DeleteFunc(pandas, func(_ string, in bool) bool { return !in })
	talib = make(map[string]string)
	for entry, list := range functions {
		slices.Sort(list)
		talib[entry] = strings.Join(list, "; ")
	}
	return talib, others, pandas
}

// told writes a function of TA-Lib with the parameters that make the entry equal.
func (how cover) told(function string) string {
	if strings.HasPrefix(function, "CDL") {
		return "CDL*"
	}
	var with []string
	for _, key := range slices.Sorted(maps.Keys(how.fixed)) {
		with = append(with, key+" "+how.fixed[key])
	}
	if len(with) > 0 {
		function += " with " + strings.Join(with, ", ")
	}
	if how.from > 0 {
		function += ", begins differently"
	}
	return function
}

// TestCompared: what the catalogue says of TA-Lib and pandas-ta is what the
// vectors prove, no more and no less.
func TestCompared(t *testing.T) {
	talib, _, pandas := judged(t)
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(talib)) {
		fmt.Fprintf(&lines, "\t%q: %q,\n", name, talib[name])
	}
	if !maps.Equal(talib, equalToTALib) {
		t.Errorf("equalToTALib should be\n%s", lines.String())
	}
	if got, want := strings.Fields(equalToPandas), slices.Sorted(maps.Keys(pandas)); !slices.Equal(got, want) {
		t.Errorf("equalToPandas should be\n%s", strings.Join(want, " "))
	}
	for ind := range All() {
		for _, program := range []string{"ta_lib", "tradingview", "pandas_ta"} {
			if ind.Compared()[program] == "" {
				t.Errorf("%s says nothing of %s", ind.Name, program)
			}
		}
	}
}

// TestEvidence: README tells exactly how many entries rest on what.
func TestEvidence(t *testing.T) {
	talib, others, _ := judged(t)
	total, second := 0, 0
	for ind := range All() {
		total++
		if talib[ind.Name] == "" && others[ind.Name] {
			second++
		}
	}
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Of %d indicators, %d are held to TA-Lib's values, %d more to values on which at least two other libraries agree", total, len(talib), second)
	if text := strings.Join(strings.Fields(string(page)), " "); !strings.Contains(text, want) || !strings.Contains(text, fmt.Sprintf("The other %d", total-len(talib)-second)) {
		t.Errorf("README should say %q and %q", want, fmt.Sprintf("The other %d", total-len(talib)-second))
	}
}
