package chart

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// testColours are n different colours.
func testColours(n int) []rgb {
	pal := make([]rgb, n)
	for i := range pal {
		pal[i] = rgb{uint8(i), uint8(3 * i), uint8(7 * i)}
	}
	return pal
}

// roundTrip encodes a picture and compares what image/png reads with it.
func roundTrip(t *testing.T, pix []uint8, w, h int, pal []rgb) {
	t.Helper()
	var e encoder
	file, err := e.encode(t.Context(), []byte("before"), pix, w, h, pal)
	if err != nil {
		t.Fatal(err)
	}
	file, ok := bytes.CutPrefix(file, []byte("before"))
	if !ok {
		t.Fatal("what stood in dst is gone")
	}
	m, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatalf("%dx%d: %v", w, h, err)
	}
	got, ok := m.(*image.Paletted)
	if !ok || got.Rect != image.Rect(0, 0, w, h) {
		t.Fatalf("decoded as %T of %v", m, m.Bounds())
	}
	if !bytes.Equal(got.Pix, pix) {
		t.Fatalf("%dx%d: pixels differ", w, h)
	}
	for i, c := range pal {
		r, g, b, _ := got.Palette[i].RGBA()
		if (rgb{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}) != c {
			t.Fatalf("colour %d is %v, want %v", i, got.Palette[i], c)
		}
	}
}

// TestEncode covers what a block can look like: nothing but zeros, one byte
// that occurs, all lengths of runs, noise over many blocks.
func TestEncode(t *testing.T) {
	pal := testColours(256)
	r := rand.New(rand.NewPCG(3, 4))
	roundTrip(t, make([]uint8, 1), 1, 1, pal)
	roundTrip(t, make([]uint8, 4096*64), 4096, 64, pal)
	for n := 1; n < 1100; n += 7 {
		pix := make([]uint8, n+20)
		for i := range n {
			pix[10+i] = 9
		}
		roundTrip(t, pix, len(pix), 1, pal)
	}
	noise := make([]uint8, 500*700)
	for i := range noise {
		noise[i] = uint8(r.IntN(256))
	}
	roundTrip(t, noise, 500, 700, pal)
	// Counts like Fibonacci's make the longest codes there are: more than 15
	// bits if nothing limits them.
	var skewed []uint8
	for v, a, b := 0, 1, 1; v < 24; v++ {
		for range a {
			skewed = append(skewed, uint8(v))
		}
		a, b = b, a+b
	}
	r.Shuffle(len(skewed), func(i, j int) { skewed[i], skewed[j] = skewed[j], skewed[i] })
	w := 300
	roundTrip(t, skewed[:len(skewed)/w*w], w, len(skewed)/w, pal)
}

func FuzzEncode(f *testing.F) {
	f.Add(uint16(7), []byte("a picture of some sort"))
	f.Add(uint16(300), bytes.Repeat([]byte{0, 0, 0, 5, 5, 5, 5, 5, 5}, 400))
	pal := testColours(256)
	f.Fuzz(func(t *testing.T, width uint16, pix []byte) {
		w := 1 + int(width)%MaxWidth
		h := min(len(pix)/w, 2000)
		if h == 0 || w*h > 600_000 {
			return
		}
		roundTrip(t, pix[:w*h], w, h, pal)
	})
}

// Without the refusal a client would drop the whole answer.
func TestEncodeTooLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pix := make([]uint8, 4096*4096)
	for i := range pix {
		pix[i] = uint8(r.Uint32())
	}
	var e encoder
	out, err := e.encode(t.Context(), []byte("x"), pix, 4096, 4096, testColours(256))
	if !errors.Is(err, ErrTooLarge) || string(out) != "x" || !strings.Contains(err.Error(), "740000 bytes") {
		t.Errorf("%d bytes and %v, want none and ErrTooLarge", len(out), err)
	}
}

func TestOptionsRefused(t *testing.T) {
	v := &View{}
	for _, c := range []struct {
		o    Options
		want error
	}{
		{Options{Width: 319, Height: 240}, ErrSize},
		{Options{Width: 4097, Height: 240}, ErrSize},
		{Options{Width: 320, Height: 239}, ErrSize},
		{Options{Width: 320, Height: 4097}, ErrSize},
		{Options{Width: -1, Height: 1 << 40}, ErrSize},
		{Options{Width: 320, Height: 240, Theme: 9}, ErrTheme},
		{Options{Width: 320, Height: 240}, nil},
	} {
		if err := PNG(t.Context(), io.Discard, v, c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, err, c.want)
		}
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var b bytes.Buffer
	err := PNG(ctx, &b, sketches(priced(30, 215), "rsi"), Options{Width: 640, Height: 480})
	if !errors.Is(err, context.Canceled) || b.Len() != 0 {
		t.Errorf("%d bytes and %v, want none and context.Canceled", b.Len(), err)
	}
}

func TestParseTheme(t *testing.T) {
	for i, name := range Themes() {
		if got, err := ParseTheme(name); err != nil || got != Theme(i) {
			t.Errorf("ParseTheme(%q) = %v, %v", name, got, err)
		}
	}
	if got, err := ParseTheme(" LIGHT"); err != nil || got != Light {
		t.Errorf("ParseTheme in capitals = %v, %v", got, err)
	}
	if got, err := ParseTheme(""); err != nil || got != Dark {
		t.Errorf("ParseTheme of nothing = %v, %v", got, err)
	}
	if _, err := ParseTheme("pink"); !errors.Is(err, ErrTheme) {
		t.Errorf("ParseTheme(pink): %v", err)
	}
}
