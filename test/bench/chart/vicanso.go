package main

import (
	"math"
	"strconv"

	charts "github.com/vicanso/go-charts/v2"
)

// drawVicanso draws lines and bars; the library has no candles, so the close
// and the range of each bar stand for them.
func drawVicanso(j *job) ([]byte, error) {
	labels := make([]string, j.series.Len())
	for i := range labels {
		labels[i] = "#" + strconv.Itoa(i)
	}
	chart := func(top, height int, names []string, series charts.SeriesList) charts.ChartOption {
		return charts.ChartOption{
			Type: charts.ChartOutputPNG, Theme: "dark", Width: j.w, Height: height, SeriesList: series,
			Box:        charts.Box{Top: top, Right: j.w, Bottom: top + height},
			XAxis:      charts.NewXAxisOption(labels),
			Legend:     charts.NewLegendOption(names),
			SymbolShow: charts.FalseFlag(), LineStrokeWidth: 2,
		}
	}
	high, low := j.h*58/100, j.h*21/100
	price := chart(0, high, []string{"close", "high", "low", "8", "21", "50", "200", "middle", "upper", "lower"},
		vicansoLines(j.series.Close, j.series.High, j.series.Low, j.ema[0], j.ema[1], j.ema[2], j.ema[3], j.middle, j.upper, j.lower))
	rsi := chart(high, low, []string{"rsi", "30", "50", "70"}, vicansoLines(j.rsi, flat(j, 30), flat(j, 50), flat(j, 70)))
	macd := chart(high+low, j.h-high-low, []string{"macd", "signal", "histogram"}, vicansoLines(j.macd, j.signal))
	histogram := make([]float64, len(j.histogram))
	for i, v := range j.histogram {
		if !math.IsNaN(v) { // a missing bar would be drawn for ever
			histogram[i] = v
		}
	}
	bars := vicansoLines(histogram)
	bars[0].Type = charts.ChartTypeBar
	macd.SeriesList = append(macd.SeriesList, bars...)
	price.Height = j.h
	price.Children = []charts.ChartOption{rsi, macd}
	p, err := charts.Render(price)
	if err != nil {
		return nil, err
	}
	return p.Bytes()
}

func flat(j *job, v float64) []float64 {
	out := make([]float64, j.series.Len())
	for i := range out {
		out[i] = v
	}
	return out
}

func vicansoLines(columns ...[]float64) charts.SeriesList {
	values := make([][]float64, len(columns))
	for i, col := range columns {
		for _, v := range col {
			if math.IsNaN(v) {
				v = charts.GetNullValue()
			}
			values[i] = append(values[i], v)
		}
	}
	return charts.NewSeriesListDataFromValues(values, charts.ChartTypeLine)
}
