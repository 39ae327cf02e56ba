package main

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"github.com/fogleman/gg"
	"github.com/golang/freetype/truetype"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
)

// ggPanel maps values to rows of one panel.
type ggPanel struct{ lo, hi, top, bottom float64 }

func (p ggPanel) y(v float64) float64 { return p.bottom - (v-p.lo)/(p.hi-p.lo)*(p.bottom-p.top) }

var ggFace = sync.OnceValues(func() (font.Face, error) {
	f, err := truetype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	return truetype.NewFace(f, &truetype.Options{Size: 13}), nil
})

// drawGG draws the job the way one would by hand with a 2D library.
func drawGG(j *job) ([]byte, error) {
	face, err := ggFace()
	if err != nil {
		return nil, err
	}
	dc := gg.NewContext(j.w, j.h)
	dc.SetFontFace(face)
	dc.SetHexColor("131722")
	dc.Clear()
	w, h := float64(j.w)-70, float64(j.h)-26
	pitch := w / float64(j.series.Len())
	x := func(i int) float64 { return (float64(i) + 0.5) * pitch }
	lo, hi := bounds(j.series.Low, j.series.High, j.upper, j.lower)
	price := ggPanel{lo, hi, 50, 0.58*h - 90}
	ggGrid(dc, price, w, 10)
	ggFill(dc, price, x, j.upper, j.lower)
	ggCandles(dc, j, price, x, pitch, 0.58*h)
	for i, colour := range []string{"f6d32d", "ff9800", "2f9bff", "e05cff"} {
		ggLine(dc, price, x, j.ema[i], colour, 2)
	}
	ggLine(dc, price, x, j.middle, "4dd0e1", 2)
	ggLine(dc, price, x, j.upper, "7aa2d6", 1.5)
	ggLine(dc, price, x, j.lower, "7aa2d6", 1.5)
	rsi := ggPanel{0, 100, 0.58*h + 26, 0.79 * h}
	ggGrid(dc, rsi, w, 4)
	dc.SetDash(6, 4)
	for _, v := range []float64{30, 50, 70} {
		ggRule(dc, rsi.y(v), w, "9aa3b5")
	}
	dc.SetDash()
	ggLine(dc, rsi, x, j.rsi, "b388ff", 2)
	lo, hi = bounds(j.macd, j.signal, j.histogram)
	macd := ggPanel{lo, hi, 0.79*h + 26, h - 6}
	ggGrid(dc, macd, w, 4)
	for i, v := range j.histogram {
		if !math.IsNaN(v) {
			dc.SetHexColor("26a69a")
			if v < 0 {
				dc.SetHexColor("ef5350")
			}
			dc.DrawRectangle(x(i)-0.4*pitch, min(macd.y(0), macd.y(v)), 0.8*pitch, math.Abs(macd.y(v)-macd.y(0)))
			dc.Fill()
		}
	}
	ggLine(dc, macd, x, j.macd, "2f9bff", 2)
	ggLine(dc, macd, x, j.signal, "ff9800", 2)
	ggText(dc, j, w, h, x)
	var b bytes.Buffer
	err = dc.EncodePNG(&b)
	return b.Bytes(), err
}

func ggGrid(dc *gg.Context, p ggPanel, w float64, n int) {
	for i := range n + 1 {
		v := p.lo + (p.hi-p.lo)*float64(i)/float64(n)
		ggRule(dc, p.y(v), w, "232837")
		dc.SetHexColor("b2b5be")
		dc.DrawString(fmt.Sprintf("%.2f", v), w+8, p.y(v)+4)
	}
}

func ggRule(dc *gg.Context, y, w float64, colour string) {
	dc.SetHexColor(colour)
	dc.SetLineWidth(1)
	dc.DrawLine(0, math.Floor(y)+0.5, w, math.Floor(y)+0.5)
	dc.Stroke()
}

func ggLine(dc *gg.Context, p ggPanel, x func(int) float64, values []float64, colour string, width float64) {
	dc.SetHexColor(colour)
	dc.SetLineWidth(width)
	for i, v := range values {
		if !math.IsNaN(v) {
			dc.LineTo(x(i), p.y(v))
		}
	}
	dc.Stroke()
}

func ggFill(dc *gg.Context, p ggPanel, x func(int) float64, upper, lower []float64) {
	dc.SetHexColor("2f9bff20")
	for i, v := range upper {
		if !math.IsNaN(v) {
			dc.LineTo(x(i), p.y(v))
		}
	}
	for i := len(lower) - 1; i >= 0; i-- {
		if !math.IsNaN(lower[i]) {
			dc.LineTo(x(i), p.y(lower[i]))
		}
	}
	dc.ClosePath()
	dc.Fill()
}

func ggCandles(dc *gg.Context, j *job, p ggPanel, x func(int) float64, pitch, floor float64) {
	_, most := bounds(j.series.Volume)
	for i := range j.series.Len() {
		b := j.series.Bar(i)
		colour := "26a69a"
		if b.Close < b.Open {
			colour = "ef5350"
		}
		dc.SetHexColor(colour + "73")
		height := b.Volume / most * 80
		dc.DrawRectangle(x(i)-0.4*pitch, floor-height, 0.8*pitch, height)
		dc.Fill()
		dc.SetHexColor(colour)
		dc.DrawRectangle(math.Floor(x(i)), p.y(b.High), 1, p.y(b.Low)-p.y(b.High))
		dc.Fill()
		top, bottom := p.y(max(b.Open, b.Close)), p.y(min(b.Open, b.Close))
		dc.DrawRectangle(x(i)-0.4*pitch, top, 0.8*pitch, max(1, bottom-top))
		dc.Fill()
	}
}

func ggText(dc *gg.Context, j *job, w, h float64, x func(int) float64) {
	dc.SetHexColor("b2b5be")
	for i := 0; i < j.series.Len(); i += 20 {
		dc.DrawStringAnchored(fmt.Sprintf("#%d", i), x(i), h+16, 0.5, 0)
	}
	last := j.series.Len() - 1
	b := j.series.Bar(last)
	dc.DrawString(fmt.Sprintf("BENCH 1d O %.2f H %.2f L %.2f C %.2f", b.Open, b.High, b.Low, b.Close), 10, 18)
	dc.DrawString(fmt.Sprintf("EMA 8 %.2f 21 %.2f 50 %.2f 200 %.2f  BB %.2f %.2f %.2f", j.ema[0][last], j.ema[1][last],
		j.ema[2][last], j.ema[3][last], j.middle[last], j.upper[last], j.lower[last]), 10, 38)
	dc.DrawString(fmt.Sprintf("RSI 14 %.1f", j.rsi[last]), 10, 0.58*h+18)
	dc.DrawString(fmt.Sprintf("MACD 12 26 9 %.2f %.2f %.2f", j.macd[last], j.signal[last], j.histogram[last]), 10, 0.79*h+18)
}
