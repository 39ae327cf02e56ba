package chart

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"wick/chart/flatpng"
)

// canvases are kept between pictures, until the garbage collector takes them: one takes
// megabytes.
var canvases = sync.Pool{New: func() any { return new(canvas) }}

// Draw returns the picture of v as a PNG file, and what of v is missing in it. It returns
// ctx's error when ctx ends first.
func Draw(ctx context.Context, v *View, o Options) ([]byte, Undrawn, error) {
	for _, err := range []error{o.Check(), ctx.Err(), v.check()} {
		if err != nil {
			return nil, Undrawn{}, err
		}
	}
	// First everything is measured, then painted, then encoded.
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
	file, err := flatpng.Encode(ctx, c.image(), MaxBytes)
	if errors.Is(err, flatpng.ErrTooLarge) {
		return nil, Undrawn{}, fmt.Errorf("%w: %dx%d takes more than %d bytes; ask for a smaller picture or fewer indicators",
			ErrTooLarge, c.w, c.h, MaxBytes)
	}
	return file, p.undrawn(o), err
}
