package chart

import (
	"encoding/json"
	"fmt"
	"image/color"
	"math"
	"slices"
	"sync"

	"wick/indicators"
	"wick/market"
)

// Theme is a set of colours.
type Theme uint8

// The themes. Dark is the default; Colorblind is dark with colours that stay
// apart under every common deficiency of colour vision, and hollow up bodies.
const (
	Dark Theme = iota
	Light
	Colorblind
	themeCount
)

// Themes returns the names of the themes in the order of their values, the default first.
func Themes() []string { return []string{"dark", "light", "colorblind"} }

// ink is a colour, named by its role in the picture. Inks that a theme does not define are
// mixed from those that it does.
type ink uint8

const (
	inkBack ink = iota
	inkGrid
	inkStrong // grid lines at the start of a month, a year, a day
	inkSep    // lines between panels
	inkText
	inkAxis
	inkUp
	inkDown
	inkLine1
	inkLine2
	inkLine3
	inkLine4
	inkLine5
	inkLine6
	inkLine7
	inkOsc
	inkBand
	inkAmber
	inkMuted
	inkProfile
	inkFill  // regions between the edges of a band
	inkDark  // text on bright tags
	inkLight // text on dark tags
	namedInks

	inkMark     ink = iota - 1 // the watermark: text, barely there
	inkLevel                   // plain levels: there, but quieter than data
	inkUpPale                  // histogram, positive and falling
	inkDownPale                // histogram, negative and rising
	inkUpVolume
	inkDownVolume
	inkUpEdge // outlines of markers
	inkDownEdge
	inkAmberEdge
	inkCount
)

// colours lists the named inks of every theme as 0xrrggbb. Tests hold them to
// their contrast against the background (text 4.5, data 3 and in the dark theme 4.5, since legends write in these colours, grid 1.15 to 1.6),
// and the first six lines and the candles to their difference from each other
// (CIEDE2000 of 15), in normal sight and in the three deficiencies. The lines
// were found by a search for that: change one only together with the test.
var colours = [themeCount][namedInks]uint32{
	Dark: {
		inkBack: 0x131722, inkGrid: 0x232837, inkStrong: 0x323a4d, inkSep: 0x434b61,
		inkText: 0xd1d4dc, inkAxis: 0xb2b5be, inkUp: 0x26a69a, inkDown: 0xef5350,
		inkLine1: 0xe1bd1b, inkLine2: 0xcffcf3, inkLine3: 0xcfabfc, inkLine4: 0xab51fc,
		inkLine5: 0xfcfcab, inkLine6: 0xb4c6a2, inkLine7: 0xff80ab,
		inkOsc: 0xb388ff, inkBand: 0x7aa2d6, inkAmber: 0xff9800, inkMuted: 0x9aa3b5,
		inkProfile: 0x4c84e8, inkFill: 0x2f9bff, inkDark: 0x0b0e14, inkLight: 0xffffff,
	},
	Light: {
		inkBack: 0xffffff, inkGrid: 0xe6e8ee, inkStrong: 0xcdd2dd, inkSep: 0xb6bcc9,
		inkText: 0x131722, inkAxis: 0x4a4e59, inkUp: 0x00796b, inkDown: 0xd32f2f,
		inkLine1: 0x264962, inkLine2: 0x4a2801, inkLine3: 0x1698dc, inkLine4: 0x9b12c4,
		inkLine5: 0xb78099, inkLine6: 0x3b3e3a, inkLine7: 0xc2185b,
		inkOsc: 0x6b3fd4, inkBand: 0x3a7fc8, inkAmber: 0xb07d00, inkMuted: 0x6b7280,
		inkProfile: 0x2f6fd6, inkFill: 0x2f6fd6, inkDark: 0x0b0e14, inkLight: 0xffffff,
	},
	Colorblind: {
		inkBack: 0x131722, inkGrid: 0x232837, inkStrong: 0x323a4d, inkSep: 0x434b61,
		inkText: 0xd1d4dc, inkAxis: 0xb2b5be, inkUp: 0x56b4e9, inkDown: 0xe69f00,
		inkLine1: 0xf4ee89, inkLine2: 0xf9fdff, inkLine3: 0x029266, inkLine4: 0x9061b4,
		inkLine5: 0x80909d, inkLine6: 0x9a6b00, inkLine7: 0xcc79a7,
		inkOsc: 0xcc79a7, inkBand: 0x7f8fe0, inkAmber: 0xffc800, inkMuted: 0x9aa3b5,
		inkProfile: 0x4c84e8, inkFill: 0x7f8fe0, inkDark: 0x0b0e14, inkLight: 0xffffff,
	},
}

