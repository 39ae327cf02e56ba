package market

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error says why a service returned no bars. Its text is our own, except for at most a
// cleaned and shortened description that the service sent.
type Error struct {
	Source string
	Symbol string
	Status int           // of the HTTP answer; 0 if none came
	Reason string        // what went wrong
	Advice string        // what to do, besides trying again
	Retry  bool          // whether the same call can succeed later
	After  time.Duration // how long to wait before that; 0 if unknown
	Err    error         // the cause, if there is one

	unknown bool // the service does not list the symbol
	busy    bool // nothing was asked: our own limit is used up
}

// Error returns one line: what failed, why, and whether trying again may help.
func (e *Error) Error() string {
	var b strings.Builder
	if e.busy {
		fmt.Fprintf(&b, "wick has not asked %s for %q: %s", e.Source, e.Symbol, e.Reason)
	} else {
		fmt.Fprintf(&b, "%s returned no data for %q: %s", e.Source, e.Symbol, e.Reason)
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (status %d)", e.Status)
	}
	if e.Advice != "" {
		fmt.Fprintf(&b, "; %s", e.Advice)
	}
	switch {
	case e.Retry && e.After > 0:
		fmt.Fprintf(&b, "; try again in %s", max(e.After.Round(time.Second), time.Second))
	case e.Retry:
		b.WriteString("; trying again may help")
	default:
		b.WriteString("; trying again will not help")
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrUnlisted reports that a source has answered, and that it does not have the symbol.
var ErrUnlisted = errors.New("no such symbol")

// ErrBusy reports that a source was not asked, because our own limit of requests to it is
// used up: the same call can succeed in a moment.
var ErrBusy = errors.New("too many requests at once")

// Is reports whether e is what target reports, for ErrUnlisted and ErrBusy.
func (e *Error) Is(target error) bool {
	return target == ErrUnlisted && e.unknown || target == ErrBusy && e.busy
}

// unknownSymbol is the reason in an Error if the service does not list the symbol.
const unknownSymbol = "the symbol is unknown there"

// errNotOne is for an answer that should be about the one symbol in the request.
var errNotOne = errors.New("the answer is not about one symbol")

// tidyText makes a service's text safe to show: one line of printable ASCII, at
// most 120 bytes.
func tidyText(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
	clean = strings.Join(strings.Fields(clean), " ")
	return strings.TrimSpace(clean[:min(len(clean), 120)])
}
