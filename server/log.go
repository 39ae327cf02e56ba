package server

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Bounds of the lines that wait to be written.
const (
	logDelay    = 100 * time.Millisecond // for lines of requests, which are written together
	logBuffer   = 16 << 10               // bytes, of these
	logQueue    = 1 << 20                // bytes, of all lines; the newest may exceed it
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
	l := loggers{&logOutput{w: Visible(w)}, format}
	l.out.lost = func(lines int) {
		l.part("wick").Warn("lines of this log were dropped, because nobody read it", "lines", lines)
	}
	return l
}

// part returns the logger of one part: "OAuth" writes lines that begin with
// "[OAuth] ". Each line is written at once, in the background.
func (l loggers) part(name string) *slog.Logger { return l.logger(name, false) }

// requests is like part, for lines that come with every request: they are
// written together, within logDelay. A write for each would cost a fifth of a
// small call.
func (l loggers) requests(name string) *slog.Logger { return l.logger(name, true) }

// logger returns the logger of a part. If wait is true, its lines may be written later.
func (l loggers) logger(name string, wait bool) *slog.Logger {
	if l.format == "json" {
		return slog.New(slog.NewJSONHandler(&lineWriter{l.out, "", wait}, nil).WithAttrs([]slog.Attr{slog.String("part", name)}))
	}
	return slog.New(slog.NewTextHandler(&lineWriter{l.out, "[" + name + "] ", wait}, nil))
}

// flush writes the lines that wait, if somebody reads them. Call it before the process ends.
func (l loggers) flush() { l.out.flush() }

// lineWriter puts a prefix before every record. slog's handlers make one Write
// per record and quote line breaks in values, so nothing a stranger sends can
// begin a line of its own.
type lineWriter struct {
	out    *logOutput
	prefix string
	wait   bool // its lines may wait, to be written together with others
}

// Write takes one record.
func (p *lineWriter) Write(record []byte) (int, error) {
	p.out.add(p.prefix, record, p.wait)
	return len(record), nil
}

// logOutput writes the lines of all parts in the order in which they came: before a
// line that must not wait, all that wait are written. Whoever adds a line never waits for
// w: a log that nobody reads must not hold up calls, a halt or the end of the process. So a
// goroutine writes while there are lines, and while it waits for w, lines queue up to logQueue
// and further ones are dropped and counted.
type logOutput struct {
	w    io.Writer
	lost func(lines int) // adds a line that says how many were dropped

	mu      sync.Mutex
	lines   []byte        // not yet written; guarded by mu, like every field below it
	dropped int           // lines since some were last taken to be written
	hurry   chan struct{} // holds one if the lines are not to wait
	done    chan struct{} // closed when the goroutine has written all; nil while there is none
}

// add appends a line, unless too much is waiting. All lines are written at once if this one
// must not wait, or if they fill the buffer.
func (o *logOutput) add(prefix string, record []byte, wait bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.lines) >= logQueue {
		o.dropped++
		return
	}
	o.lines = append(append(o.lines, prefix...), record...)
	if o.done == nil {
		o.hurry, o.done = make(chan struct{}, 1), make(chan struct{})
		go o.write(o.hurry)
	}
	if !wait || len(o.lines) >= logBuffer {
		o.now()
	}
}

// now lets no line wait. The caller holds mu.
func (o *logOutput) now() {
	select {
	case o.hurry <- struct{}{}:
	default:
	}
}

// write writes until nothing is left. Lines that cannot be written are lost, since there is
// nowhere to report that.
func (o *logOutput) write(hurry <-chan struct{}) {
	for {
		select {
		case <-hurry:
		case <-time.After(logDelay):
		}
		o.mu.Lock()
		lines, dropped := o.lines, o.dropped
		o.lines, o.dropped = nil, 0
		o.mu.Unlock()
		if dropped > 0 {
			o.lost(dropped)
		}
		o.w.Write(lines)
		o.mu.Lock()
		if len(o.lines) == 0 {
			close(o.done)
			o.done = nil
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
	}
}

// flush writes what waits, and waits for that as long as logFarewell.
func (o *logOutput) flush() {
	o.mu.Lock()
	done := o.done
	if done != nil {
		o.now()
	}
	o.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-time.After(logFarewell):
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
