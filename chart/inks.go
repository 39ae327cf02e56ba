package chart

import (
	"cmp"
	"slices"

	"wick/indicators"
)

// Which line has which colour. An indicator says what a line means, not how it
// looks; here the meanings become inks, so that no two lines which could be
// confused have the same.

// looks returns the looks of the lines of every panel in a theme, and as the last element those
// of the compared symbols. Overlays and compared symbols share the pane of the price; every
// other panel has all colours to itself.
func (v *View) looks(t Theme) [][]look {
	out := make([][]look, len(v.Panels)+1)
	price := inkChooser{theme: t}
	for i, p := range v.Panels {
		pane := &inkChooser{theme: t}
		if p.Result.Overlay {
			pane = &price
		}
		out[i] = pane.lineLooks(p.Result)
	}
	out[len(v.Panels)] = price.lineLooks(&indicators.Result{Overlay: true, Lines: make([]indicators.Line, len(v.Compare))})
	return out
}

// look is how a line is drawn, besides its style.
type look struct {
	ink    ink
	dashed bool
}

// inkChooser chooses the inks of one pane, so that no two results share a trace.
type inkChooser struct {
	theme Theme
	used  []trace // so far
	lines int     // how many lines have a colour
}

// trace is what a reader sees of a line: its colour, and whether it is solid, dashed or
// dots. It has the colour and not the ink, because a theme may give two inks one colour.
type trace struct {
	colour  uint32
	pattern indicators.Style
}

// lineLooks returns the looks of the lines of one result, parallel to them.
// Lines with the same meaning (both edges of a band) share a look, which no other
// result of the pane has. Lines with the tone Up or Down have the colours of candles;
// if an earlier result has used these, they are dashed, and if one has dashed them, too,
// they have the next free look.
func (c *inkChooser) lineLooks(r *indicators.Result) []look {
	looks := make([]look, len(r.Lines))
	if isCandles(r) { // which have the colours of candles; these are of the values in the legend
		for i := range looks {
			looks[i].ink = inkAxis
		}
		return looks
	}
	// The look of the first line of each tone, for the lines that share it.
	var shared [indicators.Accent + 1]*look
	for i, l := range r.Lines {
		tone := min(l.Tone, indicators.Accent)
		colour, directed := lineInk(tone, r), tone == indicators.Up || tone == indicators.Down
		switch {
		case shared[tone] != nil:
			looks[i] = *shared[tone]
		case directed && c.free(look{colour, false}, l.Style):
			looks[i] = look{colour, false}
		case directed && c.free(look{colour, true}, l.Style):
			looks[i] = look{colour, true}
		case directed || tone == indicators.Auto || !c.unused(colour):
			looks[i] = c.next(l.Style)
			c.lines++
		default:
			looks[i] = look{colour, c.dashing()}
			c.lines++
		}
		c.used = append(c.used, c.trace(looks[i], l.Style))
		if tone >= indicators.Up {
			shared[tone] = &looks[i]
		}
	}
	return looks
}

// lineInk returns the ink that a line of a tone takes if it is still free.
func lineInk(tone indicators.Tone, r *indicators.Result) ink {
	switch tone {
	case indicators.Primary:
		if !r.Overlay && len(r.Lines) == 1 {
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

// toneInks are the inks of tones. Those that only lines have, and Auto, have none.
var toneInks = [...]ink{indicators.Up: inkUp, indicators.Down: inkDown, indicators.Muted: inkMuted, indicators.Band: inkBand, indicators.Accent: inkAmber}

// toneInk returns the ink of a level, an area or a mark, or other if its tone has none.
func toneInk(tone indicators.Tone, other ink) ink {
	return cmp.Or(toneInks[min(tone, indicators.Accent)], other)
}

// barsInk returns the ink of a histogram of a tone. inkUp stands for the four tones of one that
// has no tone of its own.
func barsInk(tone indicators.Tone) ink {
	if tone == indicators.Auto {
		return inkUp
	}
	return toneInk(tone, inkOsc)
}

// next returns the look of the first free ink of the theme for a line of style s. When
// none is left, it starts again from the first, with dashes, and then takes the inks that
// lines usually have for their meaning. Only with more than twenty lines, or ten of dots,
// are two alike.
func (c *inkChooser) next(s indicators.Style) look {
	for _, i := range linePool {
		if c.unused(i) {
			return look{i, c.dashing()}
		}
	}
	var again []look
	for k := range linePool {
		again = append(again, look{linePool[(c.lines+k)%len(linePool)], true})
	}
	for _, i := range slices.Concat(linePool, []ink{inkOsc, inkBand, inkAmber, inkMuted}) {
		again = append(again, look{i, false}, look{i, true})
	}
	return again[max(0, slices.IndexFunc(again, func(l look) bool { return c.free(l, s) }))]
}

func (c *inkChooser) free(l look, s indicators.Style) bool {
	return !slices.Contains(c.used, c.trace(l, s))
}

// dashing reports whether the next line is dashed: from the fourth on, the colour-blind
// theme adds dashes, so that colour is not the only difference.
func (c *inkChooser) dashing() bool { return c.theme == Colorblind && c.lines >= 3 }

func (c *inkChooser) unused(i ink) bool {
	return !slices.ContainsFunc(c.used, func(t trace) bool { return t.colour == colours[c.theme][i] })
}

// trace returns what a line of style s with look l looks like.
func (c *inkChooser) trace(l look, s indicators.Style) trace {
	switch {
	case s == indicators.Dots: // which have no dashes
	case l.dashed:
		s = indicators.Dashed
	case s == indicators.Step:
		s = indicators.Solid
	}
	return trace{colours[c.theme][l.ink], s}
}

// shadePool lists the inks of shaded bars, in order. Where more studies shade, the first
// come again.
var shadePool = []ink{inkFill, inkAmber, inkOsc, inkLine6}

// shades returns the inks of the bars that each panel shades, 0 for one that shades none.
func (v *View) shades() []ink {
	out, n := make([]ink, len(v.Panels)), 0
	for i, p := range v.Panels {
		if len(p.Result.Shaded) > 0 {
			out[i] = shadePool[n%len(shadePool)]
			n++
		}
	}
	return out
}

// signalInk returns the ink of a signal: of a study that shades bars the ink of these, so
// that the marks of several can be told apart.
func (st *study) signalInk(tone indicators.Tone, other ink) ink {
	if st.shade != 0 {
		return st.shade
	}
	return toneInk(tone, other)
}

// ink writes the look of a line of a panel: the name of its ink, followed by " dashed" if it is
// dashed. A theme whose look differs from that of the dark theme has a member of its own.
func (w *writer) ink(looks *[themeCount][][]look, panel, line int) {
	names := Themes()
	for t := range looks {
		l, word := looks[t][panel][line], "ink"
		if Theme(t) != Dark {
			if l == looks[Dark][panel][line] {
				continue
			}
			word += "_" + names[t]
		}
		text := inkNames[l.ink]
		if l.dashed {
			text += " dashed"
		}
		w.put(word, text)
	}
}
