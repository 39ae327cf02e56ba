package flatpng

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
)

// testColours are n different colours.
func testColours(n int) color.Palette {
	pal := make(color.Palette, n)
	for i := range pal {
		pal[i] = color.RGBA{uint8(i), uint8(3 * i), uint8(7 * i), 255}
	}
	return pal
}

// paletted returns the picture with these pixels.
func paletted(pix []uint8, w, h int) *image.Paletted {
	return &image.Paletted{Pix: pix, Stride: w, Rect: image.Rect(0, 0, w, h), Palette: testColours(256)}
}

// roundTrip encodes a picture and compares what image/png reads with it.
func roundTrip(t *testing.T, pix []uint8, w, h int) {
	t.Helper()
	pal := testColours(256)
	file, err := Encode(paletted(pix, w, h), 1<<24)
	if err != nil {
		t.Fatal(err)
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
		if got.Palette[i] != c {
			t.Fatalf("colour %d is %v, want %v", i, got.Palette[i], c)
		}
	}
}

// TestEncode covers what a block can look like: nothing but zeros, one byte
// that occurs, all lengths of runs, noise over many blocks.
func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	roundTrip(t, make([]uint8, 1), 1, 1)
	roundTrip(t, make([]uint8, 4096*64), 4096, 64)
	for n := 1; n < 1100; n += 7 {
		pix := make([]uint8, n+20)
		for i := range n {
			pix[10+i] = 9
		}
		roundTrip(t, pix, len(pix), 1)
	}
	noise := make([]uint8, 500*700)
	for i := range noise {
		noise[i] = uint8(r.IntN(256))
	}
	roundTrip(t, noise, 500, 700)
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
	roundTrip(t, skewed[:len(skewed)/w*w], w, len(skewed)/w)
}

func FuzzEncode(f *testing.F) {
	f.Add(uint16(7), []byte("a picture of some sort"))
	f.Add(uint16(300), bytes.Repeat([]byte{0, 0, 0, 5, 5, 5, 5, 5, 5}, 400))
	f.Fuzz(func(t *testing.T, width uint16, pix []byte) {
		w := 1 + int(width)%4096
		h := min(len(pix)/w, 2000)
		if h == 0 || w*h > 600_000 {
			return
		}
		roundTrip(t, pix[:w*h], w, h)
	})
}

// Encode gives up on noise that exceeds the limit.
func TestTooLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pix := make([]uint8, 4096*4096)
	for i := range pix {
		pix[i] = uint8(r.Uint32())
	}
	out, err := Encode(paletted(pix, 4096, 4096), 740_000)
	if !errors.Is(err, ErrTooLarge) || len(out) != 0 || !strings.Contains(err.Error(), "740000 bytes") {
		t.Errorf("%d bytes and %v, want none and ErrTooLarge", len(out), err)
	}
}
