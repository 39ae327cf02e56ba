package server

import (
	"context"
	"encoding/json"
	"time"

	page "wick/app"
	"wick/mcp"
)

// chatURI is the chart that hosts of MCP Apps show beside the answer of
// generate_chart.
const chatURI = "ui://wick/chart.html"

// chatMeta says that the chart needs no connection and no file of any host.
const chatMeta = `{"ui":{"csp":{"connectDomains":[],"resourceDomains":[]},"prefersBorder":false}}`

// withChat gives generate_chart the chart to touch, and the resources the chart.
func withChat(tools []mcp.Tool, resources []mcp.Resource) ([]mcp.Tool, []mcp.Resource) {
	for i := range tools {
		if tools[i].Name == "generate_chart" {
			tools[i].App = chatURI
		}
	}
	return tools, append(resources, mcp.Resource{
		URI: chatURI, Name: "chart_app", Title: "Chart to touch", Description: "The page by which a host shows the chart of generate_chart; not for reading.",
		MIME: "text/html;profile=mcp-app", Cost: mcp.Cheap, Fresh: time.Hour, Public: true, Meta: json.RawMessage(chatMeta),
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) {
			return r.Text([]byte(page.ChartHTML())), nil
		},
	})
}
