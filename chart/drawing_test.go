package chart

import (
	"encoding/json"
	"errors"
	"image"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wick/indicators"
	"wick/market"
)

func TestParseMarks(t *testing.T) {
	marks, err := ParseMarks(json.RawMessage(`[
		{"type":"level","price":205},
		{"type":"zone","price":190,"price2":200,"time2":"2025-01-20","text":"de\u0000mand","color":"up"},
		{"type":"line","time":1736121600,"price":1,"time2":1736121600000,"price2":2},
		{"type":"text","time":"2025-01-06 10:00","price":3,"text":"here","color":"muted"}]`), newYork)
	want := []Mark{
		{Kind: MarkLevel, Price: 205, Tone: indicators.Accent},
		{Kind: MarkZone, Price: 190, Price2: 200, Time2: 1737435599, Text: "demand", Tone: indicators.Up},
		{Kind: MarkLine, Price: 1, Price2: 2, Time: 1736121600, Time2: 1736121600, Tone: indicators.Accent},
		{Kind: MarkText, Price: 3, Time: 1736175600, Text: "here", Tone: indicators.Muted},
	}
	if err != nil || !slices.Equal(marks, want) {
		t.Errorf("got %+v, %v\nwant %+v", marks, err, want)
	}
}

// TestMarksRefused: a mark that is not whole is refused with what is missing.
func TestMarksRefused(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`{}`, "want an array"},
		{`[{"type":"arrow","price":1}]`, `type "arrow"`},
		{`[{"type":"level"}]`, "a level needs price"},
		{`[{"type":"zone","price":1}]`, "a zone needs price and price2"},
		{`[{"type":"line","price":1,"price2":2,"time":"2025-01-01"}]`, "a line needs time and time2"},
		{`[{"type":"text","price":1,"time":"2025-01-01"}]`, "a text needs text"},
		{`[{"type":"text","price":1,"text":"x"}]`, "a text needs time"},
		{`[{"type":"level","price":1,"color":"pink"}]`, `color "pink"`},
		{`[{"type":"level","price":1e305}]`, "a price of 1e+305"},
		{`[{"type":"level","price":1e400}]`, "a price of +Inf"},
		{`[{"type":"level","price":"NaN"}]`, "a price of NaN"},
		{`[{"type":"level","price":"ten"}]`, `price "ten" is not a number`},
		{`[{"type":"level","price":true}]`, `price "true" is not a number`},
		{`[{"type":"level","price":1,"price2":"x"}]`, `price2 "x" is not a number`},
		{`[{"type":"level","price":[1]}]`, "price must be a single value, not [1]"},
		{`[{"type":"level","price":1,"text":{}}]`, "text must be a single value, not {}"},
		{`[{"type":"level","price":1,"text":"` + strings.Repeat("é", 61) + `"}]`, "text has 61 characters, want at most 60"},
		{`[{"type":"level","price":1,"width":5}]`, "width"},
		// encoding/json takes a name in another case for a field of a struct, and of two the last.
		{`[{"type":"level","price":10,"Price":10.4}]`, `it has "Price", want only type, price, `},
		{`[{"type":"level","Price":10.4,"price":10}]`, `it has "Price"`},
		{`[{"TYPE":"level","PRICE":10}]`, `it has "PRICE"`},
		{`["a"]`, `marks[0]: bad chart option: "a" is not an object, want one with type, price, `},
		{`[5]`, `marks[0]: bad chart option: 5 is not an object`},
		{`[{"type":"text","price":1,"text":"x","time":"soon"}]`, `time "soon"`},
		{"[" + strings.Repeat(`{"type":"level","price":1},`, 50) + `{"type":"level","price":1}]`, "51 marks, want at most 50"},
	} {
		_, err := ParseMarks(json.RawMessage(c.json), nil)
		if !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v, want %q", c.json, err, c.want)
		} else if strings.Contains(err.Error(), "json") || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%.60s: %v speaks of the program", c.json, err)
		}
	}
}

// TestMarksTolerance: values as models write them are read, as those of other arguments.
func TestMarksTolerance(t *testing.T) {
	marks, err := ParseMarks(json.RawMessage(`[
		{"type":"level","price":"10.5","text":5,"color":null},
		{"type":"zone","price":" 1 ","price2":"2e1","time":null},
		{"type":"level","price":1,"text":"`+strings.Repeat("é", 60)+`"}]`), nil)
	want := []Mark{
		{Kind: MarkLevel, Price: 10.5, Text: "5", Tone: indicators.Accent},
		{Kind: MarkZone, Price: 1, Price2: 20, Tone: indicators.Accent},
		{Kind: MarkLevel, Price: 1, Text: strings.Repeat("é", 60), Tone: indicators.Accent},
	}
	if err != nil || !slices.Equal(marks, want) {
		t.Errorf("got %+v, %v\nwant %+v", marks, err, want)
	}
}

