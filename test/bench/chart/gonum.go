package main

import (
	"bytes"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

var (
	gonumBack = color.RGBA{0x13, 0x17, 0x22, 255}
	gonumText = color.RGBA{0xb2, 0xb5, 0xbe, 255}
	gonumUp   = color.RGBA{0x26, 0xa6, 0x9a, 255}
	gonumDown = color.RGBA{0xef, 0x53, 0x50, 255}
	gonumInks = []color.Color{
		color.RGBA{0xf6, 0xd3, 0x2d, 255}, color.RGBA{0xff, 0x98, 0x00, 255}, color.RGBA{0x2f, 0x9b, 0xff, 255},
		color.RGBA{0xe0, 0x5c, 0xff, 255}, color.RGBA{0x4d, 0xd0, 0xe1, 255}, color.RGBA{0x7a, 0xa2, 0xd6, 255},
	}
)

// drawGonum draws three plots on one canvas, a point to a pixel.
func drawGonum(j *job) ([]byte, error) {
	w, h := vg.Length(j.w), vg.Length(j.h)
	img := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(72), vgimg.UseBackgroundColor(gonumBack))
	c := draw.New(img)
	price, rsi, macd := gonumPlot(), gonumPlot(), gonumPlot()
	price.Add(plotter.NewGrid(), gonumBand(j), gonumBars{j, false})
	for i, name := range []string{"EMA 8", "EMA 21", "EMA 50", "EMA 200"} {
		gonumLine(price, name, j.ema[i], i)
	}
	gonumLine(price, "Middle", j.middle, 4)
	gonumLine(price, "Upper", j.upper, 5)
	gonumLine(price, "Lower", j.lower, 5)
	rsi.Add(plotter.NewGrid())
	gonumLine(rsi, "RSI", j.rsi, 3)
	for _, v := range []float64{30, 50, 70} {
		l, err := plotter.NewLine(plotter.XYs{{X: 0, Y: v}, {X: float64(j.series.Len()), Y: v}})
		if err != nil {
			return nil, err
		}
		l.Color, l.Dashes = gonumText, []vg.Length{6, 4}
		rsi.Add(l)
	}
	rsi.Y.Min, rsi.Y.Max = 0, 100
	macd.Add(plotter.NewGrid(), gonumBars{j, true})
	gonumLine(macd, "MACD", j.macd, 2)
	gonumLine(macd, "Signal", j.signal, 1)
	price.Draw(draw.Crop(c, 0, 0, 0.42*h, 0))
	rsi.Draw(draw.Crop(c, 0, 0, 0.21*h, -0.58*h))
	macd.Draw(draw.Crop(c, 0, 0, 0, -0.79*h))
	var b bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(&b)
	return b.Bytes(), err
}

func gonumPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = gonumBack
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Tick.Color, a.Tick.Label.Color = gonumText, gonumText, gonumText
	}
	p.Legend.TextStyle.Color = gonumText
	p.Legend.Top, p.Legend.Left = true, true
	return p
}

func gonumLine(p *plot.Plot, name string, values []float64, ink int) {
	var pts plotter.XYs
	for i, v := range values {
		if !math.IsNaN(v) {
			pts = append(pts, plotter.XY{X: float64(i), Y: v})
		}
	}
	l, err := plotter.NewLine(pts)
	if err != nil {
		panic(err)
	}
	l.Color, l.Width = gonumInks[ink], 2
	p.Add(l)
	p.Legend.Add(name, l)
}

// gonumBand is the region between the bands.
func gonumBand(j *job) plot.Plotter {
	var pts plotter.XYs
	for i, v := range j.upper {
		if !math.IsNaN(v) {
			pts = append(pts, plotter.XY{X: float64(i), Y: v})
		}
	}
	for i := len(j.lower) - 1; i >= 0; i-- {
		if !math.IsNaN(j.lower[i]) {
			pts = append(pts, plotter.XY{X: float64(i), Y: j.lower[i]})
		}
	}
	p, err := plotter.NewPolygon(pts)
	if err != nil {
		panic(err)
	}
	p.Color = color.NRGBA{0x2f, 0x9b, 0xff, 32}
	p.LineStyle.Width = 0
	return p
}

// gonumBars draws candles with volume, or the histogram.
type gonumBars struct {
	j         *job
	histogram bool
}

func (g gonumBars) DataRange() (xmin, xmax, ymin, ymax float64) {
	lo, hi := bounds(g.j.series.Low, g.j.series.High)
	if g.histogram {
		lo, hi = bounds(g.j.histogram)
	}
	return 0, float64(g.j.series.Len()), lo, hi
}

func (g gonumBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	half := (c.Max.X - c.Min.X) * 0.4 / vg.Length(g.j.series.Len())
	_, most := bounds(g.j.series.Volume)
	rect := func(x0, y0, x1, y1 vg.Length, ink color.Color) {
		c.FillPolygon(ink, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
	}
	for i := range g.j.series.Len() {
		at := x(float64(i))
		if g.histogram {
			if v := g.j.histogram[i]; !math.IsNaN(v) {
				ink := gonumUp
				if v < 0 {
					ink = gonumDown
				}
				rect(at-half, y(0), at+half, y(v), ink)
			}
			continue
		}
		b := g.j.series.Bar(i)
		ink := gonumUp
		if b.Close < b.Open {
			ink = gonumDown
		}
		pale := color.NRGBA{ink.R, ink.G, ink.B, 115}
		rect(at-half, c.Min.Y, at+half, c.Min.Y+vg.Length(80*b.Volume/most), pale)
		rect(at-0.5, y(b.Low), at+0.5, y(b.High), ink)
		rect(at-half, y(min(b.Open, b.Close)), at+half, y(max(b.Open, b.Close))+1, ink)
	}
}
