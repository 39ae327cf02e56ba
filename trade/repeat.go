package trade

import (
	"encoding/json"
	"time"

	"wick/exact"
	"wick/indicators"
	"wick/limit"
	"wick/market"
)

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

// expiryGrace is how long an alert is kept after it has expired: a bar that closed
// before may come late, and after a start all that was missed comes first.
const expiryGrace = 5 * time.Minute

// repeats takes over how often and how long a is to fire from r, and refuses what
// makes no sense.
func (a *Alert) repeats(r AlertRequest) error {
	switch r.Repeat {
	case "", Once:
	case EachBar, EachTime:
		a.Repeat = r.Repeat
	default:
		return refuse("bad_repeat", fixIt, "repeat %q is not one of once, each_bar, each_time", limit.Clip(string(r.Repeat)))
	}
	if r.Cooldown != "" {
		pause, ok := parsePause(r.Cooldown)
		switch {
		case !ok:
			return refuse("bad_cooldown", fixIt, "cooldown %q: a time such as 4h, 90m or 1d, from a second to %d days", limit.Clip(r.Cooldown), maxPause/(24*time.Hour))
		case a.Repeat == "":
			return refuse("bad_cooldown", fixIt, "an alert that fires once needs no cooldown: say repeat each_bar or each_time with it")
		}
		a.Cooldown = Pause(pause)
	}
	if !r.ExpiresAt.IsZero() {
		if !r.ExpiresAt.After(time.Now()) {
			return refuse("bad_expiry", fixIt, "expires_at %s is not in the future", r.ExpiresAt.UTC().Format(time.RFC3339))
		}
		a.ExpiresAt = &Time{r.ExpiresAt.UTC().Truncate(time.Millisecond)}
	}
	return nil
}

// whileTrue reports whether a waits for no turn of a rule, but fires on every bar
// on which the rule is true, or on which it is not.
func (a *Alert) whileTrue() bool { return a.Repeat == EachBar && a.Condition.isRule() }

// isRule reports whether c is on a rule.
func (c Condition) isRule() bool {
	ind, err := indicators.Lookup(c.Indicator)
	return c.Type == IndicatorSignal && err == nil && ind.Name == "rule"
}

// Meaning says in one line when a fires, "" if its condition says it.
func (a Alert) Meaning() string {
	if a.whileTrue() {
		if a.Condition.Signal == indicators.BecomesTrue {
			return "on every bar on which the condition is true"
		}
		return "on every bar on which the condition is not true"
	}
	return a.Condition.Meaning()
}

// Hint says what st makes of a that its client may not expect, "" for nothing: an
// alert on a rule waits for a turn, and the rule may have turned already.
func (a Alert) Hint(st *Standing) string {
	switch {
	case st == nil || st.True == nil:
		return ""
	case !a.Condition.isRule():
		if *st.True && a.Condition.Type != IndicatorSignal {
			return "the price is there already: the alert fires at the next price"
		}
		return ""
	case a.whileTrue() || *st.True != (a.Condition.Signal == indicators.BecomesTrue):
		return ""
	case *st.True:
		return "the rule is true already: the alert fires only after it has been untrue and becomes true again; repeat each_bar fires on every bar on which it is true"
	}
	return "the rule is not true now: the alert fires only after it has been true and is no longer; repeat each_bar fires on every bar on which it is not true"
}

// maxPause is the longest cooldown.
const maxPause = 31 * 24 * time.Hour

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
	return d, d >= time.Second && d <= maxPause
}

// ready reports whether a may fire for what the market did at an instant, in unix
// milliseconds: it has not expired by then, has not fired for it or for anything
// later, and has rested long enough since it fired.
func (a *Alert) ready(at int64) bool {
	switch {
	case a.ExpiresAt != nil && at > a.ExpiresAt.UnixMilli():
		return false
	case a.FiredAt == nil:
		return true
	case at < a.FiredAt.Add(time.Duration(a.Cooldown)).UnixMilli():
		return false
	}
	return at > a.FiredAt.UnixMilli()
}

// expired reports whether a can fire no more and may be forgotten, in a process
// that began at the given time.
func (a *Alert) expired(at, began Time) bool {
	if a.ExpiresAt == nil {
		return false
	}
	since := a.ExpiresAt.Time
	if began.After(since) {
		since = began.Time
	}
	return at.Sub(since) >= expiryGrace
}

// after returns a as it is when it has fired for what the market did at an
// instant, in unix milliseconds; nil if it is then gone.
func (a *Alert) after(at int64) *Alert {
	if a.Repeat == "" {
		return nil
	}
	b := *a
	b.FiredAt, b.Fired = &Time{time.UnixMilli(at).UTC()}, a.Fired+1
	return &b
}

// since returns from when on trading counts for a price alert, in unix
// milliseconds.
func (a *Alert) since() int64 {
	if a.FiredAt != nil {
		return max(a.CreatedAt.UnixMilli(), a.FiredAt.UnixMilli())
	}
	return a.CreatedAt.UnixMilli()
}

// meetsAgain is like meets, for an alert that has fired before: the price must have
// been on the other side since, or for each_bar another bar must have begun. Where
// a leg of the path turns within itself is not known, so a leg that both leaves
// and reaches the threshold arms the alert for the next one.
func (t tick) meetsAgain(a *Alert) (trigger, bool) {
	// An alert is armed when the price has been on the other side since it fired. If it
	// fired before this update, the price that the update sets out from tells.
	fired := a.FiredAt.UnixMilli()
	from, _ := exact.FromFloat(t.From)
	armed := fired <= t.Since && !a.Condition.reachedBy(span{high: from, low: from})
	for _, l := range t.legs {
		part, ok := l.after(a.since())
		if !ok {
			continue
		}
		if a.Repeat == EachBar {
			// A leg ends where the next begins: its last instant is the one before.
			armed = a.Interval.Start((l.to-1)/1000) > a.Interval.Start((fired-1)/1000)
		}
		if armed && a.Condition.reachedBy(part) {
			return trigger{value: json.Number(a.Condition.extreme(part).String()), at: l.to}, true
		}
		other := part.low // the price of the leg that is furthest from the threshold
		if a.Condition.Type == PriceBelow {
			other = part.high
		}
		armed = armed || !a.Condition.reachedBy(span{high: other, low: other})
	}
	return trigger{}, false
}

// forget takes away the alerts that have expired. Called with mu held; it returns
// the last sequence, or 0.
func (e *Engine) forget(at Time) (seq uint64, err error) {
	for _, a := range e.ahead.sortedAlerts() {
		if !a.expired(at, e.began) {
			continue
		}
		if seq, err = e.propose(kindAlertGone, &event{At: at, Alert: a}); err != nil {
			return 0, err
		}
	}
	return seq, nil
}
