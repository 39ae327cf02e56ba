package chart

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"wick/chart/flatpng"
)

// The bounds of a picture, in pixels.
const (
	MinWidth, MaxWidth   = 320, 4096
	MinHeight, MaxHeight = 240, 4096

	// MaxPixelRatio is the most device pixels per logical pixel.
	MaxPixelRatio = 3

	// MaxBytes bounds the PNG. Clients refuse tool results above 1 MiB, which holds the
	// PNG in base64 and the rest of the reply.
	MaxBytes = 740_000
)

// Options say how to draw. The zero value of every field but the size is the
// default.
type Options struct {
	Width, Height int // in logical pixels, within the bounds above

	// PixelRatio is the number of device pixels per logical pixel, 1 to 3; 0 means 1.
	// The picture is Width and Height times PixelRatio pixels large, which must be within
	// the bounds too.
	PixelRatio float64

	Theme      Theme
	Type       Type    // how bars are drawn
	Scale      Scale   // of the price axis; with View.Compare it is always Percent
	Signals    Signals // how signals are drawn
	HideVolume bool    // without the strip of volume below the candles

	// Zone is the time zone in which times are shown for bars shorter than a day; nil for
	// UTC. With a zone the starts of its days are marked.
	Zone *time.Location
}

// Type is how the bars of the price are drawn.
type Type uint8

// The types. Hollow candles are filled where they close below their open, and
// coloured by their close against the one before. HeikinAshi draws averaged
// candles; header and tag keep the real prices.
const (
	Candles Type = iota
	Hollow
	HeikinAshi
	Bars
	LineType
	Area
	typeCount
)

// Types returns the words for Type in the order of its values, the default first.
func Types() []string { return []string{"candles", "hollow", "heikin_ashi", "bars", "line", "area"} }

// Scale is how prices are mapped to the height of the picture.
type Scale uint8

// The scales. Percent shows the change from the first close in the picture.
const (
	Linear Scale = iota
	Log
	Percent
	scaleCount
)

// Scales returns the words for Scale in the order of its values, the default first.
func Scales() []string { return []string{"linear", "log", "percent"} }

// Signals says how the signals of indicators are drawn.
type Signals uint8

// The ways to draw signals. SignalsAuto marks them and names the newest few of
// each panel and those that an alert waits for.
const (
	SignalsAuto   Signals = iota
	SignalsLabels         // marks with names wherever a name has room
	SignalsMarks          // marks without names
	SignalsOff            // neither marks nor counts in the legend
	signalsCount
)

// SignalWords returns the words for Signals in the order of its values, the default first.
func SignalWords() []string { return []string{"auto", "labels", "marks", "off"} }

var (
	// ErrSize reports a width or height out of bounds.
	ErrSize = errors.New("bad picture size")
	// ErrOption reports another option out of its bounds.
	ErrOption = errors.New("bad chart option")
	// ErrTooLarge reports a picture whose file would exceed MaxBytes.
	ErrTooLarge = flatpng.ErrTooLarge
)

// Check returns an error if o is not valid. It can be called before anything is fetched.
func (o Options) Check() error {
	if o.Width < MinWidth || o.Width > MaxWidth || o.Height < MinHeight || o.Height > MaxHeight {
		return fmt.Errorf("%w %dx%d: width %d to %d, height %d to %d", ErrSize, o.Width, o.Height,
			MinWidth, MaxWidth, MinHeight, MaxHeight)
	}
	// The negated comparison also refuses NaN.
	r := cmp.Or(o.PixelRatio, 1)
	if !(r >= 1 && r <= MaxPixelRatio) {
		return fmt.Errorf("%w: pixel ratio %g, want 1 to %d", ErrOption, o.PixelRatio, MaxPixelRatio)
	}
	if math.Round(r*float64(o.Width)) > MaxWidth || math.Round(r*float64(o.Height)) > MaxHeight {
		return fmt.Errorf("%w %dx%d at %g pixels each: at most %d by %d pixels in all; ask for a smaller picture or ratio",
			ErrSize, o.Width, o.Height, r, MaxWidth, MaxHeight)
	}
	if o.Theme >= themeCount || o.Type >= typeCount || o.Scale >= scaleCount || o.Signals >= signalsCount {
		return fmt.Errorf("%w: theme %d, type %d, scale %d, signals %d", ErrOption, o.Theme, o.Type, o.Scale, o.Signals)
	}
	return nil
}
