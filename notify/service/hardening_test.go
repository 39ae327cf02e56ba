package service

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/mail"
	"strings"
	"testing"
)

// TestEncodedWordsOfStrangers: a note can look like an encoded word of RFC 2047, or
// hold the two characters that ntfy reads as a line break in a header; decoded by the
// receiver it would become another text, with lines of its own.
func TestEncodedWordsOfStrangers(t *testing.T) {
	for _, text := range []string{`BTCUSDT: 2 "=?utf-8?q?=0AAll_sold?="`, `BTCUSDT: 2 "x =?utf-8?b?CkFsbCBzb2xk?="`, `BTCUSDT: 2 "x\nAll sold"`, `é "x\nAll sold"`} {
		r := sendOne(t, "phone ntfy %s/topic", message(text, []byte("PNG")))
		s := newMailServer(t, true, nil)
		if failure := s.at(t, "").Send(t.Context(), message(text, nil)); failure != nil {
			t.Fatal(failure)
		}
		_, said, _ := strings.Cut(strings.Join(<-s.lines, "\r\n"), "DATA\r\n")
		m, err := mail.ReadMessage(strings.NewReader(said))
		if err != nil {
			t.Fatal(err)
		}
		// Versions of ntfy differ in whether they decode before or after.
		lines := func(text string) string { return strings.ReplaceAll(text, `\n`, "\n") }
		for what, got := range map[string]string{
			"ntfy": lines(decoded(t, r.header.Get("Message"))), "older ntfy": decoded(t, lines(r.header.Get("Message"))), "mail": decoded(t, m.Header.Get("Subject")),
		} {
			if got = strings.ReplaceAll(got, "\u200b", ""); got != text {
				t.Errorf("%s shows %q, want %q", what, got, text)
			}
		}
	}
}

// decoded returns what a receiver makes of a header.
func decoded(t *testing.T, field string) string {
	t.Helper()
	text, err := new(mime.WordDecoder).DecodeHeader(field)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestNoPreviewsNoMentions: a stranger's text may contain an address or a name; it must
// not make a service fetch that address and show a picture from it, or mention that name.
func TestNoPreviewsNoMentions(t *testing.T) {
	text := "x https://evil.example/a.png @someone @room"
	if r := sendOne(t, "tg telegram %s token=1:a chat=2", message(text, nil)); r.form["link_preview_options"] != `{"is_disabled":true}` || strings.Contains(r.form["text"], "@s") {
		t.Errorf("Telegram: %v", r.form)
	}
	if r := sendOne(t, "tg telegram %s token=1:a chat=2", message(text, []byte("PNG"))); strings.Contains(r.form["caption"], "@s") {
		t.Errorf("Telegram, picture: %v", r.form)
	}
	if r := sendOne(t, "sl slack %s/x", message(text, nil)); r.json["unfurl_links"] != false || r.json["unfurl_media"] != false {
		t.Errorf("Slack: %s", r.body)
	}
	var payload struct{ Flags int }
	const suppressEmbeds = 1 << 2 // in Discord's table of message flags
	if r := sendOne(t, "dc discord %s/x", message(text, nil)); json.Unmarshal([]byte(r.form["payload_json"]), &payload) != nil || payload.Flags != suppressEmbeds {
		t.Errorf("Discord: %v", r.form)
	}
	for _, picture := range [][]byte{nil, []byte("PNG")} {
		r := sendOne(t, "mx matrix %s token=t room=!r:x", message(text, picture))
		if mentions, there := r.json["m.mentions"].(map[string]any); !there || len(mentions) != 0 {
			t.Errorf("Matrix: %s", r.body)
		}
	}
}

// TestSecretsInOtherForms: a secret is hidden also if a service repeats a part of it or writes it
// in another way.
func TestSecretsInOtherForms(t *testing.T) {
	for _, c := range []struct{ line, echo string }{
		{"a webhook %s/in?id=7&key=PLANTED", "no such key: PLANTED"},
		{"a webhook %s/in?id=7&key=PLANTED%%2Fx", "no such key: PLANTED/x"},
		{"a webhook %s/in?PLANTED&id=7", "no such key: PLANTED"},
		{"a webhook %s/in secret=" + testSecret, "wrong key " + testSecret[len("whsec_"):]},
		{"f gotify %s token=PLAN/TED+1", `{"error":"no token PLAN\/TED+1"}`},
		{"f gotify %s token=PLAN/TED+1", "no token PLAN%2fTED%2b1"},
		{"f gotify %s token=PLAN&TED", "no token PLAN&amp;TED"},
		{"f gotify %s token=PLAN&TED", `{"error":"no token PLAN\u0026TED"}`},
	} {
		f := newFake(t)
		f.answer = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, c.echo)
		}
		failure := f.at(t, strings.ReplaceAll(c.line, "%%", "%")).Send(t.Context(), message("a", nil))
		if failure == nil || !strings.Contains(failure.Reason, "***") || planted(failure.Reason) || strings.Contains(failure.Reason, "TED") {
			t.Errorf("%s: %v", c.line, failure)
		}
	}
	login := base64.StdEncoding.EncodeToString([]byte("\x00PLANTEDuser\x00PLANTEDpass"))
	s := newMailServer(t, true, map[string]string{"AUTH": "535 cannot take PLAIN " + login})
	if failure := s.at(t, "").Send(t.Context(), message("a", nil)); failure == nil || strings.Contains(failure.Reason, login) {
		t.Errorf("AUTH: %v", failure)
	}
}

