package server

import (
	"bytes"
	"log/slog"
	"testing"
	"time"
)

// FuzzRequestLine: whatever a stranger names his method, the line is the one
// that slog writes, and it is one line.
func FuzzRequestLine(f *testing.F) {
	f.Add("tools/call", "", int64(200), int64(31500), int64(1e18+5e6), false)
	f.Add("a\n[wick] b", "x=\"y\" é\\", int64(-1), int64(-1), int64(0), true)
	f.Fuzz(func(t *testing.T, method, tool string, status, took, at int64, group bool) {
		r := slog.NewRecord(time.Unix(0, at), slog.LevelInfo, "request", 0)
		r.AddAttrs(slog.String("method", method), slog.Int64("status", status), slog.Duration("took", time.Duration(took)),
			slog.Bool("authorization", group), slog.String("tool", tool))
		if group {
			r.AddAttrs(slog.Group("more", slog.String(method, tool)))
		}
		var got, want bytes.Buffer
		logs := newLoggers(&got, "text")
		logs.requests("MCP").Handler().Handle(t.Context(), r)
		logs.flush()
		want.WriteString("[MCP] ")
		slog.NewTextHandler(&want, nil).Handle(t.Context(), r)
		if got.String() != want.String() || bytes.Count(got.Bytes(), []byte("\n")) != 1 {
			t.Errorf("got %q, want %q", got.String(), want.String())
		}
	})
}

func BenchmarkRequestLine(b *testing.B) {
	out := logOutput{w: &bytes.Buffer{}}
	text := slog.NewTextHandler(&lineWriter{&out, "[MCP] ", true}, nil)
	r := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	r.AddAttrs(slog.String("method", "tools/call"), slog.Int("status", 200), slog.Duration("took", 31500),
		slog.Bool("authorization", true), slog.String("tool", "list_alerts"))
	for name, h := range map[string]slog.Handler{"ours": &requestHandler{text, &out, "[MCP] "}, "slog": text} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.Handle(b.Context(), r)
				out.lines = out.lines[:1] // as under load: a line waits already
			}
		})
	}
}
