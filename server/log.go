package server

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of the lines that wait to be written.
const (
	logDelay    = 20 * time.Millisecond  // between two writes; lines that come meanwhile are written together
	logQueue    = 1 << 20                // bytes of all lines; the newest may exceed it
	logFarewell = 500 * time.Millisecond // that the end of the process waits for them
)

// loggers makes the loggers of the program's parts: one line per event, in text
// with the part's prefix in front, or as JSON with the part as an attribute.
type loggers struct {
	out    *logOutput
	format string // "text" or "json"
}

// newLoggers returns loggers that write to w. slog quotes most of what a terminal would
// obey, but not DEL and, as JSON, no character above it.
func newLoggers(w io.Writer, format string) loggers {
	return loggers{&logOutput{w: Visible(w)}, format}
}

// part returns the logger of one part: "OAuth" writes lines that begin with "[OAuth] ".
func (l loggers) part(name string) *slog.Logger {
	if l.format == "json" {
		return slog.New(slog.NewJSONHandler(&lineWriter{l, ""}, nil)).With("part", name)
	}
	return slog.New(slog.NewTextHandler(&lineWriter{l, "[" + name + "] "}, nil))
}

// logOutput writes the lines of all parts in the order in which they came: the first at once, and
// those of the next logDelay together, since a write for each would cost a fifth of a small call. Whoever adds a line never
// waits for w: a log that nobody reads must not hold up calls, a halt or the end of the
// process. So a goroutine writes while there are lines, and while it waits for w, lines queue
// up to logQueue and further ones are dropped and counted.
type logOutput struct {
	w io.Writer

	mu      sync.Mutex
	lines   []byte        // not yet written; guarded by mu, like every field below it
	dropped int           // lines since some were last taken to be written
	done    chan struct{} // closed when the goroutine has written all; nil while there is none
}

// lineWriter puts a prefix before every record. slog's handlers make one Write
// per record and quote line breaks in values, so nothing a stranger sends can
// begin a line of its own.
type lineWriter struct {
	loggers
	prefix string
}

// Write adds one record, unless too much is waiting.
func (p *lineWriter) Write(record []byte) (int, error) {
	o := p.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.lines) >= logQueue {
		o.dropped++
		return len(record), nil
	}
	o.lines = append(append(o.lines, p.prefix...), record...)
	if o.done == nil {
		o.done = make(chan struct{})
		go p.write()
	}
	return len(record), nil
}

// write writes until no line has come for logDelay. Lines that cannot be written are lost, since
// there is nowhere to report that.
func (l loggers) write() {
	for o := l.out; ; time.Sleep(logDelay) {
		o.mu.Lock()
		lines, dropped := o.lines, o.dropped
		o.lines, o.dropped = nil, 0
		if len(lines) == 0 {
			close(o.done)
			o.done = nil
		}
		o.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		if dropped > 0 {
			l.part("wick").Warn("lines of this log were dropped, because nobody read it", "lines", dropped)
		}
		o.w.Write(lines)
	}
}

// flush waits, as long as logFarewell, until the lines that wait are written. Call it before
// the process ends.
func (l loggers) flush() {
	l.out.mu.Lock()
	done := l.out.done
	l.out.mu.Unlock()
	if done != nil {
		select {
		case <-done:
		case <-time.After(logFarewell):
		}
	}
}

// Complain writes err, with which [Run] returned, to w, which is standard error: the last
// line of the process. Like the log, it does not wait long for whoever reads that.
func Complain(w io.Writer, err error) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprintln(Visible(w), "wick:", err)
	}()
	select {
	case <-said:
	case <-time.After(logFarewell):
	}
}

// Visible returns a writer that passes text on to w, for a terminal. Each character that a
// terminal would obey or hide is written as in JSON, \u009b: controls other than tab and line
// feed, characters that turn the direction of writing or have no width, and the separators
// of lines and paragraphs. JSON stays valid, because such characters are only inside its
// strings. What is no UTF-8 becomes U+FFFD. A character may be split between two writes.
//
// The names of clients, the notes of alerts and the errors of services are strangers' words.
// Printed as they are, they could delete the line above, or read otherwise than they are.
func Visible(w io.Writer) io.Writer { return &visible{w: w} }

// visible is the writer that Visible returns.
type visible struct {
	w    io.Writer
	rest []byte // the first bytes of a character, whose others come with the next Write
}

// Write writes p with the escapes. If a text with escapes cannot be written, it counts as
// not written at all.
func (v *visible) Write(p []byte) (int, error) {
	if len(v.rest) == 0 && !slices.ContainsFunc(p, unusual) { // nearly every line of a log
		return v.w.Write(p)
	}
	text := p
	if len(v.rest) > 0 {
		text, v.rest = append(v.rest, p...), nil
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			v.rest = append(v.rest, text...)
			break
		}
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch {
		case r < 0x80 && !unusual(byte(r)), !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			out = utf8.AppendRune(out, r)
		case r > 0xffff: // \u has four digits, so JSON writes the two halves of UTF-16
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	if _, err := v.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unusual reports whether a byte is part of a character beyond ASCII, or a control other
// than tab and line feed.
func unusual(b byte) bool { return b >= 0x7f || b < ' ' && b != '\n' && b != '\t' }
