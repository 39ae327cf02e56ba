package chart

import (
	"slices"
	"strconv"
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