// TestUnusedMembers: a mark has only what its kind uses. A value that it does not use must
// still be right.
func TestUnusedMembers(t *testing.T) {
	for _, c := range []struct {
		json string
		want Mark
	}{
		{`{"type":"level","price":1,"price2":2,"time":"2025-01-01","time2":1700000005,"text":"x"}`, Mark{Kind: MarkLevel, Price: 1, Text: "x"}},
		{`{"type":"text","price":1,"price2":"2","time":1700000003,"time2":1700000005,"text":"x"}`, Mark{Kind: MarkText, Price: 1, Time: 1700000003, Text: "x"}},
		{`{"type":"zone","price":1,"price2":2,"time":1700000003,"time2":1700000005}`, Mark{Kind: MarkZone, Price: 1, Price2: 2, Time: 1700000003, Time2: 1700000005}},
		{`{"type":"line","price":1,"price2":2,"time":1700000003,"time2":1700000005}`, Mark{Kind: MarkLine, Price: 1, Price2: 2, Time: 1700000003, Time2: 1700000005}},
		{`{"type":"level","price":1,"price2":null,"time":""}`, Mark{Kind: MarkLevel, Price: 1}},
	} {
		c.want.Tone = indicators.Accent
		marks, err := ParseMarks(json.RawMessage("["+c.json+"]"), nil)
		if err != nil || !slices.Equal(marks, []Mark{c.want}) {
			t.Errorf("%s: %+v, %v, want %+v", c.json, marks, err, c.want)
		}
	}
	if _, err := ParseMarks(json.RawMessage(`[{"type":"level","price":1,"time":"soon"}]`), nil); err == nil {
		t.Error("a wrong time of a level is taken")
	}
}

// TestMarkTimes: a date is the begin of its day at either end of a line, whose ends may
// change places. As the end of a zone it is the whole day, whichever time is given first.
func TestMarkTimes(t *testing.T) {
	const first, second = 1736121600, 1736208000 // 2025-01-06 and 07
	for _, c := range []struct {
		times    string
		from, to int64
	}{
		{`"line","time":"2025-01-06","time2":"2025-01-07"`, first, second},
		{`"line","time":"2025-01-07","time2":"2025-01-06"`, second, first},
		{`"zone","time":"2025-01-06","time2":"2025-01-07"`, first, second + day - 1},
		{`"zone","time":"2025-01-07","time2":"2025-01-06"`, first, second + day - 1},
		{`"zone","time":1736208000,"time2":1736121600`, first, second},
		{`"zone","time":"2025-01-07"`, second, 0},
		{`"zone","time2":"2025-01-06"`, 0, first + day - 1},
	} {
		marks, err := ParseMarks(json.RawMessage(`[{"price":1,"price2":2,"type":`+c.times+`}]`), nil)
		if err != nil || marks[0].Time != c.from || marks[0].Time2 != c.to {
			t.Errorf("%s: %+v, %v, want from %d to %d", c.times, marks, err, c.from, c.to)
		}
	}
}

// FuzzMarks draws whatever parses.
func FuzzMarks(f *testing.F) {
	f.Add([]byte(`[{"type":"level","price":205,"text":"a"},{"type":"zone","price":1,"price2":300,"time":"2025-01-07"}]`))
	f.Add([]byte(`[{"type":"line","price":205,"price2":1e9,"time":1736121500,"time2":1736121600000},{"type":"text","price":-3,"time":"2025-01-09","text":"ß日"}]`))
	s := priced(40, 215)
	f.Fuzz(func(t *testing.T, raw []byte) {
		marks, err := ParseMarks(raw, nil)
		if err != nil {
			return
		}
		v, o := &View{Series: s, Marks: marks}, Options{Width: 640, Height: 400}
		checkPlan(t, plan(v, o))
		if _, _, err := Draw(t.Context(), v, o); err != nil {
			t.Error(err)
		}
	})
}

// TestMarksAreDrawn: lines and levels of the caller's are kept clear of text,
// and every text is there.
func TestMarksAreDrawn(t *testing.T) {
	p := plan(ownMarks(), Options{Width: 1200, Height: 700})
	all := strings.Join(append(p.texts(signalText), p.texts(lineText)...), "|")
	for _, text := range []string{"stop of last week", "demand", "trend since January", "earnings"} {
		if !strings.Contains(all, text) {
			t.Errorf("%q is missing in %s", text, all)
		}
	}
	pn := p.panes[0]
	path := p.path(pn, p.view.Marks[3])
	a, b := path[0], path[1]
	for _, l := range p.labels {
		if l.kind != signalText && l.kind != lineText && l.kind != extremeText {
			continue
		}
		for k := range 2000 {
			x, y := a.x+(b.x-a.x)*float64(k)/2000, a.y+(b.y-a.y)*float64(k)/2000
			if int(x) >= l.box.Min.X && int(x) < l.box.Max.X && int(y) >= l.box.Min.Y && int(y) < l.box.Max.Y {
				t.Fatalf("the line runs through %q", l.text)
			}
		}
	}
	// A level gets its price on the axis; one far away does not move the scale
	// by more than half.
	if !slices.ContainsFunc(pn.tags, func(g tag) bool { return g.text == "205.00" }) {
		t.Errorf("no tag of the level at 205: %v", pn.tags)
	}
	s := priced(120, 215)
	p = plan(&View{Series: s, Marks: []Mark{{Kind: MarkLevel, Price: 1e6}}}, Options{Width: 1200, Height: 700})
	if sc := p.panes[0].scale; sc.hi > slices.Max(s.High)*1.5 {
		t.Errorf("a level at a million stretches the scale to %g", sc.hi)
	}
}

