package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// A handler that needs a person's answer asks a client that can show a form, and
// gets the answer with the repeated call. To other clients it is a failed tool.
func TestInputRequired(t *testing.T) {
	s := NewServer(Options{Name: "test", Version: "1", Tools: []Tool{{Name: "ask", Schema: json.RawMessage(`{"type":"object"}`), Handle: func(_ context.Context, c Call) (*Result, error) {
		if answer, ok := c.Responses["sure"]; ok {
			return Text(c.State + " " + answer.Action + " " + string(answer.Content)), nil
		}
		return nil, &InputRequired{Key: "sure", Message: "Sure?", Schema: json.RawMessage(`{"type":"object","properties":{}}`), State: "sealed", Else: "ask elsewhere"}
	}}}})
	call := func(capabilities, more string) string {
		return string(s.handle(t.Context(), Caller{}, []byte(strings.Replace(modern("1", "tools/call", `"name":"ask",`+more), `"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":`+capabilities, 1))))
	}
	question := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}},` +
		`"inputRequests":{"sure":{"method":"elicitation/create","params":{"mode":"form","message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"sealed"}}`
	for _, able := range []string{`{"elicitation":{}}`, `{"elicitation":{"form":{}}}`, `{"elicitation":{"form":{},"url":{}}}`} {
		if got := call(able, ""); got != question {
			t.Errorf("%s\ngot  %s\nwant %s", able, got, question)
		}
	}
	for _, unable := range []string{`{}`, `{"elicitation":{"url":{}}}`, `{"elicitation":null}`, `{"elicitation":true}`} {
		if got := call(unable, ""); !strings.Contains(got, `"text":"ask elsewhere"}],"isError":true`) {
			t.Errorf("%s: %s", unable, got)
		}
	}
	if got := call(`{"elicitation":{}}`, `"requestState":"sealed","inputResponses":{"sure":{"action":"accept","content":{"a":1}},"more":{"action":"x"}},`); !strings.Contains(got, `sealed accept {\"a\":1}`) {
		t.Errorf("the repeated call: %s", got)
	}
	older := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`
	if got := string(s.handle(t.Context(), Caller{}, []byte(older))); !strings.Contains(got, "ask elsewhere") {
		t.Errorf("the older era: %s", got)
	}
}
