package mcp

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"wick/limit"
)

// Every text comes back from a JSON decoder as it was, whatever it holds; what
// is not UTF-8 becomes U+FFFD, as in encoding/json.
func TestAppendText(t *testing.T) {
	all := make([]byte, 0, 256)
	for c := range 256 {
		all = append(all, byte(c))
	}
	for _, s := range []string{
		"", "plain", `"quoted" \ / <html> & '`, "\x00\x01\x1f\x7f\b\f\n\r\t", "é 北京 🕯 \u2028\u2029\ufeff",
		"\xff", "a\xc3", "\xed\xa0\x80", "\xf0\x9f\x95", string(all), strings.Repeat("x\"", 1000),
	} {
		for pad := range 9 { // every place within a word
			s := strings.Repeat("x", pad) + s
			var got string
			if err := json.Unmarshal(appendText(nil, []byte(s)), &got); err != nil || got != string([]rune(s)) {
				t.Errorf("%q: %q, %v", s, got, err)
			}
		}
	}
}

// A picture is the base64 of its bytes, a text is escaped once.
func TestAppendResult(t *testing.T) {
	r := &Result{Content: []Content{{Data: []byte{0, 1, 254, 255}, MIME: "image/png"}, {Text: []byte(`{"a":"b"}`)}, Fixed([]byte(`{"c":"d"}`))}, IsError: true}
	var got struct {
		Content []struct{ Type, Data, MimeType, Text string }
		IsError bool
	}
	if err := json.Unmarshal(appendResult([]byte{'{'}, r), &got); err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(got.Content[0].Data)
	if err != nil || string(data) != "\x00\x01\xfe\xff" || got.Content[0].Type != "image" || got.Content[0].MimeType != "image/png" {
		t.Errorf("image: %+v, %v", got.Content[0], err)
	}
	if got.Content[2].Text != `{"c":"d"}` || got.Content[2].Type != "text" {
		t.Errorf("fixed text: %+v", got.Content[2])
	}
	if got.Content[1].Text != `{"a":"b"}` || got.Content[1].Type != "text" || !got.IsError {
		t.Errorf("text: %+v, isError %v", got.Content[1], got.IsError)
	}
}

// JSON of a payload is compact and not escaped for HTML.
func TestJSONResult(t *testing.T) {
	r := JSON(struct {
		A string `json:"a"`
	}{"<&>"})
	if got, want := string(r.Content[0].Text), `{"a":"<&>"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("what cannot be encoded did not panic")
		}
	}()
	JSON(func() {})
}

func TestNotification(t *testing.T) {
	got := Notification("notifications/alert_triggered", struct {
		A string `json:"a"`
	}{"line\nbreak"})
	want := `{"jsonrpc":"2.0","method":"notifications/alert_triggered","params":{"a":"line\nbreak"}}`
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("what cannot be encoded did not panic")
		}
	}()
	Notification("x", func() {})
}

// Tools are ours: a program with broken ones does not start.
func TestNewServerRefuses(t *testing.T) {
	for name, tools := range map[string][]Tool{
		"no schema":        {{Name: "a"}},
		"schema no JSON":   {{Name: "a", Schema: json.RawMessage(`{`)}},
		"schema no object": {{Name: "a", Schema: json.RawMessage(`[]`)}},
		"two of one name":  {{Name: "a", Schema: json.RawMessage(`{}`)}, {Name: "a", Schema: json.RawMessage(`{}`)}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			NewServer(Options{Tools: tools})
		}()
	}
}

// Strangers' text is shortened between characters, not within one.
func TestClip(t *testing.T) {
	for text, want := range map[string]string{
		"short":                        "short",
		strings.Repeat("x", 64):        strings.Repeat("x", 64),
		strings.Repeat("x", 65):        strings.Repeat("x", 64) + "…",
		strings.Repeat("x", 63) + "éé": strings.Repeat("x", 63) + "…",
	} {
		if got := limit.Clip(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
