package chart

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"

	"wick/indicators"
	"wick/market"
)

// ascii prints part of a canvas: a dot for the background, a sharp for the ink,
// a digit for an edge: its cover in eighths.
func ascii(c *canvas, r image.Rectangle, i ink) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		line := make([]byte, 0, r.Dx())
		for x := r.Min.X; x < r.Max.X; x++ {
			mark := byte('?')
			for level := 0; level <= levels; level += 2 {
				if c.pix[y*c.w+x] == c.pal.mix[i][level][c.pal.solid[inkBack]] {
					mark = ".1234567#"[level/2]
					break
				}
			}
			line = append(line, mark)
		}
		fmt.Println(string(line))
	}
}

// A candle's wick stands exactly in the middle of its body.
func Example_candle() {
	p := &picture{metrics: newMetrics(1200, 700, 1), scene: scene{pal: themes[Dark]()}, body: 5, wick: 1}
	var c canvas
	c.reset(9, 9, p.pal)
	p.candles = []candle{{x: 4, high: 1, bodyTop: 3, bodyBottom: 6, low: 8, ink: inkUp}}
	p.drawPrice(nil)
	_ = p.paint(context.Background(), &c)
	ascii(&c, image.Rect(0, 0, 9, 9), inkUp)
	// Output:
	// .........
	// ....#....
	// ....#....
	// ..#####..
	// ..#####..
	// ..#####..
	// ....#....
	// ....#....
	// .........
}

// The cover of a sloped line is taken from each pixel's distance to it.
func Example_stroke() {
	var c canvas
	c.reset(16, 8, themes[Dark]())
	c.stroke([]point{{2, 2}, {14, 6}}, 2, inkLine3)
	ascii(&c, image.Rect(0, 0, 16, 8), inkLine3)
	// Output:
	// ................
	// .6742...........
	// .6###742........
	// ..247###742.....
	// .....247###742..
	// ........247###6.
	// ...........2476.
	// ................
}

// Triangles mark signals, below a bar for up.
func Example_triangle() {
	var c canvas
	c.reset(13, 8, themes[Dark]())
	c.triangle(point{6.5, 1}, 9, 6, inkUp, levels)
	ascii(&c, image.Rect(0, 0, 13, 8), inkUp)
	// Output:
	// ......2......
	// ......6......
	// .....5#5.....
	// ....3###3....
	// ...2#####2...
	// ...6#####6...
	// ..5#######5..
	// .............
}

// Text is mixed into what lies under it, glyph by glyph.
func Example_text() {
	var c canvas
	c.reset(12, 12, themes[Dark]())
	c.text(fontAt(bold, 11), "1h", 1, 10, inkText)
	ascii(&c, image.Rect(0, 1, 12, 11), inkText)
	// Output:
	// .......142..
	// ..46#1.2#3..
	// ..45#1.2#3..
	// ...3#1.2#46#
	// ...3#1.2#736
	// ...3#1.2#3.5
	// ...3#1.2#3.5
	// ...3#1.2#3.5
	// ..7##762#3.5
	// ............
}

// A chart of bars with one indicator, written as a PNG.
func ExampleDraw() {
	s := &market.Series{Symbol: "EXAMPLE", Interval: market.Day1}
	for i := range 50 {
		open := 100 + float64(i%7)
		s.Append(market.Bar{Time: int64(i) * 86400, Open: open, High: open + 3, Low: open - 2, Close: open + 1, Volume: 1000})
	}
	request, err := indicators.New("rsi", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	v := &View{Series: s, Panels: []Panel{{Key: request.Key, Result: request.Compute(s)}}}
	file, _, err := Draw(context.Background(), v, Options{Width: 1440, Height: 768})
	if err != nil {
		fmt.Println(err)
		return
	}
	config, err := png.DecodeConfig(bytes.NewReader(file))
	fmt.Println(config.Width, config.Height, err)
	// Output: 1440 768 <nil>
}
