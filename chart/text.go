package chart

import (
	"image"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// face is one of the three cuts of the Go typeface. Their digits all have one
// width, so numbers line up without the wider mono cut.
type face uint8

const (
	regular face = iota
	medium
	bold
	faceCount
)

// drawable are the runes that can be printed, as ranges in order, ASCII first: the Latin,
// Greek and Cyrillic letters that all three cuts have, and signs in use. Any other
// becomes a question mark, so that no empty box appears and the number of glyphs kept in
// memory is bounded.
var drawable = [][2]rune{
	{' ', '~'}, {'\u00a0', 'ſ'}, {'ƒ', 'ƒ'}, {'Ǎ', 'ǜ'}, {'Ǻ', 'ǿ'}, {'Ș', 'ț'}, // Latin
	{'΄', 'Ί'}, {'Ό', 'Ό'}, {'Ύ', 'Ρ'}, {'Σ', 'ώ'}, {'Ѐ', 'џ'}, {'Ґ', 'ґ'}, // Greek, Cyrillic
	{'Ẁ', 'ẅ'}, {'Ỳ', 'ỳ'}, // Latin again
	{'–', '―'}, {'‘', '„'}, {'†', '•'}, {'…', '…'}, {'‰', '‰'}, {'′', '″'}, {'‹', '›'}, {'ⁿ', 'ⁿ'}, {'ₙ', 'ₙ'}, {'€', '€'}, {'№', '№'}, {'™', '™'}, {'\u2126', '\u2126'},
	{'←', '↕'}, {'∆', '∆'}, {'∑', '−'}, {'√', '√'}, {'∞', '∞'}, {'≈', '≈'}, {'≠', '≠'}, {'≤', '≥'},
	{'■', '□'}, {'▲', '▲'}, {'►', '►'}, {'▼', '▼'}, {'◄', '◄'}, {'◊', '○'}, {'●', '●'}, {'ﬁ', 'ﬂ'},
}

var lastSlot, _ = slotOf(drawable[len(drawable)-1][1])

// slotOf returns the index of r in atlas.glyphs; ok is false if r is not drawable.
func slotOf(r rune) (slot int, ok bool) {
	for _, run := range drawable {
		if r <= run[1] {
			return slot + int(r-run[0]), r >= run[0]
		}
		slot += int(run[1]-run[0]) + 1
	}
	return 0, false
}

// glyph is a letter as a small picture of cover levels. Its upper left corner
// is drawn at the pen's position plus at.
type glyph struct {
	at      image.Point
	w, h    int
	cover   []uint8
	advance int
}

// atlas holds the glyphs of one face at one size in whole pixels. A glyph is
// made when it is first used and only read afterwards. Making one takes the
// lock, because an opentype face must not be used by two goroutines at once.
type atlas struct {
	size   int
	glyphs []atomic.Pointer[glyph]

	mu   sync.Mutex
	face font.Face // guarded by mu
}

var (
	parsed = [faceCount]func() (*opentype.Font, error){
		regular: sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(goregular.TTF) }),
		medium:  sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(gomedium.TTF) }),
		bold:    sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(gobold.TTF) }),
	}
	// atlases holds one atlas per face and size. Sizes follow from the picture's
	// size and are at most 256, so there are few hundred, most never made.
	atlases [faceCount][maxFont + 1]atomic.Pointer[atlas]
)

// maxFont is the largest size of text, that of the watermark on the largest
// picture.
const maxFont = 256

// fontAt returns the atlas of a face at a size. The typeface is compiled in,
// so failing to read it is a broken build and panics.
func fontAt(f face, size int) *atlas {
	size = min(max(size, 1), maxFont)
	if a := atlases[f][size].Load(); a != nil {
		return a
	}
	var ff font.Face
	parsedFont, err := parsed[f]()
	if err == nil {
		ff, err = opentype.NewFace(parsedFont, &opentype.FaceOptions{Size: float64(size), DPI: 72, Hinting: font.HintingFull})
	}
	if err != nil {
		panic("chart: " + err.Error())
	}
	// Two goroutines may make an atlas at the same time: both are good, and the last stays.
	a := &atlas{size: size, face: ff, glyphs: make([]atomic.Pointer[glyph], lastSlot+1)}
	atlases[f][size].Store(a)
	return a
}

// glyph returns the glyph of r, or that of a question mark. After the first time it takes no
// lock. Two goroutines may make the same glyph one after the other; the results are equal. The
// face keeps a buffer of its own, so only one goroutine may ask it at a time.
func (a *atlas) glyph(r rune) *glyph {
	slot, ok := slotOf(r)
	if !ok {
		slot, r = '?'-' ', '?'
	}
	if g := a.glyphs[slot].Load(); g != nil {
		return g
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	dr, mask, maskp, advance, ok := a.face.Glyph(fixed.P(0, 0), r)
	g := &glyph{advance: advance.Round()}
	if alpha, isAlpha := mask.(*image.Alpha); ok && isAlpha {
		g.at, g.w, g.h = dr.Min, dr.Dx(), dr.Dy()
		g.cover = make([]uint8, g.w*g.h)
		for y := range g.h {
			for x := range g.w {
				g.cover[y*g.w+x] = level(float64(alpha.AlphaAt(maskp.X+x, maskp.Y+y).A) / 255)
			}
		}
	}
	a.glyphs[slot].Store(g)
	return g
}

func (a *atlas) width(s string) int {
	w := 0
	for _, r := range s {
		w += a.glyph(r).advance
	}
	return w
}

// ascent and descent bound the ink of a line of text around its baseline.
func (a *atlas) ascent() int  { return (a.size*77 + 50) / 100 }
func (a *atlas) descent() int { return (a.size*22 + 50) / 100 }

// baseline returns the baseline that centres capitals and digits on the row y.
func (a *atlas) baseline(y int) int { return y + (a.size*36+50)/100 }

func (c *canvas) text(a *atlas, s string, x, baseline int, i ink) {
	m := &c.pal.mix[i]
	for _, r := range s {
		g := a.glyph(r)
		c.glyph(g, x+g.at.X, baseline+g.at.Y, m)
		x += g.advance
	}
}

// glyph mixes g into the picture with its corner at left, top, as far as it
// lies within clip.
func (c *canvas) glyph(g *glyph, left, top int, m *mixer) {
	x0, x1 := max(0, c.clip.Min.X-left), min(g.w, c.clip.Max.X-left)
	y0, y1 := max(0, c.clip.Min.Y-top), min(g.h, c.clip.Max.Y-top)
	if x0 >= x1 {
		return
	}
	for y := y0; y < y1; y++ {
		cover := g.cover[y*g.w+x0 : y*g.w+x1]
		row := c.pix[(top+y)*c.w+left+x0:][:len(cover)]
		for x, v := range cover { // level 0 of a mixer leaves a pixel as it is
			row[x] = m[v][row[x]]
		}
	}
}

// printable returns s without control characters, invalid bytes and accents that are written
// after their letter, which the fonts lack, cut to n runes with an ellipsis. Every text from
// outside goes through it.
func printable(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
