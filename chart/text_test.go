package chart

import (
	"image"
	"slices"
	"testing"
	"unicode"

	"golang.org/x/image/font/sfnt"
)

// TestDrawable: what counts as drawable is in order, and every cut of the typeface has it.
func TestDrawable(t *testing.T) {
	var buf sfnt.Buffer
	slot, before := 0, rune(0)
	for _, run := range drawable {
		if run[0] <= before || run[1] < run[0] {
			t.Errorf("%q to %q does not follow %q", run[0], run[1], before)
		}
		before = run[1]
		for r := run[0]; r <= run[1]; r++ {
			if got, ok := slotOf(r); got != slot || !ok {
				t.Fatalf("%q has slot %d, %v, want %d", r, got, ok, slot)
			}
			slot++
			for f, parse := range parsed {
				font, err := parse()
				if err != nil {
					t.Fatal(err)
				}
				if i, err := font.GlyphIndex(&buf, r); err != nil || i == 0 {
					t.Errorf("face %d has no %q: %v", f, r, err)
				}
			}
		}
	}
	if slot != lastSlot+1 {
		t.Errorf("%d runes are drawable, want %d", lastSlot+1, slot)
	}
}

// TestAccentsApart: an accent that is written after its letter, which the fonts cannot draw, is
// left out; the letter stays.
func TestAccentsApart(t *testing.T) {
	for apart, want := range map[string]string{"Gro\u0308\u00dfe nai\u0308ve": "Große naive", "Pr\u030ci\u0301lis\u030c": "Prilis", "\u0301a q\u0301": "a q"} {
		if got := printable(apart, 99); got != want {
			t.Errorf("%+q is %+q, want %+q", apart, got, want)
		}
	}
}

// TestLettersOfTheTypeface: every Latin, Greek and Cyrillic letter that the typeface has is
// drawn, and it has all of those that the documents and the note about others promise.
func TestLettersOfTheTypeface(t *testing.T) {
	var buf sfnt.Buffer
	font, err := parsed[regular]()
	if err != nil {
		t.Fatal(err)
	}
	for r := rune(0); r <= 0xffff; r++ {
		if !unicode.IsLetter(r) || !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
			continue
		}
		i, err := font.GlyphIndex(&buf, r)
		if err != nil {
			t.Fatal(err)
		}
		promised := r <= 0x17f || r >= 0x384 && r <= 0x3ce || r >= 0x400 && r <= 0x45f
		if _, ok := slotOf(r); ok != (i != 0) || promised && !ok {
			t.Errorf("%q (%U): drawn %v, in the typeface %v, promised %v", r, r, ok, i != 0, promised)
		}
	}
}

// TestLettersOfEurope: texts in its languages are drawn as they are.
func TestLettersOfEurope(t *testing.T) {
	a := fontAt(medium, 12)
	for _, text := range []string{"Größe naïve Señor", "œuvre Œ", "Příliš žluťoučký kůň", "Zażółć gęślą jaźń", "Șoim țară", "İstanbul ığış", "αβγ Ωμέγα", "Жёлтый їжак ґ", "“q” ‘x’ „z“ – — … • ™ № ≠ €£¥ ≥ →"} {
		for _, r := range text {
			if r != '?' && r != ' ' && a.glyph(r) == a.glyph('?') {
				t.Errorf("%q: %q is drawn as a question mark", text, r)
			}
		}
	}
	if g := a.glyph('中'); g != a.glyph('?') || !slices.Equal(g.cover, a.glyph('?').cover) || g.at == (image.Point{}) {
		t.Error("what cannot be drawn is no question mark")
	}
}