// TestTimeX: a time lies on the bar it belongs to, also on the last, which may be forming,
// and beyond the bars as far out as it is away.
func TestTimeX(t *testing.T) {
	p := plan(&View{Series: priced(50, 215)}, Options{Width: 1200, Height: 700})
	first, last, step := p.s.Time[0], p.s.Time[49], market.Hour4.Seconds()
	months := plan(&View{Series: walk(12, 215, 2, market.Month1)}, Options{Width: 1200, Height: 700})
	december := months.s.Time[11] // has 31 days
	if got, want := months.timeX(december+31*day-1), months.barX(11); got != want {
		t.Errorf("the end of a month lies at %g, want %g, its bar", got, want)
	}
	for _, c := range []struct {
		time int64
		bar  float64
	}{
		{first, 0}, {first + 5*step, 5}, {first + 5*step + 60, 5},
		{last, 49}, {last + step - 1, 49}, {last + step, 50}, {last + 2*step, 51}, {first - 3*step, -3},
	} {
		if got, want := p.timeX(c.time), p.x0+(c.bar+0.5)*p.pitch; got != want {
			t.Errorf("time %d lies at %g, want %g, bar %g", c.time, got, want, c.bar)
		}
	}
}

// TestTimeXAbroad: a trade in the first hour of a session of Sydney lies on the bar of that
// session, whose time is the midnight in UTC an hour after the opening, and not on the one
// of the day before.
func TestTimeXAbroad(t *testing.T) {
	const monday = 1736121600 // 2025-01-06 00:00 UTC; Sydney opens at 23:00
	s := walk(5, 215, 2, market.Day1)
	for i := range s.Time {
		s.Time[i] = monday + int64(i)*day
		s.Delayed = append(s.Delayed, market.Delay{Start: s.Time[i], Offset: -hour})
	}
	p := plan(&View{Series: s}, Options{Width: 1200, Height: 700})
	for i := range 5 {
		for _, at := range []int64{-hour, -minute, 0, hour, 23*hour - 1} {
			if got, want := p.timeX(s.Time[i]+at), p.barX(i); got != want {
				t.Errorf("%d s after midnight of session %d lies at %g, want %g", at, i, got, want)
			}
		}
	}
}

// TestLineBeyondTheBars: a line whose end is before the first or after the last bar passes
// that bar at the height of its share of the time, whatever closures the market has, and on
// to its end. Its text is between the bars.
func TestLineBeyondTheBars(t *testing.T) {
	const start = 1736172000 // 2025-01-06 14:00 UTC; two days with seven bars each
	s := &market.Series{Symbol: "X", Interval: market.Hour1}
	for i := range int64(14) {
		s.Append(market.Bar{Time: start + i/7*day + i%7*hour, Open: 120, High: 150, Low: 90, Close: 121, Volume: 1})
	}
	for _, c := range []struct {
		name          string
		scale         Scale
		from, to      int64 // hours since the first bar; the last begins 30 hours after it
		price, price2 float64
		want          map[int]float64 // prices by bar
		bends         int
	}{
		{"within", Linear, 0, 30, 100, 126, map[int]float64{0: 100, 7: 114, 13: 126}, 0}, // straight from bar to bar
		{"from before", Linear, -72, 24, 100, 140, map[int]float64{0: 130, 7: 140}, 1},
		{"the later end first", Linear, 24, -72, 140, 100, map[int]float64{0: 130, 7: 140}, 1},
		{"into the future", Linear, 0, 120, 100, 140, map[int]float64{0: 100, 13: 110}, 1},
		{"across", Linear, -24, 84, 100, 154, map[int]float64{0: 112, 13: 127}, 2},
		{"above the picture at its end", Linear, -72, 30, 40, 190, map[int]float64{0: 40 + 150*72.0/102, 13: 190}, 1},
		{"far above it at its end", Linear, 0, 30, 100, 1900, map[int]float64{0: 100, 13: 1900}, 0},
		{"from eleven years before", Linear, -99_976, 24, 10_100, 100, map[int]float64{0: 102.4, 7: 100}, 1},
		{"logarithmic", Log, -30, 30, 90, 160, map[int]float64{0: 120, 13: 160}, 1}, // 120 is the geometric mean
	} {
		m := Mark{Kind: MarkLine, Time: start + c.from*hour, Price: c.price, Time2: start + c.to*hour, Price2: c.price2, Text: "here"}
		p := plan(&View{Series: s, Marks: []Mark{m}}, Options{Width: 900, Height: 500, Scale: c.scale, HideVolume: true})
		pn := p.panes[0]
		path := p.path(pn, m)
		if len(path) != 2+c.bends {
			t.Errorf("%s: the line has the points %v, want %d bends", c.name, path, c.bends)
		}
		for bar, price := range c.want {
			if got := heightAt(path, p.barX(bar)+0.5); math.Abs(got-pn.scale.y(price)) > 0.01 {
				t.Errorf("%s: at bar %d the line is at %g, want %g, row %g", c.name, bar, pn.scale.value(got), price, pn.scale.y(price))
			}
		}
		if len(p.missing.Outside) > 0 || len(p.missing.Unnamed) > 0 {
			t.Errorf("%s: outside %v, without its text %v", c.name, p.missing.Outside, p.missing.Unnamed)
		}
		for _, l := range p.labels {
			near := l.box.Inset(-6 * l.box.Dy()) // the bars leave little room
			if l.text == "here" && !slices.ContainsFunc(columns(near), func(x int) bool {
				y := heightAt(path, float64(x))
				return y >= float64(max(near.Min.Y, pn.legend.Max.Y)) && y <= float64(near.Max.Y)
			}) {
				t.Errorf("%s: the text is in %v, away from what is seen of the line %v", c.name, l.box, path)
			}
		}
	}
}

