package chart

import (
	"math"
	"testing"
)

// TestContrast holds every theme to WCAG 2.1: 4.5 for text (1.4.3), 3 for what
// carries data (1.4.11), and a grid that is seen and no louder than that.
func TestContrast(t *testing.T) {
	for th := range themeCount {
		p := themes[th]()
		back := p.named[inkBack]
		check := func(i ink, least, most float64) {
			t.Helper()
			if c := contrast(p.named[i], back); c < least || c > most {
				t.Errorf("theme %s, ink %d: contrast %.2f, want %.2f to %.2f", Themes()[th], i, c, least, most)
			}
		}
		check(inkText, 7, 21)
		check(inkAxis, 4.5, 21)
		check(inkGrid, 1.15, 1.6)
		check(inkStrong, 1.3, 1.7)
		check(inkSep, 1.6, 2.5)
		check(inkLevel, 1.8, 6)
		for _, i := range data {
			check(i, map[bool]float64{true: 4.5, false: 3}[th == Dark], 21) // legends write in them
		}
		for _, i := range []ink{inkUp, inkDown, inkLine1, inkLine3, inkOsc, inkBand, inkAmber} {
			if c := contrast(p.named[i], p.named[p.onTag[i]]); c < 3.8 {
				t.Errorf("theme %s: text on a tag of ink %d has contrast %.2f", Themes()[th], i, c)
			}
		}
	}
}

// TestHighContrast: all texts of the theme have 7 to 1 (1.4.6), and what carries data has 4.5.
func TestHighContrast(t *testing.T) {
	p := newNamed(highContrast())
	for _, i := range []ink{inkText, inkAxis, inkMuted, inkSep} {
		if c := contrast(p.named[i], p.named[inkBack]); c < 7 {
			t.Errorf("ink %d has contrast %.2f", i, c)
		}
	}
	for _, i := range data {
		if c := contrast(p.named[i], p.named[inkBack]); c < 4.5 {
			t.Errorf("ink %d has contrast %.2f", i, c)
		}
	}
}

// The ratios of the specification's table, to a tenth: the formula is right.
func TestContrastKnown(t *testing.T) {
	dark := hex(0x131722)
	for _, c := range []struct {
		colour uint32
		want   float64
	}{{0xd1d4dc, 12.1}, {0x26a69a, 6.0}, {0xef5350, 5.1}, {0x232837, 1.2}, {0xffc107, 11.0}} {
		if got := contrast(hex(c.colour), dark); math.Abs(got-c.want) > 0.06 {
			t.Errorf("contrast of %06x is %.2f, want %.1f", c.colour, got, c.want)
		}
	}
	if got := contrast(hex(0xffffff), hex(0)); got != 21 {
		t.Errorf("white on black is %v, want 21", got)
	}
}

// TestPalette checks that all colours fit a byte, that ramps over the
// background are exact, and that no mixture is far from what was asked.
func TestPalette(t *testing.T) {
	for th := range themeCount {
		p := themes[th]()
		if len(p.rgb) > 256 {
			t.Fatalf("theme %s has %d colours", Themes()[th], len(p.rgb))
		}
		back := p.solid[inkBack]
		for _, i := range data {
			for level := 2; level < levels; level += 2 {
				want := p.named[i].over(p.named[inkBack], level)
				if got := p.rgb[p.mix[i][level][back]]; got != want {
					t.Errorf("theme %s, ink %d at %d over the background: %v, want %v", Themes()[th], i, level, got, want)
				}
			}
			if got := p.mix[i][levels][back]; got != p.solid[i] {
				t.Errorf("full cover of ink %d gives %d, want %d", i, got, p.solid[i])
			}
		}
		for i := range p.mix {
			for under := range p.rgb {
				if got := p.mix[i][0][under]; int(got) != under {
					t.Fatalf("no cover of ink %d changes %d to %d", i, under, got)
				}
			}
		}
	}
}

func TestNoPoolNamesAColourTwice(t *testing.T) {
	for th := range themeCount {
		seen := map[uint32]bool{}
		for _, i := range linePool {
			if seen[colours[th][i]] {
				t.Errorf("theme %s: %06x twice", Themes()[th], colours[th][i])
			}
			seen[colours[th][i]] = true
		}
	}
}
