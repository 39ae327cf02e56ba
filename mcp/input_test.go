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

// TestUnclearInput: answers of a wrong form are refused before the tool is called, in the
// era that has them.
func TestUnclearInput(t *testing.T) {
	called := 0
	s := NewServer(Options{Name: "test", Version: "1", Tools: []Tool{{Name: "ask", Schema: json.RawMessage(`{"type":"object"}`), Handle: func(_ context.Context, c Call) (*Result, error) {
		called++
		return Text("called"), nil
	}}}})
	for more, ok := range map[string]bool{
		`"inputResponses":5`: false, `"inputResponses":"x"`: false, `"inputResponses":[]`: false, `"inputResponses":true`: false,
		`"inputResponses":{"a":5}`: false, `"inputResponses":{"a":"true"}`: false, `"inputResponses":{"a":[]}`: false, `"inputResponses":{"a":{"action":5}}`: false,
		`"uri":5,"inputResponses":{"a":{},"b":5}`: false, `"requestState":5`: false, `"requestState":{}`: false, `"uri":5,"requestState":[]`: false,
		`"inputResponses":null,"requestState":null`: true, `"inputResponses":{}`: true, `"inputResponses":{"a":{"role":"user"}}`: true, `"uri":5`: true,
	} {
		called = 0
		got := string(s.handle(t.Context(), Caller{}, []byte(modern("1", "tools/call", `"name":"ask",`+more+`,`))))
		if refused := strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params.inputResponses must be `); refused == ok || (called == 1) != ok {
			t.Errorf("%s: %s, called %d times", more, got, called)
		}
		older := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask",` + more + `}}`
		if got := string(s.handle(t.Context(), Caller{}, []byte(older))); !strings.Contains(got, "called") {
			t.Errorf("the older era: %s: %s", more, got)
		}
	}
}
