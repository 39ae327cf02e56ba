package chart

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"wick/indicators"
	"wick/market"
)

// Account is what the caller has in the symbol of a picture. Each part may be empty.
// The package draws it as given and knows nothing of trading.
type Account struct {
	Position *Position
	Orders   []Order // open ones
	Alerts   []Alert // waiting ones
	Fills    []Fill
}

// Position is what is held.
type Position struct {
	Quantity float64 // below zero for a short one
	Entry    float64 // average price paid
	Profit   float64 // not yet realised, in the currency of the price; NaN if it is not known
}

// Order is an order that waits.
type Order struct {
	Buy      bool
	Kind     string // such as "limit" or "stop"
	Price    float64
	Quantity float64
	Unknown  bool // whether it waits, or was filled meanwhile, is not known
}

// Alert is an alert that has not fired: for a price, or for a level or a signal of an
// indicator in the picture. The marks of such a signal are named before others.
type Alert struct {
	Price  float64 // or the level of the indicator
	Text   string  // names the price or level; empty if there is none
	Key    string  // of the panel; empty for a price
	Line   string  // of the indicator, in any case of letters; empty for its first
	Signal string  // label of the signal; empty if it waits for none
}

// Fill is a trade that was made.
type Fill struct {
	Buy             bool
	Time            int64 // unix seconds
	Price, Quantity float64
}

// awaits reports whether an alert waits for the signal label of the indicator that the
// client asked for as key. It returns false for a nil account.
func (a *Account) awaits(key, label string) bool {
	return a != nil && slices.ContainsFunc(a.Alerts, func(al Alert) bool { return al.Signal == label && al.Key == key })
}

// withAlerts returns the result of a panel with the levels of it that alerts wait for, the
// newest and at most as many as most, and how many it leaves out. It changes neither the
// account nor the panel.
func (a *Account) withAlerts(p *Panel, most int) (result *indicators.Result, left int) {
	if a == nil {
		return p.Result, 0
	}
	var alerts []Alert
	for _, alert := range a.Alerts {
		if alert.Key == p.Key && alert.Text != "" && usable(alert.Price) {
			alerts = append(alerts, alert)
		}
	}
	r := *p.Result
	r.HLines = slices.Clip(r.HLines)
	left = max(0, len(alerts)-most)
	for _, alert := range alerts[left:] {
		r.HLines = append(r.HLines, indicators.HLine{Y: alert.Price, Label: "alert " + watched(&r, alert.Line) + alert.Text, Tone: indicators.Accent})
	}
	return &r, left
}

// watched names the line that an alert waits for, if r has several. The only line over the
// price has the name of the indicator, or it would look like an alert for a price; that of a
// panel needs none.
func watched(r *indicators.Result, line string) string {
	names := make([]string, 0, len(r.Lines)+len(r.Histogram))
	for _, l := range r.Lines {
		names = append(names, l.Label)
	}
	for _, h := range r.Histogram {
		names = append(names, h.Label)
	}
	switch {
	case len(names) > 1:
		i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, line) })
		return printable(names[max(i, 0)], 14) + " "
	case r.Overlay:
		return printable(studyName(r), 14) + " "
	}
	return ""
}

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
	Text          string // at most MaxMarkText letters
	Tone          indicators.Tone
}

func (m Mark) drawable() bool { return usable(m.Price) && usable(m.Price2) }

// MarkTones returns the words for the tones a mark can have, the default first.
func MarkTones() []string { return []string{"accent", "up", "down", "muted"} }

// markTones are the tones of those words, in the same order.
var markTones = []indicators.Tone{indicators.Accent, indicators.Up, indicators.Down, indicators.Muted}

// ParseMarks reads marks as clients send them: a JSON array of at most MaxMarks
// objects with the members of markMembers. Times are read by [market.ParseTime]. It fails on the
// first mark that is not whole. A name must not be there twice in one object, which is
// for the caller to see to.
func ParseMarks(raw json.RawMessage, zone *time.Location) ([]Mark, error) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, fmt.Errorf("%w: marks are %s, want an array of objects", ErrOption, printable(string(raw), 40))
	}
	if len(items) > MaxMarks {
		return nil, fmt.Errorf("%w: %d marks, want at most %d", ErrOption, len(items), MaxMarks)
	}
	marks := make([]Mark, 0, len(items))
	for i, item := range items {
		var m Mark
		given, err := markValues(item)
		if err == nil {
			m, err = newMark(given, zone)
		}
		if err != nil {
			return nil, fmt.Errorf("marks[%d]: %w: %w", i, ErrOption, err)
		}
		marks = append(marks, m)
	}
	return marks, nil
}

var markMembers = []string{"type", "price", "price2", "time", "time2", "text", "color"}

