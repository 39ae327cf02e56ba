// Package chart turns bars and indicator results into what a client receives:
// a picture, a summary, a series.
//
// A [View] is what there is to show: the bars and the results in the order in
// which they were asked for. [Draw] draws it: results marked Overlay over the
// candles, every other one in a panel below. The picture is made for eyes and
// for vision models alike, so every number that matters is also printed: the
// header, a legend row per result with its last values in the colours of its
// lines, the visible high and low, tags on the axis, names of signals.
//
// # How a picture is made
//
// A View is laid out into a scene ([plan.go] and what it calls): shapes and
// texts with their places, in the order in which they are painted, which tests
// check without looking at a pixel. A text goes where the shapes of its pane
// leave room; one search finds it ([room.go]). Then the scene is painted
// ([scene.go]) into one byte per pixel: an index into a fixed palette, so that mixing an edge into what is
// under it is a look-up in a table. Text comes from glyphs that are kept for
// each size. Horizontal and vertical things are whole pixels; for slanted ones
// the distance to the line decides how much of a pixel is covered. The file is
// written by a PNG encoder made for such pictures.
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
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"sync"

	"wick/chart/flatpng"
	"wick/indicators"
	"wick/market"
)

// Panel is one result to draw.
type Panel struct {
	Key    string // as the client asked for it
	Result *indicators.Result

	// Needs returns how many bars the result needs for its first value. It is called,
	// for the legend, when there are too few. Nil means that this is not known.
	Needs func() int
}

// View is what there is to show.
type View struct {
	Series *market.Series // without bars the picture says that there are none
	Panels []Panel        // overlays and panels, in the order of the request

	// Compare lists further symbols, at most MaxCompare, whose closes are drawn
	// over the price in percent of where they begin.
	Compare []*market.Series

	// Past says that the bars end where the caller asked and not with the newest one.
	// Then their age is not shown.
	Past bool

	// AveragedOpen is where the averaged candle of the first bar opens: it depends on the bars
	// before it, which are not shown. Nil means that there are none, and that it opens in the
	// middle of the bar's own body.
	AveragedOpen *float64

	Marks   []Mark   // of the caller's own, at most MaxMarks
	Account *Account // what the caller has in this symbol; nil for nothing

	// Request holds the arguments of the call that v answers, as a JSON object. A series
	// repeats them for a page that draws the picture itself. Empty means that all
	// arguments had their defaults.
	Request json.RawMessage
}

// check returns an error if v has too many compared symbols or marks, or bars that no market can
// have made: nothing behind it meets a price that is no number.
func (v *View) check() error {
	for _, s := range append([]*market.Series{v.Series}, v.Compare...) {
		if err := s.Check(); err != nil {
			return err
		}
	}
	if n := len(v.Compare); n > MaxCompare {
		return fmt.Errorf("%w: %d symbols to compare, want at most %d", ErrOption, n, MaxCompare)
	}
	if n := len(v.Marks); n > MaxMarks {
		return fmt.Errorf("%w: %d marks, want at most %d", ErrOption, n, MaxMarks)
	}
	return nil
}

// MaxCompare is how many symbols a picture compares with its own.
const MaxCompare = 5

// canvases are kept between pictures: one takes megabytes.
var canvases = sync.Pool{New: func() any { return new(canvas) }}

// Draw returns the picture of v as a PNG file, and what of v is missing in it. It returns
// ctx's error when ctx ends first.
func Draw(ctx context.Context, v *View, o Options) ([]byte, Undrawn, error) {
	if err := cmp.Or(o.Check(), ctx.Err(), v.check()); err != nil {
		return nil, Undrawn{}, err
	}
	p := plan(v, o)
	if p.err != nil {
		return nil, Undrawn{}, p.err
	}
	c := canvases.Get().(*canvas)
	defer canvases.Put(c)
	c.reset(p.w, p.h, p.pal)
	if err := p.paint(ctx, c); err != nil {
		return nil, Undrawn{}, err
	}
	file, err := flatpng.Encode(&image.Paletted{Pix: c.pix, Stride: c.w, Rect: image.Rect(0, 0, c.w, c.h), Palette: c.pal.colours}, MaxBytes)
	if err != nil {
		return nil, Undrawn{}, fmt.Errorf("%w; ask for a smaller picture or fewer indicators", err)
	}
	return file, p.undrawn(), nil
}
