package chart

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"wick/indicators"
	"wick/market"
)

func TestOptionsRefused(t *testing.T) {
	v := &View{Series: new(market.Series)}
	for _, c := range []struct {
		o    Options
		want error
	}{
		{Options{Width: 319, Height: 240}, ErrSize},
		{Options{Width: 4097, Height: 240}, ErrSize},
		{Options{Width: 320, Height: 239}, ErrSize},
		{Options{Width: 320, Height: 4097}, ErrSize},
		{Options{Width: -1, Height: 1 << 40}, ErrSize},
		{Options{Width: 320, Height: 240, Theme: 9}, ErrOption},
		{Options{Width: 320, Height: 240, Signals: 4}, ErrOption},
		{Options{Width: 320, Height: 240, PixelRatio: 0.5}, ErrOption},
		{Options{Width: 320, Height: 240, PixelRatio: math.NaN()}, ErrOption},
		{Options{Width: 320, Height: 240, PixelRatio: 3.1}, ErrOption},
		{Options{Width: 2049, Height: 1000, PixelRatio: 2}, ErrSize},
		{Options{Width: 1365, Height: 240, PixelRatio: 3}, nil},
		{Options{Width: 320, Height: 240}, nil},
	} {
		if _, _, err := Draw(t.Context(), v, c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, err, c.want)
		}
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file, _, err := Draw(ctx, sketches(priced(30, 215), "rsi"), Options{Width: 640, Height: 480})
	if !errors.Is(err, context.Canceled) || len(file) != 0 {
		t.Errorf("%d bytes and %v, want none and context.Canceled", len(file), err)
	}
}

// TestTooLarge: a picture that clients would refuse whole is refused here, with
// what to do about it.
func TestTooLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	v := &View{Series: priced(5000, 215)}
	for range 4 {
		res := &indicators.Result{Label: "Noise"}
		for range 3 {
			values := make(indicators.Values, 5000)
			for i := range values {
				values[i] = r.NormFloat64()
			}
			res.Lines = append(res.Lines, indicators.Line{Style: indicators.Dots, Values: values})
		}
		v.Panels = append(v.Panels, Panel{Result: res})
	}
	out, _, err := Draw(t.Context(), v, Options{Width: 4096, Height: 4096})
	if !errors.Is(err, ErrTooLarge) || len(out) != 0 || !strings.Contains(err.Error(), "740000 bytes") {
		t.Errorf("%d bytes and %v, want none and ErrTooLarge", len(out), err)
	}
}