// columns returns the columns of a box.
func columns(box image.Rectangle) (all []int) {
	for x := box.Min.X; x < box.Max.X; x++ {
		all = append(all, x)
	}
	return all
}

// heightAt returns the row of a line at column x, which is within it.
func heightAt(path []point, x float64) float64 {
	for k, b := range path[1:] {
		if a := path[k]; x >= a.x-1e-6 && x <= b.x+1e-6 {
			return a.y + (b.y-a.y)*(x-a.x)/(b.x-a.x)
		}
	}
	return math.NaN()
}

// TestAccount: what the caller has is named with its numbers.
func TestAccount(t *testing.T) {
	v := account()
	p := plan(v, Options{Width: 1200, Height: 700})
	all := strings.Join(p.texts(lineText), "|")
	for _, text := range []string{"long 12 at 185.64 · +77.40", "sell limit 12", "sell stop 12", "alert above"} {
		if !strings.Contains(all, text) {
			t.Errorf("%q is missing in %s", text, all)
		}
	}
	fills := 0
	for _, m := range p.marks {
		if m.ink == inkText {
			fills++
			if want := p.panes[0].scale.row(v.Account.Fills[fills-1].Price); m.tip.y != float64(want) {
				t.Errorf("fill %d points at row %g, want %d", fills, m.tip.y, want)
			}
		}
	}
	if fills != 3 {
		t.Errorf("%d fills are drawn, want 3", fills)
	}
	// A signal that an alert waits for is named even when it is old.
	named := p.texts(signalText)
	if !slices.Contains(named, "RSI leaves oversold") {
		t.Errorf("the signal of the alert is not named: %q", named)
	}
}

// TestUnknownOrder: an order of which it is not known whether it waits does not look like one
// that does.
func TestUnknownOrder(t *testing.T) {
	v := account()
	price := v.Series.Close[v.Series.Len()-1]
	v.Account = &Account{Orders: []Order{{Buy: true, Kind: "limit", Price: price * 0.98, Quantity: 5, Unknown: true}, {Kind: "limit", Price: price * 1.02, Quantity: 5}}}
	all := strings.Join(plan(v, Options{Width: 1200, Height: 700}).texts(lineText), "|") + "|"
	if !strings.Contains(all, "buy limit 5 ?") || !strings.Contains(all, "sell limit 5|") {
		t.Errorf("%q, want a question mark at the first order alone", all)
	}
}

// TestManyOrders: of very many orders, alerts and fills the nearest to the price and the
// newest are drawn, and the picture counts every other one.
func TestManyOrders(t *testing.T) {
	v := account()
	price := v.Series.Close[v.Series.Len()-1]
	a := &Account{Orders: []Order{{Buy: true, Kind: "limit", Price: price * 0.999, Quantity: 7}}}
	for i := range 200 {
		a.Orders = append(a.Orders, Order{Buy: true, Kind: "limit", Price: price * (0.3 + float64(i)*0.001), Quantity: 1})
		a.Alerts = append(a.Alerts, Alert{Price: price * (2 + float64(i)*0.001), Text: "above"})
		a.Fills = append(a.Fills, Fill{Buy: true, Price: price, Time: v.Series.Time[i%50]})
	}
	v.Account = a
	p := plan(v, Options{Width: 1200, Height: 700})
	texts := p.texts(lineText)
	all := strings.Join(texts, "|")
	if !strings.Contains(all, "buy limit 7") {
		t.Errorf("the order nearest to the price is missing in %s", all)
	}
	for _, edge := range []string{"↑ +47", "↓ +46"} { // of 50 alerts and 49 orders three are named
		if !slices.Contains(texts, edge) {
			t.Errorf("%q is missing in %s", edge, all)
		}
	}
	if got := p.panes[0].unmarked; got != 151+150+150 {
		t.Errorf("%d are counted as not drawn, want 451", got)
	}
	for i := range a.Alerts {
		a.Alerts[i].Key = "rsi"
	}
	p = plan(v, Options{Width: 1200, Height: 700})
	own := len(v.Panels[1].Result.HLines)
	if pn := p.panes[1]; v.Panels[1].Key != "rsi" || len(pn.studies[0].HLines) != own+50 || pn.unmarked < 150 {
		t.Errorf("%s has %d levels and %d not drawn, want 50 more than %d, and 150", v.Panels[1].Key, len(pn.studies[0].HLines), pn.unmarked, own)
	}
	if got, want := p.panes[1].studies[0].HLines[own].Y, a.Alerts[150].Price; got != want { // the newest 50
		t.Errorf("the first of them is at %g, want %g", got, want)
	}
	if got := strings.Count(string(AppendSeries(nil, v)), `"label":"alert above"`); got != 200 { // every one
		t.Errorf("%d alerts are in the series, want 200", got)
	}
}