// HighContrast names a theme that only pages have, for people who ask for more contrast.
const HighContrast = "high_contrast"

// highContrast returns the colours of [HighContrast]: the dark ones on black, with white texts and
// a grid that is easier to see.
func highContrast() [namedInks]uint32 {
	c := colours[Dark]
	c[inkBack], c[inkText], c[inkAxis], c[inkMuted] = 0x000000, 0xffffff, 0xffffff, 0xd1d4dc
	c[inkGrid], c[inkStrong], c[inkSep] = 0x3a4152, 0x5f6675, 0xb2b5be
	return c
}

// linePool lists the inks that lines without a colour of their own take, in order.
// No theme gives two of them the same colour.
var linePool = []ink{inkLine1, inkLine2, inkLine3, inkLine4, inkLine5, inkLine6, inkLine7}

var inkNames = [inkCount]string{
	inkBack: "back", inkGrid: "grid", inkStrong: "strong", inkSep: "sep", inkText: "text", inkAxis: "axis", inkUp: "up", inkDown: "down",
	inkLine1: "line1", inkLine2: "line2", inkLine3: "line3", inkLine4: "line4", inkLine5: "line5", inkLine6: "line6", inkLine7: "line7",
	inkOsc: "osc", inkBand: "band", inkAmber: "amber", inkMuted: "muted", inkProfile: "profile", inkFill: "fill", inkDark: "dark", inkLight: "light",
	inkMark: "mark", inkLevel: "level", inkUpPale: "upPale", inkDownPale: "downPale", inkUpVolume: "upVolume", inkDownVolume: "downVolume",
	inkUpEdge: "upEdge", inkDownEdge: "downEdge", inkAmberEdge: "amberEdge",
}

// Look returns the colours of all themes and the tables behind numbers and axes
// as JSON, for a page that draws the series payload in the browser. A page has no such tables of
// its own, so page and picture cannot differ. But for the dark theme it has only the colours that
// differ from that.
func Look() []byte {
	named := map[string][namedInks]uint32{HighContrast: highContrast()}
	for t, name := range Themes() {
		named[name] = colours[t]
	}
	themes, onTag := make(map[string]map[string]string), make(map[string]map[string]string) // #rrggbb, and the ink of text on it, by the name of an ink
	first := newNamed(colours[Dark])
	for name, colours := range named {
		p, all := newNamed(colours), name == Themes()[Dark]
		themes[name], onTag[name] = make(map[string]string), make(map[string]string)
		for i, c := range p.named {
			if all || c != first.named[i] {
				themes[name][inkNames[i]] = fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b)
			}
			if all || p.onTag[i] != first.onTag[i] {
				onTag[name][inkNames[i]] = inkNames[p.onTag[i]]
			}
		}
	}
	opacity := make(map[string]float64) // 0 to 1
	for name, level := range map[string]int{"fill": fillLevel, "weak": weakLevel, "strong": strongLevel, "poc": pocLevel, "backing": backingLevel} {
		opacity[name] = float64(level) / levels
	}
	text, _ := json.Marshal(map[string]any{ // numbers and texts can always be encoded
		"themes": themes, "on_tag": onTag, "levels": opacity, "units": units, "steps": timeSteps, "digits": logDigits, "shares": priceShares,
		"words": signalWords, "types": Types(), "scales": Scales(), "intervals": market.Intervals(), "categories": indicators.Categories(),
	})
	return text
}

// levels is the number of steps between no cover and full cover. The edges of
// lines and letters use the even ones only, so that fading an ink into the
// background costs seven entries of the palette and not fifteen. The odd ones
// serve areas of a fixed transparency.
const levels = 16

