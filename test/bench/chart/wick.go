package main

import (
	"context"

	"wick/chart"
)

func drawWick(j *job) ([]byte, error) {
	v := &chart.View{Series: j.series}
	for _, r := range j.results {
		v.Panels = append(v.Panels, chart.Panel{Key: r.Label, Result: r})
	}
	file, _, err := chart.Draw(context.Background(), v, chart.Options{Width: j.w, Height: j.h})
	return file, err
}
