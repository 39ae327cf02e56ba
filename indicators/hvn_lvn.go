package indicators

import (
	"cmp"
	"slices"

	"wick/indicators/shape"
	"wick/market"
)

// The profile is that of volume_profile; its value area is not used here.
var indHVNLVN = Indicator{
	Name: "hvn_lvn", Title: "Nodes", Aliases: []string{"vp_nodes", "volume_nodes"}, Category: Volume,
	Overlay: true, Repaints: true, VisibleOnly: true,
	Doc: "Nodes of the volume profile of the bars on display: levels where clearly more (HVN) or clearly less (LVN) was traded than at the levels around them. " +
		"Price tends to rest at the first and to pass through the second.",
	Formula: "HVN: a bin above all bins within the neighbourhood, by min_prominence of the heaviest bin; LVN: below all, as far under the heaviest of them",
	Params: []Param{
		bins(48), rangeBars(),
		{Name: "neighborhood", Doc: "bins on each side a node is compared with", Kind: Int, Default: 2, Min: 1, Max: 50, Quiet: true},
		{Name: "min_prominence", Doc: "least difference, as a fraction of the heaviest bin", Default: 0.10, Min: 0, Max: 1, Quiet: true},
		{Name: "top_n", Doc: "nodes of each kind at most, the clearest first; 0 shows all", Kind: Int, Min: 0, Max: 500, Quiet: true},
		toggle("show_hvn", true, "mark high-volume nodes"), toggle("show_lvn", true, "mark low-volume nodes"),
	},
	Signals:  []string{shape.LevelTouch},
	Meanings: newestTouch,
	Compute: func(s *market.Series, a Args) *Result {
		r := &Result{}
		var p profile
		if !p.fill(recent(s, a), a.Int("bins"), 0.7, byVolume) {
			return r
		}
		// Both kinds come with the clearest first, so a limit keeps those.
		high, low := p.nodes(a.Int("neighborhood"), a.Float("min_prominence"))
		// draw adds a level for each node, at most top_n of them.
		draw := func(nodes []node, label string, tone Tone) {
			if n := a.Int("top_n"); n > 0 {
				nodes = nodes[:min(n, len(nodes))]
			}
			for _, n := range nodes {
				r.HLines = append(r.HLines, HLine{Y: p.centre(n.bin), Label: label, Tone: tone})
			}
		}
		if a.Bool("show_hvn") {
			draw(high, "HVN", Accent)
		}
		if a.Bool("show_lvn") {
			draw(low, "LVN", Muted)
		}
		r.Signals = shape.LastTouches(s.High, s.Low, r.HLines)
		return r
	},
}

// node is a bin that stands out, and by how much.
type node struct {
	bin        int
	prominence float64
}

// nodes returns the bins above, and those below, all others within reach on
// each side, the most prominent first. A bin nearer than reach to the end of
// the profile is compared with those there are. The prominence of both kinds is
// measured from the heaviest neighbour and must be least of the heaviest bin.
func (p *profile) nodes(reach int, least float64) (high, low []node) {
	// A node must stand out by a part of the heaviest bin, not of its neighbours: else
	// empty regions would be full of nodes.
	limit := least * p.weights[p.poc]
	for k, w := range p.weights {
		// Neighbours are the bins within reach without the bin itself; there is at
		// least one, because a profile has several bins.
		from, to := max(0, k-reach), min(len(p.weights), k+reach+1)
		around := slices.Concat(p.weights[from:k], p.weights[k+1:to])
		heaviest, lightest := slices.Max(around), slices.Min(around)
		switch {
		case w > heaviest && w-heaviest >= limit:
			high = append(high, node{k, w - heaviest})
		case w < lightest && heaviest-w >= limit:
			low = append(low, node{k, heaviest - w})
		}
	}
	for _, nodes := range [][]node{high, low} {
		// Of equally prominent nodes the lower price comes first.
		slices.SortStableFunc(nodes, func(a, b node) int { return cmp.Compare(b.prominence, a.prominence) })
	}
	return high, low
}
