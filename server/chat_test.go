//go:build !core

package server

import (
	"encoding/json"
	"strings"
	"testing"

	page "wick/app"
)

// TestChatApp: each tool with a page names it by both members that hosts read, and the
// resource is one HTML text of the type that they take, which asks for no connection.
func TestChatApp(t *testing.T) {
	h := start(t, "--serve", "--port", "0", "--data-dir", t.TempDir())
	token := h.login(t)
	var list struct {
		Result struct {
			Tools []struct {
				Name string
				Meta struct {
					UI   struct{ ResourceURI string } `json:"ui"`
					Flat string                       `json:"ui/resourceUri"`
				} `json:"_meta"`
			}
		}
	}
	_, text := h.ask(t, "/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"generate_chart": "ui://wick/chart.html", "get_positions": "ui://wick/positions.html", "list_alerts": "ui://wick/alerts.html"}
	for _, tool := range list.Result.Tools {
		want := pages[tool.Name]
		if tool.Meta.UI.ResourceURI != want || tool.Meta.Flat != want {
			t.Errorf("%s: _meta %+v, want %q", tool.Name, tool.Meta, want)
		}
	}
	for uri, html := range map[string]string{"ui://wick/chart.html": page.ChartHTML(), "ui://wick/positions.html": page.PositionsHTML(), "ui://wick/alerts.html": page.AlertsHTML()} {
		var read struct {
			Result struct {
				Contents []struct {
					URI, MimeType, Text string
					Meta                json.RawMessage `json:"_meta"`
				}
			}
		}
		_, text = h.ask(t, "/mcp", token, `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"`+uri+`"}}`)
		if err := json.Unmarshal([]byte(text), &read); err != nil || len(read.Result.Contents) != 1 {
			t.Fatalf("%v in %.300s", err, text)
		}
		c := read.Result.Contents[0]
		if c.URI != uri || c.MimeType != "text/html;profile=mcp-app" || c.Text != html || !strings.Contains(string(c.Meta), `"connectDomains":[]`) {
			t.Errorf("read %s %s %s", c.URI, c.MimeType, c.Meta)
		}
	}
	const announced = `"extensions":{"io.modelcontextprotocol/ui":{}}`
	if _, text := h.ask(t, "/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`); !strings.Contains(text, announced) {
		t.Errorf("initialize does not announce the pages: %s", text)
	}
	without := start(t, "--serve", "--no-app", "--port", "0", "--data-dir", t.TempDir())
	if _, text := without.ask(t, "/mcp", without.login(t), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); strings.Contains(text, "ui://") {
		t.Error("--no-app still offers the chart")
	}
}
