// Package limit holds the two bounds that many packages share: how much of a
// stranger's text is quoted back, and how often something may be done.
package limit

import (
	"math"
	"strings"
	"time"
)

// maxClip is how many bytes of a text Clip keeps.
const maxClip = 64

// Clip shortens what somebody sent before it is quoted in an error or a log
// line. The result is valid UTF-8: a character is kept whole or not at all.
func Clip(text string) string {
	if len(text) <= maxClip {
		return strings.ToValidUTF8(text, "\ufffd")
	}
	return strings.ToValidUTF8(text[:maxClip], "") + "…"
}

// Rate is how often something may be done: Burst times at once, and then once more each
// time that Every has passed.
type Rate struct {
	Burst float64
	Every time.Duration
}

// Bucket counts against a Rate. The zero Bucket has its whole burst left. It is
// not safe for use by several goroutines.
type Bucket struct {
	used float64   // units taken and not regained yet
	at   time.Time // when used was last computed
}

// Wait returns how long it takes until one unit can be taken; zero means now.
func (b *Bucket) Wait(now time.Time, r Rate) time.Duration {
	if passed := now.Sub(b.at); passed > 0 {
		b.used, b.at = max(0, b.used-float64(passed)/float64(r.Every)), now
	}
	if b.used <= r.Burst-1 {
		return 0
	}
	return time.Duration(math.Ceil((b.used - r.Burst + 1) * float64(r.Every)))
}

// Take takes one unit and returns zero, or returns how long it takes until there is one.
func (b *Bucket) Take(now time.Time, r Rate) (wait time.Duration) {
	if wait = b.Wait(now, r); wait == 0 {
		b.used++
	}
	return wait
}

// GiveBack undoes one Take.
func (b *Bucket) GiveBack() { b.used = max(0, b.used-1) }

// Line turns a text that may quote strangers into one line of at most so many bytes, with
// an ellipsis after them if it was longer. Control characters become spaces, and
// characters that reverse the direction of writing are left out.
func Line(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029:
			return ' '
		case r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
