// Package indicators is the catalogue of technical indicators. Package kernel has
// the arithmetic that they are made of.
//
// An [Indicator] is a record: its names, its parameters with their bounds, the
// signals it may emit, and one pure function from an [Input], which is bars and
// [Args], to a [Result]. The catalogue is one slice of such records; lookup, the list a
// client sees, the checks on an alert and the documentation are all read from
// it, so an indicator is written down once.
//
// A [Request] is an indicator with a value for each of its parameters. [Parse] makes
// requests from what a client sent: names, or objects with a name and parameters.
//
// Every series in a Result has one value per bar. A bar before the indicator
// has enough history holds NaN, which [Values] writes as null; values never
// depend on later bars unless the record says Repaints. Definitions follow
// TA-Lib; what TA-Lib lacks follows TradingView, and each record's text says
// which.
//
// The package reads no clock. It opens nothing but the table of time zones, and
// keeps nothing else between calls.
package indicators

import (
	"cmp"
	_ "embed"
	"iter"
	"slices"
	"strings"
	"sync"

	"wick/indicators/rules"
)

// Indicator is one entry of the catalogue.
type Indicator struct {
	Name     string   // as list_indicators shows it: lower case, unique
	Title    string   // as a legend shows it, such as "RSI"
	Also     string   // further names that Lookup accepts, divided by blanks
	Aliases  []string // these, one by one
	Category string   // one of Categories
	Doc      string   // what it shows, whose definition it follows
	Formula  string   // the definition in one line of plain text
	Traits   Traits
	Memory   Memory // how much of the past its values depend on

	Params  []Param
	Ignores []string // parameters of other programs, such as colours, that are accepted and have no effect; Doc says so
	// Check returns an error if parameters most likely are a mistake together. Nil for none.
	Check func(a Args) error
	Needs []string // columns of Series.Extra that it needs

	// Plots, Levels and Shades declare what is drawn of the columns that Calc returns, Between the
	// usual range of the panel, none if it is empty. Events are its signals, from which follow
	// Signals, the labels it may emit, so that an alert may name no other, and Meanings of those
	// that have a special one in this entry. The method Meaning covers all.
	Plots    []Plot
	Levels   func(a Args) []float64
	Between  [2]float64
	Shades   []Shade
	Events   []Event
	Signals  []string
	Meanings map[string]string
	Calc     func(in Input) Columns

	// Line computes the column of an entry that has one, or Of from the source and the parameter
	// "length". Form completes its record if it has one of the usual forms. Label is then that of
	// the line, the title if it is empty.
	Form  func(ind *Indicator, label string)
	Line  func(in Input) []float64
	Of    func(x []float64, n int) []float64
	Label string

	// Draw returns the values for every bar of s. It must not write to s, and must
	// accept any number of bars, including none.
	Draw func(in Input) *Result
}

// Traits are what is true of few entries.
type Traits uint8

const (
	Overlay  Traits = 1 << iota // drawn over the price, not in a panel of its own
	Repaints                    // later bars may change earlier values
	Beyond                      // lines may leave the fixed range of the panel
)

// Has reports whether t has all of these traits.
func (t Traits) Has(these Traits) bool { return t&these == these }

// Categories, in the order in which the documentation lists them.
const (
	Trend      = "trend"
	Momentum   = "momentum"
	Volatility = "volatility"
	Volume     = "volume"
	Price      = "price"
	Statistics = "statistics"
	Cycle      = "cycle"
	Pattern    = "pattern"
	External   = "external"
	Rules      = "rules"
)

// Categories returns the categories there are.
func Categories() []string {
	return []string{Trend, Momentum, Volatility, Volume, Price, Statistics, Cycle, Pattern, External, Rules}
}

// Kind says what values a parameter takes.
type Kind uint8

// The kinds of parameters. A Number is the zero value.
const (
	Number     Kind = iota // any number within the bounds
	Int                    // a whole number within the bounds
	Bool                   // true or false
	Choice                 // one of Param.Choices
	Date                   // a moment: a date, a time or unix seconds; 0 for none
	Expression             // in the language of package rules
	Symbol                 // another market, in any spelling that its source takes
)

// Param is one parameter of an indicator.
type Param struct {
	Name     string
	Aliases  []string // other spellings people use, such as "period" for "length"
	Doc      string
	Kind     Kind
	Default  float64  // for Bool 0 or 1, for Choice an index into Choices
	Min, Max float64  // bounds, both allowed; for Number and Int
	Choices  []string // what a Choice may be
	Quiet    bool     // left out of the label: what few calls set, such as levels and ways of drawing
	Percent  bool     // a number that may be written with a percent sign
	Auto     bool     // a number whose 0 may be written auto
	Many     bool     // a Choice that takes several: an array, or names divided by commas; an Expression that takes several, divided by semicolons

	Text      string // of a Symbol: the default; of an Expression: what stands for it until a client gives one, an example if it is Required
	Required  bool   // an Expression that a client must give: see [Request.Check]
	Instead   string // a Date that may be given in place of a Required one, which then has none
	Condition bool   // an Expression that must be true or false, not a number
}

