package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"wick/indicators"
)

// What callers add to the price themselves: levels, zones, lines and texts. They
// come from a model's arguments, so everything is bounded here. A mark that is not
// complete is refused, and the error says what it lacks.

// MaxMarks is how many marks of the caller's own a picture may have, and MaxMarkText how
// many letters the text of each may have.
const (
	MaxMarks    = 50
	MaxMarkText = 60
)

// MarkKind is what a mark of the caller's own looks like.
type MarkKind uint8

// The kinds of marks.
const (
	MarkLevel MarkKind = iota // a line over the whole width at Price
	MarkZone                  // the area between Price and Price2, from Time to Time2
	MarkLine                  // a line from Time, Price to Time2, Price2
	MarkText                  // a text at Time, Price
)

// MarkWords returns the words for MarkKind.
func MarkWords() []string { return []string{"level", "zone", "line", "text"} }

// Mark is something a caller adds to the price. Its prices may be outside the picture,
// where they cannot be seen.
type Mark struct {
	Kind          MarkKind
	Price, Price2 float64
	Time, Time2   int64  // unix seconds; 0 in a zone means the edge of the picture
	Text          string // cut to MaxMarkText letters
	Tone          indicators.Tone
}

// MarkTones returns the words for the tones a mark can have, the default first.
func MarkTones() []string { return []string{"accent", "up", "down", "muted"} }

// markTones are the tones of those words, in the same order.
var markTones = []indicators.Tone{indicators.Accent, indicators.Up, indicators.Down, indicators.Muted}

// ParseMarks reads marks as clients send them: a JSON array of at most MaxMarks
// objects {"type", "price", "price2", "time", "time2", "text", "color"}. Times
// are read by ParseTime. It fails on the first mark that is not complete.
func ParseMarks(raw json.RawMessage, zone *time.Location) ([]Mark, error) {
	// An unknown member is a mistake that would otherwise go unnoticed: a mark
	// without its color, say, because it was spelled colour.
	var items []markJSON
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&items); err != nil {
		return nil, fmt.Errorf("%w: marks: %s; want an array of objects with type, price, price2, time, time2, text, color", ErrOption, printable(err.Error(), 120))
	}
	if len(items) > MaxMarks {
		return nil, fmt.Errorf("%w: %d marks, want at most %d", ErrOption, len(items), MaxMarks)
	}
	marks := make([]Mark, 0, len(items))
	for i, item := range items {
		m, err := item.mark(zone)
		if err != nil {
			return nil, fmt.Errorf("mark %d: %w", i+1, err)
		}
		marks = append(marks, m)
	}
	return marks, nil
}

// markJSON is a mark as a client sends it.
type markJSON struct {
	Type   string   `json:"type"`
	Price  *float64 `json:"price"`
	Price2 *float64 `json:"price2"`
	Time   timeJSON `json:"time"`
	Time2  timeJSON `json:"time2"`
	Text   string   `json:"text"`
	Color  string   `json:"color"`
}

// timeJSON is a time as text, or as a number of seconds or milliseconds.
type timeJSON string

// UnmarshalJSON takes a string or a number and keeps its text.
func (t *timeJSON) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = string(b)
	}
	if s != "null" {
		*t = timeJSON(s)
	}
	return nil
}

// MarshalJSON writes m as ParseMarks reads it, with times in unix seconds.
func (m Mark) MarshalJSON() ([]byte, error) {
	j := struct {
		Type   string   `json:"type"`
		Price  float64  `json:"price"`
		Price2 *float64 `json:"price2,omitempty"` // of zones and lines
		Time   int64    `json:"time,omitempty"`
		Time2  int64    `json:"time2,omitempty"`
		Text   string   `json:"text,omitempty"`
		Color  string   `json:"color"`
	}{MarkWords()[m.Kind], m.Price, nil, m.Time, m.Time2, m.Text, MarkTones()[max(0, slices.Index(markTones, m.Tone))]}
	if m.Kind == MarkZone || m.Kind == MarkLine {
		j.Price2 = &m.Price2
	}
	return json.Marshal(j)
}

// mark checks m and returns it as a Mark. Every number is checked here, so that no later
// code has to deal with NaN or a missing price.
func (m markJSON) mark(zone *time.Location) (Mark, error) {
	kind := slices.Index(MarkWords(), m.Type)
	if kind < 0 {
		return Mark{}, fmt.Errorf("%w: type %q, want level, zone, line or text", ErrOption, printable(m.Type, 20))
	}
	tone, err := choice("color", m.Color, MarkTones())
	if err != nil {
		return Mark{}, err
	}
	out := Mark{Kind: MarkKind(kind), Text: printable(m.Text, MaxMarkText), Tone: markTones[tone]}
	// Zones and lines have two prices, levels and texts one.
	two := out.Kind == MarkZone || out.Kind == MarkLine
	if m.Price == nil || two && m.Price2 == nil {
		return Mark{}, fmt.Errorf("%w: a %s needs price%s", ErrOption, m.Type, map[bool]string{true: " and price2"}[two])
	}
	// Price2 stays 0 for kinds that have no second price.
	out.Price = *m.Price
	if two {
		out.Price2 = *m.Price2
	}
	if !usable(out.Price) || !usable(out.Price2) {
		return Mark{}, fmt.Errorf("%w: a price of %g", ErrOption, *m.Price)
	}
	if out.Kind == MarkText && m.Text == "" {
		return Mark{}, fmt.Errorf("%w: a text needs text", ErrOption)
	}
	return out, out.times(m, zone)
}

// times reads the times of m, which a line and a text must have. If the second time is a
// date, it means the end of that day.
func (out *Mark) times(m markJSON, zone *time.Location) (err error) {
	needs := out.Kind == MarkLine || out.Kind == MarkText
	if needs && m.Time == "" || out.Kind == MarkLine && m.Time2 == "" {
		return fmt.Errorf("%w: a %s needs time%s", ErrOption, m.Type, map[bool]string{true: " and time2"}[out.Kind == MarkLine])
	}
	if m.Time != "" {
		if out.Time, err = ParseTime(string(m.Time), zone, false); err != nil {
			return err
		}
	}
	if m.Time2 != "" {
		out.Time2, err = ParseTime(string(m.Time2), zone, true)
	}
	return err
}