// TestTakenThoughTheReplyIsCut: a service that answers with success has taken the
// message, also if the rest of its reply never comes. To try again would bring the
// same message every few minutes for a day.
func TestTakenThoughTheReplyIsCut(t *testing.T) {
	for _, line := range everyLine {
		f := newFake(t)
		f.answer = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "{")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		if failure := f.at(t, line).Send(t.Context(), message("a", nil)); failure != nil {
			t.Errorf("%s: %+v", line, failure)
		}
		if failure := f.at(t, "h matrix %s token=t room=!r:x").Send(t.Context(), message("a", []byte("PNG"))); failure == nil || !failure.Retry {
			t.Errorf("an upload whose address is lost: %+v", failure)
		}
	}
}

// TestNewRefusesValues: values that cannot be part of a request are refused at the start,
// not tried for a day, and the error does not quote them.
func TestNewRefusesValues(t *testing.T) {
	for _, c := range []struct{ kind, at, key, value, want string }{
		{"ntfy", "https://e.com/x", "token", "PLANTED\x00", "token="},
		{"ntfy", "https://e.com/x", "token", "PLANTED\x1b[2J", "token="},
		{"ntfy", "https://e.com/x", "token", "PLANTED\u0085", "token="},
		{"ntfy", "https://e.com/x", "token", "PLANTED" + strings.Repeat("x", maxValue), "at most 1000 bytes"},
		{"ntfy", "https://e.com/PLANTED" + strings.Repeat("x", maxURL), "token", "x", "at most 2000 bytes"},
		{"email", "smtps://e.com", "to", "PLANTED", "to="},
		{"email", "smtps://e.com", "to", "a@b.c,PLANTED", "to="},
		{"email", "smtps://e.com", "from", "PLANTED", "from="},
		{"https://e.com/PLANTED", "ntfy", "token", "x", "the kind"},
		{"ntfy", "https://e.com/x", "PLANTED", "x", "ntfy itself are: token"},
		{"slack", "https://e.com/x", "PLANTED", "x", "slack itself are: none"},
	} {
		keys := map[string]string{}
		if c.kind == "email" {
			keys["from"], keys["to"] = "a@b.c", "d@e.f"
		}
		keys[c.key] = c.value
		if _, err := New(c.kind, c.at, keys, false); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "PLANTED") {
			t.Errorf("%s %s=%q: %v, want %q", c.kind, c.key, c.value, err, c.want)
		}
	}
}
