package chart

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wick/indicators"
	"wick/market"
)

// TestLooksDiffer: in every theme no two lines over the price that belong to different
// studies have the same colour and pattern, up to twenty of them and ten of dots.
func TestLooksDiffer(t *testing.T) {
	s := walk(60, 215, 2, market.Hour1)
	overlays := func(names ...string) (out []*indicators.Result) {
		for _, p := range view(t, s, names...).Panels {
			out = append(out, p.Result)
		}
		return out
	}
	many := &indicators.Result{Overlay: true, Lines: []indicators.Line{{}}}
	dashed := &indicators.Result{Overlay: true, Lines: []indicators.Line{{Tone: indicators.Up, Style: indicators.Dashed}, {Style: indicators.Dashed}}}
	dots := &indicators.Result{Overlay: true, Lines: []indicators.Line{{Style: indicators.Dots}}}
	cases := [][]*indicators.Result{
		overlays("sar", "chandelier_exit", "alligator", "ut_bot"),
		overlays("smoothed_heikin_ashi", "gann_hilo", "pmax", "halftrend"),
		overlays("pivot_fibonacci", "previous_levels", "cpr", "supertrend"),
		slices.Repeat([]*indicators.Result{many}, 20),
		slices.Repeat([]*indicators.Result{dashed}, 5),
		slices.Repeat([]*indicators.Result{dots}, 10),
	}
	// And four neighbours of the catalogue at a time.
	var all []*indicators.Result
	for ind := range indicators.All() {
		if r := view(t, filled(s, ind.Needs), ind.Name).Panels[0].Result; r.Overlay && len(r.Lines) > 0 && len(r.Lines) < 6 {
			all = append(all, r)
		}
	}
	for group := range slices.Chunk(all, 4) {
		cases = append(cases, group)
	}
	for _, results := range cases {
		v := &View{Series: s}
		for i, r := range results {
			v.Panels = append(v.Panels, Panel{Key: strconv.Itoa(i), Result: r})
		}
		for theme := range themeCount {
			p := plan(v, Options{Width: 1440, Height: 768, Theme: theme})
			type seen struct {
				colour       rgb
				dashed, dots bool
			}
			owner := map[seen]int{}
			for k, st := range p.panes[0].studies {
				for i, l := range st.Lines {
					as := seen{p.pal.named[st.lines[i].ink], (st.lines[i].dashed || l.Style == indicators.Dashed) && l.Style != indicators.Dots, l.Style == indicators.Dots}
					if other, taken := owner[as]; taken && other != k {
						t.Errorf("%s: line %d of study %d, %q, looks like one of study %d, %q", Themes()[theme], i, k, st.Label, other, p.panes[0].studies[other].Label)
					}
					owner[as] = k
				}
			}
		}
	}
}

// TestShadesDiffer: of several rules each has a shade of its own, named in the legend in its
// colour, in which its marks are and which a series gives, and a fifth takes the first again.
func TestShadesDiffer(t *testing.T) {
	v := &View{Series: priced(50, 215)}
	for k := range 5 {
		r := &indicators.Result{Label: "Rule(x)", Overlay: true, Shaded: make([]bool, 50)}
		for i := 10 * k; i < 10*k+10; i++ { // no two are true on one bar
			r.Shaded[i] = true
		}
		r.Signals = []indicators.Signal{{Bar: 10 * k, Label: "becomes_true", Tone: indicators.Up}}
		v.Panels = append(v.Panels, Panel{Key: "rule#" + strconv.Itoa(k), Result: r})
	}
	var series struct {
		Indicators map[string]struct{ Shade string }
	}
	if err := json.Unmarshal(AppendSeries(nil, v), &series); err != nil {
		t.Fatal(err)
	}
	for th := range themeCount {
		p, c := painted(t, v, Options{Width: 1440, Height: 768, Theme: th}, false)
		var keys []ink
		var states []string
		for _, l := range p.labels {
			if l.text == "■ true" { // whatever the last bar is: shaded is what is true
				keys = append(keys, l.ink)
			}
			if state, ok := strings.CutPrefix(l.text, "last bar "); ok {
				states = append(states, state)
			}
		}
		if want := []string{"false", "false", "false", "false", "true"}; !slices.Equal(states, want) {
			t.Errorf("theme %s: at the last bar the rules are %v, want %v", Themes()[th], states, want)
		}
		if len(keys) != 5 || len(p.marks) != 5 || keys[4] != keys[0] {
			t.Fatalf("theme %s: %d keys of shades and %d marks, want 5 of each: %v", Themes()[th], len(keys), len(p.marks), keys)
		}
		for k, i := range keys {
			// The rows right below the legend have no grid line and no data.
			seen := p.pal.rgb[c.pix[(p.panes[0].legend.Max.Y+2)*c.w+p.column(10*k+5)+p.body/2+2]]
			if want := p.pal.named[i].over(p.pal.named[inkBack], fillLevel); seen != want {
				t.Errorf("theme %s: rule %d is shaded %v, want %v", Themes()[th], k, seen, want)
			}
			if name := series.Indicators["rule#"+strconv.Itoa(k)].Shade; p.marks[k].ink != i || name != inkNames[i] {
				t.Errorf("theme %s: the mark of rule %d has ink %d, a series says %s, want %d", Themes()[th], k, p.marks[k].ink, name, i)
			}
			for _, other := range keys[:min(k, 4)] {
				if d := ciede2000(labOf(p.pal.named[i], sights[0].matrix), labOf(p.pal.named[other], sights[0].matrix)); k < 4 && d < 15 {
					t.Errorf("theme %s: the shades %d and %d differ by %.1f", Themes()[th], i, other, d)
				}
			}
		}
	}
}
