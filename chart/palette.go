package chart

import "slices"

// levels is the number of steps between nothing and full cover. Edges use the
// even ones, so that a ramp costs seven entries of the palette; the odd ones
// serve areas of a fixed transparency.
const levels = 16

// The transparencies of the picture, in levels.
const (
	fillLevel    = 2  // 0.125: regions between lines
	weakLevel    = 3  // 0.19: profile bars outside the value area
	strongLevel  = 7  // 0.44: profile bars inside it
	pocLevel     = 14 // 0.87: the widest profile bar
	backingLevel = 14 // 0.87: background under text that data may cross
)

// mixer answers what colour a cover of an ink leaves: mixer[level][under].
type mixer [levels + 1][256]uint8

// palette is the fixed set of at most 256 colours of a theme. Because it is
// fixed, mixing two colours is a look-up in a table made once, and pictures
// have one byte per pixel from the first stroke to the file.
type palette struct {
	rgb   []rgb
	solid [inkCount]uint8
	mix   [inkCount]mixer
	// onTag is the text ink with the better contrast on each ink.
	onTag [inkCount]ink
	named [inkCount]rgb
}

type rgb struct{ r, g, b uint8 }

func hex(c uint32) rgb { return rgb{uint8(c >> 16), uint8(c >> 8), uint8(c)} }

// over returns c covering under at level of levels.
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

// data are the inks of candles, lines and areas.
var data = []ink{
	inkUp, inkDown, inkLine1, inkLine2, inkLine3, inkLine4, inkLine5, inkLine6, inkLine7,
	inkOsc, inkBand, inkAmber, inkMuted, inkProfile,
}

func newPalette(t Theme) *palette {
	p := &palette{}
	for i, c := range colours[t] {
		p.named[i] = hex(c)
	}
	back := p.named[inkBack]
	p.named[inkMark] = p.named[inkText].over(back, 1)
	p.named[inkLevel] = p.named[inkMuted].over(back, 9)
	p.named[inkUpPale] = p.named[inkUp].over(back, 9)
	p.named[inkDownPale] = p.named[inkDown].over(back, 9)
	p.named[inkUpVolume] = p.named[inkUp].over(back, strongLevel)
	p.named[inkDownVolume] = p.named[inkDown].over(back, strongLevel)
	p.named[inkUpEdge] = p.named[inkUp].scaled(20, 27) // 1.35 times darker
	p.named[inkDownEdge] = p.named[inkDown].scaled(20, 27)
	p.named[inkAmberEdge] = p.named[inkAmber].scaled(20, 27)
	p.addRamps()
	for i, c := range p.named {
		p.solid[i] = p.add(c)
	}
	p.makeMixers()
	for i, c := range p.named {
		p.onTag[i] = inkDark
		if contrast(p.named[inkLight], c) > contrast(p.named[inkDark], c) {
			p.onTag[i] = inkLight
		}
	}
	return p
}

// addRamps fills the palette with the mixtures that pictures need: every data
// and text ink fading into the background, fills over the grid, lines over a
// band's fill and over candles. Mixtures beyond these go to the nearest. A ramp
// and its ink lie together, so that the steps along an edge are the same small
// differences for every ink: that took a twentieth off the files.
func (p *palette) addRamps() {
	back := p.named[inkBack]
	p.add(back)
	for _, i := range append([]ink{inkText, inkAxis}, data...) {
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
	for _, i := range data[2:11] {
		p.add(p.named[i].over(p.named[inkUp], 8))
		p.add(p.named[i].over(p.named[inkDown], 8))
	}
}

// add returns the index of c, entering it if it is new. The inks and ramps
// above fit: a test counts them.
func (p *palette) add(c rgb) uint8 {
	if i := slices.Index(p.rgb, c); i >= 0 {
		return uint8(i)
	}
	p.rgb = append(p.rgb, c)
	return uint8(len(p.rgb) - 1)
}

// makeMixers computes the tables. The palette is searched outwards from the
// target's green, which ends after a few entries instead of all.
func (p *palette) makeMixers() {
	order := make([]uint8, len(p.rgb))
	for i := range order {
		order[i] = uint8(i)
	}
	slices.SortFunc(order, func(a, b uint8) int {
		if d := int(p.rgb[a].g) - int(p.rgb[b].g); d != 0 {
			return d
		}
		return int(a) - int(b)
	})
	var start [256]int // first entry of order with at least this green
	for g := range start {
		start[g], _ = slices.BinarySearchFunc(order, g, func(i uint8, g int) int { return int(p.rgb[i].g) - g })
	}
	for i := range p.mix {
		for under := range p.rgb {
			m := &p.mix[i]
			m[0][under] = uint8(under)
			m[levels][under] = p.solid[i]
			for level := 1; level < levels; level++ {
				c := p.named[i].over(p.rgb[under], level)
				m[level][under] = p.nearest(c, order, start[c.g])
			}
		}
	}
}

// nearest returns the entry closest to c, the lower index on a tie.
func (p *palette) nearest(c rgb, order []uint8, from int) uint8 {
	best, found := 1<<30, uint8(0)
	try := func(k int) (further bool) {
		e := p.rgb[order[k]]
		dr, dg, db := int(e.r)-int(c.r), int(e.g)-int(c.g), int(e.b)-int(c.b)
		if 4*dg*dg > best {
			return false
		}
		// The eye's weights, roughly: 2, 4, 3.
		d := 2*dr*dr + 4*dg*dg + 3*db*db
		if d < best || d == best && order[k] < found {
			best, found = d, order[k]
		}
		return true
	}
	for k := from; k < len(order) && try(k); k++ {
	}
	for k := from - 1; k >= 0 && try(k); k-- {
	}
	return found
}
