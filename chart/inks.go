package chart

import (
	"slices"

	"wick/indicators"
)

// Which line has which colour. An indicator says what a line means, not how it
// looks; this file turns the meanings into inks, so that no two lines which could be
// confused have the same.

// inkChooser chooses the inks of one pane, so that no two results share one. Colours
// are compared and not inks, because a theme may give two inks one colour.
type inkChooser struct {
	theme Theme
	pal   *palette
	used  []rgb // colours used so far
	lines int   // how many lines have a colour
}

// chooseInks decides the look of every line and histogram, pane by pane.
func (p *picture) chooseInks() {
	for i := range p.panes {
		// Each pane has all colours to itself.
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

// lineLooks returns the looks of the lines of one result, parallel to them.
// Lines with the same meaning (both edges of a band) share a look, which no other
// result of the pane has. Lines with the tone Up or Down have the colours of candles;
// if an earlier result has used these, they are dashed.
func (c *inkChooser) lineLooks(r *indicators.Result, price bool) []look {
	looks := make([]look, len(r.Lines))
	// The look of the first line of each tone, for the lines that share it.
	var shared [indicators.Accent + 1]*look
	before := c.used // colours of earlier results
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

// lineInk returns the ink that a line of a tone takes if it is still free.
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

// toneInk returns the ink of a level, an area or a mark. Tones that only lines
// have, and Auto, give other.
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

// prefer returns the look of ink i if its colour is free in the pane, else that of the
// next free one.
func (c *inkChooser) prefer(i ink) look {
	if slices.Contains(c.used, c.pal.named[i]) {
		return c.next()
	}
	return c.take(i)
}

// next returns the look of the first free ink of the theme. When none is left, it starts
// again from the first, with dashes.
func (c *inkChooser) next() look {
	for _, i := range linePool {
		if !slices.Contains(c.used, c.pal.named[i]) {
			return c.take(i)
		}
	}
	l := c.take(linePool[c.lines%len(linePool)])
	l.dashed = true
	return l
}

// take marks i as used and returns its look. From the fourth line on, the
// colour-blind theme adds dashes, so that colour is not the only difference.
func (c *inkChooser) take(i ink) look {
	c.used = append(c.used, c.pal.named[i])
	c.lines++
	return look{ink: i, dashed: c.theme == Colorblind && c.lines > 3}
}

// themeLooks are the looks of the lines of one result, by theme.
type themeLooks [themeCount][]look

// looks returns the looks of the lines of every panel in all themes, and as the last
// element those of the compared symbols. They are the looks that pictures have: overlays
// and compared symbols are in the pane of the price, and every other panel in its own.
func (v *View) looks() []themeLooks {
	out := make([]themeLooks, len(v.Panels)+1)
	compared := &indicators.Result{Lines: make([]indicators.Line, len(v.Compare))}
	for t := range themeCount {
		pal := newNamed(t)
		price := &inkChooser{theme: t, pal: pal}
		for i, p := range v.Panels {
			c := price
			if !p.Result.Overlay {
				c = &inkChooser{theme: t, pal: pal}
			}
			out[i][t] = c.lineLooks(p.Result, p.Result.Overlay)
		}
		out[len(v.Panels)][t] = price.lineLooks(compared, true)
	}
	return out
}

// ink writes the look of line i: the name of its ink, followed by " dashed" if it is
// dashed. A theme whose look differs from that of the dark theme has a member of its own.
func (w *writer) ink(looks themeLooks, i int) {
	names := Themes()
	for t := range themeCount {
		l, word := looks[t][i], "ink"
		if t != Dark {
			if l == looks[Dark][i] {
				continue
			}
			word += "_" + names[t]
		}
		text := inkNames[l.ink]
		if l.dashed {
			text += " dashed"
		}
		w.string(word, text)
	}
}
