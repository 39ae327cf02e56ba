// Package chart turns bars and indicator results into what a client receives:
// a picture, a summary, a series.
//
// A [View] is what there is to show: the bars and the results in the order in
// which they were asked for. [PNG] draws it: results marked Overlay over the
// candles, every other one in a panel below. The picture is made for eyes and
// for vision models alike, so every number that matters is also printed: the
// header, a legend row per result with its last values in the colours of its
// lines, the visible high and low, tags on the axis, names of signals.
//
// # How a picture is made
//
// First everything is measured ([plan.go] and what it calls): pure functions
// of numbers that return boxes, rows and texts, and that tests hold to their
// promises without looking at a pixel. Then it is painted, panel by panel,
// into one byte per pixel: an index into a fixed palette, so that mixing an
// edge into what lies under it is a look-up. Text comes from glyphs kept per
// size, upright things are whole pixels, slanted ones take their cover from
// the distance to the line. The file is written by a PNG encoder made for such
// pictures.
//
// The same View and Options give the same bytes: the package reads no clock
// and draws in no order but the given one.
//
// # Security considerations
//
// Sizes are refused outside their bounds before memory is taken, and a picture
// too large for clients is refused with [ErrTooLarge]. Texts are stripped of
// control characters and cut. No value in a View, however wild, can panic or
// paint outside its panel: what is not finite is not drawn.
package chart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"wick/chart/flatpng"
	"wick/indicators"
	"wick/market"
)

// The bounds of a picture, in pixels.
const (
	MinWidth, MaxWidth   = 320, 4096
	MinHeight, MaxHeight = 240, 4096

	// MaxPixelRatio is the most device pixels per logical pixel.
	MaxPixelRatio = 3

	// MaxBytes bounds the PNG. Clients refuse tool results above 1 MiB of
	// base64 with its envelope.
	MaxBytes = 740_000
)

// Panel is one result to draw.
type Panel struct {
	Key    string // as the client asked for it
	Result *indicators.Result

	// Needs returns how many bars the result takes until its first value. It is
	// asked when there are too few, for the legend. Nil means unknown.
	Needs func() int
}

// View is what there is to show.
type View struct {
	Series *market.Series
	Panels []Panel // overlays and panels, in the order of the request
}

// Options say how to draw.
type Options struct {
	Width, Height int // in logical pixels, within the bounds above

	// PixelRatio is the number of device pixels per logical pixel, 1 to 3; 0
	// means 1. The picture has Width and Height times as many pixels, which
	// must be within the bounds too.
	PixelRatio float64

	Theme   Theme
	Signals Signals // how signals are drawn

	// Zone is where the times of bars shorter than a day are shown; nil for UTC.
	Zone *time.Location
}

var (
	// ErrSize reports a width or height out of bounds.
	ErrSize = errors.New("bad picture size")
	// ErrOption reports another option out of its bounds.
	ErrOption = errors.New("bad chart option")
	// ErrTooLarge reports a picture whose file would exceed MaxBytes.
	ErrTooLarge = errors.New("picture too large")
)

// ratio returns the number of device pixels per logical pixel.
func (o Options) ratio() float64 {
	if o.PixelRatio == 0 {
		return 1
	}
	return o.PixelRatio
}

// check reports what is wrong with o.
func (o Options) check() error {
	if o.Width < MinWidth || o.Width > MaxWidth || o.Height < MinHeight || o.Height > MaxHeight {
		return fmt.Errorf("%w %dx%d: width %d to %d, height %d to %d", ErrSize, o.Width, o.Height,
			MinWidth, MaxWidth, MinHeight, MaxHeight)
	}
	r := o.ratio()
	if !(r >= 1 && r <= MaxPixelRatio) {
		return fmt.Errorf("%w: pixel ratio %g, want 1 to %d", ErrOption, o.PixelRatio, MaxPixelRatio)
	}
	if r*float64(o.Width) > MaxWidth || r*float64(o.Height) > MaxHeight {
		return fmt.Errorf("%w %dx%d at %g pixels each: at most %d by %d pixels in all; ask for a smaller picture or ratio",
			ErrSize, o.Width, o.Height, r, MaxWidth, MaxHeight)
	}
	if o.Theme >= themeCount {
		return fmt.Errorf("%w %d", ErrTheme, o.Theme)
	}
	if o.Signals >= signalsCount {
		return fmt.Errorf("%w: signals %d", ErrOption, o.Signals)
	}
	return nil
}

// canvases are kept between pictures: one takes megabytes.
var canvases shelf

// PNG draws v and writes the file to w in one Write. It returns ctx's error
// when ctx ends first, and writes nothing then.
func PNG(ctx context.Context, w io.Writer, v *View, o Options) error {
	file, err := AppendPNG(ctx, nil, v, o)
	if err != nil {
		return err
	}
	_, err = w.Write(file)
	return err
}

// AppendPNG draws v and appends the file to dst. When it fails it returns dst
// unchanged.
func AppendPNG(ctx context.Context, dst []byte, v *View, o Options) ([]byte, error) {
	if err := o.check(); err != nil {
		return dst, err
	}
	if err := ctx.Err(); err != nil {
		return dst, err
	}
	p := plan(v, o)
	c := canvases.take()
	defer canvases.give(c)
	if err := p.paint(ctx, c); err != nil {
		return dst, err
	}
	out, err := flatpng.Append(ctx, dst, c.image(), MaxBytes)
	if errors.Is(err, flatpng.ErrTooLarge) {
		return dst, fmt.Errorf("%w: %dx%d takes more than %d bytes; ask for a smaller picture or fewer indicators",
			ErrTooLarge, c.w, c.h, MaxBytes)
	}
	return out, err
}