// The transparencies of the picture, in levels.
const (
	fillLevel    = 2  // 0.125: regions between lines
	weakLevel    = 3  // 0.19: profile bars outside the value area
	strongLevel  = 7  // 0.44: profile bars inside it
	pocLevel     = 8  // 0.50: the widest profile bar; candles over it must stay readable
	backingLevel = 14 // 0.87: background under text that data may cross
)

// mixer says what an ink makes of a pixel: mixer[level][under] is the palette index to
// store if the ink covers, to that level, a pixel whose index is under. Level 0 leaves every
// pixel as it is, and the highest level gives the ink itself.
type mixer [levels + 1][256]uint8

// palette is the fixed set of at most 256 colours of a theme. Because the set
// is fixed, mixing two colours is a look-up in a table that is made once, and a
// picture has one byte per pixel from the first stroke to the file.
type palette struct {
	rgb     []rgb           // the colours by index
	byGreen []uint8         // their indices, in the order of how much green they have
	colours color.Palette   // the same for package image
	solid   [inkCount]uint8 // the index of each ink
	mix     [inkCount]mixer
	// onTag is the text ink with the better contrast on each ink.
	onTag [inkCount]ink
	named [inkCount]rgb
}

// rgb is a colour without transparency.
type rgb struct{ r, g, b uint8 }

func hex(c uint32) rgb { return rgb{uint8(c >> 16), uint8(c >> 8), uint8(c)} }

// over returns c covering under at level of levels. It rounds to the nearest value of
// each channel.
func (c rgb) over(under rgb, level int) rgb {
	mix := func(a, b uint8) uint8 {
		return uint8((int(a)*level + int(b)*(levels-level) + levels/2) / levels)
	}
	return rgb{mix(c.r, under.r), mix(c.g, under.g), mix(c.b, under.b)}
}

// scaled returns c with every channel multiplied by num/den.
func (c rgb) scaled(num, den int) rgb {
	return rgb{uint8(int(c.r) * num / den), uint8(int(c.g) * num / den), uint8(int(c.b) * num / den)}
}

var data = []ink{
	inkUp, inkDown, inkLine1, inkLine2, inkLine3, inkLine4, inkLine5, inkLine6, inkLine7,
	inkOsc, inkBand, inkAmber, inkMuted, inkProfile,
}

// newNamed returns a palette with the inks of a theme, those that it names and those
// derived from them, and with the text ink for each; but without the mixtures that newPalette
// adds.
func newNamed(colours [namedInks]uint32) *palette {
	p := &palette{}
	for i, c := range colours {
		p.named[i] = hex(c)
	}
	back := p.named[inkBack]
	// The inks that a theme does not name: fainter or darker versions of those that it
	// does.
	p.named[inkMark] = p.named[inkText].over(back, 1)
	p.named[inkLevel] = p.named[inkMuted].over(back, 9)
	p.named[inkUpPale] = p.named[inkUp].over(back, 9)
	p.named[inkDownPale] = p.named[inkDown].over(back, 9)
	p.named[inkUpVolume] = p.named[inkUp].over(back, strongLevel)
	p.named[inkDownVolume] = p.named[inkDown].over(back, strongLevel)
	p.named[inkUpEdge] = p.named[inkUp].scaled(20, 27) // 1.35 times darker
	p.named[inkDownEdge] = p.named[inkDown].scaled(20, 27)
	p.named[inkAmberEdge] = p.named[inkAmber].scaled(20, 27)
	for i, c := range p.named {
		p.onTag[i] = inkDark
		if contrast(p.named[inkLight], c) > contrast(p.named[inkDark], c) {
			p.onTag[i] = inkLight
		}
	}
	return p
}

// newPalette makes the palette of a theme: its inks, the mixtures that pictures
// need, and the tables.
func newPalette(t Theme) *palette {
	p := newNamed(colours[t])
	p.addRamps()
	for i, c := range p.named {
		p.solid[i] = p.add(c)
	}
	for _, c := range p.rgb {
		p.byGreen = append(p.byGreen, uint8(len(p.colours)))
		p.colours = append(p.colours, color.RGBA{c.r, c.g, c.b, 255})
	}
	slices.SortFunc(p.byGreen, func(i, j uint8) int { return int(p.rgb[i].g) - int(p.rgb[j].g) })
	// For every ink, level in use and colour under it, the nearest colour of the palette.
	for i := range p.mix {
		for level := range p.mix[i] {
			if level%2 != 0 && level != weakLevel && level != strongLevel {
				continue
			}
			for under, c := range p.rgb {
				p.mix[i][level][under] = p.nearest(p.named[i].over(c, level))
			}
		}
	}
	return p
}