// Args are the parameters of one request: every parameter of the indicator has a value
// within its bounds.
type Args struct {
	ind    *Indicator
	values []float64        // parallel to ind.Params
	chosen map[string][]int // of parameters that take several choices: which

	texts map[string]string // symbols, by parameter
	of    *Request          // the request whose line stands for the parameter "source", if one was given

	exprs map[string][]*rules.Expr // of expressions, by parameter; empty for none
	given map[string]bool          // expressions that a client gave
	memo  Memo                     // shared with other requests; nil for none

	linesOnly bool // only lines will be read: signals that are costly may be left out
	newest    int  // of how many of the newest bars signals will be read; 0 for all
}

// Float returns the parameter called name. Asking for a parameter that the
// indicator does not have is a mistake in the catalogue and panics.
func (a Args) Float(name string) float64 { return a.values[a.ind.mustHave(name)] }

// Int returns the whole-number parameter called name.
func (a Args) Int(name string) int { return int(a.Float(name)) }

// Bool returns the true-or-false parameter called name.
func (a Args) Bool(name string) bool { return a.Float(name) != 0 }

// Choice returns the chosen word of the parameter called name.
func (a Args) Choice(name string) string {
	i := a.ind.mustHave(name)
	return a.ind.Params[i].Choices[int(a.values[i])]
}

// Chosen returns the words of the parameter called name, which takes several, in
// the order of its choices; its default if none was given.
func (a Args) Chosen(name string) []string {
	i := a.ind.index(name)
	var words []string
	for _, k := range a.chosen[name] {
		words = append(words, a.ind.Params[i].Choices[k])
	}
	if words == nil {
		words = []string{a.Choice(name)}
	}
	return words
}

// Text returns the symbol that the parameter called name was given.
func (a Args) Text(name string) string { return a.texts[name] }

// mustHave returns the index of the parameter called name, and panics if there is
// none.
func (ind *Indicator) mustHave(name string) int {
	if i := ind.index(name); i >= 0 {
		return i
	}
	panic("indicators: " + ind.Name + " has no parameter " + name)
}

// index returns the index of the parameter called name, or -1.
func (ind *Indicator) index(name string) int {
	for i := range ind.Params { // by index: a Param is too large to copy for each look
		if ind.Params[i].Name == name {
			return i
		}
	}
	return -1
}

// Request is an indicator with a value for each of its parameters.
type Request struct {
	// Key is the key of its results: the name that the client used, followed by "#2" and
	// so on if the name is used again.
	Key  string
	Ind  *Indicator
	Args Args
}

// Memo keeps what expressions computed, for requests on the same bars, so that a part
// which several expressions share is computed once. Only one goroutine may use a Memo, and
// only for bars with the same last bar.
type Memo map[string]*rules.Evaluator

// catalog lists every indicator, in the order in which clients see them: by category, then
// as the lines of compared.txt stand. An entry that has none comes at the end of its category.
var catalog = arranged(averages, vwaps, bandEntries, stopEntries, trends, momentums, oscillators, ciphers, volumes, volatility, priceEntries, levelEntries,
	statistics, cycles, profileEntries, candleEntries, structures, chartPatterns, ratings, versusEntries, externals, expressions, backtests)

// arranged returns the entries of all families in the order of catalog.
func arranged(families ...[]Indicator) []*Indicator {
	var all []*Indicator
	for _, family := range families {
		for i := range family {
			family[i].declared()
			all = append(all, &family[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *Indicator) int {
		return cmp.Or(cmp.Compare(slices.Index(Categories(), a.Category), slices.Index(Categories(), b.Category)), cmp.Compare(comparisons()[a.Name].rank, comparisons()[b.Name].rank))
	})
	return all
}

// All yields the catalogue in its order.
func All() iter.Seq[*Indicator] { return slices.Values(catalog) }

//go:embed compared.txt
var comparedText string

// comparison is a line of compared.txt: what it says of TA-Lib, of TradingView and of
// pandas-ta, the origin, and where it stands, below 0.
type comparison struct {
	says [4]string
	rank int
}

// comparisons has the lines of compared.txt by entry.
var comparisons = sync.OnceValue(func() map[string]comparison {
	table := make(map[string]comparison)
	for line := range strings.Lines(comparedText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var row [5]string
		for i, cell := range strings.SplitN(line, "|", len(row)) {
			row[i] = strings.TrimSpace(cell)
		}
		table[row[0]] = comparison{[4]string(row[1:]), len(table) - 1<<20}
	}
	return table
})

// Compared says of TA-Lib ("ta_lib"), TradingView ("tradingview") and pandas-ta
// ("pandas_ta") how the entry relates to them.
func (ind *Indicator) Compared() map[string]string {
	row := comparisons()[ind.Name]
	talib, tradingView, pandas := row.says[0], row.says[1], row.says[2]
	if talib == "" {
		talib = "TA-Lib has none"
	}
	published, isPublished := strings.CutPrefix(tradingView, "~")
	switch {
	case tradingView == "":
		tradingView = "TradingView has none of its own"
	case isPublished:
		tradingView = published + " (by what is published of it)"
	case !strings.HasPrefix(tradingView, "not verified"):
		tradingView += " (by a re-implementation; the program itself was not run)"
	}
	if pandas == "" {
		pandas = "pandas-ta has none"
	} else {
		pandas += " (pandas-ta-classic)"
	}
	return map[string]string{"ta_lib": talib, "tradingview": tradingView, "pandas_ta": pandas}
}

// Origin says who published the entry and where; "" if that is not known.
func (ind *Indicator) Origin() string { return comparisons()[ind.Name].says[3] }
