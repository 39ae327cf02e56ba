package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestNamesInAnotherCase: a name that differs from one of ours only in case, which
// encoding/json would accept, is refused wherever we read such a name, and the message does
// nothing. In other places clients may use any names.
func TestNamesInAnotherCase(t *testing.T) {
	for _, text := range []string{
		`{"JSONRPC":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","ID":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"Method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","Params":{"name":"echo"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","paramſ":{"name":"echo"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"echo"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"N\u0061me":"echo"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","ARGUMENTS":{"say":"x"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_META":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[{"b":1}],"_meta":{"IO.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"Type":"ref/prompt"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","inputResponses":{"Any Name":{"Action":"accept"}}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","inputResponses":{"arguments":{"Action":"accept"}}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestID":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1},"argumentſ":{"x":2}}}`,
	} {
		id := "null" // unless it is plain
		if strings.Contains(text, `"id":1`) {
			id = "1"
		}
		want := `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32600,"message":"the message has `
		reply := string(testServer().handle(t.Context(), Caller{ID: "a"}, []byte(text)))
		if !strings.HasPrefix(reply, want) || !strings.Contains(reply, "case-sensitive") {
			t.Errorf("%s: %s", text, reply)
		}
		// In a batch the others are answered.
		batch := string(testServer().handle(t.Context(), Caller{ID: "a"}, []byte(`[`+text+`,{"jsonrpc":"2.0","id":5,"method":"ping"}]`)))
		if !strings.HasPrefix(batch, "["+want) || !strings.HasSuffix(batch, `,{"jsonrpc":"2.0","id":5,"result":{}}]`) {
			t.Errorf("in a batch %s: %s", text, batch)
		}
	}
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"NAME":1,"Method":{"Params":2}}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"Name":1,"x":{"Method":2}},"METHOD":1,"other":[{"Name":{"Method":1}}]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"name":"Method","uri":"\"Name\":1"},"Name":{"Method":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"context":{"arguments":{"Name":"x","ARGUMENTS":"y"}}}}`,
		`[[{"Method":1}],{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `"Method"`, `1`, `[]`, `{}`,
	} {
		if !json.Valid([]byte(text)) {
			t.Fatal(text)
		}
		if all, _, _ := parse([]byte(text)); len(all) > 0 && all[0].refused != nil && strings.Contains(all[0].refused.Message, "case-sensitive") {
			t.Errorf("%s: %v", text, all[0].refused)
		}
	}
}
