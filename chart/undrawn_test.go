package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestPanelsWithoutRoom: Draw names the panels that do not fit.
func TestPanelsWithoutRoom(t *testing.T) {
	for _, c := range []struct{ w, h, most int }{{1440, 768, 8}, {320, 240, 5}, {600, 400, 5}} {
		v := sketches(priced(100, 215), slices.Repeat([]string{"rsi"}, 16)...)
		for i := range v.Panels {
			v.Panels[i].Key = fmt.Sprint("rsi#", i)
		}
		_, u, err := Draw(t.Context(), v, Options{Width: c.w, Height: c.h})
		if err != nil {
			t.Fatal(err)
		}
		if fit := 16 - len(u.Panels); fit < 0 || fit > c.most || u.Panels[0] != fmt.Sprint("rsi#", fit) {
			t.Errorf("%dx%d leaves out %q", c.w, c.h, u.Panels)
		}
	}
}

// TestTextBeyondTheEdge: a text whose place is beyond the edge of the plot, however little,
// is told and not drawn within, where it would seem to name another bar or price.
func TestTextBeyondTheEdge(t *testing.T) {
	s := priced(120, 215)
	first, last, step := s.Time[0], s.Time[119], s.Interval.Seconds()
	v := &View{Series: s, Marks: []Mark{
		{Kind: MarkText, Price: s.Close[0], Time: first, Text: "first"},
		{Kind: MarkText, Price: s.Close[119], Time: last, Text: "last"},
		{Kind: MarkText, Price: s.Close[0], Time: first - 2*step, Text: "before"},
		{Kind: MarkText, Price: s.Close[119], Time: last + 30*step, Text: "after"},
		{Kind: MarkText, Price: 1.05 * slices.Max(s.High), Time: s.Time[60], Text: "above"},
		{Kind: MarkText, Price: 0.95 * slices.Min(s.Low), Time: s.Time[60], Text: "below"},
	}}
	for _, o := range []Options{{Width: 1440, Height: 768}, {Width: 700, Height: 400, HideVolume: true}} {
		p := plan(v, o)
		u, texts := p.undrawn(), p.texts(signalText)
		if want := []int{2, 3, 4, 5}; !slices.Equal(u.Outside, want) || len(u.Unnamed) != 0 {
			t.Errorf("%dx%d: outside are %v, want %v; without their text %v", o.Width, o.Height, u.Outside, want, u.Unnamed)
		}
		if !slices.Contains(texts, "first") || !slices.Contains(texts, "last") || slices.Contains(texts, "before") {
			t.Errorf("%dx%d: the picture says %q", o.Width, o.Height, texts)
		}
	}
}

// TestMarksOutside: marks of which nothing is in the plot are counted and told, each once,
// with a text or without, and a text never names a zone that cannot be seen.
func TestMarksOutside(t *testing.T) {
	s := priced(120, 215)
	first, last, step := s.Time[0], s.Time[119], s.Interval.Seconds()
	mid := s.Close[60]
	v := &View{Series: s, Marks: []Mark{
		{Kind: MarkText, Price: mid, Time: first - 3000*step, Text: "long ago"},
		{Kind: MarkLine, Price: mid, Price2: mid, Time: last + 1000*step, Time2: last + 2000*step},
		{Kind: MarkLevel, Price: 100_000, Text: "far"},
		{Kind: MarkZone, Price: 50_000, Price2: 60_000, Text: "high zone"},
		{Kind: MarkLine, Price: mid, Price2: mid, Time: first - 1000*step, Time2: last + 1000*step},                // across
		{Kind: MarkLine, Price: 90_000, Price2: 95_000, Time: first, Time2: last, Text: "above"},                   // within the times
		{Kind: MarkZone, Price: mid, Price2: 1.01 * mid, Time: first - 90*step, Time2: first - 80*step, Text: "z"}, // before
		{Kind: MarkZone, Price: mid, Price2: 60_000, Text: "low part"},
		{Kind: MarkLevel, Price: 100_001}, {Kind: MarkLevel, Price: 100_002}, {Kind: MarkLevel, Price: 100_003}, // the last is the fourth beyond the edge
	}}
	p := plan(v, Options{Width: 1440, Height: 768})
	checkPlan(t, p)
	u := p.undrawn()
	if want := []int{0, 1, 3, 5, 6, 10}; !slices.Equal(u.Outside, want) || len(u.Unnamed) != 0 {
		t.Errorf("outside are %v, want %v; without their text %v", u.Outside, want, u.Unnamed)
	}
	texts := strings.Join(append(p.texts(signalText), p.texts(lineText)...), "|")
	if strings.Contains(texts, "high zone") || strings.Contains(texts, "above") || !strings.Contains(texts, "low part") || !strings.Contains(texts, "5 more not drawn") || !strings.Contains(texts, "↑ far") {
		t.Errorf("the picture says %q", texts)
	}
}
