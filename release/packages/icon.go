package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// icon paints the picture that a client shows beside the name: three candles on
// a dark ground.
func icon() []byte {
	const size = 512
	dark, up, down := color.RGBA{0x13, 0x17, 0x22, 255}, color.RGBA{0x26, 0xa6, 0x9a, 255}, color.RGBA{0xef, 0x53, 0x50, 255}
	m := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{dark, up, down})
	for _, c := range []struct {
		x, high, top, bottom, low int
		tone                      color.Color
	}{{112, 150, 220, 380, 430, up}, {256, 120, 180, 310, 400, down}, {400, 70, 110, 270, 330, up}} {
		fill := func(half, from, to int) {
			draw.Draw(m, image.Rect(c.x-half, from, c.x+half, to), image.NewUniform(c.tone), image.Point{}, draw.Src)
		}
		fill(8, c.high, c.low)
		fill(48, c.top, c.bottom)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}
