package chart

import (
	"strconv"
	"strings"
	"testing"

	"wick/indicators"
	"wick/market"
)

// crowded returns a result with n signals on every bar of s, up and down under
// one label.
func crowded(bars, n int, overlay bool) *indicators.Result {
	r := &indicators.Result{Label: "Crowd", Overlay: overlay,
		Lines: []indicators.Line{{Label: "x", Tone: indicators.Primary, Values: wave(bars, 215, 5, 3, 0)}}}
	for i := 2; i < bars; i++ {
		for k := range n {
			tone := indicators.Up
			if (i+k)%2 == 0 {
				tone = indicators.Down
			}
			r.Signals = append(r.Signals, indicators.Signal{Bar: i, Y: r.Lines[0].Values[i], Label: "flip", Tone: tone})
		}
	}
	return r
}

// TestNoSignalVanishes: marks that are drawn and those that the legend says are
// not drawn are all there are.
func TestNoSignalVanishes(t *testing.T) {
	for _, overlay := range []bool{true, false} {
		for _, bars := range []int{20, 200, 2000} {
			r := crowded(bars, 3, overlay)
			p := plan(drawn(priced(bars, 215), r)(), Options{Width: 1440, Height: 768})
			more := 0
			for _, text := range p.texts(legendText) {
				if rest, ok := strings.CutSuffix(text, " more not drawn"); ok {
					more, _ = strconv.Atoi(rest)
				}
			}
			if len(p.marks)+more != len(r.Signals) {
				t.Errorf("overlay %v, %d bars: %d marks and %d more, want %d", overlay, bars, len(p.marks), more, len(r.Signals))
			}
		}
	}
}

// TestMarksAreSpread: where marks are left out, every tenth of the chart keeps
// some.
func TestMarksAreSpread(t *testing.T) {
	p := plan(drawn(priced(2000, 215), crowded(2000, 1, true))(), Options{Width: 1440, Height: 768})
	var tenths [10]int
	for _, m := range p.marks {
		tenths[m.box.Min.X*10/p.axisX]++
	}
	for i, n := range tenths {
		if n < len(p.marks)/20 || n > len(p.marks)/5 {
			t.Errorf("tenth %d of the chart has %d of %d marks", i, n, len(p.marks))
		}
	}
}

// TestMarksCoverLittle: marks and names cover at most a tenth of a pane.
func TestMarksCoverLittle(t *testing.T) {
	for k, size := range testSizes {
		for _, bars := range []int{30, 400} {
			v := sketches(priced(bars, 215), "bb", "rsi", "macd")
			v.Panels = append(v.Panels, Panel{Result: crowded(bars, 2, k%2 == 0)})
			p := plan(v, Options{Width: size[0], Height: size[1], Signals: SignalsLabels})
			for i, pn := range p.panes {
				covered := 0
				for _, m := range p.marks {
					if m.box.Overlaps(pn.frame) {
						covered += m.box.Dx() * m.box.Dy()
					}
				}
				for _, l := range p.labels {
					if l.kind == signalText && l.box.Overlaps(pn.plot) {
						covered += l.box.Dx() * l.box.Dy()
					}
				}
				if room := p.axisX * (pn.floor - pn.legend.Max.Y); covered*10 > room {
					t.Errorf("%v, %d bars: pane %d has %d of %d pixels covered", size, bars, i, covered, room)
				}
			}
		}
	}
}

// TestSignalModes: what each mode draws of the same signals.
func TestSignalModes(t *testing.T) {
	v := drawn(priced(80, 215), signals(true))()
	for _, c := range []struct {
		mode         Signals
		marks, names bool
		most         int
	}{{SignalsAuto, true, true, 3}, {SignalsLabels, true, true, 99}, {SignalsMarks, true, false, 0}, {SignalsOff, false, false, 0}} {
		p := plan(v, Options{Width: 1440, Height: 768, Signals: c.mode})
		names := len(p.texts(signalText))
		counted := strings.Contains(strings.Join(p.texts(legendText), " "), "×")
		if len(p.marks) > 0 != c.marks || names > 0 != c.names || names > c.most || counted != c.marks {
			t.Errorf("%s: %d marks, %d names, counted %v", SignalWords()[c.mode], len(p.marks), names, counted)
		}
	}
}

