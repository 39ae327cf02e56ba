package chart

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wick/indicators"
	"wick/market"
)

// The picture and the payload of one View tell the same numbers. The payload
// writes prices as they came and values to ten digits, for programs; the
// picture rounds them to what an eye reads, three digits or the precision of
// the price. So they agree when what is printed is the payload's number rounded
// to the printed digits, and nothing else: these tests read it back.

// printed is a number read back from a picture.
type printed struct {
	value float64
	unit  float64 // of its last digit
	none  bool    // a dash: there is no number
}

// readPrinted reads a number as format.go writes it: 1,068.33, −0.5, 86.4M,
// 1.234e-11, +2.55%.
func readPrinted(t *testing.T, text string) printed {
	t.Helper()
	if text == noValue {
		return printed{none: true}
	}
	s := strings.NewReplacer("−", "-", ",", "", "%", "", "(", "", ")", "").Replace(text)
	unit := 1.0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.Letter); ok {
			s, unit = rest, u.Size
		}
	}
	digits, exponent, _ := strings.Cut(s, "e")
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil {
			t.Fatalf("%q is not a number: %v", text, err)
		}
		unit *= math.Pow10(e)
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		t.Fatalf("%q is not a number: %v", text, err)
	}
	_, decimals, _ := strings.Cut(digits, ".")
	return printed{value: v * unit, unit: unit * math.Pow10(-len(decimals))}
}

// agree compares a printed number with the payload's, nil where that is null.
func agree(t *testing.T, what, text string, want *float64) {
	t.Helper()
	got := readPrinted(t, text)
	switch {
	case got.none != (want == nil):
		t.Errorf("%s is printed as %q, the summary has %v", what, text, want)
	case want != nil && math.Abs(got.value-*want) > got.unit*0.5000001+1e-9*math.Abs(*want):
		t.Errorf("%s is printed as %q, the summary has %v", what, text, *want)
	}
}

// summaryNumbers are the numbers of a summary that a picture prints too.
type summaryNumbers struct {
	Price struct {
		Last struct{ Open, High, Low, Close, Volume *float64 }
	}
	Indicators map[string]struct {
		Lines, Histogram []struct {
			LastValue *float64 `json:"last_value"`
		}
	}
}

// TestCurrency: a price of 71.38 may be pence; what the source calls the currency is in the
// picture, in both payloads and beside compared symbols; where it is not known, it is in none.
func TestCurrency(t *testing.T) {
	for currency, want := range map[string]string{"GBp": `"currency":"GBp"`, "": ""} {
		own, other := priced(60, 71), priced(60, 15)
		own.Currency, other.Currency, other.Symbol = currency, currency, "OTHER"
		v := &View{Series: own, Compare: []*market.Series{other}}
		for _, text := range []string{string(summaryOf(v)), string(AppendSeries(nil, v))} {
			if n := strings.Count(text, `"currency"`); want != "" && strings.Count(text, want) != 2 || want == "" && n != 0 {
				t.Errorf("currency %q: %d in %s", currency, n, text[:300])
			}
		}
		header := plan(v, Options{Width: 900, Height: 500}).texts(headerText)
		if slices.Contains(header, "GBp") != (currency != "") {
			t.Errorf("currency %q: the header is %q", currency, header)
		}
	}
}

// TestHeaderAgrees holds the header and the tag of the last price to the
// summary.
func TestHeaderAgrees(t *testing.T) {
	for _, price := range []float64{0.00001234, 1, 215, 67432.5, 1e9, -30} {
		v := &View{Series: priced(60, price)}
		var s summaryNumbers
		if err := json.Unmarshal(summaryOf(v), &s); err != nil {
			t.Fatal(err)
		}
		p := plan(v, Options{Width: 1440, Height: 768})
		want := map[string]*float64{"O": s.Price.Last.Open, "H": s.Price.Last.High, "L": s.Price.Last.Low, "C": s.Price.Last.Close, "Vol": s.Price.Last.Volume}
		parts := slices.DeleteFunc(p.headerParts(), func(part headerPart) bool { return part.right || part.from > cutNothing })
		for i, part := range parts {
			if p.texts(headerText)[i] != part.text {
				t.Errorf("part %d of the header is printed as %q, want %q", i, p.texts(headerText)[i], part.text)
			}
		}
		for i, part := range parts {
			if number, ok := want[part.text]; ok {
				agree(t, part.text, parts[i+1].text, number)
				delete(want, part.text)
			}
		}
		if len(want) > 0 {
			t.Errorf("the header of a price of %v lacks %v", price, want)
		}
		agree(t, "tag", p.panes[0].tags[0].text, s.Price.Last.Close)
		// The change is from the close before, and its percentage by the
		// payload's own rule.
		before, now := v.Series.Close[58], v.Series.Close[59]
		amount, percent, _ := strings.Cut(percentPart(parts), " ")
		difference, part := now-before, changePercent(before, now)
		agree(t, "change", amount, &difference)
		agree(t, "change in percent", percent, &part)
	}
}

// percentPart returns the part of a header that tells the change.
func percentPart(parts []headerPart) string {
	for _, part := range parts {
		if strings.HasSuffix(part.text, "%)") {
			return part.text
		}
	}
	return ""
}

