package chart

import (
	"math"
	"testing"
)

// TestLogicalGeometry compares pictures with smaller ones of the same logical
// size: what a large one measures in pixels is what the small one does, times
// u. A body that stayed one pixel wide at 4096 would vanish when the picture is
// shrunk.
func TestLogicalGeometry(t *testing.T) {
	for _, c := range []struct {
		w, h, bars int
		ratio      float64
	}{
		{4096, 4096, 1000, 1}, {4096, 4096, 200, 1}, {4096, 4096, 5000, 1}, {3840, 2160, 1000, 1}, {3840, 2160, 3000, 1},
		{1200, 700, 200, 2}, {1200, 700, 1000, 3}, {400, 300, 100, 3}, {320, 240, 1000, 2},
	} {
		v := sketches(priced(c.bars, 215), "ema", "rsi")
		large := plan(v, Options{Width: c.w, Height: c.h, PixelRatio: c.ratio})
		u := large.u
		small := plan(v, Options{Width: int(float64(large.w) / u), Height: int(float64(large.h) / u)})
		if small.u != 1 {
			t.Fatalf("%dx%d shrunk has u = %g", c.w, c.h, small.u)
		}
		near := func(what string, large, small float64) {
			t.Helper()
			if math.Abs(large/u-small) > 1 || large/u < 0.75*small {
				t.Errorf("%dx%d at %g, %d bars: %s %.2f logical pixels, want %.2f", c.w, c.h, c.ratio, c.bars, what, large/u, small)
			}
		}
		near("body", float64(large.body), float64(small.body))
		near("wick", float64(large.wick), float64(small.wick))
		near("line", large.line, small.line)
		near("thinnest stroke", float64(large.thin), float64(small.thin))
		near("axis text", float64(large.axis.size), float64(small.axis.size))
		// Marks of text and boxes of candles take the same part of the picture.
		if got, want := inkPart(large), inkPart(small); got < 0.8*want {
			t.Errorf("%dx%d at %g, %d bars: candles cover %.3f, want %.3f", c.w, c.h, c.ratio, c.bars, got, want)
		}
	}
}

// inkPart returns the part of the price plot that candles cover.
func inkPart(p *picture) float64 {
	area := 0
	for _, c := range p.candles {
		area += p.wick*(c.low-c.high) + (p.body-p.wick)*(c.bodyBottom-c.bodyTop)
	}
	plot := p.panes[0].plot
	return float64(area) / float64(plot.Dx()*plot.Dy())
}
