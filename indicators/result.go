package indicators

import "wick/indicators/shape"

// What an indicator returns is declared in package shape; these names are the
// same types, so that callers of this package need no other.
type (
	Result    = shape.Result
	Fact      = shape.Fact
	Tone      = shape.Tone
	Style     = shape.Style
	Line      = shape.Line
	Histogram = shape.Histogram
	Signal    = shape.Signal
	HLine     = shape.HLine
	Fill      = shape.Fill
	HBar      = shape.HBar
	DivLine   = shape.DivLine
	Values    = shape.Values
)

// The tones and styles of shape.
const (
	Auto    = shape.Auto
	Primary = shape.Primary
	Second  = shape.Second
	Up      = shape.Up
	Down    = shape.Down
	Muted   = shape.Muted
	Band    = shape.Band
	Accent  = shape.Accent

	Solid  = shape.Solid
	Dashed = shape.Dashed
	Dots   = shape.Dots
	Step   = shape.Step
)

// BecomesTrue is the label of a bar on which a rule becomes true.
const BecomesTrue = shape.BecomesTrue

// AppendValue appends x to b as JSON, as [Values] writes it.
func AppendValue(b []byte, x float64) []byte { return shape.AppendValue(b, x) }
