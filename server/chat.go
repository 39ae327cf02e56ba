package server

import (
	"context"
	"encoding/json"
	"time"

	page "wick/app"
	"wick/mcp"
)

// chatViews are the pages that hosts of MCP Apps show beside the answer of a tool.
var chatViews = []struct {
	tool, uri, name, title string
	html                   func() string
}{
	{"generate_chart", "ui://wick/chart.html", "chart_app", "Chart to touch", page.ChartHTML},
	{"get_positions", "ui://wick/positions.html", "positions_app", "Positions", page.PositionsHTML},
	{"list_alerts", "ui://wick/alerts.html", "alerts_app", "Alerts", page.AlertsHTML},
}

// chatMeta says that a page needs no connection and no file of any host.
const chatMeta = `{"ui":{"csp":{"connectDomains":[],"resourceDomains":[]},"prefersBorder":false}}`

// withChat gives each tool that has a page the address of it, and adds the pages to the
// resources. Hosts without MCP Apps ignore both.
func withChat(tools []mcp.Tool, resources []mcp.Resource) ([]mcp.Tool, []mcp.Resource) {
	for _, v := range chatViews {
		for i := range tools {
			if tools[i].Name != v.tool {
				continue
			}
			// A page that belongs to a tool which is not offered is not offered either.
			tools[i].App = v.uri
			resources = append(resources, mcp.Resource{
				URI: v.uri, Name: v.name, Title: v.title, Description: "The page by which a host shows the result of " + v.tool + "; not for reading.",
				MIME: "text/html;profile=mcp-app", Cost: mcp.Cheap, Fresh: time.Hour, Public: true, Meta: json.RawMessage(chatMeta),
				Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) { return r.Text([]byte(v.html())), nil },
			})
		}
	}
	return tools, resources
}
