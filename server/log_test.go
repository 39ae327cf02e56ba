package server

import (
	"io"
	"regexp"
	"strconv"
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

// timed also keeps when the first was written.
type timed struct {
	writes
	first time.Time
}

func (t *timed) Write(p []byte) (int, error) {
	if len(t.writes) == 0 {
		t.first = time.Now()
	}
	return t.writes.Write(p)
}

// logged returns the words of the lines in one write, "a b" for two of them.
func logged(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		_, message, _ := strings.Cut(line, "msg=")
		out = append(out, strings.TrimSpace(message))
	}
	return strings.Join(out, " ")
}

// unreadPipe is the writing end of a pipe that nobody reads until it is closed.
type unreadPipe struct {
	read chan struct{}
	writes
}

func (u *unreadPipe) Write(p []byte) (int, error) {
	<-u.read
	return u.writes.Write(p)
}

// TestUnreadLog: whoever writes a line does not wait for the log's reader, and nor does the
// end of the process, nor its error. What does not fit is dropped and counted.
func TestUnreadLog(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		synctest.Test(t, func(t *testing.T) {
			out := &unreadPipe{read: make(chan struct{})}
			another := &unreadPipe{read: out.read}
			logs := newLoggers(out, format)
			const sent = 9001
			line := strings.Repeat("x", 200) // so many of them are more than logQueue
			logs.part("wick").Info(line)
			time.Sleep(logDelay)
			synctest.Wait() // for the write that is stuck
			for range sent / 2 {
				logs.part("wick").Info(line)
				logs.part("MCP").Info(line)
			}
			if n := len(logs.out.lines); n < logQueue || n > logQueue+400 {
				t.Errorf("%s: %d bytes wait, want %d and a line at most", format, n, logQueue)
			}
			for name, end := range map[string]func(){"flush": logs.flush, "error": func() { Complain(another, io.EOF) }} {
				start := time.Now()
				if end(); time.Since(start) != logFarewell {
					t.Errorf("%s: the %s took %v, want %v", format, name, time.Since(start), logFarewell)
				}
			}
			close(out.read)
			logs.flush()
			logs.part("wick").Info("later")
			logs.flush()
			text := strings.Join(out.writes, "")
			said := regexp.MustCompile(`dropped, because nobody read it".*\blines"?[=:](\d+)`).FindStringSubmatch(text)
			if said == nil {
				t.Fatalf("%s: no line says how many were dropped: %.300q", format, text)
			}
			dropped, _ := strconv.Atoi(said[1])
			if written := strings.Count(text, line); dropped == 0 || written+dropped != sent || strings.Count(text, "later") != 1 {
				t.Errorf("%s: %d lines written and %d said to be dropped, want %d in all, and one later", format, written, dropped, sent)
			}
		})
	}
}

// TestLinesTogether: a line is written at once, those of a short time after it together, in
// order, and the end of the process waits for them.
func TestLinesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, began := timed{}, time.Now()
		logs := newLoggers(&out, "text")
		logs.part("MCP").Info("a")
		synctest.Wait()
		logs.part("wick").Info("b")
		logs.part("MCP").Info("c")
		logs.flush()
		logs.flush()
		if len(out.writes) != 2 || logged(out.writes[0]) != "a" || logged(out.writes[1]) != "b c" || !out.first.Equal(began) {
			t.Errorf("wrote %q, first after %s", out.writes, out.first.Sub(began))
		}
	})
}
