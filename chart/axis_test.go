package chart

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wick/indicators"
	"wick/market"
)

// shownTicks returns the labels on a pane's axis.
func shownTicks(pn *pane) (texts []string) {
	for _, tk := range pn.ticks {
		if tk.shown {
			texts = append(texts, tk.text)
		}
	}
	return texts
}

// TestPriceAxisIsDense: five prices can be read from the axis of a small chart
// beside its tag, and a large chart has a label about every 30 to 60 pixels, as
// lightweight-charts has.
func TestPriceAxisIsDense(t *testing.T) {
	for _, price := range []float64{0.00001234, 0.06, 1.0862, 9.7, 30, 215, 950, 67432.5} {
		for _, bars := range []int{40, 60, 90, 200, 350} {
			for _, panels := range [][]string{{"ema"}, {"ema", "rsi"}, {"bb", "rsi", "macd"}} {
				v := sketches(priced(bars, price), panels...)
				p := plan(v, Options{Width: 800, Height: 500})
				if got := shownTicks(p.panes[0]); len(got)+1 < 5 {
					t.Errorf("800x500 at %g, %d bars, %v: the axis shows %q", price, bars, panels, got)
				}
				p = plan(v, Options{Width: 1440, Height: 768})
				pn := p.panes[0]
				if apart := abs(pn.ticks[1].y - pn.ticks[0].y); apart < 20 || apart > 60 {
					t.Errorf("1440x768 at %g, %d bars, %v: ticks %d pixels apart", price, bars, panels, apart)
				}
			}
		}
	}
}

// TestBoundedPanelFits: a panel whose values have bounds shows its values and
// levels, not the whole of what is possible.
func TestBoundedPanelFits(t *testing.T) {
	for _, c := range []struct {
		name   string
		mid, h float64
		lo, hi float64
	}{
		{"between the levels", 50, 10, 30, 70},
		{"above", 60, 25, 30, 85},
		{"at the bounds", 50, 50, 0, 100},
		{"beyond the bounds", 50, 60, -10, 110}, // no value is cut off
	} {
		r := &indicators.Result{Label: "RSI(14)", YRange: &[2]float64{0, 100}, HLines: []indicators.HLine{{Y: 30}, {Y: 70}},
			Lines: []indicators.Line{{Label: "RSI", Tone: indicators.Primary, Values: wave(80, c.mid, c.h, 4, 0)}}}
		sc := plan(drawn(priced(80, 215), r)(), Options{Width: 1440, Height: 768}).panes[1].scale
		if sc.lo != c.lo || sc.hi != c.hi {
			t.Errorf("%s: the panel shows %g to %g, want %g to %g", c.name, sc.lo, sc.hi, c.lo, c.hi)
		}
	}
}

// TestDigitsTellApart: averages of a price with two decimals that differ by a
// fraction of its last digit are not written alike.
func TestDigitsTellApart(t *testing.T) {
	s := changed(60, func(s *market.Series) {
		for i := range s.Len() {
			s.Open[i], s.High[i], s.Low[i], s.Close[i] = 0.06, 0.07, 0.05, 0.06
		}
	})
	r := &indicators.Result{Label: "EMA(8, 21, 50)", Overlay: true}
	for i, label := range []string{"8", "21", "50"} {
		r.Lines = append(r.Lines, indicators.Line{Label: label, Values: wave(60, 0.06+0.0012*float64(i), 0, 1, 0)})
	}
	got := plan(drawn(s, r)(), Options{Width: 1440, Height: 768}).texts(legendText)
	if want := []string{"EMA", "8 0.0600", "21 0.0612", "50 0.0624"}; !slices.Equal(got, want) {
		t.Errorf("the legend says %q, want %q", got, want)
	}
}

