package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// benchWriter takes a reply and forgets it, as a connection would.
type benchWriter struct {
	header http.Header
	status int
}

func (w *benchWriter) Header() http.Header         { return w.header }
func (w *benchWriter) WriteHeader(status int)      { w.status = status }
func (w *benchWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *benchWriter) Flush()                      {}

func (w *benchWriter) SetReadDeadline(time.Time) error  { return nil }
func (w *benchWriter) SetWriteDeadline(time.Time) error { return nil }

// benchBody is a body that can be read again.
type benchBody struct{ strings.Reader }

func (*benchBody) Close() error { return nil }

// benchTools are fifteen tools with descriptions and schemas as long as wick's, about
// 30 KiB in all. Each answers a text of the size asked for; the tool fixed always the same.
func benchTools(size int) []Tool {
	schema := json.RawMessage(`{"type":"object","properties":{"symbol":{"type":"string","description":"` + strings.Repeat("a symbol ", 150) + `"}}}`)
	text := []byte(strings.Repeat(`{"t":1700000000,"o":1.5},`, size/25+1))
	always := &Result{Content: []Content{{Text: text}}, Fixed: true}
	var tools []Tool
	for _, name := range strings.Fields("a b c d e f g h i j k l m n fixed") {
		tools = append(tools, Tool{Name: name, Title: name, Description: strings.Repeat("what it does ", 40), Schema: schema, Cost: Cheap,
			Handle: func(context.Context, Call) (*Result, error) {
				if name == "fixed" {
					return always, nil
				}
				return &Result{Content: []Content{{Text: text}}}, nil
			}})
	}
	return tools
}

// benchPost returns a function that makes one request of the handler, with token,
// Accept and a log line, as a client of the SDK would send it.
func benchPost(b testing.TB, body string, size int) func() {
	h := testHTTP(NewServer(Options{Tools: benchTools(size)}))
	h.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	site := testSite(b, h)
	r := httptest.NewRequest("POST", "http://localhost/mcp", nil)
	r.Header.Set("Authorization", testToken)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", ProtocolVersion)
	r.ContentLength = int64(len(body))
	w := &benchWriter{header: make(http.Header)}
	in := &benchBody{}
	r.Body = in
	return func() {
		in.Reset(body)
		clear(w.header)
		site.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			b.Fatalf("status %d", w.status)
		}
	}
}

const (
	benchInitialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	benchList       = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`
	benchCall       = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"g","arguments":{"symbol":"BTCUSDT"}}}`
	benchFixed      = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fixed","arguments":{}}}`
)

// The handler, without the connection: decoding, checks, log, reply.
func BenchmarkHTTP(b *testing.B) {
	for _, bb := range []struct {
		name, body string
		size       int
	}{
		{"initialize", benchInitialize, 100}, {"tools_list", benchList, 100}, {"small_call", benchCall, 100}, {"100KB_call", benchCall, 100 << 10}, {"100KB_fixed", benchFixed, 100 << 10},
	} {
		b.Run(bb.name, func(b *testing.B) {
			post := benchPost(b, bb.body, bb.size)
			b.ReportAllocs()
			for b.Loop() {
				post()
			}
		})
	}
}

// A round trip over a pair of pipes, one at a time and 32 in flight.
func BenchmarkStdio(b *testing.B) {
	for _, bb := range []struct {
		name, line string
		flight     int
	}{
		{"ping", ping, 1}, {"ping_32", ping, 32}, {"small_call", benchCall, 1}, {"small_call_32", benchCall, 32},
	} {
		b.Run(bb.name, func(b *testing.B) {
			in, send := io.Pipe()
			receive, out := io.Pipe()
			s := NewServer(Options{Tools: benchTools(100)})
			done := make(chan error)
			go func() { done <- s.ServeStdio(b.Context(), in, out, Caller{ID: "stdio"}, nil) }()
			replies := bufio.NewReaderSize(receive, 64<<10)
			lines := bytes.Repeat([]byte(bb.line+"\n"), bb.flight)
			b.ReportAllocs()
			for b.Loop() {
				send.Write(lines)
				for range bb.flight {
					if _, err := replies.ReadSlice('\n'); err != nil {
						b.Fatal(err)
					}
				}
			}
			send.Close()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N*bb.flight)/b.Elapsed().Seconds(), "replies/s")
		})
	}
}
