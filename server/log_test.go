package server

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// writes keeps what was written, one element per write.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

// messages returns the words of the lines in one write, "a b" for two of them.
func messages(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		_, message, _ := strings.Cut(line, "msg=")
		out = append(out, strings.TrimSpace(message))
	}
	return strings.Join(out, " ")
}

// TestRequestLines: lines of requests are written together, soon, in order with
// all others, and before they need much memory; other lines at once.
func TestRequestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out writes
		logs := newLoggers(&out, "text")
		requests, others := logs.requests("MCP"), logs.part("wick")
		check := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for _, w := range out {
				got = append(got, messages(w))
			}
			if strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("%s: wrote %q, want %q", when, got, want)
			}
			logs.out.mu.Lock()
			out = nil
			logs.out.mu.Unlock()
		}
		requests.Info("a")
		requests.Info("b")
		check("at once")
		time.Sleep(logDelay)
		check("after the delay", "a b")
		requests.Info("c")
		others.Info("d")
		check("with a line that does not wait", "c d")
		time.Sleep(logDelay)
		check("nothing is left")
		requests.Info("e")
		time.Sleep(logDelay - time.Nanosecond)
		requests.Info("f")
		check("before the first has waited enough")
		time.Sleep(time.Nanosecond)
		check("the delay is the first line's", "e f")
		requests.Info("g")
		logs.flush()
		check("at the end", "g")
		logs.flush()
		check("twice")
		for len(out) == 0 {
			requests.Info("h")
		}
		if n := len(out[0]); n < logBuffer || n > logBuffer+200 {
			t.Errorf("%d bytes waited, want no more than %d and a line", n, logBuffer)
		}
	})
}
