package chart

import (
	"context"
	"errors"
	"fmt"
	"io"

	"wick/chart/flatpng"
)

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
	file, _, err := Draw(ctx, dst, v, o)
	return file, err
}

// Draw is like AppendPNG, and also returns what of v is missing in the picture.
func Draw(ctx context.Context, dst []byte, v *View, o Options) ([]byte, Undrawn, error) {
	for _, err := range []error{o.Check(), ctx.Err(), v.check()} {
		if err != nil {
			return dst, Undrawn{}, err
		}
	}
	// First everything is measured, then painted, then encoded.
	p := plan(v, o)
	if p.err != nil {
		return dst, Undrawn{}, p.err
	}
	c := canvases.take()
	defer canvases.give(c)
	if err := p.paint(ctx, c); err != nil {
		return dst, Undrawn{}, err
	}
	out, err := flatpng.Append(ctx, dst, c.image(), MaxBytes)
	if errors.Is(err, flatpng.ErrTooLarge) {
		return dst, Undrawn{}, fmt.Errorf("%w: %dx%d takes more than %d bytes; ask for a smaller picture or fewer indicators",
			ErrTooLarge, c.w, c.h, MaxBytes)
	}
	return out, p.undrawn(o), err
}
