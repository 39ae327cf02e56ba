package chart

import (
	"slices"

	"wick/indicators"
)

// look is how a line is told from its neighbours.
type look struct {
	ink    ink
	dashed bool
}

// inkChooser hands out the inks of one pane, so that no two results share one.
type inkChooser struct {
	theme Theme
	pal   *palette
	used  []rgb
	lines int
}

// chooseInks settles the look of every line and histogram.
func (p *picture) chooseInks() {
	for i := range p.panes {
		c := inkChooser{theme: p.theme, pal: p.pal}
		for k := range p.panes[i].studies {
			st := &p.panes[i].studies[k]
			st.lines = c.lineLooks(st.Result, p.panes[i].price)
			st.bars = make([]ink, len(st.Histogram))
			for h, hist := range st.Histogram {
				st.bars[h] = inkUp
				if hist.Tone != indicators.Auto {
					st.bars[h] = toneInk(hist.Tone, inkOsc)
				}
			}
		}
	}
}

// lineLooks chooses for the lines of one result. Lines that mean the same
// (both edges of a band) share a look; it is new to the pane all the same.
func (c *inkChooser) lineLooks(r *indicators.Result, price bool) []look {
	looks := make([]look, len(r.Lines))
	var shared [indicators.Accent + 1]*look
	before := c.used // by earlier results: a second up trend is dashed
	for i, l := range r.Lines {
		switch tone := min(l.Tone, indicators.Accent); {
		case tone == indicators.Up || tone == indicators.Down:
			looks[i] = look{ink: toneInk(tone, inkUp), dashed: slices.Contains(before, c.pal.named[toneInk(tone, inkUp)])}
			c.used = append(c.used, c.pal.named[looks[i].ink])
		case tone >= indicators.Muted && shared[tone] != nil:
			looks[i] = *shared[tone]
		case tone == indicators.Auto:
			looks[i] = c.next()
		default:
			looks[i] = c.prefer(lineInk(tone, r, price))
			shared[tone] = &looks[i]
		}
	}
	return looks
}

// lineInk returns the ink a line of a tone would like.
func lineInk(tone indicators.Tone, r *indicators.Result, price bool) ink {
	switch tone {
	case indicators.Primary:
		if !price && len(r.Lines) == 1 {
			return inkOsc
		}
		return inkLine3
	case indicators.Second:
		return inkLine2
	case indicators.Muted:
		// The middle of a band is a line to read, not a level.
		if slices.ContainsFunc(r.Lines, func(l indicators.Line) bool { return l.Tone == indicators.Band }) {
			return inkLine2
		}
		return inkMuted
	}
	return toneInk(tone, inkOsc)
}

// toneInk returns the ink of what is not a line of its own: levels, areas,
// marks. Auto and the tones of lines give other.
func toneInk(tone indicators.Tone, other ink) ink {
	switch tone {
	case indicators.Up:
		return inkUp
	case indicators.Down:
		return inkDown
	case indicators.Muted:
		return inkMuted
	case indicators.Band:
		return inkBand
	case indicators.Accent:
		return inkAmber
	}
	return other
}

// prefer takes i if its colour is free in the pane, else the next that is.
func (c *inkChooser) prefer(i ink) look {
	if slices.Contains(c.used, c.pal.named[i]) {
		return c.next()
	}
	return c.take(i)
}

// next takes the first free ink of the theme. When none is left it begins
// again with dashes.
func (c *inkChooser) next() look {
	pool := linePools[c.theme]
	for _, i := range pool {
		if !slices.Contains(c.used, c.pal.named[i]) {
			return c.take(i)
		}
	}
	l := c.take(pool[c.lines%len(pool)])
	l.dashed = true
	return l
}

// take enters i as used. Beyond three lines the colour-blind theme varies the
// dash too.
func (c *inkChooser) take(i ink) look {
	c.used = append(c.used, c.pal.named[i])
	c.lines++
	return look{ink: i, dashed: c.theme == Colorblind && c.lines > 3}
}