// TestUnknownProfit: a profit that is not known is left out, and its line has a colour
// that says neither gain nor loss. A profit of 0 is known.
func TestUnknownProfit(t *testing.T) {
	for _, c := range []struct {
		profit float64
		text   string
		ink    ink
	}{
		{math.NaN(), "long 12 at 185.64", inkAxis},
		{0, "long 12 at 185.64 · 0.00", inkUp},
		{77.4, "long 12 at 185.64 · +77.40", inkUp},
		{-77.4, "long 12 at 185.64 · −77.40", inkDown},
	} {
		v := account()
		v.Account.Position.Profit = c.profit
		p := plan(v, Options{Width: 1200, Height: 700})
		i := slices.IndexFunc(p.labels, func(l label) bool { return l.kind == lineText && strings.HasPrefix(l.text, "long ") })
		if i < 0 || p.labels[i].text != c.text || p.labels[i].ink != c.ink {
			t.Errorf("a profit of %g: the labels are %+v, want %q in ink %d", c.profit, p.texts(lineText), c.text, c.ink)
		}
	}
}

// TestEntryOnPercentAxis: the name of a position has its entry as a price on a percent axis,
// too, also where no tag has room: the place on the axis would be read as the profit.
func TestEntryOnPercentAxis(t *testing.T) {
	v := account()
	v.Account.Position.Entry = last(v.Series.Close) // beside the tag of the price
	p := plan(v, Options{Width: 1200, Height: 700, Scale: Percent})
	want := "long 12 at " + p.priceText(v.Account.Position.Entry) + " · +77.40"
	if all := p.texts(lineText); !slices.Contains(all, want) {
		t.Errorf("the texts are %q, want %q", all, want)
	}
}