// markValues returns the values of a mark's members as texts. An unknown member is a mistake that would otherwise go
// unnoticed: a mark without its color, say, because it was spelled colour. So is a name
// in another case, which encoding/json would take for a field of a struct: of price and
// Price in one object nobody can know which was meant.
func markValues(item json.RawMessage) (map[string]string, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(item, &members) != nil || members == nil { // nil of null
		return nil, fmt.Errorf("%s is not an object, want one with %s", printable(string(item), 40), strings.Join(markMembers, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(markMembers, name) {
			return nil, fmt.Errorf("it has %q, want only %s", printable(name, 40), strings.Join(markMembers, ", "))
		}
	}
	// A value may be written as a string or not, and null means that it is absent.
	given := make(map[string]string)
	for _, name := range markMembers {
		value, text := members[name], ""
		switch {
		case value == nil || string(value) == "null":
			continue
		case value[0] == '{' || value[0] == '[':
			return nil, fmt.Errorf("%s must be a single value, not %s", name, printable(string(value), 40))
		case json.Unmarshal(value, &text) != nil:
			text = string(value)
		}
		given[name] = text
	}
	return given, nil
}

// MarshalJSON writes m as ParseMarks reads it, without defaults and with times in unix
// seconds.
func (m Mark) MarshalJSON() ([]byte, error) {
	w := new(writer)
	w.open('{')
	w.put("type", MarkWords()[m.Kind], "price", price(m.Price))
	if m.Kind == MarkZone || m.Kind == MarkLine {
		w.put("price2", price(m.Price2))
	}
	w.put("time?", int(m.Time), "time2?", int(m.Time2), "text?", m.Text)
	if i := slices.Index(markTones, m.Tone); i > 0 { // the first is the default
		w.put("color", MarkTones()[i])
	}
	w.close('}')
	return w.b, nil
}

// markNeeds has the members that a mark of each kind cannot do without.
var markNeeds = [...][][]string{
	MarkLevel: {{"price"}},
	MarkZone:  {{"price", "price2"}},
	MarkLine:  {{"price", "price2"}, {"time", "time2"}},
	MarkText:  {{"text"}, {"price"}, {"time"}},
}

// newMark checks the members of a mark and returns it as it is drawn. Every number is
// checked here, so that nothing behind it meets NaN or a price that is missing.
func newMark(given map[string]string, zone *time.Location) (m Mark, err error) {
	kind := slices.Index(MarkWords(), given["type"])
	if kind < 0 {
		return m, fmt.Errorf("type %q, want level, zone, line or text", printable(given["type"], 20))
	}
	color := strings.ToLower(strings.TrimSpace(given["color"]))
	tone := slices.Index(MarkTones(), cmp.Or(color, MarkTones()[0]))
	if tone < 0 {
		return m, fmt.Errorf("color %q, want one of %s", printable(color, 40), strings.Join(MarkTones(), ", "))
	}
	if n := utf8.RuneCountInString(given["text"]); n > MaxMarkText {
		return m, fmt.Errorf("text has %d characters, want at most %d", n, MaxMarkText)
	}
	for _, needs := range markNeeds[kind] {
		if slices.ContainsFunc(needs, func(name string) bool { return given[name] == "" }) {
			return m, fmt.Errorf("a %s needs %s", given["type"], strings.Join(needs, " and "))
		}
	}
	m = Mark{Kind: MarkKind(kind), Text: printable(given["text"], MaxMarkText), Tone: markTones[tone]}
	for i, price := range [...]*float64{&m.Price, &m.Price2} {
		name := [...]string{"price", "price2"}[i]
		if given[name] == "" {
			continue
		}
		if *price, err = strconv.ParseFloat(strings.TrimSpace(given[name]), 64); errors.Is(err, strconv.ErrSyntax) {
			return m, fmt.Errorf("%s %q is not a number", name, printable(given[name], 40))
		} else if !usable(*price) {
			return m, fmt.Errorf("a price of %g, want a number below 1e300", *price)
		}
	}
	// A zone may be given from its end, and a date as its end includes the whole day.
	times := func(from, to string) (err error) {
		if from != "" {
			m.Time, err = market.ParseTime(from, zone, false)
		}
		if to != "" && err == nil {
			m.Time2, err = market.ParseTime(to, zone, m.Kind == MarkZone)
		}
		return err
	}
	if err = times(given["time"], given["time2"]); m.Kind == MarkZone && given["time"] != "" && given["time2"] != "" && m.Time2 < m.Time {
		err = times(given["time2"], given["time"])
	}
	switch m.Kind { // what the kind has none of
	case MarkLevel:
		m.Price2, m.Time, m.Time2 = 0, 0, 0
	case MarkText:
		m.Price2, m.Time2 = 0, 0
	}
	return m, err
}
