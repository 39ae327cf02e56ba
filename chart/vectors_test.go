package chart

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"wick/indicators"
	"wick/market"
)

// markedVector names the picture that has marks of the caller's own, comparedVector the
// one with other symbols, of which one begins late, alertedVector the one with an alert,
// namedVector the one with a level between the steps of its prices, calmVector the one whose
// prices hardly move.
const (
	markedVector   = "marks of the caller's own"
	comparedVector = "compared symbols"
	alertedVector  = "bands on a light ground"
	namedVector    = "a level with more decimals than the prices"
	calmVector     = "small changes in percent"
)

// vector is a picture in numbers: what it was made of and where everything went. The
// page's own tests hold decimals, ranges and inks of its plan against these.
type vector struct {
	Name   string             `json:"name"`
	Width  int                `json:"width"`
	Height int                `json:"height"`
	Ratio  float64            `json:"ratio"`
	Theme  string             `json:"theme"`
	Type   string             `json:"type"`
	Scale  string             `json:"scale"`
	Series json.RawMessage    `json:"series"`
	Widths map[string]float64 `json:"widths"` // of "weight size text" for every text that was measured

	Precision   int          `json:"precision"`
	AxisX       int          `json:"axis_x"`
	X0          float64      `json:"x0"`
	Pitch       float64      `json:"pitch"`
	Body        int          `json:"body"`
	Wick        int          `json:"wick"`
	Panes       []vectorPane `json:"panes"`
	Times       []string     `json:"times"` // "bar text"
	FirstColumn int          `json:"first_column"`
}

type vectorPane struct {
	Top    int      `json:"top"`
	Bottom int      `json:"bottom"`
	Floor  int      `json:"floor"`
	Lo     float64  `json:"lo"`
	Hi     float64  `json:"hi"`
	Ticks  []string `json:"ticks"`           // "row text", in brackets where the label is not shown
	Tags   []string `json:"tags"`            // "row text"
	Inks   []string `json:"inks"`            // of lines; dashed ones end in "-"
	Drawn  []string `json:"drawn,omitempty"` // corners of the caller's zones, ends of his lines
}

// advances returns the width of every character that an axis or a date may hold, by
// weight and size, so that another program can measure the same texts.
func advances(fonts map[string]*atlas) map[string]float64 {
	out := make(map[string]float64)
	for name, font := range fonts {
		for c := ' '; c <= '~'; c++ {
			out[name+" "+string(c)] = float64(font.width(string(c)))
		}
		for _, c := range "−–" {
			out[name+" "+string(c)] = float64(font.width(string(c)))
		}
	}
	return out
}

// newVector draws nothing and writes down the plan of v.
func newVector(name string, v *View, o Options) vector {
	p := plan(v, o)
	out := vector{
		Name: name, Width: o.Width, Height: o.Height, Ratio: cmp.Or(o.PixelRatio, 1), Theme: Themes()[o.Theme], Type: Types()[o.Type], Scale: Scales()[o.Scale],
		Series: AppendSeries(nil, v), Precision: p.precision, AxisX: p.axisX, X0: p.x0, Pitch: p.pitch, Body: p.body, Wick: p.wick, FirstColumn: p.column(0),
		Widths: advances(map[string]*atlas{"400": p.axis, "700": p.axisBold, "500": p.tag}),
	}
	for _, pn := range p.panes {
		q := vectorPane{Top: pn.top, Bottom: pn.bottom, Floor: pn.floor, Lo: pn.scale.lo, Hi: pn.scale.hi}
		for _, t := range pn.ticks {
			text := strconv.Itoa(t.y) + " " + t.text
			if !t.shown {
				text = "(" + text + ")"
			}
			q.Ticks = append(q.Ticks, text)
		}
		for _, t := range pn.tags {
			q.Tags = append(q.Tags, strconv.Itoa(t.y)+" "+t.text)
		}
		for _, st := range pn.studies {
			for _, l := range st.lines {
				name := inkNames[l.ink]
				if l.dashed {
					name += "-"
				}
				q.Inks = append(q.Inks, name)
			}
		}
		for _, m := range v.Marks {
			switch {
			case !pn.price:
			case m.Kind == MarkZone:
				r := p.zoneRect(pn, m)
				q.Drawn = append(q.Drawn, fmt.Sprintf("%d %d %d %d", r.Min.X, r.Min.Y, r.Max.X, r.Max.Y))
			case m.Kind == MarkLine:
				var points []string
				for _, at := range p.path(pn, m) {
					points = append(points, fmt.Sprintf("%.2f %.2f", at.x, at.y))
				}
				q.Drawn = append(q.Drawn, strings.Join(points, " "))
			}
		}
		out.Panes = append(out.Panes, q)
	}
	for _, t := range p.times {
		out.Times = append(out.Times, strconv.Itoa(t.bar)+" "+t.text)
	}
	return out
}

