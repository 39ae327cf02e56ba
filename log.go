package main

import (
	"io"
	"log/slog"
	"sync"
)

// loggers makes the house's loggers: one line per event, in text with the
// part's prefix in front, or as JSON with the part as an attribute.
type loggers struct {
	w      io.Writer
	format string
	mu     *sync.Mutex // one line at a time, whoever writes
}

func newLoggers(w io.Writer, format string) loggers {
	return loggers{w, format, &sync.Mutex{}}
}

// part returns the logger of one part of the house: "OAuth" writes lines that
// begin with "[OAuth] ".
func (l loggers) part(name string) *slog.Logger {
	if l.format == "json" {
		return slog.New(slog.NewJSONHandler(&lineWriter{mu: l.mu, w: l.w}, nil)).With("part", name)
	}
	return slog.New(slog.NewTextHandler(&lineWriter{mu: l.mu, w: l.w, prefix: "[" + name + "] "}, nil))
}

// lineWriter puts a prefix before every record. slog's handlers make one Write
// per record and quote line breaks in values, so nothing a stranger sends can
// begin a line of its own.
type lineWriter struct {
	mu     *sync.Mutex
	w      io.Writer
	prefix string
	line   []byte // reused; guarded by mu
}

func (p *lineWriter) Write(record []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = append(append(p.line[:0], p.prefix...), record...)
	if _, err := p.w.Write(p.line); err != nil {
		return 0, err
	}
	return len(record), nil
}
