//go:build !core

package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"unicode"
)

// hostile is a text that, printed as it is, deletes the line above on a terminal and
// reads from right to left. Its end is outside the first 65,536 characters.
const hostile = "ok\u009b1A\u009b2K\u202e\u007f\u200b\u2028\x1b[2J\rü📈\U000e0001"

// TestVisible: characters that a terminal would obey or hide are escaped, others stay, and
// JSON says the same as before, however the text is split into writes.
func TestVisible(t *testing.T) {
	const shown = `ok\u009b1A\u009b2K\u202e\u007f\u200b\u2028\u001b[2J\u000dü📈\udb40\udc01`
	for _, step := range []int{1, 2, 3, 1000} {
		var out bytes.Buffer
		w := Visible(&out)
		for rest := []byte(hostile + "\ta\xff\n"); len(rest) > 0; {
			n := min(step, len(rest))
			if wrote, err := w.Write(rest[:n]); wrote != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		if want := shown + "\ta\ufffd\n"; out.String() != want {
			t.Errorf("in steps of %d bytes: %q, want %q", step, out.String(), want)
		}
	}
	text, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	Visible(&out).Write(text)
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != hostile {
		t.Errorf("%s is read back as %q, %v", &out, back, err)
	}
}

// unseen reports whether a text has a character that Visible should have escaped.
func unseen(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	})
}

// TestAuditIsVisible: what a client writes into a note cannot rub out the lines of the
// audit that tell what it did, and the note is still in its line as JSON.
func TestAuditIsVisible(t *testing.T) {
	dir := t.TempDir()
	note, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	set := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_alert","arguments":{"symbol":"BTCUSDT","condition":{"price_above":9e9},"note":%s}}}`+"\n", note)
	if err := Run(t.Context(), []string{"--mcp", "--trade", "--data-dir", dir}, env("HOME", dir), strings.NewReader(set), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"--data-dir", dir, "audit"}, env("HOME", dir), nil, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if unseen(out.String()) || !strings.Contains(out.String(), `ok\u009b1A`) {
		t.Errorf("the audit has the note as it is, or not at all: %q", &out)
	}
}

// TestPageAuditIsVisible: on the owner's page the audit's lines have such characters escaped,
// too: no terminal obeys there, but a line would read otherwise than it is.
func TestPageAuditIsVisible(t *testing.T) {
	h := start(t, "--serve", "--trade", "--data-dir", t.TempDir())
	note, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	h.call(t, h.login(t), "set_alert", fmt.Sprintf(`{"symbol":"BTCUSDT","condition":{"price_above":9e9},"note":%s}`, note))
	if status, text := h.owner(t, h.loginOwner(t), "audit", nil); status != 200 || unseen(text) || !strings.Contains(text, `ok\\u009b1A`) {
		t.Errorf("the page's audit: %d %q", status, text)
	}
}

// TestLogIsVisible: neither form of the log passes on a character that a terminal obeys,
// and nor does a text in which no other character needs quotes.
func TestLogIsVisible(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		logs := newLoggers(&out, format)
		log := logs.part("wick")
		log.Info("registered", "name", hostile, slog.Any("error", io.EOF))
		log.Info("registered", "name", "a\u007fb")
		logs.flush()
		if unseen(out.String()) || !strings.Contains(out.String(), `a\u007fb`) {
			t.Errorf("%s: %q", format, &out)
		}
	}
}
