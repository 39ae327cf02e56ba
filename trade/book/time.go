package book

import (
	"fmt"
	"time"

	"wick/internal/limit"
)

// Time is an instant as clients and the journal see it: UTC with milliseconds.
type Time struct{ time.Time }

// TimeLayout always has three decimals, so that texts of times sort like the times.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Age returns how old t is at the instant at. A stored time may lie in the future because
// the clock was set back; its age is zero.
func (t Time) Age(at Time) time.Duration { return max(0, at.Sub(t.Time)) }

// String returns t as clients and the journal see it.
func (t Time) String() string { return t.UTC().Format(TimeLayout) }

// MarshalJSON writes t with exactly three decimals.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.append(make([]byte, 0, len(TimeLayout)+2)), nil
}

// append adds what MarshalJSON writes to b. The library writes RFC 3339 several
// times faster than any other layout, so only the milliseconds are put in here.
func (t Time) append(b []byte) []byte {
	u := t.UTC()
	b = u.AppendFormat(append(b, '"'), time.RFC3339)
	ms := u.Nanosecond() / 1e6
	return append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z', '"')
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(text []byte) error {
	v, err := time.Parse(`"`+TimeLayout+`"`, string(text))
	if err != nil {
		return fmt.Errorf("bad time %s: write it as %s", limit.Clip(string(text)), TimeLayout)
	}
	t.Time = v
	return nil
}
