package book

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"wick/indicators"
	"wick/internal/limit"
	"wick/market"
)

// Alert waits for its condition and, unless it repeats, is gone once it fired.
type Alert struct {
	ID        string          `json:"alert_id"`
	Symbol    string          `json:"symbol"`
	Interval  market.Interval `json:"interval"` // empty for price conditions, unless they repeat each bar
	Condition Condition       `json:"condition"`
	CreatedAt Time            `json:"created_at"`
	ChangedAt *Time           `json:"changed_at,omitempty"` // since when it waits for what it waits for, if that was changed; nil if it was not

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
	Changes   string // the id of an alert that is to be changed: what is left out stays as it is; empty for a new one
	Symbol    string
	Interval  string // of an indicator condition; empty means the engine's first
	Condition Condition
	Members   map[string]json.RawMessage // of a change, in place of Condition: what changes of the alert's; see [Condition.With]

	ClientAlertID string // may be empty
	Note          string // may be empty

	Repeat    Repeat    // empty means once
	Cooldown  string    // a time such as 4h; empty for none
	ExpiresAt time.Time // zero for never
}

// MaxNote bounds an alert's note, in characters of at most four bytes: it travels with
// every notification.
const MaxNote = 200

// Same reports whether a and b were asked for with the same arguments. They are compared as
// they are written down, with parameters of a condition as text.
func (a *Alert) Same(b *Alert) bool {
	asked := func(a *Alert) string {
		text, _ := json.Marshal(Alert{Symbol: a.Symbol, Interval: a.Interval, Condition: a.Condition, Note: a.Note, Repeat: a.Repeat, Cooldown: a.Cooldown, ExpiresAt: a.ExpiresAt})
		return string(text)
	}
	return asked(a) != "" && asked(a) == asked(b)
}

// Ending says why an alert waits no more.
type Ending string

// Why an alert waits no more.
const (
	EndedFired     Ending = "fired"
	EndedCancelled Ending = "cancelled"
	EndedExpired   Ending = "expired"
)