// TestSignalDirections: one label in two directions is two entries.
func TestSignalDirections(t *testing.T) {
	p := plan(drawn(priced(40, 215), crowded(40, 1, true))(), Options{Width: 1440, Height: 768})
	text := strings.Join(p.texts(legendText), " | ")
	if !strings.Contains(text, "▲ turns ×19") || !strings.Contains(text, "▼ turns ×19") {
		t.Errorf("the legend says %q, want both directions with 19 each", text)
	}
}

// TestSilentSignals: a picture neither marks nor names silent signals, but counts them, without
// the sign of a mark.
func TestSilentSignals(t *testing.T) {
	r := crowded(40, 1, true)
	for i := range r.Signals {
		r.Signals[i].Silent = i%2 == 0
	}
	p := plan(drawn(priced(40, 215), r)(), Options{Width: 1440, Height: 768, Signals: SignalsLabels})
	text := strings.Join(p.texts(legendText), " | ")
	if len(p.marks) > 19 || !strings.HasSuffix(text, "| ▲ turns ×19 | turns ×19") {
		t.Errorf("%d marks, and the legend says %q, want 19 of one direction and 19 silent ones", len(p.marks), text)
	}
}

// TestSignalNames: no picture shows a label with underscores, or one that both enters and leaves.
func TestSignalNames(t *testing.T) {
	for ind := range indicators.All() {
		for _, label := range ind.Signals {
			if name := SignalName(label); strings.Contains(name, "_") || name == "" || strings.Contains(name, "enters") && strings.Contains(name, "leaves") {
				t.Errorf("%s: signal %q is shown as %q", ind.Name, label, name)
			}
		}
	}
}

// TestEverySignalIsCounted: of every entry each signal of its summary is in the legend, and one
// that is not silent is drawn or among those that are said not to be.
func TestEverySignalIsCounted(t *testing.T) {
	s := walk(300, 215, 2, market.Hour4)
	for ind := range indicators.All() {
		r, err := indicators.New(ind.Name, nil)
		if err != nil {
			continue // it needs arguments
		}
		result := r.Compute(s)
		p := plan(&View{Series: s, Panels: []Panel{{Key: ind.Name, Result: result}}}, Options{Width: 1440, Height: 768})
		pn := p.panes[len(p.panes)-1]
		counted, silent := 0, 0
		for _, g := range groupSignals(result.Signals) {
			counted += g.count
			if g.signal.Silent {
				silent += g.count
			}
		}
		items := 0
		for _, item := range p.legendItems(pn, pn.studies[0]) {
			if item.count {
				_, n, _ := strings.Cut(item.text, " ×")
				more, _ := strconv.Atoi(n)
				items += more
			}
		}
		if counted != len(result.Signals) || items != counted || len(p.marks)+pn.unmarked != counted-silent {
			t.Errorf("%s: %d signals, %d counted, %d in the legend; %d marks and %d not drawn, %d silent", ind.Name, len(result.Signals), counted, items, len(p.marks), pn.unmarked, silent)
		}
	}
}

// TestOldMarksArePale: in a panel of many signals all are marked, and only the newest of each
// kind and divergences in full ink.
func TestOldMarksArePale(t *testing.T) {
	r := crowded(200, 1, true)
	r.Signals[7].Label = "bull_div"
	p := plan(drawn(priced(200, 215), r)(), Options{Width: 1440, Height: 768})
	full := 0
	for _, m := range p.marks {
		if !m.pale {
			full++
		}
	}
	if p.panes[len(p.panes)-1].unmarked > 0 || len(p.marks) != len(r.Signals) || full != 3 {
		t.Errorf("%d of %d signals are marked, %d in full ink, want all and 3", len(p.marks), len(r.Signals), full)
	}
}