// TestHeaderUsesItsWidth: open, high and low are left out only where they do not
// fit.
func TestHeaderUsesItsWidth(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{{360, "4h C"}, {480, "4h O H L C Vol"}, {900, "4h O H L C Vol"}} {
		p := plan(&View{Series: priced(60, 215)}, Options{Width: c.width, Height: 400})
		var names []string
		for _, text := range p.texts(headerText) {
			if !strings.ContainsAny(text, ".%→") && text != "WICK" && !strings.HasSuffix(text, "M") {
				names = append(names, text)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("at %d pixels the header has %q, want %q", c.width, got, c.want)
		}
	}
}

// TestNamesWhatIsUnusual: a picture says which zone its times are in, narrow
// or wide, and that candles are averaged or prices logarithmic.
func TestNamesWhatIsUnusual(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o          Options
		kind       labelKind
		text, none string // what it says, and what no text says
	}{
		{Options{Width: 320, Height: 240}, zoneText, "UTC", "log"},
		{Options{Width: 800, Height: 500}, zoneText, "UTC", "Heikin-Ashi"},
		{Options{Width: 800, Height: 500, Zone: newYork}, zoneText, "EST", "UTC"}, // the bars are of January
		{Options{Width: 1200, Height: 500, Type: HeikinAshi}, headerText, "Heikin-Ashi", "log"},
		{Options{Width: 800, Height: 500, Scale: Log}, headerText, "log", "Heikin-Ashi"},
	} {
		p := plan(&View{Series: priced(60, 215)}, c.o)
		if !slices.Contains(p.texts(c.kind), c.text) {
			t.Errorf("%+v: %q, want %q", c.o, p.texts(c.kind), c.text)
		}
		for _, l := range p.labels {
			if l.text == c.none {
				t.Errorf("%+v: says %q", c.o, c.none)
			}
		}
	}
	// Where the clock changes among the bars, the corner has both names, or both offsets if
	// that is too narrow.
	for _, c := range []struct {
		first, zone string
		interval    market.Interval
		bars        int
		price       float64
		width       int
		want        string
	}{
		{"2026-10-31 04:00", "America/New_York", market.Hour1, 72, 67432.5, 800, "EDT/EST"},
		{"2026-03-07 05:00", "America/New_York", market.Hour1, 72, 67432.5, 800, "EST/EDT"},
		{"2026-01-01 05:00", "America/New_York", market.Hour4, 2000, 67432.5, 800, "EST/EDT"}, // and EST again
		{"2026-11-01 06:00", "America/New_York", market.Hour1, 10, 67432.5, 800, "EST"},       // from the change on
		{"2026-10-31 04:00", "America/New_York", market.Hour1, 72, 215, 800, "-04/-05"},
		{"2026-10-23 23:00", "Europe/London", market.Hour1, 48, 215, 390, "+01/+00"},
		{"2026-10-23 23:00", "Europe/London", market.Hour1, 48, 215, 320, "+01/+00"},
		{"2026-10-31 04:00", "America/New_York", market.Day1, 72, 215, 390, "UTC"}, // dates have no zone
		{"2026-10-31 04:00", "Asia/Kathmandu", market.Hour1, 72, 215, 800, "+0545"},
		{"2026-10-31 04:00", "+05:30", market.Hour1, 72, 215, 390, "+0530"}, // UTC+05:30 is too wide
	} {
		s := priced(c.bars, c.price)
		s.Interval, s.Time = c.interval, times(c.first, c.interval, c.bars)
		zone, err := market.ParseZone(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		p := plan(&View{Series: s}, Options{Width: c.width, Height: 400, Zone: zone})
		checkPlan(t, p)
		if got := p.texts(zoneText); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s in %s: the corner says %q, want %q", c.first, c.zone, got, c.want)
		}
	}
	// A header that has room for the range names the zone there.
	wide := plan(&View{Series: priced(60, 215)}, Options{Width: 1200, Height: 500})
	if texts := wide.texts(headerText); !strings.Contains(texts[len(texts)-1], " UTC · ") || len(wide.texts(zoneText)) > 0 {
		t.Errorf("the wide header says %q, the corner %q", texts, wide.texts(zoneText))
	}
}

// TestTagsAreMoved: three levels within one tag's height of the last close all have their price
// on the axis, each with a line to its row if it is not there, and no two touch.
func TestTagsAreMoved(t *testing.T) {
	s := priced(80, 215)
	closed := s.Close[79]
	r := &indicators.Result{Label: "VP", Overlay: true, HLines: []indicators.HLine{
		{Y: closed * 1.002, Label: "VAH"}, {Y: closed * 0.999, Label: "POC", Tone: indicators.Accent}, {Y: closed * 0.998, Label: "VAL"}}}
	for _, size := range [][2]int{{1440, 768}, {800, 500}, {400, 300}} {
		p := plan(drawn(s, r)(), Options{Width: size[0], Height: size[1]})
		tags := p.panes[0].tags
		if len(tags) != 4 {
			t.Errorf("%v: %d tags, want the last price and three levels", size, len(tags))
		}
		for i, g := range tags {
			if moved := abs((g.box.Min.Y+g.box.Max.Y)/2-g.y) > 1; moved != (g.box.Min.X > p.axisX) {
				t.Errorf("%v: tag %q of row %d is at %v", size, g.text, g.y, g.box)
			}
			for _, other := range tags[:i] {
				if other.box.Overlaps(g.box) {
					t.Errorf("%v: the tags %q and %q touch", size, other.text, g.text)
				}
			}
		}
	}
}

// TestNarrowHeader: the smallest picture has the change in percent, whatever else a header
// must say.
func TestNarrowHeader(t *testing.T) {
	for _, synthetic := range []bool{true, false} {
		s := priced(30, 215)
		s.Symbol, s.Synthetic, s.Forming = "BTCUSDT", synthetic, true
		texts := plan(&View{Series: s}, Options{Width: 320, Height: 240}).texts(headerText)
		if all := strings.Join(texts, " "); !strings.HasSuffix(all, "%") && !strings.HasSuffix(all, "%)") {
			t.Errorf("the header says %q", all)
		}
	}
}

// TestGapsAreMarked: between two bars of which others are missing is a line over all panels.
func TestGapsAreMarked(t *testing.T) {
	v := sketches(priced(60, 215), "rsi")
	_, plain := painted(t, v, Options{Width: 800, Height: 500}, true)
	v.Series.Gaps = []int64{v.Series.Time[20]}
	p, broken := painted(t, v, Options{Width: 800, Height: 500}, true)
	x := int(p.x0+20*p.pitch) - 1
	for i, pn := range p.panes {
		changed := 0
		for y := pn.legend.Max.Y; y < pn.frame.Max.Y; y++ {
			if k := y*broken.w + x; broken.pix[k] != plain.pix[k] {
				changed++
			}
		}
		if changed < pn.frame.Dy()/3 {
			t.Errorf("pane %d: %d of %d rows show the gap", i, changed, pn.frame.Dy())
		}
	}
}