// TestLegendAgrees holds the legend of every indicator to the summary: each
// line and histogram with its last value, and a dash where that is null.
func TestLegendAgrees(t *testing.T) {
	for k, price := range []float64{0.00001234, 215, 1e9} {
		for ind := range indicators.All() {
			if testing.Short() && len(ind.Name)%3 != k {
				continue // one price for each
			}
			v := view(t, filled(priced(120, price), ind.Needs), ind.Name)
			var s summaryNumbers
			if err := json.Unmarshal(summaryOf(v), &s); err != nil {
				t.Fatal(err)
			}
			p := plan(v, Options{Width: 1440, Height: 768})
			pn := p.panes[len(p.panes)-1]
			st := pn.studies[0]
			if neverWarm(st.Result, p.n) {
				continue
			}
			items := p.legendItems(pn, st)
			checkRow(t, p, items)
			items = items[1:] // the first is the name
			numbers := append(s.Indicators[ind.Name].Lines, s.Indicators[ind.Name].Histogram...)
			if len(items) < len(numbers) {
				t.Errorf("%s: %d values in the legend, %d in the summary", ind.Name, len(items), len(numbers))
				continue
			}
			for i, number := range numbers {
				words := strings.Fields(items[i].text)
				agree(t, ind.Name+" "+items[i].text, words[len(words)-1], number.LastValue)
			}
		}
	}
}

// texts returns the texts of a kind in the order they are printed.
func (p *picture) texts(kind labelKind) (texts []string) {
	sign := "" // of a count of signals, which is a text of its own
	for _, l := range p.labels {
		switch {
		case l.kind != kind:
		case kind == legendText && strings.HasSuffix(l.text, " "):
			sign = l.text
		default:
			texts = append(texts, sign+l.text)
			sign = ""
		}
	}
	return texts
}

// checkRow compares the one legend row of a picture with its items. What has no
// room is counted at its end.
func checkRow(t *testing.T, p *picture, items []legendItem) {
	t.Helper()
	row := slices.DeleteFunc(p.texts(legendText), func(text string) bool { return strings.HasSuffix(text, " more not drawn") })
	for i, text := range row {
		if rest := "+" + strconv.Itoa(len(items)-i); text != items[i].sign+items[i].text && (text != rest || i+1 < len(row)) {
			t.Errorf("item %d of the legend is printed as %q, want %q", i, text, items[i].sign+items[i].text)
		}
	}
}

// TestSessionCount: a profile per session shows the values of the latest and
// how many sessions there are.
func TestSessionCount(t *testing.T) {
	for _, c := range []struct {
		begins []int
		want   string
	}{{[]int{0}, "1 session"}, {[]int{0, 8, 24}, "3 sessions"}} {
		r := &indicators.Result{Label: "Session VP", Overlay: true, Sessions: c.begins,
			Lines: []indicators.Line{{Label: "POC", Values: wave(30, 215, 5, 1, 0)}}}
		texts := plan(drawn(priced(30, 215), r)(), Options{Width: 800, Height: 500}).texts(legendText)
		if last := texts[len(texts)-1]; last != c.want {
			t.Errorf("sessions at %v: the legend ends in %q, want %q", c.begins, last, c.want)
		}
	}
}

// TestNamedPrices: the prices that a picture names, of the newest bar, of orders, alerts and
// a position, and the highest and lowest, are written with the digits they need, though
// nearly all prices need two decimals. An average that was computed has only the digits that
// can be seen.
func TestNamedPrices(t *testing.T) {
	s := priced(200, 1)
	for i := range s.Time {
		s.Open[i], s.High[i], s.Low[i], s.Close[i] = 1, 1.01, 1, 1
	}
	s.Low[50] = 0.9962
	newest := func(v *View) {
		s.Open[199], s.High[199], s.Low[199], s.Close[199] = 1, 1, 0.9987, 0.9987
	}
	v := &View{Series: s, Account: &Account{
		Position: &Position{Quantity: 3, Entry: 3.0116 / 3, Profit: math.NaN()},
		Orders:   []Order{{Buy: true, Kind: "limit", Price: 0.9975, Quantity: 1}, {Kind: "limit", Price: 1.02375, Quantity: 2}},
		Alerts:   []Alert{{Price: 1.0075, Text: "above"}},
	}}
	for _, c := range []struct {
		name   string
		change func(*View)
		want   []string // among the texts of the picture
		never  string
	}{
		{"old bars of two decimals", func(*View) {}, []string{"1.00", "0.9975", "1.0075", "0.9962", "1.01", "1.00387", "↑ sell limit 2 1.02375"}, "1.0038667"},
		{"the newest needs four", newest, []string{"0.9987", "1.0000", "0.9975", "1.0075", "0.9962"}, "1.0038667"},
	} {
		c.change(v)
		p := plan(v, Options{Width: 1440, Height: 768})
		texts := slices.Concat(p.texts(headerText), p.texts(extremeText), p.texts(lineText))
		for _, tag := range p.panes[0].tags {
			texts = append(texts, tag.text)
		}
		all := strings.Join(texts, "|")
		for _, want := range c.want {
			if !slices.ContainsFunc(texts, func(text string) bool { return text == want || strings.HasSuffix(text, " "+want) }) {
				t.Errorf("%s: no %q in %s", c.name, want, all)
			}
		}
		if strings.Contains(all, c.never) {
			t.Errorf("%s: %q in %s", c.name, c.never, all)
		}
	}
}