// addRamps adds the mixtures that pictures need most: every data and text ink
// fading into the background, fills over the grid, lines over a band's fill and
// over candles. Any other mixture is replaced by the nearest colour there is.
// The steps of one fade get neighbouring indices, so that along every edge the
// encoder sees the same small differences: that took a twentieth off the files.
func (p *palette) addRamps() {
	back := p.named[inkBack]
	p.add(back) // as index 0, which canvas.reset relies on
	for _, i := range append([]ink{inkText, inkAxis}, data...) {
		// The even levels, which long strokes use.
		for level := 2; level <= levels; level += 2 {
			p.add(p.named[i].over(back, level))
		}
	}
	for _, i := range []ink{inkFill, inkUp, inkDown, inkProfile} {
		p.add(p.named[i].over(back, fillLevel))
		p.add(p.named[i].over(p.named[inkGrid], fillLevel))
		p.add(p.named[i].over(p.named[inkStrong], fillLevel))
		p.add(p.named[i].over(back, weakLevel))
		p.add(p.named[i].over(back, strongLevel))
	}
	fill := p.named[inkFill].over(back, fillLevel)
	for _, i := range data {
		for _, level := range []int{4, 8, 12} {
			p.add(p.named[i].over(fill, level))
		}
	}
	// The inks of lines over both colours of candles, at half cover.
	for _, i := range data[2:11] {
		p.add(p.named[i].over(p.named[inkUp], 8))
		p.add(p.named[i].over(p.named[inkDown], 8))
	}
}

// add returns the index of c, and adds it if it is new. A test checks that there are never
// more than 256.
func (p *palette) add(c rgb) uint8 {
	if i := slices.Index(p.rgb, c); i >= 0 {
		return uint8(i)
	}
	p.rgb = append(p.rgb, c)
	return uint8(len(p.rgb) - 1)
}

// nearest returns the index of the colour closest to c, the lower one on a tie. From the
// colours with as much green as c it goes both ways, until no closer one can come.
func (p *palette) nearest(c rgb) (found uint8) {
	best := 1 << 30
	start, _ := slices.BinarySearchFunc(p.byGreen, c.g, func(i, green uint8) int { return int(p.rgb[i].g) - int(green) })
	for _, step := range [2]int{1, -1} {
		for at := start + min(step, 0); at >= 0 && at < len(p.byGreen); at += step {
			i := p.byGreen[at]
			// Red, green and blue weigh 2, 4 and 3, roughly as for the eye.
			dr, dg, db := int(p.rgb[i].r)-int(c.r), int(p.rgb[i].g)-int(c.g), int(p.rgb[i].b)-int(c.b)
			if 4*dg*dg > best {
				break
			}
			if d := 2*dr*dr + 4*dg*dg + 3*db*db; d < best || d == best && i < found {
				best, found = d, i
			}
		}
	}
	return found
}

// themes holds the palette of each theme. One is made when it is first needed and only read
// afterwards: each takes some milliseconds, and most servers draw in one theme.
var themes = [themeCount]func() *palette{
	Dark:       sync.OnceValue(func() *palette { return newPalette(Dark) }),
	Light:      sync.OnceValue(func() *palette { return newPalette(Light) }),
	Colorblind: sync.OnceValue(func() *palette { return newPalette(Colorblind) }),
}

// contrast returns the WCAG 2.1 contrast ratio of two colours, 1 to 21.
func contrast(a, b rgb) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance returns the relative luminance of c as WCAG 2.1 defines it.
func luminance(c rgb) float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.03928 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return float64(0.2126*linear(c.r)) + float64(0.7152*linear(c.g)) + float64(0.0722*linear(c.b))
}
