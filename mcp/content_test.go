package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// Every text comes back from a JSON decoder as it was, whatever it holds; what
// is not UTF-8 becomes U+FFFD. A picture is the base64 of its bytes.
func TestContent(t *testing.T) {
	all := make([]byte, 0, 256)
	for c := range 256 {
		all = append(all, byte(c))
	}
	for _, s := range []string{
		"", "plain", `"quoted" \ / <html> & '`, "\x00\x01\x1f\x7f\b\f\n\r\t", "é 北京 🕯 \u2028\u2029\ufeff",
		"\xff", "a\xc3", "\xed\xa0\x80", "\xf0\x9f\x95", string(all), strings.Repeat("x\"", 1000),
	} {
		r := &Result{Content: []Content{{Data: all, MIME: "image/png"}, {Text: []byte(s)}}, IsError: true}
		var got struct {
			Content []struct {
				Type, MimeType, Text string
				Data                 []byte
			}
			IsError bool
		}
		if err := json.Unmarshal(Encode(r.wire()), &got); err != nil {
			t.Fatal(err)
		}
		if image := got.Content[0]; image.Type != "image" || image.MimeType != "image/png" || !bytes.Equal(image.Data, all) {
			t.Errorf("image: %+v", image)
		}
		if said := got.Content[1]; said.Type != "text" || said.Text != string([]rune(s)) || !got.IsError {
			t.Errorf("%q: %+v", s, said)
		}
	}
}

// TestFixed: a result that is said to be fixed is encoded once for both versions, and other
// results with every call.
func TestFixed(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		said := &Result{Content: []Content{{Text: []byte(`"a" < b`)}}, Fixed: fixed}
		s := NewServer(Options{Name: "test", Version: "1", Tools: []Tool{{Name: "say", Schema: json.RawMessage(`{}`), Cost: Cheap,
			Handle: func(context.Context, Call) (*Result, error) { return said, nil }}}})
		call := func(id, meta string) string {
			return string(s.handle(t.Context(), Caller{ID: "a"}, []byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"say"`+meta+`}}`)))
		}
		const content = `"content":[{"type":"text","text":"\"a\" < b"}]}}`
		if got, want := call("1", ""), `{"jsonrpc":"2.0","id":1,"result":{`+content; got != want {
			t.Errorf("fixed %t: %s, want %s", fixed, got, want)
		}
		copy(said.Content[0].Text, `"c"`)
		newer := call("2", `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`)
		if !strings.HasPrefix(newer, `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete",`) || strings.HasSuffix(newer, ","+content) != fixed {
			t.Errorf("fixed %t, newer version: %s", fixed, newer)
		}
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