// withEnding returns a as it is after its end. The alert itself is not changed, because
// states share it.
func (a *Alert) withEnding(why Ending, at Time) *Alert {
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

// Standing says how the market stands to an alert's condition now, so that the client
// that set the alert sees at once whether it asked for the right thing.
type Standing struct {
	Price json.Number `json:"price,omitempty"` // the newest, of a price condition
	Value json.Number `json:"value,omitempty"` // of a profit condition
	Next  *Time       `json:"next,omitempty"`  // when a time condition will be met
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

// ExpiryGrace is how long an alert is kept after it has expired. A bar that closed
// before that time may come later, and after a start the bars that were missed do.
const ExpiryGrace = 5 * time.Minute

// Repeats takes over from r how often and until when a fires, and refuses what makes no
// sense. That the time may be over already is left to CheckExpiry.
func (a *Alert) Repeats(r AlertRequest) error {
	switch c := a.Condition; {
	case r.Repeat != "" && !slices.Contains(Repeats(), r.Repeat):
		return Refuse("bad_repeat", "repeat %q is not one of once, each_bar, each_time", limit.Clip(string(r.Repeat)))
	case r.Repeat == EachBar && !c.OnPrice() && !c.OnSignal():
		return Refuse("bad_repeat", "repeat each_bar is for prices and signals: a profit and a time have no bars")
	case r.Repeat == EachTime && c.Type == AtTime:
		return Refuse("bad_repeat", "a time with its date comes once: daily repeats")
	case c.Type == Daily:
		a.Repeat = EachTime
	case r.Repeat != Once:
		a.Repeat = r.Repeat
	}
	if r.Cooldown != "" {
		pause, err := time.ParseDuration(r.Cooldown)
		if err != nil {
			iv, _ := market.ParseInterval(r.Cooldown)
			pause = iv.Duration()
		}
		switch {
		case pause < time.Second || pause > MaxPause:
			return Refuse("bad_cooldown", "cooldown %q: a time such as 4h, 90m or 1d, from a second to %d days", limit.Clip(r.Cooldown), MaxPause/(24*time.Hour))
		case a.Repeat == "":
			return Refuse("bad_cooldown", "an alert that fires once needs no cooldown: say repeat each_bar or each_time with it")
		}
		a.Cooldown = Pause(pause)
	}
	if !r.ExpiresAt.IsZero() {
		a.ExpiresAt = &Time{r.ExpiresAt.UTC().Truncate(time.Millisecond)}
	}
	return nil
}

// CheckExpiry refuses an alert whose time is over at an instant.
func (r *AlertRequest) CheckExpiry(at Time) error {
	if !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(at.Time) {
		return Refuse("bad_expiry", "expires_at %s is not in the future", r.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return nil
}

// whileTrue reports whether a is on a rule and fires on every bar on which the rule is
// true, or on every bar on which it is not, instead of only when it changes.
func (a *Alert) whileTrue() bool { return a.Repeat == EachBar && a.Condition.isRule() }

// isRule reports whether c is on a rule.
func (c Condition) isRule() bool {
	if c.Type != IndicatorSignal {
		return false // a price condition has no indicator to look up
	}
	ind, err := indicators.Lookup(c.Indicator)
	return err == nil && ind.Name == "rule"
}

// Meaning says in one line when a fires, or "" if the type of its condition says it.
func (a Alert) Meaning() string {
	if a.whileTrue() {
		if a.Condition.Signal == indicators.BecomesTrue {
			return "on every bar on which the condition is true"
		}
		return "on every bar on which the condition is not true"
	}
	return a.Condition.Meaning()
}

// Hint returns what a client may not expect of a when the market stands as st says, or
// "": an alert on a rule waits for the rule to change, and it may have changed already.
// For an alert that has ended it says that.
func (a Alert) Hint(st *Standing) string {
	switch {
	case a.Ended != "":
		return a.ending() + "; for another one choose another client_alert_id"
	case st == nil || st.True == nil:
		return ""
	case a.Condition.OnProfit():
		if *st.True && a.FiredAt == nil {
			return "the profit is there already: the alert fires now"
		}
		return ""
	case !a.Condition.isRule():
		if *st.True && a.FiredAt == nil && a.Condition.OnPrice() {
			return "the price is there already: the alert fires at the next price, unless that has left by then"
		}
		return ""
	case a.whileTrue() || *st.True != (a.Condition.Signal == indicators.BecomesTrue):
		return ""
	case *st.True:
		return "the rule is true already: the alert fires only after it has been untrue and becomes true again; repeat each_bar fires on every bar on which it is true"
	}
	return "the rule is not true now: the alert fires only after it has been true and is no longer; repeat each_bar fires on every bar on which it is not true"
}

// ending says that a has ended, and why.
func (a Alert) ending() string {
	why := string(a.Ended)
	if a.Ended == EndedCancelled {
		why = "was cancelled"
	}
	if a.EndedAt != nil {
		why += " at " + a.EndedAt.Format(time.RFC3339)
	}
	return "this alert waits no more: it " + why
}

// Ready reports whether a may fire for what the market did at an instant, in unix
// milliseconds: the alert has not expired by then, its cooldown is over, and it has not
// fired for that instant or a later one. So a price that is told twice fires it once.
func (a *Alert) Ready(at int64) bool {
	switch {
	case a.ExpiresAt != nil && at > a.ExpiresAt.UnixMilli():
		return false
	case a.FiredAt == nil:
		return true
	case at < a.rested():
		return false
	}
	return at > a.FiredAt.UnixMilli()
}

// FiredIn reports whether a has fired within the bar of its interval that starts at start, in
// unix seconds: when it was complete, before it closed.
func (a *Alert) FiredIn(start int64) bool { return a.FiredAt != nil && a.FiredAt.Unix() > start }

// Over reports whether a has expired at a time.
func (a *Alert) Over(at Time) bool { return a.ExpiresAt != nil && !a.ExpiresAt.After(at.Time) }

// Expired reports whether a has expired for so long that it can no longer fire, and may
// be forgotten. Began is when this process began.
func (a *Alert) Expired(at, began Time) bool {
	if a.ExpiresAt == nil {
		return false
	}
	// A process that began later must first hear of what happened before the alert
	// expired.
	since := a.ExpiresAt.Time
	if began.After(since) {
		since = began.Time
	}
	return at.Sub(since) >= ExpiryGrace
}

// After returns a as it is once it has fired for what the market did at an instant, in
// unix milliseconds. It returns nil for an alert that fires only once. The alert itself is
// not changed, because states share it.
func (a *Alert) After(at int64) *Alert {
	if a.Repeat == "" {
		return nil
	}
	b := *a
	b.FiredAt, b.Fired = &Time{time.UnixMilli(at).UTC()}, a.Fired+1
	return &b
}

// rested returns when the cooldown of an alert ends, or has ended, in unix milliseconds;
// zero if it has none or has not fired yet.
func (a *Alert) rested() int64 {
	if a.FiredAt == nil || a.Cooldown == 0 {
		return 0
	}
	return a.FiredAt.Add(time.Duration(a.Cooldown)).UnixMilli()
}

// Since returns from when on trading counts for a price alert, in unix milliseconds:
// since it was set, or since it last fired.
func (a *Alert) Since() int64 {
	if a.FiredAt != nil {
		return max(a.set(), a.FiredAt.UnixMilli())
	}
	return a.set()
}

// set returns since when a waits for what it waits for, in unix milliseconds.
func (a *Alert) set() int64 {
	if a.ChangedAt != nil {
		return a.ChangedAt.UnixMilli()
	}
	return a.CreatedAt.UnixMilli()
}

// Fill completes a request to change a: what it leaves out is as a has it.
func (a *Alert) Fill(r *AlertRequest) (err error) {
	if len(r.Members) > 0 {
		if r.Condition, err = a.Condition.With(r.Members); err != nil {
			return err
		}
	}
	r.Symbol = a.Symbol
	kind := r.Condition.Type
	if kind == "" {
		r.Condition = a.Condition
	}
	if r.Repeat == "" && (kind == "" || a.Condition.Type != Daily) { // that of a daily one is its own
		r.Repeat = a.Repeat
	}
	if r.Cooldown == "" && a.Cooldown != 0 && r.Repeat != "" && r.Repeat != Once {
		r.Cooldown = time.Duration(a.Cooldown).String()
	}
	if r.ExpiresAt.IsZero() && a.ExpiresAt != nil {
		r.ExpiresAt = a.ExpiresAt.Time
	}
	r.Interval = cmp.Or(r.Interval, string(a.Interval))
	r.Note, r.ClientAlertID = cmp.Or(r.Note, a.Note), a.ClientAlertID
	return nil
}

// Becomes makes b, which was asked for with the same id, the alert that a is from now on. If it
// waits for something else than before it begins anew: what the market did before does not count.
func (a *Alert) Becomes(b *Alert, at Time) {
	b.ID, b.CreatedAt, b.By, b.ChangedAt, b.FiredAt, b.Fired = a.ID, a.CreatedAt, a.By, a.ChangedAt, a.FiredAt, a.Fired
	if !(&Alert{Condition: a.Condition, Interval: a.Interval, Repeat: a.Repeat}).Same(&Alert{Condition: b.Condition, Interval: b.Interval, Repeat: b.Repeat}) {
		b.ChangedAt, b.FiredAt = &at, nil
	}
}
