package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"wick/mcp"
)

// A server with one tool, and a conversation with it over a pair of streams.
func ExampleServer_ServeStdio() {
	server := mcp.NewServer(mcp.Options{Name: "demo", Version: "1.0", Tools: []mcp.Tool{{
		Name:        "greet",
		Description: "Greets someone by name.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
		Handle: func(_ context.Context, c mcp.Call) (*mcp.Result, error) {
			var args struct{ Name string }
			if err := json.Unmarshal(c.Arguments, &args); err != nil || args.Name == "" {
				return nil, fmt.Errorf("name is missing: give the name of whom to greet")
			}
			return mcp.Text("Hello, " + args.Name + "."), nil
		},
	}}})
	client := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}`)
	if err := server.ServeStdio(context.Background(), client, os.Stdout, mcp.Caller{ID: "stdio"}, nil); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Hello, Ada."}]}}
}

// A failed tool is a result that says so; the model reads the text and can do
// better. Only what is wrong with the message itself is a JSON-RPC error.
func ExampleServer_ServeStdio_failure() {
	server := mcp.NewServer(mcp.Options{Name: "demo", Version: "1.0", Tools: []mcp.Tool{{
		Name:   "fail",
		Schema: json.RawMessage(`{"type":"object"}`),
		Handle: func(context.Context, mcp.Call) (*mcp.Result, error) {
			return nil, fmt.Errorf("bars must be 1 to 5000, not 9000: ask for fewer")
		},
	}}})
	client := strings.NewReader(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"fail"}}
{"jsonrpc":"2.0","id":"b","method":"no/such"}
{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if err := server.ServeStdio(context.Background(), client, os.Stdout, mcp.Caller{ID: "stdio"}, nil); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// {"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"bars must be 1 to 5000, not 9000: ask for fewer"}],"isError":true}}
	// {"jsonrpc":"2.0","id":"b","error":{"code":-32601,"message":"unknown method \"no/such\""}}
}
