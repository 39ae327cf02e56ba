package book

import (
	"encoding/json"
	"strings"
	"time"

	"wick/market"
)

// Alert waits for its condition and, unless it repeats, is gone once it fired.
type Alert struct {
	ID        string          `json:"alert_id"`
	Symbol    string          `json:"symbol"`
	Interval  market.Interval `json:"interval"` // empty for price conditions, unless they repeat each bar
	Condition Condition       `json:"condition"`
	CreatedAt Time            `json:"created_at"`

	ClientAlertID string `json:"client_alert_id,omitempty"` // the client's own name for it
	Note          string `json:"note,omitempty"`            // the client's own words, repeated when it fires

	Repeat    Repeat `json:"repeat,omitempty"`     // empty means once
	Cooldown  Pause  `json:"cooldown,omitempty"`   // for how long it does not fire again; zero for no pause
	ExpiresAt *Time  `json:"expires_at,omitempty"` // what the market does later does not fire it; nil for never
	FiredAt   *Time  `json:"fired_at,omitempty"`   // of an alert that repeats: when the market last met the condition
	Fired     int    `json:"fired,omitempty"`      // how often that was

	Ended   Ending `json:"ended,omitempty"`    // why it waits no more; empty while it waits
	EndedAt *Time  `json:"ended_at,omitempty"` // when that was; nil if it is not known

	// By is who set it. It is written down and audited; clients do not see it.
	By *Who `json:"by,omitempty"`
}

// Public returns the alert as a client sees it.
func (a *Alert) Public() Alert {
	if a == nil {
		return Alert{}
	}
	c := *a
	c.By = nil
	return c
}

// AlertRequest asks for an alert.
type AlertRequest struct {
	Who       Who
	Symbol    string
	Interval  string // of an indicator condition; empty means the engine's first
	Condition Condition

	ClientAlertID string // may be empty
	Note          string // may be empty

	Repeat    Repeat    // empty means once
	Cooldown  string    // a time such as 4h; empty for none
	ExpiresAt time.Time // zero for never
}

// MaxNote bounds an alert's note, in characters of at most four bytes: it travels with
// every notification.
const MaxNote = 200

// Same reports whether a and b were asked for with the same arguments.
func (a *Alert) Same(b *Alert) bool {
	// Conditions are compared as they are written down, with parameters as text.
	x, errX := json.Marshal(a.Condition)
	y, errY := json.Marshal(b.Condition)
	if a.Repeat != b.Repeat || a.Cooldown != b.Cooldown || (a.ExpiresAt == nil) != (b.ExpiresAt == nil) || a.ExpiresAt != nil && !a.ExpiresAt.Equal(b.ExpiresAt.Time) {
		return false
	}
	return a.Symbol == b.Symbol && a.Interval == b.Interval && a.Note == b.Note && errX == nil && errY == nil && string(x) == string(y)
}

// Ending says why an alert waits no more.
type Ending string

// Why an alert waits no more.
const (
	EndedFired     Ending = "fired"
	EndedCancelled Ending = "cancelled"
	EndedExpired   Ending = "expired"
)

// WithEnding returns a as it is after its end. The alert itself is not changed, because
// states share it.
func (a *Alert) WithEnding(why Ending, at Time) *Alert {
	b := *a
	b.Ended, b.EndedAt = why, &at
	return &b
}

// CompareIDs orders ids of one kind by age: they end in a rising number.
func CompareIDs(a, b string) int {
	a, b = a[strings.LastIndexByte(a, '-')+1:], b[strings.LastIndexByte(b, '-')+1:]
	if d := len(a) - len(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// ByAge orders alerts, oldest first.
func ByAge(a, b *Alert) int { return CompareIDs(a.ID, b.ID) }

// Repeat says how often an alert fires.
type Repeat string

// How often an alert fires. An alert of an older journal has none: it fires once.
const (
	Once     Repeat = "once"      // and is then gone
	EachBar  Repeat = "each_bar"  // on every bar on which the condition holds, once in each
	EachTime Repeat = "each_time" // whenever the condition comes true anew
)

// Repeats returns the words for how often an alert fires.
func Repeats() []Repeat { return []Repeat{Once, EachBar, EachTime} }

// MaxPause is the longest cooldown.
const MaxPause = 31 * 24 * time.Hour

// Pause is how long an alert rests. Its JSON is a text such as "4h0m0s".
type Pause time.Duration

// MarshalText writes p as Go writes durations.
func (p Pause) MarshalText() ([]byte, error) { return []byte(time.Duration(p).String()), nil }

// UnmarshalText reads what MarshalText writes.
func (p *Pause) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*p = Pause(d)
	return err
}

// parsePause reads a length of time: a duration of Go, or an interval.
func parsePause(text string) (time.Duration, bool) {
	d, err := time.ParseDuration(text)
	if err != nil {
		iv, _ := market.ParseInterval(text)
		d = iv.Duration()
	}
	return d, d >= time.Second && d <= MaxPause
}

// Standing says how the market stands to an alert's condition now, so that the client
// that set the alert sees at once whether it asked for the right thing.
type Standing struct {
	Price json.Number `json:"price,omitempty"` // the newest, of a price condition
	Bar   string      `json:"bar,omitempty"`   // start of the newest closed bar, which the fields below are about

	// True says whether a price or a rule meets the condition; nil for signals,
	// which are events, and where it is not known.
	True  *bool  `json:"true,omitempty"`
	Since string `json:"since,omitempty"` // of a rule: the first bar from which on True has been as it is

	// AtLeast says that it may have been so for longer than Since: the bars do not reach
	// back to one where True was different.
	AtLeast bool `json:"at_least,omitempty"`

	// Values are the numbers that a rule compares, or the lines and histograms of another
	// indicator. Bars are the starts of the closed bars of other intervals and markets that
	// a rule read, under the names that the rule has for them.
	Values map[string]json.RawMessage `json:"values,omitempty"`
	Bars   map[string]string          `json:"other_bars,omitempty"`
}
