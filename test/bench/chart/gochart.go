package main

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"math"

	gochart "github.com/wcharczuk/go-chart/v2"
	"github.com/wcharczuk/go-chart/v2/drawing"
)

// drawGoChart draws three charts and joins them; the library has no panels.
func drawGoChart(j *job) ([]byte, error) {
	h := [3]int{j.h * 58 / 100, j.h * 21 / 100, j.h - j.h*58/100 - j.h*21/100}
	lo, hi := bounds(j.series.Low, j.series.High, j.upper, j.lower)
	price := []gochart.Series{goBand{goBase{j}}, goCandles{goBase{j}}}
	for i, name := range []string{"EMA 8", "EMA 21", "EMA 50", "EMA 200"} {
		price = append(price, goLine(name, j.ema[i], i))
	}
	price = append(price, goLine("Middle", j.middle, 4), goLine("Upper", j.upper, 5), goLine("Lower", j.lower, 5))
	level := func(v float64) gochart.Series {
		n := float64(j.series.Len() - 1)
		return gochart.ContinuousSeries{XValues: []float64{0, n}, YValues: []float64{v, v},
			Style: gochart.Style{StrokeColor: drawing.ColorFromHex("9aa3b5"), StrokeDashArray: []float64{6, 4}, StrokeWidth: 1}}
	}
	rsi := []gochart.Series{goLine("RSI", j.rsi, 3), level(30), level(50), level(70)}
	mlo, mhi := bounds(j.macd, j.signal, j.histogram)
	macd := []gochart.Series{goHistogram{goBase{j}}, goLine("MACD", j.macd, 2), goLine("Signal", j.signal, 1)}
	all := image.NewRGBA(image.Rect(0, 0, j.w, j.h))
	y := 0
	for i, part := range []struct {
		series []gochart.Series
		lo, hi float64
	}{{price, lo, hi}, {rsi, 0, 100}, {macd, mlo, mhi}} {
		m, err := goPanel(j, h[i], part.series, part.lo, part.hi)
		if err != nil {
			return nil, err
		}
		draw.Draw(all, image.Rect(0, y, j.w, y+h[i]), m, image.Point{}, draw.Src)
		y += h[i]
	}
	var b bytes.Buffer
	err := png.Encode(&b, all)
	return b.Bytes(), err
}

func goPanel(j *job, h int, series []gochart.Series, lo, hi float64) (image.Image, error) {
	c := gochart.Chart{Width: j.w, Height: h, Series: series,
		Background: gochart.Style{FillColor: drawing.ColorFromHex("131722")},
		Canvas:     gochart.Style{FillColor: drawing.ColorFromHex("131722")},
		XAxis:      gochart.XAxis{Range: &gochart.ContinuousRange{Min: 0, Max: float64(j.series.Len() - 1)}},
		YAxis:      gochart.YAxis{Range: &gochart.ContinuousRange{Min: lo, Max: hi}}}
	c.Elements = []gochart.Renderable{gochart.Legend(&c)}
	var w gochart.ImageWriter
	if err := c.Render(gochart.PNG, &w); err != nil {
		return nil, err
	}
	return w.Image()
}

// goLine is a line from its first value on.
func goLine(name string, values []float64, colour int) gochart.Series {
	s := gochart.ContinuousSeries{Name: name, Style: gochart.Style{StrokeColor: drawing.ColorFromHex(lineColours[colour]), StrokeWidth: 2}}
	for i, v := range values {
		if !math.IsNaN(v) {
			s.XValues = append(s.XValues, float64(i))
			s.YValues = append(s.YValues, v)
		}
	}
	return s
}

var lineColours = []string{"f6d32d", "ff9800", "2f9bff", "e05cff", "4dd0e1", "7aa2d6"}

// goBase is what the series below have in common.
type goBase struct{ j *job }

func (goBase) GetName() string             { return "" }
func (goBase) GetYAxis() gochart.YAxisType { return gochart.YAxisPrimary }
func (goBase) GetStyle() gochart.Style     { return gochart.Style{} }
func (goBase) Validate() error             { return nil }

func goRect(r gochart.Renderer, x0, y0, x1, y1 int, colour drawing.Color) {
	r.SetFillColor(colour)
	r.MoveTo(x0, y0)
	r.LineTo(x1, y0)
	r.LineTo(x1, y1)
	r.LineTo(x0, y1)
	r.Close()
	r.Fill()
}

type goCandles struct{ goBase }

// Render draws candles and volume.
func (s goCandles) Render(r gochart.Renderer, box gochart.Box, x, y gochart.Range, _ gochart.Style) {
	_, most := bounds(s.j.series.Volume)
	half := max(1, box.Width()*4/10/s.j.series.Len())
	for i := range s.j.series.Len() {
		b := s.j.series.Bar(i)
		colour := drawing.ColorFromHex("26a69a")
		if b.Close < b.Open {
			colour = drawing.ColorFromHex("ef5350")
		}
		at := box.Left + x.Translate(float64(i))
		row := func(v float64) int { return box.Bottom - y.Translate(v) }
		goRect(r, at-half, box.Bottom-int(80*b.Volume/most), at+half, box.Bottom, colour.WithAlpha(115))
		goRect(r, at, row(b.High), at+1, row(b.Low), colour)
		goRect(r, at-half, row(max(b.Open, b.Close)), at+half, row(min(b.Open, b.Close))+1, colour)
	}
}

type goBand struct{ goBase }

// Render fills the region between the bands.
func (s goBand) Render(r gochart.Renderer, box gochart.Box, x, y gochart.Range, _ gochart.Style) {
	r.SetFillColor(drawing.ColorFromHex("2f9bff").WithAlpha(32))
	begun := false
	add := func(i int, v float64) {
		if math.IsNaN(v) {
			return
		}
		px, py := box.Left+x.Translate(float64(i)), box.Bottom-y.Translate(v)
		if !begun {
			r.MoveTo(px, py)
			begun = true
			return
		}
		r.LineTo(px, py)
	}
	for i, v := range s.j.upper {
		add(i, v)
	}
	for i := len(s.j.lower) - 1; i >= 0; i-- {
		add(i, s.j.lower[i])
	}
	r.Close()
	r.Fill()
}

type goHistogram struct{ goBase }

// Render draws the bars of the histogram.
func (s goHistogram) Render(r gochart.Renderer, box gochart.Box, x, y gochart.Range, _ gochart.Style) {
	half := max(1, box.Width()*4/10/s.j.series.Len())
	for i, v := range s.j.histogram {
		if !math.IsNaN(v) {
			colour := drawing.ColorFromHex("26a69a")
			if v < 0 {
				colour = drawing.ColorFromHex("ef5350")
			}
			at := box.Left + x.Translate(float64(i))
			goRect(r, at-half, box.Bottom-y.Translate(v), at+half, box.Bottom-y.Translate(0), colour)
		}
	}
}
