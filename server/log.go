package server

import (
	"io"
	"log/slog"
	"sync"
)

// loggers makes the loggers of the program's parts: one line per event, in text
// with the part's prefix in front, or as JSON with the part as an attribute.
type loggers struct {
	out    *logOutput
	format string // "text" or "json"
}

func newLoggers(w io.Writer, format string) loggers {
	return loggers{&logOutput{w: w}, format}
}

// part returns the logger of one part: "OAuth" writes lines that begin with
// "[OAuth] ".
func (l loggers) part(name string) *slog.Logger {
	if l.format == "json" {
		return slog.New(slog.NewJSONHandler(l.out, nil).WithAttrs([]slog.Attr{slog.String("part", name)}))
	}
	return slog.New(slog.NewTextHandler(&prefixWriter{l.out, "[" + name + "] "}, nil))
}

// prefixWriter puts a prefix before every record. slog's handlers make one Write
// per record and quote line breaks in values, so nothing a stranger sends can
// begin a line of its own.
type prefixWriter struct {
	out    *logOutput
	prefix string
}

func (p *prefixWriter) Write(record []byte) (int, error) {
	_, err := p.out.write(p.prefix, record)
	return len(record), err
}

// logOutput writes the lines of all parts, each with one write. When w blocks,
// so does whoever has a line to write; nothing is dropped and nothing piles up.
type logOutput struct {
	mu   sync.Mutex
	w    io.Writer // guarded by mu, like line
	line []byte    // the last line, to be used again
}

// Write writes a record without a prefix.
func (o *logOutput) Write(record []byte) (int, error) { return o.write("", record) }

func (o *logOutput) write(prefix string, record []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if cap(o.line) > 4<<10 {
		o.line = nil // the record before was long, such as the stack of a panic
	}
	o.line = append(append(o.line[:0], prefix...), record...)
	return o.w.Write(o.line)
}
