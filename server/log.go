package server

import (
	"io"
	"log/slog"
	"sync"
	"time"
)

// Bounds of the lines of requests that wait to be written together.
const (
	logDelay  = 100 * time.Millisecond
	logBuffer = 16 << 10 // bytes
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

// part returns the logger of one part: "OAuth" writes lines that begin with
// "[OAuth] ". Each line is written at once.
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

// flush writes the lines that wait. Call it before the process ends.
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
	return len(record), p.out.add(p.prefix, record, p.wait)
}

// logOutput writes the lines of all parts in the order in which they came: before a
// line that must not wait, all that wait are written. When w blocks, everyone who writes
// a line blocks too; nothing is dropped and nothing piles up.
type logOutput struct {
	mu    sync.Mutex
	w     io.Writer   // guarded by mu, like every field below it
	lines []byte      // not yet written
	timer *time.Timer // runs flush logDelay after the first line that waits; nil before the first ever
}

// add appends a line. It writes all lines if this one must not wait, or if they fill the
// buffer. The first line that waits starts the timer.
func (o *logOutput) add(prefix string, record []byte, wait bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	// The timer runs while lines wait. If they are written for another reason, it is not
	// stopped: then it finds nothing to write, or writes newer lines a little early.
	first := len(o.lines) == 0
	o.lines = append(append(o.lines, prefix...), record...)
	switch {
	case !wait || len(o.lines) >= logBuffer:
		return o.write()
	case first && o.timer == nil:
		o.timer = time.AfterFunc(logDelay, o.flush)
	case first:
		o.timer.Reset(logDelay)
	}
	return nil
}

// flush writes what waits. It also runs from the timer.
func (o *logOutput) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.write()
}

// write writes all lines. The caller holds mu. Lines that cannot be written are lost,
// since there is nowhere to report that.
func (o *logOutput) write() error {
	if len(o.lines) == 0 {
		return nil
	}
	_, err := o.w.Write(o.lines)
	if o.lines = o.lines[:0]; cap(o.lines) > 2*logBuffer {
		o.lines = nil // one record was long, such as the stack of a panic
	}
	return err
}