// TestBeyondTheRange: levels too far away to be drawn are named at the edge that they lie
// beyond, the nearest first, and do not squeeze the candles.
func TestBeyondTheRange(t *testing.T) {
	s := priced(120, 215)
	hi, lo := slices.Max(s.High), slices.Min(s.Low)
	far := func(part float64) float64 { return math.Round(hi + part*(hi-lo)) }
	v := &View{Series: s, Marks: []Mark{{Kind: MarkLevel, Price: 1, Text: "zero"}},
		Account: &Account{
			Orders: []Order{{Kind: "limit", Price: far(2), Quantity: 3}, {Kind: "limit", Price: far(3), Quantity: 4}, {Buy: true, Kind: "stop", Price: far(0.4), Quantity: 5}},
			Alerts: []Alert{{Price: far(1), Text: "above"}, {Price: far(4), Text: "above"}, {Price: far(5), Text: "above"}},
		}}
	for _, c := range []struct {
		w, h int
		want []string
	}{
		{1200, 700, []string{"↑ alert above " + priceText(far(1), 2), "↑ sell limit 3 " + priceText(far(2), 2), "↑ sell limit 4 " + priceText(far(3), 2), "↑ +2", "↓ zero 1.00"}},
		{400, 300, []string{"↑ alert above " + priceText(far(1), 2), "↑ sell limit 3 " + priceText(far(2), 2), "↑ sell limit 4 " + priceText(far(3), 2), "↑ +2", "↓ zero 1.00"}},
	} {
		p := plan(v, Options{Width: c.w, Height: c.h})
		checkPlan(t, p)
		var got []string
		for _, text := range p.texts(lineText) {
			if strings.ContainsAny(text, "↑↓") {
				got = append(got, text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%dx%d: the edges say %q, want %q", c.w, c.h, got, c.want)
		}
		if sc := p.panes[0].scale; sc.hi != far(0.4) || sc.lo != lo {
			t.Errorf("%dx%d: the scale goes from %g to %g, want %g to %g", c.w, c.h, sc.lo, sc.hi, lo, far(0.4))
		}
	}
}

// TestAlertsInPanels: an alert for a level of an indicator is a level of its panel, named in
// the legend; the indicator's own levels keep their colours, and nothing else changes.
func TestAlertsInPanels(t *testing.T) {
	v := account()
	inks := func(p *picture) (out []ink) {
		st := p.panes[1].studies[0]
		for k := range st.HLines {
			out = append(out, levelInk(st.Result, k, false))
		}
		return out
	}
	own := inks(plan(v, Options{Width: 1200, Height: 700}))
	levels := len(v.Panels[1].Result.HLines)
	v.Account.Alerts = append(v.Account.Alerts, Alert{Key: "rsi", Price: 85, Text: "above"}, Alert{Key: "rsi", Price: math.NaN(), Text: "above"}, Alert{Key: "macd", Price: 1, Text: "above"})
	p := plan(v, Options{Width: 1200, Height: 700})
	checkPlan(t, p)
	if got := inks(p); !slices.Equal(got, append(own, inkAmber)) {
		t.Errorf("the levels have the inks %v, want %v and amber", got, own)
	}
	if texts := p.texts(legendText); !slices.Contains(texts, "alert above 85.0") {
		t.Errorf("the legends say %q", texts)
	}
	if n := len(v.Panels[1].Result.HLines); n != levels {
		t.Errorf("the indicator has %d levels, it had %d", n, levels)
	}
}

// TestAlertsNameTheirLine: of an indicator with several lines the name of an alert has the
// line and the direction, in the legend and, over the price, at the level, whose tag has room
// for the price only.
func TestAlertsNameTheirLine(t *testing.T) {
	s := priced(60, 215)
	top := slices.Max(s.High)
	near, far := top+0.15*(top-slices.Min(s.Low)), top+0.35*(top-slices.Min(s.Low))
	line := func(label string, v float64) indicators.Line {
		return indicators.Line{Label: label, Tone: indicators.Band, Values: slices.Repeat(indicators.Values{v}, 60)}
	}
	bands := &indicators.Result{Label: "BB(20, 2)", Overlay: true, Lines: []indicators.Line{line("Middle", 0.999*top), line("Upper", top)}}
	macd := &indicators.Result{Label: "MACD(12, 26, 9)", Lines: []indicators.Line{line("MACD", 1), line("Signal", 2)},
		Histogram: []indicators.Histogram{{Label: "Histogram", Values: line("", 1).Values}}}
	v := &View{Series: s, Panels: []Panel{{Key: "bbands", Result: bands}, {Key: "macd", Result: macd}}, Account: &Account{Alerts: []Alert{
		{Key: "bbands", Line: "upper", Price: near, Text: "above"}, {Key: "bbands", Price: far, Text: "below"},
		{Key: "macd", Line: "Histogram", Price: 0.5, Text: "below"}, {Key: "macd", Line: "Signal", Price: 1.5, Text: "below"}}}}
	p := plan(v, Options{Width: 1440, Height: 768})
	checkPlan(t, p)
	legend := p.texts(legendText)
	for _, want := range []string{"alert Upper above " + priceText(near, 2), "alert Middle below " + priceText(far, 2), "alert Histogram below 0.500", "alert Signal below 1.50"} {
		if !slices.Contains(legend, want) {
			t.Errorf("the legends lack %q: %q", want, legend)
		}
	}
	if names := p.texts(lineText); !slices.Contains(names, "alert Upper above") || !slices.Contains(names, "alert Middle below") {
		t.Errorf("the levels are named %q", names)
	}
	if tagged := func(g tag) bool { return g.text == priceText(near, 2) }; !slices.ContainsFunc(p.panes[0].tags, tagged) {
		t.Errorf("the tags are %+v", p.panes[0].tags)
	}
}

// TestLevelTexts: the text of a level is written at its line, further off with its price
// where bars cover the line, or shortened; what has no room at all is counted.
func TestLevelTexts(t *testing.T) {
	const text = "resistance of the whole last week and of the one before that"
	// Bars that cover a level at 100 everywhere, and the rows around it in part or all.
	around := func(high float64) *market.Series {
		rows := make([][4]float64, 60)
		for i := range rows {
			rows[i] = [4]float64{100, high, 200 - high, 101}
		}
		rows[20], rows[40] = [4]float64{100, 120, 100, 101}, [4]float64{100, 101, 80, 101}
		return bars(rows...)
	}
	roomy := priced(120, 215)
	for _, c := range []struct {
		name  string
		s     *market.Series
		price float64
		w, h  int
		want  string // of the text, or of the note
	}{
		{"at its line", roomy, slices.Max(roomy.High) + 2, 900, 420, "resistance of the whole last week and of the one before that"},
		{"bars all over the line", around(103), 100, 900, 420, "resistance of the whole last week and of the one before that 100.00"},
		{"a small picture", around(103), 100, 360, 400, "… 100.00"},
		{"bars everywhere", around(120), 100, 700, 400, "1 more not drawn"},
	} {
		v := &View{Series: c.s, Marks: []Mark{{Kind: MarkLevel, Price: c.price, Text: text}}}
		p := plan(v, Options{Width: c.w, Height: c.h})
		checkPlan(t, p)
		if got := strings.Join(p.texts(lineText), "|"); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: written is %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNamesAwayFromExtremes: the name of a level and the price at the end of a wick are not
// next to each other, since "buy limit 1  98.00" would be read as an order at 98.00.
func TestNamesAwayFromExtremes(t *testing.T) {
	s := &market.Series{Symbol: "ACME", Interval: market.Hour1}
	for i := range 40 {
		open := 110 - 0.2*float64(i)
		s.Append(market.Bar{Time: 1794556800 + int64(i)*hour, Open: open, High: open + 0.1, Low: open - 0.3, Close: open - 0.2, Volume: 1000})
	}
	s.Low[39] = 98
	for _, prices := range [][2]float64{{97.6, 97.9}, {97.6, 97.8}, {97.7, 97.9}, {97.5, 97.7}, {98.3, 98.6}, {110.3, 110.6}} {
		v := &View{Series: s}
		for i, price := range prices {
			v.Marks = append(v.Marks, Mark{Kind: MarkLevel, Price: price, Text: "buy limit " + strconv.Itoa(i+1)})
		}
		p := plan(v, Options{Width: 900, Height: 500})
		checkPlan(t, p)
		if texts := p.texts(extremeText); len(texts) != 2 || len(p.missing.Unnamed) > 0 {
			t.Errorf("%v: of the extremes there are %q, and without a name %v", prices, texts, p.missing.Unnamed)
		}
		for _, name := range p.labels {
			for _, price := range p.labels {
				if near := price.box.Inset(-3 * price.box.Dy()); name.kind == lineText && price.kind == extremeText && near.Overlaps(name.box) &&
					name.box.Min.Y < price.box.Max.Y && price.box.Min.Y < name.box.Max.Y {
					t.Errorf("%v: %q at %v is in one line with %q at %v", prices, name.text, name.box, price.text, price.box)
				}
			}
		}
	}
}

// TestLevelNumbers: the name of a level that is shortened keeps its quantity and its price,
// since a stop for 20 must not be read as one for 2; and each level is named or counted.
func TestLevelNumbers(t *testing.T) {
	rows := slices.Repeat([][4]float64{{100, 110, 90, 101}}, 60)
	for i := 40; i < 60; i++ { // names have room over the last third
		rows[i] = [4]float64{100, 100.4, 99.6, 100}
	}
	// Quantities 21, 22 and so on at prices 96.1, 97.1 and so on: none is the start of another.
	whole := regexp.MustCompile(`^(buy|sell) (limit|trailing_stop) (2\d\.00000001)( \d+\.10)?$`)
	short := regexp.MustCompile(`^(bu|se).*… (2\d\.00000001) (\d+\.10)$`)
	shortened, left := 0, 0
	for _, size := range [][2]int{{360, 400}, {420, 360}, {480, 360}, {640, 420}, {1000, 700}} {
		v := &View{Series: bars(rows...), Account: &Account{Position: &Position{Quantity: 0.12345678, Entry: 100.55, Profit: 1234.5}}}
		for k := range 8 {
			v.Account.Orders = append(v.Account.Orders, Order{Buy: k%2 == 0, Kind: []string{"limit", "trailing_stop"}[k%2], Price: 96.1 + float64(k), Quantity: 21.00000001 + float64(k)})
		}
		p := plan(v, Options{Width: size[0], Height: size[1], HideVolume: true})
		checkPlan(t, p)
		named := 0
		for _, text := range p.texts(lineText) {
			switch {
			case short.MatchString(text):
				shortened++
				named++
			case whole.MatchString(text), text == "long 0.12345678 at 100.55 · +1,234.50":
				named++
			case !strings.HasSuffix(text, "more not drawn"):
				t.Errorf("%v: written is %q", size, text)
			}
		}
		if got := named + p.panes[0].unmarked; got != 9 {
			t.Errorf("%v: %d levels are named and %d counted, want 9 in all: %q", size, named, p.panes[0].unmarked, p.texts(lineText))
		}
		left += p.panes[0].unmarked
	}
	if shortened == 0 || left == 0 {
		t.Errorf("%d names are shortened and %d left out, which shows nothing", shortened, left)
	}
}

// TestNamelessLevelsAreCounted: however small a picture is and whatever covers the place of
// the note in the plot, each level of the account is named or counted in a text. A name that
// is cut names no other kind of order.
func TestNamelessLevelsAreCounted(t *testing.T) {
	inHeader := 0
	for seed := range 6 {
		s := walk(80+seed, 10.7, 4, market.Hour1)
		s.Synthetic, s.Forming = seed%2 == 0, true
		last := s.Close[s.Len()-1]
		a := &Account{}
		for k, at := range []float64{0.98, 0.985, 0.99, 0.995, 1.01, 1.015, 1.02, 1.03} {
			a.Orders = append(a.Orders, Order{Buy: k < 4, Kind: "stop_limit", Price: last * at, Quantity: 12.5 + float64(k)})
		}
		for _, at := range []float64{0.983, 0.992, 1.012, 1.018} {
			a.Alerts = append(a.Alerts, Alert{Price: last * at, Text: "above"})
		}
		for _, size := range [][2]int{{320, 240}, {360, 300}, {420, 320}, {600, 400}, {1000, 600}} {
			v := sketches(s, "rsi")
			if seed > 2 {
				v = &View{Series: s}
			}
			v.Account = a
			p := plan(v, Options{Width: size[0], Height: size[1], Signals: SignalsOff})
			checkPlan(t, p)
			told := 0
			for _, l := range p.labels {
				text := strings.TrimPrefix(strings.TrimPrefix(l.text, "↑ "), "↓ ")
				if strings.Contains(text, "stop…") {
					t.Errorf("seed %d, %v: %q is a stop_limit and reads as a stop", seed, size, text)
				}
				note, isNote := strings.CutSuffix(strings.TrimSuffix(text, " more not drawn"), " not drawn")
				isNote = isNote || note != text
				n, err := strconv.Atoi(strings.TrimPrefix(note, "+"))
				switch {
				case isNote && err == nil:
					told += n
					if l.kind == headerText {
						inHeader++
					}
				case l.kind == lineText && err == nil && text[0] == '+':
					told += n
				case l.kind == lineText:
					told++
				}
			}
			if told != 12 {
				t.Errorf("seed %d, %v: %d of 12 are named or counted; %d have no name: %q %q", seed, size, told, p.panes[0].unmarked, p.texts(lineText), p.texts(headerText))
			}
		}
	}
	if inHeader == 0 {
		t.Error("every plot had room for the note, which shows nothing")
	}
}

// TestAgeBeforePrice: in a narrow header the age of the bars stays and the last close, which
// is on the axis too, is left out.
func TestAgeBeforePrice(t *testing.T) {
	s := changed(40, stale)
	s.Symbol, s.Gaps, s.Forming = "LONGSYMBOLNAME-ABCDE", nil, false
	p := plan(&View{Series: s}, Options{Width: 320, Height: 240})
	checkPlan(t, p)
	if texts := p.texts(headerText); !slices.Contains(texts, "3 d old") {
		t.Errorf("the header says %q", texts)
	}
}

// TestState: the header says what is not as it should be with the bars.
func TestState(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(s *market.Series)
		want string
	}{
		{"nothing", func(s *market.Series) {}, ""},
		{"forming", func(s *market.Series) { s.Forming = true }, "forming"},
		{"one gap", func(s *market.Series) { s.Gaps = s.Time[9:10] }, "1 gap"},
		{"all", stale, "forming · 2 gaps · 3 d old"},
		{"two intervals", func(s *market.Series) { s.AsOf = (s.Time[39] + 3*4*3600) * 1000 }, ""},
		{"more than two", func(s *market.Series) { s.AsOf = (s.Time[39] + 3*4*3600 + 1) * 1000 }, "8 h old"},
		{"synthetic bars have no age", func(s *market.Series) { stale(s); s.Synthetic, s.Forming, s.Gaps = true, false, nil }, ""},
	} {
		p := plan(&View{Series: changed(40, c.edit)}, Options{Width: 1200, Height: 700})
		got := ""
		for _, text := range p.texts(headerText) {
			if strings.Contains(text, "forming") || strings.Contains(text, "gap") || strings.Contains(text, " old") {
				got = text
			}
		}
		if got != c.want {
			t.Errorf("%s: the header says %q, want %q", c.name, got, c.want)
		}
	}
	// Bars that end where the caller asked are not late.
	p := plan(&View{Series: changed(40, stale), Past: true}, Options{Width: 1200, Height: 700})
	if texts := p.texts(headerText); !slices.Contains(texts, "forming · 2 gaps") {
		t.Errorf("the header of a period says %q", texts)
	}
}

// TestLevelNames: levels and session lines are named at their ends, and two
// studies with levels of one name are told apart.
func TestLevelNames(t *testing.T) {
	p := plan(drawn(priced(120, 215), pivots())(), Options{Width: 1200, Height: 700})
	if got := p.texts(lineText); len(got) != 7 {
		t.Errorf("named are %q, want seven pivots", got)
	}
	p = plan(twoProfiles(), Options{Width: 1200, Height: 700})
	var all []string
	for _, g := range p.panes[0].tags {
		all = append(all, g.text)
	}
	text := strings.Join(append(all, p.texts(lineText)...), "|")
	for _, name := range []string{"VP 16 POC", "Fixed VP 8 POC", "VP 16 VAH", "Fixed VP 8 VAH"} {
		if !strings.Contains(text, name) {
			t.Errorf("%q is missing in %s", name, text)
		}
	}
}

// TestAhead: values known for bars to come are drawn right of the last bar, and
// change nothing of the others.
func TestAhead(t *testing.T) {
	p := plan(cloud(), Options{Width: 1200, Height: 700})
	if p.ahead != 25 {
		t.Fatalf("%d bars ahead, want 25: a displacement of 26 counts the bar itself", p.ahead)
	}
	if last, end := p.barX(p.n-1), p.barX(p.n+p.ahead-1); end > float64(p.axisX) || last > end-20*p.pitch {
		t.Errorf("the last bar is at %g, the last value at %g of %d", last, end, p.axisX)
	}
	l := p.panes[0].studies[0].Lines[2]
	if got := p.extended(l.Values, l.Ahead); len(got) != 145 || !usable(got[144]) {
		t.Errorf("%d values of span A, want 145", len(got))
	}
}

// TestLaggingSpan: Ichimoku's fifth line is the close, drawn 25 bars before its own, so that
// the newest bars have none.
func TestLaggingSpan(t *testing.T) {
	v := cloud()
	p := plan(v, Options{Width: 1200, Height: 700})
	l := p.panes[0].studies[0].Lines[4]
	got := p.asDrawn(&l)
	if len(got) != p.n-25 || got[0] != v.Series.Close[25] || got[len(got)-1] != v.Series.Close[p.n-1] {
		t.Errorf("%d values from %v to %v, want the closes from the 26th on", len(got), got[0], got[len(got)-1])
	}
	if text := strings.Join(p.texts(legendText), "|"); !strings.Contains(text, "Lagging ") {
		t.Errorf("the legend lacks it: %s", text)
	}
}

// TestFibonacciInPercent: retracements are named by their part in percent.
func TestFibonacciInPercent(t *testing.T) {
	p := plan(view(t, priced(120, 215), "fibonacci_retracement"), Options{Width: 1440, Height: 768})
	text := strings.Join(p.texts(legendText), "|")
	for _, name := range []string{"0% ", "23.6% ", "38.2% ", "50% ", "61.8% ", "78.6% ", "100% "} {
		if !strings.Contains(text, "|"+name) {
			t.Errorf("%q is missing in %s", name, text)
		}
	}
}

// TestMarksAgain: marks written as JSON are read back as the same marks, so that a
// page can send on what a series told it.
func TestMarksAgain(t *testing.T) {
	given := `[{"type":"level","price":0.5,"text":"floor","color":"down"},{"type":"zone","price":1,"price2":2},{"type":"zone","price":1,"price2":2,"time":"2025-01-31"},
		{"type":"line","price":1,"price2":0,"time":"2025-01-30","time2":"2025-01-31 12:00","color":"muted"},{"type":"text","price":3,"time":1738281600,"text":"<b>","color":"up"}]`
	marks, err := ParseMarks(json.RawMessage(given), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(marks)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseMarks(text, nil)
	if err != nil || !slices.Equal(marks, again) {
		t.Errorf("%s is read as %+v, %v, want %+v", text, again, err, marks)
	}
}
