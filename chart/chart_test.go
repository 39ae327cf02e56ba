package chart

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"testing"
)

func TestOptionsRefused(t *testing.T) {
	v := &View{}
	for _, c := range []struct {
		o    Options
		want error
	}{
		{Options{Width: 319, Height: 240}, ErrSize},
		{Options{Width: 4097, Height: 240}, ErrSize},
		{Options{Width: 320, Height: 239}, ErrSize},
		{Options{Width: 320, Height: 4097}, ErrSize},
		{Options{Width: -1, Height: 1 << 40}, ErrSize},
		{Options{Width: 320, Height: 240, Theme: 9}, ErrTheme},
		{Options{Width: 320, Height: 240, Signals: 4}, ErrOption},
		{Options{Width: 320, Height: 240, PixelRatio: 0.5}, ErrOption},
		{Options{Width: 320, Height: 240, PixelRatio: math.NaN()}, ErrOption},
		{Options{Width: 320, Height: 240, PixelRatio: 3.1}, ErrOption},
		{Options{Width: 2049, Height: 1000, PixelRatio: 2}, ErrSize},
		{Options{Width: 1365, Height: 240, PixelRatio: 3}, nil},
		{Options{Width: 320, Height: 240}, nil},
	} {
		if err := PNG(t.Context(), io.Discard, v, c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, err, c.want)
		}
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var b bytes.Buffer
	err := PNG(ctx, &b, sketches(priced(30, 215), "rsi"), Options{Width: 640, Height: 480})
	if !errors.Is(err, context.Canceled) || b.Len() != 0 {
		t.Errorf("%d bytes and %v, want none and context.Canceled", b.Len(), err)
	}
}

func TestParseTheme(t *testing.T) {
	for i, name := range Themes() {
		if got, err := ParseTheme(name); err != nil || got != Theme(i) {
			t.Errorf("ParseTheme(%q) = %v, %v", name, got, err)
		}
	}
	if got, err := ParseTheme(" LIGHT"); err != nil || got != Light {
		t.Errorf("ParseTheme in capitals = %v, %v", got, err)
	}
	if got, err := ParseTheme(""); err != nil || got != Dark {
		t.Errorf("ParseTheme of nothing = %v, %v", got, err)
	}
	if _, err := ParseTheme("pink"); !errors.Is(err, ErrTheme) {
		t.Errorf("ParseTheme(pink): %v", err)
	}
}
