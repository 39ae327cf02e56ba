//go:build !core

package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	page "wick/app"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/permit"
)

// pagePath is where the owner's page is.
const pagePath = page.Path

// hasPage reports whether the owner's page, and those for chats, are served.
func (c *config) hasPage() bool { return !c.noApp }

// ownerPath is the path below which the page sends the owner's requests.
const ownerPath = page.Path + "/api"

// pageRoutes adds the owner's page and, below it, the handlers of the owner's requests, of which
// [mcp.Policy] lets only the page's own through.
func (e *app) pageRoutes(mux *http.ServeMux, authenticate func(*http.Request) (mcp.Caller, error)) {
	page.Routes(mux, e.config.baseURL, e.config.trade)
	e.ownerRoutes(mux, ownerPath, func(w http.ResponseWriter, r *http.Request) (permit.Caller, bool) {
		caller, ok := pageCaller(w, r, authenticate)
		if !ok {
			return caller, false
		}
		// The sender may take a while to send the form, and the token may be revoked
		// meanwhile: so the form is read first, and the token checked again. Of several
		// replicas another one may have revoked it.
		r.FormValue("id")
		if r.Method == http.MethodPost {
			if err := e.replica.hear(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return caller, false
			}
		}
		return pageCaller(w, r, authenticate)
	})
}

// pageCaller returns who sent a request to the owner's page, or answers it if nobody has
// logged in.
func pageCaller(w http.ResponseWriter, r *http.Request, authenticate func(*http.Request) (mcp.Caller, error)) (permit.Caller, bool) {
	caller, err := authenticate(r)
	switch {
	case errors.Is(err, mcp.ErrTooMany):
		w.Header().Set("Connection", "close") // the connection counts as one of the token's, which has too many
		http.Error(w, err.Error(), http.StatusTooManyRequests)
	case err != nil:
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, err.Error(), http.StatusUnauthorized)
	}
	c := tools.AskingAs(caller)
	c.Door = permit.Page
	return c, err == nil
}

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