// TestPageVectors checks that the numbers in the page's own tests are those of the pictures.
// Run with -update after a change of the layout.
func TestPageVectors(t *testing.T) {
	vectors := []struct {
		name       string
		interval   market.Interval
		bars       int
		price      float64
		indicators []string
		o          Options
	}{
		{"three panels", market.Hour4, 200, 215, []string{"ema_stack", "rsi", "macd"}, Options{Width: 1440, Height: 768}},
		{alertedVector, market.Day1, 120, 67432.5, []string{"bbands", "supertrend", "stoch"}, Options{Width: 1000, Height: 600, Theme: Light, Scale: Log}},
		{"percent on a telephone", market.Minute15, 90, 1.0825, []string{"sma", "rsi"}, Options{Width: 360, Height: 420, Scale: Percent}},
		{"a profile on a sharp screen", market.Hour1, 150, 3120, []string{"volume_profile", "adx"}, Options{Width: 700, Height: 500, PixelRatio: 2, Theme: Colorblind}},
		{"dense", market.Hour1, 1500, 24.5, []string{}, Options{Width: 600, Height: 400}},
		{markedVector, market.Hour1, 100, 50, []string{"sma"}, Options{Width: 800, Height: 400}},
		{comparedVector, market.Day1, 60, 215, []string{}, Options{Width: 800, Height: 400}},
		{namedVector, market.Hour1, 60, 1, []string{}, Options{Width: 800, Height: 400}},
		{calmVector, market.Hour1, 60, 1, []string{}, Options{Width: 800, Height: 400, Scale: Percent}},
	}
	var all []vector
	for _, tc := range vectors {
		s := walk(tc.bars, tc.price, 2, tc.interval)
		v := &View{Series: s}
		if tc.name == markedVector {
			mid := s.Close[50]
			v.Marks = []Mark{{Kind: MarkLevel, Price: 1.04 * mid, Text: "ceiling"}, {Kind: MarkLevel, Price: 3 * mid, Text: "out of reach"}, {Kind: MarkZone, Price: mid, Price2: 0.99 * mid}, {Kind: MarkZone, Price: 0.97 * mid, Price2: mid, Time: s.Time[20] + 60, Time2: s.Time[70]},
				{Kind: MarkLine, Time: s.Time[90], Price: mid, Time2: s.Time[10] + 1800, Price2: 1.01 * mid}, {Kind: MarkLine, Time: s.Time[0] - 72_000, Price: 0.98 * mid, Time2: s.Time[99] + 7200, Price2: mid},
				{Kind: MarkLine, Time: s.Time[40], Price: mid, Time2: s.Time[99] + 1800, Price2: mid}}
			marks, err := json.Marshal(v.Marks)
			if err != nil {
				t.Fatal(err)
			}
			v.Request = json.RawMessage(`{"marks":` + string(marks) + "}")
		}
		if tc.name == namedVector {
			v.Marks = []Mark{{Kind: MarkLevel, Price: 0.9975, Text: "peg"}}
			v.Request = json.RawMessage(`{"marks":[{"type":"level","price":0.9975,"text":"peg"}]}`)
		}
		if tc.name == calmVector {
			for _, column := range [][]float64{s.Open, s.High, s.Low, s.Close} {
				for i := range column {
					column[i] = 1 + (column[i]-1)/20_000
				}
			}
		}
		if tc.name == alertedVector {
			v.Account = &Account{Alerts: []Alert{{Key: "bbands", Line: "Upper", Price: 1.08 * s.Close[119], Text: "above"}}}
		}
		if tc.name == comparedVector {
			v.Compare = []*market.Series{walk(60, 40, 2, tc.interval), walk(60, 3, 1, tc.interval).Tail(25)}
		}
		for _, name := range tc.indicators {
			r, err := indicators.New(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			v.Panels = append(v.Panels, Panel{Key: name, Result: r.Compute(s)})
		}
		all = append(all, newVector(tc.name, v, tc.o))
	}
	got, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("..", "app", "test", "layout.json")
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what pictures are made of (%v): run go test ./chart -run TestPageVectors -update", name, err)
	}
}
